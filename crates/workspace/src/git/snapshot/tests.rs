//! Checkpoints against a real git.

mod hostile;
mod watched;
mod whole;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use aurora_model::{Checkpoint, CheckpointKind, EntryMode, SkipReason};

use crate::fixture::{Repo, path};
use crate::git::{GitWorkspace, chain, tree};
use crate::request::{CheckpointRequest, Created, OnUnchanged};
use crate::workspace::Workspace as _;

/// Asks for a checkpoint with the usual options.
fn take(workspace: &GitWorkspace) -> Created {
    workspace.checkpoint(&CheckpointRequest::default()).unwrap()
}

/// Every path of a checkpoint with its mode and bytes.
fn files(
    workspace: &GitWorkspace,
    checkpoint: &Checkpoint,
) -> BTreeMap<String, (EntryMode, Vec<u8>)> {
    let objects = workspace.store.objects().unwrap();
    let tree = chain::tree_id(&checkpoint.tree).unwrap();
    let listing = tree::list(&objects, &tree).unwrap().into_iter();
    listing
        .map(|(path, entry)| {
            let bytes = match entry.mode {
                EntryMode::Submodule => entry.id.to_string().into_bytes(),
                _ => objects.blob(&entry.id).unwrap(),
            };
            (path.to_string(), (entry.mode, bytes))
        })
        .collect()
}

/// The tree that plain git makes of a worktree with an index of its own.
fn plain_tree(repo: &Repo) -> String {
    let index = repo.home().join("plain-index");
    let _ = std::fs::remove_file(&index);
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .current_dir(repo.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", repo.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_INDEX_FILE", &index)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    if repo.try_git(&repo.root(), &["rev-parse", "--verify", "HEAD"]).status.success() {
        git(&["read-tree", "HEAD"]);
    }
    git(&["add", "-A"]);
    git(&["write-tree"])
}

/// Everything of the user's that must stay as it is, byte for byte.
fn users_state(repo: &Repo) -> BTreeMap<String, Vec<u8>> {
    let mut state = BTreeMap::new();
    let git_dir = repo.root().join(".git");
    let mut next = vec![git_dir.clone()];
    while let Some(folder) = next.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&git_dir).unwrap().to_string_lossy().into_owned();
            if name == "aurora" || name == "objects" || name == "refs/aurora" {
                continue;
            }
            if path.is_dir() {
                next.push(path);
            } else {
                state.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    state.insert("log --all".to_owned(), repo.git(&["log", "--all", "--format=%H %s"]).into());
    state.insert("stash".to_owned(), repo.git(&["stash", "list"]).into());
    state
}

fn status(repo: &Repo) -> String {
    repo.git(&["--no-optional-locks", "status", "--porcelain=v2", "--ignored", "-uall"])
}

fn symlink(repo: &Repo, target: &str, at: &str) {
    std::os::unix::fs::symlink(target, repo.path(at)).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Whether a checkpoint lists a path as left out for a reason.
fn is_skipped(checkpoint: &Checkpoint, text: &str, reason: SkipReason) -> bool {
    checkpoint.skipped.iter().any(|skipped| skipped.path == path(text) && skipped.reason == reason)
}
