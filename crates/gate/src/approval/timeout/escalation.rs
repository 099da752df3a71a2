//! `escalation`: each step moves the right to decide one further; at the end it is over.

use aurora_model::{Timestamp, Who};
use serde_json::{Value, json};

use super::{Due, PolicyKind, TimeoutPolicy, View, after, duration, own};
use crate::settings::{Node, Problems, Shape};

/// Longer chains are a mistake.
const MAX_STEPS: usize = 20;

/// Passes it on from step to step; those of earlier steps keep the right to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    chain: Vec<Step>,
    denies: bool,
}

/// Who is asked, and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    who: Vec<Who>,
    timeout_s: u64,
}

/// How it is found.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "escalation",
    doc: "Each step of `chain` moves the right to decide one further; those before keep it. At the \
          end `on_exhausted`: deny (the default) or wait.",
    read: |node, key, problems| read(node, key, problems).map(|policy| Box::new(policy) as _),
    restore: |settings| restore(settings).map(|policy| Box::new(policy) as _),
    schema,
};

fn read(node: &Node, key: &str, problems: &mut Problems) -> Option<Escalation> {
    let mut chain = None;
    let mut denies = true;
    let mut good = true;
    for pair in own(node, key, &["chain", "on_exhausted"], problems) {
        let key = format!("{key}.{}", pair.name);
        if pair.name == "chain" {
            chain = Some(read_chain(&pair.value, &key, problems));
        } else {
            match problems.choice(&pair.value, &key, &["deny", "wait"]) {
                Some(word) => denies = word == "deny",
                None => good = false,
            }
        }
    }
    if chain.is_none() {
        let hint =
            "give the steps: `chain: [{who: ana, timeout: 1h}, {who: role:lead, timeout: 4h}]`";
        problems.add_with_hint(node.at, key, "`chain` is missing", hint);
    }
    let chain = chain??;
    good.then_some(Escalation { chain, denies })
}

fn read_chain(node: &Node, key: &str, problems: &mut Problems) -> Option<Vec<Step>> {
    let Shape::List(items) = &node.shape else {
        problems.mistyped(node, key, "a list of steps");
        return None;
    };
    if items.is_empty() || items.len() > MAX_STEPS {
        problems.add(node.at, key, format!("must have 1 to {MAX_STEPS} steps"));
        return None;
    }
    let steps = items.iter().enumerate();
    let steps: Vec<Option<Step>> =
        steps.map(|(n, item)| read_step(item, &format!("{key}.{}", n + 1), problems)).collect();
    steps.into_iter().collect()
}

fn read_step(node: &Node, key: &str, problems: &mut Problems) -> Option<Step> {
    let Shape::Map(pairs) = &node.shape else {
        problems.mistyped(node, key, "a mapping with the keys who, timeout");
        return None;
    };
    let (mut who, mut timeout_s) = (None, None);
    let mut good = true;
    for pair in pairs {
        let key = format!("{key}.{}", pair.name);
        match pair.name.as_str() {
            "who" => who = Some(super::read_who(&pair.value, &key, problems)),
            "timeout" => timeout_s = Some(duration::read(&pair.value, &key, problems)),
            _ => {
                problems.unknown_key(pair, &key, &["who", "timeout"]);
                good = false;
            }
        }
    }
    for (name, missing) in [("who", who.is_none()), ("timeout", timeout_s.is_none())] {
        if missing {
            problems.add(node.at, key, format!("`{name}` is missing"));
        }
    }
    let step = Step { who: who??, timeout_s: timeout_s?? };
    good.then_some(step)
}

fn restore(settings: &Value) -> Option<Escalation> {
    let mut chain = Vec::new();
    for step in settings.get("chain")?.as_array()? {
        let mut who = Vec::new();
        for one in step.get("who")?.as_array()? {
            who.push(Who::parse(one.as_str()?)?);
        }
        chain.push(Step { who, timeout_s: step.get("timeout_s")?.as_u64()? });
    }
    let denies = settings.get("on_exhausted")?.as_str()? == "deny";
    (!chain.is_empty()).then_some(Escalation { chain, denies })
}

fn schema() -> Value {
    json!({
        "chain": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_STEPS,
            "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["who", "timeout"],
                "properties": {
                    "who": { "$ref": "#/$defs/who" },
                    "timeout": { "$ref": "#/$defs/duration" },
                },
            },
        },
        "on_exhausted": { "enum": ["deny", "wait"], "default": "deny" },
    })
}

impl Escalation {
    /// The steps that are still to come, the present one first.
    fn left(&self, step: u32) -> &[Step] {
        usize::try_from(step).ok().and_then(|step| self.chain.get(step..)).unwrap_or(&[])
    }
}

impl TimeoutPolicy for Escalation {
    fn settings(&self) -> Value {
        let step = |step: &Step| json!({ "who": step.who, "timeout_s": step.timeout_s });
        let chain: Vec<Value> = self.chain.iter().map(step).collect();
        json!({ "chain": chain, "on_exhausted": if self.denies { "deny" } else { "wait" } })
    }

    fn apply_policy(&self, view: &View<'_>) -> Option<(Timestamp, Due)> {
        let (now, later) = self.left(view.step).split_first()?;
        let at = after(view.step_at, now.timeout_s);
        let within = duration::text(now.timeout_s);
        if let Some(next) = later.first() {
            let reason = format!("nobody decided within {within}");
            let step = view.step.saturating_add(1);
            return Some((at, Due::Escalate { step, to: next.who.clone(), reason }));
        }
        let steps = self.chain.len();
        let reason = format!("nobody in the chain of {steps} decided, the last within {within}");
        self.denies.then_some((at, Due::Deny { reason }))
    }

    /// The end of the chain as things stand: a step that is due by now has its whole time from now.
    fn end(&self, view: &View<'_>, now: Timestamp) -> Option<Timestamp> {
        let (first, later) = self.left(view.step).split_first().filter(|_| self.denies)?;
        let mut end = after(view.step_at, first.timeout_s);
        if !later.is_empty() {
            end = end.max(now);
        }
        Some(later.iter().fold(end, |end, step| after(end, step.timeout_s)))
    }

    fn first(&self) -> Vec<Who> {
        self.chain.first().map(|step| step.who.clone()).unwrap_or_default()
    }

    fn names(&self) -> Vec<Who> {
        self.chain.iter().flat_map(|step| step.who.clone()).collect()
    }
}
