//! Which files a smart rollback is about.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use aurora_model::{Change, Checkpoint, RepoPath, TreeId, Violation};
use aurora_workspace::escape::{self, DEFAULT_QUOTA_BYTES, Facts, Ground};
use aurora_workspace::{Scope, Workspace as _};
use serde_json::Value;

use super::target;
use crate::commands::checkpoints::tree_now;
use crate::exit::Failure;
use crate::wiring::input;
use crate::wiring::workspace::Session;

const FORM: &str = "a JSON array of violations or of paths from the worktree's root, or an object \
                    with `violations`, as `aur checkpoint --json` prints it";

/// The files of the violations in a file; without one, of those that the checkpoints after the one to
/// go back to have, and of those that the worktree has now.
pub fn scope(session: &Session, to: &Checkpoint, file: Option<&Path>) -> anyhow::Result<Scope> {
    let scope = match file {
        Some(file) => read(&input::file_or_stdin(file)?)
            .map_err(|problem| Failure::usage(problem).hint(format!("it holds {FORM}")))?,
        None => Scope::Violations(known(session, to)?),
    };
    with_files(scope)
}

/// The same, when it is about any file.
fn with_files(scope: Scope) -> anyhow::Result<Scope> {
    let any = match &scope {
        Scope::Violations(violations) => violations.iter().any(|one| one.file.is_some()),
        Scope::Paths(paths) => !paths.is_empty(),
        Scope::Everything => true,
    };
    if any {
        return Ok(scope);
    }
    Err(Failure::usage("no violation names a file, so there is nothing to roll back")
        .hint("--violations FILE gives a list; --file PATH names files yourself")
        .into())
}

fn known(session: &Session, to: &Checkpoint) -> anyhow::Result<Vec<Violation>> {
    let all = session.ask(|workspace| workspace.checkpoints())?;
    let after = all.iter().skip_while(|one| one.checkpoint_id != to.checkpoint_id).skip(1);
    let mut found: Vec<Violation> = after.flat_map(|one| one.violations.iter().cloned()).collect();
    if let Some(latest) = all.last() {
        found.extend(since(session, latest, &tree_now(session, latest)?)?);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn since(session: &Session, latest: &Checkpoint, now: &TreeId) -> anyhow::Result<Vec<Violation>> {
    let changes = session.ask(|workspace| workspace.changes(&latest.tree, now))?;
    Ok(of_now(session, &changes))
}

/// The latest checkpoint that has none of the violations that the worktree has now, and these.
pub fn aim(session: &Session) -> anyhow::Result<(Checkpoint, Scope)> {
    let all = session.ask(|workspace| workspace.checkpoints())?;
    // Without a checkpoint to go to, that is what is wrong first.
    let latest = target::find(session, None)?;
    let now = tree_now(session, all.last().unwrap_or(&latest))?;
    let mut present = of_tree(session, &all, &now)?;
    if let Some(last) = all.last() {
        present.extend(since(session, last, &now)?);
    }
    present.sort();
    present.dedup();
    let scope = with_files(Scope::Violations(present.clone()))?;
    let files: Vec<&RepoPath> = present.iter().filter_map(|one| one.file.as_ref()).collect();
    for (at, one) in all.iter().enumerate().rev().filter(|(_, one)| target::is_meant(one)) {
        let had = of_tree(session, all.get(..=at).unwrap_or_default(), &one.tree)?;
        let has = |file: &RepoPath| had.iter().any(|one| one.file.as_ref() == Some(file));
        if !files.iter().any(|file| has(file)) {
            return Ok((one.clone(), scope));
        }
    }
    Err(Failure::usage("no checkpoint is without the violations that there are now")
        .hint("name the one to go back to, as `aur checkpoints list` shows them")
        .into())
}

/// The violations in a tree, of those that checkpoints noted when the file became what it is there.
fn of_tree(
    session: &Session,
    noted: &[Checkpoint],
    tree: &TreeId,
) -> anyhow::Result<Vec<Violation>> {
    let mut found = Vec::new();
    for one in noted.iter().filter(|one| !one.violations.is_empty()) {
        let changed = session.ask(|workspace| workspace.changes(&one.tree, tree))?;
        for violation in &one.violations {
            let Some(file) = &violation.file else { continue };
            // What no tree has, such as git's own data, no rollback takes back.
            let there = session.ask(|workspace| workspace.read(&one.tree, file))?.is_some();
            if there && !changed.iter().any(|change| change.path == *file) {
                found.push(violation.clone());
            }
        }
    }
    Ok(found)
}

/// What is wrong with files that no checkpoint has yet.
fn of_now(session: &Session, changes: &[Change]) -> Vec<Violation> {
    let place = session.workspace.place();
    let root = place.root.as_path();
    let link = |path: &RepoPath| {
        let target = std::fs::read_link(root.join(OsStr::from_bytes(path.as_bytes()))).ok()?;
        Some(target.into_os_string().into_vec())
    };
    let ground = Ground {
        root,
        git_dirs: &[place.git_dir.clone(), place.common_dir.clone()],
        link: &link,
        other_links: &Vec::new,
        facts: &|path| Facts::of(root, path),
        used_bytes: None,
        quota_bytes: DEFAULT_QUOTA_BYTES,
    };
    escape::check(changes, &[], &ground)
}

/// Reads a list of violations. What names only files is a list of paths.
fn read(bytes: &[u8]) -> Result<Scope, String> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| format!("cannot read the violations as JSON: {error}"))?;
    let list = value.get("violations").unwrap_or(&value);
    let list = list.as_array().ok_or("the violations are no list")?;
    let whole: Result<Vec<Violation>, _> =
        list.iter().map(|one| serde_json::from_value(one.clone())).collect();
    if let Ok(violations) = whole {
        return Ok(Scope::Violations(violations));
    }
    let mut paths = Vec::new();
    for one in list {
        let file = one.as_str().or_else(|| one.get("file")?.as_str());
        let file = file.ok_or_else(|| format!("a violation names no file: {one}"))?;
        let path = RepoPath::parse(file)
            .ok_or_else(|| format!("a violation's file is no path below the root: {file}"))?;
        paths.push(path);
    }
    Ok(Scope::Paths(paths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_read_in_each_form() {
        let path = RepoPath::new("src/a").expect("a path");
        for text in [
            r#"["src/a"]"#,
            r#"[{"file": "src/a", "constraint": "of another program"}]"#,
            r#"{"violations": [{"file": "src/a"}]}"#,
        ] {
            assert_eq!(read(text.as_bytes()), Ok(Scope::Paths(vec![path.clone()])), "{text}");
        }
        let whole = r#"[{"file": "src/a", "constraint": "hard_link", "severity": "warning",
                         "message": "m", "suggestion": "s"}]"#;
        let Ok(Scope::Violations(found)) = read(whole.as_bytes()) else { panic!("{whole}") };
        assert_eq!(found.first().and_then(|one| one.file.clone()), Some(path));
        for text in ["", "{}", "[1]", r#"["../out"]"#, r#"[{"file": null}]"#] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
