//! What a workspace in memory holds: files, the chain of checkpoints, and how one is made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aurora_model::{
    Checkpoint, CheckpointId, Head, RepoPath, Severity, SkipReason, Skipped, Timestamp, TreeId,
    ValidationStatus,
};
use gix::hash::ObjectId;

use super::tree::{self, Files};
use crate::error::{Error, Result};
use crate::request::{
    CheckpointRequest, Content, Created, IgnoredFiles, Limits, OnUnchanged, Scanned,
};

/// The first checkpoint's time, 2026-01-01; each later one is a second younger.
const EPOCH_MS: i64 = 1_767_225_600_000;
/// A larger file is not taken for settings or secrets.
const SECRETS_LIKE_BYTES: usize = 64 << 10;

/// Everything that a workspace in memory holds.
#[derive(Debug, Default)]
pub(super) struct State {
    pub files: Files,
    /// Folders with nothing in them.
    pub folders: BTreeSet<RepoPath>,
    pub ignored: BTreeSet<RepoPath>,
    pub head: Head,
    pub head_files: Files,
    pub branches: BTreeMap<String, String>,
    pub chain: Vec<Checkpoint>,
    pub trees: BTreeMap<TreeId, Arc<Files>>,
    made: u64,
    moves: u64,
    base_tree: Option<TreeId>,
    blobs: BTreeSet<ObjectId>,
}

/// What the worktree holds, as a checkpoint would see it.
pub(super) struct Seen {
    pub files: Files,
    pub skipped: Vec<Skipped>,
    pub empty_folders: Vec<RepoPath>,
    pub tree: TreeId,
}

impl State {
    /// What a checkpoint would take and leave.
    pub fn look(&self, limits: &Limits, ignored: IgnoredFiles, also: &[RepoPath]) -> Result<Seen> {
        let captured = self.latest_files();
        let (mut files, mut skipped) = (Files::new(), BTreeSet::new());
        for (path, content) in &self.files {
            let known = captured.contains_key(path) || self.head_files.contains_key(path);
            let asked = also.iter().any(|also| path.is_within(also))
                || (ignored == IgnoredFiles::SecretsLike && secrets_like(path, content));
            let rule = self.ignored.iter().find(|rule| path.is_within(rule));
            let bytes = content.bytes.len() as u64;
            if let Some(rule) = rule.filter(|_| !known && !asked) {
                let (path, folder) = (rule.clone(), rule != path);
                skipped.insert(Skipped { path, reason: SkipReason::Ignored, folder, bytes: None });
            } else if bytes > limits.max_file_bytes {
                let (path, reason) = (path.clone(), SkipReason::TooLarge);
                skipped.insert(Skipped { path, reason, folder: false, bytes: Some(bytes) });
            } else {
                files.insert(path.clone(), content.clone());
            }
        }
        let tree = tree::tree_of(&files)?;
        let counts = |path: &&RepoPath| !self.ignored.iter().any(|rule| path.is_within(rule));
        let empty_folders = self.folders.iter().filter(counts).cloned().collect();
        Ok(Seen { files, skipped: skipped.into_iter().collect(), empty_folders, tree })
    }

    /// Records what the worktree holds.
    pub fn checkpoint(&mut self, request: &CheckpointRequest) -> Result<Created> {
        let seen = self.look(&request.limits, request.ignored, &request.also)?;
        let scanned = Scanned::Everything { because: "files in memory are not watched".to_owned() };
        if let Some(latest) = self.chain.last()
            && latest.tree == seen.tree
            && latest.skipped == seen.skipped
            && latest.empty_folders == seen.empty_folders
            && request.on_unchanged == OnUnchanged::Reuse
        {
            let checkpoint = latest.clone();
            return Ok(Created { checkpoint, unchanged: true, changes: Vec::new(), scanned });
        }
        let new = self.within_limits(&seen, &request.limits)?;
        let base = self.base()?;
        let previous = self.chain.last();
        let previous_tree = previous.map_or_else(|| base.clone(), |latest| latest.tree.clone());
        let previous_id = previous.map(|latest| latest.checkpoint_id.clone());
        let changes = tree::changes(self.files_of(&previous_tree)?, &seen.files);
        let severity = request.violations.iter().map(|found| found.severity).max();
        let mut checkpoint = Checkpoint {
            checkpoint_id: CheckpointId(String::new()),
            timestamp: self.now(),
            previous_checkpoint_id: previous_id,
            feature: "memory".to_owned(),
            kind: request.kind,
            message: request.message.clone(),
            tree: seen.tree.clone(),
            previous_tree,
            base_tree: base,
            staged_tree: None,
            head: self.head.clone(),
            files_changed_since_last: changes.len() as u64,
            skipped: seen.skipped,
            empty_folders: seen.empty_folders,
            permissions: BTreeMap::new(),
            nested: Vec::new(),
            violations: request.violations.clone(),
            validation_status: match severity {
                None => ValidationStatus::Skipped,
                Some(worst) if worst < Severity::Error => ValidationStatus::Valid,
                Some(_) => ValidationStatus::Invalid,
            },
            severity: severity.unwrap_or_default(),
        };
        checkpoint.checkpoint_id = self.name(&checkpoint)?;
        self.made += 1;
        self.blobs.extend(new);
        self.trees.insert(seen.tree, Arc::new(seen.files));
        self.chain.push(checkpoint.clone());
        Ok(Created { checkpoint, unchanged: false, changes, scanned })
    }

    /// The contents that are new, when neither they nor the files are too many.
    fn within_limits(&self, seen: &Seen, limits: &Limits) -> Result<BTreeSet<ObjectId>> {
        let count = seen.files.len() as u64;
        if count > limits.max_files {
            return Err(Error::TooLarge {
                what: format!("{count} files are more than the limit of {}", limits.max_files),
                hint: "ignore what need not be kept, or raise the limit".to_owned(),
            });
        }
        let (mut new, mut bytes) = (BTreeSet::new(), 0);
        for content in seen.files.values() {
            let id = tree::id_of(content)?;
            if !self.blobs.contains(&id) && new.insert(id) {
                bytes += content.bytes.len() as u64;
            }
        }
        if bytes > limits.max_new_bytes {
            return Err(Error::TooLarge {
                what: format!(
                    "{bytes} bytes of new content are more than the limit of {}",
                    limits.max_new_bytes
                ),
                hint: "ignore what need not be kept, or raise the limit".to_owned(),
            });
        }
        Ok(new)
    }

    fn name(&self, checkpoint: &Checkpoint) -> Result<CheckpointId> {
        let text = format!("{checkpoint:?}");
        let digits =
            tree::hash(gix::objs::Kind::Blob, text.as_bytes())?.to_hex_with_len(8).to_string();
        Ok(CheckpointId(format!("ckpt-{:03}-{digits}", self.made + 1)))
    }

    /// What HEAD held when the chain began.
    fn base(&mut self) -> Result<TreeId> {
        if let Some(base) = &self.base_tree {
            return Ok(base.clone());
        }
        let base = tree::tree_of(&self.head_files)?;
        self.trees.insert(base.clone(), Arc::new(self.head_files.clone()));
        self.base_tree = Some(base.clone());
        Ok(base)
    }

    /// The files of a tree that some checkpoint names.
    pub fn files_of(&self, tree: &TreeId) -> Result<&Files> {
        self.trees.get(tree).map(AsRef::as_ref).ok_or_else(|| Error::NotFound {
            what: format!("no checkpoint has the tree {tree}"),
            hint: "see which there are with `aur checkpoints list`".to_owned(),
        })
    }

    /// The files of the latest checkpoint; none before the first.
    pub fn latest_files(&self) -> &Files {
        static NONE: Files = Files::new();
        let latest = self.chain.last().and_then(|latest| self.trees.get(&latest.tree));
        latest.map_or(&NONE, AsRef::as_ref)
    }

    /// The time: a second after the previous checkpoint's.
    pub fn now(&self) -> Timestamp {
        let made = i64::try_from(self.made).unwrap_or(i64::MAX / 1000);
        Timestamp { unix_ms: EPOCH_MS.saturating_add(made.saturating_mul(1000)) }
    }

    /// A new commit is checked out, on the same branch.
    pub fn move_head(&mut self) {
        self.moves += 1;
        self.head.commit = Some(format!("{:040x}", self.moves));
    }

    /// Puts something at a path, in place of whatever is in its way.
    pub fn put(&mut self, path: &RepoPath, content: Content) {
        let in_the_way = |other: &RepoPath| other.is_within(path) || path.is_within(other);
        self.files.retain(|other, _| !in_the_way(other));
        self.folders.retain(|other| !in_the_way(other));
        self.files.insert(path.clone(), content);
    }

    /// Makes a folder, unless something stands there or on the way.
    pub fn make_folder(&mut self, path: &RepoPath) {
        let related = |other: &RepoPath| other.is_within(path) || path.is_within(other);
        if self.files.keys().any(related) || self.folders.iter().any(|one| one.is_within(path)) {
            return;
        }
        // One that has this in it is no longer empty.
        self.folders.retain(|other| !path.is_within(other));
        self.folders.insert(path.clone());
    }

    /// Whether a path is a folder, empty or not.
    pub fn is_folder(&self, path: &RepoPath) -> bool {
        self.folders.iter().any(|folder| folder.is_within(path))
            || self.files.keys().any(|file| file != path && file.is_within(path))
    }

    /// Forgets trees that no checkpoint names.
    pub fn forget_trees(&mut self) {
        let mut needed: BTreeSet<&TreeId> = self.base_tree.iter().collect();
        for checkpoint in &self.chain {
            needed.extend([&checkpoint.tree, &checkpoint.base_tree]);
        }
        self.trees.retain(|tree, _| needed.contains(tree));
    }

    /// How many bytes all trees hold together.
    pub fn stored_bytes(&self) -> u64 {
        let contents: BTreeSet<&[u8]> = self
            .trees
            .values()
            .flat_map(|files| files.values())
            .map(|content| content.bytes.as_slice())
            .collect();
        contents.into_iter().map(|bytes| bytes.len() as u64).sum()
    }
}

fn secrets_like(path: &RepoPath, content: &Content) -> bool {
    let name = path.name();
    let named = name.starts_with(b".env")
        || name == b"credentials.json"
        || [&b".pem"[..], b".key"].iter().any(|end| name.ends_with(end));
    named && content.bytes.len() <= SECRETS_LIKE_BYTES
}
