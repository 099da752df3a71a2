//! What holds, and where each part of it comes from, as JSON.

use aurora_model::{ActionType, Autonomy};
use serde_json::{Map, Value, json};

use super::when::{Choice, Kinds, When};
use super::{Approvers, BUILT_IN, Rules, Timeout};
use crate::approval::risk::{Classifier, DEFAULTS};
use crate::approval::timeout::duration;

impl Rules {
    /// What holds, and where each part of it comes from.
    #[must_use]
    pub fn show(&self) -> Value {
        let people: Map<String, Value> = self
            .people()
            .map(|(name, one)| {
                let person = json!({ "roles": one.roles, "login": one.login, "email": one.email });
                (name.to_owned(), person)
            })
            .collect();
        let levels = &self.autonomy.value;
        let named = |map: &std::collections::BTreeMap<String, Autonomy>| -> Map<String, Value> {
            map.iter().map(|(name, level)| (name.clone(), json!(level.name()))).collect()
        };
        let channels: Vec<Value> = self
            .channels()
            .iter()
            .map(|channel| json!({ "name": channel.name, "kind": channel.kind.name() }))
            .collect();
        json!({
            "people": { "value": people, "origin": self.people.origin },
            "autonomy": {
                "value": {
                    "default": levels.default.name(),
                    "roles": named(&levels.roles),
                    "agents": named(&levels.agents),
                },
                "origin": self.autonomy.origin,
            },
            "risk": { "value": self.tiers(), "origin": self.risk.origin },
            "timeouts": self.timeouts.value.iter().map(timeout).collect::<Vec<_>>(),
            "approvers": self.approvers.value.iter().map(approvers).collect::<Vec<_>>(),
            "notify": { "value": channels, "origin": self.notify.origin },
        })
    }

    /// The tier of every known kind of action, and of what the file names beside them.
    fn tiers(&self) -> Map<String, Value> {
        let known = DEFAULTS.iter().map(|(name, _)| *name);
        let known = known.chain(self.risk.value.known()).filter_map(ActionType::parse);
        let mut tiers: Map<String, Value> = known
            .map(|action| (action.as_str().to_owned(), json!(self.tier(&action).name())))
            .collect();
        for (name, tier) in self.risk.value.entries() {
            tiers.insert(name.to_owned(), json!(tier.name()));
        }
        tiers
    }

    /// Where the rules come from, one file each, or the defaults.
    #[must_use]
    pub fn origins(&self) -> Vec<String> {
        let all = [
            &self.people.origin,
            &self.autonomy.origin,
            &self.risk.origin,
            &self.timeouts.origin,
            &self.approvers.origin,
            &self.notify.origin,
        ];
        let file = |origin: &String| {
            let file = origin.rsplitn(3, ':').nth(2).unwrap_or(origin);
            (origin != BUILT_IN).then(|| file.to_owned())
        };
        let mut files: Vec<String> = Vec::new();
        for file in all.into_iter().filter_map(file) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        if files.is_empty() { vec![BUILT_IN.to_owned()] } else { files }
    }
}

fn timeout(choice: &Choice<Timeout>) -> Value {
    let what = &choice.what;
    let time = |given: Option<Option<u64>>| match given {
        None => Value::Null,
        Some(None) => json!("never"),
        Some(Some(seconds)) => json!(duration::text(seconds)),
    };
    json!({
        "when": when(&choice.when),
        "policy": what.policy,
        "settings": what.settings,
        "remind_every": time(what.remind_every_s),
        "warn_before": time(what.warn_before_s),
        "origin": choice.origin,
    })
}

fn approvers(choice: &Choice<Approvers>) -> Value {
    json!({
        "when": when(&choice.when),
        "who": choice.what.who,
        "quorum": choice.what.quorum,
        "origin": choice.origin,
    })
}

fn when(when: &When) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, list: Vec<&str>| {
        if !list.is_empty() {
            out.insert(name.to_owned(), json!(list));
        }
    };
    put("action", when.actions.iter().map(Kinds::text).collect());
    put("tier", when.tiers.iter().map(|tier| tier.name()).collect());
    put("gate", when.gates.iter().map(|gate| gate.name()).collect());
    put("autonomy", when.levels.iter().map(|level| level.name()).collect());
    out.into()
}
