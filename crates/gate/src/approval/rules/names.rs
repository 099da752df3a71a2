//! Looks for everybody and everything that the file names, when all layers are read.

use std::collections::{BTreeMap, BTreeSet};

use aurora_model::Who;

use super::Rules;
use crate::settings::{Place, SettingsError, nearest};

/// Something that a file names, and where.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    what: Named,
    file: String,
    at: Place,
    key: String,
}

/// What is named.
#[derive(Debug, Clone)]
enum Named {
    /// A person.
    Person(String),
    /// A role of people.
    Role(String),
    /// An action type, a category or `all`.
    Kinds(String),
    /// The name under which somebody logs in.
    Login(String),
    /// So many of these must say yes.
    Quorum(Vec<Who>, u32),
    /// Nothing that could be missing.
    Nothing,
}

impl Mention {
    fn new(what: Named, file: &str, at: Place, key: &str) -> Self {
        Self { what, file: file.to_owned(), at, key: key.to_owned() }
    }

    pub fn who(who: &Who, file: &str, at: Place, key: &str) -> Self {
        let what = match who {
            Who::Anyone => Named::Nothing,
            Who::Person(name) => Named::Person(name.clone()),
            Who::Role(role) => Named::Role(role.clone()),
        };
        Self::new(what, file, at, key)
    }

    pub fn kinds(name: &str, file: &str, at: Place, key: &str) -> Self {
        Self::new(Named::Kinds(name.to_owned()), file, at, key)
    }

    pub fn login(login: &str, file: &str, at: Place, key: &str) -> Self {
        Self::new(Named::Login(login.to_owned()), file, at, key)
    }

    pub fn quorum(who: &[Who], quorum: u32, file: &str, at: Place, key: &str) -> Self {
        Self::new(Named::Quorum(who.to_vec(), quorum), file, at, key)
    }

    fn error(&self, message: String, hint: Option<String>) -> SettingsError {
        SettingsError {
            file: self.file.clone(),
            line: self.at.line,
            column: self.at.column,
            key: self.key.clone(),
            message,
            hint,
        }
    }
}

/// Every name that nobody and nothing has.
pub(super) fn check_names(rules: &Rules) -> Vec<SettingsError> {
    let known = Known::of(rules);
    let sections = [
        &rules.people.mentions,
        &rules.risk.mentions,
        &rules.timeouts.mentions,
        &rules.approvers.mentions,
        &rules.notify.mentions,
    ];
    let mut logins = BTreeMap::new();
    let mut errors = Vec::new();
    for mention in sections.into_iter().flatten() {
        let twice = match &mention.what {
            Named::Login(login) => logins.insert(login.clone(), mention.key.clone()),
            _ => None,
        };
        if let Some(other) = twice {
            let message = format!("{other} logs in under the same name");
            errors.push(mention.error(message, None));
        }
        errors.extend(known.missing(mention));
    }
    errors.sort_by(|left, right| {
        (&left.file, left.line, left.column).cmp(&(&right.file, right.line, right.column))
    });
    errors
}

/// Everything that can be named.
struct Known<'r> {
    rules: &'r Rules,
    roles: BTreeSet<&'r str>,
    kinds: BTreeSet<&'r str>,
}

impl<'r> Known<'r> {
    fn of(rules: &'r Rules) -> Self {
        let people = rules.people.value.values();
        let roles = people.flat_map(|person| person.roles.iter().map(String::as_str)).collect();
        let mut kinds: BTreeSet<&str> = rules.risk.value.known().collect();
        let categories: Vec<&str> =
            kinds.iter().filter_map(|name| Some(name.split_once(':')?.0)).collect();
        kinds.extend(categories);
        kinds.insert("all");
        Self { rules, roles, kinds }
    }

    fn missing(&self, mention: &Mention) -> Option<SettingsError> {
        let people = || self.rules.people.value.keys().map(String::as_str);
        let meant = |name: &str, all: Vec<&str>, otherwise: &str| match nearest(name, all) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => Some(otherwise.to_owned()),
        };
        match &mention.what {
            Named::Person(name) if !people().any(|one| one == name) => {
                let hint = meant(name, people().collect(), "name them in the section `people`");
                Some(mention.error(format!("nobody is called `{name}`"), hint))
            }
            Named::Role(role) if !self.roles.contains(role.as_str()) => {
                let all = self.roles.iter().copied().collect();
                let hint = meant(role, all, "give the role to somebody in the section `people`");
                Some(mention.error(format!("nobody has the role `{role}`"), hint))
            }
            Named::Kinds(name) if !self.kinds.contains(name.as_str()) => {
                let all = self.kinds.iter().copied().collect();
                let otherwise = "name an action type of your own in the section `risk` first";
                let message = format!("there is no kind of action `{name}`");
                Some(mention.error(message, meant(name, all, otherwise)))
            }
            Named::Quorum(who, quorum) => {
                let can = self.how_many(who).filter(|can| *can < *quorum as usize)?;
                let message = format!("{quorum} must say yes, and only {can} can");
                let hint = "name more people, or ask for fewer".to_owned();
                Some(mention.error(message, Some(hint)))
            }
            _ => None,
        }
    }

    /// How many different people are meant; nothing when that is everybody.
    fn how_many(&self, who: &[Who]) -> Option<usize> {
        if who.is_empty() || who.contains(&Who::Anyone) {
            return None;
        }
        let people = self.rules.people.value.iter().filter(|(name, person)| {
            who.iter().any(|who| match who {
                Who::Anyone => true,
                Who::Person(one) => one == *name,
                Who::Role(role) => person.roles.contains(role),
            })
        });
        Some(people.count())
    }
}
