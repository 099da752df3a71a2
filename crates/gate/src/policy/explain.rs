//! A rule in words: what it means, what holds now, since where, and what to do instead.

use aurora_model::Operation;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::keys::{Key, row_at};
use super::operations::{OPERATIONS, OperationRow};
use super::setting::Origin;
use super::{Policy, Rule};

/// A rule as a person reads it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The rule's id.
    pub id: String,
    /// A short name.
    pub title: String,
    /// What it means.
    pub meaning: String,
    /// What holds now.
    pub value: Json,
    /// Where that comes from.
    pub origin: String,
    /// By which layer it is locked.
    pub locked: Option<String>,
    /// Lines that it matches.
    pub matches: Vec<String>,
    /// Lines that look like it and are not it.
    pub not_matches: Vec<String>,
    /// What to do instead.
    pub instead: Option<String>,
}

/// A rule that no file sets: it comes with the plan, or with whoever acts.
struct FixedRule {
    id: &'static str,
    title: &'static str,
    meaning: &'static str,
    origin: &'static str,
    instead: &'static str,
}

static FIXED_RULES: [FixedRule; 6] = [
    FixedRule {
        id: "plan.allowed_areas",
        title: "outside the plan's areas",
        meaning: "Speaks when a path is changed that the accepted plan's allowed_areas do not cover.",
        origin: "the accepted plan",
        instead: "stay inside the plan, or propose a new plan",
    },
    FixedRule {
        id: "plan.forbidden_areas",
        title: "inside an area that the plan forbids",
        meaning: "Speaks when a path is changed that the accepted plan's forbidden_areas cover.",
        origin: "the accepted plan",
        instead: "stay inside the plan, or propose a new plan",
    },
    FixedRule {
        id: "safety.own_files",
        title: "the files that hold the gate itself",
        meaning: "Asks when a policy file of Aurora or the settings that put the gate in front of \
                  an agent are changed, so that nobody is let through by a rule of their own making.",
        origin: "always",
        instead: "tell the person which rule is in the way, and let them change it",
    },
    FixedRule {
        id: "shell.readable",
        title: "something that cannot be read",
        meaning: "Asks when a text is too long, hides characters, is not shell or not the arguments \
                  that a tool takes, or when a script is too large to be read; denies where \
                  opaque_exec does.",
        origin: "always",
        instead: "write it out in plain text, whole and short enough to be read",
    },
    FixedRule {
        id: "patch.readable",
        title: "a patch that cannot be read with certainty",
        meaning: "Denies a patch whose paths git might read differently from how they look.",
        origin: "always",
        instead: "make the patch anew with `git diff`, and change nothing in it",
    },
    FixedRule {
        id: "roles",
        title: "a role that no policy knows",
        meaning: "Speaks when the policy names roles and somebody acts in one that it does not name.",
        origin: "built-in defaults",
        instead: "act in a role that the policy names, or add this one below `roles`",
    },
];

/// Every rule id that can be explained, in the order of the documentation.
#[must_use]
pub fn rule_ids(policy: &Policy) -> Vec<String> {
    let mut ids: Vec<String> = OPERATIONS
        .iter()
        .filter(|row| row.operation != Operation::ProtectedPath)
        .map(|row| row.rule.to_owned())
        .collect();
    let settings = policy.settings.iter().map(|setting| setting.row.path);
    ids.extend(settings.filter(|path| !path.starts_with("destructive.")).map(str::to_owned));
    ids.extend(FIXED_RULES.iter().map(|fixed| fixed.id.to_owned()));
    let entries = policy.entries().into_iter().skip(policy.settings.len());
    ids.extend(entries.map(|entry| entry.key));
    ids
}

/// A rule in words; also found by an operation's bare name and by a user rule's bare id.
#[must_use]
pub fn explain(policy: &Policy, rule: &str) -> Option<Explanation> {
    let operation = OPERATIONS.iter().find(|row| row.rule == rule || row.operation.name() == rule);
    if let Some(row) = operation {
        return Some(of_operation(policy, row));
    }
    let own = rule.strip_prefix("rules.").unwrap_or(rule);
    of_key(policy, rule)
        .or_else(|| of_fixed(rule))
        .or_else(|| policy.rules.iter().find(|one| one.id == own).map(of_rule))
        .or_else(|| of_entry(policy, rule))
}

fn of_operation(policy: &Policy, row: &OperationRow) -> Explanation {
    let key = Key::of_operation(row.operation).unwrap_or(Key::ProtectedPaths);
    let setting = policy.setting(key);
    let value = match row.operation {
        Operation::FileDelete => json!({
            "action": policy.answer(key).name(),
            "max_files": policy.whole(Key::FileDeleteMaxFiles),
        }),
        _ => setting.map_or(Json::Null, |setting| setting.value.json()),
    };
    Explanation {
        id: row.rule.to_owned(),
        title: row.title.to_owned(),
        meaning: row.meaning.to_owned(),
        value,
        origin: policy.origin(key),
        locked: setting.and_then(|setting| setting.locked.as_ref()).map(Origin::to_string),
        matches: row.matches.iter().map(|line| (*line).to_owned()).collect(),
        not_matches: row.not_matches.iter().map(|line| (*line).to_owned()).collect(),
        instead: Some(row.instead.to_owned()),
    }
}

fn of_key(policy: &Policy, path: &str) -> Option<Explanation> {
    let row = row_at(path)?;
    let setting = policy.setting(row.key)?;
    Some(Explanation {
        id: row.path.to_owned(),
        title: row.path.rsplit('.').next().unwrap_or(row.path).replace('_', " "),
        meaning: row.doc.to_owned(),
        value: setting.value.json(),
        origin: setting.origin_text(),
        locked: setting.locked.as_ref().map(Origin::to_string),
        matches: Vec::new(),
        not_matches: Vec::new(),
        instead: instead_of_key(row.key).map(str::to_owned),
    })
}

/// What to do when a setting that is no operation speaks.
pub(crate) const fn instead_of_key(key: Key) -> Option<&'static str> {
    Some(match key {
        Key::MaxFilesModified | Key::MaxLinesChanged => {
            "split the change into smaller ones that can be reviewed one by one"
        }
        Key::ScopeMultiplier => {
            "do what the plan expects first, and propose a new plan for the rest"
        }
        Key::UnexpectedFileTypes => "leave this file out of the change and say why it is needed",
        Key::AllowedAreas => {
            "keep the change inside the allowed areas, or ask for the area to be added"
        }
        Key::ForbiddenAreas => "make the change elsewhere, or ask for the area to be opened",
        Key::ProtectedAreas => "read it, and make the change elsewhere",
        _ => return None,
    })
}

fn of_fixed(rule: &str) -> Option<Explanation> {
    let fixed = FIXED_RULES.iter().find(|fixed| fixed.id == rule)?;
    Some(Explanation {
        id: fixed.id.to_owned(),
        title: fixed.title.to_owned(),
        meaning: fixed.meaning.to_owned(),
        value: Json::Null,
        origin: fixed.origin.to_owned(),
        locked: None,
        matches: Vec::new(),
        not_matches: Vec::new(),
        instead: Some(fixed.instead.to_owned()),
    })
}

fn of_rule(rule: &Rule) -> Explanation {
    let texts = |items: &[super::Item]| items.iter().map(|item| item.text.clone()).collect();
    Explanation {
        id: format!("rules.{}", rule.id),
        title: format!("your rule `{}`", rule.id),
        meaning: rule.reason.clone().unwrap_or_else(|| format!("Speaks when {}", rule.when.json())),
        value: rule.json(),
        origin: rule.origin.to_string(),
        locked: rule.locked.as_ref().map(Origin::to_string),
        matches: texts(&rule.matches),
        not_matches: texts(&rule.not_matches),
        instead: rule.instead.clone(),
    }
}

/// Path rules, contracts and roles.
fn of_entry(policy: &Policy, id: &str) -> Option<Explanation> {
    let entry = policy.entries().into_iter().find(|entry| entry.key == id)?;
    let (kind, name) = id.split_once('.')?;
    let (title, meaning, instead) = match kind {
        "path_rules" => (
            format!("path rule {name}"),
            "Speaks when whoever it holds for changes a path that its patterns cover.",
            "make the change elsewhere, or let a role do it that may",
        ),
        "contracts" => (
            format!("the contract `{name}`"),
            "Speaks when a file of the contract is changed without holding its lock.",
            "take the lock first, or leave the contract as it is",
        ),
        _ => (
            format!("the role `{name}`"),
            "Speaks when somebody in this role calls a tool that is not in its list.",
            "use a tool from the list, or hand the step to a role that may",
        ),
    };
    Some(Explanation {
        id: entry.key,
        title,
        meaning: meaning.to_owned(),
        value: entry.value,
        origin: entry.origin,
        locked: entry.locked,
        matches: Vec::new(),
        not_matches: Vec::new(),
        instead: Some(instead.to_owned()),
    })
}
