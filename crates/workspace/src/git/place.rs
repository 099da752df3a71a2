//! Where a worktree, its git folders and our own data are; what must not be a workspace is refused.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::git::Settings;
use crate::git::process::Program;

mod format;
mod name;

use format::Format;

/// A worktree and everything that belongs to it. Found by reading git's files, without starting git.
#[derive(Debug, Clone)]
pub struct Place {
    /// The worktree's root, canonical.
    pub root: PathBuf,
    /// This worktree's own git folder.
    pub git_dir: PathBuf,
    /// The git folder that all worktrees of the repository share.
    pub common_dir: PathBuf,
    /// `aurora/` inside the common git folder: all that we store.
    pub aurora_dir: PathBuf,
    /// The feature: `checkout` for the main worktree, a linked worktree's own name otherwise.
    pub feature: String,
    /// `aurora_dir/features/<feature>`: lock, stat cache, journal, logs of this worktree.
    pub feature_dir: PathBuf,
    /// Where files for people go: `.aurora/features/<feature>` where `.aurora/` is there, else
    /// `feature_dir`.
    pub projections_dir: PathBuf,
    /// Which hash the repository's objects are named by.
    pub hash: gix::hash::Kind,
    /// Whether refs are in a reftable rather than in files.
    pub(crate) reftable: bool,
    /// How the git program is started.
    pub(crate) program: Program,
}

impl Place {
    /// The worktree around a folder. Refuses `/`, the home folder, bare repositories and formats
    /// that are not known.
    pub fn find(settings: &Settings) -> Result<Self> {
        let from = fs::canonicalize(&settings.from).map_err(Error::io("open", &settings.from))?;
        let (root, git_dir) = worktree_around(&from)?;
        refuse_too_much(&root, settings.home.as_deref())?;
        let common_dir = common_dir_of(&git_dir)?;
        let format = Format::read(&git_dir, &common_dir)?;
        if format.bare && git_dir == common_dir {
            return Err(bare(&git_dir));
        }
        refuse_elsewhere(&root, &git_dir, &common_dir, &format)?;

        let feature = if git_dir == common_dir {
            name::MAIN.to_owned()
        } else {
            name::of_linked(git_dir.file_name().unwrap_or_default().as_bytes())
        };
        let aurora_dir = common_dir.join("aurora");
        let feature_dir = aurora_dir.join("features").join(&feature);
        let projections_dir =
            projections_of(&root, &feature).unwrap_or_else(|| feature_dir.clone());
        let program = Program { path: settings.path.clone(), home: settings.home.clone() };
        Ok(Self {
            root,
            git_dir,
            common_dir,
            aurora_dir,
            feature,
            feature_dir,
            projections_dir,
            hash: format.hash,
            reftable: format.reftable,
            program,
        })
    }

    /// The place of a linked worktree of the same repository, whether it is whole or not. What is
    /// written for people stays with our own data.
    pub(crate) fn linked(&self, root: PathBuf, name: &str) -> Self {
        let feature = name::of_linked(name.as_bytes());
        let feature_dir = self.aurora_dir.join("features").join(&feature);
        let git_dir = self.common_dir.join("worktrees").join(name);
        let projections_dir = feature_dir.clone();
        Self { root, git_dir, feature, feature_dir, projections_dir, ..self.clone() }
    }
}

/// The nearest folder above that holds a `.git`, and the git folder that it means.
fn worktree_around(from: &Path) -> Result<(PathBuf, PathBuf)> {
    for folder in from.ancestors() {
        let dot_git = folder.join(".git");
        match fs::metadata(&dot_git) {
            Ok(meta) if meta.is_dir() && is_git_dir(&dot_git) => {
                let git_dir = fs::canonicalize(&dot_git).map_err(Error::io("open", &dot_git))?;
                return Ok((folder.to_owned(), git_dir));
            }
            Ok(meta) if meta.is_file() => return Ok((folder.to_owned(), pointed_at(&dot_git)?)),
            _ if is_git_dir(folder) => return Err(bare(folder)),
            _ => {}
        }
    }
    Err(Error::NoRepository {
        what: format!("{} is not in a git repository", from.display()),
        hint: "go into one, or make one with `git init`",
    })
}

fn bare(folder: &Path) -> Error {
    if folder.components().any(|part| part.as_os_str() == ".git") {
        return Error::NoRepository {
            what: format!("{} is git's own data, not a worktree", folder.display()),
            hint: "go into the worktree, where the files are",
        };
    }
    Error::NoRepository {
        what: format!("{} is a bare repository: it has no files to work on", folder.display()),
        hint: "go into one of its worktrees, or make one with `git worktree add`",
    }
}

/// What git takes for a git folder: a HEAD, objects (its own or shared ones) and refs.
fn is_git_dir(folder: &Path) -> bool {
    if fs::symlink_metadata(folder.join("HEAD")).is_err() {
        return false;
    }
    if folder.join("commondir").is_file() {
        return true;
    }
    folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// The git folder that a `.git` file names.
fn pointed_at(dot_git: &Path) -> Result<PathBuf> {
    let bytes = fs::read(dot_git).map_err(Error::io("read", dot_git))?;
    let unknown = |why: &str| Error::NoRepository {
        what: format!("{} {why}", dot_git.display()),
        hint: "repair it with `git worktree repair`, or clone the repository again",
    };
    let line = bytes.strip_prefix(b"gitdir: ").map(trim_end).filter(|line| !line.is_empty());
    let Some(line) = line else {
        return Err(unknown("does not say where the git folder is"));
    };
    let folder = dot_git.parent().unwrap_or(dot_git).join(OsStr::from_bytes(line));
    let found = fs::canonicalize(&folder).ok().filter(|folder| is_git_dir(folder));
    found.ok_or_else(|| {
        unknown(&format!("says that the git folder is {}, where there is none", folder.display()))
    })
}

fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    line.get(..end).unwrap_or_default()
}

fn common_dir_of(git_dir: &Path) -> Result<PathBuf> {
    let pointer = git_dir.join("commondir");
    let folder = match fs::read(&pointer) {
        Ok(bytes) => git_dir.join(OsStr::from_bytes(trim_end(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(git_dir.to_owned()),
        Err(error) => return Err(Error::io("read", &pointer)(error)),
    };
    let common = fs::canonicalize(&folder).map_err(Error::io("open", &folder))?;
    if !common.join("objects").is_dir() {
        return Err(Error::NoRepository {
            what: format!("{} has no objects", common.display()),
            hint: "repair it with `git worktree repair`, or clone the repository again",
        });
    }
    Ok(common)
}

/// A checkpoint of all that somebody has is never meant.
fn refuse_too_much(root: &Path, home: Option<&Path>) -> Result<()> {
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    let what = if root.parent().is_none() {
        "the whole file system".to_owned()
    } else if home.as_deref() == Some(root) {
        format!("the whole home folder {}", root.display())
    } else if home.as_deref().is_some_and(|home| home.starts_with(root)) {
        format!("{}, which holds the whole home folder", root.display())
    } else {
        return Ok(());
    };
    Err(Error::Refused {
        what: format!("the repository around here is {what}"),
        hint: "go into a project, or make one with `git init` in its folder".to_owned(),
    })
}

/// The files that we look at must be those that git means: `core.worktree` may say otherwise, and a
/// copied worktree still names the original's git folder.
fn refuse_elsewhere(root: &Path, git_dir: &Path, common_dir: &Path, format: &Format) -> Result<()> {
    if git_dir == common_dir {
        let Some(worktree) = &format.worktree else { return Ok(()) };
        let meant = git_dir.join(OsStr::from_bytes(worktree));
        if fs::canonicalize(&meant).is_ok_and(|meant| meant == root) {
            return Ok(());
        }
        return Err(Error::Refused {
            what: format!(
                "git's setting `core.worktree` says that the files of {} are in {}",
                root.display(),
                meant.display()
            ),
            hint: "go there, or remove the setting with `git config --unset core.worktree`"
                .to_owned(),
        });
    }
    let Ok(back) = fs::read(git_dir.join("gitdir")) else { return Ok(()) };
    let back = git_dir.join(OsStr::from_bytes(trim_end(&back)));
    let original = fs::canonicalize(&back).ok();
    let here = fs::canonicalize(root.join(".git")).ok();
    if original.is_none() || original == here {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!(
            "{} is a copy of the worktree {}: both have the same HEAD",
            root.display(),
            back.parent().unwrap_or(&back).display()
        ),
        hint: "make a worktree of its own with `git worktree add`".to_owned(),
    })
}

/// `.aurora/features/<feature>`, unless there is no `.aurora/` or a link leads elsewhere.
fn projections_of(root: &Path, feature: &str) -> Option<PathBuf> {
    let aurora = root.join(".aurora");
    if !fs::symlink_metadata(&aurora).is_ok_and(|meta| meta.is_dir()) {
        return None;
    }
    let features = aurora.join("features");
    let own = features.join(feature);
    let sound = |path: &Path| match fs::symlink_metadata(path) {
        Ok(meta) => meta.is_dir(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    (sound(&features) && sound(&own)).then_some(own)
}

#[cfg(test)]
mod tests;
