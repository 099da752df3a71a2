//! What the caller knows about the place where an action would happen; the gate never guesses it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Facts about the place, given to the judge.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Context {
    /// Current directory, absolute.
    pub cwd: Option<String>,
    /// Root of the worktree, absolute.
    pub root: Option<String>,
    /// The user's home folder, absolute.
    pub home: Option<String>,
    /// The checked-out branch.
    pub branch: Option<String>,
    /// The remote branch that it follows (`origin/main`).
    pub upstream: Option<String>,
    /// What git's configuration says.
    pub git: GitFacts,
    /// Contents of files that the caller has read because a verdict wanted them, by the name in
    /// the verdict's `wanted`.
    pub files: BTreeMap<String, String>,
    /// Wanted files that are there but were not read, because of a limit.
    pub unread: BTreeSet<String>,
    /// How many files are below a path, where the caller has counted.
    pub file_counts: BTreeMap<String, u64>,
    /// The role of whoever acts.
    pub role: Option<String>,
    /// The accepted plan, if there is one.
    pub plan: Option<Plan>,
    /// Locks held by the feature that acts.
    pub held_locks: BTreeSet<String>,
    /// What time it is. Where nobody says it, whatever holds only until some day does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Timestamp>,
}

/// The part of git's configuration that changes what a command means.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GitFacts {
    /// `alias.*`: name to expansion.
    pub aliases: BTreeMap<String, String>,
    /// Other keys that matter, lower-case (`push.default`, `remote.origin.push` …).
    pub config: BTreeMap<String, String>,
    /// Whether some configuration is there that could not be read.
    pub incomplete: bool,
}

/// What an accepted plan allows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Globs that may be changed; empty means everything.
    pub allowed_areas: Vec<String>,
    /// Globs that must not be changed.
    pub forbidden_areas: Vec<String>,
    /// How many files the plan expects to change.
    pub expected_files: Option<u64>,
    /// How many lines the plan expects to change.
    pub expected_lines: Option<u64>,
}
