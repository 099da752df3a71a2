//! An agent that plays a scenario: a real process of ours, so that everything between us and an
//! agent is real but the agent's mind.

mod player;
mod scenario;

pub use player::{End, Stage, play};
pub use scenario::{Away, Flood, Scenario, Step};

use crate::cli::CliAgent;
use crate::profile::{AgentProfile, CliProfile, Output, PromptBy};
use crate::template::Template;

/// The agent that plays a scenario's file, by way of our own program.
#[must_use]
pub fn agent(profile: AgentProfile, program: &str, scenario: &str) -> CliAgent {
    let command = [program, "play", "--scenario", scenario].map(Template::literal).to_vec();
    let command = CliProfile { command, prompt: PromptBy::Stdin, output: Output::LineJson };
    CliAgent::new(profile, command)
}
