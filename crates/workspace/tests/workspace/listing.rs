//! What is in a worktree, read without the crate under test.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use aurora_model::{Checkpoint, EntryMode, RepoPath, TreeId};
use aurora_workspace::{Content, GitWorkspace, Workspace as _};

/// What stands at a path of the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    File { executable: bool, bytes: Vec<u8> },
    Link(Vec<u8>),
    Special,
}

impl Node {
    /// Whether it is what a checkpoint has.
    pub fn is(&self, content: &Content) -> bool {
        match (self, content.mode) {
            (Self::File { executable: false, bytes }, EntryMode::File)
            | (Self::File { executable: true, bytes }, EntryMode::Executable)
            | (Self::Link(bytes), EntryMode::Symlink) => *bytes == content.bytes,
            _ => false,
        }
    }
}

/// Everything below a root but git's own data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub nodes: BTreeMap<RepoPath, Node>,
    pub empty_folders: BTreeSet<RepoPath>,
}

impl Listing {
    pub fn of(root: &Path) -> Self {
        let mut listing = Self::default();
        listing.add(root, None);
        listing
    }

    fn add(&mut self, root: &Path, folder: Option<&RepoPath>) {
        let at = root.join(OsStr::from_bytes(folder.map_or(&b""[..], RepoPath::as_bytes)));
        let mut empty = true;
        for entry in std::fs::read_dir(&at).unwrap() {
            let entry = entry.unwrap();
            empty = false;
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            let path = RepoPath::below(folder, name.as_bytes()).unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.add(root, Some(&path));
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap();
                self.nodes.insert(path, Node::Link(target.as_os_str().as_bytes().to_vec()));
            } else if kind.is_file() {
                let mode = entry.metadata().unwrap().permissions().mode();
                let bytes = std::fs::read(entry.path()).unwrap();
                let executable = mode & 0o100 != 0;
                self.nodes.insert(path, Node::File { executable, bytes });
            } else {
                self.nodes.insert(path, Node::Special);
            }
        }
        if let Some(folder) = folder.filter(|_| empty) {
            self.empty_folders.insert(folder.clone());
        }
    }

    /// Paths at which two listings differ.
    pub fn differences<'a>(&'a self, other: &'a Self) -> BTreeSet<&'a RepoPath> {
        let paths = self.nodes.keys().chain(other.nodes.keys());
        paths.filter(|path| self.nodes.get(path) != other.nodes.get(path)).collect()
    }
}

/// Fails with the paths that differ and what they are.
pub fn same(before: &Listing, after: &Listing, when: &str) {
    let differ = before.differences(after);
    let shown: Vec<String> = differ
        .iter()
        .take(8)
        .map(|path| {
            format!(
                "{path}: {} became {}",
                short(before.nodes.get(path)),
                short(after.nodes.get(path))
            )
        })
        .collect();
    assert!(differ.is_empty(), "{when}: {} paths differ:\n  {}", differ.len(), shown.join("\n  "));
}

fn short(node: Option<&Node>) -> String {
    match node {
        None => "nothing".to_owned(),
        Some(Node::File { executable, bytes }) => {
            let text = String::from_utf8_lossy(bytes.get(..24).unwrap_or(bytes)).into_owned();
            format!("file(x={executable}, {} bytes, {text:?})", bytes.len())
        }
        Some(Node::Link(target)) => format!("link to {:?}", String::from_utf8_lossy(target)),
        Some(Node::Special) => "special".to_owned(),
    }
}

/// The empty tree of repositories whose objects are named by SHA-1.
pub fn empty_tree() -> TreeId {
    TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned())
}

/// Every path of a checkpoint, by asking for it.
pub fn captured(workspace: &GitWorkspace, tree: &TreeId) -> BTreeMap<RepoPath, Content> {
    let changes = workspace.changes(&empty_tree(), tree).unwrap();
    changes
        .into_iter()
        .map(|change| {
            let content = workspace.read(tree, &change.path).unwrap();
            let content = content.unwrap_or_else(|| panic!("{} can be read", change.path));
            (change.path, content)
        })
        .collect()
}

/// Whether a checkpoint says that it left a path out.
pub fn is_skipped(checkpoint: &Checkpoint, path: &RepoPath) -> bool {
    let says = |one: &aurora_model::Skipped| {
        one.path == *path || (one.folder && path.is_within(&one.path))
    };
    checkpoint.skipped.iter().any(says)
}

/// A checkpoint holds exactly what was on the disk, and says of everything else that it left it out.
pub fn holds_exactly(
    workspace: &GitWorkspace,
    checkpoint: &Checkpoint,
    disk: &Listing,
) -> BTreeMap<RepoPath, Content> {
    let id = &checkpoint.checkpoint_id;
    let captured = captured(workspace, &checkpoint.tree);
    for (path, content) in &captured {
        if content.mode == EntryMode::Submodule {
            continue;
        }
        let node = disk.nodes.get(path);
        let same = node.is_some_and(|node| node.is(content));
        assert!(
            same,
            "{id} has other content at {path} than the disk: {content:?}, {}",
            short(node)
        );
    }
    for path in disk.nodes.keys().filter(|path| !captured.contains_key(path)) {
        assert!(
            is_skipped(checkpoint, path),
            "{id} silently leaves out {path}: {:?}",
            checkpoint.skipped
        );
    }
    captured
}
