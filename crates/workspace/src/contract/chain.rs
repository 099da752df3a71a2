//! What the chain of checkpoints promises.

use aurora_model::CheckpointId;

use super::{Subject, not_found, path, skipped};
use crate::request::CheckpointRequest;

pub(super) fn the_first_checkpoint_begins_from_what_head_held(subject: &dyn Subject) {
    assert!(subject.ids().is_empty());
    subject.put("a", "a\n");
    let first = subject.record();
    assert_eq!(first.previous_checkpoint_id, None);
    assert_eq!(first.previous_tree, first.base_tree);
    let changes = subject.workspace().changes(&first.base_tree, &first.tree).expect("changes");
    assert_eq!(changes.len(), 1, "{changes:?}");
}

pub(super) fn checkpoints_are_chained_in_order(subject: &dyn Subject) {
    let made: Vec<_> = ["one", "two", "three"]
        .iter()
        .map(|text| {
            subject.put("a", text);
            subject.record()
        })
        .collect();
    assert_eq!(subject.workspace().checkpoints().expect("the chain"), made);
    for pair in made.windows(2) {
        let (one, next) = (&pair[0], &pair[1]);
        assert_eq!(next.previous_checkpoint_id.as_ref(), Some(&one.checkpoint_id));
        assert_eq!(next.previous_tree, one.tree);
        assert_eq!(next.base_tree, one.base_tree);
        assert!(next.timestamp >= one.timestamp);
    }
    let number = |at: usize| made[at].checkpoint_id.0.split('-').nth(1).map(str::to_owned);
    assert_eq!([number(0), number(2)], [Some("001".to_owned()), Some("003".to_owned())]);
}

pub(super) fn an_unchanged_tree_is_the_checkpoint_that_is_there(subject: &dyn Subject) {
    subject.put("a", "a\n");
    let first = subject.create(&CheckpointRequest::default());
    let again = subject.create(&CheckpointRequest::default());
    assert!(!first.unchanged && again.unchanged && again.changes.is_empty());
    assert_eq!(again.checkpoint, first.checkpoint);
    assert_eq!(subject.ids().len(), 1);
}

pub(super) fn an_unchanged_tree_is_recorded_on_demand(subject: &dyn Subject) {
    subject.put("a", "a\n");
    let first = subject.record();
    let second = subject.record();
    assert_eq!(first.tree, second.tree);
    assert_ne!(first.checkpoint_id, second.checkpoint_id);
    assert_eq!(second.files_changed_since_last, 0);
    assert_eq!(subject.ids().len(), 2);
}

pub(super) fn what_is_newly_left_out_is_told_by_a_new_checkpoint(subject: &dyn Subject) {
    subject.ignore(&path("local"));
    subject.put("a", "a\n");
    let first = subject.create(&CheckpointRequest::default()).checkpoint;
    subject.put("local", "mine\n");
    let second = subject.create(&CheckpointRequest::default());
    assert!(!second.unchanged && second.changes.is_empty());
    assert_eq!(second.checkpoint.tree, first.tree);
    assert!(skipped(&first, "local").is_none() && skipped(&second.checkpoint, "local").is_some());
    subject.stop_ignoring(&path("local"));
    subject.back_to(&second.checkpoint);
    assert_eq!(subject.text("local").as_deref(), Some("mine\n"));
}

pub(super) fn a_change_that_was_taken_back_has_the_old_tree_again(subject: &dyn Subject) {
    subject.put("a", "one\n");
    let first = subject.record();
    subject.put("a", "two\n");
    let second = subject.record();
    subject.put("a", "one\n");
    let third = subject.create(&CheckpointRequest::default());
    assert!(!third.unchanged, "it differs from the one before");
    assert_ne!(second.tree, first.tree);
    assert_eq!(third.checkpoint.tree, first.tree);
}

pub(super) fn checkpoints_are_found_by_name_beginning_number_and_latest(subject: &dyn Subject) {
    subject.put("a", "one\n");
    let first = subject.record();
    subject.put("a", "two\n");
    let second = subject.record();
    let whole = first.checkpoint_id.0.as_str();
    let beginning: String = whole.chars().take("ckpt-001-ab".len()).collect();
    for name in [whole, &beginning, "1", "#1", "001"] {
        let found = subject.workspace().find(name).expect("the checkpoint");
        assert_eq!(found.checkpoint_id, first.checkpoint_id, "{name}");
    }
    let latest = subject.workspace().find("latest").expect("the checkpoint");
    assert_eq!(latest, second);
}

pub(super) fn a_beginning_that_several_have_is_refused(subject: &dyn Subject) {
    subject.record();
    subject.record();
    assert!(not_found(subject.workspace().find("ckpt-0")));
    assert!(not_found(subject.workspace().find("ckpt")));
}

pub(super) fn what_nobody_made_is_not_found(subject: &dyn Subject) {
    assert!(not_found(subject.workspace().find("latest")));
    subject.record();
    for name in ["", "2", "#2", "ckpt-001-zzzzzzzz", "ckpt-002", "nonsense", "../x"] {
        assert!(not_found(subject.workspace().find(name)), "{name:?}");
    }
    assert_eq!(subject.ids().len(), 1);
    assert_ne!(subject.ids(), [CheckpointId(String::new())]);
}
