//! `aur approvals`: what runs ask of a person.

pub mod answer;
pub mod list;
pub mod show;

use std::sync::Arc;

use aurora_engine::driver::{self, Told};
use aurora_engine::machine::{Asked, State, TaskState};
use aurora_model::{About, Event, Reason, RunId, Timestamp};
use serde_json::{Value, json};

use crate::commands::spawn::view;
use crate::exit::{Exit, Failure};
use crate::output;
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
        };
        state.questions.iter().map(found).collect()
    }

    /// The question in one line.
    fn sentence(&self) -> String {
        let title = self.title().map(|title| format!(" ({title})")).unwrap_or_default();
        match &self.asked.question.about {
            About::Preview if self.state.is_plan_only() => {
                let subgoals = self.state.tasks.len();
                format!("may this goal be written down as a plan, with {subgoals} subgoals?")
            }
            About::Preview => {
                let tasks = self.state.tasks.len();
                format!("may this run begin, with {tasks} tasks?")
            }
            About::Policy { task, .. } => format!("may {task}{title} begin?"),
            About::Changes { task, files, lines, .. } => {
                format!(
                    "may what {task}{title} changed be taken over: {files} files, {lines} lines?"
                )
            }
            About::Failure { task, error, dependents, .. } => {
                let depend = match dependents {
                    0 => String::new(),
                    1 => "; 1 task depends on it".to_owned(),
                    more => format!("; {more} tasks depend on it"),
                };
                format!("{task}{title} failed: {error}{depend}")
            }
        }
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
