//! Asks whoever is configured to take a goal apart.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use aurora_agents::decompose::{self, Decomposed, Goal, KnownAgent};
use aurora_agents::llm::Model;
use aurora_agents::profile::AgentProfile;
use aurora_agents::{Error, ModelProfile, Output, Provider};
use aurora_engine::budget::Budget;
use aurora_engine::driver::{Stopper, stop_pair};
use aurora_engine::world::consult::{Consultation, Consulted, GivenUp};
use aurora_model::{AgentName, RunId};
use tokio::signal::unix::{SignalKind, signal};

use super::facts::Facts;
use super::plan::Plans;
use super::waiting::Waiting;
use crate::exit::Failure;
use crate::output;
use crate::wiring::agents;
use crate::wiring::run::{Site, keeper, limits};
use crate::wiring::workspace::now;

const NOBODY: &str = "write who is asked into .aurora/agents.yaml, a model:
  model:
    provider: anthropic            # or openai, gemini, ollama
    name: claude-sonnet-4-5
    api_key_env: ANTHROPIC_API_KEY # the variable that holds the key
or an agent of this machine:
  default: claude
  agents:
    - id: claude
      provider: cli
      command: [claude, -p, \"{prompt}\", --output-format, stream-json, --verbose]
      output: claude-stream-json";

/// How asking ended, where it did not fail.
pub enum Answered {
    /// There are subgoals; so many seconds were waited, and this one was asked.
    Parts(Box<Decomposed>, u64, String),
    /// Somebody stopped it.
    Interrupted,
}

/// Whoever is to be asked, and how long they have.
pub struct Chosen {
    who: Consulted,
    limit: Duration,
}

/// Who is asked: the agent of that name, else the model, else the default agent.
pub fn choose(site: &Site, named: Option<&str>) -> anyhow::Result<Chosen> {
    let usual = Duration::from_secs(site.policy.recovery().timeout_seconds);
    let profiles = site.registry.profiles();
    let name = match named {
        Some(name) => AgentName::parse(name)
            .ok_or_else(|| Failure::usage(format!("`{name}` is no name of an agent")))?,
        None => {
            if let Some(model) = &profiles.model {
                return Ok(Chosen { who: ready(model)?, limit: usual });
            }
            let default = site.registry.default().map(|agent| agent.name().clone());
            default.ok_or_else(nobody)?
        }
    };
    let Some(profile) = profiles.agent(name.as_str()) else {
        let known: Vec<&str> = profiles.agents.iter().map(|agent| agent.name.as_str()).collect();
        let failure = Failure::usage(format!("no agent is called `{name}`"));
        let hint = match known.is_empty() {
            true => NOBODY.to_owned(),
            false => format!("known agents: {}", known.join(", ")),
        };
        return Err(failure.hint(hint).into());
    };
    let limit = profile.limits.timeout_seconds.map_or(usual, Duration::from_secs);
    Ok(Chosen { who: agent(site, profile)?, limit })
}

fn nobody() -> Failure {
    Failure::usage("nobody can be asked: no model and no agent is configured").hint(NOBODY)
}

fn agent(site: &Site, profile: &AgentProfile) -> anyhow::Result<Consulted> {
    let output = match &profile.provider {
        Provider::Api { model, .. } => {
            let model = model.as_ref().or(site.registry.profiles().model.as_ref());
            return ready(model.ok_or_else(nobody)?);
        }
        Provider::Cli(command) => command.output,
        Provider::Scripted { .. } => Output::LineJson,
        Provider::Null => {
            let what = format!("{} is nobody, and answers nothing", profile.name);
            return Err(Failure::usage(what).hint(NOBODY).into());
        }
    };
    let agent = site.registry.get(&profile.name).ok_or_else(nobody)?;
    Ok(Consulted::Agent(agent, output))
}

fn ready(profile: &ModelProfile) -> anyhow::Result<Consulted> {
    let variable = profile.api_key_env.as_deref();
    let key = variable.and_then(|name| std::env::var(name).ok());
    let wrong = |error: Error| Failure::usage(error.to_string());
    let model = Model::new(profile.clone(), key).map_err(wrong)?;
    model.ready().map_err(wrong)?;
    Ok(Consulted::Model(Box::new(model)))
}

/// Asks, and shows that it does.
pub async fn ask(
    site: &Site,
    chosen: Chosen,
    run: &RunId,
    goal: &str,
    json: bool,
) -> anyhow::Result<Answered> {
    let scratch = Scratch::make(run)?;
    let (stopper, stop) = stop_pair();
    let consultation = Consultation {
        who: chosen.who,
        run: run.clone(),
        topic: "goals".to_owned(),
        budget: Budget::new(std::sync::Arc::clone(&site.store), limits(&site.policy), now),
        keeper: keeper()?,
        environment: agents::own_environment(),
        folder: scratch.0.clone(),
        limit: chosen.limit,
        stop,
        warned: Box::new(output::warn),
        calls: AtomicU32::new(0),
        given_up: std::sync::Mutex::new(None),
    };
    let goal = goal_of(site, goal);
    let name = consultation.name().to_owned();
    let waiting = Waiting::begin(run.as_str(), &name, json)?;
    let mut decomposing = std::pin::pin!(decompose::decompose(&consultation, &goal));
    let answer = tokio::select! {
        answer = &mut decomposing => answer,
        () = waiting.count() => return Ok(Answered::Interrupted),
        interrupted = interruption() => {
            interrupted?;
            leave(&stopper, decomposing).await;
            return Ok(Answered::Interrupted);
        }
    };
    let seconds = waiting.seconds();
    drop(waiting);
    let plans = Plans::below(&site.folder());
    let parts = answered(answer, &plans, run, &name, consultation.why_given_up())?;
    Ok(Answered::Parts(parts, seconds, name))
}

/// Waits until what was asked is gone, unless somebody says a second time that it is enough.
async fn leave<T>(stopper: &Stopper, asking: impl Future<Output = T>) {
    stopper.stop();
    tokio::select! {
        _ = asking => {}
        _ = interruption() => {}
    }
}

async fn interruption() -> anyhow::Result<()> {
    let listen = |kind| {
        signal(kind).map_err(|error| Failure::failed(format!("cannot listen for signals: {error}")))
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}

fn goal_of(site: &Site, text: &str) -> Goal {
    let profiles = site.registry.profiles();
    let known = |profile: &AgentProfile| KnownAgent {
        name: profile.name.clone(),
        role: profile.role.clone(),
    };
    let mut facts = Facts::default();
    site.each_tracked(|path| facts.count(path));
    Goal {
        text: text.to_owned(),
        agents: profiles.agents.iter().map(known).collect(),
        facts: facts.lines(),
        max_subgoals: decompose::USUAL_MAX_SUBGOALS,
    }
}

/// The parts, or why there are none. The text of an answer that is not as it should be is kept.
fn answered(
    answer: aurora_agents::Result<Decomposed>,
    plans: &Plans,
    run: &RunId,
    name: &str,
    given_up: Option<GivenUp>,
) -> anyhow::Result<Box<Decomposed>> {
    match answer {
        Ok(parts) => {
            if !parts.repairs.is_empty() {
                plans.keep_answer(run, &parts.text)?;
            }
            Ok(Box::new(parts))
        }
        Err(Error::Settings { what }) => Err(Failure::usage(what).into()),
        Err(Error::Answer(bad)) => {
            let kept = plans.keep_answer(run, &bad.text)?;
            let problems = bad.problems.join("; ");
            Err(Failure::failed(format!("the answer of {name} cannot be used: {problems}"))
                .hint(format!("the answer as it came: {}", kept.display()))
                .hint(format!("it cost {}; ask again, or somebody else with --agent", bad.cost.usd))
                .into())
        }
        Err(error) => {
            let failure = Failure::failed(error.to_string());
            let hint = match given_up {
                Some(GivenUp::OverBudget) => "`aur budget show` says where the money went",
                Some(GivenUp::Late) => {
                    "agent_recovery.timeout_seconds in policies.yaml says how long it may take"
                }
                Some(GivenUp::Stopped) | None => return Err(failure.into()),
            };
            Err(failure.hint(hint).into())
        }
    }
}

/// An empty folder for an agent that is only asked something; gone when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn make(run: &RunId) -> anyhow::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let below = std::env::temp_dir();
        let path = below.join(format!("aur-{run}-{}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| Failure::failed(format!("cannot make {}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let path: &Path = &self.0;
        // What an agent left there is nobody's.
        let _ = std::fs::remove_dir_all(path);
    }
}
