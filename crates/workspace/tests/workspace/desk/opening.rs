//! The worktree of a run: made, found again after a crash, and brought back when it is lost.

use aurora_workspace::git::worktree::NewWorktree;
use aurora_workspace::{CheckpointRequest, Error, GitWorkspace, Workspace as _};

use super::{Run, open, read, write};
use crate::harness::{World, git_in, git_state, same_git_state};

// EXE-2
#[test]
fn the_worktree_of_a_run_is_made_once_and_found_again() {
    let world = World::in_memory();
    world.write("a", "a\n");
    world.commit();
    world.write("a", "not committed\n");
    world.write("b", "not tracked\n");
    let index = std::fs::read(world.root.join(".git/index")).unwrap();
    let home = open(&world.workspace(), "login");
    assert_eq!(read(home.root(), "a"), "a\n", "it begins with the commit");
    write(home.root(), "a", "work\n");
    world.git(&["commit", "-qam", "the user goes on"]);
    let again = open(&world.workspace(), "login");
    assert_eq!((again.root(), read(again.root(), "a").as_str()), (home.root(), "work\n"));
    assert_eq!(read(&world.root, "b"), "not tracked\n");
    assert!(!index.is_empty());
    // From a linked worktree it is the same one.
    let linked = GitWorkspace::open(aurora_workspace::Settings {
        from: home.root().to_owned(),
        ..world.settings()
    })
    .unwrap();
    assert_eq!(open(&linked, "login").root(), home.root());
    let other = open(&linked, "other");
    assert_eq!(read(other.root(), "a"), "a\n", "HEAD is that of the linked worktree");
}

// EXE-2
#[test]
fn what_cannot_be_worked_on_is_refused_in_words() {
    let world = World::in_memory();
    let unborn = world.workspace().open_or_create_worktree(&NewWorktree::named("x"));
    let Err(error) = unborn else { panic!("there is no commit") };
    assert!(error.to_string().contains("no commit"), "{error}");
    assert!(error.hint().is_some());
    let Err(error) = world.workspace().desk(1) else { panic!("there is no commit") };
    assert!(error.to_string().contains("no commit"), "{error}");
    world.write("a", "a\n");
    world.commit();
    world.git(&["branch", "aurora/mine"]);
    let taken = world.workspace().open_or_create_worktree(&NewWorktree::named("mine"));
    assert!(matches!(taken, Err(Error::Refused { .. })), "a branch of the user's is his");
    let bare = world.dir().join("bare.git");
    git_in(world.dir(), &world.home(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    let settings = aurora_workspace::Settings { from: bare, ..world.settings() };
    assert!(matches!(GitWorkspace::open(settings), Err(Error::NoRepository { .. })));
}

// EXE-2
#[test]
fn a_worktree_whose_folder_is_gone_comes_back_with_its_latest_checkpoint() {
    let run = Run::new();
    let (desk, base) = run.prepared(1);
    write(desk.path(), "new/work", "adopted\n");
    let changes = desk.changes(&base).unwrap();
    desk.adopt(&base, &changes.result, "a task").unwrap();
    let chain = run.home.checkpoints().unwrap().len();
    let before = git_state(&run.world.root.join(".git"));
    std::fs::remove_dir_all(run.root()).unwrap();
    let home = open(&run.world.workspace(), "login");
    assert_eq!(read(home.root(), "new/work"), "adopted\n");
    assert!(home.checkpoints().unwrap().len() >= chain);
    let mut after = git_state(&run.world.root.join(".git"));
    // Git's entry of the worktree is a new one.
    let keep = |state: &mut std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        state.retain(|path, _| !path.starts_with("worktrees"));
    };
    let mut before = before;
    keep(&mut before);
    keep(&mut after);
    same_git_state(&before, &after, "after it came back");
    assert!(home.checkpoint(&CheckpointRequest::default()).unwrap().unchanged);
    let desk = home.desk(1).unwrap();
    desk.prepare().unwrap();
    assert_eq!(read(desk.path(), "new/work"), "adopted\n");
}
