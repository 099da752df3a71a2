//! Asks the gate about one action, and says what a person is shown of it.

use aurora_gate::Policy;
use aurora_model::{Action, Answer, Context, Operation, Verdict};

use super::words;
use crate::output::verdict::Shown;

/// The gate's verdict, with every file read that it wanted and that can be read. A file that is
/// there and is not read because of a limit is said to be unread, so that a limit lets nothing
/// through.
#[must_use]
pub fn judge(action: &Action, policy: &Policy, context: &Context) -> Verdict {
    if is_empty_patch(action) {
        return nothing_happens();
    }
    aurora_engine::world::reading::judge(action, policy, context).0
}

/// Whether it is a patch without a letter in it, which `git diff` prints in a clean worktree.
#[must_use]
pub fn is_empty_patch(action: &Action) -> bool {
    matches!(action, Action::Patch { patch } if patch.iter().all(u8::is_ascii_whitespace))
}

fn nothing_happens() -> Verdict {
    Verdict {
        decision: Answer::Allow,
        operation: Operation::None,
        rule: None,
        reasons: Vec::new(),
        effects: Vec::new(),
        wanted: Vec::new(),
    }
}

/// The text that a verdict's spans point into.
#[must_use]
pub fn judged_text(action: &Action) -> String {
    match action {
        Action::Shell { command } => command.clone(),
        Action::Exec { argv } => words::join(argv),
        Action::Sql { text, .. } => text.clone(),
        Action::Patch { patch } => String::from_utf8_lossy(patch).into_owned(),
        Action::Tool(call) => match call.args.get("command").and_then(|value| value.as_str()) {
            Some(command) => command.to_owned(),
            None => String::new(),
        },
    }
}

/// What a person is shown of an action.
#[must_use]
pub fn shown(action: &Action) -> Shown {
    let harmless = if is_empty_patch(action) {
        "the patch is empty"
    } else {
        "nothing here that the policy asks about"
    };
    let call = match action {
        Action::Tool(call) => format!("{} {}", call.name, call.args),
        _ => String::new(),
    };
    Shown { text: judged_text(action), call, harmless }
}

/// Whether git's configuration can change what an action means: a text without the word, and
/// without anything that could spell it another way or run a script, does not need it.
#[must_use]
pub fn may_run_git(action: &Action) -> bool {
    let hides = |text: &str| {
        ["git", "sh", "source"].iter().any(|word| text.contains(word))
            || text.contains(['\\', '\'', '"', '$', '`', '|', '.', '*', '?'])
    };
    match action {
        Action::Shell { command } => hides(command),
        Action::Exec { argv } => argv.iter().any(|word| hides(word)),
        Action::Sql { .. } | Action::Patch { .. } => false,
        Action::Tool(_) => true,
    }
}
