//! What one checkpoint promises.

use aurora_model::{
    ChangeKind, CheckpointKind, Constraint, EntryMode, RepoPath, Severity, SkipReason, Violation,
};

use super::{Subject, file, path, skipped, too_large};
use crate::request::{CheckpointRequest, Content, IgnoredFiles, Limits};

pub(super) fn a_checkpoint_holds_every_byte_mode_and_link(subject: &dyn Subject) {
    subject.put("plain.txt", "one\r\ntwo\n\n  three");
    subject.put("deep/er/run.sh", "#!/bin/sh\n");
    subject.set_executable(&path("deep/er/run.sh"), true);
    subject.symlink(&path("deep/link"), b"../plain.txt");
    subject.symlink(&path("dangling"), b"/no/where");
    let made = subject.record();
    for (path, content) in subject.listing() {
        let held = subject.workspace().read(&made.tree, &path).expect("a tree");
        assert_eq!(held, Some(content), "{path}");
    }
    let mode = |at| subject.held(&made, at).map(|content| content.mode);
    assert_eq!(mode("deep/er/run.sh"), Some(EntryMode::Executable));
    assert_eq!(mode("dangling"), Some(EntryMode::Symlink));
}

pub(super) fn names_of_all_kinds_are_held(subject: &dyn Subject) {
    let names: [&[u8]; 12] = [
        b"with space",
        b" lead and trail ",
        b"new\nline",
        b"quo\"te",
        b"back\\slash",
        b"-dash",
        b".hidden/.file",
        "gr\u{fc}n/\u{1f600}".as_bytes(),
        b"latin\xe9",
        b"\x01\x7f",
        b"a*b?[c]",
        b"a.b/a-b/a",
    ];
    let names = names.map(|name| RepoPath::new(name).expect("a path"));
    for name in &names {
        subject.write(name, name.as_bytes());
    }
    let made = subject.record();
    for name in &names {
        let held = subject.workspace().read(&made.tree, name).expect("a tree");
        assert_eq!(held.map(|content| content.bytes), Some(name.as_bytes().to_vec()), "{name}");
    }
    let changes = subject.workspace().changes(&made.previous_tree, &made.tree).expect("changes");
    assert_eq!(changes.len(), names.len(), "{changes:?}");
}

pub(super) fn empty_and_binary_content_is_held(subject: &dyn Subject) {
    let binary: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    subject.put("empty", "");
    subject.write(&path("binary"), &binary);
    let made = subject.record();
    assert_eq!(subject.held(&made, "empty"), Some(file("")));
    assert_eq!(subject.held(&made, "binary").map(|content| content.bytes), Some(binary));
}

pub(super) fn trees_have_the_names_that_git_gives_them(subject: &dyn Subject) {
    subject.put("a.txt", "hello\n");
    subject.put("a/b", "below\n");
    subject.put("run", "x\n");
    subject.set_executable(&path("run"), true);
    subject.symlink(&path("link"), b"a.txt");
    assert_eq!(subject.record().tree.0, "b502ce368e18a3835ac2c40c00911c4f3b0ddb53");
}

pub(super) fn a_checkpoint_changes_no_file(subject: &dyn Subject) {
    subject.put("a", "a\n");
    subject.put("left/out", "x\n");
    subject.ignore(&path("left"));
    let before = subject.listing();
    subject.record();
    assert_eq!(subject.listing(), before);
}

pub(super) fn kind_message_and_violations_are_kept(subject: &dyn Subject) {
    subject.put("a", "a\n");
    let violation = Violation {
        file: Some(path("a")),
        constraint: Constraint::Quota,
        severity: Severity::Warning,
        message: "too much".to_owned(),
        suggestion: "less".to_owned(),
    };
    let message = "why \u{2026}\n\nand how\n".to_owned();
    let made = subject.create(&CheckpointRequest {
        kind: CheckpointKind::Watched,
        message: message.clone(),
        violations: vec![violation.clone()],
        ..CheckpointRequest::default()
    });
    let found = subject.found(&made.checkpoint.checkpoint_id);
    assert_eq!(found, made.checkpoint);
    assert_eq!((found.kind, found.message.trim()), (CheckpointKind::Watched, message.trim()));
    assert!(found.violations.contains(&violation), "{:?}", found.violations);
}

pub(super) fn changes_are_told_by_path_and_kind(subject: &dyn Subject) {
    for name in ["edited", "gone", "kept", "mode", "type"] {
        subject.put(name, "old\n");
    }
    let first = subject.record();
    subject.put("edited", "new\n");
    subject.remove(&path("gone"));
    subject.set_executable(&path("mode"), true);
    subject.symlink(&path("type"), b"kept");
    subject.put("sub/added", "new\n");
    let made = subject.create(&CheckpointRequest::default());
    let told: Vec<(String, ChangeKind)> =
        made.changes.iter().map(|change| (change.path.to_string(), change.kind)).collect();
    let told: Vec<(&str, ChangeKind)> =
        told.iter().map(|(at, kind)| (at.as_str(), *kind)).collect();
    let expected = [
        ("edited", ChangeKind::Modified),
        ("gone", ChangeKind::Deleted),
        ("mode", ChangeKind::ModeChanged),
        ("sub/added", ChangeKind::Added),
        ("type", ChangeKind::TypeChanged),
    ];
    assert_eq!(told, expected);
    let between = subject.workspace().changes(&first.tree, &made.checkpoint.tree);
    assert_eq!(between.expect("changes"), made.changes);
    assert_eq!(made.checkpoint.files_changed_since_last, 5);
    let same = subject.workspace().changes(&first.tree, &first.tree).expect("changes");
    assert!(same.is_empty(), "{same:?}");
}

pub(super) fn files_and_folders_that_change_places_are_told_apart(subject: &dyn Subject) {
    subject.put("a", "a file\n");
    subject.put("b/inner", "a folder\n");
    let first = subject.record();
    subject.put("a/inner", "a folder\n");
    subject.put("b", "a file\n");
    let second = subject.record();
    let changes = subject.workspace().changes(&first.tree, &second.tree).expect("changes");
    let told: Vec<(String, ChangeKind)> =
        changes.iter().map(|change| (change.path.to_string(), change.kind)).collect();
    let expected = [
        ("a", ChangeKind::Deleted),
        ("a/inner", ChangeKind::Added),
        ("b", ChangeKind::Added),
        ("b/inner", ChangeKind::Deleted),
    ];
    assert_eq!(told, expected.map(|(at, kind)| (at.to_owned(), kind)));
}

pub(super) fn the_diff_is_empty_exactly_when_the_trees_are_equal(subject: &dyn Subject) {
    subject.put("a", "a\n");
    let first = subject.record();
    let same = subject.record();
    assert_eq!(first.tree, same.tree);
    assert_eq!(subject.diff(&first, &same, &[]), "");
    subject.set_executable(&path("a"), true);
    let other = subject.record();
    assert_ne!(first.tree, other.tree);
    assert_ne!(subject.diff(&first, &other, &[]), "");
}

pub(super) fn a_diff_shows_only_the_paths_that_were_asked_for(subject: &dyn Subject) {
    let first = subject.record();
    for name in ["a", "folder/b", "folder/sub/c", "folder.d"] {
        subject.put(name, "x\n");
    }
    let second = subject.record();
    let diff = subject.diff(&first, &second, &[path("folder")]);
    let heads: Vec<&str> = diff.lines().filter(|line| line.starts_with("diff ")).collect();
    let expected = ["diff --git a/folder/b b/folder/b", "diff --git a/folder/sub/c b/folder/sub/c"];
    assert_eq!(heads, expected);
    assert_eq!(subject.diff(&first, &second, &[path("nothing")]), "");
}

pub(super) fn a_diff_of_text_reads_as_git_writes_it(subject: &dyn Subject) {
    subject.put("with space.rs", "fn main() {\n    1\n    2\n    3\n    4\n    5\n}");
    let first = subject.record();
    subject.put("with space.rs", "fn main() {\n    1\n    2\n    3\n    4\n    6\n}\n");
    let second = subject.record();
    let expected = "diff --git a/with space.rs b/with space.rs\n\
                    index 929e5df742e513fa1664ced9d697ad757de6bc93..1f9d97168d55bf16a2083b91d853e12d78a569b5 100644\n\
                    --- a/with space.rs\t\n\
                    +++ b/with space.rs\t\n\
                    @@ -3,5 +3,5 @@ fn main() {\n     2\n     3\n     4\n-    5\n-}\n\
                    \\ No newline at end of file\n+    6\n+}\n";
    assert_eq!(subject.diff(&first, &second, &[]), expected);
}

pub(super) fn nothing_is_read_where_nothing_stands(subject: &dyn Subject) {
    subject.put("folder/a", "a\n");
    let made = subject.record();
    assert_eq!(subject.held(&made, "none"), None);
    assert_eq!(subject.held(&made, "folder"), None);
    assert_eq!(subject.held(&made, "folder/none"), None);
    assert_eq!(subject.held(&made, "folder/a/none"), None);
    assert_eq!(subject.held(&made, "folder/a"), Some(file("a\n")));
}

pub(super) fn ignored_files_are_left_out_and_listed(subject: &dyn Subject) {
    subject.ignore(&path("left.log"));
    subject.put("left.log", "x\n");
    subject.put("taken", "x\n");
    let made = subject.record();
    assert_eq!(subject.held(&made, "left.log"), None);
    assert_eq!(skipped(&made, "left.log"), Some(SkipReason::Ignored));
    assert_eq!(skipped(&made, "taken"), None);
}

pub(super) fn an_ignored_folder_stands_for_what_is_below_it(subject: &dyn Subject) {
    subject.ignore(&path("target"));
    subject.put("target/debug/a", "x\n");
    subject.put("target/b", "x\n");
    let made = subject.record();
    assert_eq!(subject.held(&made, "target/debug/a"), None);
    assert_eq!(made.skipped.len(), 1, "{:?}", made.skipped);
    assert!(made.skipped[0].folder && made.skipped[0].path == path("target"));
}

pub(super) fn what_was_captured_once_is_captured_though_ignored_later(subject: &dyn Subject) {
    subject.put("data", "one\n");
    subject.record();
    subject.ignore(&path("data"));
    subject.put("data", "two\n");
    let made = subject.record();
    assert_eq!(subject.held(&made, "data"), Some(file("two\n")));
    assert_eq!(skipped(&made, "data"), None);
}

pub(super) fn paths_that_are_asked_for_are_taken_though_ignored(subject: &dyn Subject) {
    subject.ignore(&path("out"));
    subject.put("out/wanted/a", "x\n");
    subject.put("out/other", "x\n");
    let also = vec![path("out/wanted")];
    let made = subject.create(&CheckpointRequest { also, ..CheckpointRequest::default() });
    assert_eq!(subject.held(&made.checkpoint, "out/wanted/a"), Some(file("x\n")));
    assert_eq!(subject.held(&made.checkpoint, "out/other"), None);
}

pub(super) fn small_secrets_are_taken_on_demand(subject: &dyn Subject) {
    subject.ignore(&path(".env"));
    subject.put(".env", "KEY=1\n");
    let plain = subject.create(&CheckpointRequest::default()).checkpoint;
    assert_eq!(subject.held(&plain, ".env"), None);
    let ignored = IgnoredFiles::SecretsLike;
    let made = subject.create(&CheckpointRequest { ignored, ..CheckpointRequest::default() });
    assert_eq!(subject.held(&made.checkpoint, ".env"), Some(file("KEY=1\n")));
}

pub(super) fn a_file_beyond_the_limit_is_skipped_and_listed(subject: &dyn Subject) {
    subject.put("small", "1234567890");
    subject.put("large", "12345678901");
    let limits = Limits { max_file_bytes: 10, ..Limits::default() };
    let made = subject.create(&CheckpointRequest { limits, ..CheckpointRequest::default() });
    let made = made.checkpoint;
    assert_eq!(subject.held(&made, "small"), Some(file("1234567890")));
    assert_eq!(subject.held(&made, "large"), None);
    assert_eq!(skipped(&made, "large"), Some(SkipReason::TooLarge));
    let listed = made.skipped.iter().find(|left| left.path == path("large"));
    assert_eq!(listed.and_then(|left| left.bytes), Some(11));
}

pub(super) fn too_many_files_are_refused_and_nothing_is_recorded(subject: &dyn Subject) {
    for name in ["a", "b", "c"] {
        subject.put(name, "x\n");
    }
    let with = |max_files| CheckpointRequest {
        limits: Limits { max_files, ..Limits::default() },
        ..CheckpointRequest::default()
    };
    assert!(too_large(subject.workspace().checkpoint(&with(2))));
    assert!(subject.ids().is_empty());
    subject.create(&with(3));
}

pub(super) fn too_much_new_content_is_refused_and_nothing_is_recorded(subject: &dyn Subject) {
    subject.put("a", "12345");
    let with = |max_new_bytes| CheckpointRequest {
        limits: Limits { max_new_bytes, ..Limits::default() },
        ..CheckpointRequest::default()
    };
    subject.create(&with(1000));
    subject.write(&path("b"), &[b'x'; 2000]);
    assert!(too_large(subject.workspace().checkpoint(&with(1000))));
    assert_eq!(subject.ids().len(), 1);
    let made = subject.create(&with(5000));
    let held = subject.held(&made.checkpoint, "b");
    assert_eq!(held, Some(Content { mode: EntryMode::File, bytes: vec![b'x'; 2000] }));
}
