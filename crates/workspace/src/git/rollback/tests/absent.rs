//! Files that git is told to leave out of the worktree, and journals that are not what they were.

use super::*;
use crate::git::beneath::name_of;
use crate::git::journal::Journal;
use crate::git::objects::Entry;

/// WSP-4
#[test]
fn a_file_that_git_leaves_out_of_the_worktree_comes_back() {
    let repo = Repo::new();
    repo.write("a.txt", "indexed");
    repo.write("run", "run");
    repo.commit("files");
    repo.git(&["update-index", "--skip-worktree", "a.txt", "run"]);
    let workspace = repo.workspace();
    repo.write("a.txt", "hidden");
    std::fs::set_permissions(repo.path("run"), PermissionsExt::from_mode(0o755)).unwrap();
    let made = checkpoint(&workspace, "first");
    std::fs::remove_file(repo.path("a.txt")).unwrap();
    std::fs::remove_file(repo.path("run")).unwrap();
    let done = outcomes(&workspace.rollback(&to(&made)).unwrap());
    assert_eq!([&done["a.txt"], &done["run"]], [&Outcome::Created, &Outcome::Created]);
    assert_eq!(std::fs::read_to_string(repo.path("a.txt")).unwrap(), "hidden");
    assert_eq!(repo.path("run").metadata().unwrap().mode() & 0o100, 0o100);
}

/// WSP-4
#[test]
fn a_journal_costs_nobody_content_that_is_stored_nowhere() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    repo.write("stored", "stored");
    checkpoint(&workspace, "first");
    let hash = workspace.place().hash;
    let entry = |bytes: &str| {
        let id = name_of(bytes.as_bytes(), hash).unwrap();
        Some(Entry { mode: aurora_model::EntryMode::File, id })
    };
    repo.write("deleted", "only here");
    repo.write("replaced", "here only");
    repo.write("rest", "stored");
    let step = |name: &str, from, to| Step { path: path(name), from, to, permissions: None };
    let steps = vec![
        step("deleted", entry("only here"), None),
        step("replaced", entry("here only"), entry("stored")),
        step("rest", entry("stored"), None),
    ];
    let what = "rollback to x".to_owned();
    let transition = Transition { what, steps, empty_folders: Vec::new() };
    let journal = Journal::of(&transition, None, crate::fixture::now());
    let beside = format!(".aurora-{}-1", journal.op);
    repo.write(&beside, "here only");
    journal.write(&workspace.place().feature_dir, &Fuse::default()).unwrap();
    let healed = workspace.heal().unwrap();
    assert_eq!(healed[0].left_alone, [path("deleted"), path("replaced")]);
    assert!(healed[0].what.contains("deleted: its content is stored nowhere else"), "{healed:?}");
    assert_eq!(std::fs::read_to_string(repo.path("deleted")).unwrap(), "only here");
    assert_eq!(std::fs::read_to_string(repo.path("replaced")).unwrap(), "here only");
    assert!(!repo.path("rest").exists() && !repo.path(&beside).exists());
}
