//! The calls of one turn: those that may be made are, those that must not are refused, and those that
//! need a person are frozen, all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aurora_agents::talk::{Call, CallResult, Tools};
use aurora_gate::approval::Rules;
use aurora_model::{AgentName, Answer, Context, FrozenCall};
use tokio::time::Instant;

use super::super::tools::args::{Args, claim, leaving};
use super::super::tools::command::Shell;
use super::super::tools::judged::{Judge, Judged, context_at, level};
use super::super::tools::told::{Made, denied_by_policy};
use super::super::tools::{Tool, at_desk};
use super::super::{Inner, blocking};
use crate::approvals::autonomy;
use crate::driver::Stop;
use crate::error::Result;

/// More calls of one turn are not made: nobody could look at them.
const MAX_CALLS: usize = 32;

/// Who works where.
#[derive(Debug, Clone)]
pub(in crate::world) struct Worker {
    pub agent: AgentName,
    pub role: Option<String>,
    pub desk: PathBuf,
    /// The attempt's name, such as `spawn-1/sg-3/2`.
    pub attempt: String,
}

/// A turn, for who makes its calls.
pub(super) struct OneTurn<'a> {
    pub worker: &'a Worker,
    /// The tools that the model was given.
    pub given: &'a Tools,
    /// What it said besides.
    pub said: &'a str,
    /// When its time is over.
    pub deadline: Instant,
}

/// What became of the calls of a turn.
#[derive(Debug, Default)]
pub(in crate::world) struct Sorted {
    pub results: Vec<CallResult>,
    pub frozen: Vec<FrozenCall>,
    /// How many the policy denied.
    pub denied: u32,
    /// A path that leads out of the desk, where a call named one.
    pub left: Option<String>,
}

impl Sorted {
    fn deny(&mut self, call: &Call, judged: &Judged) {
        let told = denied_by_policy(judged.reasons.first());
        let made = Made::told(&told, "denied by the policy").into_failure();
        self.results.push(result(call, made));
        self.denied = self.denied.saturating_add(1);
    }
}

impl Inner {
    /// What calls of a worker are judged by.
    pub(in crate::world) async fn judge_for<'a>(&'a self, worker: &'a Worker) -> Result<Judge<'a>> {
        let rules: &Rules = &self.settings.rules;
        let (agent, role) = (Some(worker.agent.as_str()), worker.role.as_deref());
        let lowered = autonomy::lowering(self.settings.store.as_ref()).await?;
        let context = Context {
            role: worker.role.clone().or_else(|| self.settings.context.role.clone()),
            now: Some((self.settings.now)()),
            ..self.settings.context.clone()
        };
        Ok(Judge {
            policy: &self.settings.policy,
            policy_digest: &self.settings.policy_digest,
            rules,
            context: context_at(&worker.desk, context),
            autonomy: level(rules, &lowered, agent, role),
        })
    }

    /// Does what may be done about the calls of a turn.
    pub(super) async fn sort(
        &self,
        turn: &OneTurn<'_>,
        calls: &[Call],
        stop: &Stop,
    ) -> Result<Sorted> {
        let OneTurn { worker, given, said, deadline } = *turn;
        let judge = self.judge_for(worker).await?;
        let mut sorted = Sorted::default();
        let mut asked = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            if at >= MAX_CALLS {
                let why =
                    format!("no more than {MAX_CALLS} calls are made in one turn: call again");
                sorted.results.push(result(call, Made::failed("too_many_calls", &why)));
                continue;
            }
            if let Some(path) = leaving(&call.args, &worker.desk) {
                sorted.left = Some(path.to_owned());
            }
            let (tool, args) = match understood(call, given, &worker.desk) {
                Ok(understood) => understood,
                Err(made) => {
                    sorted.results.push(result(call, made));
                    continue;
                }
            };
            let judged = judge.judge(tool, &args);
            match judged.decision {
                Answer::Allow => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let made = self.make(worker, &args.within(left), stop.clone()).await?;
                    sorted.results.push(result(call, made));
                }
                Answer::Ask => asked.push((call, tool, args)),
                Answer::Deny => sorted.deny(call, &judged),
            }
        }
        // What is asked is what will be done: as it is after the others were made.
        for (call, tool, args) in asked {
            let judged = judge.judge(tool, &args);
            if judged.decision == Answer::Deny {
                sorted.deny(call, &judged);
                continue;
            }
            match judge.freeze(&call.id, tool, &args, judged, worker) {
                Ok(frozen) => {
                    let claimed = claim(&call.args, said);
                    sorted.frozen.push(FrozenCall { claimed, ..frozen });
                }
                Err(made) => sorted.results.push(result(call, made)),
            }
        }
        Ok(sorted)
    }

    /// Makes a call at a desk. When this returns, nothing of it goes on.
    pub(in crate::world) async fn make(
        &self,
        worker: &Worker,
        args: &Args,
        stop: Stop,
    ) -> Result<Made> {
        if let Args::Run { command, seconds } = args {
            let shell = Shell {
                keeper: &self.settings.keeper,
                ours: &self.settings.environment,
                desk: &worker.desk,
                marks: marks(&worker.attempt),
            };
            return shell.run(command, *seconds, stop).await;
        }
        let (desk, args) = (worker.desk.clone(), args.clone());
        blocking(move || Ok(at_desk(&desk, &args))).await
    }
}

/// Variables by which a process is told whose it is, and others that it is an agent's.
fn marks(attempt: &str) -> BTreeMap<String, String> {
    let mut parts = attempt.split('/');
    ["AURORA_RUN", "AURORA_TASK", "AURORA_ATTEMPT"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), parts.next()?.to_owned())))
        .collect()
}

/// What a call is to do, or what is wrong with it.
fn understood(call: &Call, given: &Tools, desk: &Path) -> std::result::Result<(Tool, Args), Made> {
    let tool = Tool::from_name(&call.name).filter(|tool| given.include(tool.name()));
    let Some(tool) = tool else {
        let why = format!("there is no tool `{}`", call.name);
        return Err(Made::failed("unknown_tool", &why));
    };
    if let Some(why) = call.malformed() {
        return Err(Made::failed("malformed_arguments", &why));
    }
    let bad = |why: String| Made::failed("malformed_arguments", &why);
    Args::read(tool, &call.args, desk).map(|args| (tool, args)).map_err(bad)
}

fn result(call: &Call, made: Made) -> CallResult {
    let Made { content, is_error, .. } = made;
    CallResult { call: call.id.clone(), tool: call.name.clone(), content, is_error }
}
