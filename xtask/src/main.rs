//! `cargo xtask`: the repository's chores by name.

use std::process::{Command, ExitCode};

use xtask::{fuzz, root, say, tidy};

const USAGE: &str = "usage:
  cargo xtask tidy                                    the architecture as a test
  cargo xtask fuzz [--smoke] [--seconds N] [--seed N] [shell|sql|patch|policy …]
  cargo xtask fuzz --input FILE TARGET                run one saved input again
  cargo xtask bench gate                              how fast the gate is, as ratios
  cargo xtask bench workspace [FILES …]               how fast checkpoints are; 1000 20000 100000
  cargo xtask bench engine [EVENTS]                   how fast the log is; 100000
  cargo xtask bench approvals [REQUESTS]              how fast the queue is; 100000";

/// What is measured under each name: the packages and their benches, one after the other.
static BENCHES: &[(&str, &[(&str, &str)])] = &[
    ("gate", &[("xtask", "gate")]),
    ("workspace", &[("xtask", "workspace")]),
    ("engine", &[("aurora-store", "store"), ("xtask", "engine")]),
    ("approvals", &[("aurora-engine", "approvals")]),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["tidy"] => run_tidy(),
        ["fuzz", rest @ ..] => fuzz::Plan::read(rest).and_then(|plan| fuzz::run(&plan)),
        ["bench", name, rest @ ..] => bench(name, rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say::complaint(&message);
            ExitCode::FAILURE
        }
    }
}

fn run_tidy() -> Result<(), String> {
    let tree = tidy::Tree::read(&root())?;
    let findings = tidy::check(&tree);
    for finding in &findings {
        say::line(&finding.to_string());
    }
    if findings.is_empty() {
        say::line(&format!("tidy: {} files, nothing to put in order", tree.files.len()));
        return Ok(());
    }
    Err(format!("tidy: {} things to put in order", findings.len()))
}

/// Builds the program and the benches with optimisation, and runs the benches.
fn bench(name: &str, rest: &[&str]) -> Result<(), String> {
    let Some((_, benches)) = BENCHES.iter().find(|(known, _)| *known == name) else {
        return Err(USAGE.to_owned());
    };
    // Only those of this package start the program.
    if benches.iter().any(|(package, _)| *package == "xtask") {
        cargo(&["build", "--locked", "--release", "--quiet", "--package", "aurora-cli"])?;
    }
    for (package, bench) in *benches {
        let run = ["bench", "--locked", "--quiet", "--package", package, "--bench", bench, "--"];
        cargo(&[run.as_slice(), rest].concat())?;
    }
    Ok(())
}

fn cargo(args: &[&str]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(&cargo).args(args).current_dir(root()).status();
    let status = status.map_err(|error| format!("cannot start {cargo}: {error}"))?;
    if !status.success() {
        return Err(format!("cargo {} ended with {status}", args.join(" ")));
    }
    Ok(())
}
