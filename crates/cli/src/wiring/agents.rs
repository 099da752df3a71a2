//! `agents.yaml`: its layers on disk, laid over each other, and the agents that come of them.

mod read;
mod runtime;
mod tools;

use std::collections::BTreeMap;
use std::path::PathBuf;

use aurora_agents::{AgentProfile, Means, Profiles, Registry};
use aurora_gate::settings::{Place, Problems, SettingsError, SettingsErrors, nearest};
use aurora_model::AgentName;

use super::layers;
use super::place;
use crate::exit::Failure;

/// Where the agents are named below a home folder or a project's root.
pub const AGENTS_FILE: &str = ".aurora/agents.yaml";

/// What the settings say about agents, and which files say it.
#[derive(Debug, Default)]
pub struct Loaded {
    /// All layers together.
    pub profiles: Profiles,
    /// The files that were read, in their order.
    pub files: Vec<PathBuf>,
}

/// The agents at a place; a file that is there and has a mistake is an error.
pub fn load(place: &place::Place) -> anyhow::Result<Loaded> {
    let mut loaded = Loaded::default();
    let mut errors = Vec::new();
    let mut default = None;
    for (path, source) in layers::found(place, AGENTS_FILE, "agents")? {
        let folder = path.parent().unwrap_or(&path).to_owned();
        let layer = read::layer(&source.name, &source.text, &folder, &mut errors);
        if let Some((name, at)) = layer.default {
            loaded.profiles.default = Some(name.clone());
            default = Some((name, at, source.name));
        }
        loaded.profiles.model = layer.model.or(loaded.profiles.model);
        layer.agents.into_iter().for_each(|agent| put(&mut loaded.profiles.agents, agent));
        loaded.files.push(path);
    }
    // An agent that could not be read would be missed here, too.
    if let Some((name, at, file)) = default.filter(|_| errors.is_empty()) {
        errors.extend(unknown_default(&loaded.profiles, &name, at, &file));
    }
    if errors.is_empty() {
        return Ok(loaded);
    }
    Err(Failure::usage(SettingsErrors(errors).to_string())
        .hint("no agent is started by settings that cannot be read; correct the file")
        .into())
}

/// Puts an agent into the place of one of the same name, or at the end.
fn put(agents: &mut Vec<AgentProfile>, agent: AgentProfile) {
    match agents.iter_mut().find(|old| old.name == agent.name) {
        Some(old) => *old = agent,
        None => agents.push(agent),
    }
}

fn unknown_default(
    profiles: &Profiles,
    name: &AgentName,
    at: Place,
    file: &str,
) -> Vec<SettingsError> {
    let known = || profiles.agents.iter().map(|agent| agent.name.as_str()).chain(["null"]);
    if known().any(|agent| agent == name.as_str()) {
        return Vec::new();
    }
    let hint = match nearest(name.as_str(), known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known agents: {}", known().collect::<Vec<_>>().join(", ")),
    };
    let mut problems = Problems::new(file);
    problems.add_with_hint(at, "default", format!("no agent is called `{name}`"), hint);
    problems.finish()
}

/// The variables of this process that are text.
#[must_use]
pub fn own_environment() -> BTreeMap<String, String> {
    let text = |value: std::ffi::OsString| value.into_string().ok();
    std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

/// The agents of these profiles, ready to work.
pub fn registry(profiles: Profiles) -> anyhow::Result<Registry> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find this program: {error}")))?;
    let environment = own_environment();
    let means = Means { program: &program.to_string_lossy(), environment: &environment };
    Registry::new(profiles, means).map_err(|error| Failure::usage(error.to_string()).into())
}
