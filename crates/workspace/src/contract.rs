//! What every `Workspace` promises, as tests that each implementation passes.
//!
//! An implementation gives a [`Subject`] and runs [`suite`] on a fresh one for each promise.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a promise that is not kept ends the test that asked for it"
)]

mod chain;
mod checkpoint;
mod keeping;
mod rollback;
mod undo;

use std::collections::BTreeMap;

use aurora_model::{Checkpoint, CheckpointId, RepoPath, SkipReason};

use crate::error::{Error, Result};
use crate::request::{
    CheckpointRequest, Content, Created, OnUnchanged, Outcome, RollbackReport, RollbackRequest,
    UndoRequest,
};
use crate::workspace::Workspace;

/// A workspace that is judged, and a way to change its files behind its back. A fresh one has no
/// files, and a commit.
pub trait Subject {
    /// The workspace.
    fn workspace(&self) -> &dyn Workspace;
    /// Writes a file, in place of whatever is in its way; one that may be executed stays so.
    fn write(&self, path: &RepoPath, bytes: &[u8]);
    /// Says whether a file may be executed.
    fn set_executable(&self, path: &RepoPath, executable: bool);
    /// Makes a symbolic link, in place of whatever is in its way.
    fn symlink(&self, path: &RepoPath, target: &[u8]);
    /// Makes a folder with nothing in it, where nothing stands.
    fn make_folder(&self, path: &RepoPath);
    /// Whether a path is a folder.
    fn is_folder(&self, path: &RepoPath) -> bool;
    /// Removes a path and what is below it.
    fn remove(&self, path: &RepoPath);
    /// What stands at a path now.
    fn read(&self, path: &RepoPath) -> Option<Content>;
    /// Ignores a path and what is below it, by a rule that is in no file of the worktree.
    fn ignore(&self, path: &RepoPath);
    /// Takes `ignore` back.
    fn stop_ignoring(&self, path: &RepoPath);
    /// Moves HEAD to a new commit; no file changes.
    fn move_head(&self);
    /// Everything that is there now, ignored or not.
    fn listing(&self) -> BTreeMap<RepoPath, Content>;
}

/// One promise: a sentence, and how it is put to the test.
pub type Promise = (&'static str, fn(&dyn Subject));

/// Hands the list of all promises to a macro, so that the suite and the tests have the same ones.
macro_rules! with_promises {
    ($use_them:ident) => {
        $use_them! {
            checkpoint::a_checkpoint_holds_every_byte_mode_and_link,
            checkpoint::names_of_all_kinds_are_held,
            checkpoint::empty_and_binary_content_is_held,
            checkpoint::trees_have_the_names_that_git_gives_them,
            checkpoint::a_checkpoint_changes_no_file,
            checkpoint::kind_message_and_violations_are_kept,
            checkpoint::changes_are_told_by_path_and_kind,
            checkpoint::files_and_folders_that_change_places_are_told_apart,
            checkpoint::the_diff_is_empty_exactly_when_the_trees_are_equal,
            checkpoint::a_diff_shows_only_the_paths_that_were_asked_for,
            checkpoint::a_diff_of_text_reads_as_git_writes_it,
            checkpoint::nothing_is_read_where_nothing_stands,
            checkpoint::ignored_files_are_left_out_and_listed,
            checkpoint::an_ignored_folder_stands_for_what_is_below_it,
            checkpoint::what_was_captured_once_is_captured_though_ignored_later,
            checkpoint::paths_that_are_asked_for_are_taken_though_ignored,
            checkpoint::small_secrets_are_taken_on_demand,
            checkpoint::a_file_beyond_the_limit_is_skipped_and_listed,
            checkpoint::too_many_files_are_refused_and_nothing_is_recorded,
            checkpoint::too_much_new_content_is_refused_and_nothing_is_recorded,
            chain::the_first_checkpoint_begins_from_what_head_held,
            chain::checkpoints_are_chained_in_order,
            chain::an_unchanged_tree_is_the_checkpoint_that_is_there,
            chain::an_unchanged_tree_is_recorded_on_demand,
            chain::what_is_newly_left_out_is_told_by_a_new_checkpoint,
            chain::a_change_that_was_taken_back_has_the_old_tree_again,
            chain::checkpoints_are_found_by_name_beginning_number_and_latest,
            chain::a_beginning_that_several_have_is_refused,
            chain::what_nobody_made_is_not_found,
            rollback::a_rollback_restores_everything_exactly,
            rollback::a_plan_says_what_would_happen_and_does_nothing,
            rollback::a_plan_says_which_files_hold_edits_that_no_checkpoint_has,
            rollback::a_rollback_to_where_one_is_changes_nothing,
            rollback::a_rollback_of_some_paths_leaves_the_others,
            rollback::paths_that_nothing_has_are_not_found,
            rollback::a_smart_rollback_takes_only_what_violates,
            rollback::edits_since_the_last_checkpoint_are_in_the_safety_checkpoint,
            rollback::the_state_that_a_rollback_leaves_is_a_checkpoint,
            undo::a_rollback_can_be_undone,
            undo::undoing_can_be_undone,
            undo::edits_after_a_rollback_survive_its_undoing_in_the_safety_checkpoint,
            undo::without_a_rollback_there_is_nothing_to_undo,
            rollback::a_moved_head_is_refused_and_no_file_changes,
            rollback::a_moved_head_is_accepted_when_told,
            rollback::a_preview_of_other_files_is_refused,
            rollback::a_preview_of_these_files_is_accepted,
            rollback::ignored_files_survive_a_rollback,
            rollback::files_that_were_ignored_then_survive_though_the_rule_is_gone,
            rollback::files_that_were_too_large_then_survive,
            rollback::an_ignored_file_that_is_overwritten_can_be_had_back,
            rollback::edits_and_rollback_are_merged_when_told,
            rollback::files_that_only_somebody_edited_stay_in_a_merge,
            rollback::a_conflict_leaves_the_file_alone_and_the_others_go_on,
            rollback::files_folders_and_links_change_places,
            rollback::only_the_mode_is_restored_where_only_it_changed,
            rollback::the_report_names_what_happened_to_each_path,
            undo::empty_folders_come_back_and_go_with_the_undoing,
            rollback::a_rollback_that_changes_nothing_is_not_the_one_that_is_undone,
            rollback::a_preview_tells_what_cannot_come_back,
            rollback::violations_without_a_file_are_said,
            undo::an_undoing_can_be_looked_at_first,
            rollback::an_unknown_checkpoint_is_not_found_and_nothing_happens,
            keeping::without_a_rule_nothing_is_forgotten,
            keeping::the_last_ones_are_kept_and_the_others_are_not_found,
            keeping::the_latest_is_kept_whatever_the_rule,
            keeping::young_ones_are_kept,
            keeping::the_named_ones_are_forgotten,
            keeping::a_dry_run_forgets_nothing,
            keeping::what_undoing_needs_is_kept,
            keeping::the_latest_stays_though_it_is_named,
            keeping::what_nobody_made_cannot_be_forgotten,
            keeping::what_undoing_needs_goes_when_it_is_named,
            keeping::the_kept_ones_can_still_be_restored,
            keeping::numbers_are_not_given_twice,
            keeping::a_branch_is_made_once,
            keeping::a_branch_of_an_unknown_checkpoint_is_not_found,
            keeping::nothing_half_done_means_nothing_to_heal,
        }
    };
}

macro_rules! as_list {
    ($($room:ident :: $promise:ident),* $(,)?) => {
        vec![$((stringify!($promise), $room::$promise as fn(&dyn Subject))),*]
    };
}

/// Every promise. Each wants a subject of its own.
#[must_use]
pub fn suite() -> Vec<Promise> {
    with_promises!(as_list)
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

fn file(text: &str) -> Content {
    Content { mode: aurora_model::EntryMode::File, bytes: text.as_bytes().to_vec() }
}

/// What the promises say to a subject, in short.
impl dyn Subject + '_ {
    fn put(&self, at: &str, text: &str) {
        self.write(&path(at), text.as_bytes());
    }

    fn text(&self, at: &str) -> Option<String> {
        self.read(&path(at)).map(|content| String::from_utf8_lossy(&content.bytes).into_owned())
    }

    fn create(&self, request: &CheckpointRequest) -> Created {
        self.workspace().checkpoint(request).expect("a checkpoint")
    }

    fn record(&self) -> Checkpoint {
        let always = OnUnchanged::Record;
        let request = CheckpointRequest { on_unchanged: always, ..CheckpointRequest::default() };
        self.create(&request).checkpoint
    }

    fn go_back(&self, request: &RollbackRequest) -> RollbackReport {
        let report = self.workspace().rollback(request).expect("a rollback");
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
        assert!(!report.paths.iter().any(|path| failed(&path.outcome)), "{:?}", report.paths);
        report
    }

    fn back_to(&self, checkpoint: &Checkpoint) -> RollbackReport {
        self.go_back(&to(checkpoint))
    }

    fn undo(&self) -> RollbackReport {
        self.workspace().undo(&UndoRequest::default()).expect("an undoing")
    }

    fn found(&self, id: &CheckpointId) -> Checkpoint {
        self.workspace().find(&id.0).expect("the checkpoint")
    }

    fn held(&self, checkpoint: &Checkpoint, at: &str) -> Option<Content> {
        self.workspace().read(&checkpoint.tree, &path(at)).expect("a tree")
    }

    fn ids(&self) -> Vec<CheckpointId> {
        let chain = self.workspace().checkpoints().expect("the chain");
        chain.into_iter().map(|checkpoint| checkpoint.checkpoint_id).collect()
    }

    fn diff(&self, from: &Checkpoint, to: &Checkpoint, only: &[RepoPath]) -> String {
        let mut text = Vec::new();
        self.workspace().diff(&from.tree, &to.tree, only, &mut text).expect("a diff");
        String::from_utf8_lossy(&text).into_owned()
    }
}

fn to(checkpoint: &Checkpoint) -> RollbackRequest {
    RollbackRequest::to(checkpoint.checkpoint_id.clone())
}

fn skipped(checkpoint: &Checkpoint, at: &str) -> Option<SkipReason> {
    let covers = |left: &&aurora_model::Skipped| path(at).is_within(&left.path);
    checkpoint.skipped.iter().find(covers).map(|left| left.reason)
}

fn refused<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Refused { .. }))
}

fn too_large<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::TooLarge { .. }))
}

fn not_found<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::NotFound { .. }))
}

#[cfg(test)]
mod tests;
