//! An agent that is any command: its arguments are templates, its output is read in a chosen way.

mod claude;
mod control;
mod ear;
mod ending;
mod lines;
mod talk;

use std::future::Future;
use std::pin::Pin;

use aurora_model::{AgentName, Cost, Known};

use crate::agent::{Agent, Capabilities, Holding, Job, Listener, Pipes, Report, Start};
use crate::environment::launch;
use crate::error::{Error, Result};
use crate::profile::{AgentProfile, CliProfile, Output, PromptBy};
use crate::protocol::{TaskMessage, ToAgent};
use ear::Ear;

/// A command that is an agent.
#[derive(Debug, Clone)]
pub struct CliAgent {
    profile: AgentProfile,
    command: CliProfile,
}

impl CliAgent {
    /// The agent of a profile; `command` is the profile's own, or one that stands for it.
    #[must_use]
    pub const fn new(profile: AgentProfile, command: CliProfile) -> Self {
        Self { profile, command }
    }

    /// What goes into the process's stdin, and whether it stays open afterwards.
    fn first_words(&self, job: &Job) -> (Vec<u8>, bool) {
        match (self.command.prompt, self.command.output) {
            (_, Output::ClaudeControl) => (control::first_words(&job.prompt), true),
            (PromptBy::Stdin, Output::LineJson) => {
                (ToAgent::Task(TaskMessage::of(job)).line().into_bytes(), true)
            }
            (PromptBy::Argument, Output::LineJson) => (Vec::new(), true),
            (PromptBy::Stdin, _) => (job.prompt.clone().into_bytes(), false),
            (PromptBy::Argument, _) => (Vec::new(), false),
        }
    }
}

impl Agent for CliAgent {
    fn name(&self) -> &AgentName {
        &self.profile.name
    }

    fn capabilities(&self) -> Capabilities {
        let speaks = self.command.output == Output::LineJson;
        Capabilities {
            edits_files: true,
            pause_resume: speaks,
            messages: speaks,
            acknowledges: speaks,
            reports_cost: self.command.output != Output::Text,
            holding: match self.command.output {
                Output::ClaudeControl => Holding::Asks,
                Output::Text | Output::LineJson | Output::ClaudeStreamJson => Holding::Contained,
            },
        }
    }

    fn estimate(&self, _job: &Job) -> Cost {
        match self.profile.limits.max_cost {
            Some(usd) => Cost { usd, known: Known::Estimated, tokens: None, model: None },
            None => Cost::default(),
        }
    }

    fn start(&self, job: &Job) -> Result<Start> {
        let argv: Vec<String> = self.command.command.iter().map(|word| word.fill(job)).collect();
        let name = &self.profile.name;
        if argv.first().is_none_or(String::is_empty) {
            return Err(Error::Settings {
                what: format!("the command of {name} names no program"),
            });
        }
        // The kernel ends an argument at a NUL: what comes after it would be lost in silence.
        if argv.iter().any(|word| word.contains('\0')) {
            let what = format!("the command of {name} would hold a NUL byte");
            return Err(Error::Settings { what });
        }
        let AgentProfile { environment, pass_environment, .. } = &self.profile;
        Ok(Start::Process(launch(argv, job, environment, pass_environment)))
    }

    fn attend<'a>(
        &'a self,
        job: &'a Job,
        pipes: Option<Pipes>,
        listener: &'a dyn Listener,
    ) -> Pin<Box<dyn Future<Output = Result<Report>> + Send + 'a>> {
        Box::pin(async move {
            let Some(pipes) = pipes else {
                let what = format!("{} needs a process, and got none", self.profile.name);
                return Err(Error::Settings { what });
            };
            let mut ear = Ear::new(self.command.output, &self.profile, listener);
            let (words, stays) = self.first_words(job);
            let ended = talk::talk(pipes, words, stays, &mut ear).await;
            Ok(ear.report(ended))
        })
    }
}

#[cfg(test)]
mod tests;
