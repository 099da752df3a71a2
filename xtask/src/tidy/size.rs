//! Files and functions that outgrow their subject.

use super::rust::{code, functions, test_lines};
use super::{File, Finding, Tree};

/// Lines of a file, its tests apart.
const MAX_FILE_LINES: usize = 500;
/// Lines of a file that is only tests: tables are long and have one subject.
const MAX_TEST_FILE_LINES: usize = 1000;
/// Lines of a function: the aim is 70, and a signature broken over lines is no reason to complain.
/// This is the one place that says no; clippy's own count is off, because it counts tests too.
const MAX_FUNCTION_LINES: usize = 75;

/// Files and functions that may be longer, each with its reason.
static EXCEPTIONS: &[Exception] = &[
    file("crates/gate/src/analysis/shell/command/wrapper/develop.rs", "one table of rows"),
    file("crates/gate/src/analysis/shell/command/wrapper/remote.rs", "one table of rows"),
    file("crates/gate/src/analysis/script/call.rs", "one match over what modelled calls do"),
    file("crates/gate/src/analysis/shell/command/sql_client.rs", "one table of clients"),
    file("crates/gate/src/analysis/shell/command/writers.rs", "one table of programs"),
    file("crates/gate/src/analysis/script/expression.rs", "one descent that shares a position"),
    file("crates/gate/src/analysis/script/reader.rs", "one walk over statements"),
];

const fn file(path: &'static str, reason: &'static str) -> Exception {
    Exception { path, function: "", reason }
}

/// A file, or a function in it, that may be longer.
struct Exception {
    path: &'static str,
    /// The function's name; empty when the file is meant.
    function: &'static str,
    /// Why it has one subject nevertheless.
    reason: &'static str,
}

/// What is too long in a Rust file.
pub fn check(file: &File) -> Vec<Finding> {
    let excused = |function: &str| {
        EXCEPTIONS.iter().any(|one| one.path == file.path && one.function == function)
    };
    let mut found = too_long(file);
    found.retain(|(function, _)| !excused(function));
    found.into_iter().map(|(_, finding)| finding).collect()
}

/// Everything too long, with the function's name (empty for the file itself).
fn too_long(file: &File) -> Vec<(String, Finding)> {
    let code = code(&file.text);
    let tests = test_lines(&file.path, &code);
    let own = tests.iter().filter(|is_test| !**is_test).count();
    let (lines, limit) =
        if own == 0 { (tests.len(), MAX_TEST_FILE_LINES) } else { (own, MAX_FILE_LINES) };
    let mut found = Vec::new();
    if lines > limit {
        let what = format!("{lines} lines, more than {limit}");
        let finding = Finding::new(&file.path, 1, what, "it has two subjects: split it in two");
        found.push((String::new(), finding));
    }
    for function in functions(&code) {
        let is_test = tests.get(function.line - 1) == Some(&true);
        if is_test || function.lines <= MAX_FUNCTION_LINES {
            continue;
        }
        let what = format!(
            "`{}` takes {} lines, more than {MAX_FUNCTION_LINES}",
            function.name, function.lines
        );
        let fix = "give a part of it a name of its own";
        let finding = Finding::new(&file.path, function.line, what, fix);
        found.push((function.name.to_owned(), finding));
    }
    found
}

/// Exceptions that nothing needs any more, or that carry no reason.
pub fn stale(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in EXCEPTIONS {
        let needed = tree.get(one.path).is_some_and(|file| {
            too_long(file).iter().any(|(function, _)| function == one.function)
        });
        if !needed || one.reason.is_empty() {
            let what = format!("the exception for {} {} is not needed", one.path, one.function);
            findings.push(Finding::new("xtask/src/tidy/size.rs", 1, what, "take it out"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: String) -> usize {
        check(&File { path: path.into(), text }).len()
    }

    #[test]
    fn long_files_are_found_and_tests_do_not_count() {
        let lines = |many: usize| "x();\n".repeat(many);
        assert_eq!(count("a.rs", lines(500)), 0);
        assert_eq!(count("a.rs", lines(501)), 1);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(300));
        assert_eq!(count("a.rs", lines(400) + &tests), 0);
        assert_eq!(count("src/tests.rs", lines(1000)), 0);
        assert_eq!(count("src/tests.rs", lines(1001)), 1);
    }

    #[test]
    fn long_functions_are_found() {
        let function = |many: usize| format!("fn f() {{\n{}}}\n", "x();\n".repeat(many));
        assert_eq!(count("a.rs", function(73)), 0);
        assert_eq!(count("a.rs", function(74)), 1);
        assert_eq!(count("src/tests.rs", function(74)), 0);
    }
}
