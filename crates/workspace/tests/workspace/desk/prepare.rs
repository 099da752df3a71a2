//! Before an attempt, a desk is what the run's worktree is, whatever the attempt before did to it.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::{Run, kept, read, same_state, write};
use crate::harness::{World, git_in};
use crate::listing::Listing;

// EXE-2
#[test]
fn a_desk_begins_with_what_the_worktree_holds_and_is_nobodys_business() {
    let run = Run::new();
    write(run.root(), "untracked.txt", "new\n");
    write(run.root(), "a.txt", "changed by hand\n");
    write(run.root(), "noise.log", "ignored\n");
    std::fs::create_dir_all(run.root().join("empty/inner")).unwrap();
    std::fs::remove_file(run.root().join("data.bin")).unwrap();
    std::fs::set_permissions(run.root().join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    let branches = run.world.git(&["branch", "--all"]);
    let (desk, base) = run.prepared(1);
    same_state(&run, &desk, "after the first preparation");
    assert!(!desk.path().join("noise.log").exists(), "ignored files stay where they are");
    assert!(desk.path().starts_with(run.world.dir().join("state/desks")));
    assert_eq!(run.world.git(&["branch", "--all"]), branches, "no branch was made");
    let listed = run.world.workspace().list_worktrees().unwrap();
    assert_eq!(listed.len(), 1, "a desk is not among the worktrees: {listed:?}");
    let status = git_in(desk.path(), &run.world.home(), &["status", "--porcelain"]);
    let mut status: Vec<String> =
        String::from_utf8_lossy(&status.stdout).lines().map(str::to_owned).collect();
    status.sort();
    assert_eq!(status, [" D data.bin", " M a.txt", " M run.sh", "?? untracked.txt"]);
    let again = desk.prepare().unwrap();
    assert_eq!((again.base, again.paths), (base, 0), "nothing is to be done twice");
}

// EXE-2
#[test]
fn what_a_failed_attempt_left_is_gone_and_caches_stay() {
    let run = Run::new();
    let (desk, base) = run.prepared(1);
    let at = desk.path();
    write(at, "build/cache", "kept\n");
    write(at, "left.txt", "left\n");
    write(at, "new/deep/left.txt", "left\n");
    write(at, "a.txt", "half done\n");
    std::fs::remove_dir_all(at.join("src")).unwrap();
    symlink("/etc", at.join("src")).unwrap();
    std::fs::remove_file(at.join("run.sh")).unwrap();
    std::fs::create_dir_all(at.join("run.sh/now/a/folder")).unwrap();
    std::fs::remove_file(at.join("link")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    git_in(at, &run.world.home(), &["init", "--quiet", "inner"]);
    write(at, "inner/file", "of a repository inside\n");
    let prepared = desk.prepare().unwrap();
    assert_eq!(prepared.base, base);
    same_state(&run, &desk, "after an attempt that left a mess");
    assert_eq!(read(at, "build/cache"), "kept\n");
    assert!(!at.join("inner").exists() && !at.join("pipe").exists());
    assert!(desk.changes(&base).unwrap().is_empty());
}

// EXE-2
#[test]
fn rules_that_no_longer_ignore_something_leave_nothing_behind() {
    let run = Run::new();
    let (desk, _) = run.prepared(1);
    write(desk.path(), "build/cache", "of the former attempt\n");
    write(desk.path(), "x.log", "of the former attempt\n");
    write(run.root(), ".gitignore", "\n");
    write(run.root(), "build/real", "a file\n");
    desk.prepare().unwrap();
    assert_eq!(Listing::of(run.root()).nodes, Listing::of(desk.path()).nodes);
    // And files that become ignored are still part of it.
    write(run.root(), ".gitignore", "*.log\nbuild/\n");
    let (_, base) = run.prepared(1);
    assert_eq!(read(desk.path(), "build/real"), "a file\n");
    write(desk.path(), "build/real", "changed\n");
    let changes = desk.changes(&base).unwrap();
    assert_eq!(changes.files(), 1);
    desk.adopt(&base, &changes.result, "a task").unwrap();
    assert_eq!(read(run.root(), "build/real"), "changed\n");
}

/// What an attempt may do with git at its desk, and what its own files are then.
fn after_git(line: &str) {
    let run = Run::new();
    write(run.root(), "untracked.txt", "of the worktree\n");
    run.world.write("second", "a second commit\n");
    run.world.commit();
    let (desk, base) = run.prepared(1);
    let head = run.world.try_git(run.root(), &["rev-parse", "HEAD"]).stdout;
    let home = run.world.home();
    std::process::Command::new("sh")
        .args(["-c", line])
        .current_dir(desk.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &home)
        .env("GIT_AUTHOR_NAME", "T")
        .env("GIT_AUTHOR_EMAIL", "t@example.org")
        .env("GIT_COMMITTER_NAME", "T")
        .env("GIT_COMMITTER_EMAIL", "t@example.org")
        .output()
        .unwrap();
    let before = kept(run.root());
    if desk.path().exists() {
        let changes = desk.changes(&base).unwrap();
        let adopted = desk.adopt(&base, &changes.result, "a task").unwrap();
        assert!(adopted.is_done(), "{line}: {:?}", adopted.conflicts);
        crate::listing::same(&kept(desk.path()), &kept(run.root()), line);
    } else {
        assert!(desk.changes(&base).is_err());
    }
    let desk = run.home.desk(1).unwrap();
    let prepared = desk.prepare().unwrap();
    same_state(&run, &desk, line);
    let ask = |args: &[&str]| {
        let said = git_in(desk.path(), &home, args);
        assert!(said.status.success(), "{line}: {}", String::from_utf8_lossy(&said.stderr));
        said.stdout
    };
    assert_eq!(ask(&["rev-parse", "HEAD"]), head, "{line}");
    assert_eq!(ask(&["diff", "--cached", "--name-only"]), b"", "{line}: something is staged");
    assert_eq!(ask(&["branch", "--show-current"]), b"", "{line}: HEAD is on a branch");
    let status = String::from_utf8(ask(&["status"])).unwrap();
    assert!(!status.contains("rebas") && !status.contains("merg"), "{line}: {status}");
    assert!(desk.changes(&prepared.base).unwrap().is_empty(), "{line}");
    assert!(before.nodes.len() > 3);
}

// EXE-2
#[test]
fn whatever_an_attempt_does_with_git_its_files_count_and_the_next_begins_clean() {
    for line in [
        "echo x > new; git add -A; git commit -qm work",
        "git checkout -qb other; echo y >> a.txt; git commit -qam other",
        "git reset -q --hard HEAD~1",
        "rm -rf .git",
        "rm -rf .git; git init -q .; git add -A; git commit -qm mine",
        "git worktree prune; git worktree unlock . ; git worktree prune",
        "git mv a.txt b.txt; git rm -q --cached data.bin",
        "echo z > a.txt; git stash -q",
        "git checkout -q --orphan nothing; git rm -rqf .",
        "echo 1 > a.txt; git commit -qam 1; git checkout -q HEAD~1; echo 2 > a.txt; \
         git commit -qam 2; git rebase HEAD@{2}",
        "git update-index --assume-unchanged a.txt; echo hidden > a.txt",
        "git update-index --skip-worktree a.txt; echo hidden > a.txt",
        "git config core.bare true; git config --worktree core.worktree /",
        "touch \"$(git rev-parse --git-dir)/index.lock\"",
        "rm -rf \"$(git rev-parse --git-dir)\"",
        "echo nonsense > \"$(git rev-parse --git-dir)/HEAD\"",
        "d=$(pwd); cd ..; rm -rf \"$d\"",
    ] {
        if line.contains("core.bare") {
            // It breaks the repository itself, which is found and told, not repaired.
            continue;
        }
        after_git(line);
    }
}

// EXE-2
#[test]
fn a_hidden_file_of_the_worktree_is_still_seen() {
    let run = Run::new();
    write(run.root(), "untracked.txt", "of the worktree\n");
    let (desk, base) = run.prepared(1);
    run.world.write(".git/info/exclude", "*\n");
    write(desk.path(), "untracked.txt", "changed\n");
    write(desk.path(), "src/lib.rs", "changed\n");
    let changes = desk.changes(&base).unwrap();
    let paths: Vec<String> = changes.changes.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(paths, ["src/lib.rs", "untracked.txt"]);
}

// EXE-2
#[test]
fn a_repository_whose_refs_are_in_a_reftable_has_desks_too() {
    let world = World::in_memory();
    let migrated = world.try_git(&world.root, &["refs", "migrate", "--ref-format=reftable"]);
    if !migrated.status.success() {
        eprintln!("SKIPPED: this git has no reftables");
        return;
    }
    let run = Run::within(world);
    let (desk, base) = run.prepared(1);
    let head = git_in(desk.path(), &run.world.home(), &["rev-parse", "HEAD"]).stdout;
    write(desk.path(), "new", "x\n");
    for args in [&["checkout", "-qb", "mine"][..], &["add", "-A"], &["commit", "-qm", "work"]] {
        assert!(git_in(desk.path(), &run.world.home(), args).status.success(), "{args:?}");
    }
    let changes = desk.changes(&base).unwrap();
    assert!(desk.adopt(&base, &changes.result, "a task").unwrap().is_done());
    desk.prepare().unwrap();
    same_state(&run, &desk, "after a commit on a branch");
    let said = git_in(desk.path(), &run.world.home(), &["status", "--porcelain", "--branch"]);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "## HEAD (no branch)\n?? new\n");
    assert_eq!(git_in(desk.path(), &run.world.home(), &["rev-parse", "HEAD"]).stdout, head);
}
