//! Fences between folders of one crate, and round the one place where the program ends.

use super::paths::{Named, named};
use super::rust::{code, test_lines};
use super::{File, Finding};

/// What the code of a folder does not name. A folder's own tests may: they look at the whole.
struct Fence {
    /// The folder's module, as a path of files without the ending.
    inside: &'static str,
    /// The paths from the crate's root that it does not name.
    outside: &'static [&'static [&'static str]],
    /// Which promise that keeps.
    promise: &'static str,
}

static FENCES: &[Fence] = &[
    Fence {
        inside: "crates/gate/src/analysis",
        outside: &[&["crate", "policy"], &["crate", "judge"], &["crate", "Policy"]],
        promise: "nothing in `analysis` knows a policy",
    },
    Fence {
        inside: "crates/gate/src/judge",
        outside: &[
            &["crate", "analysis", "patch"],
            &["crate", "analysis", "script"],
            &["crate", "analysis", "shell"],
            &["crate", "analysis", "sql"],
            &["crate", "analysis", "tool"],
            &["crate", "analysis", "*"],
        ],
        promise: "nothing in `judge` parses what it judges",
    },
];

/// The file that turns an outcome into a number.
const EXIT: &str = "crates/cli/src/exit.rs";

/// Ways to end the program, or to choose its number.
const ENDS: [&[&str]; 5] = [
    &["process", "exit"],
    &["process", "abort"],
    &["ExitCode", "from"],
    &["ExitCode", "SUCCESS"],
    &["ExitCode", "FAILURE"],
];

/// Every path that a file names and that lies behind a fence.
pub fn check(file: &File) -> Vec<Finding> {
    let code = code(&file.text);
    let tests = test_lines(&file.path, &code);
    let fence = FENCES.iter().find(|fence| is_in(&file.path, fence.inside));
    let mut findings = Vec::new();
    for one in named(&code) {
        if tests.get(one.line - 1) == Some(&true) {
            continue;
        }
        if let Some(fence) = fence
            && crosses(fence, &file.path, &one)
        {
            let what = format!("`{}` is behind a fence: {}", one.text(), fence.promise);
            let fix = "let the caller pass in what is needed, or move this code";
            findings.push(Finding::new(&file.path, one.line, what, fix));
        }
        if ends(&file.path, &one) {
            let what = format!("`{}`: only {EXIT} knows how the program ends", one.text());
            let fix = "return an outcome or an error, and let it be turned into a number there";
            findings.push(Finding::new(&file.path, one.line, what, fix));
        }
    }
    findings
}

/// `a/b` holds `a/b.rs` and everything below `a/b/`.
fn is_in(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

fn crosses(fence: &Fence, path: &str, one: &Named) -> bool {
    let parts = from_root(path, &one.parts);
    let whole = parts.as_slice() == ["crate"] || parts.as_slice() == ["crate", "*"];
    let reaches =
        |outside: &&[&str]| parts.len() >= outside.len() && parts.iter().zip(*outside).all(same);
    fence.outside.iter().any(reaches) || (whole && (one.renamed || parts.len() > 1))
}

fn same((part, own): (&String, &&str)) -> bool {
    part == own
}

/// A path from the crate's root: `super` and `self` are resolved by the file's place.
fn from_root(path: &str, parts: &[String]) -> Vec<String> {
    let first = parts.first().map(String::as_str);
    if !matches!(first, Some("super" | "self")) {
        return parts.to_vec();
    }
    let below = path.split_once("/src/").map_or(path, |(_, below)| below);
    let module = below.strip_suffix(".rs").unwrap_or(below);
    let module = if matches!(module, "lib" | "main") { "" } else { module };
    let mut from: Vec<String> = vec!["crate".to_owned()];
    from.extend(module.split('/').filter(|part| !part.is_empty()).map(str::to_owned));
    for part in parts {
        match part.as_str() {
            "self" => {}
            "super" => {
                from.pop();
            }
            name => from.push(name.to_owned()),
        }
    }
    from
}

/// Whether code outside of the one file ends the program.
fn ends(path: &str, one: &Named) -> bool {
    if path == EXIT {
        return false;
    }
    // `xtask` has no numbers of its own: its `main` says success or failure.
    let chooses = |end: &&[&str]| end.first() == Some(&"process") || path.starts_with("crates/");
    let hides = one.renamed
        && (one.ends_with(&["std", "process"]) || one.ends_with(&["process", "ExitCode"]));
    hides || ENDS.iter().filter(|end| chooses(end)).any(|end| one.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&File { path: path.into(), text: text.into() }).len()
    }

    #[test]
    fn a_path_across_a_fence_is_found() {
        for (path, text, expected) in [
            ("crates/gate/src/analysis.rs", "use crate::policy::Policy;", 1),
            ("crates/gate/src/analysis/shell.rs", "use crate::{\n    judge,\n    Policy,\n};", 2),
            ("crates/gate/src/analysis/shell.rs", "let a = crate::judge::judge(b);", 1),
            ("crates/gate/src/analysis/shell.rs", "use super::super::policy::keys;", 1),
            ("crates/gate/src/analysis/shell.rs", "use crate as whole;", 1),
            ("crates/gate/src/analysis/shell.rs", "use crate::*;", 1),
            ("crates/gate/src/analysis/shell.rs", "pub(crate) fn a() {}", 0),
            ("crates/gate/src/analysis/shell.rs", "use super::policy;", 0),
            ("crates/gate/src/analysis/shell.rs", "use crate::analysis::path::PatternSet;", 0),
            ("crates/gate/src/analysis/tests.rs", "use crate::judge::describe;", 0),
            ("crates/gate/src/analysis.rs", "#[cfg(test)]\nmod tests {\n use crate::judge;\n}", 0),
            ("crates/gate/src/judge.rs", "use crate::analysis::shell;", 1),
            ("crates/gate/src/judge/paths.rs", "use crate::analysis::{Analysis, sql::read};", 1),
            ("crates/gate/src/judge/paths.rs", "use crate::analysis::*;", 1),
            ("crates/gate/src/judge/paths.rs", "use crate::analysis::path::PatternSet;", 0),
            ("crates/gate/src/judge/tests.rs", "use crate::analysis::shell;", 0),
            ("crates/gate/src/policy.rs", "use crate::analysis::Analysis;", 0),
        ] {
            assert_eq!(count(path, text), expected, "{path} {text}");
        }
    }

    #[test]
    fn an_end_of_the_program_outside_its_one_place_is_found() {
        for text in [
            "std::process::exit(1)",
            "use std::process;\nfn a() {\n process::exit(1)\n}",
            "use std::process::exit;",
            "use std::{process::{Command, abort}};",
            "use std::process as p;",
            "ExitCode::from(3)",
        ] {
            assert_eq!(count("crates/cli/src/commands/demo.rs", text), 1, "{text}");
            assert_eq!(count("crates/cli/src/exit.rs", text), 0, "{text}");
            assert_eq!(count("crates/cli/tests/a.rs", text), 0, "{text}");
        }
        assert_eq!(count("xtask/src/main.rs", "std::process::exit(1)"), 1);
        assert_eq!(count("xtask/src/main.rs", "ExitCode::SUCCESS"), 0);
        assert_eq!(count("crates/cli/src/main.rs", "use std::process::ExitCode;"), 0);
    }
}
