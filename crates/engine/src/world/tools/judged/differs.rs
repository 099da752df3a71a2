//! What is not as it was when a call was asked about, in words.

use aurora_model::{Subject, Target};

/// So many targets are named.
const MAX_NAMED: usize = 3;

/// What differs between a call as it was approved and as it would be made now.
pub(in crate::world) fn differs(approved: &Subject, now: &Subject) -> String {
    let mut told = Vec::new();
    if approved.autonomy != now.autonomy {
        let agent = now.agent.as_ref().map_or("the agent", |agent| agent.as_str());
        let word = if now.autonomy < approved.autonomy { "lowered" } else { "raised" };
        let level = now.autonomy.name();
        told.push(format!("the level of {agent} was {word} to `{level}` meanwhile"));
    }
    if approved.policy != now.policy {
        told.push("the policy was changed meanwhile".to_owned());
    }
    if approved.tier != now.tier {
        let (was, is) = (approved.tier.name(), now.tier.name());
        told.push(format!("it would be {is} now, and was {was}"));
    }
    let gone = approved.targets.iter().filter(|one| !now.targets.contains(one));
    let new = now.targets.iter().filter(|one| !approved.targets.contains(one));
    let mut names: Vec<&str> = gone.chain(new).map(name).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        let more = if names.len() > MAX_NAMED { " and more" } else { "" };
        names.truncate(MAX_NAMED);
        told.push(format!("not as it was when it was asked about: {}{more}", names.join(", ")));
    }
    match told.is_empty() {
        true => "what would be done is not what was approved".to_owned(),
        false => told.join("; "),
    }
}

fn name(target: &Target) -> &str {
    match target {
        Target::Path { path, .. } | Target::Tree { path, .. } => path,
        Target::Ref { name, .. } | Target::Table { name } => name,
    }
}
