//! A question as its run tells it, with what a person needs beside the request.

use std::sync::Arc;

use aurora_engine::approvals;
use aurora_engine::driver::{self, Told};
use aurora_engine::machine::{Asked, State, TaskState};
use aurora_model::{About, Digest, Event, Reason, RunId, Timestamp};
use serde_json::{Value, json};

use crate::commands::spawn::view;
use crate::output::failure::MAX_PATHS;
use crate::wiring::store::{Log, failure};

/// So many runs are looked at.
const RUNS: usize = 10_000;

/// A question with the run that asks it.
pub struct Found {
    /// The run.
    pub run: RunId,
    /// The question, and its answer.
    pub asked: Asked,
    /// Where the run stands.
    pub state: Arc<State>,
    /// When it was asked.
    pub at: Option<Timestamp>,
    /// What the agent said before it failed.
    pub transcript: Option<Digest>,
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
    pub fn sentence(&self) -> String {
        view::sentence(&self.state, &self.asked.question)
    }

    /// The first of the changed paths, and how many more there are.
    pub fn changed(&self) -> (&[String], usize) {
        let About::Changes { files, paths, .. } = &self.asked.question.about else {
            return (&[], 0);
        };
        let shown = paths.get(..MAX_PATHS).unwrap_or(paths);
        let files = usize::try_from(*files).unwrap_or(usize::MAX);
        (shown, if shown.is_empty() { 0 } else { files.saturating_sub(shown.len()) })
    }

    /// The folder that holds the changes.
    pub fn place(&self) -> Option<&str> {
        match &self.asked.question.about {
            About::Changes { place, .. } => place.as_deref(),
            _ => None,
        }
    }

    /// The command that shows the changes.
    pub fn look(&self) -> Option<String> {
        view::look(&self.state, &self.asked.question)
    }

    /// The tasks that a preview is about, a line each.
    pub fn previewed(&self) -> Vec<String> {
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

    /// The title of its task.
    pub fn title(&self) -> Option<&str> {
        let task = self.asked.question.about.task()?;
        self.state.task(task).map(|task| task.planned.task.title.as_str())
    }

    /// Why it is asked.
    pub fn reasons(&self) -> &[Reason] {
        match &self.asked.question.about {
            About::Policy { reasons, .. } | About::Changes { reasons, .. } => reasons,
            _ => &[],
        }
    }

    /// What its run is for.
    pub fn goal(&self) -> &str {
        self.state.brief.as_ref().map_or("", |brief| &brief.goal)
    }

    /// What can be answered.
    pub fn options(&self) -> Vec<&'static str> {
        self.asked.question.options.iter().map(|choice| choice.name()).collect()
    }

    /// Everything, for programs.
    pub fn json(&self) -> Value {
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

    /// Whether it waits for an answer.
    pub fn is_open(&self) -> bool {
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

/// Every open question of every run that is in no queue, the oldest first: earlier versions wrote
/// them into the run's stream alone.
pub fn without_request(log: &Log) -> anyhow::Result<Vec<Found>> {
    log.ask(async {
        let mut found = Vec::new();
        let heads = log.store.heads("run/", RUNS).await.map_err(failure)?;
        for head in heads.iter().filter(|head| head.last_kind != "run_finished") {
            let Some(run) = head.stream.0.strip_prefix("run/").and_then(RunId::parse) else {
                continue;
            };
            let (told, state) = driver::load(&log.store, &run).await?;
            for one in Found::all(&run, &told, &state).into_iter().filter(Found::is_open) {
                let stream = approvals::stream_of(&one.asked.question.id);
                if log.store.head(&stream).await.map_err(failure)?.is_none() {
                    found.push(one);
                }
            }
        }
        found.sort_by_key(|found| found.at.map(|at| at.unix_ms));
        Ok(found)
    })
}

/// The question of that name, as its run tells it; nothing when there is none.
pub fn find(log: &Log, id: &str) -> anyhow::Result<Option<Found>> {
    let run = id.rsplit_once(".q").and_then(|(run, _)| RunId::parse(run));
    let Some(run) = run else { return Ok(None) };
    let (told, state) = match log.ask(driver::load(&log.store, &run)) {
        Err(aurora_engine::Error::NoRun { .. }) => return Ok(None),
        loaded => loaded?,
    };
    let all = Found::all(&run, &told, &state);
    Ok(all.into_iter().find(|found| found.asked.question.id.as_str() == id))
}
