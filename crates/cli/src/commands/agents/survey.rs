//! What can be said about the configured agents without starting anything.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use aurora_agents::{
    AgentProfile, Capabilities, Holding, ModelProfile, Output, Provider, Registry,
};
use aurora_gate::approval::Rules;
use aurora_gate::approval::autonomy::{PROJECT, scope_of_agent};
use aurora_model::Autonomy;
use serde::Serialize;

use super::known::{KNOWN, Known};
use crate::exit::Failure;
use crate::wiring::agents::{self, Loaded};
use crate::wiring::approvals::settings;
use crate::wiring::lowered::{self, Lowered};
use crate::wiring::place::{Given, Place};

/// Said of an agent whose calls nobody can price beforehand.
const UNPRICED: &str =
    "cost unknown beforehand: the budget can only stop the next call (limits: {max_cost_usd: …})";

/// Everything about the agents at the current place.
pub struct Survey {
    /// What the settings say.
    pub loaded: Loaded,
    /// The agents of the settings.
    pub agents: Vec<Facts>,
    /// The model, where one is configured.
    pub model: Option<ModelFacts>,
    /// Known agents that are on this machine and not in the settings.
    pub found: Vec<(&'static Known, PathBuf)>,
    /// Our environment.
    pub environment: BTreeMap<String, String>,
}

/// What is known about one agent.
#[derive(Debug, Serialize)]
pub struct Facts {
    /// Its name.
    pub id: String,
    /// How it is reached.
    pub provider: &'static str,
    /// Whether it is asked where nobody is named.
    pub default: bool,
    /// Where it is written.
    pub origin: String,
    /// The program that is started, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Where that program, or the scenario, is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// How its output is read, where it is a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<&'static str>,
    /// What it can do.
    pub supports: Capabilities,
    /// The variables that it asks for, and whether we have them.
    pub variables: BTreeMap<String, bool>,
    /// How much it may do by itself, at present.
    pub autonomy: Level,
    /// What keeps it from working.
    pub problems: Vec<String>,
    /// What its user should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How much an agent may do by itself.
#[derive(Debug, Default, Serialize)]
pub struct Level {
    /// At present.
    pub level: Autonomy,
    /// What the settings say.
    pub configured: Autonomy,
    /// Why it is less than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered: Option<String>,
}

impl Level {
    fn of(agent: &str, rules: &Rules, lowered: &[Lowered]) -> Self {
        let configured = rules.autonomy(Some(agent), None);
        let scopes = [PROJECT.to_owned(), scope_of_agent(agent)];
        let its = lowered.iter().filter(|one| scopes.contains(&one.scope) && one.to < configured);
        let tightest = its.min_by_key(|one| one.to);
        let level = tightest.map_or(configured, |one| one.to);
        Self { level, configured, lowered: tightest.map(lowered::why) }
    }
}

/// What is known about the model.
#[derive(Debug, Serialize)]
pub struct ModelFacts {
    /// Whose API.
    pub provider: &'static str,
    /// Its name.
    pub name: String,
    /// Another address than the provider's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The variable that holds its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// What keeps it from being asked.
    pub problems: Vec<String>,
}

/// Looks at everything.
pub fn survey() -> anyhow::Result<Survey> {
    let place = Place::look(Given::default());
    let loaded = agents::load(&place)?;
    let (rules, lowered) = (settings::rules(&place)?, lowered::here()?);
    let registry = agents::registry(loaded.profiles.clone())?;
    let environment = agents::own_environment();
    let default = registry.default().map(|agent| agent.name().to_string());
    let mut all = Vec::new();
    for profile in &loaded.profiles.agents {
        let mut facts = facts(profile, &registry, &environment)?;
        facts.default = default.as_ref() == Some(&facts.id);
        facts.autonomy = Level::of(&facts.id, &rules, &lowered);
        if let (Provider::Api { model, .. }, own) = (&profile.provider, &loaded.profiles.model) {
            facts.problems.extend(
                model.as_ref().or(own.as_ref()).and_then(|model| key_problem(model, &environment)),
            );
        }
        all.push(facts);
    }
    let model = loaded.profiles.model.as_ref().map(|model| model_facts(model, &environment));
    let path = environment.get("PATH").map(String::as_str).unwrap_or_default();
    let is_used = |known: &Known| {
        all.iter().any(|facts: &Facts| {
            let program = facts.program.as_deref().unwrap_or_default();
            program.rsplit('/').next() == Some(known.program)
        })
    };
    let found = KNOWN
        .iter()
        .filter(|known| !is_used(known))
        .filter_map(|known| Some((known, on_path(known.program, path)?)))
        .collect();
    Ok(Survey { loaded, agents: all, model, found, environment })
}

fn facts(
    profile: &AgentProfile,
    registry: &Registry,
    environment: &BTreeMap<String, String>,
) -> anyhow::Result<Facts> {
    let agent = registry.get(&profile.name).ok_or_else(|| {
        Failure::failed(format!("the agent {} is lost between two steps", profile.name))
    })?;
    let mut facts = Facts {
        id: profile.name.to_string(),
        provider: profile.provider.name(),
        default: false,
        origin: profile.origin.clone(),
        program: None,
        path: None,
        output: None,
        supports: agent.capabilities(),
        variables: BTreeMap::new(),
        autonomy: Level::default(),
        problems: Vec::new(),
        notes: Vec::new(),
    };
    for name in &profile.pass_environment {
        let is_set = environment.get(name).is_some_and(|value| !value.is_empty());
        facts.variables.insert(name.clone(), is_set);
    }
    match &profile.provider {
        Provider::Cli(command) => {
            facts.output = Some(Output::name(command.output));
            let program = command.command.first().map(|word| word.as_str().to_owned());
            let program = program.unwrap_or_default();
            // An agent may have a PATH of its own.
            let path = profile.environment.get("PATH").or_else(|| environment.get("PATH"));
            facts.path = on_path(&program, path.map(String::as_str).unwrap_or_default());
            if facts.path.is_none() {
                facts.problems.push(format!("{program} is not on PATH"));
            }
            facts.program = Some(program);
            if profile.limits.max_cost.is_none() {
                facts.notes.push(UNPRICED.to_owned());
            }
        }
        Provider::Scripted { scenario } => {
            let path = PathBuf::from(scenario);
            if !path.is_file() {
                facts.problems.push(format!("the scenario {scenario} is not there"));
            }
            facts.path = Some(path);
        }
        Provider::Api { .. } | Provider::Null => {}
    }
    Ok(facts)
}

fn model_facts(model: &ModelProfile, environment: &BTreeMap<String, String>) -> ModelFacts {
    ModelFacts {
        provider: model.provider.name(),
        name: model.name.clone(),
        base_url: model.base_url.clone(),
        api_key_env: model.api_key_env.clone(),
        problems: key_problem(model, environment).into_iter().collect(),
    }
}

fn key_problem(model: &ModelProfile, environment: &BTreeMap<String, String>) -> Option<String> {
    let name = model.api_key_env.as_ref()?;
    let is_set = environment.get(name).is_some_and(|value| !value.trim().is_empty());
    (!is_set).then(|| format!("{name} is not set"))
}

/// Where a program is: by its path, or by its name among the folders of `PATH`.
pub fn on_path(program: &str, path: &str) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        let path = PathBuf::from(program);
        return is_program(&path).then_some(path);
    }
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|path| is_program(path))
}

/// How far an agent is held, in words.
pub const fn holding(held: Holding) -> &'static str {
    match held {
        Holding::Observed => "observed: what it does is seen, and can be taken back",
        Holding::Contained => "contained: works at a desk, judged before it is adopted",
        Holding::Asks => "asks: every action waits for an answer",
    }
}

/// What an agent can do, in words.
pub fn abilities(supports: &Capabilities) -> String {
    let all = [
        (supports.edits_files, "edits files"),
        (supports.messages, "takes messages"),
        (supports.pause_resume, "pauses"),
        (supports.reports_cost, "reports cost"),
    ];
    let can: Vec<&str> = all.iter().filter(|(can, _)| *can).map(|(_, word)| *word).collect();
    if can.is_empty() { "nothing".to_owned() } else { can.join(", ") }
}
