//! From profiles to agents: who is there, who is asked when nobody is named, who plays a role.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use aurora_model::{AgentName, Assignment, Cost};

use crate::agent::{Agent, Capabilities, Job, Listener, Pipes, Report, Start};
use crate::cli::CliAgent;
use crate::error::{Error, Result};
use crate::null::NullAgent;
use crate::profile::{AgentProfile, Limits, ModelProfile, Profiles, Provider};
use crate::scripted;

/// The agent that is always there.
const NULL: &str = "null";
/// The role of a task that names nobody, where there is nobody to ask.
const ANYBODY: &str = "default";

/// Makes the agent that asks a model directly.
pub type MakeModel<'f> = &'f dyn Fn(&ModelProfile) -> Result<Arc<dyn Agent>>;

/// Every agent that the settings know, ready to work.
#[derive(Clone)]
pub struct Registry {
    agents: BTreeMap<AgentName, Arc<dyn Agent>>,
    profiles: Profiles,
    model: Option<Arc<dyn Agent>>,
    anybody: AgentName,
}

impl Registry {
    /// The agents of these profiles; `program` is our own program, which plays scenarios.
    ///
    /// # Errors
    /// When the default agent is none of them, or an agent needs a model and there is none.
    pub fn new(profiles: Profiles, program: &str, make_model: MakeModel<'_>) -> Result<Self> {
        let model = profiles.model.as_ref().map(make_model).transpose()?;
        let mut agents: BTreeMap<AgentName, Arc<dyn Agent>> = BTreeMap::new();
        let null = own_name(NULL)?;
        agents.insert(null.clone(), Arc::new(NullAgent::new(null)));
        for profile in &profiles.agents {
            let agent = made(profile, program, model.as_ref(), make_model)?;
            agents.insert(profile.name.clone(), agent);
        }
        if let Some(name) = profiles.default.as_ref().filter(|name| !agents.contains_key(name)) {
            let what = format!("the default agent {name} is not among the agents");
            return Err(Error::Settings { what });
        }
        Ok(Self { agents, profiles, model, anybody: own_name(ANYBODY)? })
    }

    /// The agent of that name.
    #[must_use]
    pub fn get(&self, name: &AgentName) -> Option<Arc<dyn Agent>> {
        self.agents.get(name).cloned()
    }

    /// Who does tasks that name nobody: the default, or the first of the list.
    #[must_use]
    pub fn default(&self) -> Option<Arc<dyn Agent>> {
        self.default_name().and_then(|name| self.get(name))
    }

    /// The model for fallback.
    #[must_use]
    pub fn model(&self) -> Option<Arc<dyn Agent>> {
        self.model.clone()
    }

    /// What the settings say.
    #[must_use]
    pub const fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// How much one attempt of an agent may take.
    #[must_use]
    pub fn limits(&self, name: &AgentName) -> Limits {
        self.profiles.agent(name.as_str()).map(|profile| profile.limits).unwrap_or_default()
    }

    /// The command that is started for an agent, with its templates left open.
    #[must_use]
    pub fn command(&self, name: &AgentName) -> Option<Vec<String>> {
        match &self.profiles.agent(name.as_str())?.provider {
            Provider::Cli(command) => {
                Some(command.command.iter().map(|word| word.as_str().to_owned()).collect())
            }
            Provider::Scripted { .. } | Provider::Api { .. } | Provider::Null => None,
        }
    }

    fn default_name(&self) -> Option<&AgentName> {
        let first = || self.profiles.agents.first().map(|profile| &profile.name);
        self.profiles.default.as_ref().or_else(first)
    }

    /// Who does a task that names this agent, or nobody.
    #[must_use]
    pub fn assign(&self, agent: Option<&AgentName>) -> Assignment {
        let default = self.default_name();
        match (agent, default) {
            (Some(agent), _) if self.agents.contains_key(agent) => {
                Assignment::Agent { agent: agent.clone() }
            }
            (Some(role), default) => {
                let ad_hoc = default.filter(|name| self.plays_roles(name)).cloned();
                Assignment::Gap { role: role.clone(), ad_hoc }
            }
            (None, Some(default)) => Assignment::Agent { agent: default.clone() },
            (None, None) => Assignment::Gap { role: self.anybody.clone(), ad_hoc: None },
        }
    }

    /// Whether an agent can be told to play a role; nobody plays nothing.
    fn plays_roles(&self, name: &AgentName) -> bool {
        let profile = self.profiles.agent(name.as_str());
        profile.is_some_and(|profile| !matches!(profile.provider, Provider::Null))
    }
}

fn own_name(name: &str) -> Result<AgentName> {
    let what = || format!("`{name}` is no name");
    AgentName::parse(name).ok_or_else(|| Error::Settings { what: what() })
}

fn made(
    profile: &AgentProfile,
    program: &str,
    model: Option<&Arc<dyn Agent>>,
    make_model: MakeModel<'_>,
) -> Result<Arc<dyn Agent>> {
    Ok(match &profile.provider {
        Provider::Cli(command) => Arc::new(CliAgent::new(profile.clone(), command.clone())),
        Provider::Scripted { scenario } => {
            Arc::new(scripted::agent(profile.clone(), program, scenario))
        }
        Provider::Null => Arc::new(NullAgent::new(profile.name.clone())),
        Provider::Api { model: own } => {
            let inner = match (own, model) {
                (Some(own), _) => make_model(own)?,
                (None, Some(model)) => Arc::clone(model),
                (None, None) => {
                    let what = format!("{} asks a model, and none is configured", profile.name);
                    return Err(Error::Settings { what });
                }
            };
            Arc::new(Named { name: profile.name.clone(), inner })
        }
    })
}

/// An agent under another name.
struct Named {
    name: AgentName,
    inner: Arc<dyn Agent>,
}

impl Agent for Named {
    fn name(&self) -> &AgentName {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn estimate(&self, job: &Job) -> Cost {
        self.inner.estimate(job)
    }

    fn start(&self, job: &Job) -> Result<Start> {
        self.inner.start(job)
    }

    fn attend<'a>(
        &'a self,
        job: &'a Job,
        pipes: Option<Pipes>,
        listener: &'a dyn Listener,
    ) -> Pin<Box<dyn Future<Output = Result<Report>> + Send + 'a>> {
        self.inner.attend(job, pipes, listener)
    }
}
