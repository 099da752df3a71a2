//! Files come back for those who could read them, and for nobody else.

use super::*;

fn set(repo: &Repo, name: &str, mode: u32) {
    std::fs::set_permissions(repo.path(name), PermissionsExt::from_mode(mode)).unwrap();
}

fn mode(repo: &Repo, name: &str) -> u32 {
    repo.path(name).metadata().unwrap().mode() & 0o7777
}

/// WSP-4
#[test]
fn what_few_could_read_comes_back_for_these_few() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let modes = [(0o600, 0o600), (0o444, 0o444), (0o640, 0o640), (0o700, 0o700), (0o4755, 0o755)];
    for (mode, _) in modes {
        repo.write(format!("deep/{mode:o}"), "content");
        set(&repo, &format!("deep/{mode:o}"), mode);
    }
    repo.write("usual", "usual");
    let made = checkpoint(&workspace, "first");
    assert_eq!(made.permissions.len(), modes.len(), "{:?}", made.permissions);
    assert!(checkpoint(&workspace, "again").checkpoint_id == made.checkpoint_id);
    std::fs::remove_dir_all(repo.path("deep")).unwrap();
    assert!(checkpoint(&workspace, "gone").permissions.is_empty());
    let report = workspace.rollback(&to(&made)).unwrap();
    for (was, is) in modes {
        assert_eq!(mode(&repo, &format!("deep/{was:o}")), is, "{was:o}");
    }
    let chain = workspace.checkpoints().unwrap();
    let restored = chain.iter().find(|one| one.checkpoint_id == report.restored).unwrap();
    assert_like_a_full_scan(&workspace, restored);
    workspace.undo(&crate::request::UndoRequest::default()).unwrap();
    assert!(!repo.path("deep").exists());
}

/// WSP-4
#[test]
fn a_mode_comes_back_as_it_was_and_undoing_gives_the_later_one() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    repo.write("run", "same");
    repo.write("both", "one");
    repo.write("kept", "one");
    set(&repo, "run", 0o600);
    set(&repo, "both", 0o400);
    let made = checkpoint(&workspace, "first");
    set(&repo, "run", 0o750);
    set(&repo, "both", 0o644);
    repo.write("both", "two");
    repo.write("kept", "two");
    set(&repo, "kept", 0o600);
    checkpoint(&workspace, "second");
    let done = outcomes(&workspace.rollback(&to(&made)).unwrap());
    assert_eq!(done["run"], Outcome::ModeChanged);
    assert_eq!([mode(&repo, "run"), mode(&repo, "both")], [0o600, 0o400]);
    // The first checkpoint has nothing special to say about it, so it is not opened to others.
    assert_eq!(mode(&repo, "kept"), 0o600);
    workspace.undo(&crate::request::UndoRequest::default()).unwrap();
    assert_eq!(mode(&repo, "run"), 0o750);
    assert_eq!(std::fs::read_to_string(repo.path("both")).unwrap(), "two");
}

/// WSP-2
#[test]
fn permissions_alone_make_a_checkpoint_another_but_are_no_step_of_a_rollback() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    repo.write("secret", "secret");
    let first = checkpoint(&workspace, "first");
    set(&repo, "secret", 0o600);
    let second = checkpoint(&workspace, "second");
    assert_eq!(second.tree, first.tree);
    assert_eq!(second.permissions.get(&path("secret")), Some(&0o600));
    assert!(workspace.rollback(&to(&first)).unwrap().paths.is_empty());
    std::fs::remove_file(repo.path("secret")).unwrap();
    workspace.rollback(&to(&second)).unwrap();
    assert_eq!(mode(&repo, "secret"), 0o600);
}
