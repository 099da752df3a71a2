//! Where HEAD stands, and what it holds.

use aurora_model::Head;
use gix::hash::ObjectId;
use gix::objs::Kind;

use crate::git::GitWorkspace;
use crate::git::objects::Objects;
use crate::git::place::Place;
use crate::git::process::Git;
use crate::git::scan::repository::head_of;

impl GitWorkspace {
    /// Whether there is a commit to work from.
    #[must_use]
    pub fn has_commit(&self) -> bool {
        head(&self.place).commit.is_some()
    }
}

/// Where HEAD stands.
pub(crate) fn head(place: &Place) -> Head {
    if !place.reftable {
        return head_of(&place.git_dir, &place.common_dir);
    }
    let ask = |args: &[&str]| {
        let answer = Git::new(&place.program, &place.git_dir, "read HEAD").args(args).run().ok()?;
        let answer = String::from_utf8(answer).ok()?.trim().to_owned();
        (!answer.is_empty()).then_some(answer)
    };
    Head {
        commit: ask(&["rev-parse", "--verify", "--quiet", "HEAD"]),
        branch: ask(&["symbolic-ref", "--short", "--quiet", "HEAD"]),
    }
}

/// The tree that HEAD holds; the empty one without a commit, or when it cannot be read.
pub(crate) fn head_tree(objects: &Objects, head: &Head) -> ObjectId {
    let tree = head.commit.as_ref().and_then(|commit| {
        let commit = ObjectId::from_hex(commit.as_bytes()).ok()?;
        let bytes = objects.data(&commit, Kind::Commit).ok()?;
        gix::objs::CommitRefIter::from_bytes(&bytes, objects.hash).tree_id().ok()
    });
    tree.unwrap_or_else(|| objects.empty_tree())
}
