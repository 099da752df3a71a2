//! One attempt: money reserved, desk prepared, agent at work within its limit, everything gone after.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_agents::{Agent, Holding, Job, Report, Start};
use aurora_model::{AgentName, AttemptEnd, Cost, Digest, FrozenCall, Known, Route, TaskId, TreeId};
use aurora_workspace::desk::Notice;

use super::conversation::{Parted, Talk, Talked, Worker};
use super::listening::Listening;
use super::permitting::Permitting;
use super::processes::Process;
use super::prompt::prompt;
use super::{Inner, blocking, task_of};
use crate::budget::{Reservation, Reserve};
use crate::driver::Stop;
use crate::error::Result;
use crate::machine::{Command, Conversation, State, TaskState};

/// How long the model may take when it is asked in place of an agent: a failure of an agent must lead
/// to an answer within minutes.
const MODEL_LIMIT_SECONDS: u64 = 40;
/// How long the last words of an ended agent are waited for.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How much of what an agent says at the end stands in the log itself.
const MAX_SUMMARY_CHARS: usize = 4000;

/// How an attempt went.
struct Gone {
    end: AttemptEnd,
    cost: Cost,
    transcript: Vec<u8>,
    /// What the desk held when it began.
    base: Option<TreeId>,
    /// The conversation and the calls for which it waits, where it does not end but waits for people.
    parked: Option<(Digest, Vec<FrozenCall>)>,
}

impl Gone {
    fn with(end: AttemptEnd) -> Self {
        let (cost, transcript) = (Cost::default(), Vec::new());
        Self { end, cost, transcript, base: None, parked: None }
    }

    fn failed(error: impl Into<String>) -> Self {
        Self::with(AttemptEnd::Failed { error: error.into() })
    }

    fn reported(report: Report) -> Self {
        let summary: String = report.summary.chars().take(MAX_SUMMARY_CHARS).collect();
        let end = match report.success {
            true => AttemptEnd::Succeeded { summary },
            false => AttemptEnd::Failed { error: summary },
        };
        Self { cost: report.cost, transcript: report.transcript, ..Self::with(end) }
    }

    fn talked(talked: Talked) -> Self {
        let Talked { how, cost, transcript } = talked;
        match how {
            Parted::Over(end) => Self { cost, transcript, ..Self::with(end) },
            Parted::Parked { context, calls } => Self {
                cost,
                parked: Some((context, calls)),
                ..Self::with(AttemptEnd::Interrupted {})
            },
        }
    }
}

/// What is needed to try.
struct Trying<'a> {
    job: Job,
    route: &'a Route,
    desk: u32,
    /// What its money is reserved under; every part of an attempt that was parked has its own.
    reservation: String,
    /// The conversation that goes on, and what the desk held when it began, where it was parked.
    parked: Option<(Arc<Conversation>, Option<TreeId>)>,
    /// How the run stood when it began.
    state: &'a Arc<State>,
}

impl Inner {
    /// Lets an agent or the model try.
    pub(super) async fn attempt(
        self: Arc<Self>,
        id: &TaskId,
        number: u32,
        desk: u32,
        state: &Arc<State>,
        stop: Stop,
    ) -> Result<Command> {
        let begun = Instant::now();
        let task = task_of(state, id)?;
        let attempt = task.attempts.iter().find(|one| one.number == number);
        let route = attempt.map_or(Route::Model, |one| one.route.clone());
        let gone = match self.agent_of(&route) {
            Ok(agent) => {
                let job = self.job(task, number, &route, state);
                let conversation = task.conversation.clone().filter(|one| one.attempt == number);
                let reservation = match &conversation {
                    Some(_) => format!("{}/{}", job.name, state.version),
                    None => job.name.clone(),
                };
                let base = attempt.and_then(|one| one.base.clone());
                let parked = conversation.map(|one| (one, base));
                let trying = Trying { job, route: &route, desk, reservation, parked, state };
                self.paid(&agent, trying, stop).await?
            }
            Err(error) => Gone::failed(error),
        };
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (task, attempt) = (id.clone(), number);
        let (end, cost, base) = (gone.end, gone.cost, gone.base);
        if let Some((context, calls)) = gone.parked {
            return Ok(Command::Parked { task, attempt, context, calls, cost, millis, base });
        }
        let transcript = self.kept(gone.transcript).await?;
        // However it ended: who fails can have done as much as who succeeds.
        let noticed = if base.is_some() { self.noticed().await? } else { Vec::new() };
        let name = format!("{}/{id}/{number}", self.settings.run);
        self.over((&name, &route), &end, &noticed, state).await?;
        let noticed = noticed.into_iter().map(|one| one.what).collect();
        Ok(Command::AttemptOver { task, attempt, end, cost, millis, transcript, base, noticed })
    }

    async fn noticed(&self) -> Result<Vec<Notice>> {
        let site = Arc::clone(&self.site);
        blocking(move || Ok(site.noticed(true))).await
    }

    fn agent_of(&self, route: &Route) -> std::result::Result<Arc<dyn Agent>, String> {
        let registry = &self.settings.registry;
        match route {
            Route::Model => registry.model().ok_or_else(|| "no model is configured".to_owned()),
            Route::Agent { agent } | Route::AdHoc { agent, .. } => {
                registry.get(agent).ok_or_else(|| format!("there is no agent {agent} any more"))
            }
        }
    }

    fn job(&self, task: &TaskState, number: u32, route: &Route, state: &State) -> Job {
        let done: Vec<&TaskState> =
            task.planned.task.depends_on.iter().filter_map(|on| state.task(on)).collect();
        let prompt = match &state.brief {
            Some(brief) => prompt(brief, task, &done, route),
            None => task.planned.task.title.clone(),
        };
        let limit = state.brief.as_ref().map_or(120, |brief| brief.settings.timeout_seconds);
        let (timeout_seconds, role) = match route {
            Route::Model => (limit.min(MODEL_LIMIT_SECONDS), None),
            Route::Agent { agent } => (self.limit_of(agent, limit), None),
            Route::AdHoc { agent, role } => (self.limit_of(agent, limit), Some(role.to_string())),
        };
        Job {
            name: format!("{}/{}/{number}", self.settings.run, task.id()),
            prompt,
            title: task.planned.task.title.clone(),
            task: task.id().to_string(),
            attempt: number,
            role,
            cwd: String::new(),
            timeout_seconds,
        }
    }

    fn limit_of(&self, agent: &AgentName, limit: u64) -> u64 {
        self.settings.registry.limits(agent).timeout_seconds.unwrap_or(limit)
    }

    /// Reserves what the attempt may cost, lets it work, and settles what it did cost.
    async fn paid(
        self: &Arc<Self>,
        agent: &Arc<dyn Agent>,
        mut trying: Trying<'_>,
        stop: Stop,
    ) -> Result<Gone> {
        let estimate = agent.estimate(&trying.job);
        let id = trying.reservation.clone();
        let reservation = Reservation {
            id: id.clone(),
            run: self.settings.run.clone(),
            task: TaskId::parse(&trying.job.task),
            agent: agent.name().to_string(),
            estimate: estimate.clone(),
        };
        match self.settings.budget.reserve(&reservation).await? {
            Reserve::Refused { why } => {
                return Ok(Gone::with(AttemptEnd::OverBudget { error: why }));
            }
            Reserve::Granted { warning } => self.warn(warning),
        }
        let mut gone = match self.desk_for(&trying).await {
            Ok((cwd, base)) => {
                trying.job.cwd = cwd.to_string_lossy().into_owned();
                Gone { base, ..self.work(agent, &trying, &cwd, stop).await? }
            }
            Err(error) => {
                let why = format!("its desk could not be prepared: {error}");
                self.settings.budget.release(&id, &why).await?;
                return Ok(Gone::failed(why));
            }
        };
        if gone.cost.known == Known::Unknown && estimate.known != Known::Unknown {
            gone.cost = Cost { known: Known::Estimated, ..estimate };
        }
        self.warn(self.settings.budget.settle(&id, &gone.cost).await?);
        Ok(gone)
    }

    fn warn(&self, warning: Option<String>) {
        if let Some(warning) = warning {
            self.settings.audience.warned(&warning);
        }
    }

    /// The folder in which the agent works, brought to where the run stands, and what it holds. What
    /// was parked goes on at its desk as it left it.
    async fn desk_for(&self, trying: &Trying<'_>) -> Result<(PathBuf, Option<TreeId>)> {
        if *trying.route == Route::Model {
            return Ok((self.settings.workspace.root().to_owned(), None));
        }
        let (site, number) = (Arc::clone(&self.site), trying.desk);
        let parked = trying.parked.as_ref().map(|(_, base)| base.clone());
        blocking(move || {
            let desk = site.desk(number)?;
            let base = match parked {
                Some(base) => base,
                None => Some(desk.prepare()?.base),
            };
            Ok((desk.path().to_owned(), base))
        })
        .await
    }

    /// Lets the agent work until it is done, its time is over, or somebody stops it. When this
    /// returns, everything that it started is gone.
    async fn work(
        self: &Arc<Self>,
        agent: &Arc<dyn Agent>,
        trying: &Trying<'_>,
        cwd: &Path,
        stop: Stop,
    ) -> Result<Gone> {
        let job = &trying.job;
        let Some(task) = TaskId::parse(&job.task) else { return Ok(Gone::failed("no such task")) };
        let audience = Arc::clone(&self.settings.audience);
        let listening = Listening::new(audience, task.clone(), job.attempt);
        let limit = Duration::from_secs(job.timeout_seconds);
        let worker = Worker {
            agent: agent.name().clone(),
            role: job.role.clone(),
            desk: cwd.to_owned(),
            attempt: job.name.clone(),
        };
        if let Some(talker) = agent.talker().filter(|_| *trying.route != Route::Model) {
            let talk = Talk {
                talker,
                worker,
                prompt: job.prompt.clone(),
                parked: trying.parked.as_ref().map(|(parked, _)| parked.as_ref()),
                limit,
                seconds: job.timeout_seconds,
                max_cost: self.settings.registry.limits(agent.name()).max_cost,
                stop,
            };
            return Ok(Gone::talked(self.converse(talk, &listening).await?));
        }
        let asks = agent.capabilities().holding == Holding::Asks && *trying.route != Route::Model;
        let permitting = if asks {
            let (at, state) = ((task, job.attempt), Arc::clone(trying.state));
            Permitting::new(self, worker, at, state, stop.clone()).await?
        } else {
            None
        };
        let listening = listening.permitting(permitting);
        let gone = self.run_agent(agent, job, cwd, &listening, stop).await;
        listening.close().await;
        gone
    }

    /// Lets an agent that is not ours work.
    async fn run_agent(
        &self,
        agent: &Arc<dyn Agent>,
        job: &Job,
        cwd: &Path,
        listening: &Listening,
        mut stop: Stop,
    ) -> Result<Gone> {
        let limit = Duration::from_secs(job.timeout_seconds);
        let (process, pipes) = match agent.start(job) {
            Err(error) => return Ok(Gone::failed(error.to_string())),
            Ok(Start::Call) => (None, None),
            Ok(Start::Process(launch)) => {
                let settings = &self.settings;
                let (keeper, ours) = (&settings.keeper, &settings.environment);
                let (process, pipes) = Process::start(keeper, &launch, ours, cwd).await?;
                (Some(process), Some(pipes))
            }
        };
        let mut attending = agent.attend(job, pipes, listening);
        let end = tokio::select! {
            report = &mut attending => {
                drop(attending);
                if let Some(process) = &process {
                    process.kill().await;
                }
                return Ok(report.map_or_else(|error| Gone::failed(error.to_string()), Gone::reported));
            }
            () = listening.time_over(limit) => AttemptEnd::TimedOut { seconds: job.timeout_seconds },
            () = stop.asked() => AttemptEnd::Interrupted {},
        };
        let mut last = None;
        if let Some(process) = &process {
            let words = tokio::time::timeout(LAST_WORDS, &mut attending);
            let (report, ()) = tokio::join!(words, process.end());
            last = report.ok().and_then(std::result::Result::ok);
        }
        drop(attending);
        let spent = listening.spent().unwrap_or_default();
        let (cost, transcript) =
            last.map_or((spent, Vec::new()), |report| (report.cost, report.transcript));
        Ok(Gone { cost, transcript, ..Gone::with(end) })
    }

    async fn kept(&self, transcript: Vec<u8>) -> Result<Option<Digest>> {
        if transcript.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.settings.store.put(transcript).await?))
    }
}
