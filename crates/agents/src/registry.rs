//! From profiles to agents: who is there, who is asked when nobody is named, who plays a role.

use std::collections::BTreeMap;
use std::sync::Arc;

use aurora_model::{AgentName, Assignment};

use crate::agent::Agent;
use crate::cli::CliAgent;
use crate::error::{Error, Result};
use crate::llm::{Model, ModelAgent};
use crate::null::NullAgent;
use crate::profile::{AgentProfile, Limits, ModelProfile, Profiles, Provider};
use crate::scripted;
use crate::talk::Tools;

/// The agent that is always there.
const NULL: &str = "null";
/// The role of a task that names nobody, where there is nobody to ask.
const ANYBODY: &str = "default";
/// The name of the model where no agent stands for it.
pub const MODEL: &str = "model";

/// What the agents of a registry need of the world.
#[derive(Debug, Clone, Copy)]
pub struct Means<'m> {
    /// Our own program, which plays scenarios.
    pub program: &'m str,
    /// Our environment, for the keys of models.
    pub environment: &'m BTreeMap<String, String>,
}

impl Means<'_> {
    fn model(
        self,
        name: AgentName,
        profile: &ModelProfile,
        tools: Option<Tools>,
    ) -> Result<Arc<dyn Agent>> {
        let key = profile.api_key_env.as_ref().and_then(|name| self.environment.get(name));
        let model = Model::new(profile.clone(), key.cloned())?;
        Ok(Arc::new(ModelAgent::new(name, model).with_tools(tools)))
    }
}

/// Every agent that the settings know, ready to work.
#[derive(Clone)]
pub struct Registry {
    agents: BTreeMap<AgentName, Arc<dyn Agent>>,
    profiles: Profiles,
    model: Option<Arc<dyn Agent>>,
    anybody: AgentName,
}

impl Registry {
    /// The agents of these profiles.
    ///
    /// # Errors
    /// When the default agent is none of them, or an agent needs a model and there is none.
    pub fn new(profiles: Profiles, means: Means<'_>) -> Result<Self> {
        let own_model = profiles.model.as_ref();
        let model = own_model
            .map(|profile| own_name(MODEL).and_then(|name| means.model(name, profile, None)))
            .transpose()?;
        let mut agents: BTreeMap<AgentName, Arc<dyn Agent>> = BTreeMap::new();
        let null = own_name(NULL)?;
        agents.insert(null.clone(), Arc::new(NullAgent::new(null)));
        for profile in &profiles.agents {
            let agent = made(profile, own_model, means)?;
            agents.insert(profile.name.clone(), agent);
        }
        if let Some(name) = profiles.default.as_ref().filter(|name| !agents.contains_key(name)) {
            let what = format!("the default agent {name} is not among the agents");
            return Err(Error::Settings { what });
        }
        Ok(Self { agents, profiles, model, anybody: own_name(ANYBODY)? })
    }

    /// The agent of that name; `model` is the model where no agent is called so.
    #[must_use]
    pub fn get(&self, name: &AgentName) -> Option<Arc<dyn Agent>> {
        let model = || self.model.clone().filter(|_| name.as_str() == MODEL);
        self.agents.get(name).cloned().or_else(model)
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
            (Some(agent), _) if self.get(agent).is_some() => {
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
    model: Option<&ModelProfile>,
    means: Means<'_>,
) -> Result<Arc<dyn Agent>> {
    Ok(match &profile.provider {
        Provider::Cli(command) => Arc::new(CliAgent::new(profile.clone(), command.clone())),
        Provider::Scripted { scenario } => {
            Arc::new(scripted::agent(profile.clone(), means.program, scenario))
        }
        Provider::Null => Arc::new(NullAgent::new(profile.name.clone())),
        Provider::Api { model: own, tools } => match own.as_ref().or(model) {
            Some(model) => means.model(profile.name.clone(), model, tools.clone())?,
            None => {
                let what = format!("{} asks a model, and none is configured", profile.name);
                return Err(Error::Settings { what });
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ModelProvider;

    fn name(text: &str) -> AgentName {
        AgentName::parse(text).unwrap()
    }

    fn registry(default: Option<&str>, agents: Vec<AgentProfile>) -> Result<Registry> {
        let profiles = Profiles { default: default.map(name), model: None, agents };
        let environment = BTreeMap::new();
        Registry::new(profiles, Means { program: "/bin/aur", environment: &environment })
    }

    fn scripted(text: &str) -> AgentProfile {
        AgentProfile::new(name(text), Provider::Scripted { scenario: "/s.yaml".to_owned() })
    }

    #[test]
    fn exe_2_tasks_go_to_who_is_named_to_the_default_or_into_a_gap() {
        let gap = |role: &str, ad_hoc: Option<&str>| Assignment::Gap {
            role: name(role),
            ad_hoc: ad_hoc.map(name),
        };
        let to = |agent: &str| Assignment::Agent { agent: name(agent) };
        let two = registry(Some("b"), vec![scripted("a"), scripted("b")]).unwrap();
        assert_eq!(two.assign(Some(&name("a"))), to("a"));
        assert_eq!(two.assign(None), to("b"));
        assert_eq!(two.assign(Some(&name("sql-expert"))), gap("sql-expert", Some("b")));
        assert_eq!(two.assign(Some(&name("null"))), to("null"));
        let first = registry(None, vec![scripted("a"), scripted("b")]).unwrap();
        assert_eq!(first.assign(None), to("a"));
        assert_eq!(first.default().unwrap().name(), &name("a"));
        let nobody = registry(None, Vec::new()).unwrap();
        assert_eq!(nobody.assign(None), gap("default", None));
        assert_eq!(nobody.assign(Some(&name("x"))), gap("x", None));
        let null = AgentProfile::new(name("idle"), Provider::Null);
        let idle = registry(Some("idle"), vec![null]).unwrap();
        assert_eq!(idle.assign(Some(&name("x"))), gap("x", None));
        assert!(registry(Some("c"), vec![scripted("a")]).is_err());
    }

    #[test]
    fn an_agent_that_asks_a_model_has_its_own_name_and_needs_one() {
        let agent = |model| AgentProfile::new(name("gpt"), Provider::Api { model, tools: None });
        let error = registry(None, vec![agent(None)]).err().unwrap().to_string();
        assert_eq!(error, "gpt asks a model, and none is configured");
        let model = ModelProfile {
            provider: ModelProvider::OpenAi,
            name: "m".to_owned(),
            base_url: None,
            api_key_env: None,
            max_output_tokens: 1,
            price: None,
        };
        let one = registry(None, vec![agent(Some(model.clone()))]).unwrap();
        assert_eq!(one.get(&name("gpt")).unwrap().name(), &name("gpt"));
        assert!(one.model().is_none());
        let profiles = Profiles { default: None, model: Some(model), agents: vec![agent(None)] };
        let environment = BTreeMap::new();
        let means = Means { program: "/bin/aur", environment: &environment };
        let both = Registry::new(profiles, means).unwrap();
        assert_eq!(both.model().unwrap().name(), &name("model"));
        assert_eq!(both.get(&name("gpt")).unwrap().name(), &name("gpt"));
    }

    #[test]
    fn rev_4_a_task_can_name_the_model_where_there_is_one() {
        let model = ModelProfile {
            provider: ModelProvider::Ollama,
            name: "m".to_owned(),
            base_url: None,
            api_key_env: None,
            max_output_tokens: 1,
            price: None,
        };
        let environment = BTreeMap::new();
        let means = Means { program: "/bin/aur", environment: &environment };
        let profiles = Profiles { default: None, model: Some(model), agents: Vec::new() };
        let with = Registry::new(profiles, means).unwrap();
        assert_eq!(with.assign(Some(&name("model"))), Assignment::Agent { agent: name("model") });
        let without = registry(None, Vec::new()).unwrap();
        let gap = Assignment::Gap { role: name("model"), ad_hoc: None };
        assert_eq!(without.assign(Some(&name("model"))), gap);
    }
}
