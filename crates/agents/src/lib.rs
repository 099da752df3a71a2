//! How agents and models speak. The only crate that knows an agent's protocol or a model's API; it
//! starts no process and touches no file of the user's: whoever drives it hands it pipes.

pub mod agent;
pub mod cli;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
pub mod decompose;
pub mod environment;
pub mod error;
pub mod llm;
pub mod null;
pub mod price;
pub mod profile;
pub mod protocol;
pub mod registry;
pub mod scripted;
pub mod talk;
pub mod template;
pub mod transcript;

pub use agent::{
    Agent, Capabilities, Ended, Heard, Holding, Job, Launch, Listener, Made, Permission, Pipes,
    Report, Start, Talker, Wish,
};
pub use environment::environment;
pub use error::{Error, Result};
pub use profile::{
    AgentProfile, CliProfile, Limits, ModelProfile, ModelProvider, Output, Price, Profiles,
    PromptBy, Provider, Success,
};
pub use registry::{Means, Registry};
pub use template::Template;
