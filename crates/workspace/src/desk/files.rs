//! Single files of a desk for whoever works there by our hand: never through a link, never git's own.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use aurora_model::RepoPath;
use rustix::fs::FileType;

use crate::error::{Error, Result};
use crate::git::beneath::{Folder, Fuse, NoWay, Root, kind_of};

/// What a file that is being written is called until it is whole. Only one is written at a desk at a
/// time, so that what has this name otherwise was left by somebody who died.
const UNFINISHED: &[u8] = b".aurora-unfinished";

/// The files beneath a folder.
pub struct Files {
    path: PathBuf,
    root: Root,
}

/// What stands in a folder under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: ListedKind,
    /// How many bytes a file has.
    pub bytes: u64,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link, which is not followed.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// A file as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it may be run.
    pub executable: bool,
}

impl Files {
    /// The files beneath a folder, whose path is the caller's own and trusted.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn beneath(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), root: Root::open(path, Fuse::lit())? })
    }

    /// A file; nothing when there is nothing of that name.
    ///
    /// # Errors
    /// When it is no file, is git's own, is larger than this, or a link is in its way.
    pub fn read(&self, path: &RepoPath, max_bytes: u64) -> Result<Option<FileRead>> {
        let Some(folder) = self.folder(path.parent().as_ref(), path, false)? else {
            return Ok(None);
        };
        let failed = |error| Error::io("read", self.path.join(path.to_string()))(error);
        match folder.stat(path.name()).map_err(failed)?.map(|stat| kind_of(&stat)) {
            None => return Ok(None),
            Some(FileType::RegularFile) => {}
            Some(kind) => return Err(no_file(path, kind)),
        }
        let file = folder.open_file(path.name()).map_err(failed)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| failed(errno.into()))?;
        if kind_of(&stat) != FileType::RegularFile {
            return Err(no_file(path, kind_of(&stat)));
        }
        let mut bytes = Vec::new();
        let read = file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(failed)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max_bytes {
            return Err(Error::TooLarge {
                what: format!("{path} has more than {max_bytes} bytes"),
                hint: "read a part of it with a command".to_owned(),
            });
        }
        Ok(Some(FileRead { bytes, executable: stat.st_mode & 0o100 != 0 }))
    }

    /// Puts these bytes into a file, whole or not at all; folders that are missing are made. A file
    /// that is there keeps whether it may be run, unless that is said.
    ///
    /// # Errors
    /// When something else has the name, it is git's own, or a link is in its way.
    pub fn write(&self, path: &RepoPath, bytes: &[u8], executable: Option<bool>) -> Result<()> {
        let folder = self.folder(path.parent().as_ref(), path, true)?;
        let folder = folder.ok_or_else(|| refused(path, "its folder went away"))?;
        let failed = |error| Error::io("write", self.path.join(path.to_string()))(error);
        let stat = folder.stat(path.name()).map_err(failed)?;
        let mut permissions = 0o666;
        if let Some(stat) = stat {
            match kind_of(&stat) {
                FileType::RegularFile => permissions = stat.st_mode & 0o777,
                kind => return Err(no_file(path, kind)),
            }
        }
        match executable {
            Some(true) => permissions |= 0o111,
            Some(false) => permissions &= !0o111,
            None => {}
        }
        remove_if_there(&folder, UNFINISHED).map_err(failed)?;
        let mut file = folder.create(UNFINISHED, permissions).map_err(failed)?;
        let written = folder
            .write(&mut file, bytes)
            .and_then(|()| {
                if stat.is_some() { folder.set_permissions(&file, permissions) } else { Ok(()) }
            })
            .and_then(|()| file.sync_all())
            .and_then(|()| folder.replace(UNFINISHED, path.name()));
        if let Err(error) = written {
            let _ = remove_if_there(&folder, UNFINISHED);
            return Err(failed(error));
        }
        Ok(())
    }

    /// Takes away what somebody left who died while writing a file.
    ///
    /// # Errors
    /// When its folder cannot be reached, or it cannot be taken away.
    pub fn forget_unfinished(&self, path: &RepoPath) -> Result<()> {
        let Some(folder) = self.folder(path.parent().as_ref(), path, false)? else {
            return Ok(());
        };
        let removed = remove_if_there(&folder, UNFINISHED);
        removed.map_err(|error| Error::io("remove", self.path.join(path.to_string()))(error))
    }

    /// Takes a file away; one that is not there is gone already.
    ///
    /// # Errors
    /// When it is no file, is git's own, or a link is in its way.
    pub fn remove(&self, path: &RepoPath) -> Result<()> {
        let Some(folder) = self.folder(path.parent().as_ref(), path, false)? else {
            return Ok(());
        };
        let failed = |error| Error::io("remove", self.path.join(path.to_string()))(error);
        match folder.stat(path.name()).map_err(failed)?.map(|stat| kind_of(&stat)) {
            None => Ok(()),
            Some(FileType::RegularFile) => folder.unlink(path.name()).map_err(failed),
            Some(kind) => Err(no_file(path, kind)),
        }
    }

    /// What is in a folder, in order, without git's own; nothing when there is no such folder. No
    /// more than so many names are looked at.
    ///
    /// # Errors
    /// When it is no folder, is git's own, or a link is in its way.
    pub fn list(&self, path: Option<&RepoPath>, most: usize) -> Result<Option<Vec<Listed>>> {
        let shown = path.map_or_else(|| ".".to_owned(), ToString::to_string);
        let folder = match path {
            None => self.root.hand().folder(None, false).ok(),
            Some(path) => self.folder(Some(path), path, false)?,
        };
        let Some(folder) = folder else { return Ok(None) };
        let failed = |error: io::Error| Error::io("list", self.path.join(&shown))(error);
        let mut found = Vec::new();
        let entries = rustix::fs::Dir::read_from(folder.as_fd());
        for entry in entries.map_err(|errno| failed(errno.into()))?.take(most.saturating_add(3)) {
            let entry = entry.map_err(|errno| failed(errno.into()))?;
            let name = entry.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." || is_git_name(&name) || found.len() >= most {
                continue;
            }
            let Some(stat) = folder.stat(&name).map_err(failed)? else { continue };
            let kind = match kind_of(&stat) {
                FileType::RegularFile => ListedKind::File,
                FileType::Directory => ListedKind::Folder,
                FileType::Symlink => ListedKind::Link,
                _ => ListedKind::Special,
            };
            let bytes = u64::try_from(stat.st_size).unwrap_or_default();
            found.push(Listed { name, kind, bytes });
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Some(found))
    }

    /// The folder, opened without following anything; nothing when it is not there.
    fn folder(
        &self,
        folder: Option<&RepoPath>,
        of: &RepoPath,
        make: bool,
    ) -> Result<Option<Folder>> {
        if of.parts().any(is_git_name) {
            return Err(refused(of, "is git's own"));
        }
        match self.root.hand().folder(folder, make) {
            Ok(folder) => Ok(Some(folder)),
            Err(NoWay::Missing) => Ok(None),
            Err(NoWay::Link(at)) => Err(refused(of, &format!("leads through the link {at}"))),
            Err(NoWay::NoFolder(at)) => {
                Err(refused(of, &format!("needs a folder, and {at} is none")))
            }
            Err(NoWay::Failed(error)) => {
                Err(Error::io("open", self.path.join(of.to_string()))(error))
            }
        }
    }
}

fn is_git_name(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1")
}

fn remove_if_there(folder: &Folder, name: &[u8]) -> io::Result<()> {
    match folder.unlink(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn refused(path: &RepoPath, why: &str) -> Error {
    Error::Refused {
        what: format!("{path} {why}"),
        hint: "name a file of the worktree by its own path".to_owned(),
    }
}

fn no_file(path: &RepoPath, kind: FileType) -> Error {
    refused(
        path,
        match kind {
            FileType::Directory => "is a folder",
            FileType::Symlink => "is a link",
            _ => "is no file",
        },
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn made() -> (tempfile::TempDir, Files) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("desk")).unwrap();
        let files = Files::beneath(&dir.path().join("desk")).unwrap();
        (dir, files)
    }

    #[test]
    fn a_file_is_written_read_and_removed_and_keeps_what_it_may() {
        let (dir, files) = made();
        assert_eq!(files.read(&path("a/b.sh"), 10).unwrap(), None);
        files.write(&path("a/b.sh"), b"one", Some(true)).unwrap();
        files.write(&path("a/b.sh"), b"two", None).unwrap();
        let read = files.read(&path("a/b.sh"), 10).unwrap().unwrap();
        assert_eq!(read, FileRead { bytes: b"two".to_vec(), executable: true });
        let mode = std::fs::metadata(dir.path().join("desk/a/b.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111);
        assert!(matches!(files.read(&path("a/b.sh"), 2), Err(Error::TooLarge { .. })));
        assert_eq!(
            files.list(Some(&path("a")), 10).unwrap().unwrap().len(),
            1,
            "nothing is left over"
        );
        files.remove(&path("a/b.sh")).unwrap();
        files.remove(&path("a/b.sh")).unwrap();
        assert_eq!(files.read(&path("a/b.sh"), 10).unwrap(), None);
        assert_eq!(files.list(Some(&path("none")), 10).unwrap(), None);
    }

    // MOD-2: an agent's hand reaches no further than its desk.
    #[test]
    fn no_link_is_followed_and_nothing_of_gits_is_touched() {
        let (dir, files) = made();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        let desk = dir.path().join("desk");
        symlink(dir.path(), desk.join("out")).unwrap();
        symlink(dir.path().join("secret"), desk.join("file")).unwrap();
        std::fs::create_dir(desk.join(".git")).unwrap();
        std::fs::hard_link(dir.path().join("secret"), desk.join("hard")).unwrap();
        for bad in ["out/secret", "file", ".git/config", "sub/.GIT/hooks/x", ".git"] {
            assert!(files.read(&path(bad), 10).is_err() || bad.starts_with("sub"), "read {bad}");
            assert!(files.write(&path(bad), b"x", None).is_err(), "write {bad}");
        }
        assert!(files.remove(&path("file")).is_err());
        assert!(files.write(&path("hard/x"), b"x", None).is_err(), "a file is no folder");
        files.write(&path("hard"), b"mine", None).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("secret")).unwrap(), "s");
        let names: Vec<_> = files.list(None, 10).unwrap().unwrap();
        let names: Vec<_> =
            names.iter().map(|one| (String::from_utf8_lossy(&one.name), one.kind)).collect();
        let expected = [
            ("file".into(), ListedKind::Link),
            ("hard".into(), ListedKind::File),
            ("out".into(), ListedKind::Link),
        ];
        assert_eq!(names, expected);
    }
}
