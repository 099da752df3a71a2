//! A model as an agent: it answers in words, or works with our tools where the settings give it some.

use std::future::Future;
use std::pin::Pin;

use aurora_model::{AgentName, Cost};

use super::lines::Lines;
use super::{Completion, Model, Request, Stop, clean};
use crate::agent::{
    Agent, Capabilities, Heard, Holding, Job, Listener, Pipes, Report, Start, Talker,
};
use crate::error::Result;
use crate::price;
use crate::talk::Tools;

/// More of the last line is not told as a summary.
const MAX_SUMMARY_CHARS: usize = 200;

/// A model that does jobs by answering.
#[derive(Debug)]
pub struct ModelAgent {
    name: AgentName,
    model: Model,
    tools: Option<Tools>,
}

impl ModelAgent {
    /// A model under the name of an agent.
    #[must_use]
    pub fn new(name: AgentName, model: Model) -> Self {
        Self { name, model, tools: None }
    }

    /// The same with tools; without, it answers in words.
    #[must_use]
    pub fn with_tools(self, tools: Option<Tools>) -> Self {
        Self { tools, ..self }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    async fn answer(&self, job: &Job, listener: &dyn Listener) -> Result<Report> {
        self.model.ready()?;
        let mut lines = Lines::default();
        let mut said = |line| listener.hear(Heard::Said(line));
        let outcome = self.model.ask(&request(job), &mut |text| lines.push(text, &mut said)).await;
        lines.end(&mut said);
        let report = match outcome {
            Ok(completion) => report(completion),
            Err(fault) => {
                let summary = format!("could not ask {}: {}", self.model.profile().name, fault.why);
                let (text, cost) =
                    fault.begun.map_or_else(Default::default, |begun| (begun.text, begun.cost));
                Report { success: false, summary, cost, transcript: text.into_bytes() }
            }
        };
        if let Some(doubt) = price::doubt(price::of(self.model.profile()), &report.cost) {
            listener.hear(Heard::Complained(doubt));
        }
        listener.hear(Heard::Spent(report.cost.clone()));
        Ok(report)
    }
}

impl Agent for ModelAgent {
    fn name(&self) -> &AgentName {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            edits_files: self.tools.is_some(),
            pause_resume: false,
            messages: false,
            acknowledges: false,
            reports_cost: true,
            // It can do nothing but speak: what is done about its calls is our part.
            holding: Holding::Asks,
        }
    }

    fn estimate(&self, job: &Job) -> Cost {
        self.model.estimate(&request(job))
    }

    fn start(&self, _job: &Job) -> Result<Start> {
        self.model.ready()?;
        Ok(Start::Call)
    }

    fn talker(&self) -> Option<Talker<'_>> {
        self.tools.as_ref().map(|tools| Talker { model: &self.model, tools })
    }

    fn attend<'a>(
        &'a self,
        job: &'a Job,
        _pipes: Option<Pipes>,
        listener: &'a dyn Listener,
    ) -> Pin<Box<dyn Future<Output = Result<Report>> + Send + 'a>> {
        Box::pin(self.answer(job, listener))
    }
}

/// What the model is asked for a job.
fn request(job: &Job) -> Request {
    let role = job.role.as_deref().map(|role| format!("You act as {role}. ")).unwrap_or_default();
    let system = format!(
        "{role}You are asked directly, without tools: you cannot read or change files or run \
         commands. Do the task as far as an answer in text can do it, and say plainly what remains \
         to be done by somebody else."
    );
    Request { system: Some(system), prompt: job.prompt.clone(), ..Request::default() }
}

/// What an answer means for the job.
fn report(completion: Completion) -> Report {
    let Completion { text, cost, stop } = completion;
    let last = text.lines().rev().map(|line| clean::line(line, MAX_SUMMARY_CHARS));
    let last = last.into_iter().find(|line| !line.is_empty());
    let (success, summary) = match (stop, last) {
        (Stop::Finished, Some(last)) => (true, last),
        (Stop::Length, _) => {
            (false, "the answer is longer than max_output_tokens allows".to_owned())
        }
        (Stop::Filtered, _) => (false, "the provider held the answer back".to_owned()),
        (Stop::Other(word), _) => {
            (false, format!("the answer ended by `{}`", clean::line(&word, MAX_SUMMARY_CHARS)))
        }
        (Stop::Finished, None) => (false, "the model said nothing".to_owned()),
    };
    Report { success, summary, cost, transcript: text.into_bytes() }
}
