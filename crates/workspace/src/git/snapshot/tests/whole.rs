//! Everything that a worktree can hold, in one checkpoint.

use super::*;
use crate::error::Error;
use crate::request::{IgnoredFiles, Limits, Scanned};

#[test]
fn a_checkpoint_holds_what_plain_git_would_add() {
    // WSP-3
    let repo = Repo::new();
    repo.write("src/a.txt", "changed\n");
    repo.write("new/deep/er.txt", "new\n");
    repo.write(b"caf\xe9", "not utf-8");
    repo.write("a\nb", "newline in the name");
    repo.write("bin", [0, 1, 2, 255, 0]);
    repo.write("empty", "");
    repo.write("run.sh", "#!/bin/sh\n");
    set_mode(&repo.path("run.sh"), 0o755);
    symlink(&repo, "nowhere/at all", "link");
    symlink(&repo, "src", "folder-link");
    std::fs::remove_file(repo.path("README.md")).unwrap();
    repo.write(".gitignore", "*.log\n");
    repo.write("x.log", "ignored");
    let workspace = repo.workspace();
    let created = take(&workspace);
    assert_eq!(created.checkpoint.tree.0, plain_tree(&repo));
    assert!(is_skipped(&created.checkpoint, "x.log", SkipReason::Ignored));
    assert_eq!(created.checkpoint.files_changed_since_last, created.changes.len() as u64);
    assert_eq!(created.changes.len(), 11, "{:?}", created.changes);
    assert!(workspace.verify_chain().unwrap().is_empty());
}

#[test]
fn nothing_of_the_users_changes_and_gc_takes_nothing() {
    // WSP-1, WSP-3
    let repo = Repo::new();
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.write("staged.txt", "edited after staging\n");
    repo.write("src/a.txt", "stashed\n");
    repo.git(&["stash"]);
    repo.write("untracked", "u\n");
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.write("staged.txt", "edited after staging\n");
    let (before, said) = (users_state(&repo), status(&repo));
    let workspace = repo.workspace();
    let first = take(&workspace).checkpoint;
    repo.write("src/a.txt", "again\n");
    let second = take(&workspace).checkpoint;
    repo.write("src/a.txt", "one\ntwo\nthree\n");
    assert_eq!(users_state(&repo), before);
    assert_eq!(status(&repo), said);
    let staged = first.staged_tree.clone().expect("something is staged");
    repo.git(&["reset", "--hard", "--quiet"]);
    repo.git(&["stash", "drop", "--quiet"]);
    repo.git(&["checkout", "--quiet", "--orphan", "other"]);
    repo.git(&["rm", "-rfq", "--cached", "."]);
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "nothing left"]);
    repo.git(&["branch", "-D", "main"]);
    repo.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    let workspace = repo.workspace();
    assert_eq!(files(&workspace, &first)["src/a.txt"].1, b"one\ntwo\nthree\n");
    assert_eq!(files(&workspace, &first)["staged.txt"].1, b"edited after staging\n");
    assert_eq!(files(&workspace, &second)["src/a.txt"].1, b"again\n");
    let kept = workspace.read(&staged, &path("staged.txt")).unwrap().unwrap();
    assert_eq!(kept.bytes, b"staged\n");
    assert_eq!(workspace.checkpoints().unwrap(), [first, second]);
}

#[test]
fn an_unchanged_worktree_is_the_checkpoint_that_is_there() {
    // WSP-3
    let repo = Repo::new();
    let workspace = repo.workspace();
    let first = take(&workspace);
    let again = take(&workspace);
    assert!(again.unchanged && !first.unchanged);
    assert_eq!(again.checkpoint, first.checkpoint);
    assert!(again.changes.is_empty());
    let request =
        CheckpointRequest { on_unchanged: OnUnchanged::Record, ..CheckpointRequest::default() };
    let recorded = workspace.checkpoint(&request).unwrap();
    assert!(!recorded.unchanged);
    assert_eq!(recorded.checkpoint.tree, first.checkpoint.tree);
    assert_eq!(
        recorded.checkpoint.previous_checkpoint_id,
        Some(first.checkpoint.checkpoint_id.clone())
    );
    assert_eq!(workspace.find("#2").unwrap(), recorded.checkpoint);
    assert_eq!(workspace.find("latest").unwrap(), recorded.checkpoint);
}

#[test]
fn a_change_within_the_clocks_grain_is_seen() {
    // WSP-3
    let repo = Repo::new();
    let workspace = repo.workspace();
    for round in 0..30 {
        repo.write("src/a.txt", format!("{round:04}"));
        let created = take(&workspace);
        assert!(!created.unchanged, "round {round}");
        let content = workspace.read(&created.checkpoint.tree, &path("src/a.txt")).unwrap();
        assert_eq!(content.unwrap().bytes, format!("{round:04}").as_bytes());
    }
}

#[test]
fn a_repository_without_a_commit_or_an_identity_works() {
    // WSP-3
    let repo = Repo::empty();
    let workspace = repo.workspace();
    let nothing = take(&workspace).checkpoint;
    assert_eq!(files(&workspace, &nothing), BTreeMap::new());
    assert_eq!(nothing.head.branch.as_deref(), Some("main"));
    assert_eq!(nothing.head.commit, None);
    repo.write("a", "a");
    repo.git(&["add", "a"]);
    repo.write("b", "b");
    let created = take(&workspace).checkpoint;
    assert_eq!(created.tree.0, plain_tree(&repo));
    assert_eq!(created.previous_tree, nothing.tree);
    assert_eq!(created.staged_tree, None);
}

#[test]
fn empty_folders_special_files_and_locked_ones_are_noted() {
    // WSP-3
    let repo = Repo::new();
    std::fs::create_dir_all(repo.path("empty/inner")).unwrap();
    let made = Command::new("mkfifo").arg(repo.path("pipe")).status().unwrap();
    assert!(made.success());
    let created = take(&repo.workspace()).checkpoint;
    assert_eq!(created.empty_folders, [path("empty/inner")]);
    assert!(is_skipped(&created, "pipe", SkipReason::SpecialFile));
}

#[test]
fn what_became_too_large_keeps_its_old_content() {
    // WSP-3
    let repo = Repo::new();
    let workspace = repo.workspace();
    let limits = Limits { max_file_bytes: 100, ..Limits::default() };
    let request = CheckpointRequest { limits, ..CheckpointRequest::default() };
    workspace.checkpoint(&request).unwrap();
    repo.write("src/a.txt", vec![b'x'; 101]);
    repo.write("big", vec![b'x'; 102]);
    repo.write("fits", vec![b'x'; 100]);
    let created = workspace.checkpoint(&request).unwrap().checkpoint;
    let files = files(&workspace, &created);
    assert_eq!(files["src/a.txt"].1, b"one\ntwo\nthree\n");
    assert!(files.contains_key("fits") && !files.contains_key("big"));
    assert!(is_skipped(&created, "src/a.txt", SkipReason::TooLarge));
    assert!(is_skipped(&created, "big", SkipReason::TooLarge));
}

#[test]
fn caps_refuse_with_the_largest_folders_and_record_nothing() {
    // WSP-3
    let repo = Repo::new();
    repo.write("huge/data", vec![7; 5000]);
    repo.write("small/data", vec![8; 10]);
    let workspace = repo.workspace();
    for limits in [
        Limits { max_new_bytes: 4000, ..Limits::default() },
        Limits { max_files: 3, ..Limits::default() },
    ] {
        let request = CheckpointRequest { limits, ..CheckpointRequest::default() };
        let error = workspace.checkpoint(&request).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
        assert!(error.to_string().contains("`huge`"), "{error}");
        assert!(error.hint().is_some());
    }
    assert!(workspace.checkpoints().unwrap().is_empty());
    let packs = std::fs::read_dir(workspace.store.dir.join("objects/pack")).unwrap().count();
    assert_eq!(packs, 0);
}

#[test]
fn secrets_are_taken_when_asked_for_and_never_from_ignored_folders() {
    // WSP-3
    let repo = Repo::new();
    repo.write(".gitignore", ".env\n*.pem\nbuild/\n*.o\n");
    repo.write(".env", "TOKEN=1");
    repo.write("keys/a.pem", "key");
    repo.write("build/.env", "no");
    repo.write("x.o", "object");
    repo.write("large.pem", vec![b'x'; 70 << 10]);
    let workspace = repo.workspace();
    let plain = take(&workspace).checkpoint;
    assert!(is_skipped(&plain, ".env", SkipReason::Ignored));
    assert!(is_skipped(&plain, "build", SkipReason::Ignored));
    let request = CheckpointRequest {
        ignored: IgnoredFiles::SecretsLike,
        also: vec![path("x.o")],
        ..CheckpointRequest::default()
    };
    let secret = workspace.checkpoint(&request).unwrap().checkpoint;
    let taken: Vec<String> = files(&workspace, &secret).into_keys().collect();
    let expected = [".env", ".gitignore", "README.md", "keys/a.pem", "src/a.txt", "x.o"];
    assert_eq!(taken, expected);
    // What was captured once stays captured.
    repo.write(".env", "TOKEN=2");
    let later = take(&workspace).checkpoint;
    assert_eq!(files(&workspace, &later)[".env"].1, b"TOKEN=2");
}

#[test]
fn tracked_files_count_even_below_ignored_folders() {
    // WSP-3
    let repo = Repo::new();
    repo.write("build/kept.txt", "1");
    repo.write("build/sub/kept.txt", "1");
    repo.commit("build");
    repo.write(".gitignore", "build/\nsrc/\n");
    repo.write("build/other.txt", "no");
    repo.write("build/more/other.txt", "no");
    repo.write("build/kept.txt", "2");
    let workspace = repo.workspace();
    let created = take(&workspace).checkpoint;
    let files = files(&workspace, &created);
    assert_eq!(files["build/kept.txt"].1, b"2");
    assert!(files.contains_key("src/a.txt") && files.contains_key("build/sub/kept.txt"));
    assert!(!files.contains_key("build/other.txt"));
    assert!(is_skipped(&created, "build/other.txt", SkipReason::Ignored));
    assert!(is_skipped(&created, "build/more", SkipReason::Ignored));
    assert_eq!(created.tree.0, plain_tree(&repo));
}

#[test]
fn what_was_captured_stays_captured_until_it_is_deleted() {
    // WSP-3
    let repo = Repo::new();
    repo.write("notes/a.md", "1");
    repo.write("b.md", "1");
    let workspace = repo.workspace();
    take(&workspace);
    repo.write(".gitignore", "notes\n*.md\n");
    repo.write("notes/a.md", "2");
    repo.write("notes/new.md", "no");
    std::fs::remove_file(repo.path("b.md")).unwrap();
    let second = take(&workspace).checkpoint;
    let found = files(&workspace, &second);
    assert_eq!(found["notes/a.md"].1, b"2");
    assert!(!found.contains_key("notes/new.md") && !found.contains_key("b.md"));
    repo.write("b.md", "back");
    assert!(!files(&workspace, &take(&workspace).checkpoint).contains_key("b.md"));
}

#[test]
fn repositories_inside_are_recursed_without_their_git_data() {
    // WSP-3
    let repo = Repo::new();
    let other = Repo::new();
    other.write(".gitignore", "*.tmp\n");
    other.commit("ignore");
    let from = other.root();
    repo.git(&["submodule", "--quiet", "add", from.to_str().unwrap(), "sub"]);
    repo.git(&["submodule", "--quiet", "add", from.to_str().unwrap(), "gone"]);
    repo.git(&["commit", "--quiet", "-m", "submodules"]);
    repo.git(&["submodule", "--quiet", "deinit", "-f", "gone"]);
    repo.write(".gitignore", "*.log\n");
    let clone = repo.path("inner/repo");
    let said =
        repo.try_git(&repo.root(), &["clone", "--quiet", from.to_str().unwrap(), "inner/repo"]);
    assert!(said.status.success());
    repo.write("inner/repo/x.tmp", "ignored there");
    repo.write("inner/repo/x.log", "ignored outside only");
    std::fs::write(clone.join(".git/info/exclude"), "secret\n").unwrap();
    repo.write("inner/repo/secret", "ignored by info/exclude");
    repo.write("sub/new", "in the submodule");
    repo.write("fake/.git", "no repository");
    repo.write("fake/file", "f");
    repo.write("up/.GIT", "a file like any other");
    let workspace = repo.workspace();
    let created = take(&workspace).checkpoint;
    let files = files(&workspace, &created);
    for name in ["sub/new", "sub/src/a.txt", "inner/repo/x.log", "fake/file", "up/.GIT"] {
        assert!(files.contains_key(name), "{name}");
    }
    for name in ["inner/repo/x.tmp", "inner/repo/secret", "fake/.git", "sub/.git"] {
        assert!(!files.contains_key(name), "{name}");
    }
    assert_eq!(files["gone"].0, EntryMode::Submodule);
    let head = other.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(files["gone"].1, head.as_bytes());
    let nested: Vec<(String, bool)> = created
        .nested
        .iter()
        .map(|nested| {
            assert_eq!(nested.head.as_deref(), Some(head.as_str()));
            (nested.path.to_string(), nested.submodule)
        })
        .collect();
    assert_eq!(nested, [("inner/repo".to_owned(), false), ("sub".to_owned(), true)]);
    assert!(is_skipped(&created, "sub/.git", SkipReason::GitData));
    assert!(is_skipped(&created, "fake/.git", SkipReason::GitData));
}

#[test]
fn a_sparse_checkout_keeps_what_it_leaves_out() {
    // WSP-3
    for sparse_index in ["false", "true"] {
        let repo = Repo::new();
        repo.write("in/a", "a");
        repo.write("out/deep/b", "b");
        repo.write("out/c", "c");
        repo.commit("more");
        repo.git(&["config", "index.sparse", sparse_index]);
        repo.git(&["sparse-checkout", "set", "--cone", "in"]);
        assert!(!repo.path("out").exists());
        let workspace = repo.workspace();
        let created = take(&workspace).checkpoint;
        let head = repo.git(&["rev-parse", "HEAD^{tree}"]);
        assert_eq!(created.tree.0, head.trim(), "index.sparse={sparse_index}");
        repo.write("in/a", "2");
        repo.write("out/c", "present again");
        let found = files(&workspace, &take(&workspace).checkpoint);
        assert_eq!(found["in/a"].1, b"2");
        assert_eq!(found["out/c"].1, b"present again");
        assert_eq!(found["out/deep/b"].1, b"b");
    }
}

#[test]
fn raw_bytes_count_where_git_converts() {
    // WSP-3
    let repo = Repo::empty();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    repo.git(&["config", "filter.up.smudge", "cat"]);
    repo.write(".gitattributes", "*.up filter=up\n*.id ident\n");
    // Many files, so that the index would be believed if it could be.
    for number in 0..250 {
        repo.write(format!("crlf/{number}.txt"), "one\r\ntwo\r\n");
        repo.write(format!("same/{number}.txt"), format!("no line end {number}"));
        repo.write(format!("up/{number}.up"), format!("raw {number:03}"));
    }
    repo.write("x.id", "$Id$ x");
    repo.commit("converted");
    repo.git(&["-c", "core.checkStat=default", "status"]);
    // As if it had been checked out long ago, so that nothing is racy.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    for folder in ["crlf", "same", "up"] {
        for entry in std::fs::read_dir(repo.path(folder)).unwrap() {
            std::fs::File::open(entry.unwrap().path()).unwrap().set_modified(old).unwrap();
        }
    }
    repo.git(&["update-index", "--refresh"]);
    let workspace = repo.workspace();
    let created = take(&workspace).checkpoint;
    let found = files(&workspace, &created);
    for (name, (_, bytes)) in &found {
        assert_eq!(Some(bytes), repo.read(name).as_ref(), "{name}");
    }
    assert_eq!(found.len(), 752);
    assert_eq!(created.staged_tree, None);
}

#[test]
fn a_linked_worktree_has_a_chain_of_its_own() {
    // WSP-1
    let repo = Repo::new();
    let main = repo.workspace();
    take(&main);
    let linked = repo.state_dir().join("linked");
    repo.git(&["worktree", "add", "--quiet", "-b", "other", linked.to_str().unwrap()]);
    std::fs::write(linked.join("only here"), "x").unwrap();
    let mut settings = repo.settings();
    settings.from = linked;
    let other = GitWorkspace::open(settings).unwrap();
    let created = take(&other).checkpoint;
    assert!(files(&other, &created).contains_key("only here"));
    assert_eq!(created.head.branch.as_deref(), Some("other"));
    assert_eq!(created.previous_checkpoint_id, None);
    assert_eq!((main.checkpoints().unwrap().len(), other.checkpoints().unwrap().len()), (1, 1));
}

#[test]
fn entries_in_conflict_or_only_promised_are_what_the_disk_has() {
    // WSP-3
    let repo = Repo::new();
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("src/a.txt", "side\n");
    repo.commit("side");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("src/a.txt", "main\n");
    repo.commit("main");
    let merged = repo.try_git(&repo.root(), &["merge", "side"]);
    assert!(!merged.status.success());
    repo.write(".gitignore", "promised\n");
    repo.write("promised", "p");
    repo.git(&["add", "-f", "--intent-to-add", "promised"]);
    let workspace = repo.workspace();
    let found = files(&workspace, &take(&workspace).checkpoint);
    assert_eq!(found["promised"].1, b"p");
    assert_eq!(Some(&found["src/a.txt"].1), repo.read("src/a.txt").as_ref());
}

#[test]
fn a_listing_that_is_lost_or_broken_only_costs_time() {
    // WSP-3
    let repo = Repo::new();
    let workspace = repo.workspace();
    let first = take(&workspace);
    let index = workspace.place.feature_dir.join("index");
    let good = std::fs::read(&index).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x20;
        std::fs::write(&index, bad).unwrap();
        assert!(
            crate::git::stat_cache::StatCache::load(&index, workspace.place.hash)
                .unwrap()
                .is_none()
        );
    }
    assert!(take(&workspace).unchanged);
    std::fs::remove_file(&index).unwrap();
    std::fs::remove_file(workspace.place.feature_dir.join("state.json")).unwrap();
    let again = take(&workspace);
    assert!(again.unchanged);
    assert_eq!(again.checkpoint, first.checkpoint);
    assert!(matches!(again.scanned, Scanned::Everything { .. }));
}

#[test]
fn a_diff_for_people_is_written_beside_the_chain() {
    // WSP-3
    let repo = Repo::new();
    repo.write(".aurora/config.yaml", "mine\n");
    repo.write("src/a.txt", "one\n2\nthree\n");
    let workspace = repo.workspace();
    let created = take(&workspace).checkpoint;
    let text = std::fs::read(workspace.incremental_diff_path(&created.checkpoint_id)).unwrap();
    assert!(String::from_utf8_lossy(&text).contains("-two\n+2\n"));
    let again = take(&workspace);
    assert!(again.unchanged, "{:?}", again.changes);
    assert_eq!(created.kind, CheckpointKind::Asked);
}
