//! What the gate says about a task before it begins.

use aurora_gate::{Policy, judge};
use aurora_model::{About, Action, Answer, Assignment, Context, Reason, TaskId, ToolCall};
use serde_json::json;

use super::{Inner, task_of};
use crate::error::Result;
use crate::machine::{Command, State, TaskState};

/// Characters that make a path a pattern, which names no single file.
const PATTERN: [char; 4] = ['*', '?', '[', '{'];

impl Inner {
    /// Judges everything that is known of a task before it begins: the command that would be started
    /// for it, and the files that it is expected to write.
    pub(super) fn judge_task(&self, id: &TaskId, state: &State) -> Result<Command> {
        let task = task_of(state, id)?;
        let settings = &self.settings;
        let mut reasons = Vec::new();
        if let Some(argv) = self.command_of(task) {
            reasons
                .extend(judge(&Action::Exec { argv }, &settings.policy, &settings.context).reasons);
        }
        reasons.extend(expected_writes(task, &settings.policy, &settings.context));
        reasons.extend(expected_size(task, &settings.policy, &settings.context));
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.answer));
        let decision = reasons.first().map_or(Answer::Allow, |reason| reason.answer);
        let about = About::Policy { task: id.clone(), reasons: reasons.clone() };
        let needs_person = self.needs_person(&about, state);
        Ok(Command::Judged { task: id.clone(), decision, reasons, needs_person })
    }

    /// The command of the agent that would work, with its prompt left open: what a task says is no
    /// command.
    fn command_of(&self, task: &TaskState) -> Option<Vec<String>> {
        let name = match &task.planned.assignment {
            Assignment::Agent { agent } => agent,
            Assignment::Gap { ad_hoc, .. } => ad_hoc.as_ref()?,
        };
        self.settings.registry.command(name)
    }
}

/// What the policy says about writing the files that the plan names.
fn expected_writes(task: &TaskState, policy: &Policy, context: &Context) -> Vec<Reason> {
    let paths = task.planned.task.scope.paths.iter().filter(|path| !path.contains(PATTERN));
    paths
        .flat_map(|path| {
            let args = json!({ "file_path": path, "content": "" });
            let call = ToolCall { name: "Write".to_owned(), args };
            judge(&Action::Tool(call), policy, context).reasons
        })
        .collect()
}

/// What the policy says about the size that the plan itself expects.
fn expected_size(task: &TaskState, policy: &Policy, context: &Context) -> Vec<Reason> {
    let scope = &task.planned.task.scope;
    let files = scope.files.map_or(0, u64::from);
    let lines = scope.lines.map_or(0, u64::from);
    aurora_gate::judge::check_scope(files, lines, policy, context).reasons
}
