//! Git's own configuration: which settings make git execute something, or look elsewhere.

use std::collections::BTreeMap;

/// How much a changed setting can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Git's daily bookkeeping: which branch follows which.
    Bookkeeping,
    /// How git behaves.
    Behaviour,
    /// Git executes something, or reads or sends elsewhere.
    Executes,
}

/// Settings that execute, by the last part of their name, whatever the section.
const EXECUTING_NAMES: &[&str] = &[
    "alternaterefscommand",
    "askpass",
    "attributesfile",
    "clean",
    "cmd",
    "command",
    "diffcmd",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hookspath",
    "insteadof",
    "mergecmd",
    "packobjectshook",
    "pager",
    "path",
    "process",
    "program",
    "proxy",
    "pushinsteadof",
    "pushurl",
    "receivepack",
    "smtpserver",
    "smudge",
    "sshcommand",
    "templatedir",
    "textconv",
    "tocmd",
    "cccmd",
    "update",
    "uploadpack",
    "url",
    "vcs",
    "worktree",
    "worktreeconfig",
];

/// Sections of which every setting executes.
const EXECUTING_SECTIONS: &[&str] =
    &["alias", "filter", "hook", "include", "includeif", "pager", "protocol", "safe", "ssh"];

/// How much a setting can do, by its whole name (`section.subsection.name`).
pub(super) fn reach(key: &str) -> Reach {
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    if EXECUTING_SECTIONS.contains(&section) || EXECUTING_NAMES.contains(&name) {
        return Reach::Executes;
    }
    match (section, name) {
        ("branch", _) | ("remote", "fetch") | ("submodule", "active" | "branch") => {
            Reach::Bookkeeping
        }
        _ => Reach::Behaviour,
    }
}

/// Every setting of a configuration file with a hash of its values, because these may be secret;
/// nothing when the file cannot be understood.
pub(super) fn read(
    bytes: &[u8],
    hash: impl Fn(&[u8]) -> String,
) -> Option<BTreeMap<String, String>> {
    let meta = gix::config::file::Metadata::default();
    let file = gix::config::File::from_bytes_no_includes(
        bytes,
        meta,
        gix::config::file::init::Options::default(),
    )
    .ok()?;
    let mut values: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for section in file.sections() {
        let mut prefix = section.header().name().to_string().to_ascii_lowercase();
        if let Some(sub) = section.header().subsection_name() {
            prefix.push('.');
            prefix.push_str(&sub.to_string());
        }
        let names: std::collections::BTreeSet<String> =
            section.value_names().map(|name| name.to_ascii_lowercase()).collect();
        for name in names {
            let all = values.entry(format!("{prefix}.{name}")).or_default();
            for value in section.values(&name) {
                all.extend_from_slice(&value);
                all.push(0);
            }
        }
    }
    Some(values.into_iter().map(|(key, value)| (key, hash(&value))).collect())
}
