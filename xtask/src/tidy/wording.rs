//! Words that do not stay in a repository: notes to oneself, and places on somebody's machine.

use super::rust::{code, test_lines};
use super::{File, Finding};

// Written in two parts so that this file does not find itself.
const NOTES: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("HA", "CK"), concat!("XX", "X")];
const MACHINE: [&str; 4] = [
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/User", "s/"),
    concat!(".cargo/regi", "stry"),
];
const MACRO: &str = concat!("to", "do!");

/// Notes to oneself and machine paths. Lines that are only judged (the corpus, tests) may hold any
/// path.
pub fn check(file: &File) -> Vec<Finding> {
    if file.path == "Cargo.lock" || file.path.ends_with("/Cargo.lock") || file.path == "LICENSE" {
        return Vec::new();
    }
    let code = if file.is_rust() { code(&file.text) } else { String::new() };
    let tests = test_lines(&file.path, &code);
    let is_data = file.path.starts_with("crates/gate/corpus/");
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let at = index + 1;
        let in_test = tests.get(index) == Some(&true);
        if !is_data && let Some(note) = NOTES.iter().find(|note| says(line, note)) {
            let fix = "do it now, or open an issue and take the note out";
            findings.push(Finding::new(&file.path, at, format!("`{note}`"), fix));
        }
        if !is_data
            && !in_test
            && let Some(path) = MACHINE.iter().find(|path| names(line, path))
        {
            let what = format!("`{path}` is a place on one machine");
            findings.push(Finding::new(&file.path, at, what, "write a path that all readers have"));
        }
    }
    for (at, _) in code.match_indices(MACRO) {
        let line = super::rust::line_of(&code, at);
        findings.push(Finding::new(&file.path, line, format!("`{MACRO}`"), "write the code"));
    }
    findings
}

/// Whether a word stands alone in a line.
fn says(line: &str, word: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Whether an absolute path starts so: `a/work/b` is another path.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !path.starts_with('/')
            || !before.is_some_and(|char| char.is_alphanumeric() || "_.-~}*".contains(char))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&File { path: path.into(), text: text.into() }).len()
    }

    #[test]
    fn notes_to_oneself_are_found_everywhere() {
        for [first, second] in [["TO", "DO"], ["FIX", "ME"], ["HA", "CK"]] {
            let note = format!("{first}{second}");
            assert_eq!(count("a.rs", &format!("// {note}: later")), 1, "{note}");
            assert_eq!(count("a.md", &format!("{note} later")), 1, "{note}");
            assert_eq!(count("crates/gate/corpus/a.toml", &note), 0, "{note}");
            assert_eq!(count("a.md", &format!("{note}S_OF_ALL")), 0, "{note}");
        }
        assert_eq!(count("a.rs", &format!("fn f() {{ {MACRO}() }}")), 1);
        assert_eq!(count("a.rs", &format!("// {MACRO}")), 0);
    }

    #[test]
    fn places_on_one_machine_are_found_outside_tests() {
        let root = MACHINE[0];
        for (path, text, expected) in [
            ("a.md", format!("see {root}notes"), 1),
            ("a.sh", format!("cd \"{root}a\""), 1),
            ("a.md", format!("see ~{root}notes and a{root}b"), 0),
            ("src/tests.rs", format!("cat {root}a"), 0),
            ("crates/gate/corpus/a.toml", format!("cat {root}a"), 0),
            ("a.rs", format!("#[cfg(test)]\nmod tests {{\n f(\"{root}\");\n}}"), 0),
        ] {
            assert_eq!(count(path, &text), expected, "{path} {text}");
        }
    }
}
