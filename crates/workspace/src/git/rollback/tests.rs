//! Rollbacks of real repositories.

mod absent;
mod permissions;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::Path;

use aurora_model::{Constraint, Severity, Violation};

use super::*;
use crate::fixture::{Repo, path};
use crate::request::{Edits, Limits, Scope};
use crate::workspace::Workspace as _;

type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

/// Everything below a folder that is not git's, with its kind and bytes.
fn files(root: &Path) -> Files {
    fn walk(at: &Path, name: &[u8], into: &mut Files) {
        for entry in std::fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            let mut path = name.to_vec();
            path.extend_from_slice(entry.file_name().as_bytes());
            let about = entry.path().symlink_metadata().unwrap();
            if path == b".git" {
            } else if about.is_dir() {
                path.push(b'/');
                walk(&entry.path(), &path, into);
            } else if about.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap();
                into.insert(path, (0o120_000, target.as_os_str().as_bytes().to_vec()));
            } else {
                let bytes = std::fs::read(entry.path()).unwrap();
                into.insert(path, (about.mode() & 0o100, bytes));
            }
        }
    }
    let mut all = Files::new();
    walk(root, b"", &mut all);
    all
}

fn checkpoint(workspace: &GitWorkspace, message: &str) -> Checkpoint {
    let request = CheckpointRequest { message: message.to_owned(), ..CheckpointRequest::default() };
    workspace.checkpoint(&request).unwrap().checkpoint
}

fn to(checkpoint: &Checkpoint) -> RollbackRequest {
    RollbackRequest::to(checkpoint.checkpoint_id.clone())
}

fn outcomes(report: &RollbackReport) -> BTreeMap<String, Outcome> {
    report.paths.iter().map(|ended| (ended.path.to_string(), ended.outcome.clone())).collect()
}

fn is_kept(outcome: &Outcome, because: &str) -> bool {
    matches!(outcome, Outcome::Kept { because: said } if said.contains(because))
}

/// What a rollback recorded is what a look at everything would have.
fn assert_like_a_full_scan(workspace: &GitWorkspace, restored: &Checkpoint) {
    let scan = crate::request::Scan::Full;
    let on_unchanged = OnUnchanged::Record;
    let request = CheckpointRequest { scan, on_unchanged, ..CheckpointRequest::default() };
    let full = workspace.checkpoint(&request).unwrap().checkpoint;
    assert_eq!(full.tree, restored.tree);
    assert_eq!(full.empty_folders, restored.empty_folders);
    assert_eq!(full.skipped, restored.skipped);
    assert_eq!(full.permissions, restored.permissions);
}

/// What the user's own git knows.
fn git_state(repo: &Repo) -> (Vec<u8>, String, String, String) {
    let index = std::fs::read(repo.path(".git/index")).unwrap_or_default();
    let head = std::fs::read_to_string(repo.path(".git/HEAD")).unwrap();
    let refs = repo.git(&["for-each-ref", "--exclude=refs/aurora"]);
    (index, head, refs, std::fs::read_to_string(repo.path(".git/config")).unwrap())
}

/// A worktree with all kinds of files, and then with all of them changed.
fn before_and_after(repo: &Repo) -> (Files, Files, Checkpoint) {
    repo.write("run.sh", "#!/bin/sh\n");
    repo.write(b"caf\xe9\nx", "odd");
    repo.write("is-file", "file");
    repo.write("is-folder/x", "x");
    repo.write("bin", b"\0\x01\x02");
    repo.write("gone/deep/f", "f");
    symlink("README.md", repo.path("is-link")).unwrap();
    std::fs::create_dir_all(repo.path("hollow")).unwrap();
    let before = files(&repo.root());
    let made = checkpoint(&repo.workspace(), "before");
    std::fs::set_permissions(repo.path("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    repo.write(b"caf\xe9\nx", "odder");
    std::fs::remove_file(repo.path("is-file")).unwrap();
    repo.write("is-file/y", "y");
    std::fs::remove_dir_all(repo.path("is-folder")).unwrap();
    symlink("/etc/passwd", repo.path("is-folder")).unwrap();
    std::fs::remove_file(repo.path("is-link")).unwrap();
    repo.write("is-link", "no link");
    std::fs::remove_dir_all(repo.path("gone")).unwrap();
    std::fs::remove_dir(repo.path("hollow")).unwrap();
    repo.write("new/deep/er", "new");
    repo.write("bin", b"\0\x03");
    let after = files(&repo.root());
    (before, after, made)
}

/// WSP-4
#[test]
fn a_rollback_restores_exactly_and_undoing_it_too() {
    let repo = Repo::new();
    let (before, after, made) = before_and_after(&repo);
    let state = git_state(&repo);
    let workspace = repo.workspace();
    let report = workspace.rollback(&to(&made)).unwrap();
    assert_eq!(files(&repo.root()), before);
    assert!(repo.path("hollow").is_dir() && !repo.path("new").exists());
    assert_eq!(outcomes(&report)["new/deep/er"], Outcome::Deleted);
    assert_eq!(outcomes(&report)["run.sh"], Outcome::ModeChanged);
    let restored = workspace.find(&report.restored.0).unwrap();
    assert_eq!((restored.kind, &restored.tree), (CheckpointKind::Restored, &made.tree));
    assert_eq!(restored.previous_checkpoint_id.as_ref(), Some(&report.safety));
    assert_like_a_full_scan(&workspace, &restored);
    let undone = workspace.undo(&UndoRequest::default()).unwrap();
    assert_like_a_full_scan(&workspace, &workspace.find(&undone.restored.0).unwrap());
    assert_eq!((files(&repo.root()), undone.to), (after, report.safety));
    workspace.undo(&UndoRequest::default()).unwrap();
    assert_eq!(files(&repo.root()), before, "undoing the undoing is doing it again");
    assert_eq!(git_state(&repo), state);
}

/// WSP-4
#[test]
fn a_preview_says_what_will_happen_and_does_nothing() {
    let repo = Repo::new();
    let (_, after, made) = before_and_after(&repo);
    let workspace = repo.workspace();
    let plan = workspace.plan_rollback(&to(&made)).unwrap();
    assert_eq!(files(&repo.root()), after);
    assert_eq!(workspace.checkpoints().unwrap().len(), 1);
    let shown: BTreeMap<String, StepAction> =
        plan.steps.iter().map(|step| (step.path.to_string(), step.action)).collect();
    assert_eq!(shown["new/deep/er"], StepAction::Delete);
    assert_eq!(shown["gone/deep/f"], StepAction::Create);
    assert_eq!(shown["bin"], StepAction::Overwrite);
    assert_eq!(shown["run.sh"], StepAction::ChangeMode);
    assert!(plan.steps.iter().all(|step| step.edited_since_last));
    let request = RollbackRequest { seen: Some(plan.now), ..to(&made) };
    repo.write("late", "one more");
    let error = workspace.rollback(&request).unwrap_err();
    assert!(error.to_string().contains("changed since the preview"), "{error}");
    assert!(repo.path("late").exists());
    std::fs::remove_file(repo.path("late")).unwrap();
    workspace.rollback(&request).unwrap();
}

/// WSP-4
#[test]
fn what_an_old_ignore_file_ignores_is_not_deleted() {
    let repo = Repo::new();
    repo.write(".gitignore", "build/\n*.log\n");
    repo.write("build/x", "precious");
    repo.write("a.log", "precious");
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "ignoring");
    repo.write(".gitignore", "");
    repo.write("b.txt", "new");
    checkpoint(&workspace, "not ignoring");
    let report = workspace.rollback(&to(&made)).unwrap();
    assert_eq!(repo.read(".gitignore").unwrap(), b"build/\n*.log\n");
    assert_eq!(repo.read("build/x").unwrap(), b"precious");
    assert_eq!(repo.read("a.log").unwrap(), b"precious");
    assert!(!repo.path("b.txt").exists());
    assert_like_a_full_scan(&workspace, &workspace.find(&report.restored.0).unwrap());
    assert!(is_kept(&outcomes(&report)["build/x"], "ignored at the checkpoint"));
}

/// WSP-4
#[test]
fn a_file_that_is_ignored_by_now_is_not_lost_when_it_is_overwritten() {
    let repo = Repo::new();
    repo.write("notes", "then");
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "with notes");
    std::fs::remove_file(repo.path("notes")).unwrap();
    repo.write(".gitignore", "notes\n");
    checkpoint(&workspace, "without notes");
    repo.write("notes", "now, and ignored");
    let report = workspace.rollback(&to(&made)).unwrap();
    assert_eq!(repo.read("notes").unwrap(), b"then");
    let safety = workspace.find(&report.safety.0).unwrap();
    let saved = workspace.read(&safety.tree, &path("notes")).unwrap().unwrap();
    assert_eq!(saved.bytes, b"now, and ignored");
    workspace.undo(&UndoRequest::default()).unwrap();
    assert_eq!(repo.read("notes").unwrap(), b"now, and ignored");
}

/// WSP-4
#[test]
fn what_is_too_large_for_the_safety_checkpoint_is_not_touched() {
    let repo = Repo::new();
    repo.write("big", "small");
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "small");
    repo.write("big", "x".repeat(5000));
    repo.write("README.md", "changed");
    let limits = Limits { max_file_bytes: 1000, ..Limits::default() };
    let report = workspace.rollback(&RollbackRequest { limits, ..to(&made) }).unwrap();
    assert!(is_kept(&outcomes(&report)["big"], "too large"), "{report:?}");
    assert_eq!(repo.read("big").unwrap().len(), 5000);
    assert_eq!(repo.read("README.md").unwrap(), b"hello\n");
}

/// WSP-4
#[test]
fn a_moved_head_is_refused_until_accepted() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "on main");
    repo.write("src/a.txt", "committed");
    repo.commit("second");
    let error = workspace.rollback(&to(&made)).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }) && error.to_string().contains("main at"));
    assert!(error.hint().unwrap().contains("--allow-moved-head"));
    assert!(workspace.plan_rollback(&to(&made)).unwrap().moved_head.is_some());
    assert_eq!(workspace.checkpoints().unwrap().len(), 1, "a refusal leaves nothing behind");
    let request = RollbackRequest { moved_head: MovedHead::Accept, ..to(&made) };
    workspace.rollback(&request).unwrap();
    assert_eq!(repo.read("src/a.txt").unwrap(), b"one\ntwo\nthree\n");
    repo.git(&["checkout", "--quiet", "-B", "other"]);
    assert!(workspace.undo(&UndoRequest::default()).is_err(), "undoing looks at HEAD too");
}

/// WSP-4
#[test]
fn the_first_commit_moves_head() {
    let repo = Repo::empty();
    repo.write("a", "a");
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "without a commit");
    repo.commit("first");
    let error = workspace.rollback(&to(&made)).unwrap_err();
    assert!(error.to_string().contains("HEAD was main, without a commit at"), "{error}");
}

/// WSP-4
#[test]
fn only_the_named_paths_go_back() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "first");
    repo.write("README.md", "changed");
    repo.write("src/a.txt", "changed");
    repo.write("src/b.txt", "new");
    let scope = |paths: &[&str]| Scope::Paths(paths.iter().map(|text| path(text)).collect());
    let wrong = RollbackRequest { scope: scope(&["src", "typo", "README.md/x"]), ..to(&made) };
    let error = workspace.rollback(&wrong).unwrap_err();
    assert!(error.to_string().contains("typo, README.md/x"), "{error}");
    let right = RollbackRequest { scope: scope(&["src"]), ..to(&made) };
    let report = workspace.rollback(&right).unwrap();
    assert_eq!(outcomes(&report).into_keys().collect::<Vec<_>>(), ["src/a.txt", "src/b.txt"]);
    assert_eq!(repo.read("README.md").unwrap(), b"changed");
    assert!(!repo.path("src/b.txt").exists());
}

/// WSP-4
#[test]
fn a_folder_that_was_empty_before_a_file_came_back_into_it_is_so_again_after_undoing() {
    let repo = Repo::new();
    for name in ["d/x", "e/f/x"] {
        repo.write(name, "x");
        let workspace = repo.workspace();
        let made = checkpoint(&workspace, "with x");
        let folder = name.split_at(1).0;
        std::fs::remove_dir_all(repo.path(folder)).unwrap();
        std::fs::create_dir(repo.path(folder)).unwrap();
        let scope = Scope::Paths(vec![path(name)]);
        let request = RollbackRequest { scope, ..to(&made) };
        let report = workspace.rollback(&request).unwrap();
        assert_eq!(repo.read(name).unwrap(), b"x");
        assert_like_a_full_scan(&workspace, &workspace.find(&report.restored.0).unwrap());
        workspace.undo(&UndoRequest::default()).unwrap();
        assert!(repo.path(folder).is_dir() && !repo.path(name).exists());
    }
}

/// WSP-4: the smart one.
#[test]
fn only_what_violates_something_goes_back() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "first");
    repo.write("README.md", "changed");
    repo.write("bad", "new");
    let violation = |file: Option<&str>| Violation {
        file: file.map(path),
        constraint: Constraint::NewExecutable,
        severity: Severity::Error,
        message: String::new(),
        suggestion: String::new(),
    };
    let scope = Scope::Violations(vec![violation(None)]);
    assert!(workspace.rollback(&RollbackRequest { scope, ..to(&made) }).is_err());
    let scope = Scope::Violations(vec![violation(None), violation(Some("bad"))]);
    workspace.rollback(&RollbackRequest { scope, ..to(&made) }).unwrap();
    assert!(!repo.path("bad").exists());
    assert_eq!(repo.read("README.md").unwrap(), b"changed");
}

/// WSP-4
#[test]
fn edits_since_the_last_checkpoint_can_stay() {
    let repo = Repo::new();
    let text = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n{last}\n");
    repo.write("both", text("1", "7"));
    repo.write("clash", "base\n");
    repo.write("mine", "mine\n");
    repo.write("dropped", "here\n");
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "first");
    repo.write("both", text("1", "agent"));
    repo.write("clash", "agent\n");
    repo.write("agent", "agent\n");
    repo.write("dropped", "agent\n");
    checkpoint(&workspace, "the agent was here");
    repo.write("both", text("me", "agent"));
    repo.write("clash", "me\n");
    repo.write("mine", "edited\n");
    repo.write("fresh", "by me\n");
    std::fs::remove_file(repo.path("dropped")).unwrap();
    let request = RollbackRequest { edits: Edits::Merge, ..to(&made) };
    let plan = workspace.plan_rollback(&request).unwrap();
    let action = |name: &str| plan.steps.iter().find(|s| s.path == path(name)).unwrap().action;
    assert_eq!(action("both"), StepAction::Merge);
    assert_eq!(action("clash"), StepAction::Conflict);
    let report = workspace.rollback(&request).unwrap();
    let ended = outcomes(&report);
    assert_eq!(repo.read("both").unwrap(), text("me", "7").as_bytes());
    assert_eq!(ended["both"], Outcome::Merged);
    assert_eq!(repo.read("clash").unwrap(), b"me\n");
    let Outcome::Conflict { marked } = &ended["clash"] else { panic!("{ended:?}") };
    assert!(marked.contains("<<<<<<< now\nme\n") && marked.contains("base\n>>>>>>> checkpoint"));
    let saved = workspace.place().feature_dir.join("conflicts").join(&report.safety.0);
    assert_eq!(std::fs::read_to_string(saved.join("clash")).unwrap(), *marked);
    assert!(matches!(ended["dropped"], Outcome::Conflict { .. }));
    assert!(!repo.path("agent").exists(), "what no one edited goes back");
    for kept in ["mine", "fresh"] {
        assert!(is_kept(&ended[kept], "edited since"), "{ended:?}");
    }
    assert_eq!(repo.read("fresh").unwrap(), b"by me\n");
    workspace.undo(&UndoRequest::default()).unwrap();
    assert_eq!(repo.read("both").unwrap(), text("me", "agent").as_bytes());
    assert_eq!(repo.read("agent").unwrap(), b"agent\n");
}

/// WSP-4
#[test]
fn work_done_after_a_rollback_survives_its_undoing() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "first");
    repo.write("src/a.txt", "agent");
    let report = workspace.rollback(&to(&made)).unwrap();
    assert_like_a_full_scan(&workspace, &workspace.find(&report.restored.0).unwrap());
    repo.write("README.md", "edited after");
    repo.write("new", "made after");
    checkpoint(&workspace, "and recorded");
    let report = workspace.undo(&UndoRequest::default()).unwrap();
    assert_eq!(outcomes(&report).into_keys().collect::<Vec<_>>(), ["src/a.txt"]);
    assert_eq!(repo.read("src/a.txt").unwrap(), b"agent");
    assert_eq!(repo.read("README.md").unwrap(), b"edited after");
    assert_eq!(repo.read("new").unwrap(), b"made after");
}

/// WSP-4
#[test]
fn nothing_to_do_and_nothing_to_undo_are_said() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let made = checkpoint(&workspace, "first");
    let error = workspace.undo(&UndoRequest::default()).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    let report = workspace.rollback(&to(&made)).unwrap();
    assert_eq!((&report.restored, report.paths.len()), (&report.safety, 0));
    assert_eq!(workspace.checkpoints().unwrap().len(), 1);
    let unknown = RollbackRequest::to(CheckpointId("ckpt-099-00000000".to_owned()));
    assert!(matches!(workspace.rollback(&unknown).unwrap_err(), Error::NotFound { .. }));
}

/// WSP-4
#[test]
fn after_a_crash_anywhere_the_next_command_completes_and_can_undo() {
    for actions in (0..).step_by(7) {
        let repo = Repo::new();
        let (before, after, made) = before_and_after(&repo);
        let workspace = repo.workspace();
        let fuse = Fuse::lasting(actions);
        fuse.light();
        let crashed = workspace.rollback(&to(&made));
        Fuse::default().light();
        let healed = workspace.heal().unwrap();
        if !healed.is_empty() {
            assert!(healed[0].completed && healed[0].left_alone.is_empty(), "{healed:?}");
        }
        let began = !healed.is_empty() || crashed.is_ok();
        assert_eq!(files(&repo.root()), if began { before } else { after.clone() }, "{actions}");
        let kinds: Vec<_> = workspace.checkpoints().unwrap().iter().map(|c| c.kind).collect();
        let asked = CheckpointKind::Asked;
        if began {
            assert_eq!(kinds, [asked, CheckpointKind::Safety, CheckpointKind::Restored]);
            workspace.undo(&UndoRequest::default()).unwrap();
            assert_eq!(files(&repo.root()), after, "{actions}");
        } else {
            assert_eq!(kinds, [asked, CheckpointKind::Safety]);
        }
        if !fuse.is_out() {
            break;
        }
    }
}

/// WSP-4
#[test]
fn a_journal_that_cannot_be_read_is_said_and_touches_nothing() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    let first = checkpoint(&workspace, "first");
    repo.write("later", "later");
    let safety = workspace.rollback(&to(&first)).unwrap().safety;
    let before = files(&repo.root());
    std::fs::write(workspace.place().feature_dir.join("journal"), "{}\n").unwrap();
    let healed = workspace.heal().unwrap();
    assert!(!healed[0].completed && healed[0].what.contains("journal.corrupt"), "{healed:?}");
    let said = format!("nothing was touched; the safety checkpoint is {safety}");
    assert!(healed[0].what.contains(&said), "{healed:?}");
    assert_eq!(files(&repo.root()), before);
    assert!(workspace.heal().unwrap().is_empty());
    repo.write("later", "again");
    let latest = checkpoint(&workspace, "asked for, and as good as a safety checkpoint");
    std::fs::write(workspace.place().feature_dir.join("journal"), "{}\n").unwrap();
    let said = format!("the safety checkpoint is {};", latest.checkpoint_id);
    assert!(workspace.heal().unwrap()[0].what.contains(&said));
}

/// WSP-4: what a checkpoint had to leave out is not replaced by what an earlier one had.
#[test]
fn a_file_that_was_too_large_then_is_not_replaced_by_its_older_content() {
    let repo = Repo::new();
    let workspace = repo.workspace();
    repo.write("big", "small\n");
    workspace.checkpoint(&CheckpointRequest::default()).unwrap();
    repo.write("big", vec![b'x'; 4096]);
    repo.write("other", "new\n");
    let limits = Limits { max_file_bytes: 1024, ..Limits::default() };
    let request = CheckpointRequest { limits, ..CheckpointRequest::default() };
    let second = workspace.checkpoint(&request).unwrap().checkpoint;
    workspace.rollback(&RollbackRequest::to(second.checkpoint_id)).unwrap();
    assert_eq!(repo.read("big").unwrap().len(), 4096);
}
