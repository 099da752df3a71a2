//! How dangerous an action is: its effects become action types, and a classifier says the tier of each.

mod call;
mod place;
mod table;

#[cfg(test)]
mod tests;

use aurora_model::{ActionType, EffectKind, Tier, Touch};

pub(crate) use call::{Because, Piece, pieces};
pub use call::{actions_of_call, actions_of_tool};
pub use table::{DEFAULTS, TierMap, default_tier};

/// Says how dangerous a kind of action is.
pub trait Classifier: Send + Sync {
    /// The tier; what nobody has classified is high.
    fn tier(&self, action: &ActionType) -> Tier;

    /// The strictest tier of several; high when there is none, for then nobody knows what it is.
    fn strictest(&self, actions: &[ActionType]) -> Tier {
        actions.iter().map(|action| self.tier(action)).max().unwrap_or(Tier::High)
    }
}

/// What reaches beyond the worktree and cannot be taken back.
const FOR_PEOPLE: [&str; 3] = ["disk:wipe", "system:delete", "system:write"];

/// Whether a person must decide this, whoever it is: no flag answers what is critical, or what reaches
/// beyond the worktree.
#[must_use]
pub fn is_for_people(tier: Tier, actions: &[ActionType]) -> bool {
    tier == Tier::Critical || actions.iter().any(|action| FOR_PEOPLE.contains(&action.as_str()))
}

/// What kinds of action these effects are, one for each effect, without repetition.
#[must_use]
pub fn actions_of(effects: &[EffectKind]) -> Vec<ActionType> {
    let mut actions = Vec::new();
    for effect in effects {
        push(&mut actions, action_of(effect));
    }
    actions
}

/// The kind of action that one effect is. Names that the table of defaults does not know are high.
pub(crate) fn action_of(effect: &EffectKind) -> &'static str {
    match effect {
        EffectKind::DeleteFiles { paths, .. } => {
            let inside = !paths.is_empty() && paths.iter().all(place::is_inside);
            if inside { "code:delete" } else { "system:delete" }
        }
        EffectKind::ChangePath { path, touch, recursive } => change(path, *touch, *recursive),
        EffectKind::ForcePush { .. } | EffectKind::PushMain { .. } => "vcs:push",
        EffectKind::DiscardWork { .. } => "code:delete",
        EffectKind::DropObject { .. } => "db:admin",
        EffectKind::EmptyTable { .. } | EffectKind::ChangeAllRows { .. } => "db:mutate",
        EffectKind::DestroyInfra { .. } => "deploy:production",
        EffectKind::WipeDisk { .. } | EffectKind::LoseRoot { .. } => "disk:wipe",
        EffectKind::Opaque { .. } => "shell:opaque",
        EffectKind::UnknownTool { .. } => "tool:unknown",
        EffectKind::Network { .. } => "comms:external",
    }
}

/// Which kind of change it is. Only a change of content of one known file can be milder than work on
/// code: permissions, owners, links and names change what a file means.
fn change(path: &aurora_model::PathRef, touch: Touch, recursive: bool) -> &'static str {
    if !place::is_inside(path) {
        return "system:write";
    }
    let content = matches!(touch, Touch::Create | Touch::Write | Touch::Append | Touch::Truncate);
    let one = !path.glob && !recursive;
    let name = path.resolved.as_deref().unwrap_or_default();
    match touch {
        _ if content && one && place::is_document(name) => "docs:write",
        _ if content && one && place::is_test(name) => "test:write",
        Touch::Create | Touch::Link => "code:create",
        _ => "code:write",
    }
}

/// These actions of a call that writes one file, where the caller has looked and the file is not there:
/// then it is not changed but created.
#[must_use]
pub fn as_creation(actions: Vec<ActionType>) -> Vec<ActionType> {
    let created = |action: ActionType| match action.as_str() {
        "code:write" => ActionType::parse("code:create").unwrap_or(action),
        _ => action,
    };
    let mut out = Vec::new();
    for action in actions.into_iter().map(created) {
        if !out.contains(&action) {
            out.push(action);
        }
    }
    out
}

/// Adds an action that is not there yet.
fn push(actions: &mut Vec<ActionType>, name: &str) {
    if let Some(action) = ActionType::parse(name)
        && !actions.contains(&action)
    {
        actions.push(action);
    }
}
