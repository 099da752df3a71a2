//! `aur worktree`: made, listed, removed.

use insta::assert_snapshot;

use crate::harness::World;

/// WSP-1: a worktree on a branch of its own, and nothing of the user's checkout changes.
#[test]
fn a_worktree_is_made_listed_and_removed() {
    let world = World::with_commit();
    let index = std::fs::read(world.path("repo/.git/index")).unwrap();
    let made = world.run(&["worktree", "add", "login", "--json"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(made.json()["branch"], "aurora/login");
    let list = world.run(&["worktree", "list"]);
    assert!(list.stdout.starts_with("login  aurora/login  [DIR]/home/.local/state/"), "{list:?}");
    assert_eq!(world.run(&["worktree", "add", "login"]).code, Some(1));
    assert_eq!(world.run(&["worktree", "add", "../x"]).code, Some(1));
    assert_snapshot!(world.run(&["worktree", "remove", "login"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: removing a worktree needs a yes, and nobody is there to ask
    hint: --yes says it beforehand
    ");
    assert_snapshot!(world.run(&["worktree", "remove", "other", "--yes"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: there is no worktree `other`
    hint: `aur worktree list` shows those that were made here
    ");
    let removed = world.run(&["worktree", "remove", "login", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_snapshot!(world.run(&["worktree", "list"]).shown(), @r"
    exit: 0
    ----- stdout -----
    no worktree was made here; `aur worktree add NAME` makes one
    ");
    assert_snapshot!(world.run(&["worktree", "cleanup"]).shown(), @r"
    exit: 0
    ----- stdout -----
    nothing to clean up
    ");
    assert_eq!(std::fs::read(world.path("repo/.git/index")).unwrap(), index);
}

/// WSP-1, POL-4: the policy says what branches start with.
#[test]
fn a_worktrees_branch_starts_as_the_policy_says() {
    let world = World::with_commit();
    world.write("repo/.aurora/policies.yaml", "safety:\n  branch_prefix: bot/\n");
    let made = world.run(&["worktree", "add", "login", "--json"]);
    assert_eq!(made.json()["branch"], "bot/login", "{made:?}");
    assert_eq!(
        world.git(&["branch", "--list", "bot/*", "--format=%(refname:short)"]),
        "bot/login\n"
    );
}

/// WSP-1: what no checkpoint holds is named and stays, until somebody insists.
#[test]
fn a_worktree_with_ignored_files_is_removed_only_by_insisting() {
    let world = World::with_commit();
    world.write("repo/.git/info/exclude", "target/\n");
    let made = world.run(&["worktree", "add", "feat", "--json"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let folder = world.path("home/.local/state/aurora/worktrees").read_dir().unwrap();
    let path = folder.flatten().next().unwrap().path().join("feat");
    std::fs::create_dir_all(path.join("target")).unwrap();
    std::fs::write(path.join("target/out"), "made").unwrap();
    assert_snapshot!(world.run(&["worktree", "remove", "feat", "--yes"]).shown(), @r"
    exit: 1
    ----- stderr -----
    error: it holds what is in no checkpoint (1): `target/` (ignored)
    hint: move what you need elsewhere; `--force` throws these away
    ");
    assert!(path.join("target/out").exists());
    let removed = world.run(&["worktree", "remove", "feat", "--yes", "--force"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(removed.stdout.contains("thrown away: `target/` (ignored)"), "{removed:?}");
    assert!(removed.stdout.contains("other than that, what was in it is ckpt-"), "{removed:?}");
    assert!(!path.exists());
}

/// WSP-1: nobody asked for the checkpoint before a removal, so that no rollback goes to it.
#[test]
fn what_was_in_a_removed_worktree_is_a_safety_checkpoint() {
    let world = World::with_commit();
    let made = world.run(&["worktree", "add", "login", "--json"]).json();
    let folder = made["path"].as_str().unwrap().replace("[DIR]/", "");
    world.write(&format!("{folder}/new.txt"), "new\n");
    let removed = world.run(&["worktree", "remove", "login", "--yes", "--json"]);
    let id = removed.json()["checkpoint"].as_str().unwrap().to_owned();
    let commit = format!("refs/aurora/checkpoints/login/{id}");
    let told = world.git(&["--git-dir=.git/aurora/git", "log", "-1", "--format=%b", &commit]);
    assert!(told.contains("\"kind\":\"safety\""), "{told}");
}
