//! Writing a commit's files into a new worktree, with an index that git finds clean at once.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use aurora_model::EntryMode;
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::{Entry, Objects};
use crate::git::process::Git;

/// Git looks again at files as young as its index, with all filters. So ours are a little older.
const OLDER: Duration = Duration::from_secs(3);

/// Fills a worktree that has nothing but its `.git`, and says what git would have made otherwise.
pub(crate) fn fill(
    workspace: &GitWorkspace,
    commit: &ObjectId,
    path: &Path,
) -> Result<Vec<String>> {
    let objects = workspace.store.objects()?;
    let tree = tree_of(workspace, commit)?;
    let listing = crate::git::tree::list(&objects, &tree)?;
    write_files(workspace, &objects, &listing, path)?;
    let admin = super::admin_of(path).ok_or_else(|| Error::Corrupt {
        what: format!("git made no worktree at {}", path.display()),
    })?;
    write_index(&objects, &tree, path, &admin)?;
    notes(workspace, &listing, path, &admin)
}

pub(crate) fn tree_of(workspace: &GitWorkspace, commit: &ObjectId) -> Result<ObjectId> {
    let place = &workspace.place;
    let said = Git::new(&place.program, &place.common_dir, "read a commit")
        .args(["rev-parse", "--verify", "--end-of-options"])
        .arg(format!("{}^{{tree}}", commit.to_hex()))
        .run()?;
    ObjectId::from_hex(said.trim_ascii())
        .map_err(|_| Error::Corrupt { what: format!("the commit {commit} has no tree") })
}

type Listing = [(aurora_model::RepoPath, Entry)];

/// Files first and links last: while files are written, nothing in the new folder leads elsewhere,
/// whatever the tree holds.
fn write_files(
    workspace: &GitWorkspace,
    objects: &Objects,
    listing: &Listing,
    root: &Path,
) -> Result<()> {
    let total = listing.len() as u64;
    let is_link = |entry: &Entry| entry.mode == EntryMode::Symlink;
    let files = listing.iter().filter(|(_, entry)| !is_link(entry));
    let links = listing.iter().filter(|(_, entry)| is_link(entry));
    for (done, (path, entry)) in files.chain(links).enumerate() {
        if path.parts().any(is_git_name) {
            return Err(Error::Refused {
                what: format!("the commit holds `{path}`, which would be git's own data"),
                hint: "begin with another commit".to_owned(),
            });
        }
        let at = root.join(std::ffi::OsStr::from_bytes(path.as_bytes()));
        let folder = at.parent().unwrap_or(root);
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        write_one(objects, entry, &at)?;
        if done % 256 == 0 {
            workspace.settings.progress.at("writing files", done as u64, Some(total));
        }
    }
    Ok(())
}

fn write_one(objects: &Objects, entry: &Entry, at: &PathBuf) -> Result<()> {
    match entry.mode {
        EntryMode::Submodule => std::fs::create_dir_all(at).map_err(Error::io("create", at)),
        EntryMode::Symlink => {
            let target = objects.blob(&entry.id)?;
            std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(&target), at)
                .map_err(Error::io("link", at))
        }
        EntryMode::File | EntryMode::Executable => {
            let mode = if entry.mode == EntryMode::Executable { 0o777 } else { 0o666 };
            let mut file: File = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(at)
                .map_err(Error::io("create", at))?;
            file.write_all(&objects.blob(&entry.id)?).map_err(Error::io("write", at))?;
            file.set_modified(SystemTime::now() - OLDER).map_err(Error::io("write", at))
        }
    }
}

fn is_git_name(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1")
}

fn write_index(objects: &Objects, tree: &ObjectId, root: &Path, admin: &Path) -> Result<()> {
    let failed = |what: String| Error::Corrupt { what: format!("no index can be made: {what}") };
    let options = gix::validate::path::component::Options {
        protect_windows: false,
        protect_hfs: true,
        protect_ntfs: false,
    };
    let mut state = gix::index::State::from_tree(tree, &objects.odb, options)
        .map_err(|error| failed(error.to_string()))?;
    for (entry, path) in state.entries_mut_with_paths() {
        let at = root.join(std::ffi::OsStr::from_bytes(path));
        let found = gix::index::fs::Metadata::from_path_no_follow(&at)
            .map_err(Error::io("look at", &at))?;
        entry.stat =
            gix::index::entry::Stat::from_fs(&found).map_err(|error| failed(error.to_string()))?;
    }
    let mut file = gix::index::File::from_state(state, admin.join("index"));
    file.write(gix::index::write::Options::default()).map_err(|error| failed(error.to_string()))
}

/// What git's own checkout would have done otherwise.
fn notes(
    workspace: &GitWorkspace,
    listing: &Listing,
    path: &Path,
    admin: &Path,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let submodules = listing.iter().filter(|(_, entry)| entry.mode == EntryMode::Submodule).count();
    if submodules > 0 {
        notes.push(format!(
            "{submodules} submodules are empty folders; `git submodule update --init` fills them"
        ));
    }
    if admin.join("info/sparse-checkout").exists() {
        notes.push("the sparse checkout is not applied: all files are there".to_owned());
    }
    let place = &workspace.place;
    let rules = listing.iter().any(|(path, _)| path.name() == b".gitattributes")
        || place.common_dir.join("info/attributes").exists();
    if !rules {
        return Ok(notes);
    }
    let mut names = Vec::new();
    for (path, _) in listing {
        names.extend_from_slice(path.as_bytes());
        names.push(0);
    }
    let said = Git::new(&place.program, admin, "read attributes")
        .env("GIT_WORK_TREE", path)
        .args(["check-attr", "-z", "--stdin", "filter", "working-tree-encoding", "eol", "ident"])
        .input(names)
        .run()?;
    let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let mut unconverted = std::collections::BTreeMap::<String, u64>::new();
    for answer in fields.chunks_exact(3) {
        let (attribute, value) = (answer.get(1), answer.get(2));
        let (Some(attribute), Some(value)) = (attribute, value) else { continue };
        if !matches!(*value, b"unspecified" | b"unset" | b"lf") {
            let name = format!(
                "{}={}",
                String::from_utf8_lossy(attribute),
                String::from_utf8_lossy(value)
            );
            *unconverted.entry(name).or_default() += 1;
        }
    }
    notes.extend(unconverted.into_iter().map(|(name, files)| {
        format!("{files} files with `{name}` hold what is committed: no filter was run")
    }));
    Ok(notes)
}
