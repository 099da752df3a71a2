//! Judges a call for whoever asks about one or changes one, as a run judges its own: where it would be
//! made, and by what the agent may do now.

use std::path::PathBuf;

use aurora_engine::approvals::autonomy;
use aurora_engine::driver;
use aurora_engine::world::tools::judged::{Judge, Resolved, context_at, level};
use aurora_gate::Policy;
use aurora_gate::approval::Rules;
use aurora_gate::approval::autonomy::Lowering;
use aurora_model::{Action, Autonomy, Subject, ToolCall};
use aurora_workspace::Silent;

use super::settings;
use crate::exit::Failure;
use crate::wiring::judging;
use crate::wiring::patience::{self, PATIENCE};
use crate::wiring::place::Place;
use crate::wiring::store::Log;
use crate::wiring::workspace::open_at;

/// A call, and who makes it where.
pub struct Asked<'a> {
    /// The call.
    pub call: ToolCall,
    /// The agent that makes it.
    pub agent: Option<&'a str>,
    /// The agent's role.
    pub role: Option<&'a str>,
    /// The call as it was asked about before, where somebody changes it.
    pub before: Option<&'a Subject>,
}

/// What was found about a call, and how much the agent may do by itself.
pub struct Found {
    /// What was found.
    pub resolved: Resolved,
    /// The level.
    pub autonomy: Autonomy,
}

/// Judges a call.
pub fn judge(
    log: Option<&Log>,
    place: Place,
    policy: Policy,
    rules: &Rules,
    asked: &Asked<'_>,
) -> anyhow::Result<Found> {
    let lowering = match log {
        Some(log) => log.ask(autonomy::lowering(log.store.as_ref())).map_err(told)?,
        None => Lowering::default(),
    };
    let autonomy = match asked.before {
        // It may never do more than when it was asked; what its role was is in that already.
        Some(before) => lowering.effective(before.autonomy, asked.agent, asked.role),
        None => level(rules, &lowering, asked.agent, asked.role),
    };
    let desk = log.zip(asked.before).and_then(|(log, before)| desk(log, before));
    let root = place.root().unwrap_or_default();
    let (call, rules) = (asked.call.clone(), rules.clone());
    let edits = asked.before.is_some();
    let judged = patience::in_time(PATIENCE, move || {
        let with_git = desk.is_some() || judging::may_run_git(&Action::Tool(call.clone()));
        let context = place.context(with_git);
        let (at, context) = match desk {
            Some(desk) => (desk.clone(), context_at(&desk, context)),
            None => (root, context),
        };
        let digest = settings::policy_digest(&policy);
        let (policy, rules, policy_digest) = (&policy, &rules, &digest);
        let judge = Judge { policy, policy_digest, rules, context, autonomy };
        Ok(match judge.resolve(&call, &at) {
            // Others may have a tool of the same name.
            Err(_) if !edits => Ok(judge.resolve_own(&call, &at)),
            resolved => resolved,
        })
    });
    let resolved = judged.map_err(|why| Failure::failed(format!("cannot judge this: {why}")))?;
    let unfit = |why| Failure::usage(format!("the call cannot be made like this: {why}"));
    Ok(Found { resolved: resolved.map_err(unfit)?, autonomy })
}

/// The desk at which a call of a run would be made, where there is one.
fn desk(log: &Log, subject: &Subject) -> Option<PathBuf> {
    let (run, task) = (subject.run.as_ref()?, subject.task.as_ref()?);
    let (_, state) = log.ask(driver::load(&log.store, run)).ok()?;
    let number = state.task(task)?.desk()?;
    let feature = &state.brief.as_ref()?.place.feature;
    let workspace = open_at(subject.project.as_ref(), std::sync::Arc::new(Silent)).ok()?;
    workspace.desk_path(feature, run.as_str(), number).ok()?
}

fn told(error: aurora_engine::Error) -> anyhow::Error {
    crate::wiring::run::failure(error).into()
}
