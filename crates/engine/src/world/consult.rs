//! Asks a model or an agent one thing, outside of any task: money reserved before, settled after,
//! everything gone when the answer is there or its time is over.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use aurora_agents::llm::{Completer, Completion, Model, Request, Stop as Ending};
use aurora_agents::{Agent, Error as AgentError, Heard, Job, Listener, Output, Pipes, Start};
use aurora_model::{Cost, Known, RunId};
use aurora_workspace::process::Keeper;
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

use super::processes::Process;
use crate::budget::{Budget, Reservation, Reserve};
use crate::driver::Stop;

/// How long the last words of an agent that is ended are waited for.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// More of what an agent writes is not taken for an answer.
const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Whoever is asked.
pub enum Consulted {
    /// A model.
    Model(Box<Model>),
    /// An agent, and how its output is read.
    Agent(Arc<dyn Agent>, Output),
}

/// One consultation: every call of it is paid from the budget.
pub struct Consultation {
    /// Whoever is asked.
    pub who: Consulted,
    /// The run that pays.
    pub run: RunId,
    /// What it is for; calls are named `<run>/<topic>/<number>`.
    pub topic: String,
    /// What may be spent.
    pub budget: Budget,
    /// The program that keeps an agent's processes.
    pub keeper: Keeper,
    /// Our own variables, of which an agent gets an allow-list.
    pub environment: BTreeMap<String, String>,
    /// The folder in which an agent is started: nothing of the user's may be in it.
    pub folder: PathBuf,
    /// How long one call may take.
    pub limit: Duration,
    /// Says when to end early.
    pub stop: Stop,
    /// Whoever hears warnings about money.
    pub warned: Box<dyn Fn(&str) + Send + Sync>,
    /// How many calls were made.
    pub calls: AtomicU32,
    /// Why the last call was given up, where it was.
    pub given_up: Mutex<Option<GivenUp>>,
}

/// Why a call was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUp {
    /// The budget does not allow it.
    OverBudget,
    /// Its time was over.
    Late,
    /// Somebody said so.
    Stopped,
}

impl Completer for Consultation {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
    ) -> Pin<Box<dyn Future<Output = aurora_agents::Result<Completion>> + Send + 'a>> {
        Box::pin(self.paid(request))
    }
}

impl Consultation {
    /// Who is asked, in one word.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.who {
            Consulted::Model(model) => &model.profile().name,
            Consulted::Agent(agent, _) => agent.name().as_str(),
        }
    }

    async fn paid(&self, request: &Request) -> aurora_agents::Result<Completion> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let id = format!("{}/{}/{number}", self.run, self.topic);
        let job = self.job(&id, number, request);
        let (agent, estimate) = match &self.who {
            Consulted::Model(model) => ("model".to_owned(), model.estimate(request)),
            Consulted::Agent(agent, _) => (agent.name().to_string(), agent.estimate(&job)),
        };
        let reservation =
            Reservation { id: id.clone(), run: self.run.clone(), task: None, agent, estimate };
        match self.budget.reserve(&reservation).await.map_err(|error| self.fault(&error))? {
            Reserve::Refused { why } => return Err(self.give_up(GivenUp::OverBudget, &why)),
            Reserve::Granted { warning } => self.warn(warning),
        }
        let spent = Spent::default();
        let answer = match &self.who {
            Consulted::Model(model) => self.ask_model(model, request).await,
            Consulted::Agent(agent, output) => self.ask_agent(agent, *output, &job, &spent).await,
        };
        let mut cost = match &answer {
            Ok(completion) => completion.cost.clone(),
            Err(AgentError::Settings { what }) => {
                let released = self.budget.release(&id, what).await;
                released.map_err(|error| self.fault(&error))?;
                return answer;
            }
            Err(_) => spent.cost(),
        };
        if cost.known == Known::Unknown && reservation.estimate.known != Known::Unknown {
            cost = Cost { known: Known::Estimated, ..reservation.estimate };
        }
        self.warn(self.budget.settle(&id, &cost).await.map_err(|error| self.fault(&error))?);
        answer.map(|completion| Completion { cost, ..completion })
    }

    fn warn(&self, warning: Option<String>) {
        if let Some(warning) = warning {
            (self.warned)(&warning);
        }
    }

    fn fault(&self, why: &dyn std::fmt::Display) -> AgentError {
        let (model, why) = (self.name().to_owned(), why.to_string());
        AgentError::Model { model, why, transient: false }
    }

    fn job(&self, id: &str, attempt: u32, request: &Request) -> Job {
        Job {
            name: id.to_owned(),
            prompt: words(request),
            title: self.topic.clone(),
            task: self.topic.clone(),
            attempt,
            role: None,
            cwd: self.folder.to_string_lossy().into_owned(),
            timeout_seconds: self.limit.as_secs(),
        }
    }

    fn give_up(&self, because: GivenUp, why: &dyn std::fmt::Display) -> AgentError {
        *self.given_up.lock().unwrap_or_else(PoisonError::into_inner) = Some(because);
        self.fault(why)
    }

    fn too_late(&self) -> AgentError {
        let why = format!("no answer within {}s", self.limit.as_secs());
        self.give_up(GivenUp::Late, &why)
    }

    fn stopped(&self) -> AgentError {
        self.give_up(GivenUp::Stopped, &"interrupted")
    }

    /// Why the last call was given up, where it was.
    #[must_use]
    pub fn why_given_up(&self) -> Option<GivenUp> {
        *self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask_model(
        &self,
        model: &Model,
        request: &Request,
    ) -> aurora_agents::Result<Completion> {
        let mut stop = self.stop.clone();
        tokio::select! {
            answer = model.complete(request) => answer,
            () = tokio::time::sleep(self.limit) => Err(self.too_late()),
            () = stop.asked() => Err(self.stopped()),
        }
    }

    async fn ask_agent(
        &self,
        agent: &Arc<dyn Agent>,
        output: Output,
        job: &Job,
        spent: &Spent,
    ) -> aurora_agents::Result<Completion> {
        let mut stop = self.stop.clone();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (process, pipes) = match agent.start(job)? {
            Start::Call => (None, None),
            Start::Process(launch) => {
                let started =
                    Process::start(&self.keeper, &launch, &self.environment, &self.folder).await;
                let (process, pipes) = started.map_err(|error| self.fault(&error))?;
                let stdout = Tee { inner: pipes.stdout, heard: Arc::clone(&heard) };
                (Some(process), Some(Pipes { stdout: Box::new(stdout), ..pipes }))
            }
        };
        let mut attending = agent.attend(job, pipes, spent);
        let early = tokio::select! {
            report = &mut attending => {
                drop(attending);
                if let Some(process) = &process {
                    process.kill().await;
                }
                let report = report?;
                if !report.success {
                    return Err(self.fault(&report.summary));
                }
                let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                let text = answer_of(output, &heard);
                return Ok(Completion { text, cost: report.cost, stop: Ending::Finished });
            }
            () = tokio::time::sleep(self.limit) => self.too_late(),
            () = stop.asked() => self.stopped(),
        };
        if let Some(process) = &process {
            let words = tokio::time::timeout(LAST_WORDS, &mut attending);
            let (_, ()) = tokio::join!(words, process.end());
        }
        Err(early)
    }
}

/// What an agent said that it has cost so far.
#[derive(Default)]
struct Spent(Mutex<Cost>);

impl Spent {
    fn cost(&self) -> Cost {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Listener for Spent {
    fn hear(&self, heard: Heard) {
        if let Heard::Spent(cost) = heard {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cost;
        }
    }
}

/// Keeps what is read on the way, so that an answer is not mixed with complaints.
struct Tee {
    inner: Box<dyn AsyncRead + Send + Unpin>,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Tee {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_ANSWER_BYTES.saturating_sub(heard.len());
        heard.extend(buffer.filled().iter().skip(before).take(room));
        polled
    }
}

/// A request in the words that go to somebody who takes one text.
fn words(request: &Request) -> String {
    let mut words = String::new();
    if let Some(system) = &request.system {
        words.push_str(system);
        words.push_str("\n\n");
    }
    words.push_str(&request.prompt);
    if let Some(schema) = &request.schema {
        words.push_str(
            "\n\nAnswer with one JSON object and nothing else: no tools, no files, no commands. \
             It must follow this JSON Schema:\n",
        );
        words.push_str(&schema.to_string());
    }
    words
}

/// The answer in what an agent wrote to its stdout.
fn answer_of(output: Output, stdout: &[u8]) -> String {
    let text = String::from_utf8_lossy(stdout);
    let field = match output {
        Output::Text => return text.into_owned(),
        Output::LineJson => "summary",
        Output::ClaudeStreamJson | Output::ClaudeControl => "result",
    };
    let lines: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let kind = |line: &&Value, kind: &str| line.get("type").and_then(Value::as_str) == Some(kind);
    let word = |line: &Value, field: &str| line.get(field)?.as_str().map(str::to_owned);
    let result = lines.iter().rev().find(|line| kind(line, "result"));
    let result = result.and_then(|line| word(line, field)).unwrap_or_default();
    if field == "result" || result.contains('{') {
        return result;
    }
    // An agent that speaks the protocol says what it found as messages, and how it ended as a result.
    let said = lines.iter().filter(|line| kind(line, "message"));
    let said: Vec<String> = said.filter_map(|line| word(line, "content")).collect();
    said.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_in_every_kind_of_output() {
        let claude = "{\"type\":\"system\"}\nnoise\n{\"type\":\"result\",\"subtype\":\"success\",\
                      \"is_error\":false,\"result\":\"{\\\"a\\\":1}\"}\n";
        let lines = "{\"type\":\"message\",\"content\":\"{\\\"a\\\":\"}\n\
                     {\"type\":\"message\",\"content\":\"1}\"}\n\
                     {\"type\":\"result\",\"success\":true,\"summary\":\"done\"}\n";
        let result = "{\"type\":\"message\",\"content\":\"thinking\"}\n\
                      {\"type\":\"result\",\"success\":true,\"summary\":\"{\\\"a\\\":1}\"}\n";
        let check = |output, text: &str, expected: &str| {
            assert_eq!(answer_of(output, text.as_bytes()), expected);
        };
        check(Output::Text, "Here:\n{}\n", "Here:\n{}\n");
        check(Output::ClaudeStreamJson, claude, "{\"a\":1}");
        check(Output::LineJson, lines, "{\"a\":\n1}");
        check(Output::LineJson, result, "{\"a\":1}");
        check(Output::ClaudeStreamJson, "", "");
    }
}
