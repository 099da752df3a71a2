//! A throw-away repository with hostile names, and the real git on it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::Stat;

/// Names that need quoting, look like options, prefixes or headers, or are not UTF-8.
const NAMES: [&[u8]; 20] = [
    b"plain.txt",
    b"dir/deep/file.txt",
    b"with space.txt",
    b"tab\tname",
    b"new\nline",
    b"quote\"name",
    b"back\\slash",
    b"-dash",
    b"caf\xe9",
    b"\xc3\xbcber/\xc3\xa4.txt",
    b"a b/c d.txt",
    b"b/b",
    b"x b/x",
    b".env",
    b"trailing ",
    b" leading",
    b"cr\rname",
    b"--- a",
    b"a/a",
    b"1970-01-01 00:00:00",
];

/// A repository in a temporary folder.
pub struct Repository {
    folder: TempDir,
}

impl Repository {
    /// One commit with every name, and a working tree in which all of them are changed.
    pub fn new() -> Self {
        let repository = Self { folder: TempDir::new().unwrap() };
        repository.run(&["init", "-q", "-b", "trunk"]);
        for name in NAMES {
            repository.write(name, b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        }
        repository.write(b"plain.txt", b"one\n");
        repository.write(b"with space.txt", b"one\n");
        repository.write(b"tab\tname", b"one\n");
        repository.write(b"no-end", b"one\ntwo");
        repository.write(b"looks", b"--- a/.env\n+++ b/.env\ndiff --git a/x b/x\n@@ -1 +1 @@\n");
        repository.write(b"bin.dat", &(0..=255).collect::<Vec<u8>>());
        repository.write(b"empty", b"");
        repository.write(b"exec.sh", b"#!/bin/sh\n");
        repository.write(b"crlf.txt", b"one\r\ntwo\r\n");
        symlink("plain.txt", repository.path(b"link")).unwrap();
        repository.run(&["add", "-A"]);
        repository.run(&["commit", "-q", "-m", "start"]);
        repository
    }

    fn path(&self, name: &[u8]) -> PathBuf {
        self.folder.path().join("work").join(Path::new(OsStr::from_bytes(name)))
    }

    fn write(&self, name: &[u8], content: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// git with nothing of the user's around it.
    fn git(&self, args: &[&str], input: &[u8]) -> Output {
        let work = self.folder.path().join("work");
        fs::create_dir_all(&work).unwrap();
        let mut child = Command::new("git")
            .args(args)
            .current_dir(work)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@example.org")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // git may stop reading at the first mistake in a patch.
        let _ = stdin.write_all(input);
        drop(stdin);
        child.wait_with_output().unwrap()
    }

    fn run(&self, args: &[&str]) -> Vec<u8> {
        let output = self.git(args, b"");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {args:?}: {errors}");
        output.stdout
    }

    /// What `git apply --numstat` says, when it accepts the patch, and whether it complained about
    /// binary data: then it leaves out that file and all that follow, without failing.
    pub fn numstat(&self, patch: &[u8]) -> Option<(Stat, bool)> {
        let output = self.git(&["apply", "--numstat", "-z"], patch);
        if !output.status.success() {
            return None;
        }
        let mut stat: Stat = output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|row| !row.is_empty())
            .map(|row| {
                let mut cells = row.splitn(3, |byte| *byte == b'\t');
                let mut text = || String::from_utf8_lossy(cells.next().unwrap()).into_owned();
                (text(), text(), cells.next().unwrap().to_vec())
            })
            .collect();
        stat.sort();
        let errors = String::from_utf8_lossy(&output.stderr);
        let cut_short = errors.contains("corrupt binary patch");
        assert!(cut_short || !errors.contains("error:"), "git accepts and complains: {errors}");
        Some((stat, cut_short))
    }

    /// Applies a patch to the index, lists what it changed, and takes it back.
    pub fn apply(&self, patch: &[u8]) -> Option<Vec<(u8, Vec<u8>)>> {
        if !self.git(&["apply", "--cached"], patch).status.success() {
            return None;
        }
        let raw =
            self.run(&["diff-index", "--cached", "--name-status", "-z", "--no-renames", "HEAD"]);
        self.run(&["read-tree", "HEAD"]);
        let cells: Vec<&[u8]> = raw.split(|byte| *byte == 0).collect();
        Some(cells.chunks_exact(2).map(|pair| (pair[0][0], pair[1].to_vec())).collect())
    }

    /// Real patches of every kind, whole and file by file.
    pub fn patches(&self) -> Vec<Vec<u8>> {
        self.change_everything();
        self.run(&["add", "-A"]);
        let mut patches = Vec::new();
        for options in [
            &["diff", "--cached", "--binary"][..],
            &["diff", "--cached", "--binary", "--no-renames", "-U2"],
            &["diff", "--cached", "--binary", "-M", "-C", "--find-copies-harder", "-U1"],
            &["diff", "--cached", "--binary", "--src-prefix=i/", "--dst-prefix=w/"],
        ] {
            patches.push(self.run(options));
        }
        let whole = patches[2].clone();
        self.run(&["commit", "-q", "-m", "change\n\n- drop table x\n+ more"]);
        patches.push(self.run(&["format-patch", "--stdout", "--binary", "-1"]));
        self.run(&["reset", "-q", "--hard", "HEAD~1"]);
        let pieces = pieces(&whole);
        patches.extend(pieces.iter().filter_map(|piece| without_git_lines(piece)));
        patches.extend(pieces);
        patches
    }

    fn change_everything(&self) {
        let text = b"one\ntwo\nthree\nFOUR\nfive\nsix\nseven\neight\nnine\nten\n";
        for name in NAMES {
            self.write(name, text);
        }
        for name in [b"dir/deep/file.txt".as_slice(), b"quote\"name", b"trailing "] {
            fs::remove_file(self.path(name)).unwrap();
        }
        for (from, to) in [
            (b"back\\slash".as_slice(), b"moved\\to \"here\"".as_slice()),
            (b"b/b", b"c/b b/b"),
            (b"caf\xe9", b"th\xe9"),
        ] {
            fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
            fs::rename(self.path(from), self.path(to)).unwrap();
        }
        fs::copy(self.path(b"x b/x"), self.path(b"copy of x")).unwrap();
        self.write(b"no-end", b"one\ntwo\nthree");
        self.write(b"looks", b"+++ b/.env\ndiff --git a/x b/x\n@@ -1 +1 @@\n--- a/y\n++ b/y\n");
        self.write(b"bin.dat", &(0..=255).rev().collect::<Vec<u8>>());
        self.write(b"new\tfile", b"hello\n");
        self.write(b"new empty", b"");
        self.write(b"new.bin", b"\0\x01\x02\0");
        fs::remove_file(self.path(b"empty")).unwrap();
        self.write(b"crlf.txt", b"one\r\nTWO\r\n");
        fs::set_permissions(self.path(b"exec.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(self.path(b"link")).unwrap();
        symlink("elsewhere", self.path(b"link")).unwrap();
        fs::remove_file(self.path(b"-dash")).unwrap();
        symlink("plain.txt", self.path(b"-dash")).unwrap();
    }
}

/// A patch of several files, cut before each header.
fn pieces(patch: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            pieces.push(Vec::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.extend_from_slice(line);
        }
    }
    pieces
}

/// A patch as diff alone would write it, where its header says nothing more than that.
fn without_git_lines(piece: &[u8]) -> Option<Vec<u8>> {
    let mut lines = piece.split_inclusive(|byte| *byte == b'\n');
    let (first, second) = (lines.next()?, lines.next()?);
    let rest: Vec<u8> = lines.flatten().copied().collect();
    let plain = first.starts_with(b"diff --git ")
        && second.starts_with(b"index ")
        && rest.starts_with(b"--- ")
        && !first.windows(4).any(|part| part == b"1970");
    plain.then_some(rest)
}
