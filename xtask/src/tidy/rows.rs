//! Rows of the feature list that are claimed done name a test that exists and names them back.

use super::{File, Finding, Tree};

const ROWS: &str = "docs/rows.md";

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
    let Some(file) = tree.files.iter().find(|file| file.is_rust() && file.text.contains(&wanted))
    else {
        return Some(format!("{row}: there is no test `{test}`"));
    };
    let as_name = format!("{}_", row.to_lowercase().replace('-', "_"));
    let names_back = test.starts_with(&as_name) || mentions(&file.text, row);
    (!names_back)
        .then(|| format!("{row}: neither `{test}` nor a comment in {} says {row}", file.path))
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
        let tests = "// POL-10\nfn a_test() {}\nfn pol_3_other() {}\n";
        for (rows, expected) in [
            ("| POL-10 | x | `a_test` |", 0),
            ("| POL-3 | x | `pol_3_other` |", 0),
            ("| POL-10 | x | `a_test`, `gone` |", 1),
            ("| POL-1 | x | `a_test` |", 1),
            ("| POL-10 | x | not yet |", 1),
            ("| row | what | test |\n|---|---|---|", 1),
        ] {
            let tree = Tree::of(&[("docs/rows.md", rows), ("crates/gate/src/tests.rs", tests)]);
            assert_eq!(check(&tree).len(), expected, "{rows}");
        }
    }
}
