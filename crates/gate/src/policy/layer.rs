//! Lays one policy file over what holds already: later layers replace, lists of protection add up,
//! and below a lock only tighter values are taken.

use std::sync::Arc;

use super::constraint::{Contract, PathRule, Role};
use super::fields::{COLLECTIONS, Collection};
use super::keys::{GROUPS, KEYS, KeyRow, children, row_at};
use super::read::{Given, Reading};
use super::rule::Rule;
use super::setting::Origin;
use super::{LayerSource, Policy};
use crate::settings::{self, Node, Pair, Place, Problems, SettingsError, Shape, nearest};

/// Lays a file over the policy; returns every problem that it has.
pub(super) fn lay_over(policy: &mut Policy, source: &LayerSource) -> Vec<SettingsError> {
    let mut problems = Problems::new(&source.name);
    if let Some(root) = settings::read(&source.text, &mut problems) {
        let mut layer = Layer {
            file: Arc::from(source.name.as_str()),
            policy,
            problems: &mut problems,
            locks: Vec::new(),
            ids: Vec::new(),
        };
        layer.root(&root);
    }
    problems.finish()
}

/// One file on its way into the policy.
struct Layer<'p> {
    file: Arc<str>,
    policy: &'p mut Policy,
    problems: &'p mut Problems,
    /// The mappings that this file locks: they take hold after all of its values.
    locks: Vec<(String, Place)>,
    /// The rules that this file has defined so far.
    ids: Vec<String>,
}

impl Layer<'_> {
    fn root(&mut self, root: &Node) {
        match &root.shape {
            Shape::Map(pairs) => self.group("", pairs),
            _ if root.is_nothing() => {}
            _ => {
                let message = format!("expected a mapping of settings, found {}", root.kind());
                self.problems.add(root.at, "", message);
            }
        }
        for (path, at) in std::mem::take(&mut self.locks) {
            let by = self.origin(at);
            for setting in &mut self.policy.settings {
                let inside = setting.row.path.strip_prefix(path.as_str());
                if inside.is_some_and(|rest| rest.starts_with('.')) && setting.locked.is_none() {
                    setting.locked = Some(by.clone());
                }
            }
        }
    }

    fn origin(&self, at: Place) -> Origin {
        Origin::At(Arc::clone(&self.file), at)
    }

    /// Reads with this file's problems and origins.
    fn reading<T>(&mut self, read: impl FnOnce(&mut Reading<'_>) -> T) -> T {
        let file = Arc::clone(&self.file);
        let origin = move |at| Origin::At(Arc::clone(&file), at);
        read(&mut Reading { problems: self.problems, origin: &origin })
    }

    /// A mapping of settings; the depth is bounded by the table of groups.
    fn group(&mut self, path: &str, pairs: &[Pair]) {
        for pair in pairs {
            let full =
                if path.is_empty() { pair.name.clone() } else { format!("{path}.{}", pair.name) };
            if pair.name == "locked" && !path.is_empty() {
                self.lock(path, &full, pair);
            } else if let Some(row) = row_at(&full) {
                self.setting(row, &pair.value);
            } else if GROUPS.iter().any(|group| group.path == full) {
                self.subgroup(&full, &pair.value);
            } else if let Some(collection) = collection(&full) {
                self.collection(collection, &pair.value);
            } else {
                self.unknown(path, &full, pair);
            }
        }
    }

    fn subgroup(&mut self, path: &str, node: &Node) {
        match (&node.shape, row_at(&format!("{path}.action"))) {
            (Shape::Map(pairs), _) => self.group(path, pairs),
            // The short form: `git_force_push: deny`.
            (Shape::Scalar { .. }, Some(row)) if !node.is_nothing() => self.setting(row, node),
            (_, action) => {
                let expected = match action {
                    Some(_) => "a mapping, or allow, prompt or deny",
                    None => "a mapping",
                };
                let (message, hint) = if node.is_nothing() {
                    let message = format!("has no value; expected {expected}");
                    (message, "give it a value, or remove the key")
                } else {
                    let message = format!("expected {expected}, found {}", node.kind());
                    (message, "its settings stand below it, indented")
                };
                self.problems.add_with_hint(node.at, path, message, hint);
            }
        }
    }

    fn setting(&mut self, row: &'static KeyRow, node: &Node) {
        let Some(value) = self.reading(|reading| reading.value(node, row.path, row.kind)) else {
            return;
        };
        let origin = self.origin(node.at);
        let Some(setting) = self.policy.settings.get_mut(row.key.index()) else { return };
        if let Err(why) = setting.set(value, origin) {
            let hint = "a layer below a lock may tighten a value, not loosen it";
            self.problems.add_with_hint(node.at, row.path, why, hint);
        }
    }

    fn lock(&mut self, path: &str, full: &str, pair: &Pair) {
        match self.problems.flag(&pair.value, full) {
            Some(true) => self.locks.push((path.to_owned(), pair.at)),
            Some(false) => {
                let inside = |row_path: &str| {
                    row_path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
                };
                let settings = self.policy.settings.iter();
                let by = settings
                    .filter(|setting| inside(setting.row.path))
                    .find_map(|setting| setting.locked.as_ref());
                if let Some(by) = by {
                    let message = format!("is locked by {by}: a layer below cannot unlock it");
                    self.problems.add(pair.value.at, full, message);
                }
            }
            None => {}
        }
    }

    fn unknown(&mut self, parent: &str, full: &str, pair: &Pair) {
        let mut names = children(parent);
        if parent.is_empty() {
            names.extend(COLLECTIONS.iter().map(|collection| collection.name));
        } else {
            names.push("locked");
        }
        let name = pair.name.as_str();
        let elsewhere = KEYS
            .iter()
            .map(|row| row.path)
            .chain(GROUPS.iter().map(|group| group.path))
            .find(|path| path.rsplit_once('.').is_some_and(|(_, last)| last == name));
        let hint = if let Some(near) = nearest(name, names.iter().copied()) {
            format!("did you mean `{near}`?")
        } else if name == "locked" {
            "`locked: true` stands inside a section or an operation".to_owned()
        } else if let Some((section, _)) = elsewhere.and_then(|path| path.rsplit_once('.')) {
            format!("`{name}` belongs below `{section}`")
        } else {
            format!("known here: {}", names.join(", "))
        };
        self.problems.add_with_hint(pair.at, full, "unknown key", hint);
    }

    fn collection(&mut self, collection: &'static Collection, node: &Node) {
        match &node.shape {
            Shape::Map(pairs) if collection.named => {
                for pair in pairs {
                    let key = format!("{}.{}", collection.name, pair.name);
                    let named = self.reading(|reading| reading.name(&pair.name, pair.at, &key));
                    if named {
                        self.entry(collection, &key, &pair.name, &pair.value, pair.at);
                    }
                }
            }
            Shape::List(nodes) if !collection.named => {
                for (index, node) in nodes.iter().enumerate() {
                    let key = format!("{}.{}", collection.name, index + 1);
                    self.entry(collection, &key, "", node, node.at);
                }
            }
            _ => {
                let shape = if collection.named { "a mapping of names" } else { "a list" };
                let message = format!("expected {shape}, found {}", node.kind());
                self.problems.add_with_hint(node.at, collection.name, message, collection.doc);
            }
        }
    }

    fn entry(
        &mut self,
        collection: &'static Collection,
        key: &str,
        name: &str,
        node: &Node,
        at: Place,
    ) {
        let Some(entry) = self.reading(|reading| reading.entry(node, key, collection.fields))
        else {
            return;
        };
        let origin = self.origin(at);
        match collection.name {
            "path_rules" => self.policy.path_rules.push(PathRule::from_entry(entry, origin)),
            "contracts" => {
                let new = Contract::from_entry(name, entry, origin);
                let outcome = replace(&mut self.policy.contracts, new);
                self.locked_entry(at, key, outcome);
            }
            "roles" => {
                let new = Role::from_entry(name, entry, origin);
                let outcome = replace(&mut self.policy.roles, new);
                self.locked_entry(at, key, outcome);
            }
            _ => self.rule(entry, key, origin),
        }
    }

    fn rule(&mut self, entry: Given, key: &str, origin: Origin) {
        let at = entry.at;
        let new = Rule::from_entry(entry, origin);
        let when = &new.when;
        if !(when.names_command() || when.names_effect() || when.names_tool()) {
            let message = "`when` names no condition";
            let hint = "name at least one of program, argv, has, operation, path, tool and kind";
            self.problems.add_with_hint(at, key, message, hint);
            return;
        }
        if let Some((message, hint)) = new.misfit() {
            self.problems.add_with_hint(at, key, message, hint);
            return;
        }
        if self.ids.contains(&new.id) {
            let message = format!("the id `{}` is used twice", new.id);
            self.problems.add_with_hint(at, key, message, "each rule needs an id of its own");
            return;
        }
        self.ids.push(new.id.clone());
        let outcome = replace(&mut self.policy.rules, new);
        self.locked_entry(at, key, outcome);
    }

    fn locked_entry(&mut self, at: Place, key: &str, outcome: Result<(), Origin>) {
        if let Err(by) = outcome {
            let message = format!("is locked by {by}: this entry would loosen it");
            let hint = "a layer below a lock may tighten an entry, not loosen it";
            self.problems.add_with_hint(at, key, message, hint);
        }
    }
}

fn collection(name: &str) -> Option<&'static Collection> {
    COLLECTIONS.iter().find(|collection| collection.name == name)
}

/// Puts an entry into the place of an older one, unless that one is locked and tighter.
fn replace<T: Lockable>(list: &mut Vec<T>, mut new: T) -> Result<(), Origin> {
    let Some(slot) = list.iter_mut().find(|old| old.name() == new.name()) else {
        list.push(new);
        return Ok(());
    };
    if let Some(by) = slot.locked().clone() {
        if !new.keeps(slot) {
            return Err(by);
        }
        // A lock outlives the entry that carried it.
        *new.locked() = Some(by);
    }
    *slot = new;
    Ok(())
}

/// An entry that has a name and may be locked.
trait Lockable {
    fn name(&self) -> &str;
    fn locked(&mut self) -> &mut Option<Origin>;
    /// Whether it may stand in the place of a locked one.
    fn keeps(&self, locked: &Self) -> bool;
}

impl Lockable for Contract {
    fn name(&self) -> &str {
        &self.name
    }
    fn locked(&mut self) -> &mut Option<Origin> {
        &mut self.locked
    }
    fn keeps(&self, locked: &Self) -> bool {
        self.lock == locked.lock && locked.paths.iter().all(|path| self.paths.contains(path))
    }
}

impl Lockable for Role {
    fn name(&self) -> &str {
        &self.name
    }
    fn locked(&mut self) -> &mut Option<Origin> {
        &mut self.locked
    }
    fn keeps(&self, locked: &Self) -> bool {
        self.tools.iter().all(|tool| locked.tools.contains(tool))
    }
}

impl Lockable for Rule {
    fn name(&self) -> &str {
        &self.id
    }
    fn locked(&mut self) -> &mut Option<Origin> {
        &mut self.locked
    }
    fn keeps(&self, locked: &Self) -> bool {
        let longer = locked.expires.is_some_and(|end| self.expires.is_none_or(|new| new > end));
        self.answer >= locked.answer
            && self.when.json() == locked.when.json()
            && self.levels.iter().all(|level| locked.levels.contains(level))
            && !longer
    }
}
