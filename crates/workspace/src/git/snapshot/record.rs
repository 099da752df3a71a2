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
        let changes: Vec<Change> = survey.looked.deltas.iter().filter_map(change).collect();
        let base = TreeId(survey.base.to_string());
        self.keep_base(survey.base)?;
        let staged_tree = self.stage(&mut survey)?;
        let findings = self.judge(&mut survey, &base, &changes)?;
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
            permissions: notes.permissions,
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
        let commit = survey.pack.add(Kind::Commit, &commit::encode(&stored)?)?;
        let pack = std::mem::replace(&mut survey.pack, PackWriter::new(&self.store)?);
        pack.finish()?;
        self.store.set_ref(&format!("{}{id}", self.chain_prefix()), &commit)?;
        survey.state.commit = commit.to_string();
        survey.state.highest = number;
        self.remember(&survey, &findings, &id);
        self.project_diff(&stored.checkpoint, &survey.looked.deltas, &survey.objects);
        let scanned = survey.looked.notes.scanned;
        Ok(Created { checkpoint: stored.checkpoint, unchanged: false, changes, scanned })
    }

    /// What HEAD held when the chain began is kept alive in the user's repository, because files
    /// that did not change since are stored there only.
    fn keep_base(&self, base: ObjectId) -> Result<()> {
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

    /// The tree of what is staged and in no file.
    fn stage(&self, survey: &mut Survey) -> Result<Option<ObjectId>> {
        let root = Root::open(&self.place.root)?;
        let staging = Staging {
            objects: &survey.objects,
            store: &self.store,
            outer: &survey.outer,
            root: &root,
            previous: &survey.previous,
            looked: &survey.looked,
        };
        staging.tree(&survey.staged, &mut survey.pack)
    }

    /// What is wrong with what was found.
    fn judge(&self, survey: &mut Survey, base: &TreeId, changes: &[Change]) -> Result<Findings> {
        survey.state.used_bytes = survey.state.used_bytes.saturating_add(survey.new_bytes);
        let links = changes.iter().any(|change| change.after == Some(EntryMode::Symlink));
        let count = survey.state.used_bytes > DEFAULT_QUOTA_BYTES;
        if links || count {
            // Whoever looks for links or counts bytes must be able to read the tree.
            let pack = std::mem::replace(&mut survey.pack, PackWriter::new(&self.store)?);
            pack.finish()?;
        }
        let notes = &survey.looked.notes;
        let nested: Vec<RepoPath> = notes.nested.iter().map(|nested| nested.path.clone()).collect();
        self.find_violations(&Asked {
            tree: &TreeId(survey.tree.to_string()),
            base_tree: count.then_some(base),
            changes,
            skipped: &notes.skipped,
            nested: &nested,
            facts: &|path| Facts::of(&self.place.root, path),
        })
    }

    /// Everything after the ref only makes the next checkpoint cheaper or tells others, so that its
    /// failure must not undo what is recorded.
    fn remember(&self, survey: &Survey, findings: &Findings, id: &CheckpointId) {
        let folder = &self.place.feature_dir;
        let _ = survey.state.save(folder);
        if let Some(listing) = &survey.looked.listing {
            let _ = listing.save(&folder.join("index"), &survey.tree);
        }
        let _ = findings.remember(self);
        if let (Some(watch), Some(mark)) = (&survey.watch, &survey.state.mark) {
            watch.captured(mark, id);
        }
    }
}
