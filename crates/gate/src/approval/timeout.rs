//! What happens when nobody decides: timeout policies behind one trait, each in a file of its own.
//!
//! A new policy is a new file and one line in `POLICIES`.

mod deny;
pub mod duration;
mod escalation;
mod tiered;
mod wait;

#[cfg(test)]
mod tests;

use std::fmt::Debug;

use aurora_model::{ActionType, Autonomy, Tier, TimeoutRule, Timestamp, Who};
use serde_json::Value;

use crate::settings::{Node, Pair, Problems, Shape, shorten};

/// The keys that stand beside a policy's own.
pub const COMMON: [&str; 4] = ["when", "policy", "remind_every", "warn_before"];

/// How long after the warning a yes without a person can come, in milliseconds.
pub const GRACE_MS: i64 = 60_000;

/// What a policy is shown of a request.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// How dangerous it is.
    pub tier: Tier,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
    /// What kinds of action it is.
    pub actions: &'a [ActionType],
    /// When it was asked.
    pub asked_at: Timestamp,
    /// How many steps it was escalated.
    pub step: u32,
    /// When the last step was taken, or when it was asked.
    pub step_at: Timestamp,
    /// When people were warned.
    pub warned_at: Option<Timestamp>,
}

/// What a policy says at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// What is due now.
    pub due: Option<Due>,
    /// When the policy has something to say next.
    pub wake_at: Option<Timestamp>,
    /// When the request ends if nobody decides, as things stand.
    pub expires_at: Option<Timestamp>,
}

/// What a policy does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// It ends; that is nobody's no.
    Deny {
        /// Why.
        reason: String,
    },
    /// It is done all the same. Possible for the lowest tier only.
    Approve {
        /// Why.
        reason: String,
    },
    /// Others may decide too.
    Escalate {
        /// Which step, counted from 1.
        step: u32,
        /// Who.
        to: Vec<Who>,
        /// Why.
        reason: String,
    },
}

/// What happens when nobody decides.
pub trait TimeoutPolicy: Debug + Send + Sync {
    /// Its settings, as they are kept with a request.
    fn settings(&self) -> Value;

    /// The tier by which it treats a request.
    fn get_risk_tier(&self, view: &View<'_>) -> Tier {
        view.tier
    }

    /// What is due at a moment, and when to look again.
    fn check_timeout(&self, view: &View<'_>, now: Timestamp) -> Check {
        let Some((at, what)) = self.apply_policy(view) else { return Check::default() };
        let expires_at = self.end(view, now);
        if at <= now {
            Check { due: Some(what), wake_at: None, expires_at }
        } else {
            Check { due: None, wake_at: Some(at), expires_at }
        }
    }

    /// What it does next, and when.
    fn apply_policy(&self, view: &View<'_>) -> Option<(Timestamp, Due)>;

    /// When the request ends if nobody decides, as things stand; nothing for never.
    fn end(&self, view: &View<'_>, now: Timestamp) -> Option<Timestamp> {
        let _ = now;
        let (at, what) = self.apply_policy(view)?;
        (!matches!(what, Due::Escalate { .. })).then_some(at)
    }

    /// Who may decide from the beginning because of it; nobody when it names nobody.
    fn first(&self) -> Vec<Who> {
        Vec::new()
    }

    /// Everybody whom it names.
    fn names(&self) -> Vec<Who> {
        Vec::new()
    }

    /// Whether it could say yes without a person.
    fn may_approve(&self) -> bool {
        false
    }
}

/// One kind of policy: how it is called, read from a settings file and from a request.
pub struct PolicyKind {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Reads its settings from a file; the node is the mapping in which `policy` stands.
    /// Its dotted key is for messages.
    pub read: fn(&Node, &str, &mut Problems) -> Option<Box<dyn TimeoutPolicy>>,
    /// Reads what was kept with a request.
    pub restore: fn(&Value) -> Option<Box<dyn TimeoutPolicy>>,
    /// Its settings as JSON Schema properties.
    pub schema: fn() -> Value,
}

/// Every policy that there is.
pub static POLICIES: [PolicyKind; 4] = [wait::KIND, deny::KIND, tiered::KIND, escalation::KIND];

/// The policy that was chosen for a request. One that this version does not know waits: nothing is
/// done that nobody understands.
#[must_use]
pub fn of(rule: &TimeoutRule) -> Box<dyn TimeoutPolicy> {
    kind_of(&rule.policy)
        .and_then(|kind| (kind.restore)(&rule.settings))
        .unwrap_or_else(|| Box::new(wait::Wait))
}

/// The settings of `deny` where nothing is said.
pub(super) fn default_deny() -> Value {
    deny::Deny { timeout_s: deny::DEFAULT_SECONDS }.settings()
}

/// The policy of that name.
#[must_use]
pub fn kind_of(name: &str) -> Option<&'static PolicyKind> {
    POLICIES.iter().find(|kind| kind.name == name)
}

/// The keys of a policy's mapping that are its own; every other key but the common ones is a mistake.
fn own<'n>(node: &'n Node, key: &str, names: &[&str], problems: &mut Problems) -> Vec<&'n Pair> {
    let Shape::Map(pairs) = &node.shape else { return Vec::new() };
    let mut found = Vec::new();
    for pair in pairs {
        if names.contains(&pair.name.as_str()) {
            found.push(pair);
        } else if !COMMON.contains(&pair.name.as_str()) {
            let known: Vec<&str> = COMMON.iter().chain(names).copied().collect();
            problems.unknown_key(pair, &format!("{key}.{}", pair.name), &known);
        }
    }
    found
}

/// Those who may decide, as a settings file names them: one, or a list.
pub fn read_who(node: &Node, key: &str, problems: &mut Problems) -> Option<Vec<Who>> {
    let mut found: Vec<Who> = Vec::new();
    let mut good = true;
    for one in problems.one_or_more(node, key)? {
        let text = problems.text(one, key);
        let Some(text) = text else {
            good = false;
            continue;
        };
        match Who::parse(&text) {
            Some(who) if found.contains(&who) => {
                problems.add(one.at, key, format!("`{who}` is named twice"));
                good = false;
            }
            Some(who) => found.push(who),
            None => {
                let message = format!("`{}` is nobody", shorten(&text));
                problems.add_with_hint(
                    one.at,
                    key,
                    message,
                    "write `ana`, `role:lead` or `anyone`",
                );
                good = false;
            }
        }
    }
    good.then_some(found)
}

/// A moment so many seconds after another.
fn after(moment: Timestamp, seconds: u64) -> Timestamp {
    let ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    Timestamp { unix_ms: moment.unix_ms.saturating_add(ms) }
}
