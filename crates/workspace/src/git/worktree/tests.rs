//! Worktrees with a real git: made clean, removed without loss, cleaned up after a crash.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::fixture::Repo;
use crate::workspace::Workspace as _;

mod removing;

/// Every file below a folder with its bytes, apart from our own data and what adding a worktree is.
fn bytes_below(at: &Path, leave_out: &[&str]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![at.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(at).unwrap().to_owned();
            if leave_out.iter().any(|left| name.starts_with(left)) {
                continue;
            }
            if path.symlink_metadata().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

/// What of the user's must never change: everything but our data, the new branch and git's entry.
fn users_state(repo: &Repo) -> BTreeMap<PathBuf, Vec<u8>> {
    let ours = [
        ".git/aurora",
        ".git/worktrees",
        ".git/refs/heads/aurora",
        ".git/logs/refs/heads/aurora",
        ".git/refs/aurora",
        ".git/objects",
    ];
    bytes_below(&repo.root(), &ours)
}

fn busy_repo() -> Repo {
    let repo = Repo::new();
    repo.write("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(repo.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("src/a.txt", repo.path("link")).unwrap();
    repo.write(b"caf\xe9 \n.txt", "odd name");
    repo.commit("second");
    repo.write("README.md", "stashed\n");
    repo.git(&["stash", "--quiet"]);
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.write("src/a.txt", "unstaged\n");
    repo.write("untracked.txt", "untracked\n");
    repo
}

/// WSP-1: the worktree is whole and clean, and nothing of the user's changed by a byte.
#[test]
fn a_worktree_is_made_clean_and_the_users_own_stays_as_it_was() {
    let repo = busy_repo();
    let workspace = repo.workspace();
    let before = users_state(&repo);
    let made = workspace.create_worktree(&NewWorktree::named("login-form")).unwrap();
    assert_eq!(users_state(&repo), before);
    assert_eq!(made.branch, "aurora/login-form");
    assert!(made.path.starts_with(repo.state_dir().join("worktrees")), "{made:?}");
    assert!(made.whole && made.notes.is_empty(), "{made:?}");
    let status = repo.try_git(&made.path, &["status", "--porcelain", "--ignored"]);
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    let diff = repo.try_git(&made.path, &["diff-index", "--exit-code", "HEAD"]);
    assert!(diff.status.success(), "the index's own stats say that nothing changed");
    let branch = repo.try_git(&made.path, &["symbolic-ref", "HEAD"]);
    assert_eq!(String::from_utf8_lossy(&branch.stdout).trim(), "refs/heads/aurora/login-form");
    let mode = made.path.join("run.sh").metadata().unwrap().permissions().mode();
    assert_ne!(mode & 0o100, 0);
    assert_eq!(std::fs::read_link(made.path.join("link")).unwrap(), Path::new("src/a.txt"));
    assert_eq!(workspace.list_worktrees().unwrap().len(), 1);
    assert_eq!(workspace.list_worktrees().unwrap()[0].feature, made.feature);
    let fsck = repo.try_git(&repo.root(), &["fsck", "--strict"]);
    assert!(fsck.status.success(), "{}", String::from_utf8_lossy(&fsck.stderr));
}

// WSP-1
#[test]
fn making_a_worktree_runs_nothing_of_the_repository() {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.bin filter=evil\n");
    repo.write("big.bin", "version https://git-lfs.github.com/spec/v1\n");
    repo.commit("with attributes");
    let pwned = repo.home().join("pwned");
    let run = format!("sh -c 'touch {}; cat'", pwned.display());
    repo.git(&["config", "filter.evil.smudge", &run]);
    repo.git(&["config", "filter.evil.clean", &run]);
    repo.git(&["config", "filter.evil.required", "true"]);
    repo.git(&["config", "core.fsmonitor", &run]);
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let at = repo.path(format!(".git/hooks/{hook}"));
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(&at, format!("#!/bin/sh\ntouch {}\n", pwned.display())).unwrap();
        std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let made = repo.workspace().create_worktree(&NewWorktree::named("quiet")).unwrap();
    assert!(!pwned.exists());
    assert!(made.notes.iter().any(|note| note.contains("filter=evil")), "{:?}", made.notes);
    let status = repo.try_git(
        &made.path,
        &["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "status", "--porcelain"],
    );
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    assert!(!pwned.exists(), "the index is old enough that git need not filter anything");
}

// WSP-1
#[test]
fn names_that_are_taken_or_unfit_are_refused_and_leave_nothing() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    for slug in ["", "..", "a/b", "-x", "X", "a..b", "x.lock", "a b", "x."] {
        let refused = workspace.create_worktree(&NewWorktree::named(slug)).unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{slug}: {refused}");
    }
    repo.git(&["branch", "aurora/taken"]);
    let refused = workspace.create_worktree(&NewWorktree::named("taken")).unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    assert_eq!(workspace.list_worktrees().unwrap(), []);
    assert!(!repo.path(".git/worktrees").exists());
    workspace.create_worktree(&NewWorktree::named("mine")).unwrap();
    let refused = workspace.create_worktree(&NewWorktree::named("mine")).unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    let empty = Repo::empty();
    let none = empty.workspace().create_worktree(&NewWorktree::named("x")).unwrap_err();
    assert!(matches!(none, Error::NotFound { .. }), "{none}");
}

/// WSP-1: what was in a worktree can be had back after it was removed.
#[test]
fn removing_a_worktree_loses_nothing() {
    let repo = busy_repo();
    let workspace = repo.workspace();
    let before = users_state(&repo);
    let made = workspace.create_worktree(&NewWorktree::named("gone")).unwrap();
    std::fs::write(made.path.join("new.txt"), "precious").unwrap();
    let gone = |force| RemoveWorktree { slug: "gone".to_owned(), force };
    let removed = workspace.remove_worktree(&gone(false)).unwrap();
    assert!(!made.path.exists());
    assert_eq!(removed.kept_branch, None);
    assert_eq!(repo.git(&["branch", "--list", "aurora/*"]), "");
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(users_state(&repo), before);
    assert_eq!(workspace.list_worktrees().unwrap(), []);
    // The same name is the same feature, so its checkpoints are there again.
    let again = workspace.create_worktree(&NewWorktree::named("gone")).unwrap();
    assert_eq!(again.feature, made.feature);
    let mut settings = repo.settings();
    settings.from = again.path.clone();
    let there = GitWorkspace::open(settings).unwrap();
    let kept = there.find(&removed.checkpoint.unwrap().0).unwrap();
    let content = there.read(&kept.tree, &crate::fixture::path("new.txt")).unwrap().unwrap();
    assert_eq!(content.bytes, b"precious");

    // Commits of its own are refused first, and the branch stays when we insist.
    std::fs::write(again.path.join("c.txt"), "committed").unwrap();
    repo.try_git(&again.path, &["add", "c.txt"]);
    let committed = repo.try_git(&again.path, &["commit", "--quiet", "-m", "own"]);
    assert!(committed.status.success());
    let refused = workspace.remove_worktree(&gone(false)).unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    assert!(again.path.join("c.txt").exists());
    let removed = workspace.remove_worktree(&gone(true)).unwrap();
    assert_eq!(removed.kept_branch.as_deref(), Some("aurora/gone"));
    assert_eq!(repo.git(&["show", "aurora/gone:c.txt"]), "committed");
}

// WSP-1
#[test]
fn what_a_crash_left_is_cleaned_up_and_somebodys_work_is_not() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let commit = workspace.commit_of("HEAD").unwrap();
    let half_made = |slug: &str| {
        let path = workspace.worktrees_dir().join(slug);
        let branch = format!("aurora/{slug}");
        let record = Record::begin(&workspace.place, slug, &branch, &path, &commit).unwrap();
        workspace.make_worktree(&record, &commit, &path).unwrap();
        path
    };
    let crashed = half_made("crashed");
    std::fs::write(crashed.join("README.md"), "hel").unwrap();
    let touched = half_made("touched");
    std::fs::write(touched.join("notes.txt"), "somebody's").unwrap();
    let whole = workspace.create_worktree(&NewWorktree::named("whole")).unwrap();
    let vanished = workspace.create_worktree(&NewWorktree::named("vanished")).unwrap();
    std::fs::remove_dir_all(&vanished.path).unwrap();
    let at_work = Record::open(&workspace.place, "crashed").unwrap();
    let cleaned = workspace.cleanup_worktrees().unwrap();
    assert!(cleaned.iter().all(|one| one.slug != "crashed"), "somebody is at work on it");
    drop(at_work);
    let again = workspace.cleanup_worktrees().unwrap();
    let told: Vec<_> =
        cleaned.iter().chain(&again).map(|one| (one.slug.as_str(), one.removed)).collect();
    assert_eq!(
        told,
        [("touched", false), ("vanished", true), ("crashed", true), ("touched", false)]
    );
    assert!(!crashed.exists() && touched.join("notes.txt").exists() && whole.path.exists());
    let branches = repo.git(&["branch", "--list", "aurora/*", "--format=%(refname:short)"]);
    assert_eq!(branches, "aurora/touched\naurora/whole\n");
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 3);
}

// WSP-1
#[test]
fn a_record_that_names_another_folder_removes_nothing() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let precious = repo.home().join("precious");
    std::fs::create_dir_all(&precious).unwrap();
    let made = workspace.create_worktree(&NewWorktree::named("x")).unwrap();
    let record = repo.path(".git/aurora/worktrees/x.json");
    let text = std::fs::read_to_string(&record).unwrap();
    let text = text
        .replace(made.path.to_str().unwrap(), precious.to_str().unwrap())
        .replace("ready", "removing");
    std::fs::write(&record, text).unwrap();
    assert!(workspace.cleanup_worktrees().is_err());
    assert!(precious.exists());
}

// WSP-1
#[test]
fn submodules_and_sparse_checkouts_are_said_and_found_clean() {
    let repo = Repo::new();
    let other = Repo::new();
    let url = other.root();
    repo.git(&["submodule", "--quiet", "add", url.to_str().unwrap(), "sub"]);
    repo.commit("with a submodule");
    repo.git(&["sparse-checkout", "set", "src"]);
    let before = users_state(&repo);
    let made = repo.workspace().create_worktree(&NewWorktree::named("parts")).unwrap();
    assert_eq!(users_state(&repo), before);
    let said = made.notes.join("; ");
    assert!(said.contains("1 submodules are empty"), "{said}");
    assert!(said.contains("sparse checkout is not applied"), "{said}");
    let status = repo.try_git(&made.path, &["status", "--porcelain"]);
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    assert!(made.path.join("README.md").exists());
}

// WSP-1
#[test]
fn a_worktree_can_be_made_from_another_commit_and_of_another_hash() {
    let repo = Repo::new();
    repo.write("later.txt", "later");
    repo.commit("later");
    let new = NewWorktree {
        slug: "old".to_owned(),
        from: "HEAD~1".to_owned(),
        prefix: "mine/".to_owned(),
    };
    let made = repo.workspace().create_worktree(&new).unwrap();
    assert!(!made.path.join("later.txt").exists());
    assert_eq!(made.branch, "mine/old");
    let sha256 = Repo::empty();
    std::fs::remove_dir_all(sha256.path(".git")).unwrap();
    let made = sha256.try_git(&sha256.root(), &["init", "--quiet", "--object-format=sha256"]);
    assert!(made.status.success());
    sha256.write("a", "a");
    sha256.commit("first");
    let made = sha256.workspace().create_worktree(&NewWorktree::named("x")).unwrap();
    let status = sha256.try_git(&made.path, &["status", "--porcelain"]);
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    assert!(status.status.success());
}
