//! The corpus: shell lines as data, each with the decision that the default policy must give.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_gate::{Policy, judge};
use aurora_model::{Action, Context, Operation, Verdict};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

/// One line of the corpus.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    pub run: String,
    pub expect: String,
    pub operation: String,
    pub branch: Option<String>,
    pub cwd: Option<String>,
    pub root: Option<String>,
    pub home: Option<String>,
}

impl Case {
    pub fn context(&self) -> Context {
        let root = self.root.clone().unwrap_or_else(|| "/home/u/proj".to_owned());
        Context {
            cwd: Some(self.cwd.clone().unwrap_or_else(|| root.clone())),
            root: Some(root),
            home: Some(self.home.clone().unwrap_or_else(|| "/home/u".to_owned())),
            branch: Some(self.branch.clone().unwrap_or_else(|| "feature/x".to_owned())),
            ..Context::default()
        }
    }

    /// Whether it was written for this project's own corpus, not gathered outside.
    pub fn is_own(&self) -> bool {
        !self.id.starts_with("outside-")
    }

    pub fn judge(&self, command: &str) -> Verdict {
        let action = Action::Shell { command: command.to_owned() };
        judge(&action, &Policy::builtin(), &self.context())
    }
}

/// Every case of every file.
pub fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let file: File =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        all.extend(file.cases);
    }
    all
}

#[test]
fn pol_8_every_line_of_the_corpus_gets_its_decision() {
    let mut wrong = Vec::new();
    for case in cases() {
        let verdict = case.judge(&case.run);
        let (decision, operation) = (verdict.decision.name(), verdict.operation.name());
        if decision != case.expect || operation != case.operation {
            wrong.push(format!(
                "{}\n    {}\n    expected {} {}, got {decision} {operation} {:?}",
                case.id,
                case.run,
                case.expect,
                case.operation,
                verdict.reasons.first().map(|reason| &reason.message)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_corpus_is_broad_and_half_harmless() {
    let cases = cases();
    assert!(cases.len() >= 600, "only {} cases", cases.len());
    let harmless = cases.iter().filter(|case| case.expect == "allow").count();
    assert!(harmless * 100 / cases.len() >= 45, "only {harmless} harmless of {}", cases.len());
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ids = std::collections::BTreeSet::new();
    for case in &cases {
        *seen.entry(case.operation.as_str()).or_default() += 1;
        assert!(ids.insert(&case.id), "{} stands twice", case.id);
        assert!(Operation::from_name(&case.operation).is_some(), "{}", case.id);
        assert_eq!(case.expect == "allow", case.operation == "none", "{}", case.id);
    }
    for operation in [
        "none",
        "git_force_push",
        "git_push_main",
        "file_delete",
        "drop_table",
        "truncate",
        "protected_path",
        "git_discard",
        "sql_delete_all",
        "opaque_exec",
        "infra_destroy",
        "disk_wipe",
    ] {
        assert!(seen.get(operation).is_some_and(|count| *count >= 10), "{operation}: {seen:?}");
    }
}
