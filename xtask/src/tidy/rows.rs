//! Feature rows that are claimed done name a test that is one and that names them back.

use super::rust::{code, functions};
use super::{File, Finding, Tree};

const ROWS: &str = "docs/rows.md";
/// So many lines before and after a test's first line is where it may say its row.
const NEAR: usize = 3;

/// Claims without proof.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.get(ROWS) else { return Vec::new() };
    let mut findings = Vec::new();
    let claims = claims(file);
    if claims.is_empty() {
        let fix = "write rows like `| POL-3 | what | `name_of_the_test` |`";
        findings.push(Finding::new(ROWS, 1, "it claims nothing", fix));
    }
    for claim in claims {
        if claim.tests.is_empty() {
            let what = format!("{} names no test", claim.row);
            findings.push(Finding::new(ROWS, claim.line, what, "name one, in backticks"));
        }
        for test in claim.tests {
            if let Some(what) = unproven(tree, claim.row, test) {
                let fix = "write the test, correct its name, or take the claim back";
                findings.push(Finding::new(ROWS, claim.line, what, fix));
            }
        }
    }
    findings
}

/// One row that is claimed done.
struct Claim<'f> {
    line: usize,
    row: &'f str,
    tests: Vec<&'f str>,
}

/// The rows of the tables: the first cell is the row, the last one names the tests.
fn claims(file: &File) -> Vec<Claim<'_>> {
    let mut claims = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let mut cells = line.split('|').map(str::trim).filter(|cell| !cell.is_empty());
        let (Some(row), Some(last)) = (cells.next(), cells.next_back()) else { continue };
        let number = row.split_once('-').map(|(_, number)| number).unwrap_or_default();
        if number.is_empty() || !number.chars().all(|char| char.is_ascii_digit()) {
            continue;
        }
        let tests = last.split('`').skip(1).step_by(2).collect();
        claims.push(Claim { line: index + 1, row, tests });
    }
    claims
}

/// Why a test does not prove a row.
fn unproven(tree: &Tree, row: &str, test: &str) -> Option<String> {
    let wanted = format!("fn {test}(");
    let holds = |file: &&File| file.is_rust() && file.text.contains(&wanted);
    let tests: Vec<Test<'_>> =
        tree.files.iter().filter(holds).flat_map(|file| tests_called(file, test)).collect();
    let Some(first) = tests.first() else {
        return Some(format!("{row}: there is no test `{test}`"));
    };
    let as_name = format!("{}_", row.to_lowercase().replace('-', "_"));
    let names_back = test.starts_with(&as_name) || tests.iter().any(|one| mentions(&one.near, row));
    (!names_back).then(|| {
        let Test { path, line, .. } = first;
        format!("{row}: neither `{test}` nor a line near {path}:{line} says {row}")
    })
}

/// A test, and the lines around its first one.
struct Test<'t> {
    path: &'t str,
    line: usize,
    near: String,
}

/// The functions of this name that are tests.
fn tests_called<'t>(file: &'t File, name: &str) -> Vec<Test<'t>> {
    let code = code(&file.text);
    let lines: Vec<&str> = file.text.lines().collect();
    let mut found = Vec::new();
    for function in functions(&code).into_iter().filter(|function| function.name == name) {
        // Attributes and comments stand directly above a function.
        let above = lines.iter().take(function.line - 1).rev().map(|line| line.trim());
        let mut above = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        if above.any(|line| line == "#[test]" || line.starts_with("#[tokio::test")) {
            let from = (function.line - 1).saturating_sub(NEAR);
            let near: Vec<&str> = lines.iter().skip(from).take(2 * NEAR + 1).copied().collect();
            found.push(Test { path: &file.path, line: function.line, near: near.join("\n") });
        }
    }
    found
}

/// Whether a text names a row: `POL-1` is not in `POL-10`.
fn mentions(text: &str, row: &str) -> bool {
    text.match_indices(row).any(|(at, _)| {
        let after = text.get(at + row.len()..).and_then(|rest| rest.chars().next());
        !after.is_some_and(|char| char.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_without_its_test_is_found() {
        let tests = "\
#[test]
fn a_test() {
    // POL-10: why.
}

/// INT-1: too far from the others.
#[test]
#[cfg(unix)]
fn pol_3_other() {
}




fn no_test() {} // POL-4
// fn gone() {} POL-10
";
        for (rows, expected) in [
            ("| POL-10 | x | `a_test` |", 0),
            ("| POL-3 | x | `pol_3_other` |", 0),
            ("| INT-1 | x | `pol_3_other` |", 0),
            ("| POL-10 | x | `a_test`, `gone` |", 1),
            ("| POL-1 | x | `a_test` |", 1),
            ("| POL-10 | x | `pol_3_other` |", 1),
            ("| POL-4 | x | `no_test` |", 1),
            ("| POL-10 | x | not yet |", 1),
            ("| row | what | test |\n|---|---|---|", 1),
        ] {
            let tree = Tree::of(&[("docs/rows.md", rows), ("crates/gate/src/tests.rs", tests)]);
            assert_eq!(check(&tree).len(), expected, "{rows}");
        }
    }
}
