//! What is built in has a licence on the list, comes from the registry, and comes once.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use toml::{Table, Value};

use super::{Finding, Tree};

const DENY: &str = "deny.toml";
const LOCK: &str = "Cargo.lock";
/// Where everything that is not ours comes from.
const REGISTRIES: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// One package that is built in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The licences, as an expression.
    pub license: Option<String>,
    /// Where it comes from; nothing for a folder on this machine.
    pub source: Option<String>,
    /// Where its manifest lies.
    pub manifest_path: String,
    /// What it names as dependencies.
    #[serde(default)]
    pub dependencies: Vec<Dependency>,
}

/// A dependency that a package names, whether it is built or not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Dependency {
    /// Its name.
    pub name: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: String,
}

/// Everything in the lock file, as cargo tells; our own packages are named relative to the root.
pub fn packages(root: &Path) -> Result<Vec<Package>, String> {
    let told = metadata(root)?;
    let told: Metadata = serde_json::from_str(&told)
        .map_err(|error| format!("cannot read what cargo metadata says: {error}"))?;
    let prefix = format!("{}/", told.workspace_root);
    let mut packages = told.packages;
    for package in &mut packages {
        if let Some(inside) = package.manifest_path.strip_prefix(&prefix) {
            package.manifest_path = inside.to_owned();
        }
    }
    Ok(packages)
}

/// Asks without the network first. A machine that only ever built for itself lacks the packages of
/// other systems; there the network is asked, and without one the packages of this system count.
fn metadata(root: &Path) -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let run = |args: &[&str]| {
        let output = Command::new(&cargo).args(args).current_dir(root).output();
        let output = output.map_err(|error| format!("cannot start {cargo}: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let told = String::from_utf8_lossy(&output.stderr);
        Err(format!("cargo cannot list the packages: {}", told.trim()))
    };
    let version = run(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let ask = ["metadata", "--locked", "--format-version", "1"];
    let here = [ask.as_slice(), &["--offline", "--filter-platform", host]].concat();
    run(&[ask.as_slice(), &["--offline"]].concat()).or_else(|_| run(&ask)).or_else(|_| run(&here))
}

/// Packages that `deny.toml` does not let in.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(deny) = tree.get(DENY) else { return Vec::new() };
    let Ok(deny) = deny.text.parse::<Table>() else {
        return vec![Finding::new(DENY, 1, "not TOML", "correct it")];
    };
    let at = |path: &[&str]| path.iter().try_fold(&deny, |table, key| table.get(*key)?.as_table());
    let list = |table: Option<&Table>, key: &str| {
        table.and_then(|table| table.get(key)?.as_array().cloned()).unwrap_or_default()
    };
    let allowed = list(at(&["licenses"]), "allow");
    let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    let banned = list(at(&["bans"]), "deny");
    let banned: Vec<&str> =
        banned.iter().filter(|one| !is_wrapped(one, tree)).filter_map(name).collect();
    let skipped = list(at(&["bans"]), "skip");
    let skipped: Vec<&str> = skipped.iter().filter_map(name).collect();
    let is_skipped =
        |package: &Package| skipped.contains(&&*format!("{}@{}", package.name, package.version));
    let mut findings = Vec::new();
    if tree.packages.is_empty() || allowed.is_empty() {
        let what = "no packages, or no licences that are allowed";
        findings.push(Finding::new(DENY, 1, what, "list the licences, and have a lock file"));
    }
    for package in &tree.packages {
        for what in unwelcome(package, &allowed, &banned) {
            let what = format!("{} {}: {what}", package.name, package.version);
            let fix = "do without it, or change deny.toml and say why";
            findings.push(Finding::new(LOCK, 1, what, fix));
        }
        let other = tree
            .packages
            .iter()
            .filter(|other| other.name == package.name && other.version != package.version)
            .find(|other| !is_skipped(other) && other.version < package.version);
        if is_skipped(package) {
            continue;
        }
        if let Some(other) = other {
            let what =
                format!("{} stands twice, {} and {}", other.name, other.version, package.version);
            findings.push(Finding::new(LOCK, 1, what, "bring both to one version"));
        }
    }
    findings
}

fn name(entry: &Value) -> Option<&str> {
    entry.get("crate")?.as_str()
}

/// Whether a banned package comes only with one that may have it, and none of ours names it.
fn is_wrapped(entry: &Value, tree: &Tree) -> bool {
    let wrappers = entry.get("wrappers").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_wrapper = |package: &Package| {
        wrappers.iter().any(|wrapper| wrapper.as_str() == Some(package.name.as_str()))
    };
    let names_it = |package: &Package| {
        package.source.is_none()
            && package.dependencies.iter().any(|one| Some(one.name.as_str()) == name(entry))
    };
    tree.packages.iter().any(is_wrapper) && !tree.packages.iter().any(names_it)
}

/// Why a package may not be built in.
fn unwelcome(package: &Package, allowed: &[&str], banned: &[&str]) -> Vec<String> {
    let mut reasons = Vec::new();
    match package.license.as_deref() {
        Some(licence) if permits(licence, allowed) => {}
        Some(licence) => reasons.push(format!("its licence `{licence}` is not allowed")),
        None => reasons.push("it names no licence".to_owned()),
    }
    match package.source.as_deref() {
        Some(source) if REGISTRIES.contains(&source) => {}
        Some(source) => reasons.push(format!("it comes from {source}")),
        None if Path::new(&package.manifest_path).is_absolute() => {
            reasons.push("it comes from a folder outside of the repository".to_owned());
        }
        None => {}
    }
    if banned.contains(&package.name.as_str()) {
        reasons.push("it is banned".to_owned());
    }
    reasons
}

/// Whether an expression of licences can be met with those that are allowed.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    // A slash is how licences were separated before expressions; it means a choice.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest, allowed) == Some(true) && rest.is_empty()
}

fn any(rest: &mut &[&str], allowed: &[&str]) -> Option<bool> {
    let mut met = all(rest, allowed)?;
    while take(rest, "OR") {
        met |= all(rest, allowed)?;
    }
    Some(met)
}

fn all(rest: &mut &[&str], allowed: &[&str]) -> Option<bool> {
    let mut met = one(rest, allowed)?;
    while take(rest, "AND") {
        met &= one(rest, allowed)?;
    }
    Some(met)
}

fn one(rest: &mut &[&str], allowed: &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let met = any(rest, allowed)?;
        return take(rest, ")").then_some(met);
    }
    let name = next(rest)?;
    if take(rest, "WITH") {
        let whole = format!("{name} WITH {}", next(rest)?);
        return Some(allowed.contains(&whole.as_str()));
    }
    Some(allowed.contains(&name))
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    let is = rest.first() == Some(&word);
    if is {
        next(rest);
    }
    is
}

fn next<'w>(rest: &mut &[&'w str]) -> Option<&'w str> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: &str =
        "[licenses]\nallow = [\"MIT\", \"Zlib\"]\n[bans]\ndeny = [{ crate = \"slow\" }]\n";

    fn package(name: &str, version: &str, licence: Option<&str>, source: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: licence.map(str::to_owned),
            source: source.map(str::to_owned),
            manifest_path: "crates/a/Cargo.toml".to_owned(),
            dependencies: Vec::new(),
        }
    }

    fn count(deny: &str, packages: Vec<Package>) -> usize {
        let mut tree = Tree::of(&[(DENY, deny)]);
        tree.packages = packages;
        check(&tree).len()
    }

    #[test]
    fn packages_that_the_list_does_not_let_in_are_found() {
        let from = Some(REGISTRIES[0]);
        for (name, licence, source, expected) in [
            ("a", Some("MIT"), from, 0),
            ("a", Some("MIT"), None, 0),
            ("a", Some("GPL-3.0"), from, 1),
            ("a", None, from, 1),
            ("a", Some("MIT"), Some("git+https://example.org/a#1234"), 1),
            ("a", Some("MIT"), Some("registry+https://example.org/index"), 1),
            ("slow", Some("MIT"), from, 1),
            ("slow", Some("GPL-3.0"), Some("git+https://example.org/a"), 3),
        ] {
            let found = count(ALLOW, vec![package(name, "1.0.0", licence, source)]);
            assert_eq!(found, expected, "{name} {licence:?} {source:?}");
        }
    }

    #[test]
    fn what_is_banned_may_come_with_its_wrapper_and_not_with_us() {
        let deny = "[licenses]\nallow = [\"MIT\"]\n[bans]\n\
            deny = [{ crate = \"slow\", wrappers = [\"big\"] }]\n";
        let slow = || package("slow", "1.0.0", Some("MIT"), Some(REGISTRIES[0]));
        let big = || package("big", "1.0.0", Some("MIT"), Some(REGISTRIES[0]));
        assert_eq!(count(deny, vec![slow()]), 1);
        assert_eq!(count(deny, vec![slow(), big()]), 0);
        let mut ours = package("a", "1.0.0", Some("MIT"), None);
        ours.dependencies.push(Dependency { name: "slow".to_owned() });
        assert_eq!(count(deny, vec![slow(), big(), ours]), 1);
    }

    #[test]
    fn a_folder_elsewhere_a_second_version_and_an_empty_list_are_found() {
        let mut elsewhere = package("a", "1.0.0", Some("MIT"), None);
        elsewhere.manifest_path = "/somewhere/a/Cargo.toml".to_owned();
        assert_eq!(count(ALLOW, vec![elsewhere]), 1);
        let twice = ["1.0.0", "2.0.0"].map(|version| package("a", version, Some("MIT"), None));
        assert_eq!(count(ALLOW, twice.to_vec()), 1);
        assert_eq!(count(ALLOW, Vec::new()), 1);
        assert_eq!(count("[licenses", Vec::new()), 1);
    }

    #[test]
    fn an_expression_of_licences_is_read_by_its_meaning() {
        let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        for (expression, expected) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("MIT OR GPL-3.0 AND LGPL-2.1", true),
            ("(GPL-3.0 OR LGPL-2.1) AND MIT", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT WITH LLVM-exception", false),
            ("MIT GPL-3.0", false),
            ("(MIT", false),
            ("MIT OR", false),
            ("", false),
        ] {
            assert_eq!(permits(expression, &allowed), expected, "{expression}");
        }
    }
}
