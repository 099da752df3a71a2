//! The effective policy, as entries, as a file again, and as text to hash.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value as Json;

use super::Policy;
use super::keys::GROUPS;
use super::setting::{Origin, Setting, Value};

/// One effective value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The dotted key.
    pub key: String,
    /// The value.
    pub value: Json,
    /// Where it comes from.
    pub origin: String,
    /// By which layer it is locked.
    pub locked: Option<String>,
}

impl Policy {
    /// Every effective value in the order of the documentation.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.settings.iter().map(Entry::of_setting).collect();
        for (index, rule) in self.path_rules.iter().enumerate() {
            let key = format!("path_rules.{}", index + 1);
            entries.push(Entry::new(key, rule.json(), &rule.origin, None));
        }
        for contract in &self.contracts {
            let key = format!("contracts.{}", contract.name);
            let locked = contract.locked.as_ref();
            entries.push(Entry::new(key, contract.json(), &contract.origin, locked));
        }
        for role in &self.roles {
            let key = format!("roles.{}", role.name);
            entries.push(Entry::new(key, role.json(), &role.origin, role.locked.as_ref()));
        }
        for rule in &self.rules {
            let key = format!("rules.{}", rule.id);
            entries.push(Entry::new(key, rule.json(), &rule.origin, rule.locked.as_ref()));
        }
        entries
    }

    /// The effective policy as a policy file; on request with the origin of each value as a comment.
    #[must_use]
    pub fn to_yaml(&self, with_origin: bool) -> String {
        let mut out = Writer { text: String::new(), with_origin };
        for section in GROUPS.iter().filter(|group| !group.path.contains('.')) {
            out.line(0, &format!("{}:", section.path), None);
            self.locked_line(section.path, 1, &mut out);
            let mut group = "";
            for setting in self.settings.iter().filter(|setting| inside(setting, section.path)) {
                let (parent, name) = setting.row.path.rsplit_once('.').unwrap_or_default();
                let depth = if parent == section.path { 1 } else { 2 };
                if depth == 2 && parent != group {
                    group = parent;
                    let name = parent.rsplit_once('.').map_or(parent, |(_, name)| name);
                    out.line(1, &format!("{name}:"), None);
                    if !self.is_group_locked(section.path) {
                        self.locked_line(parent, 2, &mut out);
                    }
                }
                out.setting(depth, name, setting);
            }
        }
        self.collections(&mut out);
        out.text
    }

    fn collections(&self, out: &mut Writer) {
        if !self.path_rules.is_empty() {
            out.line(0, "path_rules:", None);
            for rule in &self.path_rules {
                out.line(1, &format!("- {}", rule.json()), Some(&rule.origin.to_string()));
            }
        }
        if !self.contracts.is_empty() {
            out.line(0, "contracts:", None);
            for one in &self.contracts {
                let line = format!("{}: {}", quoted(&one.name), one.json());
                out.line(1, &line, Some(&one.origin.to_string()));
            }
        }
        if !self.roles.is_empty() {
            out.line(0, "roles:", None);
            for one in &self.roles {
                let line = format!("{}: {}", quoted(&one.name), one.json());
                out.line(1, &line, Some(&one.origin.to_string()));
            }
        }
        if !self.rules.is_empty() {
            out.line(0, "rules:", None);
            for rule in &self.rules {
                out.line(1, &format!("- {}", rule.json()), Some(&rule.origin.to_string()));
            }
        }
    }

    fn is_group_locked(&self, path: &str) -> bool {
        self.settings
            .iter()
            .filter(|setting| inside(setting, path))
            .all(|setting| setting.locked.is_some())
    }

    fn locked_line(&self, path: &str, depth: usize, out: &mut Writer) {
        if !self.is_group_locked(path) {
            return;
        }
        let by = self.settings.iter().find(|setting| inside(setting, path));
        let by = by.and_then(|setting| setting.locked.as_ref()).map(Origin::to_string);
        out.line(depth, "locked: true", by.as_deref());
    }

    /// The same text for policies that judge the same, whatever their files look like.
    #[must_use]
    pub fn digest_text(&self) -> String {
        let mut out = String::from("aurora-policy 1\n");
        for entry in self.entries() {
            let lock = if entry.locked.is_some() { " locked" } else { "" };
            let _ = writeln!(out, "{} {}{lock}", entry.key, entry.value);
        }
        out
    }
}

fn inside(setting: &Setting, path: &str) -> bool {
    setting.row.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

/// A name in quotes where plain text would mean a number or a flag.
fn quoted(name: &str) -> String {
    Json::from(name).to_string()
}

impl Entry {
    fn new(key: String, value: Json, origin: &Origin, locked: Option<&Origin>) -> Self {
        Self { key, value, origin: origin.to_string(), locked: locked.map(Origin::to_string) }
    }

    fn of_setting(setting: &Setting) -> Self {
        Self {
            key: setting.row.path.to_owned(),
            value: setting.value.json(),
            origin: setting.origin_text(),
            locked: setting.locked.as_ref().map(Origin::to_string),
        }
    }
}

/// Writes YAML lines. JSON is YAML, so values are written as JSON.
struct Writer {
    text: String,
    with_origin: bool,
}

impl Writer {
    fn line(&mut self, depth: usize, content: &str, origin: Option<&str>) {
        let indent = "  ".repeat(depth);
        let _ = match origin.filter(|_| self.with_origin) {
            Some(origin) => writeln!(self.text, "{indent}{content}  # {origin}"),
            None => writeln!(self.text, "{indent}{content}"),
        };
    }

    fn setting(&mut self, depth: usize, name: &str, setting: &Setting) {
        match &setting.value {
            Value::List(items) if !items.is_empty() => {
                self.line(depth, &format!("{name}:"), None);
                for item in items {
                    let line = format!("- {}", quoted(&item.text));
                    self.line(depth + 1, &line, Some(&item.origin.to_string()));
                }
            }
            Value::Answer(answer) => {
                let line = format!("{name}: {}", answer.name());
                self.line(depth, &line, Some(&setting.origin.to_string()));
            }
            // Written without an exponent, as the file's own form is.
            Value::Amount(number) => {
                let line = format!("{name}: {number}");
                self.line(depth, &line, Some(&setting.origin.to_string()));
            }
            value => {
                let line = format!("{name}: {}", value.json());
                self.line(depth, &line, Some(&setting.origin.to_string()));
            }
        }
    }
}
