//! Desks of a run's worktree: brought to its state exactly, and their work adopted all or not at all.

mod adopt;
pub mod crash;
mod large;
mod mess;
mod opening;
mod prepare;
mod watch;

use std::path::Path;

use aurora_workspace::desk::Desk;
use aurora_workspace::git::worktree::NewWorktree;
use aurora_workspace::{GitWorkspace, Outcome, PathOutcome};

use crate::harness::World;
use crate::listing::Listing;

/// A repository with some files, and a run's worktree of it.
pub struct Run {
    pub world: World,
    pub home: GitWorkspace,
}

impl Run {
    pub fn new() -> Self {
        Self::within(World::in_memory())
    }

    pub fn within(world: World) -> Self {
        world.write(".gitignore", "*.log\nbuild/\n");
        world.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
        world.write("src/lib.rs", "fn a() {}\n\n\n\nfn b() {}\n");
        world.write("src/deep/er.rs", "deep\n");
        world.write("data.bin", b"\0\x01\x02");
        world.write("run.sh", "#!/bin/sh\n");
        std::os::unix::fs::symlink("a.txt", world.path("link")).unwrap();
        world.commit();
        let home = open(&world.workspace(), "login");
        Self { world, home }
    }

    pub fn root(&self) -> &Path {
        self.home.root()
    }

    /// A desk that is prepared, and what it began with.
    pub fn prepared(&self, number: u32) -> (Desk, aurora_model::TreeId) {
        let desk = self.home.desk(number).unwrap();
        let base = desk.prepare().unwrap().base;
        (desk, base)
    }
}

pub fn open(workspace: &GitWorkspace, slug: &str) -> GitWorkspace {
    workspace.open_or_create_worktree(&NewWorktree::named(slug)).unwrap().1
}

pub fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let at = root.join(path);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, content).unwrap();
}

pub fn read(root: &Path, path: &str) -> String {
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// Everything that is not ignored; the tests' own rules are few.
pub fn kept(root: &Path) -> Listing {
    let mut listing = Listing::of(root);
    let ignored = |path: &aurora_model::RepoPath| {
        path.name().ends_with(b".log") || path.parts().any(|part| part == b"build")
    };
    listing.nodes.retain(|path, _| !ignored(path));
    listing.empty_folders.retain(|path| !ignored(path));
    listing
}

pub fn same_state(run: &Run, desk: &Desk, when: &str) {
    let (home, there) = (kept(run.root()), kept(desk.path()));
    crate::listing::same(&home, &there, when);
    assert_eq!(home.empty_folders, there.empty_folders, "{when}");
}

/// The path of a conflict and what is said about it.
pub fn said(conflict: &PathOutcome) -> (String, String) {
    let text = match &conflict.outcome {
        Outcome::Conflict { marked } => marked.clone(),
        Outcome::Kept { because } | Outcome::Failed { because } => because.clone(),
        other => format!("{other:?}"),
    };
    (conflict.path.to_string(), text)
}
