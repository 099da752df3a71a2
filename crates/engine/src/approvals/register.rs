//! Questions of runs as requests in the queue: what is opened, decided or closed together with what a
//! run records, so that the two can never tell different stories.

mod beside;
mod words;

use std::sync::Arc;

use aurora_gate::approval::risk::Classifier as _;
use aurora_gate::approval::rules::Asked;
use aurora_gate::approval::{Rules, digest_of};
use aurora_model::{
    About, ActionType, AgentName, Assignment, Autonomy, Digest, FrozenCall, GateKind, Operation,
    Question, Reason, Request, Requester, Route, Subject, Target, TaskId, Tier, Timestamp,
};
use serde_json::{Value, json};

use super::Queue;
use crate::machine::{State, TaskState};

pub(crate) use beside::{Beside, Besides};
pub use beside::{carried, decider_of};

/// Which shape the arguments of our own actions have.
const SCHEMA: u16 = 1;

/// Puts the questions of runs into the queue.
#[derive(Clone)]
pub struct Registrar {
    /// The queue.
    pub queue: Queue,
    /// Who may decide what, until when.
    pub rules: Arc<Rules>,
    /// The digest of the policy in force.
    pub policy: Digest,
    /// The project: the absolute path of the worktree's root.
    pub project: String,
}

/// How dangerous something is, and for whom.
struct Weight {
    tier: Tier,
    autonomy: Autonomy,
    actions: Vec<ActionType>,
}

impl Registrar {
    /// The request that a question of a run is. The state is the one in which it is asked.
    #[must_use]
    pub fn request(&self, question: &Question, state: &State, asked_at: Timestamp) -> Request {
        let about = &question.about;
        let call = call_of(about, state);
        let subject = self.subject(question, state);
        let weight = self.weight(about, state);
        let asked = asked(state.gate_of(about), &weight);
        let worker = about.task().and_then(|task| state.task(task));
        let parked = worker.and_then(|task| task.conversation.as_ref());
        let parked = parked.filter(|_| call.is_some()).map(|one| one.context.clone());
        Request {
            id: question.id.clone(),
            gate: asked.gate,
            digest: digest_of(&subject),
            subject,
            options: question.options.clone(),
            title: words::title(about, state),
            reasons: reasons_of(about, call).to_vec(),
            effects: words::effects(about, state),
            tier: weight.tier,
            autonomy: weight.autonomy,
            on_no: words::on_no(about).to_owned(),
            claimed: call.and_then(|call| call.claimed.clone()),
            detail: None,
            requester: requester(about, state),
            ruling: self.rules.ruling(&asked),
            parked,
            asked_at,
            actions: weight.actions,
        }
    }

    /// What a yes to a question authorises, exactly.
    #[must_use]
    pub fn subject(&self, question: &Question, state: &State) -> Subject {
        match call_of(&question.about, state) {
            Some(call) => self.subject_of_call(question, state, call),
            None => self.subject_of_run(question, state),
        }
    }

    /// What a yes to a question about a call authorises, with the call resolved anew: where it is not
    /// what was asked about, its digest is another one.
    #[must_use]
    pub fn subject_of_call(
        &self,
        question: &Question,
        state: &State,
        call: &FrozenCall,
    ) -> Subject {
        let (tool, schema, args) = match &question.about {
            About::Unknown { question, .. } => {
                let args = json!({
                    "question": question, "tool": call.tool, "schema": call.schema,
                    "args": call.args,
                });
                ("call.outcome".to_owned(), SCHEMA, args)
            }
            _ => (call.tool.clone(), call.schema, call.args.clone()),
        };
        Subject {
            project: self.project.clone(),
            run: state.brief.as_ref().map(|brief| brief.run.clone()),
            task: question.about.task().cloned(),
            agent: Some(call.agent.clone()),
            tool,
            schema,
            args,
            targets: call.targets.clone(),
            policy: call.policy.clone(),
            tier: call.tier,
            autonomy: call.autonomy,
        }
    }

    /// Whether only people can answer a question about this: a flag such as `--yes` must not.
    #[must_use]
    pub fn needs_person(&self, about: &About, state: &State) -> bool {
        self.rules.needs_person(&asked(state.gate_of(about), &self.weight(about, state)))
    }

    /// Who works on a task, and how much they may do by themselves; nothing where the model works
    /// without an agent.
    #[must_use]
    pub fn autonomy_of<'a>(&self, task: &'a TaskState) -> Option<(&'a AgentName, Autonomy)> {
        let (agent, role) = agent_of(task)?;
        Some((agent, self.rules.autonomy(Some(agent.as_str()), role.map(AgentName::as_str))))
    }

    fn subject_of_run(&self, question: &Question, state: &State) -> Subject {
        let weight = self.weight(&question.about, state);
        let (tool, args) = action_of(&question.about, state);
        let run = state.brief.as_ref().map(|brief| brief.run.clone());
        let task = question.about.task();
        let agent =
            task.and_then(|task| state.task(task)).and_then(agent_of).map(|(agent, _)| agent);
        let targets = match &question.about {
            About::Changes { task, place, .. } => trees(state, task, place.as_deref()),
            _ => Vec::new(),
        };
        Subject {
            project: self.project.clone(),
            run,
            task: task.cloned(),
            agent: agent.cloned(),
            tool: tool.to_owned(),
            schema: SCHEMA,
            args,
            targets,
            policy: self.policy.clone(),
            tier: weight.tier,
            autonomy: weight.autonomy,
        }
    }

    fn weight(&self, about: &About, state: &State) -> Weight {
        if let Some(call) = call_of(about, state) {
            let (tier, autonomy, actions) = (call.tier, call.autonomy, call.actions.clone());
            return Weight { tier, autonomy, actions };
        }
        let named = match about {
            About::Preview if state.is_plan_only() => vec!["docs:write"],
            About::Preview => vec!["code:write"],
            About::Policy { reasons, .. } => reasons.iter().map(action_behind).collect(),
            About::Changes { reasons, paths, .. } => {
                let gone = paths.iter().any(|path| path.starts_with('-'));
                let more =
                    if gone { vec!["code:write", "code:delete"] } else { vec!["code:write"] };
                reasons.iter().map(action_behind).chain(more).collect()
            }
            // To try again costs money.
            _ => vec!["budget:spend"],
        };
        let mut actions: Vec<ActionType> =
            named.into_iter().filter_map(ActionType::parse).collect();
        actions.sort();
        actions.dedup();
        let worker = about.task().and_then(|task| state.task(task)).and_then(agent_of);
        let (agent, role) = worker.map_or((None, None), |(agent, role)| (Some(agent), role));
        let autonomy =
            self.rules.autonomy(agent.map(AgentName::as_str), role.map(AgentName::as_str));
        Weight { tier: self.rules.strictest(&actions), autonomy, actions }
    }
}

/// The gates at which only people can answer, however dangerous it is what is asked about there: for
/// the questions of a run that no rule is asked about one by one.
#[must_use]
pub fn people_only(rules: &Rules) -> Vec<GateKind> {
    let gates = [GateKind::Review, GateKind::Preview, GateKind::Failure, GateKind::Escalation];
    let needs = |gate: &GateKind| {
        Tier::ALL.into_iter().any(|tier| {
            let (autonomy, actions) = (rules.autonomy(None, None), Vec::new());
            rules.names_people(&asked(*gate, &Weight { tier, autonomy, actions }))
        })
    };
    gates.into_iter().filter(needs).collect()
}

fn asked(gate: GateKind, weight: &Weight) -> Asked<'_> {
    let Weight { tier, autonomy, actions } = weight;
    Asked { gate, tier: *tier, autonomy: *autonomy, actions }
}

/// The call that is asked about.
fn call_of<'a>(about: &'a About, state: &'a State) -> Option<&'a FrozenCall> {
    match about {
        About::Operation { call, .. } => Some(call),
        About::Unknown { question, .. } => state.call_of(question),
        _ => None,
    }
}

fn reasons_of<'a>(about: &'a About, call: Option<&'a FrozenCall>) -> &'a [Reason] {
    match about {
        About::Policy { reasons, .. } | About::Changes { reasons, .. } => reasons,
        _ => call.map_or(&[], |call| &call.reasons),
    }
}

/// Who works on a task: the agent of its last attempt, or the one that would begin; and the role that
/// it plays.
fn agent_of(task: &TaskState) -> Option<(&AgentName, Option<&AgentName>)> {
    if let Some(last) = task.attempts.last() {
        return match &last.route {
            Route::Agent { agent } => Some((agent, None)),
            Route::AdHoc { agent, role } => Some((agent, Some(role))),
            Route::Model => None,
        };
    }
    match &task.planned.assignment {
        Assignment::Agent { agent } => Some((agent, None)),
        Assignment::Gap { role, ad_hoc } => ad_hoc.as_ref().map(|agent| (agent, Some(role))),
    }
}

fn requester(about: &About, state: &State) -> Requester {
    if let Some(call) = call_of(about, state) {
        return Requester { agent: Some(call.agent.clone()), role: None, person: None };
    }
    let worker = about.task().and_then(|task| state.task(task)).and_then(agent_of);
    worker.map_or_else(Requester::default, |(agent, role)| Requester {
        agent: Some(agent.clone()),
        role: role.map(ToString::to_string),
        person: None,
    })
}

/// Our own word for what would be done, and what exactly.
fn action_of(about: &About, state: &State) -> (&'static str, Value) {
    match about {
        About::Preview => {
            let brief = state.brief.as_deref();
            let tasks = brief.and_then(|brief| serde_json::to_string(&brief.tasks).ok());
            let tasks = tasks.map(|text| aurora_store::chain::digest(text.as_bytes()));
            let goal = brief.map_or("", |brief| brief.goal.as_str());
            ("run.start", json!({ "goal": goal, "count": state.tasks.len(), "tasks": tasks }))
        }
        About::Policy { task, reasons } => {
            let title = title_of(state, task);
            let why: Vec<&str> = reasons.iter().map(|reason| reason.message.as_str()).collect();
            ("task.begin", json!({ "title": title, "why": why }))
        }
        About::Changes { task, files, lines, .. } => {
            let attempt = state.task(task).and_then(|task| task.attempts.last());
            let base = attempt.and_then(|one| one.base.as_ref()).map(ToString::to_string);
            let number = attempt.map(|one| one.number);
            let args = json!({ "attempt": number, "base": base, "files": files, "lines": lines });
            ("changes.adopt", args)
        }
        About::Failure { task, error, .. } => {
            let attempts = state.task(task).map_or(0, |task| task.attempts.len());
            ("task.retry", json!({ "error": error, "attempts": attempts }))
        }
        About::Operation { .. } | About::Unknown { .. } => ("call.outcome", Value::Null),
    }
}

fn title_of<'a>(state: &'a State, task: &TaskId) -> &'a str {
    state.task(task).map_or("", |task| task.planned.task.title.as_str())
}

/// What the changes of a task come to: exactly this is taken over.
fn trees(state: &State, task: &TaskId, place: Option<&str>) -> Vec<Target> {
    let Some(attempt) = state.task(task).and_then(|task| task.attempts.last()) else {
        return Vec::new();
    };
    let path = place.unwrap_or_default().to_owned();
    let result = attempt.result.as_ref().map(ToString::to_string);
    result.map(|tree| Target::Tree { path, tree }).into_iter().collect()
}

/// The kind of action behind a reason of the gate. What nobody has classified is high.
fn action_behind(reason: &Reason) -> &'static str {
    if reason.rule.starts_with("workspace.") {
        return "workspace:unexpected";
    }
    match reason.operation {
        Operation::GitForcePush | Operation::GitPushMain => "vcs:push",
        Operation::FileDelete | Operation::GitDiscard => "code:delete",
        Operation::DropTable => "db:admin",
        Operation::Truncate | Operation::SqlDeleteAll => "db:mutate",
        Operation::InfraDestroy => "deploy:production",
        Operation::Scope | Operation::FileType => "code:write",
        Operation::DiskWipe => "disk:wipe",
        Operation::OpaqueExec => "shell:opaque",
        Operation::UnknownTool | Operation::RoleTool => "tool:unknown",
        Operation::ProtectedPath | Operation::Area | Operation::PathRule | Operation::Contract => {
            "code:protected"
        }
        Operation::CustomRule | Operation::None => "rule:custom",
    }
}

#[cfg(test)]
mod tests;
