//! `aur approvals`: what runs ask of a person.

pub mod answer;
mod last_words;
pub mod list;
pub mod show;

use std::sync::Arc;

use aurora_engine::driver::{self, Told};
use aurora_engine::machine::{Asked, State, TaskState};
use aurora_model::{About, Digest, Event, Reason, RunId, Timestamp};
use serde_json::{Value, json};

use crate::commands::spawn::view;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::failure::MAX_PATHS;
use crate::wiring::store::{Log, failure};

/// So many runs are looked at.
const RUNS: usize = 10_000;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur approvals list
  aur approvals show spawn-1705234567.q1
  aur approvals answer spawn-1705234567.q1 retry
  aur approvals answer spawn-1705234567.q2 skip --reason 'the API changed'

A question stays open until somebody answers it, here or at the terminal of the run. The first answer counts.";

/// What can be done with them.
#[derive(clap::Subcommand)]
enum Command {
    /// List the questions that wait for an answer.
    List(list::Args),
    /// Tell everything about one.
    Show(show::Args),
    /// Answer one.
    Answer(answer::Args),
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List(args) => output::with_error(args.json, list::run(args)),
        Command::Show(args) => output::with_error(args.json, show::run(args)),
        Command::Answer(args) => output::with_error(args.json, answer::run(args)),
    }
}

/// A question with the run that asks it.
struct Found {
    run: RunId,
    asked: Asked,
    state: Arc<State>,
    at: Option<Timestamp>,
    /// What the agent said before it failed.
    transcript: Option<Digest>,
}

impl Found {
    fn all(run: &RunId, told: &[Told], state: &Arc<State>) -> Vec<Self> {
        let asked_at = |asked: &Asked| {
            let is_it = |one: &&Told| matches!(&one.event, Event::QuestionAsked { question } if question.id == asked.question.id);
            told.iter().find(is_it).map(|one| one.at)
        };
        let found = |asked: &Asked| Self {
            run: run.clone(),
            asked: asked.clone(),
            state: Arc::clone(state),
            at: asked_at(asked),
            transcript: transcript(asked, told),
        };
        state.questions.iter().map(found).collect()
    }

    /// The question in one line.
    fn sentence(&self) -> String {
        view::sentence(&self.state, &self.asked.question)
    }

    /// The first of the changed paths, and how many more there are.
    fn changed(&self) -> (&[String], usize) {
        let About::Changes { files, paths, .. } = &self.asked.question.about else {
            return (&[], 0);
        };
        let shown = paths.get(..MAX_PATHS).unwrap_or(paths);
        let files = usize::try_from(*files).unwrap_or(usize::MAX);
        (shown, if shown.is_empty() { 0 } else { files.saturating_sub(shown.len()) })
    }

    /// The folder that holds the changes.
    fn place(&self) -> Option<&str> {
        match &self.asked.question.about {
            About::Changes { place, .. } => place.as_deref(),
            _ => None,
        }
    }

    /// The command that shows the changes.
    fn look(&self) -> Option<String> {
        view::look(&self.state, &self.asked.question)
    }

    /// The tasks that a preview is about, a line each.
    fn previewed(&self) -> Vec<String> {
        let line = |(at, task): (usize, &TaskState)| {
            let (agent, gap) = view::assigned(&task.planned);
            let gap = if gap { " (gap)" } else { "" };
            format!("{}. {}: {agent}{gap}", at + 1, task.planned.task.title)
        };
        match self.asked.question.about {
            About::Preview => self.state.tasks.iter().enumerate().map(line).collect(),
            _ => Vec::new(),
        }
    }

    fn title(&self) -> Option<&str> {
        let task = self.asked.question.about.task()?;
        self.state.task(task).map(|task| task.planned.task.title.as_str())
    }

    fn reasons(&self) -> &[Reason] {
        match &self.asked.question.about {
            About::Policy { reasons, .. } | About::Changes { reasons, .. } => reasons,
            _ => &[],
        }
    }

    fn goal(&self) -> &str {
        self.state.brief.as_ref().map_or("", |brief| &brief.goal)
    }

    fn options(&self) -> Vec<&'static str> {
        self.asked.question.options.iter().map(|choice| choice.name()).collect()
    }

    fn json(&self) -> Value {
        let mut told = json!({
            "id": self.asked.question.id,
            "run": self.run,
            "goal": self.goal(),
            "asked_at": self.at,
            "question": self.sentence(),
            "title": self.title(),
            "about": self.asked.question.about,
            "options": self.options(),
            "open": self.is_open(),
        });
        if let (Some(look), Some(told)) = (self.look(), told.as_object_mut()) {
            told.insert("look".to_owned(), look.into());
        }
        if let (Some((choice, by)), Some(told)) = (&self.asked.answer, told.as_object_mut()) {
            told.insert("answer".to_owned(), json!({"choice": choice, "by": by}));
        }
        told
    }

    fn is_open(&self) -> bool {
        let over = matches!(self.state.phase, aurora_engine::machine::Phase::Finished(_));
        self.asked.is_open() && !over
    }
}

/// What was said in the last attempt of the task that a question about a failure is about.
fn transcript(asked: &Asked, told: &[Told]) -> Option<Digest> {
    let About::Failure { task, .. } = &asked.question.about else { return None };
    let is_it = |one: &&Told| matches!(&one.event, Event::QuestionAsked { question } if question.id == asked.question.id);
    let of_task = |one: &Told| match &one.event {
        Event::AttemptEnded { task: of, transcript, .. } if of == task => Some(transcript.clone()),
        _ => None,
    };
    // What came after the question belongs to another attempt.
    let before = told.iter().position(|one| is_it(&one)).unwrap_or(told.len());
    told.iter().take(before).rev().find_map(of_task).flatten()
}

/// Every open question of every run, the oldest first.
fn open(log: &Log) -> anyhow::Result<Vec<Found>> {
    log.ask(async {
        let mut found = Vec::new();
        let heads = log.store.heads("run/", RUNS).await.map_err(failure)?;
        for head in heads.iter().filter(|head| head.last_kind != "run_finished") {
            let Some(run) = head.stream.0.strip_prefix("run/").and_then(RunId::parse) else {
                continue;
            };
            let (told, state) = driver::load(&log.store, &run).await?;
            found.extend(Found::all(&run, &told, &state).into_iter().filter(Found::is_open));
        }
        found.sort_by_key(|found| found.at.map(|at| at.unix_ms));
        Ok(found)
    })
}

/// The question of that name.
fn find(log: &Log, id: &str) -> anyhow::Result<Found> {
    let unknown = || {
        Failure::usage(format!("there is no question `{id}`"))
            .hint("`aur approvals list` shows those that wait for an answer")
    };
    let run = id.rsplit_once(".q").and_then(|(run, _)| RunId::parse(run)).ok_or_else(unknown)?;
    let (told, state) = log.ask(driver::load(&log.store, &run)).map_err(|error| match error {
        aurora_engine::Error::NoRun { .. } => unknown().into(),
        error => anyhow::Error::from(error),
    })?;
    let all = Found::all(&run, &told, &state);
    let found = all.into_iter().find(|found| found.asked.question.id.as_str() == id);
    Ok(found.ok_or_else(unknown)?)
}

/// The log, for a question of that name.
fn log_for(id: &str) -> anyhow::Result<Log> {
    let log = Log::open_existing()?;
    Ok(log.ok_or_else(|| {
        Failure::usage(format!("there is no question `{id}`")).hint("nothing recorded yet")
    })?)
}
