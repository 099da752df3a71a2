//! Recording what a survey found: objects first, then the ref that makes it a checkpoint.

use aurora_model::{
    Change, Checkpoint, CheckpointId, EntryMode, RepoPath, Severity, TreeId, ValidationStatus,
};
use gix::hash::ObjectId;
use gix::objs::Kind;

use super::staged::Staging;
use super::survey::Survey;
use crate::error::Result;
use crate::escape::{Asked, DEFAULT_QUOTA_BYTES, Facts, Findings};
use crate::git::GitWorkspace;
use crate::git::chain::commit::{self, Stored};
use crate::git::chain::{change, id_for};
use crate::git::pack::PackWriter;
use crate::git::scan::open::Root;
use crate::request::{CheckpointRequest, Created};

impl GitWorkspace {
    /// Makes a checkpoint of a survey. Killed at any moment, it leaves the chain as it was or as it
    /// will be.
    pub(super) fn record(&self, request: &CheckpointRequest, survey: Survey) -> Result<Created> {
        let mut survey = survey;
        let deltas = &survey.looked.deltas;
        let changes: Vec<Change> = deltas.iter().filter_map(change).collect();
        let base = match &survey.latest {
            Some(link) => link.stored.checkpoint.base_tree.clone(),
            None => TreeId(survey.previous.to_string()),
        };
        self.keep_base(&base)?;
        let root = Root::open(&self.place.root)?;
        let staging = Staging {
            objects: &survey.objects,
            store: &self.store,
            outer: &survey.outer,
            root: &root,
            previous: &survey.previous,
            looked: &survey.looked,
        };
        let staged_tree = staging.tree(&survey.staged, &mut survey.pack)?;
        survey.state.used_bytes = survey.state.used_bytes.saturating_add(survey.new_bytes);
        let mut pack = survey.pack;
        // Whoever looks for links or counts bytes must be able to read the tree.
        let links = changes.iter().any(|change| change.after == Some(EntryMode::Symlink));
        let count = survey.state.used_bytes > DEFAULT_QUOTA_BYTES;
        if links || count {
            pack.finish()?;
            pack = PackWriter::new(&self.store)?;
        }
        let findings =
            self.judge(&survey.tree, count.then_some(&base), &changes, &survey.looked.notes)?;
        let mut violations = findings.violations.clone();
        violations.extend(request.violations.iter().cloned());
        let severity = violations.iter().map(|violation| violation.severity).max();
        let invalid = severity.is_some_and(|severity| severity >= Severity::Error);
        let number = survey.highest + 1;
        let latest = survey.latest.as_ref();
        let notes = survey.looked.notes.clone();
        let checkpoint = Checkpoint {
            checkpoint_id: id_for(number, ""),
            timestamp: (self.settings.now)(),
            previous_checkpoint_id: latest.map(|link| link.stored.checkpoint.checkpoint_id.clone()),
            feature: self.place.feature.clone(),
            kind: request.kind,
            message: request.message.clone(),
            tree: TreeId(survey.tree.to_string()),
            previous_tree: TreeId(survey.previous.to_string()),
            base_tree: base,
            staged_tree: staged_tree.map(|tree| TreeId(tree.to_string())),
            head: survey.head.clone(),
            files_changed_since_last: changes.len() as u64,
            skipped: notes.skipped,
            empty_folders: notes.empty_folders,
            nested: notes.nested,
            violations,
            validation_status: match invalid {
                true => ValidationStatus::Invalid,
                false => ValidationStatus::Valid,
            },
            severity: severity.unwrap_or_default(),
        };
        let previous_commit = latest.map(|link| link.commit.to_string());
        let mut stored = Stored { checkpoint, previous_commit };
        stored.checkpoint.checkpoint_id = commit::name_of(&stored, self.place.hash)?;
        let id = stored.checkpoint.checkpoint_id.clone();
        let commit = pack.add(Kind::Commit, &commit::encode(&stored)?)?;
        pack.finish()?;
        self.store.set_ref(&format!("{}{id}", self.chain_prefix()), &commit)?;
        survey.state.commit = commit.to_string();
        survey.state.highest = number;
        self.remember(&survey.state, survey.looked.listing.as_ref(), &survey.tree, &findings, &id);
        self.project_diff(&stored.checkpoint, &survey.looked.deltas, &survey.objects);
        let scanned = survey.looked.notes.scanned;
        Ok(Created { checkpoint: stored.checkpoint, unchanged: false, changes, scanned })
    }

    /// What HEAD held when the chain began is kept alive in the user's repository, because files
    /// that did not change since are stored there only.
    fn keep_base(&self, base: &TreeId) -> Result<()> {
        let base = crate::git::chain::tree_id(base)?;
        if base.is_empty_tree() {
            return Ok(());
        }
        let mut kept = self.store.kept(&self.place)?;
        if !kept.contains(&base) {
            kept.push(base);
            self.store.keep(&self.place, &kept)?;
        }
        Ok(())
    }

    fn judge(
        &self,
        tree: &ObjectId,
        base: Option<&TreeId>,
        changes: &[Change],
        notes: &crate::git::scan::ScanNotes,
    ) -> Result<Findings> {
        let tree = TreeId(tree.to_string());
        let nested: Vec<RepoPath> = notes.nested.iter().map(|nested| nested.path.clone()).collect();
        self.find_violations(&Asked {
            tree: &tree,
            base_tree: base,
            changes,
            skipped: &notes.skipped,
            nested: &nested,
            facts: &|path| Facts::of(&self.place.root, path),
        })
    }

    /// Everything after the ref only makes the next checkpoint cheaper or tells others, so that its
    /// failure must not undo what is recorded.
    fn remember(
        &self,
        state: &super::state::State,
        listing: Option<&crate::git::stat_cache::StatCache>,
        tree: &ObjectId,
        findings: &Findings,
        id: &CheckpointId,
    ) {
        let _ = state.save(&self.place.feature_dir);
        if let Some(listing) = listing {
            let _ = listing.save(&self.place.feature_dir.join("index"), tree);
        }
        let _ = findings.remember(self);
        if let (Some(watch), Some(mark)) = (self.watch(), &state.mark) {
            watch.captured(mark, id);
        }
    }
}
