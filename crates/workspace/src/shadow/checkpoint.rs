//! Checkpoints of a shadow: a chain of its own, made from the base and the shadow's own files.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_model::{
    Change, Checkpoint, CheckpointKind, RepoPath, SkipReason, Skipped, TreeId, ValidationStatus,
};

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::chain::commit::{self, Stored};
use crate::git::chain::{id_for, tree_id};
use crate::git::pack::PackWriter;
use crate::git::place::Place;
use crate::git::private::PrivateStore;
use crate::git::tree;
use crate::request::{CheckpointRequest, Limits};
use crate::shadow::changes::Compared;
use crate::shadow::meta::{Shadow, Status};
use crate::shadow::reading::{Beneath, Seen};
use crate::shadow::{ShadowCheckpoint, quota, removal};

impl GitWorkspace {
    /// Records what a shadow holds, in a chain of its own, so that the worktree's chain and what
    /// `rollback` goes back to stay as they are. Only the shadow's own files are read.
    pub fn checkpoint_shadow(&self, shadow: &Shadow, message: &str) -> Result<ShadowCheckpoint> {
        if shadow.meta.status != Status::Open {
            return Err(Error::Refused {
                what: format!("{} is over: it was promoted or discarded", shadow.meta.id),
                hint: "`aur shadow list` shows the open ones".to_owned(),
            });
        }
        let base = match &shadow.meta.base_tree {
            Some(tree) => tree.clone(),
            None => {
                let request =
                    CheckpointRequest { kind: CheckpointKind::Shadow, ..Default::default() };
                self.create_checkpoint(&request)?.checkpoint.tree
            }
        };
        let own = self.of_shadow(&shadow.meta.id)?;
        let lock = own.store.lock(&own.place)?;
        let compared = self.compare_shadow(shadow, Limits::default().max_file_bytes)?;
        let mut pack = PackWriter::new(&self.store)?;
        let taken = || compared.changes.iter().filter(|change| !change.ignored);
        self.store_shadow_blobs(shadow, taken(), &mut pack)?;
        let edits: BTreeMap<_, _> =
            taken().map(|change| (change.change.path.clone(), change.sides.mine)).collect();
        let objects = self.store.objects()?;
        let tree = tree::edit(&objects, &tree_id(&base)?, &edits, &mut pack)?;
        let tree = TreeId(tree.to_string());
        let changes: Vec<Change> = taken().map(|change| change.change.clone()).collect();
        let skipped = compared.problems.iter().map(|problem| problem.path.clone()).collect();
        let (latest, highest) = own.latest_link(&objects)?;
        if let Some(latest) = latest.as_ref().filter(|one| one.stored.checkpoint.tree == tree) {
            let checkpoint = latest.stored.checkpoint.clone();
            return Ok(ShadowCheckpoint { checkpoint, unchanged: true, changes, skipped });
        }
        let mut stored = Stored {
            checkpoint: self.describe_shadow(shadow, &compared, &base, tree, message)?,
            previous_commit: latest.as_ref().map(|latest| latest.commit.to_string()),
        };
        if let Some(latest) = &latest {
            let before = &latest.stored.checkpoint;
            stored.checkpoint.previous_checkpoint_id = Some(before.checkpoint_id.clone());
            stored.checkpoint.previous_tree = before.tree.clone();
        }
        stored.checkpoint.checkpoint_id = id_for(highest + 1, "");
        stored.checkpoint.checkpoint_id = commit::name_of(&stored, self.place.hash)?;
        let id = pack.add(gix::objs::Kind::Commit, &commit::encode(&stored)?)?;
        pack.finish()?;
        let name = format!("{}{}", own.chain_prefix(), stored.checkpoint.checkpoint_id);
        own.store.set_ref(&name, &id)?;
        drop(lock);
        Ok(ShadowCheckpoint { checkpoint: stored.checkpoint, unchanged: false, changes, skipped })
    }

    /// All that a checkpoint says, but for its place in the chain.
    fn describe_shadow(
        &self,
        shadow: &Shadow,
        compared: &Compared,
        base: &TreeId,
        tree: TreeId,
        message: &str,
    ) -> Result<Checkpoint> {
        let judged = self.judge_shadow(shadow, compared, quota::bytes_held(shadow))?;
        let violations = judged.violations;
        let skipped = compared.problems.iter().map(|problem| Skipped {
            path: problem.path.clone(),
            reason: if problem.special { SkipReason::SpecialFile } else { SkipReason::Unreadable },
            folder: false,
            bytes: None,
        });
        let ignored =
            compared.changes.iter().filter(|change| change.ignored).map(|change| Skipped {
                path: change.change.path.clone(),
                reason: SkipReason::Ignored,
                folder: false,
                bytes: None,
            });
        let changed = compared.changes.iter().filter(|change| !change.ignored).count();
        Ok(Checkpoint {
            checkpoint_id: id_for(0, ""),
            timestamp: (self.settings.now)(),
            previous_checkpoint_id: None,
            feature: shadow.meta.id.clone(),
            kind: CheckpointKind::Shadow,
            message: message.to_owned(),
            tree,
            previous_tree: base.clone(),
            base_tree: base.clone(),
            staged_tree: None,
            head: shadow.meta.head.clone(),
            files_changed_since_last: u64::try_from(changed).unwrap_or(u64::MAX),
            skipped: skipped.chain(ignored).collect(),
            empty_folders: compared.empty_folders.clone(),
            permissions: std::collections::BTreeMap::new(),
            nested: Vec::new(),
            severity: violations.iter().map(|one| one.severity).max().unwrap_or_default(),
            violations,
            validation_status: ValidationStatus::Skipped,
        })
    }

    /// This workspace with the shadow's own chain.
    fn of_shadow(&self, id: &str) -> Result<Self> {
        let feature_dir = self.place.aurora_dir.join("features").join(id);
        let place = Place {
            feature: id.to_owned(),
            projections_dir: feature_dir.clone(),
            feature_dir,
            ..self.place.clone()
        };
        let store = PrivateStore::open(&place)?;
        Ok(Self { settings: self.settings.clone(), place, store, watch: None })
    }

    /// The bytes of a file beneath a folder.
    pub(crate) fn shadow_bytes(&self, root: &Path, path: &RepoPath) -> Result<Vec<u8>> {
        match Beneath::open(root)?.look(path, u64::MAX)? {
            Seen::Content { bytes, .. } => Ok(bytes),
            _ => Err(Error::Busy { what: format!("{path} was changed while it was read") }),
        }
    }

    /// Keeps the tree that a shadow began from as long as the shadow is there, whatever becomes of
    /// the checkpoint and of the user's own objects.
    pub(crate) fn hold_base(&self, shadow: &Shadow) -> Result<()> {
        let Some(tree) = &shadow.meta.base_tree else { return Ok(()) };
        let own = self.of_shadow(&shadow.meta.id)?;
        let kept = self.store.kept(&self.place)?;
        if !kept.is_empty() {
            self.store.keep(&own.place, &kept)?;
        }
        self.store.set_ref(&base_ref(&shadow.meta.id), &tree_id(tree)?)
    }

    /// Lets all go that was kept for a shadow: its base and its checkpoints.
    pub(crate) fn let_base_go(&self, id: &str) -> Result<()> {
        let own = self.of_shadow(id)?;
        self.store.remove_ref(&base_ref(id))?;
        for (name, _) in self.store.refs(&own.chain_prefix())? {
            self.store.remove_ref(&name)?;
        }
        self.store.keep(&own.place, &[])?;
        removal::remove(&own.place.feature_dir)
    }
}

fn base_ref(id: &str) -> String {
    format!("refs/aurora/shadows/{id}")
}
