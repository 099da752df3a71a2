//! Narrow rules proposed from what people decided before, each with a back-test.
//!
//! A proposal is a rule as a person could write it into `policies.yaml`. It names the kind of action, the tool,
//! and the folder and sort of file or the program; it is never a beginning of a text, never for what is high or
//! critical, never for what somebody once said no to, and it ends some day. Nothing here writes it anywhere.

mod shape;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use aurora_model::{Action, Answer, Autonomy, Context, Tier, Timestamp};
use serde_json::{Map, Value, json};

use super::autonomy::{tighten_call, unanswered};
use super::risk::Classifier;
use crate::analysis;
use crate::policy::{LayerKind, LayerSource, Policy};
use crate::settings::SettingsErrors;
use shape::Shape;

/// More proposals than this nobody reads.
const MAX_PROPOSALS: usize = 20;
/// How long a day is.
const DAY_MS: i64 = 86_400_000;

/// An operation that was asked about before, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The request.
    pub id: String,
    /// What would have been done.
    pub action: Action,
    /// Where.
    pub context: Context,
    /// How much the agent could do by itself.
    pub level: Autonomy,
    /// How dangerous it was.
    pub tier: Tier,
    /// What people said.
    pub said: Said,
    /// When it was asked.
    pub at: Timestamp,
}

/// What people said to a request. What a flag or a policy answered in their place is no part of history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// A person said yes to it as it was.
    Yes,
    /// A person said no, or wanted it otherwise.
    No,
    /// Nobody said anything in time.
    Nothing,
}

impl Said {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Nothing => "nothing",
        }
    }
}

/// What is proposed, and from when on it would hold how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// So often people must have said yes.
    pub min: usize,
    /// What time it is.
    pub now: Timestamp,
    /// For how many days a rule would hold.
    pub days: u32,
}

/// What a rule would have answered, had it been there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackTest {
    /// Requests that it would have allowed, and a person did.
    pub rightly: Vec<String>,
    /// Requests that it would have allowed, and nobody did, with what was said.
    pub wrongly: Vec<(String, Said)>,
    /// How many it would have left to a person.
    pub still_asked: usize,
}

/// A rule that a person may add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its name.
    pub id: String,
    /// As it would stand in `policies.yaml`.
    pub yaml: String,
    /// The kind of action that it answers.
    pub kind: String,
    /// How dangerous that is.
    pub tier: Tier,
    /// The first day on which it does not hold any more.
    pub expires: String,
    /// What it would have answered.
    pub back_test: BackTest,
}

/// Proposes rules, those that would have answered most first.
///
/// # Errors
/// When the policy cannot be read.
pub fn suggest(
    history: &[Past],
    layers: &[LayerSource],
    classifier: &dyn Classifier,
    wish: &Wish,
) -> Result<Vec<Proposal>, SettingsErrors> {
    let policy = Policy::load(layers)?;
    let mut groups: BTreeMap<Shape, Group> = BTreeMap::new();
    for past in history {
        let (shapes, whole) = shapes_of(past, &policy, wish);
        for shape in &shapes {
            let group = groups.entry(shape.clone()).or_default();
            group.refused |= past.said == Said::No;
            let plain = whole && shapes.len() == 1 && past.tier <= Tier::Medium;
            if plain && past.said == Said::Yes && past.level > Autonomy::Locked {
                group.yes += 1;
                // The freest level asks nothing; what was asked then, the policy asked.
                if past.level < Autonomy::Full && !group.levels.contains(&past.level) {
                    group.levels.push(past.level);
                }
            }
        }
    }
    let mut proposals = Vec::new();
    for (shape, group) in &groups {
        let Some(tier) = shape.tier(classifier).filter(|tier| *tier <= Tier::Medium) else {
            continue;
        };
        if group.refused || group.yes < wish.min.max(1) {
            continue;
        }
        let (id, expires, yaml) = rule(shape, group, wish);
        let back_test = back_test(&yaml, history, layers, wish)?;
        // A rule that would have allowed what somebody refused is not proposed, whatever its shape.
        if back_test.rightly.is_empty()
            || back_test.wrongly.iter().any(|(_, said)| *said == Said::No)
        {
            continue;
        }
        let kind = shape.kind.to_owned();
        proposals.push(Proposal { id, yaml, kind, tier, expires, back_test });
    }
    proposals.sort_by_key(|one| std::cmp::Reverse(one.back_test.rightly.len()));
    proposals.truncate(MAX_PROPOSALS);
    Ok(proposals)
}

/// What a rule, as it would stand in `policies.yaml`, would have answered: each past request is judged again
/// without and with it.
///
/// # Errors
/// When the policy cannot be read, with the rule or without.
pub fn back_test(
    rule: &str,
    history: &[Past],
    layers: &[LayerSource],
    wish: &Wish,
) -> Result<BackTest, SettingsErrors> {
    let before = Policy::load(layers)?;
    let (kind, name) = (LayerKind::Explicit, "the proposed rule".to_owned());
    let mut with = layers.to_vec();
    with.push(LayerSource { kind, name, text: rule.to_owned() });
    let after = Policy::load(&with)?;
    let mut test = BackTest::default();
    for past in history {
        let answer = |policy: &Policy| answered(past, policy, wish);
        if answer(&before) != Answer::Ask {
            continue;
        }
        match (answer(&after), past.said) {
            (Answer::Allow, Said::Yes) => test.rightly.push(past.id.clone()),
            (Answer::Allow, said) => test.wrongly.push((past.id.clone(), said)),
            _ => test.still_asked += 1,
        }
    }
    Ok(test)
}

/// What people said about requests of one shape.
#[derive(Debug, Default)]
struct Group {
    yes: usize,
    refused: bool,
    levels: Vec<Autonomy>,
}

fn at(past: &Past, wish: &Wish) -> Context {
    Context { now: Some(wish.now), ..past.context.clone() }
}

/// What would be answered to a past request under a policy.
fn answered(past: &Past, policy: &Policy, wish: &Wish) -> Answer {
    let context = at(past, wish);
    let verdict = crate::judge(&past.action, policy, &context);
    tighten_call(verdict.decision, &past.action, policy, &context, past.level)
}

/// The shapes of everything that a past request would be asked about, and whether that is all of it.
fn shapes_of(past: &Past, policy: &Policy, wish: &Wish) -> (Vec<Shape>, bool) {
    let context = at(past, wish);
    let analysis = analysis::analyse(&past.action, &context);
    let level = past.level.min(Autonomy::Supervised);
    let pieces = unanswered(&past.action, &analysis, policy, &context, level);
    let mut shapes: Vec<Shape> = Vec::new();
    let mut whole = !pieces.is_empty();
    for piece in &pieces {
        match Shape::of(&past.action, &analysis, piece) {
            Some(shape) if shapes.contains(&shape) => {}
            Some(shape) => shapes.push(shape),
            None => whole = false,
        }
    }
    (shapes, whole)
}

/// The rule for a shape: its name, its end, and its text.
fn rule(shape: &Shape, group: &Group, wish: &Wish) -> (String, String, String) {
    let id = shape.id();
    let end = wish.now.unix_ms.saturating_add(i64::from(wish.days.max(1)).saturating_mul(DAY_MS));
    let day = Timestamp { unix_ms: end }.to_string();
    let expires = day.split('T').next().unwrap_or_default().to_owned();
    let mut when = Map::new();
    when.insert("kind".into(), json!(shape.kind));
    when.insert("tool".into(), json!(shape.tool));
    for (name, value) in [("program", &shape.program), ("path", &shape.path)] {
        if let Some(value) = value {
            when.insert(name.into(), json!(value));
        }
    }
    let mut levels: Vec<Autonomy> = group.levels.clone();
    levels.sort();
    let levels: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    let levels = match levels.as_slice() {
        [] => String::new(),
        some => format!("    levels: [{}]\n", some.join(", ")),
    };
    let reason = format!("people said yes to it {} times, and never no", group.yes);
    // What is JSON is YAML, so nothing in a name can mean anything else.
    let yaml = format!(
        "rules:\n  - id: {id}\n    when: {}\n    action: allow\n{levels}    expires: {expires}\n    \
         reason: {}\n",
        Value::Object(when),
        json!(reason),
    );
    (id, expires, yaml)
}
