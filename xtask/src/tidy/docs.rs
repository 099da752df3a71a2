//! Documents that promise something: their paths exist, and they keep the form they claim.

use super::{File, Finding, Tree};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
/// Four pages.
const MAX_LINES: usize = 220;
const MAX_BYTES: usize = 16 * 1024;

const ADR_SECTIONS: [&str; 4] = ["Status", "Context", "Decision", "Consequences"];
/// One page.
const MAX_ADR_LINES: usize = 60;

/// The documents that must be there.
const DOCUMENTS: [&str; 8] = [
    "README.md",
    ARCHITECTURE,
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "LICENSE",
    "docs/glossary.md",
    "docs/rows.md",
];

/// Everything that a document promises and does not keep.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in DOCUMENTS.into_iter().filter(|path| tree.get(path).is_none()) {
        findings.push(Finding::new(path, 1, "it is missing", "write it"));
    }
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        findings.extend(links(file, tree));
        if file.path.starts_with("docs/adr/") {
            findings.extend(adr(file));
        }
    }
    for file in tree.files.iter().filter(|file| names_paths(&file.path)) {
        findings.extend(paths(file, tree));
    }
    if let Some(file) = tree.get(ARCHITECTURE) {
        findings.extend(four_pages(file));
    }
    if let Some(file) = tree.get("CHANGELOG.md") {
        findings.extend(changelog(file));
    }
    findings
}

/// Documents whose paths in backticks are checked: those that lead a reader through the house.
fn names_paths(path: &str) -> bool {
    let guide = path.starts_with("docs/guides/") && path.ends_with(".md");
    guide || [ARCHITECTURE, "CONTRIBUTING.md", "README.md", "SECURITY.md"].contains(&path)
}

/// Every path in backticks is there.
fn paths(file: &File, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for named in line.split('`').skip(1).step_by(2).filter(|named| is_path(named)) {
            if !tree.holds(named) && !folder_of(named).is_some_and(|folder| tree.holds(folder)) {
                let what = format!("`{named}` is not there");
                let fix = "correct the path, or leave it out until it is";
                findings.push(Finding::new(&file.path, index + 1, what, fix));
            }
        }
    }
    findings
}

/// What stands in backticks and starts in one of the repository's folders is a path of it.
fn is_path(named: &str) -> bool {
    const FOLDERS: [&str; 8] =
        ["crates/", "docs/", "xtask/", "fuzz/", "scripts/", "benches/", ".ci/", ".config/"];
    let is_file = ["deny.toml", "Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"];
    // README, CHANGELOG and their like stand at the root and are written in capitals.
    let is_notice = named
        .strip_suffix(".md")
        .is_some_and(|name| !name.is_empty() && name.chars().all(|char| char.is_ascii_uppercase()));
    FOLDERS.iter().any(|folder| named.starts_with(folder)) || is_file.contains(&named) || is_notice
}

/// The folder of `folder/*.toml`.
fn folder_of(named: &str) -> Option<&str> {
    let (folder, last) = named.rsplit_once('/')?;
    last.contains('*').then_some(folder)
}

/// Links to files of the repository lead somewhere.
fn links(file: &File, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = target.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains(':') {
                continue;
            }
            if !tree.holds(&resolved(&file.path, target)) {
                let what = format!("the link to `{target}` leads nowhere");
                findings.push(Finding::new(&file.path, index + 1, what, "correct the link"));
            }
        }
    }
    findings
}

/// A link's target from the root, for a link in `path`.
fn resolved(path: &str, target: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn four_pages(file: &File) -> Option<Finding> {
    let (lines, bytes) = (file.text.lines().count(), file.text.len());
    (lines > MAX_LINES || bytes > MAX_BYTES).then(|| {
        let what = format!("{lines} lines and {bytes} bytes are more than four pages");
        let fix = format!("stay within {MAX_LINES} lines and {MAX_BYTES} bytes");
        Finding::new(&file.path, 1, what, fix)
    })
}

fn adr(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let headings: Vec<&str> = headings(file).map(|(_, heading)| heading).collect();
    for section in ADR_SECTIONS.into_iter().filter(|section| !headings.contains(section)) {
        let what = format!("no section `## {section}`");
        findings.push(Finding::new(&file.path, 1, what, "add it: every decision record has it"));
    }
    let lines = file.text.lines().count();
    if lines > MAX_ADR_LINES {
        let what = format!("{lines} lines are more than one page");
        let fix = format!("stay within {MAX_ADR_LINES} lines");
        findings.push(Finding::new(&file.path, 1, what, fix));
    }
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let numbered = name.get(..5).is_some_and(|start| {
        start.ends_with('-') && start.chars().take(4).all(|char| char.is_ascii_digit())
    });
    if !numbered {
        let fix = "name it NNNN-what-was-decided.md";
        findings.push(Finding::new(&file.path, 1, "the name has no number", fix));
    }
    findings
}

fn changelog(file: &File) -> Option<Finding> {
    let has = headings(file).any(|(_, heading)| heading == "[Unreleased]");
    (!has).then(|| {
        let fix = "changes that users notice go there first";
        Finding::new(&file.path, 1, "no section `## [Unreleased]`", fix)
    })
}

/// The second-level headings with their lines.
fn headings(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let lines = file.text.lines().enumerate();
    lines.filter_map(|(index, line)| Some((index + 1, line.strip_prefix("## ")?.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_path_that_is_not_there_is_found() {
        let tree = Tree::of(&[("crates/gate/src/lib.rs", ""), ("crates/gate/corpus/a.toml", "")]);
        for (text, expected) in [
            ("see `crates/gate/src/lib.rs`", 0),
            ("see `crates/gate/`", 0),
            ("see `crates/gate/corpus/*.toml`", 0),
            ("see `crates/gate/src/*.yaml`", 0),
            ("see `crates/store/`", 1),
            ("see `crates/gate/src/gone.rs` and `docs/gone.md`", 2),
            ("see crates/store/", 0),
            ("call `judge(a, b)` of `~/.aurora/policies.yaml`", 0),
        ] {
            assert_eq!(paths(&file("ARCHITECTURE.md", text), &tree).len(), expected, "{text}");
        }
    }

    #[test]
    fn paths_are_checked_in_the_documents_that_lead_through_the_house() {
        for (path, expected) in [
            ("ARCHITECTURE.md", 1),
            ("CONTRIBUTING.md", 1),
            ("docs/guides/a.md", 1),
            ("docs/adr/0001-a.md", 0),
            ("CHANGELOG.md", 0),
        ] {
            let tree = Tree::of(&[(path, "see `crates/store/` or `CLAIMS.md`")]);
            let gone = check(&tree).into_iter().filter(|one| one.what.ends_with("is not there"));
            assert_eq!(gone.count(), expected * 2, "{path}");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let tree = Tree::of(&[("docs/adr/0001-a.md", ""), ("README.md", "")]);
        for (path, text, expected) in [
            ("README.md", "[a](docs/adr/0001-a.md)", 0),
            ("README.md", "[a](./docs/adr/)", 0),
            ("docs/guides/a.md", "[a](../adr/0001-a.md#why) [b](../../README.md)", 0),
            ("docs/guides/a.md", "[a](adr/0001-a.md)", 1),
            ("README.md", "[a](https://example.org/) [b](#here)", 0),
        ] {
            assert_eq!(links(&file(path, text), &tree).len(), expected, "{path} {text}");
        }
    }

    #[test]
    fn the_architecture_note_stays_within_four_pages() {
        assert!(four_pages(&file("a", &"x\n".repeat(MAX_LINES))).is_none());
        assert!(four_pages(&file("a", &"x\n".repeat(MAX_LINES + 1))).is_some());
        assert!(four_pages(&file("a", &"x".repeat(MAX_BYTES + 1))).is_some());
    }

    #[test]
    fn a_decision_record_has_its_sections_its_page_and_its_number() {
        let whole = "# A\n## Status\n## Context\n## Decision\n## Consequences\n";
        for (path, text, expected) in [
            ("docs/adr/0001-a.md", whole.to_owned(), 0),
            ("docs/adr/0001-a.md", whole.replace("## Context\n", ""), 1),
            ("docs/adr/0001-a.md", String::new(), 4),
            ("docs/adr/a.md", whole.to_owned(), 1),
            ("docs/adr/0001-a.md", format!("{whole}{}", "x\n".repeat(MAX_ADR_LINES)), 1),
        ] {
            assert_eq!(adr(&file(path, &text)).len(), expected, "{path} {text}");
        }
    }

    #[test]
    fn a_changelog_has_a_place_for_what_comes_next() {
        assert!(changelog(&file("CHANGELOG.md", "# C\n\n## [Unreleased]\n")).is_none());
        assert!(changelog(&file("CHANGELOG.md", "# C\n\n## [0.1.0]\n")).is_some());
    }

    #[test]
    fn a_document_that_is_missing_is_found() {
        assert_eq!(check(&Tree::default()).len(), DOCUMENTS.len());
    }
}
