//! `gate` and `model` are pure: no I/O, clock, threads, randomness, or state that outlives a call.

use super::paths::{Named, named};
use super::rust::{code, test_lines};
use super::{File, Finding};

const PURE: [&str; 2] = ["crates/gate/src/", "crates/model/src/"];

/// Paths that pure code does not name, and what they would bring in.
static PATHS: &[(&[&str], &str)] = &[
    (&["std", "fs"], "files"),
    (&["std", "env"], "the environment"),
    (&["std", "net"], "the network"),
    (&["std", "process"], "processes"),
    (&["std", "os"], "the operating system"),
    (&["std", "time"], "the clock"),
    (&["std", "thread"], "threads"),
    (&["std", "io"], "input and output"),
    (&["std", "sync", "atomic"], "shared state"),
    (&["std", "sync", "mpsc"], "threads"),
    (&["std", "*"], "everything"),
    (&["rand"], "randomness"),
    (&["tokio"], "an asynchronous run time"),
];

/// Names that pure code does not say, wherever they were imported from.
static NAMES: &[(&str, &str)] = &[
    ("SystemTime", "the clock"),
    ("Instant", "the clock"),
    ("RandomState", "randomness"),
    ("Mutex", "shared state"),
    ("RwLock", "shared state"),
    ("OnceLock", "state that outlives a call"),
    ("LazyLock", "state that outlives a call"),
    ("AtomicBool", "shared state"),
    ("AtomicUsize", "shared state"),
    ("AtomicU64", "shared state"),
    ("async", "asynchrony"),
    ("thread_local!", "state that outlives a call"),
    ("println!", "the terminal"),
    ("eprintln!", "the terminal"),
    ("print!", "the terminal"),
    ("eprint!", "the terminal"),
    ("env!", "the environment"),
    ("option_env!", "the environment"),
];

/// What a path is asked for when the answer lies on the disk. Nothing of our own is called so.
const ASKS_THE_DISK: [&str; 10] = [
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "is_symlink",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

/// Everything impure in a file of a pure crate, tests apart.
pub fn check(file: &File) -> Vec<Finding> {
    if !PURE.iter().any(|folder| file.path.starts_with(folder)) {
        return Vec::new();
    }
    let code = code(&file.text);
    let tests = test_lines(&file.path, &code);
    let mut found: Vec<(usize, String, &str)> = Vec::new();
    for one in named(&code) {
        if let Some(brings) = impure(&one) {
            found.push((one.line, one.text(), brings));
        }
    }
    for (index, line) in code.lines().enumerate() {
        if line.contains("static mut ") {
            found.push((index + 1, "static mut".to_owned(), "state that outlives a call"));
        }
    }
    found.retain(|(line, ..)| tests.get(line - 1) != Some(&true));
    let finding = |(line, said, brings): (usize, String, &str)| {
        let what = format!("`{said}` brings in {brings}, and this crate is pure");
        let fix = "let the caller pass the fact in, or move this code out of the crate";
        Finding::new(&file.path, line, what, fix)
    };
    found.into_iter().map(finding).collect()
}

/// What a path brings in that is not pure.
fn impure(one: &Named) -> Option<&'static str> {
    let last = one.parts.last()?.as_str();
    if let Some((_, brings)) = PATHS.iter().find(|(path, _)| one.starts_with(path)) {
        return Some(brings);
    }
    if let Some((_, brings)) = NAMES.iter().find(|(name, _)| one.parts.iter().any(|p| p == name)) {
        return Some(brings);
    }
    if one.renamed && one.parts == ["std"] {
        return Some("the library under a name that hides what is used of it");
    }
    let of_a_path = ["Path", "PathBuf"].iter().any(|kind| one.ends_with(&[kind, last]));
    let asks = (one.method || of_a_path) && ASKS_THE_DISK.contains(&last);
    asks.then_some("what lies on the disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let file = File { path: path.into(), text: text.into() };
        check(&file).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn impure_words_are_found_in_pure_crates_only() {
        let check = |path, text, expected: &[usize]| {
            assert_eq!(lines(path, text), expected, "{path} {text}");
        };
        for text in [
            "use std::fs;",
            "use std::{cmp, fs};",
            "use ::std::fs;",
            "use std as ours;",
            "use std::{self as ours};",
            "use std::*;",
            "let a = std :: fs :: read(b);",
            "if Path::new(a).exists() {",
            "let a = b.canonicalize();",
            "a.iter().filter(|b| b.is_file())",
            "a.iter().filter(Path::is_file)",
            "use std::sync::atomic::AtomicU8;",
            "let a = env!(\"A\");",
            "async fn a() {}",
            "let a = std::env::var(\"A\");",
            "std::process::exit(1)",
            "let now = Instant::now();",
            "println!(\"a\");",
            "static mut A: u8 = 1;",
            "static A: LazyLock<u8> = f();",
            "use rand::Rng;",
            "use tokio;",
            "std::thread::spawn(f)",
        ] {
            check("crates/gate/src/a.rs", text, &[1]);
            check("crates/model/src/a.rs", text, &[1]);
            check("crates/cli/src/a.rs", text, &[]);
            check("crates/gate/tests/a.rs", text, &[]);
        }
    }

    #[test]
    fn an_import_over_several_lines_is_read_as_one() {
        let text = "use std::{\n    cmp::Ordering,\n    fs,\n    io::{self, Read as _},\n};\n";
        assert_eq!(lines("crates/gate/src/a.rs", text), [3, 4, 4]);
    }

    #[test]
    fn mentions_and_tests_are_not_use() {
        for text in [
            "// std::fs is not for us",
            "const A: &str = \"std::fs\";",
            "#[cfg(test)]\nmod tests {\n use std::fs;\n}",
            "let instantaneous = 1;",
            "fn brand::x()",
            "use std::fmt;",
            "eventually_print(x)",
            "let exists = a.exists;",
            "fn is_file(a: &str) -> bool { exists(a) }",
            "use crate::analysis::fs;",
        ] {
            assert_eq!(lines("crates/gate/src/a.rs", text), [0; 0], "{text}");
        }
    }
}
