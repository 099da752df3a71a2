//! What a worktree holds that no commit does.

use aurora_model::RepoPath;

use crate::error::Result;
use crate::git::GitWorkspace;
use crate::git::snapshot::head::{head, head_tree};
use crate::git::tree;
use crate::request::CheckpointRequest;

impl GitWorkspace {
    /// The paths in which the worktree differs from what HEAD holds, with what is new and not ignored;
    /// our own folder is no part of it.
    pub fn uncommitted(&self) -> Result<Vec<RepoPath>> {
        let lock = self.store.lock(&self.place)?;
        let (now, _) = self.current_tree(&CheckpointRequest::default(), &lock)?;
        let objects = self.store.objects()?;
        let committed = head_tree(&objects, &head(&self.place));
        let differing = tree::compare(&objects, &committed, &now)?;
        let theirs = |path: &RepoPath| path.parts().next() != Some(b".aurora");
        Ok(differing.into_iter().map(|one| one.path).filter(theirs).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Repo;

    #[test]
    fn what_no_commit_holds_is_named() {
        let repo = Repo::new();
        repo.write("kept", "a\n");
        repo.write("changed", "a\n");
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "one"]);
        let workspace = repo.workspace();
        assert_eq!(workspace.uncommitted().unwrap(), []);
        repo.write("changed", "b\n");
        repo.write("new", "c\n");
        repo.write(".aurora/agents.yaml", "agents: []\n");
        let names: Vec<String> =
            workspace.uncommitted().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["changed", "new"]);
    }
}
