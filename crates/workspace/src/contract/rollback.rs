//! What rollback promises.

use aurora_model::{
    CheckpointId, CheckpointKind, Constraint, EntryMode, RepoPath, Severity, Violation,
};

use super::{Subject, file, not_found, path, refused, to};
use crate::request::{
    CheckpointRequest, Content, Edits, Limits, MovedHead, Outcome, PathOutcome, RollbackRequest,
    Scope, StepAction,
};

pub(super) fn a_rollback_restores_everything_exactly(subject: &dyn Subject) {
    subject.put("edited", "old\r\n");
    subject.put("sub/gone", "");
    subject.put("run", "x\n");
    subject.set_executable(&path("run"), true);
    subject.symlink(&path("link"), b"edited");
    let odd = RepoPath::new(&b"odd \n\xff"[..]).expect("a path");
    subject.write(&odd, b"\0\x01binary");
    let made = subject.record();
    let before = subject.listing();
    subject.put("edited", "new\n");
    subject.remove(&path("sub"));
    subject.set_executable(&path("run"), false);
    subject.symlink(&path("link"), b"elsewhere");
    subject.write(&odd, b"text");
    subject.put("later/added", "x\n");
    subject.back_to(&made);
    assert_eq!(subject.listing(), before);
}

pub(super) fn a_plan_says_what_would_happen_and_does_nothing(subject: &dyn Subject) {
    for name in ["edited", "gone", "mode", "same"] {
        subject.put(name, "old\n");
    }
    let made = subject.record();
    subject.put("edited", "new\n");
    subject.remove(&path("gone"));
    subject.set_executable(&path("mode"), true);
    subject.put("added", "new\n");
    let (before, chain) = (subject.listing(), subject.ids());
    let plan = subject.workspace().plan_rollback(&to(&made)).expect("a plan");
    let steps: Vec<(String, StepAction)> =
        plan.steps.iter().map(|step| (step.path.to_string(), step.action)).collect();
    let expected = [
        ("added", StepAction::Delete),
        ("edited", StepAction::Overwrite),
        ("gone", StepAction::Create),
        ("mode", StepAction::ChangeMode),
    ];
    assert_eq!(steps, expected.map(|(at, action)| (at.to_owned(), action)));
    assert_eq!((plan.to, plan.moved_head), (made.checkpoint_id, None));
    assert_eq!((subject.listing(), subject.ids()), (before, chain));
}

pub(super) fn a_plan_says_which_files_hold_edits_that_no_checkpoint_has(subject: &dyn Subject) {
    subject.put("a", "one\n");
    subject.put("b", "one\n");
    let first = subject.record();
    subject.put("a", "two\n");
    subject.put("b", "two\n");
    subject.record();
    subject.put("b", "three\n");
    let plan = subject.workspace().plan_rollback(&to(&first)).expect("a plan");
    let edited: Vec<(String, bool)> =
        plan.steps.iter().map(|step| (step.path.to_string(), step.edited_since_last)).collect();
    assert_eq!(edited, [("a".to_owned(), false), ("b".to_owned(), true)]);
}

pub(super) fn a_rollback_to_where_one_is_changes_nothing(subject: &dyn Subject) {
    subject.put("a", "a\n");
    let made = subject.record();
    let before = subject.listing();
    let report = subject.back_to(&made);
    assert!(report.paths.is_empty(), "{:?}", report.paths);
    assert_eq!(subject.listing(), before);
}

pub(super) fn a_rollback_of_some_paths_leaves_the_others(subject: &dyn Subject) {
    for name in ["a", "folder/b", "folder/c", "folder.d"] {
        subject.put(name, "old\n");
    }
    let made = subject.record();
    for name in ["a", "folder/b", "folder/new", "folder.d"] {
        subject.put(name, "new\n");
    }
    subject.remove(&path("folder/c"));
    let scope = Scope::Paths(vec![path("folder")]);
    subject.go_back(&RollbackRequest { scope, ..to(&made) });
    assert_eq!(subject.text("folder/b").as_deref(), Some("old\n"));
    assert_eq!(subject.text("folder/c").as_deref(), Some("old\n"));
    assert_eq!(subject.text("folder/new"), None);
    assert_eq!(subject.text("a").as_deref(), Some("new\n"));
    assert_eq!(subject.text("folder.d").as_deref(), Some("new\n"));
}

pub(super) fn paths_that_nothing_has_are_not_found(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    let scope = Scope::Paths(vec![path("a"), path("mistyped")]);
    let request = RollbackRequest { scope, ..to(&made) };
    assert!(not_found(subject.workspace().plan_rollback(&request)));
    assert!(not_found(subject.workspace().rollback(&request)));
    assert_eq!(subject.text("a").as_deref(), Some("new\n"));
}

fn violation(at: &str) -> Violation {
    Violation {
        file: Some(path(at)),
        constraint: Constraint::NewExecutable,
        severity: Severity::Error,
        message: String::new(),
        suggestion: String::new(),
    }
}

pub(super) fn a_smart_rollback_takes_only_what_violates(subject: &dyn Subject) {
    subject.put("good", "old\n");
    subject.put("bad", "old\n");
    let made = subject.record();
    for name in ["good", "bad", "worse"] {
        subject.put(name, "new\n");
    }
    let whole = Violation { file: None, ..violation("bad") };
    let scope = Scope::Violations(vec![violation("bad"), violation("worse"), whole]);
    subject.go_back(&RollbackRequest { scope, ..to(&made) });
    assert_eq!(subject.text("bad").as_deref(), Some("old\n"));
    assert_eq!(subject.text("worse"), None);
    assert_eq!(subject.text("good").as_deref(), Some("new\n"));
}

pub(super) fn edits_since_the_last_checkpoint_are_in_the_safety_checkpoint(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "edited and in no checkpoint\n");
    subject.put("new", "created and in no checkpoint\n");
    let report = subject.back_to(&made);
    let safety = subject.found(&report.safety);
    assert_eq!(safety.kind, CheckpointKind::Safety);
    assert_eq!(subject.held(&safety, "a"), Some(file("edited and in no checkpoint\n")));
    assert_eq!(subject.held(&safety, "new"), Some(file("created and in no checkpoint\n")));
}

pub(super) fn the_state_that_a_rollback_leaves_is_a_checkpoint(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    let report = subject.back_to(&made);
    assert_eq!(report.to, made.checkpoint_id);
    let restored = subject.found(&report.restored);
    assert_eq!((restored.kind, &restored.tree), (CheckpointKind::Restored, &made.tree));
    assert_eq!(subject.ids().last(), Some(&report.restored));
    assert!(subject.create(&CheckpointRequest::default()).unchanged);
}

pub(super) fn a_moved_head_is_refused_and_no_file_changes(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    subject.move_head();
    let plan = subject.workspace().plan_rollback(&to(&made)).expect("a plan");
    let (then, now) = plan.moved_head.expect("two heads");
    assert_eq!(then, made.head);
    assert_ne!(then, now);
    let before = subject.listing();
    assert!(refused(subject.workspace().rollback(&to(&made))));
    assert_eq!(subject.listing(), before);
}

pub(super) fn a_moved_head_is_accepted_when_told(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    subject.move_head();
    subject.go_back(&RollbackRequest { moved_head: MovedHead::Accept, ..to(&made) });
    assert_eq!(subject.text("a").as_deref(), Some("old\n"));
}

pub(super) fn a_preview_of_other_files_is_refused(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    let plan = subject.workspace().plan_rollback(&to(&made)).expect("a plan");
    subject.put("b", "since the preview\n");
    let (before, chain) = (subject.listing(), subject.ids());
    let request = RollbackRequest { seen: Some(plan.now), ..to(&made) };
    assert!(refused(subject.workspace().rollback(&request)));
    assert_eq!((subject.listing(), subject.ids()), (before, chain));
}

pub(super) fn a_preview_of_these_files_is_accepted(subject: &dyn Subject) {
    subject.put("a", "old\n");
    let made = subject.record();
    subject.put("a", "new\n");
    let plan = subject.workspace().plan_rollback(&to(&made)).expect("a plan");
    subject.go_back(&RollbackRequest { seen: Some(plan.now), ..to(&made) });
    assert_eq!(subject.text("a").as_deref(), Some("old\n"));
}

pub(super) fn ignored_files_survive_a_rollback(subject: &dyn Subject) {
    subject.ignore(&path("cache"));
    subject.put("a", "old\n");
    subject.put("cache/before", "x\n");
    let made = subject.record();
    subject.put("a", "new\n");
    subject.put("cache/after", "x\n");
    subject.back_to(&made);
    assert_eq!(subject.text("a").as_deref(), Some("old\n"));
    assert_eq!(subject.text("cache/before").as_deref(), Some("x\n"));
    assert_eq!(subject.text("cache/after").as_deref(), Some("x\n"));
}

pub(super) fn files_that_were_ignored_then_survive_though_the_rule_is_gone(subject: &dyn Subject) {
    for name in ["cache", "local.txt"] {
        subject.ignore(&path(name));
    }
    subject.put("a", "old\n");
    subject.put("cache/kept", "x\n");
    subject.put("local.txt", "mine\n");
    let made = subject.record();
    for name in ["cache", "local.txt"] {
        subject.stop_ignoring(&path(name));
    }
    subject.put("a", "new\n");
    subject.back_to(&made);
    assert_eq!(subject.text("a").as_deref(), Some("old\n"));
    assert_eq!(subject.text("cache/kept").as_deref(), Some("x\n"));
    assert_eq!(subject.text("local.txt").as_deref(), Some("mine\n"));
}

pub(super) fn files_that_were_too_large_then_survive(subject: &dyn Subject) {
    subject.put("a", "old\n");
    subject.write(&path("large"), &[b'x'; 2000]);
    let limits = Limits { max_file_bytes: 1000, ..Limits::default() };
    let made = subject.create(&CheckpointRequest { limits, ..CheckpointRequest::default() });
    subject.put("a", "new\n");
    subject.back_to(&made.checkpoint);
    assert_eq!(subject.text("a").as_deref(), Some("old\n"));
    let large = Content { mode: EntryMode::File, bytes: vec![b'x'; 2000] };
    assert_eq!(subject.read(&path("large")), Some(large));
}

pub(super) fn an_ignored_file_that_is_overwritten_can_be_had_back(subject: &dyn Subject) {
    subject.put("data", "old\n");
    let made = subject.record();
    subject.remove(&path("data"));
    subject.record();
    subject.ignore(&path("data"));
    subject.put("data", "made anew, ignored, in no checkpoint\n");
    let before = subject.listing();
    subject.back_to(&made);
    if subject.listing() != before {
        assert_eq!(subject.text("data").as_deref(), Some("old\n"));
        subject.undo();
    }
    assert_eq!(subject.listing(), before);
}

const MANY: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

pub(super) fn edits_and_rollback_are_merged_when_told(subject: &dyn Subject) {
    subject.put("a", MANY);
    let made = subject.record();
    subject.put("a", &MANY.replace('2', "two"));
    subject.put("b", "by a checkpoint\n");
    subject.record();
    subject.put("a", &MANY.replace('2', "two").replace('8', "mine"));
    let report = subject.go_back(&RollbackRequest { edits: Edits::Merge, ..to(&made) });
    assert_eq!(subject.text("a"), Some(MANY.replace('8', "mine")));
    assert_eq!(subject.text("b"), None);
    let merged = report.paths.iter().find(|one| one.path == path("a"));
    assert_eq!(merged.map(|one| &one.outcome), Some(&Outcome::Merged));
}

pub(super) fn files_that_only_somebody_edited_stay_in_a_merge(subject: &dyn Subject) {
    subject.put("a", "old\n");
    subject.put("b", "old\n");
    let made = subject.record();
    subject.put("a", "by a checkpoint\n");
    subject.record();
    subject.put("b", "mine\n");
    subject.put("c", "mine\n");
    subject.go_back(&RollbackRequest { edits: Edits::Merge, ..to(&made) });
    assert_eq!(subject.text("a").as_deref(), Some("old\n"));
    assert_eq!(subject.text("b").as_deref(), Some("mine\n"));
    assert_eq!(subject.text("c").as_deref(), Some("mine\n"));
}

pub(super) fn a_conflict_leaves_the_file_alone_and_the_others_go_on(subject: &dyn Subject) {
    subject.put("a", MANY);
    subject.put("b", "old\n");
    let made = subject.record();
    subject.put("a", &MANY.replace('5', "five"));
    subject.put("b", "new\n");
    subject.record();
    let mine = MANY.replace('5', "mine");
    subject.put("a", &mine);
    let request = RollbackRequest { edits: Edits::Merge, ..to(&made) };
    let plan = subject.workspace().plan_rollback(&request).expect("a plan");
    let planned = plan.steps.iter().find(|step| step.path == path("a"));
    assert_eq!(planned.map(|step| step.action), Some(StepAction::Conflict));
    let report = subject.go_back(&request);
    assert_eq!(subject.text("a"), Some(mine));
    assert_eq!(subject.text("b").as_deref(), Some("old\n"));
    let of_a = report.paths.iter().find(|one| one.path == path("a"));
    assert!(matches!(of_a.map(|one| &one.outcome), Some(Outcome::Conflict { .. })));
}

pub(super) fn files_folders_and_links_change_places(subject: &dyn Subject) {
    subject.put("file-folder", "a file\n");
    subject.put("folder-file/sub/inner", "a folder\n");
    subject.put("file-link", "a file\n");
    subject.symlink(&path("link-folder"), b"folder-file");
    subject.put("folder-link/inner", "a folder\n");
    let made = subject.record();
    let before = subject.listing();
    subject.put("file-folder/sub/inner", "a folder\n");
    subject.put("folder-file", "a file\n");
    subject.symlink(&path("file-link"), b"nowhere");
    subject.put("link-folder/inner", "a folder\n");
    subject.symlink(&path("folder-link"), b"file-folder");
    let after = subject.listing();
    subject.back_to(&made);
    assert_eq!(subject.listing(), before);
    subject.undo();
    assert_eq!(subject.listing(), after);
}

pub(super) fn only_the_mode_is_restored_where_only_it_changed(subject: &dyn Subject) {
    subject.put("run", "x\n");
    let made = subject.record();
    subject.set_executable(&path("run"), true);
    let report = subject.back_to(&made);
    assert_eq!(subject.read(&path("run")), Some(file("x\n")));
    assert_eq!(report.paths.len(), 1);
    assert_eq!(report.paths[0].outcome, Outcome::ModeChanged);
}

pub(super) fn the_report_names_what_happened_to_each_path(subject: &dyn Subject) {
    subject.put("edited", "old\n");
    subject.put("gone", "old\n");
    let made = subject.record();
    subject.put("edited", "new\n");
    subject.remove(&path("gone"));
    subject.put("added", "new\n");
    let report = subject.back_to(&made);
    let told: Vec<(String, &Outcome)> =
        report.paths.iter().map(|one| (one.path.to_string(), &one.outcome)).collect();
    let expected = [
        ("added".to_owned(), &Outcome::Deleted),
        ("edited".to_owned(), &Outcome::Overwritten),
        ("gone".to_owned(), &Outcome::Created),
    ];
    assert_eq!(told, expected);
}

/// A checkpoint with a file where a folder stands now, with something in it that is too large to be
/// captured and so must stay.
fn with_something_in_the_way(subject: &dyn Subject) -> RollbackRequest {
    subject.put("a", "a file\n");
    subject.put("top", "old\n");
    let made = subject.record();
    subject.remove(&path("a"));
    subject.put("top", "new\n");
    subject.record();
    subject.go_back(&RollbackRequest { scope: Scope::Paths(vec![path("top")]), ..to(&made) });
    subject.write(&path("a/large"), &[b'x'; 2000]);
    let limits = Limits { max_file_bytes: 1000, ..Limits::default() };
    RollbackRequest { limits, scope: Scope::Paths(vec![path("a")]), ..to(&made) }
}

pub(super) fn a_rollback_that_changes_nothing_is_not_the_one_that_is_undone(subject: &dyn Subject) {
    let request = with_something_in_the_way(subject);
    let report = subject.go_back(&request);
    let kept = |one: &PathOutcome| matches!(one.outcome, Outcome::Kept { .. });
    assert!(!report.paths.is_empty() && report.paths.iter().all(kept), "{:?}", report.paths);
    assert_eq!(report.restored, report.safety);
    assert_eq!(subject.text("top").as_deref(), Some("old\n"));
    subject.undo();
    assert_eq!(subject.text("top").as_deref(), Some("new\n"));
    assert!(subject.read(&path("a/large")).is_some());
}

pub(super) fn a_preview_tells_what_cannot_come_back(subject: &dyn Subject) {
    let request = with_something_in_the_way(subject);
    let plan = subject.workspace().plan_rollback(&request).expect("a plan");
    let of_a = plan.steps.iter().find(|step| step.path == path("a")).expect("a step");
    assert_eq!(of_a.action, StepAction::Keep);
    assert!(of_a.note.is_some());
}

pub(super) fn violations_without_a_file_are_said(subject: &dyn Subject) {
    subject.put("bad", "old\n");
    let made = subject.record();
    subject.put("bad", "new\n");
    let whole = Violation { file: None, ..violation("bad") };
    let request = |found| RollbackRequest { scope: Scope::Violations(found), ..to(&made) };
    let plan = |found| subject.workspace().plan_rollback(&request(found)).expect("a plan");
    assert_eq!(plan(vec![violation("bad")]).notes, [] as [String; 0]);
    let some = vec![violation("bad"), whole.clone(), whole.clone()];
    let notes = plan(some.clone()).notes;
    assert!(notes.len() == 1 && notes[0].starts_with("2 violations name no file"), "{notes:?}");
    assert_eq!(subject.go_back(&request(some)).notes, notes);
    assert!(not_found(subject.workspace().plan_rollback(&request(vec![whole]))));
}

pub(super) fn an_unknown_checkpoint_is_not_found_and_nothing_happens(subject: &dyn Subject) {
    subject.put("a", "a\n");
    subject.record();
    subject.put("a", "b\n");
    let (before, chain) = (subject.listing(), subject.ids());
    let request = RollbackRequest::to(CheckpointId("ckpt-009-00000000".to_owned()));
    assert!(not_found(subject.workspace().rollback(&request)));
    assert!(not_found(subject.workspace().plan_rollback(&request)));
    assert_eq!((subject.listing(), subject.ids()), (before, chain));
}
