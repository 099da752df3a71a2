//! Looking at a shadow: what it changes, what is wrong with it, who works in it.

use std::io;

use aurora_model::{Change, RepoPath, SkipReason, Skipped, TreeId, Violation};

use crate::error::{Error, Result};
use crate::escape::{self, Facts, Ground};
use crate::git::GitWorkspace;
use crate::git::objects::Entry;
use crate::git::pack::PackWriter;
use crate::git::snapshot::head;
use crate::git::tree;
use crate::request::Limits;
use crate::shadow::changes::{Compared, ShadowChange};
use crate::shadow::git_data::GitData;
use crate::shadow::meta::{Shadow, Status};
use crate::shadow::reading::{Beneath, Seen};
use crate::shadow::{Inspection, quota, users};

/// What is to be said about a shadow.
pub(crate) struct Judged {
    /// In words.
    pub notes: Vec<String>,
    /// What of git's own data only the shadow has.
    pub git_data: Vec<String>,
    /// What is wrong with it.
    pub violations: Vec<Violation>,
}

impl GitWorkspace {
    /// What a shadow holds and how it stands.
    pub fn inspect_shadow(&self, shadow: &Shadow) -> Result<Inspection> {
        let pids = users::pids(shadow);
        let in_use = !pids.is_empty() || shadow.try_lock()?.is_none();
        let head = head::head(&self.place);
        let head_now = (head != shadow.meta.head).then_some(head);
        if shadow.meta.status != Status::Open {
            return Ok(Inspection {
                meta: shadow.meta.clone(),
                changes: Vec::new(),
                empty_folders: Vec::new(),
                bytes: 0,
                violations: Vec::new(),
                notes: Vec::new(),
                git_data: Vec::new(),
                unpromotable: Vec::new(),
                pids,
                in_use,
                moved: Vec::new(),
                head_now,
            });
        }
        let compared = self.compare_shadow(shadow, Limits::default().max_file_bytes)?;
        let bytes = quota::bytes_held(shadow);
        let Judged { mut notes, git_data, violations } =
            self.judge_shadow(shadow, &compared, bytes)?;
        notes.extend(
            compared
                .problems
                .iter()
                .filter(|problem| !problem.special)
                .map(|problem| format!("{} cannot be promoted: {}", problem.path, problem.because)),
        );
        let moved = compared.changes.iter().filter(|change| change.moved);
        let moved = moved.map(|change| change.change.path.clone()).collect();
        Ok(Inspection {
            meta: shadow.meta.clone(),
            moved,
            changes: compared.changes,
            empty_folders: compared.empty_folders,
            bytes,
            violations,
            notes,
            git_data,
            unpromotable: compared.problems.into_iter().map(|problem| problem.path).collect(),
            pids,
            in_use,
            head_now,
        })
    }

    /// What is to be said about a shadow, and what is wrong with it.
    pub(crate) fn judge_shadow(
        &self,
        shadow: &Shadow,
        compared: &Compared,
        bytes: u64,
    ) -> Result<Judged> {
        let GitData { notes, lost: git_data, mut violations } =
            self.shadow_git_data(shadow, &compared.walked)?;
        let files = shadow.files();
        let (mine, real) = (Beneath::open(&files)?, Beneath::open(&self.place.root)?);
        let target = |path: &RepoPath| {
            let seen = [&mine, &real].map(|side| side.look(path, 0));
            seen.into_iter().find_map(|seen| match seen {
                Ok(Seen::Content { mode: aurora_model::EntryMode::Symlink, bytes, .. }) => {
                    Some(bytes)
                }
                _ => None,
            })
        };
        let special = compared.problems.iter().filter(|problem| problem.special);
        let skipped: Vec<Skipped> = special
            .map(|problem| Skipped {
                path: problem.path.clone(),
                reason: SkipReason::SpecialFile,
                folder: false,
                bytes: None,
            })
            .collect();
        let changes: Vec<Change> =
            compared.changes.iter().map(|change| change.change.clone()).collect();
        let git_dirs = [self.place.git_dir.clone(), self.place.common_dir.clone()];
        let ground = Ground {
            root: &self.place.root,
            git_dirs: &git_dirs,
            link: &target,
            other_links: &Vec::new,
            facts: &|path| Facts::of(&files, path),
            used_bytes: Some(bytes),
            quota_bytes: shadow.meta.max_bytes,
        };
        violations.extend(escape::check(&changes, &skipped, &ground));
        violations.sort();
        violations.dedup();
        Ok(Judged { notes, git_data, violations })
    }

    /// Whether nothing is lost when an open shadow goes.
    pub(crate) fn holds_nothing(&self, shadow: &Shadow) -> Result<bool> {
        let compared = self.compare_shadow(shadow, Limits::default().max_file_bytes)?;
        Ok(compared.changes.is_empty()
            && compared.problems.is_empty()
            && compared.empty_folders.is_empty()
            && self.shadow_git_data(shadow, &compared.walked)?.lost.is_empty())
    }

    /// Writes the unified diff between what the worktree held and what the shadow holds.
    pub fn shadow_diff(
        &self,
        shadow: &Shadow,
        only: &[RepoPath],
        out: &mut dyn io::Write,
    ) -> Result<()> {
        let compared = self.compare_shadow(shadow, Limits::default().max_file_bytes)?;
        let mut pack = PackWriter::new(&self.store)?;
        self.store_shadow_blobs(shadow, &compared.changes, &mut pack)?;
        let listing = |side: fn(&ShadowChange) -> Option<Entry>| {
            let entries = compared.changes.iter();
            entries.filter_map(|change| Some((change.change.path.clone(), side(change)?))).collect()
        };
        let before: Vec<(RepoPath, Entry)> = listing(|change| change.sides.then);
        let after: Vec<(RepoPath, Entry)> = listing(|change| change.sides.mine);
        let hash = self.place.hash;
        let objects = self.store.objects()?;
        let known = |id: &gix::hash::ObjectId| objects.contains_at_once(id);
        let before = tree::build(hash, &before, &known, &mut pack)?;
        let after = tree::build(hash, &after, &known, &mut pack)?;
        pack.finish()?;
        self.write_diff(&TreeId(before.to_string()), &TreeId(after.to_string()), only, out)
    }

    /// Puts what the shadow holds and what it replaces into a pack, as far as our own store has it
    /// not: what only the user's repository has may go with the next `git gc`.
    pub(crate) fn store_shadow_blobs<'a>(
        &self,
        shadow: &Shadow,
        changes: impl IntoIterator<Item = &'a ShadowChange>,
        pack: &mut PackWriter,
    ) -> Result<()> {
        let (mine, real) = (Beneath::open(&shadow.files())?, Beneath::open(&self.place.root)?);
        for change in changes {
            let path = &change.change.path;
            let sides = [(&mine, change.sides.mine), (&real, change.sides.now)];
            for (files, wanted) in sides {
                let Some(wanted) = wanted else { continue };
                if self.store.owns(&wanted.id)? || pack.has(&wanted.id) {
                    continue;
                }
                let added = match files.look(path, u64::MAX)? {
                    Seen::Content { bytes, .. } => pack.add(gix::objs::Kind::Blob, &bytes)?,
                    _ => return Err(changed_meanwhile(path)),
                };
                if added != wanted.id {
                    return Err(changed_meanwhile(path));
                }
            }
        }
        Ok(())
    }
}

fn changed_meanwhile(path: &RepoPath) -> Error {
    Error::Busy { what: format!("{path} was changed while it was read") }
}
