//! The architecture as a test: every promise about this repository that a program can check.

mod crates;
mod docs;
mod fences;
mod licences;
mod names;
mod paths;
mod purity;
mod rows;
mod rust;
mod size;
mod wording;

use std::fmt;
use std::path::Path;
use std::process::Command;

pub use self::licences::Package;

/// One thing that is not as the repository promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// The line, from one.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.fix)
    }
}

/// One text file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative to the root, with slashes.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl File {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// Everything that belongs to the repository.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The text files, in the order of their paths.
    pub files: Vec<File>,
    /// Everything that is built in, as cargo tells.
    pub packages: Vec<Package>,
}

impl Tree {
    /// Reads what git tracks or would track below `root`.
    ///
    /// # Errors
    /// When git cannot list the files, or cargo the packages.
    pub fn read(root: &Path) -> Result<Self, String> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot start git to list the files: {error}"))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("git cannot list the files: {}", told.trim()));
        }
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        // What is listed but gone is being deleted; what is no text has no lines to look at.
        let files = paths.into_iter().filter_map(|path| {
            let text = std::fs::read_to_string(root.join(path)).ok()?;
            Some(File { path: path.to_owned(), text })
        });
        Ok(Self { files: files.collect(), packages: licences::packages(root)? })
    }

    /// A tree of files that are given, for tests.
    #[cfg(test)]
    fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        Self { files: files.iter().map(file).collect(), packages: Vec::new() }
    }

    fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file or a folder of that name is there.
    fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|file| {
            (file.path == path && !path.ends_with('/')) || file.path.starts_with(&folder)
        })
    }
}

/// Everything that is out of order, by file and line.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        findings.extend(names::check(&file.path));
        findings.extend(wording::check(file));
        if file.is_rust() {
            findings.extend(rust::opening(file));
            findings.extend(purity::check(file));
            findings.extend(fences::check(file));
            findings.extend(size::check(file));
        }
    }
    findings.extend(size::stale(tree));
    findings.extend(crates::check(tree));
    findings.extend(docs::check(tree));
    findings.extend(rows::check(tree));
    findings.extend(licences::check(tree));
    findings.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_as_its_documents_promise() {
        let tree = Tree::read(&crate::root()).expect("git lists the files");
        let findings: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    }

    #[test]
    fn a_finding_says_where_it_is_and_what_to_do() {
        let finding = Finding::new("src/a.rs", 3, "it is wrong", "make it right");
        assert_eq!(finding.to_string(), "src/a.rs:3: it is wrong; make it right");
    }

    #[test]
    fn a_tree_holds_files_and_the_folders_they_are_in() {
        let tree = Tree::of(&[("crates/gate/src/lib.rs", "")]);
        for (path, expected) in [
            ("crates/gate/src/lib.rs", true),
            ("crates/gate/", true),
            ("crates/gate", true),
            ("crates/ga", false),
            ("crates/gate/src/lib.rs/", false),
        ] {
            assert_eq!(tree.holds(path), expected, "{path}");
        }
    }
}
