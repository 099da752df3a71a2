//! A worktree per feature, on a branch `aurora/<slug>`: made, listed, removed, and cleaned up after a
//! crash. The user's checkout, index, HEAD, stash and other branches are never written.

mod aside;
mod cleanup;
pub(crate) mod fill;
mod open;
mod record;
mod remove;
#[cfg(test)]
mod tests;
mod unkept;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::git::process::Git;
use crate::git::{GitWorkspace, Place};

pub use cleanup::Cleaned;
pub use remove::{RemoveWorktree, Removed};

use record::{Record, Stage};

/// Which worktree to make.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    /// The feature's short name: lower-case letters, digits, `-`, `_` and `.`.
    pub slug: String,
    /// The commit to begin with, as git names it: `HEAD`, a branch, a hash.
    pub from: String,
    /// What the branch's name begins with.
    pub prefix: String,
}

impl NewWorktree {
    /// From HEAD, on `aurora/<slug>`.
    #[must_use]
    pub fn named(slug: impl Into<String>) -> Self {
        Self { slug: slug.into(), from: "HEAD".to_owned(), prefix: "aurora/".to_owned() }
    }
}

/// A feature's worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FeatureWorktree {
    /// The feature's short name.
    pub slug: String,
    /// The feature that checkpoints made there belong to.
    pub feature: String,
    /// Its branch.
    pub branch: String,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is whole; otherwise a crash left it so, and cleaning up removes it.
    pub whole: bool,
    /// What is not as git itself would have made it, in words for the user.
    pub notes: Vec<String>,
}

impl GitWorkspace {
    /// Makes a worktree outside the repository and its branch. No hook, filter or other program of
    /// the repository's runs: files hold what is committed, so LFS files are pointers, and that is
    /// said in `notes`.
    pub fn create_worktree(&self, new: &NewWorktree) -> Result<FeatureWorktree> {
        check_slug(&new.slug)?;
        let branch = format!("{}{}", new.prefix, new.slug);
        self.check_branch_name(&branch)?;
        let commit = self.commit_of(&new.from)?;
        let path = self.worktrees_dir().join(&new.slug);
        let mut record = Record::begin(&self.place, &new.slug, &branch, &path, &commit)?;
        if path.symlink_metadata().is_ok() {
            record.forget()?;
            return Err(taken(&format!("{} is there already", path.display())));
        }
        if self.ref_of(&branch)?.is_some() {
            record.forget()?;
            return Err(taken(&format!("the branch `{branch}` is there already")));
        }
        match self.make_worktree(&record, &commit, &path) {
            Ok(notes) => {
                record.set_stage(Stage::Ready)?;
                self.describe(&record, notes)
            }
            Err(error) => {
                // Nobody has seen it yet, so there is nothing to lose.
                self.take_back(&record).ok();
                record.forget().ok();
                Err(error)
            }
        }
    }

    /// The worktrees that were made here, by name.
    pub fn list_worktrees(&self) -> Result<Vec<FeatureWorktree>> {
        let records = record::all(&self.place)?;
        records.iter().map(|record| self.describe(record, Vec::new())).collect()
    }

    fn make_worktree(
        &self,
        record: &Record,
        commit: &ObjectId,
        path: &Path,
    ) -> Result<Vec<String>> {
        let parent = self.worktrees_dir();
        std::fs::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        let list = self.store.lock_list()?;
        Git::new(&self.place.program, &self.place.common_dir, "make a worktree")
            .args(["worktree", "add", "--quiet", "--no-checkout", "-b", record.branch()])
            .arg(path)
            .arg(commit.to_hex().to_string())
            .run()?;
        drop(list);
        fill::fill(self, commit, path)
    }

    fn describe(&self, record: &Record, notes: Vec<String>) -> Result<FeatureWorktree> {
        let there = admin_of(record.path()).is_some();
        let mut settings = self.settings.clone();
        settings.from = record.path().to_owned();
        let feature = Place::find(&settings).map(|place| place.feature);
        Ok(FeatureWorktree {
            slug: record.slug().to_owned(),
            feature: feature.unwrap_or_else(|_| record.slug().to_owned()),
            branch: record.branch().to_owned(),
            path: record.path().to_owned(),
            whole: record.stage() == Stage::Ready && there,
            notes,
        })
    }

    /// `<state>/worktrees/<repository>-<hash of where it is>`.
    fn worktrees_dir(&self) -> PathBuf {
        self.settings.state_dir.join("worktrees").join(self.repository_key())
    }

    /// A name for the repository that no other one has: its own, and a hash of where it is.
    pub(crate) fn repository_key(&self) -> String {
        let common = self.place.common_dir.as_os_str().as_bytes();
        let hash = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, common)
            .map(|id| id.to_hex_with_len(8).to_string())
            .unwrap_or_default();
        let main = self.place.common_dir.parent().unwrap_or(&self.place.root);
        let name: String = main
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
            .take(64)
            .collect();
        format!("{name}-{hash}")
    }

    fn commit_of(&self, from: &str) -> Result<ObjectId> {
        let output = Git::new(&self.place.program, &self.place.git_dir, "find a commit")
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{from}^{{commit}}"))
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        ObjectId::from_hex(text.trim().as_bytes()).map_err(|_| Error::NotFound {
            what: format!("there is no commit `{from}`"),
            hint: "name a branch, a tag or a hash; a repository without a commit has none yet"
                .to_owned(),
        })
    }

    fn check_branch_name(&self, branch: &str) -> Result<()> {
        let sound = Git::new(&self.place.program, &self.place.common_dir, "check a branch's name")
            .args(["check-ref-format", "--branch", branch])
            .output()?
            .status
            .success();
        if sound {
            return Ok(());
        }
        Err(Error::Refused {
            what: format!("`{branch}` is no name for a branch"),
            hint: "use letters, digits and `-`".to_owned(),
        })
    }

    /// Where a branch stands; nothing when there is none.
    fn ref_of(&self, branch: &str) -> Result<Option<ObjectId>> {
        let output = Git::new(&self.place.program, &self.place.common_dir, "look for a branch")
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("refs/heads/{branch}"))
            .output()?;
        Ok(ObjectId::from_hex(String::from_utf8_lossy(&output.stdout).trim().as_bytes()).ok())
    }

    /// Whether a branch has commits that no other branch or remote has.
    fn has_own_commits(&self, branch: &str) -> Result<bool> {
        let own = Git::new(&self.place.program, &self.place.common_dir, "compare branches")
            .args(["rev-list", "--max-count=1"])
            .arg(format!("refs/heads/{branch}"))
            .arg("--not")
            .arg(format!("--exclude={branch}"))
            .args(["--branches", "--remotes", "--tags"])
            .run()?;
        Ok(!own.is_empty())
    }

    /// Removes a branch that stands where it is said to stand.
    fn remove_branch(&self, branch: &str, at: &ObjectId) -> Result<()> {
        Git::new(&self.place.program, &self.place.common_dir, "remove a branch")
            .args(["update-ref", "-d"])
            .arg(format!("refs/heads/{branch}"))
            .arg(at.to_hex().to_string())
            .run()
            .map(drop)
    }
}

fn taken(what: &str) -> Error {
    Error::Refused {
        what: what.to_owned(),
        hint: "choose another name, or remove what is there".to_owned(),
    }
}

/// A slug is a folder's name, a branch's part and a feature, so it is narrow.
fn check_slug(slug: &str) -> Result<()> {
    let narrow =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let first = slug.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let sound = first
        && slug.len() <= 64
        && slug.chars().all(narrow)
        && !slug.contains("..")
        && !slug.ends_with('.')
        && !slug.ends_with(".lock");
    if sound {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!("`{}` is no name for a worktree", slug.escape_debug()),
        hint: "use up to 64 lower-case letters, digits, `-`, `_` and `.`, a letter or digit first"
            .to_owned(),
    })
}

/// The git folder of a linked worktree, by its `.git` file and pointing back at it.
pub(crate) fn admin_of(path: &Path) -> Option<PathBuf> {
    let text = std::fs::read(path.join(".git")).ok()?;
    let line = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    let admin = path.join(std::ffi::OsStr::from_bytes(line)).canonicalize().ok()?;
    let back = std::fs::read(admin.join("gitdir")).ok()?;
    let back = admin.join(std::ffi::OsStr::from_bytes(back.trim_ascii_end()));
    let same = back.canonicalize().ok()? == path.join(".git").canonicalize().ok()?;
    same.then_some(admin)
}
