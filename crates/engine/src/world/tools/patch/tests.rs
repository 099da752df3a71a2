//! Patches against `git apply` as oracle, and against files that are not what they expect.

use std::path::Path;
use std::process::{Command, Stdio};

use super::*;

fn git(dir: &Path, args: &[&str], input: &[u8]) -> std::process::Output {
    use std::io::Write as _;
    let mut child = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"], b"");
    let lines: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    write(dir.path(), "a.txt", &lines);
    write(dir.path(), "src/b.txt", "one\ntwo\nthree");
    write(dir.path(), "gone.txt", "x\ny\n");
    write(dir.path(), "old name.txt", "same\nsame too\nand this\n");
    git(dir.path(), &["add", "-A"], b"");
    git(dir.path(), &["commit", "--quiet", "-m", "x"], b"");
    dir
}

/// The patch of everything that differs from the commit, which is then taken back.
fn patch_of(dir: &Path) -> Vec<u8> {
    git(dir, &["add", "-A"], b"");
    let patch = git(dir, &["diff", "--cached", "-M"], b"").stdout;
    git(dir, &["reset", "--quiet", "--hard"], b"");
    patch
}

// MOD-2: what a patch does here is what `git apply` does.
#[test]
fn a_patch_makes_of_the_files_what_git_makes_of_them() {
    let ours = repository();
    let lines: String = (0..=32)
        .map(|n| match n {
            3 => "line three\n".to_owned(),
            17 => String::new(),
            31 => "line 31\n".to_owned(),
            0 => "before\n".to_owned(),
            32 => "no newline".to_owned(),
            n => format!("line {n}\n"),
        })
        .collect();
    write(ours.path(), "a.txt", &lines);
    write(ours.path(), "src/b.txt", "one\n2\nthree\n");
    write(ours.path(), "new/deep/c.sh", "#!/bin/sh\n");
    std::fs::remove_file(ours.path().join("gone.txt")).unwrap();
    std::fs::rename(ours.path().join("old name.txt"), ours.path().join("new name.txt")).unwrap();
    let patch = patch_of(ours.path());
    let theirs = repository();
    let done = git(theirs.path(), &["apply"], &patch);
    assert!(done.status.success(), "{done:?}");
    let files = Files::beneath(ours.path()).unwrap();
    let changes = apply(&patch, &files).unwrap();
    assert_eq!(changes.len(), 6);
    assert_eq!(paths(&patch).unwrap().len(), 6);
    assert!(!super::super::files::change(&files, &changes).is_error);
    for path in ["a.txt", "src/b.txt", "new/deep/c.sh", "new name.txt", "gone.txt", "old name.txt"]
    {
        let read = |dir: &Path| std::fs::read_to_string(dir.join(path)).ok();
        assert_eq!(read(ours.path()), read(theirs.path()), "{path}");
    }
}

#[test]
fn a_patch_finds_its_place_when_lines_came_before_it() {
    let dir = repository();
    let lines: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    write(dir.path(), "a.txt", &lines.replace("line 20\n", "line twenty\n"));
    let patch = patch_of(dir.path());
    write(dir.path(), "a.txt", &format!("new\nnew\n{lines}"));
    let files = Files::beneath(dir.path()).unwrap();
    let changes = apply(&patch, &files).unwrap();
    let after = changes[0].after.as_ref().unwrap();
    let text = String::from_utf8_lossy(&after.bytes).into_owned();
    assert!(text.starts_with("new\nnew\nline 1\n") && text.contains("\nline twenty\n"), "{text}");
}

#[test]
fn a_patch_that_does_not_fit_or_reaches_elsewhere_changes_nothing() {
    let dir = repository();
    let files = Files::beneath(dir.path()).unwrap();
    let refused = |patch: &str, expected: &str| {
        let error = apply(patch.as_bytes(), &files).unwrap_err();
        assert!(error.contains(expected), "{error}\n{patch}");
    };
    let on = |path: &str, body: &str| format!("--- a/{path}\n+++ b/{path}\n{body}");
    refused(&on("a.txt", "@@ -1 +1 @@\n-nothing\n+x\n"), "does not fit at line 1");
    refused(&on("none.txt", "@@ -1 +1 @@\n-a\n+b\n"), "no file none.txt");
    refused("*** Begin Patch\n*** Add File: x\n+y\n*** End Patch\n", "names no file");
    refused("--- /dev/null\n+++ b/gone.txt\n@@ -0,0 +1 @@\n+x\n", "is there already");
    refused("--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "more is in it");
    let twice = on("a.txt", "@@ -1 +1 @@\n-line 1\n+x\n");
    refused(&format!("{twice}{twice}"), "twice");
    for out in ["../x", ".git/config", "src/../../x"] {
        let patch = format!("--- /dev/null\n+++ b/{out}\n@@ -0,0 +1 @@\n+x\n");
        assert!(apply(patch.as_bytes(), &files).is_err(), "{out}");
    }
    let link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n";
    refused(link, "only files");
}
