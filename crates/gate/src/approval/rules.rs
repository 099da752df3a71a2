//! `approvals.yaml`: who may decide what, how dangerous things are, and what happens when nobody decides.

mod names;
pub mod notify;
mod read;
mod schema;
mod show;
mod template;
mod when;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use aurora_model::{ActionType, Autonomy, GateKind, Ruling, Tier, TimeoutRule, Timestamp, Who};
use serde_json::Value;

pub use schema::schema;
pub use template::TEMPLATE;

use super::risk::{Classifier, TierMap, is_for_people};
use super::timeout::{self, View};
use crate::settings::SettingsErrors;
use notify::Channel;
use read::Section;
use when::Choice;

/// Where a value comes from that no file gives.
pub const BUILT_IN: &str = "built-in defaults";
/// A yes by time is warned of at least so many seconds before.
const LEAST_WARNING_S: u64 = 60;

/// Everything that `approvals.yaml` says, over the defaults.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    people: Section<BTreeMap<String, Person>>,
    autonomy: Section<Levels>,
    risk: Section<TierMap>,
    timeouts: Section<Vec<Choice<Timeout>>>,
    approvers: Section<Vec<Choice<Approvers>>>,
    notify: Section<Vec<Channel>>,
}

/// Who somebody is; who may decide is said by `approvers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    /// Their roles.
    pub roles: Vec<String>,
    /// The name under which they log in on this machine, when it is another.
    pub login: Option<String>,
    /// Where mail reaches them.
    pub email: Option<String>,
}

/// How much agents may do by themselves.
#[derive(Debug, Clone, Default)]
struct Levels {
    default: Autonomy,
    roles: BTreeMap<String, Autonomy>,
    agents: BTreeMap<String, Autonomy>,
}

/// What happens when nobody decides.
#[derive(Debug, Clone)]
struct Timeout {
    policy: &'static str,
    settings: Value,
    /// Nothing when the file does not say; `Some(None)` is never.
    remind_every_s: Option<Option<u64>>,
    warn_before_s: Option<Option<u64>>,
}

/// Who may decide, and how many must.
#[derive(Debug, Clone)]
struct Approvers {
    who: Vec<Who>,
    quorum: u32,
}

/// What a ruling depends on.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Which gate asks.
    pub gate: GateKind,
    /// How dangerous it is.
    pub tier: Tier,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
    /// What kinds of action it is.
    pub actions: &'a [ActionType],
}

impl Rules {
    /// Reads the layers, the widest first (the user's own file, then the project's), each a file's name
    /// and its text. A section that a later layer has takes the place of the whole section before.
    ///
    /// # Errors
    /// When a file says something that it cannot say, with every place.
    pub fn read(layers: &[(String, String)]) -> Result<Self, SettingsErrors> {
        read::read(layers)
    }

    /// Who may decide, how many must, and what happens when nobody does: the most specific wins.
    #[must_use]
    pub fn ruling(&self, asked: &Asked<'_>) -> Ruling {
        let chosen = when::most_specific(&self.timeouts.value, asked, &self.risk.value);
        let (timeout, chosen_by) = match chosen {
            Some(choice) => (choice.what.clone(), choice.origin.clone()),
            None => (default_timeout(asked), BUILT_IN.to_owned()),
        };
        let rule = TimeoutRule {
            policy: timeout.policy.to_owned(),
            settings: timeout.settings,
            chosen_by,
        };
        let policy = timeout::of(&rule);
        let begin = Timestamp { unix_ms: 0 };
        let view = View {
            tier: asked.tier,
            autonomy: asked.autonomy,
            actions: asked.actions,
            asked_at: begin,
            step: 0,
            step_at: begin,
            warned_at: None,
        };
        let check = policy.check_timeout(&view, begin);
        let total_s = check.expires_at.and_then(|end| u64::try_from(end.unix_ms / 1000).ok());
        let mut warn_before_s = timeout.warn_before_s.unwrap_or_else(|| warning(total_s));
        if policy.may_approve() && asked.tier == Tier::Low {
            let before = warn_before_s.unwrap_or(LEAST_WARNING_S).max(LEAST_WARNING_S);
            warn_before_s = Some(before);
        }
        let approvers = when::most_specific(&self.approvers.value, asked, &self.risk.value);
        let approvers = approvers.map(|choice| choice.what.clone());
        let quorum = approvers.as_ref().map_or(1, |approvers| approvers.quorum);
        let mut deciders = approvers.map(|approvers| approvers.who).unwrap_or_default();
        let named: Vec<Who> =
            policy.first().into_iter().filter(|who| !deciders.contains(who)).collect();
        deciders.extend(named);
        // Nobody named means everybody, and everybody named means that too.
        if deciders.contains(&Who::Anyone) {
            deciders.clear();
        }
        let remind_every_s = timeout.remind_every_s.unwrap_or_else(|| reminders(total_s));
        Ruling { timeout: rule, deciders, quorum, remind_every_s, warn_before_s }
    }

    /// How much an agent may do by itself: agent before role before project.
    #[must_use]
    pub fn autonomy(&self, agent: Option<&str>, role: Option<&str>) -> Autonomy {
        let levels = &self.autonomy.value;
        let of_agent = agent.and_then(|agent| levels.agents.get(agent));
        let of_role = || role.and_then(|role| levels.roles.get(role));
        of_agent.or_else(of_role).copied().unwrap_or(levels.default)
    }

    /// Whether only people can answer: a flag such as `--yes` must not.
    #[must_use]
    pub fn needs_person(&self, asked: &Asked<'_>) -> bool {
        is_for_people(asked.tier, asked.actions) || self.names_people(asked)
    }

    /// Whether the file says that certain people, or several, decide this.
    #[must_use]
    pub fn names_people(&self, asked: &Asked<'_>) -> bool {
        let ruling = self.ruling(asked);
        ruling.quorum > 1 || !ruling.deciders.is_empty()
    }

    /// The roles of a person.
    #[must_use]
    pub fn roles_of(&self, person: &str) -> Vec<String> {
        self.people.value.get(person).map(|person| person.roles.clone()).unwrap_or_default()
    }

    /// The person who logs in under a name: the one who says so, or the one who is called so.
    #[must_use]
    pub fn person_of_login(&self, login: &str) -> Option<&str> {
        let says = |person: &Person| person.login.as_deref() == Some(login);
        let says = self.people.value.iter().find(|(_, person)| says(person));
        let called =
            || self.people.value.get_key_value(login).filter(|(_, one)| one.login.is_none());
        says.or_else(called).map(|(name, _)| name.as_str())
    }

    /// Everybody who is named, by name.
    pub fn people(&self) -> impl Iterator<Item = (&str, &Person)> {
        self.people.value.iter().map(|(name, person)| (name.as_str(), person))
    }

    /// Over what people are told.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.notify.value
    }

    /// The JSON Schema of the file.
    #[must_use]
    pub fn schema() -> Value {
        schema()
    }
}

impl Classifier for Rules {
    fn tier(&self, action: &ActionType) -> Tier {
        self.risk.value.tier(action)
    }
}

/// Without any setting: what is critical waits for ever, another operation ends after four hours so that
/// the agent can try another way, and whatever else is asked waits.
fn default_timeout(asked: &Asked<'_>) -> Timeout {
    let denies = asked.gate == GateKind::Operation && asked.tier < Tier::Critical;
    let policy = if denies { "deny" } else { "wait" };
    let settings = if denies { timeout::default_deny() } else { serde_json::json!({}) };
    Timeout { policy, settings, remind_every_s: None, warn_before_s: None }
}

/// Unless the file says otherwise, people are reminded after each quarter of the time.
fn reminders(total_s: Option<u64>) -> Option<u64> {
    total_s.map(|total| total / 4).filter(|every| *every >= LEAST_WARNING_S)
}

/// Unless the file says otherwise, people are warned when a tenth of the time is left.
fn warning(total_s: Option<u64>) -> Option<u64> {
    total_s.map(|total| (total / 10).max(LEAST_WARNING_S).min(total / 2).max(1))
}
