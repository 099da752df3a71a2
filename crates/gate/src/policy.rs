//! What the user allows: one policy, made of layers.

mod constraint;
mod example;
mod explain;
mod fields;
pub(crate) mod keys;
mod layer;
mod limits;
pub(crate) mod operations;
mod read;
mod rule;
mod schema;
mod setting;
mod show;
mod template;
pub(crate) mod words;

use aurora_model::{Action, Answer, Context};

pub(crate) use constraint::{Contract, PathRule, Role};
pub use example::{ExampleOutcome, check_examples};
pub(crate) use explain::instead_of_key;
pub use explain::{Explanation, explain, rule_ids};
pub use limits::{BranchPolicy, BudgetPolicy, Recovery};
pub(crate) use rule::{Rule, Unevaluated};
pub use schema::schema;
pub(crate) use setting::Item;
pub use show::Entry;
pub use template::TEMPLATE;

use crate::analysis::Analysis;
use crate::analysis::path::PatternSet;
use crate::settings::SettingsErrors;
use keys::{KEYS, Key};
use setting::{Setting, Value};

/// A loaded policy.
#[derive(Debug, Clone)]
pub struct Policy {
    /// INVARIANT: one setting per row of the table of keys, in its order.
    settings: Vec<Setting>,
    path_rules: Vec<PathRule>,
    contracts: Vec<Contract>,
    roles: Vec<Role>,
    rules: Vec<Rule>,
    sets: Sets,
}

/// The pattern lists, ready to match; nothing where one cannot be evaluated.
#[derive(Debug, Clone)]
struct Sets {
    protected_paths: Option<PatternSet>,
    unexpected_file_types: Option<PatternSet>,
    allowed_areas: Option<PatternSet>,
    forbidden_areas: Option<PatternSet>,
    protected_areas: Option<PatternSet>,
}

/// One policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerSource {
    /// Whose it is.
    pub kind: LayerKind,
    /// The file as it is shown to the user.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Whose policy file it is; the order is that of the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerKind {
    /// `~/.aurora/policies.yaml`.
    User,
    /// `.aurora/policies.yaml` of the project.
    Project,
    /// Given with `--policy`.
    Explicit,
}

/// Turns an action into effects: the real analysis, or a test's own.
type Analyse<'a> = &'a dyn Fn(&Action, &Context) -> Analysis;

impl Policy {
    /// The policy that holds when there is no file.
    #[must_use]
    pub fn builtin() -> Self {
        let settings: Vec<Setting> = KEYS.iter().map(Setting::preset).collect();
        let sets = Sets::of(&settings);
        let (path_rules, contracts, roles, rules) = Default::default();
        Self { settings, path_rules, contracts, roles, rules, sets }
    }

    /// The built-in policy with these files laid over it in their order.
    ///
    /// # Errors
    /// Every problem in every file; a rule's example that does not hold is one.
    pub fn load(layers: &[LayerSource]) -> Result<Self, SettingsErrors> {
        Self::load_with(layers, &crate::analysis::analyse)
    }

    fn load_with(layers: &[LayerSource], analyse: Analyse<'_>) -> Result<Self, SettingsErrors> {
        let mut policy = Self::builtin();
        let mut errors = Vec::new();
        for source in layers {
            errors.extend(layer::lay_over(&mut policy, source));
        }
        policy.sets = Sets::of(&policy.settings);
        if errors.is_empty() {
            errors = example::failures(&policy, analyse);
        }
        if errors.is_empty() { Ok(policy) } else { Err(SettingsErrors(errors)) }
    }

    fn setting(&self, key: Key) -> Option<&Setting> {
        self.settings.get(key.index())
    }

    /// The answer that a key holds; one that is not there denies.
    pub(crate) fn answer(&self, key: Key) -> Answer {
        match self.setting(key).map(|setting| &setting.value) {
            Some(Value::Answer(answer)) => *answer,
            _ => Answer::Deny,
        }
    }

    /// The whole number that a key holds; one that is not there is the smallest.
    pub(crate) fn whole(&self, key: Key) -> u64 {
        match self.setting(key).map(|setting| &setting.value) {
            Some(Value::Whole(number)) => *number,
            _ => 0,
        }
    }

    /// The decimal number that a key holds; one that is not there is the smallest.
    pub(crate) fn amount(&self, key: Key) -> f64 {
        match self.setting(key).map(|setting| &setting.value) {
            Some(Value::Amount(number)) => *number,
            _ => 0.0,
        }
    }

    /// The entries of a list.
    pub(crate) fn list(&self, key: Key) -> &[Item] {
        match self.setting(key).map(|setting| &setting.value) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// A list's patterns, ready to match; nothing when they cannot be evaluated.
    pub(crate) fn patterns(&self, key: Key) -> Option<&PatternSet> {
        match key {
            Key::ProtectedPaths => self.sets.protected_paths.as_ref(),
            Key::UnexpectedFileTypes => self.sets.unexpected_file_types.as_ref(),
            Key::AllowedAreas => self.sets.allowed_areas.as_ref(),
            Key::ForbiddenAreas => self.sets.forbidden_areas.as_ref(),
            Key::ProtectedAreas => self.sets.protected_areas.as_ref(),
            _ => None,
        }
    }

    /// Where a key's value comes from.
    pub(crate) fn origin(&self, key: Key) -> String {
        self.setting(key).map_or_else(String::new, Setting::origin_text)
    }

    /// Where one entry of a list comes from.
    pub(crate) fn item_origin(&self, key: Key, text: &str) -> String {
        let item = self.list(key).iter().find(|item| item.text == text);
        item.map_or_else(|| self.origin(key), |item| item.origin.to_string())
    }

    /// Whether a layer locked a key.
    pub(crate) fn is_locked(&self, key: Key) -> bool {
        self.setting(key).is_some_and(|setting| setting.locked.is_some())
    }

    /// The path rules of all layers.
    pub(crate) fn path_rules(&self) -> &[PathRule] {
        &self.path_rules
    }

    /// The contracts by name.
    pub(crate) fn contracts(&self) -> &[Contract] {
        &self.contracts
    }

    /// The roles by name.
    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The user's own rules.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Sets {
    fn of(settings: &[Setting]) -> Self {
        let set = |key: Key| {
            let setting = settings.get(key.index())?;
            let Value::List(items) = &setting.value else { return None };
            let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
            PatternSet::new(&texts).ok()
        };
        Self {
            protected_paths: set(Key::ProtectedPaths),
            unexpected_file_types: set(Key::UnexpectedFileTypes),
            allowed_areas: set(Key::AllowedAreas),
            forbidden_areas: set(Key::ForbiddenAreas),
            protected_areas: set(Key::ProtectedAreas),
        }
    }
}

#[cfg(test)]
mod tests;
