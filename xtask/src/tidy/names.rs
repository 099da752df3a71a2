//! Rooms have names that say what is in them.

use super::Finding;

const BANNED: [&str; 8] =
    ["core", "common", "utils", "util", "helpers", "manager", "service", "types"];

/// Whether a path has a room that could hold anything.
pub fn check(path: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if path == "mod.rs" || path.ends_with("/mod.rs") {
        let fix = "name it after its folder, beside the folder (`foo.rs` + `foo/`)";
        findings.push(Finding::new(path, 1, "`mod.rs` says nothing in a list of files", fix));
    }
    // Files are rooms only where they are modules: `scripts/common` would be one, a corpus file
    // about a program that is called so would not.
    if path.starts_with("crates/gate/corpus/") {
        return findings;
    }
    for room in path.split('/') {
        let name = room.rsplit_once('.').map_or(room, |(name, _)| name);
        if BANNED.contains(&name) {
            let what = format!("a room called `{name}` ends up holding everything");
            findings.push(Finding::new(path, 1, what, "name it after its one subject"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_that_could_hold_anything_are_found() {
        for (path, expected) in [
            ("crates/gate/src/utils.rs", 1),
            ("crates/core/src/lib.rs", 1),
            ("crates/gate/src/common/helpers.rs", 2),
            ("crates/gate/src/analysis/mod.rs", 1),
            ("mod.rs", 1),
            ("crates/gate/src/analysis.rs", 0),
            ("crates/gate/src/scores.rs", 0),
            ("crates/gate/src/types_of_files.rs", 0),
            ("crates/gate/corpus/service.toml", 0),
            ("xtask/src/tidy/names.rs", 0),
        ] {
            assert_eq!(check(path).len(), expected, "{path}");
        }
    }
}
