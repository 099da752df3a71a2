//! Path rules, contracts and roles (POL-10): who may change what, and call what.

use aurora_model::Answer;
use serde_json::json;

use super::read::Given;
use super::setting::{Item, Origin};
use crate::analysis::path::PatternSet;

/// Paths that need a person's yes, or are closed, for some roles.
#[derive(Debug, Clone)]
pub(crate) struct PathRule {
    /// For whom; empty: for everyone.
    pub roles: Vec<String>,
    /// For whom not.
    pub not_roles: Vec<String>,
    /// The patterns as written.
    pub paths: Vec<String>,
    /// The patterns, ready to match; nothing when they cannot be evaluated.
    pub set: Option<PatternSet>,
    /// What happens on a change there.
    pub answer: Answer,
    /// Why.
    pub reason: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
    /// Where it was written.
    pub origin: Origin,
}

/// Files that may only be changed by whoever holds a lock.
#[derive(Debug, Clone)]
pub(crate) struct Contract {
    /// Its name.
    pub name: String,
    /// The patterns as written.
    pub paths: Vec<String>,
    /// The patterns, ready to match; nothing when they cannot be evaluated.
    pub set: Option<PatternSet>,
    /// The lock that must be held.
    pub lock: String,
    /// Where it was written.
    pub origin: Origin,
    /// Where it was locked.
    pub locked: Option<Origin>,
}

/// What a role may call.
#[derive(Debug, Clone)]
pub(crate) struct Role {
    /// Its name.
    pub name: String,
    /// Patterns of tool names.
    pub tools: Vec<String>,
    /// Where it was written.
    pub origin: Origin,
    /// Where it was locked.
    pub locked: Option<Origin>,
}

fn texts(items: Vec<Item>) -> Vec<String> {
    items.into_iter().map(|item| item.text).collect()
}

impl PathRule {
    /// From an entry whose fields are already checked.
    pub(super) fn from_entry(mut entry: Given, origin: Origin) -> Self {
        let paths = texts(entry.list("paths"));
        let answer = entry.text("action").and_then(|word| Answer::from_name(&word));
        Self {
            roles: texts(entry.list("role")),
            not_roles: texts(entry.list("not_role")),
            set: PatternSet::new(&paths).ok(),
            paths,
            answer: answer.unwrap_or(Answer::Deny),
            reason: entry.text("reason"),
            instead: entry.text("instead"),
            origin,
        }
    }

    /// Whether it holds for whoever acts.
    pub fn holds_for(&self, role: Option<&str>) -> bool {
        let named = |roles: &[String]| {
            role.is_some_and(|role| roles.iter().any(|name| name == role || name == "*"))
        };
        (self.roles.is_empty() || named(&self.roles)) && !named(&self.not_roles)
    }

    /// As JSON, in the file's own words.
    pub fn json(&self) -> serde_json::Value {
        let mut out = serde_json::Map::new();
        if !self.roles.is_empty() {
            out.insert("role".into(), json!(self.roles));
        }
        if !self.not_roles.is_empty() {
            out.insert("not_role".into(), json!(self.not_roles));
        }
        out.insert("paths".into(), json!(self.paths));
        out.insert("action".into(), json!(self.answer.name()));
        for (name, text) in [("reason", &self.reason), ("instead", &self.instead)] {
            if let Some(text) = text {
                out.insert(name.into(), json!(text));
            }
        }
        out.into()
    }
}

impl Contract {
    /// From an entry whose fields are already checked.
    pub(super) fn from_entry(name: &str, mut entry: Given, origin: Origin) -> Self {
        let paths = texts(entry.list("paths"));
        Self {
            name: name.to_owned(),
            set: PatternSet::new(&paths).ok(),
            paths,
            lock: entry.text("lock").unwrap_or_else(|| name.to_owned()),
            locked: entry.flag("locked").then(|| origin.clone()),
            origin,
        }
    }

    /// As JSON, in the file's own words.
    pub fn json(&self) -> serde_json::Value {
        with_lock(json!({"paths": self.paths, "lock": self.lock}), self.locked.is_some())
    }
}

impl Role {
    /// From an entry whose fields are already checked.
    pub(super) fn from_entry(name: &str, mut entry: Given, origin: Origin) -> Self {
        Self {
            name: name.to_owned(),
            tools: texts(entry.list("tools")),
            locked: entry.flag("locked").then(|| origin.clone()),
            origin,
        }
    }

    /// As JSON, in the file's own words.
    pub fn json(&self) -> serde_json::Value {
        with_lock(json!({"tools": self.tools}), self.locked.is_some())
    }
}

/// Adds the mark of a lock.
pub(super) fn with_lock(mut value: serde_json::Value, locked: bool) -> serde_json::Value {
    if let (Some(map), true) = (value.as_object_mut(), locked) {
        map.insert("locked".into(), json!(true));
    }
    value
}
