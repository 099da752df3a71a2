//! Making a desk, and making it anew where somebody or a crash left none that is whole.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;

use super::Desk;
use super::note::{Begun, Whole};
use crate::error::{Error, Result};
use crate::git::own;
use crate::git::private::FeatureLock;
use crate::git::process::Git;
use crate::git::snapshot::head::head;
use crate::git::worktree::{admin_of, fill};
use crate::shadow::removal;

/// Why git's entry of a desk is locked.
const REASON: &str = "a desk of aurora";

impl Desk {
    /// The commit that the run's worktree has checked out.
    pub(super) fn commit_of_home(&self) -> Result<ObjectId> {
        let commit = head(&self.home.place).commit;
        let commit = commit.and_then(|commit| ObjectId::from_hex(commit.as_bytes()).ok());
        commit.ok_or_else(|| Error::Refused {
            what: format!(
                "{} has no commit yet, so no desk can be made of it",
                self.home.place.root.display()
            ),
            hint: "make a first commit".to_owned(),
        })
    }

    /// The tree of a commit.
    pub(super) fn tree_of(&self, commit: &ObjectId) -> Result<ObjectId> {
        let objects = self.own.store.objects()?;
        let bytes = objects.data(commit, gix::objs::Kind::Commit)?;
        gix::objs::CommitRefIter::from_bytes(&bytes, objects.hash)
            .tree_id()
            .map_err(|_| Error::Corrupt { what: format!("the commit {commit} has no tree") })
    }

    /// Makes the desk unless it is whole.
    pub(super) fn ensure(&self, commit: &ObjectId, lock: &FeatureLock) -> Result<()> {
        if self.is_whole()? { Ok(()) } else { self.make(commit, lock) }
    }

    fn is_whole(&self) -> Result<bool> {
        let (path, admin) = (self.path(), &self.own.place.git_dir);
        let noted = self.note::<Whole>()?.is_some_and(|note| note.path == path);
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        Ok(noted && is_folder(path) && is_folder(admin) && admin.join("HEAD").is_file())
    }

    /// Makes the desk from nothing, with what a commit holds. What was there before goes.
    pub(super) fn make(&self, commit: &ObjectId, _: &FeatureLock) -> Result<()> {
        self.clear_away()?;
        let (path, place) = (self.path(), &self.own.place);
        let list = self.own.store.lock_list()?;
        // Locked, so that nobody's `git worktree prune` takes it while its disk is away.
        Git::new(&place.program, &place.common_dir, "make a desk")
            .args(["worktree", "add", "--quiet", "--no-checkout", "--detach", "--lock"])
            .args(["--reason", REASON])
            .arg(path)
            .arg(commit.to_hex().to_string())
            .run()?;
        drop(list);
        if admin_of(path).as_ref() != Some(&place.git_dir) {
            self.clear_away()?;
            return Err(Error::Refused {
                what: format!("{} is taken, so no desk can be made", place.git_dir.display()),
                hint: "remove the worktree of that name with `git worktree remove`".to_owned(),
            });
        }
        fill::fill(&self.own, commit, path)?;
        self.write_note(&Whole { path: path.to_owned() }, true)
    }

    /// Removes the folder and git's entry for it. From the first moment on it is not whole any more.
    pub(super) fn clear_away(&self) -> Result<()> {
        self.forget_note::<Whole>()?;
        self.forget_note::<Begun>()?;
        removal::remove(self.path())?;
        let _list = self.own.store.lock_list()?;
        for admin in self.home.admins_of(self.path()) {
            removal::remove(&admin)?;
        }
        let admin = &self.own.place.git_dir;
        let reason = std::fs::read(admin.join("locked")).unwrap_or_default();
        let is_ours = !admin.join("gitdir").exists() || reason.trim_ascii() == REASON.as_bytes();
        if is_ours { removal::remove(admin) } else { Ok(()) }
    }

    /// Lets the folder and git's entry point at each other again, whatever an attempt did to that.
    pub(super) fn point_at_each_other(&self) -> Result<()> {
        let (path, admin) = (self.path(), &self.own.place.git_dir);
        let commondir = admin.join("commondir");
        if std::fs::read(&commondir).ok().as_deref() != Some(b"../..\n") {
            removal::remove(&commondir)?;
            own::replace(&commondir, b"../..\n", false)?;
        }
        let dot_git = path.join(".git");
        let is_file = dot_git.symlink_metadata().is_ok_and(|found| found.is_file());
        if is_file && admin_of(path).as_ref() == Some(admin) {
            return Ok(());
        }
        let line = |folder: &Path, before: &str| {
            use std::os::unix::ffi::OsStrExt as _;
            [before.as_bytes(), folder.as_os_str().as_bytes(), b"\n"].concat()
        };
        removal::remove(&dot_git)?;
        std::fs::write(&dot_git, line(admin, "gitdir: ")).map_err(Error::io("write", &dot_git))?;
        let gitdir = admin.join("gitdir");
        removal::remove(&gitdir)?;
        own::replace(&gitdir, &line(&dot_git, ""), false)
    }
}

/// A folder that nobody else may enter, by a path without links.
pub(super) fn folder(path: &Path) -> Result<PathBuf> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(Error::io("create", path))?;
    path.canonicalize().map_err(Error::io("open", path))
}
