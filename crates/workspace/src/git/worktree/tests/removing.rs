//! Removing a worktree never takes what no checkpoint and no branch has, unless somebody insists.

use super::*;

fn remove(slug: &str, force: bool) -> RemoveWorktree {
    RemoveWorktree { slug: slug.to_owned(), force }
}

fn refusal(workspace: &GitWorkspace, slug: &str) -> String {
    match workspace.remove_worktree(&remove(slug, false)).unwrap_err() {
        Error::Refused { what, hint } => format!("{what}; {hint}"),
        other => panic!("{other}"),
    }
}

fn commit_in(repo: &Repo, at: &Path, name: &str) -> String {
    std::fs::write(at.join(name), name).unwrap();
    assert!(repo.try_git(at, &["add", name]).status.success());
    assert!(repo.try_git(at, &["commit", "--quiet", "-m", name]).status.success());
    let said = repo.try_git(at, &["rev-parse", "--short", "HEAD"]);
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

/// WSP-1: ignored files and the commits of repositories inside are in no checkpoint.
#[test]
fn ignored_files_and_repositories_inside_are_named_before_they_go() {
    let repo = Repo::new();
    repo.write(".gitignore", "build/\n*.log\n");
    repo.commit("rules");
    let workspace = repo.workspace();
    let made = workspace.create_worktree(&NewWorktree::named("feat")).unwrap();
    std::fs::create_dir_all(made.path.join("build")).unwrap();
    std::fs::write(made.path.join("build/out"), "made").unwrap();
    for number in 0..30 {
        std::fs::write(made.path.join(format!("{number}.log")), "kept nowhere").unwrap();
    }
    let inside = made.path.join("a-clone");
    std::fs::create_dir_all(&inside).unwrap();
    assert!(repo.try_git(&inside, &["init", "--quiet"]).status.success());
    commit_in(&repo, &inside, "inner.txt");
    let said = refusal(&workspace, "feat");
    assert!(said.contains("`a-clone/.git/` (the commits of a repository inside)"), "{said}");
    assert!(said.contains("`0.log` (ignored)") && said.contains("and 12 more"), "{said}");
    assert!(said.contains("`--force` throws these away"), "{said}");
    assert!(made.path.join("build/out").exists() && inside.join(".git/HEAD").exists());
    assert!(workspace.list_worktrees().unwrap()[0].whole);
    let removed = workspace.remove_worktree(&remove("feat", true)).unwrap();
    assert!(!made.path.exists());
    assert_eq!(removed.thrown_away.len(), 32);
    assert!(removed.thrown_away.contains(&"`build/` (ignored)".to_owned()), "{removed:?}");
    let left = std::fs::read_dir(made.path.parent().unwrap()).unwrap().count();
    assert_eq!(left, 0, "nothing is left aside");
}

/// WSP-1: what we ourselves write beside the user's files is nobody's loss.
#[test]
fn our_own_projections_stop_no_removal() {
    let repo = Repo::new();
    repo.write(".aurora/policies.yaml", "{}\n");
    repo.commit("policy");
    let workspace = repo.workspace();
    let made = workspace.create_worktree(&NewWorktree::named("feat")).unwrap();
    std::fs::write(made.path.join("new.txt"), "new").unwrap();
    let mut settings = repo.settings();
    settings.from = made.path.clone();
    let there = GitWorkspace::open(settings).unwrap();
    there.checkpoint(&crate::request::CheckpointRequest::default()).unwrap();
    assert!(made.path.join(".aurora/features").is_dir());
    let mine = made.path.join(".aurora/features/mine.txt");
    std::fs::write(&mine, "mine").unwrap();
    assert!(refusal(&workspace, "feat").contains(".aurora/features"));
    std::fs::remove_file(&mine).unwrap();
    let removed = workspace.remove_worktree(&remove("feat", false)).unwrap();
    assert_eq!(removed.thrown_away, Vec::<String>::new());
}

/// WSP-1: commits on no branch go with HEAD, so they are named first.
#[test]
fn commits_on_a_detached_head_are_named_before_they_go() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = workspace.create_worktree(&NewWorktree::named("feat")).unwrap();
    assert!(repo.try_git(&made.path, &["checkout", "--quiet", "--detach"]).status.success());
    let commit = commit_in(&repo, &made.path, "stray.txt");
    let said = refusal(&workspace, "feat");
    assert!(said.contains(&commit) && said.contains("git branch NAME"), "{said}");
    // Somebody who went elsewhere since has it in HEAD's log only.
    assert!(repo.try_git(&made.path, &["checkout", "--quiet", "aurora/feat"]).status.success());
    assert!(refusal(&workspace, "feat").contains(&commit));
    assert!(made.path.exists());
    // A folder that is gone is no reason to forget them.
    let elsewhere = repo.home().join("elsewhere");
    std::fs::rename(&made.path, &elsewhere).unwrap();
    let cleaned = workspace.cleanup_worktrees().unwrap();
    assert!(!cleaned[0].removed && cleaned[0].because.contains(&commit), "{cleaned:?}");
    std::fs::rename(&elsewhere, &made.path).unwrap();
    repo.git(&["branch", "kept", &commit]);
    workspace.remove_worktree(&remove("feat", false)).unwrap();
    assert_eq!(repo.git(&["show", "kept:stray.txt"]), "stray.txt");
}

/// WSP-1: insisting lets them go, and says so.
#[test]
fn stray_commits_go_when_somebody_insists_and_amended_ones_stop_nobody() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = workspace.create_worktree(&NewWorktree::named("feat")).unwrap();
    commit_in(&repo, &made.path, "a.txt");
    let amend = ["commit", "--quiet", "--amend", "-m", "better"];
    assert!(repo.try_git(&made.path, &amend).status.success());
    repo.git(&["merge", "--quiet", "aurora/feat"]);
    let removed = workspace.remove_worktree(&remove("feat", false)).unwrap();
    assert_eq!((removed.kept_branch, removed.thrown_away.len()), (None, 0));
    let made = workspace.create_worktree(&NewWorktree::named("again")).unwrap();
    assert!(repo.try_git(&made.path, &["checkout", "--quiet", "--detach"]).status.success());
    let commit = commit_in(&repo, &made.path, "stray.txt");
    let removed = workspace.remove_worktree(&remove("again", true)).unwrap();
    assert_eq!(removed.thrown_away, [format!("commit {commit}")]);
}

/// WSP-1: what is written between the checkpoint and the removal is in a checkpoint, too.
#[test]
fn edits_between_the_checkpoint_and_the_removal_are_kept_or_stop_it() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = workspace.create_worktree(&NewWorktree::named("feat")).unwrap();
    let mut record = Record::open(&workspace.place, "feat").unwrap().unwrap();
    let first = workspace.keep_what_is(&record, &made.path, false).unwrap().1;
    let aside = record.move_aside().unwrap();
    assert!(!made.path.exists());
    // Somebody whose folder this is goes on writing after the first look.
    std::fs::write(aside.join("late.txt"), "late").unwrap();
    let before = first.checkpoint.clone();
    let kept = workspace.keep_the_rest(&record, &aside, first, false).unwrap();
    assert_ne!(kept.checkpoint, before);
    drop(record);
    // Dying here decides nothing: the worktree comes back.
    assert_eq!(workspace.cleanup_worktrees().unwrap(), []);
    assert_eq!(std::fs::read(made.path.join("late.txt")).unwrap(), b"late");
    assert!(!aside.exists() && workspace.list_worktrees().unwrap()[0].whole);
    let mut settings = repo.settings();
    settings.from = made.path.clone();
    let there = GitWorkspace::open(settings).unwrap();
    let tree = there.find(&kept.checkpoint.unwrap().0).unwrap().tree;
    let late = there.read(&tree, &crate::fixture::path("late.txt")).unwrap().unwrap();
    assert_eq!(late.bytes, b"late");
    // Dying after the decision completes it, and what stands there by then is somebody's.
    let mut record = Record::open(&workspace.place, "feat").unwrap().unwrap();
    let aside = record.move_aside().unwrap();
    record.set_stage(Stage::Removing).unwrap();
    drop(record);
    std::fs::create_dir_all(&made.path).unwrap();
    std::fs::write(made.path.join("new.txt"), "somebody's").unwrap();
    assert!(workspace.cleanup_worktrees().unwrap()[0].removed);
    assert!(!aside.exists() && made.path.join("new.txt").exists());
}

/// WSP-1: a folder that git no longer knows has no checkpoint, so it is not removed.
#[test]
fn a_worktree_that_is_no_longer_one_is_not_removed_without_insisting() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = workspace.create_worktree(&NewWorktree::named("feat")).unwrap();
    std::fs::write(made.path.join("new.txt"), "precious").unwrap();
    std::fs::remove_file(made.path.join(".git")).unwrap();
    assert!(refusal(&workspace, "feat").contains("no whole worktree"));
    assert!(made.path.join("new.txt").exists());
    let removed = workspace.remove_worktree(&remove("feat", true)).unwrap();
    assert_eq!(removed.thrown_away.len(), 1);
}
