//! What pruning, branches and healing promise.

use aurora_model::{Checkpoint, CheckpointId};

use super::{Subject, not_found, refused};
use crate::request::{Retention, UndoRequest};

/// So many checkpoints, each of another text.
fn several(subject: &dyn Subject, count: usize) -> Vec<Checkpoint> {
    let make = |number| {
        subject.put("a", &format!("text {number}\n"));
        subject.record()
    };
    (0..count).map(make).collect()
}

fn keep_last(count: u64) -> Retention {
    Retention { keep_last: Some(count), ..Retention::default() }
}

pub(super) fn without_a_rule_nothing_is_forgotten(subject: &dyn Subject) {
    several(subject, 3);
    let pruned = subject.workspace().prune(&Retention::default()).expect("pruning");
    assert_eq!((pruned.forgotten.len(), pruned.kept), (0, 3));
    assert_eq!(subject.ids().len(), 3);
}

pub(super) fn the_last_ones_are_kept_and_the_others_are_not_found(subject: &dyn Subject) {
    let made = several(subject, 5);
    let before = subject.listing();
    let pruned = subject.workspace().prune(&keep_last(2)).expect("pruning");
    let ids: Vec<CheckpointId> = made.into_iter().map(|one| one.checkpoint_id).collect();
    assert_eq!((pruned.forgotten.as_slice(), pruned.kept), (&ids[..3], 2));
    assert_eq!(subject.ids(), &ids[3..]);
    for id in &ids[..3] {
        assert!(not_found(subject.workspace().find(&id.0)), "{id}");
    }
    assert_eq!(subject.listing(), before);
}

pub(super) fn the_latest_is_kept_whatever_the_rule(subject: &dyn Subject) {
    let made = several(subject, 3);
    subject.workspace().prune(&keep_last(0)).expect("pruning");
    assert_eq!(subject.ids(), [made[2].checkpoint_id.clone()]);
}

pub(super) fn young_ones_are_kept(subject: &dyn Subject) {
    several(subject, 3);
    let hour = 3_600_000;
    let young = Retention { keep_younger_than_ms: Some(hour), ..keep_last(1) };
    subject.workspace().prune(&young).expect("pruning");
    assert_eq!(subject.ids().len(), 3);
}

pub(super) fn the_named_ones_are_forgotten(subject: &dyn Subject) {
    let made = several(subject, 4);
    let forget = vec![made[1].checkpoint_id.clone()];
    let retention = Retention { forget: forget.clone(), ..Retention::default() };
    let pruned = subject.workspace().prune(&retention).expect("pruning");
    assert_eq!((pruned.forgotten, pruned.kept), (forget, 3));
    let left = [0, 2, 3].map(|at: usize| made[at].checkpoint_id.clone());
    assert_eq!(subject.ids(), left);
}

pub(super) fn a_dry_run_forgets_nothing(subject: &dyn Subject) {
    let made = several(subject, 3);
    let dry = Retention { dry_run: true, ..keep_last(1) };
    let pruned = subject.workspace().prune(&dry).expect("pruning");
    let would_go = [0, 1].map(|at: usize| made[at].checkpoint_id.clone());
    assert_eq!(pruned.forgotten, would_go);
    assert_eq!(subject.ids().len(), 3);
}

pub(super) fn what_undoing_needs_is_kept(subject: &dyn Subject) {
    let made = several(subject, 3);
    subject.put("a", "in no checkpoint\n");
    subject.back_to(&made[0]);
    several(subject, 2);
    subject.workspace().prune(&keep_last(1)).expect("pruning");
    subject.undo();
    assert_eq!(subject.text("a").as_deref(), Some("in no checkpoint\n"));
}

pub(super) fn the_latest_stays_though_it_is_named(subject: &dyn Subject) {
    let made = several(subject, 3);
    let forget = vec![made[0].checkpoint_id.clone(), made[2].checkpoint_id.clone()];
    let retention = Retention { forget, ..Retention::default() };
    let chain = subject.ids();
    let dry = Retention { dry_run: true, ..retention.clone() };
    assert!(refused(subject.workspace().prune(&dry)));
    assert!(refused(subject.workspace().prune(&retention)));
    assert_eq!(subject.ids(), chain);
}

pub(super) fn what_nobody_made_cannot_be_forgotten(subject: &dyn Subject) {
    let made = several(subject, 2);
    let nobody = CheckpointId("ckpt-009-00000000".to_owned());
    let forget = vec![made[0].checkpoint_id.clone(), nobody];
    let retention = Retention { forget, ..Retention::default() };
    assert!(not_found(subject.workspace().prune(&retention)));
    assert_eq!(subject.ids().len(), 2);
}

pub(super) fn what_undoing_needs_goes_when_it_is_named(subject: &dyn Subject) {
    let made = several(subject, 2);
    subject.put("a", "in no checkpoint\n");
    let report = subject.back_to(&made[0]);
    subject.put("a", "after\n");
    subject.record();
    let retention = Retention { forget: vec![report.safety.clone()], ..Retention::default() };
    let pruned = subject.workspace().prune(&retention).expect("pruning");
    assert_eq!(pruned.forgotten, [report.safety]);
    let (before, chain) = (subject.listing(), subject.ids());
    // It is not taken for something older that could be undone instead.
    assert!(not_found(subject.workspace().undo(&UndoRequest::default())));
    assert_eq!((subject.listing(), subject.ids()), (before, chain));
}

pub(super) fn the_kept_ones_can_still_be_restored(subject: &dyn Subject) {
    subject.put("shared", "the same all the time\n");
    subject.put("sub/shared", "this too\n");
    let made = several(subject, 4);
    subject.workspace().prune(&keep_last(2)).expect("pruning");
    subject.remove(&super::path("shared"));
    subject.remove(&super::path("sub"));
    subject.back_to(&made[2]);
    assert_eq!(subject.text("a").as_deref(), Some("text 2\n"));
    assert_eq!(subject.text("shared").as_deref(), Some("the same all the time\n"));
    assert_eq!(subject.text("sub/shared").as_deref(), Some("this too\n"));
    let diff = subject.diff(&made[2], &made[3], &[]);
    assert!(diff.contains("-text 2\n+text 3\n"), "{diff}");
}

pub(super) fn numbers_are_not_given_twice(subject: &dyn Subject) {
    several(subject, 3);
    subject.workspace().prune(&keep_last(1)).expect("pruning");
    subject.put("a", "another\n");
    let made = subject.record();
    assert!(made.checkpoint_id.0.starts_with("ckpt-004-"), "{}", made.checkpoint_id);
}

pub(super) fn a_branch_is_made_once(subject: &dyn Subject) {
    let made = several(subject, 2);
    let (before, chain) = (subject.listing(), subject.ids());
    let id = &made[0].checkpoint_id;
    let commit = subject.workspace().branch(id, "topic/one").expect("a branch");
    assert!(commit.len() >= 40 && commit.chars().all(|digit| digit.is_ascii_hexdigit()));
    assert!(refused(subject.workspace().branch(&made[1].checkpoint_id, "topic/one")));
    assert!(refused(subject.workspace().branch(id, "main")));
    subject.workspace().branch(&made[1].checkpoint_id, "topic/two").expect("a branch");
    assert_eq!((subject.listing(), subject.ids()), (before, chain));
}

pub(super) fn a_branch_of_an_unknown_checkpoint_is_not_found(subject: &dyn Subject) {
    several(subject, 1);
    let nobody = CheckpointId("ckpt-009-00000000".to_owned());
    assert!(not_found(subject.workspace().branch(&nobody, "topic")));
}

pub(super) fn nothing_half_done_means_nothing_to_heal(subject: &dyn Subject) {
    let made = several(subject, 2);
    subject.back_to(&made[0]);
    let before = subject.listing();
    assert_eq!(subject.workspace().heal().expect("healing"), []);
    assert_eq!(subject.listing(), before);
}
