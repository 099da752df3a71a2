//! What a git command's meaning depends on besides its arguments: branch, upstream, configuration.

use aurora_model::Span;

use crate::analysis::shell::command::step::split_words;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine};

/// The key under which a branch is remembered that the line itself checked out. No such key exists
/// in git; an empty value means that the branch is not known any more.
pub const HEAD_KEY: &str = "aurora.head";

/// What is known about the repository at this point of the line.
#[derive(Clone)]
pub struct Facts<'a> {
    /// The checked-out branch.
    pub branch: Option<String>,
    /// The remote branch that it follows (`origin/main`).
    pub upstream: Option<String>,
    /// The worktree's root.
    pub root: Option<String>,
    /// Configuration for this command alone, the last one wins: `-c` and the environment.
    pub overrides: Vec<(String, Field)>,
    /// Configuration that is stored, or that the line stored before.
    pub stored: &'a dyn Fn(&str) -> Option<String>,
    /// Whether some stored configuration could not be read.
    pub incomplete: bool,
    /// Whether a folder belongs to the repository that the branch is known of.
    pub is_here: &'a dyn Fn(&Field) -> bool,
    /// Whether a path is known to be a file or folder.
    pub is_file: &'a dyn Fn(&str) -> bool,
}

impl Facts<'_> {
    /// The value of a configuration key, written in lower case.
    #[must_use]
    pub fn config(&self, key: &str) -> Option<Field> {
        let own = self.overrides.iter().rev().find(|(name, _)| name == key);
        own.map(|(_, value)| value.clone())
            .or_else(|| (self.stored)(key).map(|value| Field::lit(value, Span::default())))
    }

    /// The known text of a configuration value.
    #[must_use]
    pub fn config_text(&self, key: &str) -> Option<String> {
        self.config(key).and_then(|value| value.text().map(str::to_owned))
    }

    /// Whether a configuration value is one of git's words for yes.
    #[must_use]
    pub fn config_is_on(&self, key: &str) -> bool {
        self.config_text(key).is_some_and(|value| is_yes(&value))
    }

    /// The branch on the remote that a local branch follows.
    #[must_use]
    pub fn merge_of(&self, branch: &str) -> Option<String> {
        if let Some(merge) = self.config_text(&format!("branch.{branch}.merge")) {
            return Some(merge);
        }
        let upstream = self.upstream.as_ref().filter(|_| self.branch.as_deref() == Some(branch))?;
        Some(upstream.split_once('/').map_or(upstream.as_str(), |(_, name)| name).to_owned())
    }
}

/// Whether a configuration value means yes.
#[must_use]
pub fn is_yes(value: &str) -> bool {
    ["true", "yes", "on", "1", ""].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// A configuration key as git compares it: section and name in lower case, the middle as written.
#[must_use]
pub fn normal_key(key: &str) -> String {
    let Some((section, rest)) = key.split_once('.') else { return key.to_ascii_lowercase() };
    match rest.rsplit_once('.') {
        Some((middle, name)) => {
            format!("{}.{middle}.{}", section.to_ascii_lowercase(), name.to_ascii_lowercase())
        }
        None => key.to_ascii_lowercase(),
    }
}

/// Configuration that comes in the command's environment.
#[must_use]
pub fn from_environment(env: &[(String, Field)]) -> Vec<(String, Field)> {
    let mut found = Vec::new();
    for (name, value) in env {
        if let Some(number) = name.strip_prefix("GIT_CONFIG_KEY_") {
            let value_name = format!("GIT_CONFIG_VALUE_{number}");
            let value = env.iter().find(|(name, _)| *name == value_name);
            let key = env.iter().find(|(other, _)| other == name).and_then(|(_, key)| key.text());
            if let (Some(key), Some((_, value))) = (key, value) {
                found.push((normal_key(key), value.clone()));
            }
        } else if name == "GIT_CONFIG_PARAMETERS" {
            for word in value.text().map(split_words).unwrap_or_default() {
                let (key, value) = word.split_once('=').unwrap_or((&word, "true"));
                found.push((normal_key(key), Field::lit(value, Span::default())));
            }
        }
    }
    found
}

/// Whether this command reads a configuration file of its own, whose aliases are not known.
#[must_use]
pub fn has_other_configuration(facts: &Facts<'_>, env: &[(String, Field)]) -> bool {
    let names_file = |value: &Field| !value.is("") && !value.is("/dev/null");
    let included = facts.overrides.iter().any(|(key, value)| {
        let includes = key.starts_with("include.") || key.starts_with("includeif.");
        includes && key.ends_with(".path") && names_file(value)
    });
    let variables = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];
    included
        || env.iter().any(|(name, value)| variables.contains(&name.as_str()) && names_file(value))
}

/// The branch and upstream of the place where the machine stands, as far as they are known.
#[must_use]
pub fn standing(machine: &Machine<'_>, call: &Call<'_>) -> (Option<String>, Option<String>) {
    if let Some(branch) = machine.git_config(HEAD_KEY) {
        let upstream = machine.context().upstream.clone();
        let same = machine.context().branch.as_deref() == Some(branch.as_str());
        return (Some(branch).filter(|branch| !branch.is_empty()), upstream.filter(|_| same));
    }
    let elsewhere = call.env.iter().any(|(name, value)| {
        (name == "GIT_DIR" || name == "GIT_WORK_TREE") && !value.is(".git") && !value.is(".")
    });
    if elsewhere || !is_here(machine, &Field::lit(".", call.span)) {
        return (None, None);
    }
    (machine.context().branch.clone(), machine.context().upstream.clone())
}

/// Whether a folder is inside the worktree that the context speaks of.
#[must_use]
pub fn is_here(machine: &Machine<'_>, dir: &Field) -> bool {
    let context = machine.context();
    if dir.is(".") && machine.may_be_inside() {
        return true;
    }
    match (machine.resolve(dir).resolved, &context.cwd) {
        (Some(path), _) if !path.starts_with('/') => true,
        (Some(path), cwd) => [cwd, &context.root].into_iter().flatten().any(|base| {
            path.strip_prefix(base.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }),
        // Without a current directory nothing resolves: the branch that was given is meant.
        (None, None) => dir.is("."),
        (None, Some(_)) => false,
    }
}
