//! `gate` and `model` are pure: no I/O, clock, threads, randomness, or state that outlives a call.

use super::rust::{code, test_lines};
use super::{File, Finding};

const PURE: [&str; 2] = ["crates/gate/src/", "crates/model/src/"];

/// What pure code does not say, and what that would bring in.
static FORBIDDEN: &[(&str, &str)] = &[
    ("std::fs", "files"),
    ("std::env", "the environment"),
    ("std::net", "the network"),
    ("std::process", "processes"),
    ("std::os", "the operating system"),
    ("std::time", "the clock"),
    ("std::thread", "threads"),
    ("thread_local!", "state that outlives a call"),
    ("std::io", "input and output"),
    ("SystemTime", "the clock"),
    ("Instant", "the clock"),
    ("RandomState", "randomness"),
    ("Mutex", "shared state"),
    ("RwLock", "shared state"),
    ("OnceLock", "state that outlives a call"),
    ("LazyLock", "state that outlives a call"),
    ("static mut", "state that outlives a call"),
    ("AtomicBool", "shared state"),
    ("AtomicUsize", "shared state"),
    ("AtomicU64", "shared state"),
    ("tokio", "an asynchronous run time"),
    ("async fn", "asynchrony"),
    ("rand::", "randomness"),
    ("println!", "the terminal"),
    ("eprintln!", "the terminal"),
    ("print!", "the terminal"),
    ("eprint!", "the terminal"),
    ("include_str!(env!", "the environment"),
];

/// Everything impure in a file of a pure crate, tests apart.
pub fn check(file: &File) -> Vec<Finding> {
    if !PURE.iter().any(|folder| file.path.starts_with(folder)) {
        return Vec::new();
    }
    let code = code(&file.text);
    let tests = test_lines(&file.path, &code);
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        if tests.get(index) == Some(&true) {
            continue;
        }
        for (word, brings) in impure(line) {
            let what = format!("`{word}` brings in {brings}, and this crate is pure");
            let fix = "let the caller pass the fact in, or move this code out of the crate";
            findings.push(Finding::new(&file.path, index + 1, what, fix));
        }
    }
    findings
}

fn impure(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    // `use std::{fs, env}` is written apart by rustfmt's default only when it is long, so the
    // grouped form is taken as its parts.
    let spread = spread(line);
    FORBIDDEN.iter().copied().filter(move |(word, _)| says(&spread, word))
}

/// `use std::{fs, io::Read}` also says `std::fs std::io::Read`.
fn spread(line: &str) -> String {
    let Some((_, group)) = line.split_once("std::{") else { return line.to_owned() };
    let parts = group.split([',', '{', '}']).map(|part| format!(" std::{}", part.trim()));
    format!("{line}{}", parts.collect::<String>())
}

fn says(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        let open = word.ends_with(['!', ':']);
        !before.is_some_and(is_word) && (open || !after.is_some_and(is_word))
    })
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
    fn mentions_and_tests_are_not_use() {
        for text in [
            "// std::fs is not for us",
            "const A: &str = \"std::fs\";",
            "#[cfg(test)]\nmod tests {\n use std::fs;\n}",
            "let instantaneous = 1;",
            "fn brand::x()",
            "use std::fmt;",
            "eventually_print(x)",
        ] {
            assert_eq!(lines("crates/gate/src/a.rs", text), [0; 0], "{text}");
        }
    }
}
