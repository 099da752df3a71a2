//! A branch in the user's repository that holds a checkpoint.

use aurora_model::{Checkpoint, CheckpointId, EntryMode};
use gix::hash::ObjectId;
use gix::objs::Kind;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::{Node, Objects};
use crate::git::pack::PackWriter;
use crate::git::place::Place;
use crate::git::private::{PrivateStore, objects_at};
use crate::git::process::Git;

impl GitWorkspace {
    pub(crate) fn branch_from(&self, id: &CheckpointId, name: &str) -> Result<String> {
        let checkpoint = self.find_checkpoint(&id.0)?;
        // Nobody prunes while we copy.
        let _lock = self.store.lock(&self.place)?;
        branch_of(&self.store, &self.place, &checkpoint, name)
    }
}

/// Copies what the user's repository lacks, makes a commit on top of what was checked out then,
/// and points a new branch at it. HEAD, index and files stay as they are.
fn branch_of(
    store: &PrivateStore,
    place: &Place,
    checkpoint: &Checkpoint,
    name: &str,
) -> Result<String> {
    let full = format!("refs/heads/{name}");
    refuse_name(place, name, &full)?;
    refuse_taken(place, name, &full)?;
    let commit = copy_out(store, place, checkpoint)?.to_string();
    let nothing = ObjectId::null(place.hash).to_string();
    let made = git(place, &format!("make the branch `{name}`"))
        .args(["update-ref", "--no-deref", &full, &commit, &nothing])
        .run();
    if let Err(error) = made {
        // Somebody may have made it meanwhile.
        refuse_taken(place, name, &full)?;
        return Err(error);
    }
    Ok(commit)
}

fn git(place: &Place, doing: &str) -> Git {
    Git::new(&place.program, &place.common_dir, doing)
}

fn refuse_name(place: &Place, name: &str, full: &str) -> Result<()> {
    let output = git(place, "check the branch's name").args(["check-ref-format", full]).output()?;
    if output.status.success() && !name.starts_with('-') && name != "HEAD" {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!("`{name}` cannot be the name of a branch"),
        hint: "choose a name such as `fix-login`; `git check-ref-format` has the rules".to_owned(),
    })
}

/// A branch that is there is never moved. One that HEAD names and that has no commit yet is taken
/// too: with a commit, all files would seem to be changed.
fn refuse_taken(place: &Place, name: &str, full: &str) -> Result<()> {
    let taken = |why: &str| Error::Refused {
        what: format!("the branch `{name}` {why}"),
        hint: "choose another name".to_owned(),
    };
    let found = git(place, "look for the branch")
        .args(["rev-parse", "--verify", "--quiet", full])
        .output()?;
    if found.status.success() {
        return Err(taken("is there already"));
    }
    let worktrees =
        git(place, "look for worktrees").args(["worktree", "list", "--porcelain"]).run()?;
    let line = format!("branch {full}");
    if worktrees.split(|byte| *byte == b'\n').any(|other| other == line.as_bytes()) {
        return Err(taken("is checked out, though it has no commit yet"));
    }
    Ok(())
}

/// Writes the commit and all that it needs into the user's repository, as one pack.
fn copy_out(store: &PrivateStore, place: &Place, checkpoint: &Checkpoint) -> Result<ObjectId> {
    let users_dir = place.common_dir.join("objects");
    let users = objects_at(&users_dir, place.hash)?;
    let tree = ObjectId::from_hex(checkpoint.tree.0.as_bytes()).map_err(|_| Error::Corrupt {
        what: format!("`{}` is no name of a tree", checkpoint.tree),
    })?;
    let mut pack = PackWriter::new_in(&users_dir.join("pack"), place.hash);
    copy_missing(&store.objects()?, &users, tree, &mut pack)?;
    let parent = checkpoint.head.commit.as_deref().filter(|hex| {
        let id = ObjectId::from_hex(hex.as_bytes()).ok();
        let header = id.and_then(|id| users.header(&id).ok().flatten());
        matches!(header, Some((Kind::Commit, _)))
    });
    let commit = pack.add(Kind::Commit, commit_of(checkpoint, parent).as_bytes())?;
    pack.finish()?;
    Ok(commit)
}

/// The commit's text. Its identity is ours, because none need be configured; its time is the
/// checkpoint's.
fn commit_of(checkpoint: &Checkpoint, parent: Option<&str>) -> String {
    let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
    let seconds = checkpoint.timestamp.unix_ms.div_euclid(1000).max(0);
    let who = format!("Aurora <aurora@localhost> {seconds} +0000");
    let said = checkpoint.message.replace('\0', " ");
    let said = said.trim();
    let title = if said.is_empty() { "Checkpoint" } else { said };
    format!(
        "tree {}\n{parent}author {who}\ncommitter {who}\n\n{title}\n\nCheckpoint: {}\n",
        checkpoint.tree, checkpoint.checkpoint_id
    )
}

/// Adds everything below a tree that the user's repository does not have. Also what is below a tree
/// that it has is looked at: a repository that was cleaned up may have one without the other.
fn copy_missing(
    ours: &Objects,
    users: &Objects,
    tree: ObjectId,
    pack: &mut PackWriter,
) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    let mut next = vec![tree];
    while let Some(tree) = next.pop() {
        if !seen.insert(tree) {
            continue;
        }
        if tree.is_empty_tree() || !users.contains_at_once(&tree) {
            let bytes =
                if tree.is_empty_tree() { Vec::new() } else { ours.data(&tree, Kind::Tree)? };
            pack.add_named(tree, Kind::Tree, &bytes)?;
        }
        for (_, node) in ours.tree(&tree)? {
            match node {
                Node::Folder(id) => next.push(id),
                Node::Entry(entry) if entry.mode == EntryMode::Submodule => {}
                Node::Entry(entry) => {
                    if seen.insert(entry.id) && !users.contains_at_once(&entry.id) {
                        pack.add_named(entry.id, Kind::Blob, &ours.blob(&entry.id)?)?;
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
