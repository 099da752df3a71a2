//! `tiered`: each tier has its own time and its own end.

use aurora_model::{Tier, Timestamp};
use serde_json::{Map, Value, json};

use super::{Check, Due, GRACE_MS, PolicyKind, TimeoutPolicy, View, after, deny, duration, own};
use crate::settings::{Node, Problems, Shape};

/// What happens in each tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiered {
    /// INVARIANT: one row per tier, in the order of `Tier::ALL`.
    rows: [Row; 4],
}

/// What happens in one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    timeout_s: u64,
    end: End,
}

/// What happens after the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Approve,
    Deny,
    Wait,
}

impl End {
    const WORDS: [&'static str; 3] = ["approve", "deny", "wait"];

    const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Wait => "wait",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Approve, Self::Deny, Self::Wait].into_iter().find(|end| end.name() == name)
    }
}

/// The keys of a tier.
const ROW_KEYS: [&str; 2] = ["timeout", "on_timeout"];

/// How it is found.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "tiered",
    doc: "Each tier has its own `timeout` and `on_timeout`; `approve` is possible for low only, and \
          only with `allow_auto_approve: true`.",
    read: |node, key, problems| read(node, key, problems).map(|policy| Box::new(policy) as _),
    restore: |settings| restore(settings).map(|policy| Box::new(policy) as _),
    schema,
};

impl Default for Tiered {
    fn default() -> Self {
        let row = |end| Row { timeout_s: deny::DEFAULT_SECONDS, end };
        Self { rows: [row(End::Deny), row(End::Deny), row(End::Deny), row(End::Wait)] }
    }
}

impl Tiered {
    fn row(&self, tier: Tier) -> Row {
        let found = Tier::ALL.iter().zip(self.rows).find(|(one, _)| **one == tier);
        found.map_or(Row { timeout_s: 0, end: End::Wait }, |(_, row)| row)
    }
}

fn read(node: &Node, key: &str, problems: &mut Problems) -> Option<Tiered> {
    let mut policy = Tiered::default();
    let names = ["allow_auto_approve", "low", "medium", "high", "critical"];
    let pairs = own(node, key, &names, problems);
    let mut allowed = false;
    for pair in pairs.iter().filter(|pair| pair.name == "allow_auto_approve") {
        allowed = problems.flag(&pair.value, &format!("{key}.{}", pair.name))?;
    }
    let mut good = true;
    for pair in pairs {
        let Some(tier) = Tier::from_name(&pair.name) else { continue };
        let key = format!("{key}.{}", pair.name);
        let slot = Tier::ALL.iter().zip(&mut policy.rows).find(|(one, _)| **one == tier);
        let Some((_, slot)) = slot else { continue };
        match read_row(&pair.value, &key, *slot, (tier, allowed), problems) {
            Some(row) => *slot = row,
            None => good = false,
        }
    }
    good.then_some(policy)
}

fn read_row(
    node: &Node,
    key: &str,
    mut row: Row,
    (tier, allowed): (Tier, bool),
    problems: &mut Problems,
) -> Option<Row> {
    let Shape::Map(pairs) = &node.shape else {
        problems.mistyped(node, key, "a mapping with the keys timeout, on_timeout");
        return None;
    };
    // Whoever gives a tier a time wants something to happen then.
    let timed = pairs.iter().any(|pair| pair.name == "timeout");
    if timed && row.end == End::Wait {
        row.end = End::Deny;
    }
    let mut good = true;
    for pair in pairs {
        let key = format!("{key}.{}", pair.name);
        match pair.name.as_str() {
            "timeout" => match duration::read(&pair.value, &key, problems) {
                Some(seconds) => row.timeout_s = seconds,
                None => good = false,
            },
            "on_timeout" => {
                let word = problems.choice(&pair.value, &key, &End::WORDS);
                match word.and_then(|word| End::from_name(&word)) {
                    Some(End::Approve) if !may_approve(tier, allowed) => {
                        let (message, hint) = forbidden(tier);
                        problems.add_with_hint(pair.value.at, &key, message, hint);
                        good = false;
                    }
                    Some(end) => row.end = end,
                    None => good = false,
                }
            }
            _ => {
                problems.unknown_key(pair, &key, &ROW_KEYS);
                good = false;
            }
        }
    }
    good.then_some(row)
}

/// A yes without a person is for the lowest tier, and only for who wants it.
fn may_approve(tier: Tier, allowed: bool) -> bool {
    tier == Tier::Low && allowed
}

fn forbidden(tier: Tier) -> (String, &'static str) {
    if tier == Tier::Low {
        let message = "approves what nobody looked at, and that is off".to_owned();
        return (message, "write `allow_auto_approve: true` beside `policy` if you want it");
    }
    let message = format!("what is {} is never approved by time", tier.name());
    (message, "use deny or wait; approve is possible for low only")
}

fn restore(settings: &Value) -> Option<Tiered> {
    let mut policy = Tiered::default();
    for (tier, slot) in Tier::ALL.iter().zip(&mut policy.rows) {
        let row = settings.get(tier.name())?;
        let end = End::from_name(row.get("on_timeout")?.as_str()?)?;
        // What was kept may have been kept by something else than us: only low can be approved.
        if end == End::Approve && *tier != Tier::Low {
            return None;
        }
        *slot = Row { timeout_s: row.get("timeout_s")?.as_u64()?, end };
    }
    Some(policy)
}

fn schema() -> Value {
    let row = |words: &[&str]| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "timeout": { "$ref": "#/$defs/duration" },
                "on_timeout": { "enum": words },
            },
        })
    };
    let mut out = Map::new();
    let about = "Whether low may be approved by time at all.";
    out.insert(
        "allow_auto_approve".into(),
        json!({ "type": "boolean", "default": false, "description": about }),
    );
    for tier in Tier::ALL {
        let words: &[&str] = if tier == Tier::Low { &End::WORDS } else { &["deny", "wait"] };
        out.insert(tier.name().into(), row(words));
    }
    out.into()
}

impl TimeoutPolicy for Tiered {
    fn settings(&self) -> Value {
        let rows = Tier::ALL.iter().zip(self.rows).map(|(tier, row)| {
            let row = json!({ "timeout_s": row.timeout_s, "on_timeout": row.end.name() });
            (tier.name().to_owned(), row)
        });
        Value::Object(rows.collect())
    }

    fn check_timeout(&self, view: &View<'_>, now: Timestamp) -> Check {
        let Some((at, what)) = self.apply_policy(view) else { return Check::default() };
        let expires_at = Some(at);
        // A yes comes a while after the warning, however late the warning was.
        let warned = view.warned_at.filter(|_| matches!(what, Due::Approve { .. }));
        let grace = warned.map(|at| Timestamp { unix_ms: at.unix_ms.saturating_add(GRACE_MS) });
        let at = grace.map_or(at, |grace| at.max(grace));
        if at <= now {
            Check { due: Some(what), wake_at: None, expires_at }
        } else {
            Check { due: None, wake_at: Some(at), expires_at }
        }
    }

    fn apply_policy(&self, view: &View<'_>) -> Option<(Timestamp, Due)> {
        let tier = self.get_risk_tier(view);
        let row = self.row(tier);
        let at = after(view.asked_at, row.timeout_s);
        let reason = format!(
            "nobody decided about {} within {}",
            tier.name(),
            duration::text(row.timeout_s)
        );
        match row.end {
            End::Wait => None,
            End::Deny => Some((at, Due::Deny { reason })),
            End::Approve if tier == Tier::Low => Some((at, Due::Approve { reason })),
            End::Approve => Some((at, Due::Deny { reason })),
        }
    }

    fn may_approve(&self) -> bool {
        self.rows.iter().any(|row| row.end == End::Approve)
    }
}
