//! A crate exists to forbid something: who may see whom is read from the architecture's own table.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{File, Finding, Tree};

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Dependencies that only some crates may have: the others would lose what they forbid.
static FENCED: &[(&str, &[&str])] = &[
    ("anyhow", &["cli"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("genai", &["agents"]),
    ("hyper", &["server"]),
    ("hyper-util", &["server"]),
    ("lettre", &["engine"]),
    ("rusqlite", &["store"]),
    ("saphyr-parser", &["gate"]),
    ("sqlparser", &["gate"]),
    ("tokio", &["agents", "store", "engine", "server", "cli"]),
    ("axum", &["server"]),
];

/// Arrows between crates, fences round dependencies, and dependencies without a stated reason.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let allowed = match tree.get(ARCHITECTURE).map(table) {
        Some(allowed) if !allowed.is_empty() => allowed,
        _ => {
            let what = "no table of crates with the columns `crate` and `may see`";
            let fix = "the arrows between crates are read from it: write it";
            return vec![Finding::new(ARCHITECTURE, 1, what, fix)];
        }
    };
    let manifests = tree.files.iter().filter_map(|file| Some((crate_of(&file.path)?, file)));
    let manifests: BTreeMap<&str, &File> = manifests.collect();
    for (name, file) in &manifests {
        findings.extend(manifest(name, file, &allowed));
    }
    for name in allowed.keys().filter(|name| !manifests.contains_key(name.as_str())) {
        let what = format!("the table names a crate `{name}` that is not there");
        findings.push(Finding::new(ARCHITECTURE, 1, what, "take the row out until it is"));
    }
    let outside = tree.get("xtask/Cargo.toml");
    for file in manifests.values().copied().chain(outside) {
        findings.extend(past_the_list(file));
    }
    findings.extend(reasons(tree));
    findings
}

/// Dependencies that a manifest declares by itself, past the one list that has reasons and owners.
fn past_the_list(file: &File) -> Vec<Finding> {
    let parsed = file.text.parse::<Table>().unwrap_or_default();
    let mut findings = Vec::new();
    for (name, declared) in declared(&parsed) {
        if declared.get("workspace") != Some(&Value::Boolean(true)) {
            let what = format!("`{name}` is declared here and not in the workspace's list");
            let fix = "declare it in Cargo.toml at the root, and say `NAME.workspace = true` here";
            findings.push(Finding::new(&file.path, line_starting(&file.text, name), what, fix));
        }
    }
    findings
}

/// `crates/NAME/Cargo.toml`.
fn crate_of(path: &str) -> Option<&str> {
    let name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
    (!name.contains('/')).then_some(name)
}

/// The crates that each crate may see; nothing stands for all of them.
type Allowed = BTreeMap<String, Option<Vec<String>>>;

/// Reads the rows of the table whose header starts with `crate` and ends with `may see`.
fn table(file: &File) -> Allowed {
    let mut allowed = BTreeMap::new();
    let mut inside = false;
    for line in file.text.lines() {
        let Some(row) = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|')) else {
            inside = false;
            continue;
        };
        let mut cells = row.split('|').map(str::trim);
        let (first, last) = (cells.next().unwrap_or_default(), cells.next_back());
        let last = last.unwrap_or_default();
        if first == "crate" {
            inside = last == "may see";
        } else if inside && !first.starts_with('-') {
            let seen = (last != "all").then(|| in_backticks(last));
            allowed.insert(first.trim_matches('`').to_owned(), seen);
        }
    }
    allowed
}

fn in_backticks(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn manifest(name: &str, file: &File, allowed: &Allowed) -> Vec<Finding> {
    let Ok(parsed) = file.text.parse::<Table>() else {
        return vec![Finding::new(&file.path, 1, "not TOML", "correct it")];
    };
    let Some(may_see) = allowed.get(name) else {
        let what = format!("the crate `{name}` has no row in {ARCHITECTURE}");
        return vec![Finding::new(&file.path, 1, what, "say there what it forbids and may see")];
    };
    let mut findings = Vec::new();
    let at = |dependency: &str| line_starting(&file.text, dependency);
    for dependency in dependencies(&parsed) {
        let seen = dependency.strip_prefix("aurora-").unwrap_or_default();
        let forbidden = |list: &Vec<String>| !list.iter().any(|one| one == seen);
        if !seen.is_empty() && may_see.as_ref().is_some_and(forbidden) {
            let what = format!("`{name}` sees `{seen}`, which {ARCHITECTURE} does not allow");
            let fix = "take the arrow out, or write an ADR and change the table";
            findings.push(Finding::new(&file.path, at(dependency), what, fix));
        }
        let fence = FENCED.iter().find(|(fenced, _)| *fenced == dependency);
        if fence.is_some_and(|(_, crates)| !crates.contains(&name)) {
            let what = format!("`{dependency}` is not for `{name}`");
            let fix = "use it where the fence in xtask/src/tidy/crates.rs lets it be used";
            findings.push(Finding::new(&file.path, at(dependency), what, fix));
        }
    }
    let inherits = parsed.get("lints").and_then(|lints| lints.get("workspace"));
    if inherits != Some(&Value::Boolean(true)) {
        let fix = "add `[lints] workspace = true`";
        findings.push(Finding::new(&file.path, 1, "the workspace's lints do not hold here", fix));
    }
    findings
}

/// The names of all dependencies, of every kind and target.
fn dependencies(manifest: &Table) -> Vec<&str> {
    declared(manifest).into_iter().map(|(name, _)| name).collect()
}

/// All dependencies, of every kind and target, as they are declared.
fn declared(manifest: &Table) -> Vec<(&str, &Value)> {
    let mut found = Vec::new();
    for (key, value) in manifest {
        let Some(below) = value.as_table() else { continue };
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => {
                found.extend(below.iter().map(|(name, declared)| (name.as_str(), declared)));
            }
            "target" => {
                found.extend(below.values().filter_map(Value::as_table).flat_map(declared));
            }
            _ => {}
        }
    }
    found
}

/// The line, from one, that starts with this word.
fn line_starting(text: &str, word: &str) -> usize {
    text.lines().position(|line| line.trim_start().starts_with(word)).unwrap_or(0) + 1
}

/// Every dependency of the workspace has its reason and its owner in `deny.toml`.
fn reasons(tree: &Tree) -> Vec<Finding> {
    let (Some(root), Some(deny)) = (tree.get("Cargo.toml"), tree.get("deny.toml")) else {
        return vec![Finding::new("deny.toml", 1, "it is missing", "write it")];
    };
    let parsed = root.text.parse::<Table>().unwrap_or_default();
    let listed = parsed.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let names = listed.and_then(Value::as_table).map(|table| table.keys());
    let names = names.into_iter().flatten().filter(|name| !name.starts_with("aurora-"));
    let explained =
        |name: &&String| deny.text.lines().any(|line| line.starts_with(&format!("#   {name} (")));
    let missing = names.filter(|name| !explained(name));
    let finding = |name: &String| {
        let what = format!("`{name}` has no reason and owner in deny.toml");
        let fix = "add a line `#   NAME (OWNER): why` there";
        Finding::new("Cargo.toml", line_starting(&root.text, name), what, fix)
    };
    missing.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
| crate | what | may see |
|---|---|---|
| `model` | nouns | – |
| `gate` | rules | `model` |
| `cli` | face | all |

| other | table |
|---|---|
| `store` | x |
";

    fn found(manifests: &[(&str, &str)]) -> Vec<String> {
        let mut files = vec![("ARCHITECTURE.md", TABLE), ("Cargo.toml", ""), ("deny.toml", "")];
        for name in ["model", "gate", "cli"] {
            let path: &str = match name {
                "model" => "crates/model/Cargo.toml",
                "gate" => "crates/gate/Cargo.toml",
                _ => "crates/cli/Cargo.toml",
            };
            if !manifests.iter().any(|(given, _)| *given == path) {
                files.push((path, "[lints]\nworkspace = true\n"));
            }
        }
        files.extend(manifests);
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_arrow_that_the_table_does_not_allow_is_found() {
        let lints = "[lints]\nworkspace = true\n";
        for (path, section, expected) in [
            ("crates/gate/Cargo.toml", "[dependencies]\naurora-model.workspace = true\n", 0),
            ("crates/gate/Cargo.toml", "[dependencies]\naurora-cli.workspace = true\n", 1),
            ("crates/gate/Cargo.toml", "[dev-dependencies]\naurora-cli.workspace = true\n", 1),
            (
                "crates/gate/Cargo.toml",
                "[target.'cfg(unix)'.dependencies]\naurora-cli.workspace = true\n",
                1,
            ),
            ("crates/model/Cargo.toml", "[dependencies]\naurora-gate.workspace = true\n", 1),
            ("crates/cli/Cargo.toml", "[dependencies]\naurora-gate.workspace = true\n", 0),
            ("crates/gate/Cargo.toml", "[dependencies]\nanyhow.workspace = true\n", 1),
            ("crates/cli/Cargo.toml", "[dependencies]\nanyhow.workspace = true\n", 0),
            ("crates/store/Cargo.toml", "", 1),
            ("crates/gate/Cargo.toml", "[dependencies\n", 1),
        ] {
            let findings = found(&[(path, &format!("{section}{lints}"))]);
            assert_eq!(findings.len(), expected, "{path} {section} {findings:?}");
        }
        assert_eq!(found(&[("crates/gate/Cargo.toml", "[package]\n")]).len(), 1, "no lints");
    }

    #[test]
    fn a_dependency_past_the_workspaces_list_is_found() {
        let lints = "[lints]\nworkspace = true\n";
        for (section, expected) in [
            ("[dependencies]\nserde.workspace = true\n", 0),
            ("[dependencies]\nserde = { workspace = true, features = [\"rc\"] }\n", 0),
            ("[dependencies]\nserde = \"1\"\n", 1),
            ("[dependencies]\nserde = { path = \"../../serde\" }\n", 1),
            ("[dev-dependencies]\nserde = { git = \"https://example.org/serde\" }\n", 1),
            ("[target.'cfg(unix)'.build-dependencies]\nserde = \"1\"\n", 1),
        ] {
            let text = format!("{section}{lints}");
            for path in ["crates/gate/Cargo.toml", "xtask/Cargo.toml"] {
                assert_eq!(found(&[(path, &text)]).len(), expected, "{path} {section}");
            }
        }
    }

    #[test]
    fn a_table_that_is_missing_or_too_long_is_found() {
        assert_eq!(check(&Tree::of(&[("ARCHITECTURE.md", "nothing")])).len(), 1);
        let tree = Tree::of(&[("ARCHITECTURE.md", TABLE), ("Cargo.toml", ""), ("deny.toml", "")]);
        assert_eq!(check(&tree).len(), 3, "three crates that are not there");
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let root = "[workspace.dependencies]\naurora-model = \"1\"\nserde = \"1\"\n";
        let tree = |deny: &str| Tree::of(&[("Cargo.toml", root), ("deny.toml", deny)]);
        assert_eq!(reasons(&tree("")).len(), 1);
        assert_eq!(reasons(&tree("#   serde (model): shapes as JSON\n")).len(), 0);
        assert_eq!(reasons(&Tree::default()).len(), 1);
    }
}
