//! An agent that says it did it and does nothing: for trying things out, and as the last resort.

use std::future::Future;
use std::pin::Pin;

use aurora_model::{AgentName, Cost, Known, Usd};

use crate::agent::{Agent, Capabilities, Heard, Holding, Job, Listener, Pipes, Report, Start};
use crate::error::Result;

/// The agent that does nothing.
#[derive(Debug, Clone)]
pub struct NullAgent {
    name: AgentName,
}

impl NullAgent {
    /// One of this name.
    #[must_use]
    pub const fn new(name: AgentName) -> Self {
        Self { name }
    }
}

/// What nothing costs.
const NOTHING: Cost = Cost { usd: Usd::ZERO, known: Known::Reported, tokens: None, model: None };

impl Agent for NullAgent {
    fn name(&self) -> &AgentName {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            edits_files: false,
            pause_resume: false,
            messages: false,
            acknowledges: false,
            reports_cost: true,
            holding: Holding::Contained,
        }
    }

    fn estimate(&self, _job: &Job) -> Cost {
        NOTHING
    }

    fn start(&self, _job: &Job) -> Result<Start> {
        Ok(Start::Call)
    }

    fn attend<'a>(
        &'a self,
        job: &'a Job,
        _pipes: Option<Pipes>,
        listener: &'a dyn Listener,
    ) -> Pin<Box<dyn Future<Output = Result<Report>> + Send + 'a>> {
        Box::pin(async move {
            let said = format!("did nothing about: {}", job.title);
            listener.hear(Heard::Said(said.clone()));
            let transcript = format!("{said}\n").into_bytes();
            Ok(Report { success: true, summary: said, cost: NOTHING, transcript })
        })
    }
}
