//! Reads `approvals.yaml` section by section; a file with one mistake is refused whole.

use std::collections::BTreeMap;

use aurora_model::{ActionType, Autonomy, GateKind, Tier, Who};

use super::names::{Mention, check_names};
use super::notify;
use super::when::{Choice, Kinds, When};
use super::{Approvers, BUILT_IN, Levels, Person, Rules, Timeout};
use crate::approval::risk::TierMap;
use crate::approval::timeout::{self, duration};
use crate::settings::{
    self, MAX_ITEMS, Node, Pair, Place, Problems, SettingsErrors, Shape, shorten,
};

/// The sections of the file.
pub(super) const SECTIONS: [&str; 7] =
    ["people", "autonomy", "risk", "timeouts", "approval_timeout", "approvers", "notify"];
/// The keys of `when`.
pub(super) const WHEN_KEYS: [&str; 4] = ["action", "tier", "gate", "autonomy"];
/// More people than this must never be asked for.
pub(super) const MAX_QUORUM: u64 = 20;

/// What one section says, and where.
#[derive(Debug, Clone)]
pub(super) struct Section<T> {
    pub value: T,
    pub origin: String,
    /// Everybody and everything that it names, to be looked for when all layers are read.
    pub mentions: Vec<Mention>,
}

impl<T: Default> Default for Section<T> {
    fn default() -> Self {
        Self { value: T::default(), origin: BUILT_IN.to_owned(), mentions: Vec::new() }
    }
}

pub(super) fn read(layers: &[(String, String)]) -> Result<Rules, SettingsErrors> {
    let mut rules = Rules::default();
    let mut errors = Vec::new();
    for (file, text) in layers {
        let mut reading = Reading { file, problems: Problems::new(file), mentions: Vec::new() };
        if let Some(node) = settings::read(text, &mut reading.problems) {
            reading.file(&node, &mut rules);
        }
        errors.extend(reading.problems.finish());
    }
    if errors.is_empty() {
        errors = check_names(&rules);
    }
    if errors.is_empty() { Ok(rules) } else { Err(SettingsErrors(errors)) }
}

/// One file that is being read.
pub(super) struct Reading<'f> {
    file: &'f str,
    problems: Problems,
    mentions: Vec<Mention>,
}

impl Reading<'_> {
    fn origin(&self, at: Place) -> String {
        format!("{}:{}:{}", self.file, at.line, at.column)
    }

    fn file(&mut self, node: &Node, rules: &mut Rules) {
        if node.is_nothing() {
            return;
        }
        let Shape::Map(pairs) = &node.shape else {
            let keys = format!("a mapping with the keys {}", SECTIONS.join(", "));
            self.problems.mistyped(node, "", &keys);
            return;
        };
        for pair in pairs.iter().filter(|pair| !SECTIONS.contains(&pair.name.as_str())) {
            self.problems.unknown_key(pair, &pair.name, &SECTIONS);
        }
        let section = |name: &str| pairs.iter().find(|pair| pair.name == name);
        // Kinds of action must be known before they are used, wherever they stand in the file.
        if let Some(pair) = section("risk") {
            rules.risk = self.section(pair, Self::risk);
        }
        if let Some(pair) = section("people") {
            rules.people = self.section(pair, Self::people);
        }
        if let Some(pair) = section("autonomy") {
            rules.autonomy = self.section(pair, Self::autonomy);
        }
        if let Some(pair) = section("timeouts") {
            rules.timeouts = self.section(pair, Self::timeouts);
        }
        if let Some(pair) = section("approval_timeout") {
            let mut one = self.section(pair, Self::timeouts);
            if section("timeouts").is_some() {
                rules.timeouts.value.append(&mut one.value);
                rules.timeouts.mentions.append(&mut one.mentions);
            } else {
                rules.timeouts = one;
            }
        }
        if let Some(pair) = section("approvers") {
            rules.approvers = self.section(pair, Self::approvers);
        }
        if let Some(pair) = section("notify") {
            rules.notify = self.section(pair, |reading, pair| {
                let channels = notify::read(&pair.value, &mut reading.problems);
                for who in channels.iter().flat_map(|channel| &channel.only_for) {
                    reading.mention_who(who, &pair.value, "notify");
                }
                channels
            });
        }
    }

    fn section<T>(&mut self, pair: &Pair, read: impl FnOnce(&mut Self, &Pair) -> T) -> Section<T> {
        let value = read(self, pair);
        let mentions = std::mem::take(&mut self.mentions);
        Section { value, origin: self.origin(pair.at), mentions }
    }

    /// Notes that somebody is named somewhere in a value.
    fn mention_who(&mut self, who: &Who, node: &Node, key: &str) {
        let at = place_of(node, &who.to_string()).unwrap_or(node.at);
        self.mentions.push(Mention::who(who, self.file, at, key));
    }

    fn pairs<'n>(&mut self, node: &'n Node, key: &str, expected: &str) -> &'n [Pair] {
        match &node.shape {
            Shape::Map(pairs) => pairs,
            // `people:` with everything below it commented out says nothing.
            _ if node.is_nothing() => &[],
            _ => {
                self.problems.mistyped(node, key, expected);
                &[]
            }
        }
    }

    fn items<'n>(&mut self, node: &'n Node, key: &str) -> &'n [Node] {
        match &node.shape {
            Shape::List(items) if items.len() <= MAX_ITEMS => items,
            Shape::Map(_) => std::slice::from_ref(node),
            _ if node.is_nothing() => &[],
            _ => {
                self.problems.mistyped(node, key, "a list of rules");
                &[]
            }
        }
    }

    /// Whether a text can be a name.
    fn name(&mut self, name: &str, at: Place, key: &str) -> bool {
        let good = aurora_model::id::is_name(name) && name != "anyone" && name != "all";
        if !good {
            let hint =
                "use letters, digits, `.`, `_` and `-`; `anyone` and `all` mean something else";
            let message = format!("`{}` is no name", shorten(name));
            self.problems.add_with_hint(at, key, message, hint);
        }
        good
    }

    fn people(&mut self, pair: &Pair) -> BTreeMap<String, Person> {
        let mut people = BTreeMap::new();
        for pair in self.pairs(&pair.value, "people", "a mapping of people by name") {
            let key = format!("people.{}", pair.name);
            if self.name(&pair.name, pair.at, &key) {
                let person = self.person(&pair.value, &key);
                people.insert(pair.name.clone(), person);
            }
        }
        people
    }

    fn person(&mut self, node: &Node, key: &str) -> Person {
        let mut person = Person::default();
        let keys = ["roles", "login", "email"];
        for pair in self.pairs(node, key, "a mapping with the keys roles, login, email") {
            let key = format!("{key}.{}", pair.name);
            match pair.name.as_str() {
                "roles" => {
                    for node in self.problems.one_or_more(&pair.value, &key).unwrap_or_default() {
                        let Some(role) = self.problems.text(node, &key) else { continue };
                        if self.name(&role, node.at, &key) && !person.roles.contains(&role) {
                            person.roles.push(role);
                        }
                    }
                }
                "login" => person.login = self.problems.text(&pair.value, &key),
                "email" => person.email = self.problems.text(&pair.value, &key),
                _ => self.problems.unknown_key(pair, &key, &keys),
            }
        }
        if let Some(login) = &person.login {
            self.mentions.push(Mention::login(login, self.file, node.at, key));
        }
        person
    }

    fn autonomy(&mut self, pair: &Pair) -> Levels {
        let mut levels = Levels::default();
        if matches!(pair.value.shape, Shape::Scalar { .. }) && !pair.value.is_nothing() {
            levels.default = self.level(&pair.value, "autonomy").unwrap_or_default();
            return levels;
        }
        let keys = ["default", "roles", "agents"];
        for pair in self.pairs(&pair.value, "autonomy", "a level, or default, roles and agents") {
            let key = format!("autonomy.{}", pair.name);
            match pair.name.as_str() {
                "default" => levels.default = self.level(&pair.value, &key).unwrap_or_default(),
                "roles" => levels.roles = self.levels(&pair.value, &key),
                "agents" => levels.agents = self.levels(&pair.value, &key),
                _ => self.problems.unknown_key(pair, &key, &keys),
            }
        }
        levels
    }

    fn levels(&mut self, node: &Node, key: &str) -> BTreeMap<String, Autonomy> {
        let mut levels = BTreeMap::new();
        for pair in self.pairs(node, key, "a mapping of levels by name") {
            let key = format!("{key}.{}", pair.name);
            if self.name(&pair.name, pair.at, &key)
                && let Some(level) = self.level(&pair.value, &key)
            {
                levels.insert(pair.name.clone(), level);
            }
        }
        levels
    }

    fn level(&mut self, node: &Node, key: &str) -> Option<Autonomy> {
        let words = Autonomy::ALL.map(Autonomy::name);
        Autonomy::from_name(&self.problems.choice(node, key, &words)?)
    }

    fn risk(&mut self, pair: &Pair) -> TierMap {
        let mut map = TierMap::default();
        let words = Tier::ALL.map(Tier::name);
        for pair in self.pairs(&pair.value, "risk", "a mapping of tiers by action type") {
            let key = format!("risk.{}", pair.name);
            let kinds = kinds_of(&pair.name);
            let tier = self.problems.choice(&pair.value, &key, &words);
            match (kinds, tier.and_then(|tier| Tier::from_name(&tier))) {
                (Some(_), Some(tier)) => map.set(&pair.name, tier),
                (None, _) => {
                    let message = format!("`{}` is no action type", shorten(&pair.name));
                    let hint = "write `category:action`, a category, or `all`";
                    self.problems.add_with_hint(pair.at, &key, message, hint);
                }
                _ => {}
            }
            if let Some(Kinds::Category(category)) = kinds_of(&pair.name) {
                self.mentions.push(Mention::kinds(&category, self.file, pair.at, &key));
            }
        }
        map
    }

    fn timeouts(&mut self, pair: &Pair) -> Vec<Choice<Timeout>> {
        let single = matches!(pair.value.shape, Shape::Map(_));
        let mut choices = Vec::new();
        for (n, node) in self.items(&pair.value, &pair.name).iter().enumerate() {
            let key = if single { pair.name.clone() } else { format!("{}.{}", pair.name, n + 1) };
            if let Some(choice) = self.timeout(node, &key) {
                choices.push(choice);
            }
        }
        choices
    }

    fn timeout(&mut self, node: &Node, key: &str) -> Option<Choice<Timeout>> {
        let Shape::Map(pairs) = &node.shape else {
            self.problems.mistyped(node, key, "a mapping with the keys policy, when, …");
            return None;
        };
        let find = |name: &str| pairs.iter().find(|pair| pair.name == name);
        let when = find("when").map(|pair| self.when(&pair.value, &format!("{key}.when")));
        let every = find("remind_every").map(|pair| {
            let key = format!("{key}.remind_every");
            duration::read_or_never(&pair.value, &key, &mut self.problems)
        });
        let before = find("warn_before").map(|pair| {
            let key = format!("{key}.warn_before");
            duration::read_or_never(&pair.value, &key, &mut self.problems)
        });
        let Some(named) = find("policy") else {
            let names = timeout::POLICIES.iter().map(|kind| kind.name).collect::<Vec<_>>();
            let hint = format!("one of {}", names.join(", "));
            self.problems.add_with_hint(node.at, key, "`policy` is missing", hint);
            return None;
        };
        let names = timeout::POLICIES.iter().map(|kind| kind.name).collect::<Vec<_>>();
        let name = self.problems.choice(&named.value, &format!("{key}.policy"), &names)?;
        let kind = timeout::kind_of(&name)?;
        let policy = (kind.read)(node, key, &mut self.problems)?;
        for who in policy.names() {
            self.mention_who(&who, node, key);
        }
        let what = Timeout {
            policy: kind.name,
            settings: policy.settings(),
            remind_every_s: every.flatten(),
            warn_before_s: before.flatten(),
        };
        Some(Choice { when: when.unwrap_or_default(), what, origin: self.origin(node.at) })
    }

    fn approvers(&mut self, pair: &Pair) -> Vec<Choice<Approvers>> {
        let mut choices = Vec::new();
        for (n, node) in self.items(&pair.value, "approvers").iter().enumerate() {
            if let Some(choice) = self.approver(node, &format!("approvers.{}", n + 1)) {
                choices.push(choice);
            }
        }
        choices
    }

    fn approver(&mut self, node: &Node, key: &str) -> Option<Choice<Approvers>> {
        let keys = ["when", "who", "quorum"];
        let Shape::Map(pairs) = &node.shape else {
            self.problems.mistyped(node, key, "a mapping with the keys when, who, quorum");
            return None;
        };
        let (mut when, mut who, mut quorum) = (When::default(), Vec::new(), 1);
        for pair in pairs {
            let key = format!("{key}.{}", pair.name);
            match pair.name.as_str() {
                "when" => when = self.when(&pair.value, &key),
                "who" => {
                    let named = timeout::read_who(&pair.value, &key, &mut self.problems);
                    who = named.unwrap_or_default();
                    for one in &who {
                        self.mention_who(one, &pair.value, &key);
                    }
                }
                "quorum" => {
                    let number = self.problems.whole(&pair.value, &key, 1, MAX_QUORUM);
                    quorum = number.and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
                }
                _ => self.problems.unknown_key(pair, &key, &keys),
            }
        }
        if !pairs.iter().any(|pair| pair.name == "who" || pair.name == "quorum") {
            self.problems.add(node.at, key, "says neither `who` nor `quorum`");
        }
        self.mentions.push(Mention::quorum(&who, quorum, self.file, node.at, key));
        Some(Choice { when, what: Approvers { who, quorum }, origin: self.origin(node.at) })
    }

    fn when(&mut self, node: &Node, key: &str) -> When {
        let mut when = When::default();
        for pair in self.pairs(node, key, "a mapping with the keys action, tier, gate, autonomy") {
            let key = format!("{key}.{}", pair.name);
            if !WHEN_KEYS.contains(&pair.name.as_str()) {
                self.problems.unknown_key(pair, &key, &WHEN_KEYS);
                continue;
            }
            for node in self.problems.one_or_more(&pair.value, &key).unwrap_or_default() {
                self.condition(&mut when, &pair.name, node, &key);
            }
        }
        when
    }

    fn condition(&mut self, when: &mut When, name: &str, node: &Node, key: &str) {
        match name {
            "action" => {
                let Some(text) = self.problems.text(node, key) else { return };
                let Some(kinds) = kinds_of(&text) else {
                    let message = format!("`{}` is no action type", shorten(&text));
                    let hint = "write `category:action`, a category, or `all`";
                    self.problems.add_with_hint(node.at, key, message, hint);
                    return;
                };
                self.mentions.push(Mention::kinds(kinds.text(), self.file, node.at, key));
                when.actions.push(kinds);
            }
            "tier" => {
                let word = self.problems.choice(node, key, &Tier::ALL.map(Tier::name));
                when.tiers.extend(word.and_then(|word| Tier::from_name(&word)));
            }
            "gate" => {
                let word = self.problems.choice(node, key, &GateKind::ALL.map(GateKind::name));
                when.gates.extend(word.and_then(|word| GateKind::from_name(&word)));
            }
            _ => when.levels.extend(self.level(node, key)),
        }
    }
}

/// Where a text stands in a value, first.
fn place_of(node: &Node, text: &str) -> Option<Place> {
    match &node.shape {
        Shape::Scalar { text: found, .. } => (found == text).then_some(node.at),
        Shape::List(items) => items.iter().find_map(|item| place_of(item, text)),
        Shape::Map(pairs) => pairs.iter().find_map(|pair| place_of(&pair.value, text)),
    }
}

/// What a text names: a type, a category, or all of them.
fn kinds_of(text: &str) -> Option<Kinds> {
    if text == "all" {
        return Some(Kinds::All);
    }
    if let Some(action) = ActionType::parse(text) {
        return Some(Kinds::One(action));
    }
    // A category is what could stand before the colon.
    ActionType::parse(&format!("{text}:x")).map(|_| Kinds::Category(text.to_owned()))
}
