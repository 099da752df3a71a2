//! What is found at a real desk, as it is put to a person.

use std::path::Path;
use std::process::Command as Program;
use std::sync::Arc;

use aurora_gate::Policy;
use aurora_model::{Answer, Context, RepoPath, SkipReason, Skipped, Timestamp};
use aurora_workspace::desk::DeskChanges;
use aurora_workspace::git::worktree::NewWorktree;
use aurora_workspace::{GitWorkspace, Settings, Silent};

use super::{NAMED_LEFT_OUT, judge_changes, left_out, shown};

fn git(at: &Path, args: &[&str]) {
    let mut git = Program::new("git");
    git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]).args(args);
    let done = git.current_dir(at).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A desk of a repository with three files, and what is there after `work` was done at it.
fn after(work: impl FnOnce(&Path)) -> (tempfile::TempDir, DeskChanges) {
    let dir = tempfile::tempdir().unwrap();
    let repo = dir.path().join("repo");
    std::fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "--quiet"]);
    for name in ["gone.txt", "old.txt"] {
        std::fs::write(repo.join(name), "one\n").unwrap();
    }
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "--quiet", "-m", "a commit"]);
    let settings = Settings {
        from: repo,
        home: None,
        xdg_config_home: None,
        path: std::env::var_os("PATH").unwrap(),
        state_dir: dir.path().join("state"),
        progress: Arc::new(Silent),
        now: || Timestamp { unix_ms: 1_700_000_000_000 },
    };
    let checkout = GitWorkspace::open(settings).unwrap();
    let (_, home) = checkout.open_or_create_worktree(&NewWorktree::named("login")).unwrap();
    let desk = home.desk(1).unwrap();
    let base = desk.prepare().unwrap().base;
    work(desk.path());
    let found = desk.changes(&base).unwrap();
    (dir, found)
}

// EXE-6
#[test]
fn exe_6_a_person_is_told_which_files_came_changed_and_went() {
    let (_dir, found) = after(|desk| {
        std::fs::write(desk.join("new.txt"), "new\n").unwrap();
        std::fs::write(desk.join("old.txt"), "two\n").unwrap();
        std::fs::remove_file(desk.join("gone.txt")).unwrap();
    });
    let told: Vec<String> = found.changes.iter().map(shown).collect();
    assert_eq!(told, ["- gone.txt", "+ new.txt", "~ old.txt"]);
    assert_eq!(left_out(&found), None);
}

// EXE-6
#[test]
fn exe_6_what_cannot_be_taken_over_is_asked_about_and_named() {
    let (_dir, found) = after(|desk| {
        std::fs::write(desk.join("new.txt"), "new\n").unwrap();
        let pipe = desk.join("pipe");
        assert!(Program::new("mkfifo").arg(pipe).status().unwrap().success());
    });
    let reasons = judge_changes(&found, &Policy::builtin(), &Context::default());
    let reason = reasons.iter().find(|one| one.rule == "workspace.left_out").unwrap();
    assert_eq!(reason.answer, Answer::Ask);
    assert_eq!(
        reason.message,
        "cannot be taken over and stays behind: pipe (a pipe, socket or device)"
    );
    assert_ne!(reasons[0].answer, Answer::Allow);
}

// EXE-6
#[test]
fn exe_6_of_much_that_cannot_be_taken_over_the_first_are_named() {
    let (_dir, mut found) = after(|_| {});
    let big = |number: usize| Skipped {
        path: RepoPath::new(format!("big{number}")).unwrap(),
        reason: SkipReason::TooLarge,
        folder: false,
        bytes: None,
    };
    found.left_out = (0..NAMED_LEFT_OUT + 3).map(big).collect();
    let message = left_out(&found).unwrap().message;
    assert!(message.contains("big4 (too large), 3 more"), "{message}");
    assert!(!message.contains("big5"), "{message}");
}
