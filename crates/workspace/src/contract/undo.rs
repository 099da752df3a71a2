//! What undoing promises.

use super::{Subject, file, not_found, path, refused};
use crate::request::{CheckpointRequest, RollbackRequest, StepAction, UndoRequest};

pub(super) fn a_rollback_can_be_undone(subject: &dyn Subject) {
    subject.put("a", "old\n");
    subject.put("gone", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    subject.remove(&path("gone"));
    subject.put("sub/added", "new\n");
    subject.set_executable(&path("sub/added"), true);
    let before = subject.listing();
    subject.back_to(&made);
    assert_ne!(subject.listing(), before);
    subject.undo();
    assert_eq!(subject.listing(), before);
}

pub(super) fn undoing_can_be_undone(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    let restored = subject.listing();
    subject.put("a", "new\n");
    subject.put("b", "new\n");
    let edited = subject.listing();
    subject.back_to(&made);
    subject.undo();
    assert_eq!(subject.listing(), edited);
    subject.undo();
    assert_eq!(subject.listing(), restored);
    subject.undo();
    assert_eq!(subject.listing(), edited);
}

pub(super) fn edits_after_a_rollback_survive_its_undoing_in_the_safety_checkpoint(
    subject: &dyn Subject,
) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    subject.back_to(&made);
    subject.put("a", "after\n");
    let report = subject.undo();
    assert_eq!(subject.text("a").as_deref(), Some("new\n"));
    let safety = subject.found(&report.safety);
    assert_eq!(subject.held(&safety, "a"), Some(file("after\n")));
}

pub(super) fn without_a_rollback_there_is_nothing_to_undo(subject: &dyn Subject) {
    subject.put("a", "a\n");
    subject.record();
    let before = subject.listing();
    let request = UndoRequest::default();
    assert!(not_found(subject.workspace().plan_undo(&request)));
    assert!(not_found(subject.workspace().undo(&request)));
    assert_eq!((subject.listing(), subject.ids().len()), (before, 1));
}

pub(super) fn empty_folders_come_back_and_go_with_the_undoing(subject: &dyn Subject) {
    subject.put("a", "a\n");
    subject.put("full/file", "x\n");
    subject.make_folder(&path("empty/inner"));
    let made = subject.record();
    assert_eq!(made.empty_folders, [path("empty/inner")]);
    subject.remove(&path("empty"));
    subject.remove(&path("full"));
    subject.make_folder(&path("full"));
    let request = RollbackRequest::to(made.checkpoint_id.clone());
    let plan = subject.workspace().plan_rollback(&request).expect("a plan");
    assert_eq!(plan.empty_folders, [path("empty/inner")]);
    let report = subject.back_to(&made);
    assert_eq!(report.paths.len(), 1, "{:?}", report.paths);
    assert!(subject.is_folder(&path("empty/inner")));
    assert_eq!(subject.found(&report.restored).empty_folders, made.empty_folders);
    let plan = subject.workspace().plan_undo(&UndoRequest::default()).expect("a plan");
    assert!(plan.empty_folders.contains(&path("empty/inner")), "{plan:?}");
    let report = subject.undo();
    assert!(!subject.is_folder(&path("empty")));
    assert!(subject.is_folder(&path("full")));
    assert_eq!(subject.text("full/file"), None);
    assert_eq!(subject.found(&report.restored).empty_folders, [path("full")]);
    assert!(subject.create(&CheckpointRequest::default()).unchanged);
    subject.undo();
    assert!(subject.is_folder(&path("empty/inner")));
    assert_eq!(subject.text("full/file").as_deref(), Some("x\n"));
    // One that somebody uses by now stays.
    subject.put("empty/inner/used", "mine\n");
    subject.undo();
    assert_eq!(subject.text("empty/inner/used").as_deref(), Some("mine\n"));
}

pub(super) fn an_undoing_can_be_looked_at_first(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    subject.put("added", "new\n");
    let report = subject.back_to(&made);
    let (before, chain) = (subject.listing(), subject.ids());
    let plan = subject.workspace().plan_undo(&UndoRequest::default()).expect("a plan");
    let steps: Vec<(String, StepAction)> =
        plan.steps.iter().map(|step| (step.path.to_string(), step.action)).collect();
    let expected = [("a", StepAction::Overwrite), ("added", StepAction::Create)];
    assert_eq!(steps, expected.map(|(at, action)| (at.to_owned(), action)));
    assert_eq!(plan.to, report.safety);
    assert_eq!((subject.listing(), subject.ids()), (before, chain));
    let seen = UndoRequest { seen: Some(plan.now), ..UndoRequest::default() };
    subject.put("b", "since the preview\n");
    let chain = subject.ids();
    assert!(refused(subject.workspace().undo(&seen)));
    assert_eq!(subject.ids(), chain);
    subject.remove(&path("b"));
    subject.workspace().undo(&seen).expect("an undoing");
    assert_eq!(subject.text("a").as_deref(), Some("new\n"));
}
