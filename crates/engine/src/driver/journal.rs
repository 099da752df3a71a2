//! A run's stream, read and written: the state is whatever its records tell.

use std::sync::Arc;

use aurora_model::{Event, Question, RunId, Timestamp};
use aurora_store::{Append, Expected, NewRecord, Record, Store, StreamId};

use crate::approvals::register::{Beside, Besides};
use crate::approvals::{Queue, Registrar, Silence};
use crate::error::{Error, Result};
use crate::machine::{Command, State, apply, decide_with};

/// Which shape the payload of an event has.
const SCHEMA: u16 = 1;
/// How many records are read at once.
const BATCH: usize = 1000;
/// How often a decision is made again because somebody else wrote first.
const MAX_RETRIES: usize = 100;

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The event.
    pub event: Event,
    /// When it was recorded.
    pub at: Timestamp,
    /// Its place in the run's stream.
    pub version: u64,
}

/// A run's stream and the state that it tells.
pub struct Journal {
    store: Arc<dyn Store>,
    run: RunId,
    stream: StreamId,
    state: Arc<State>,
    /// What was read or written and not yet taken.
    news: Vec<Told>,
    /// The queue in which questions are decided.
    queue: Queue,
    /// Whoever puts questions into the queue; nobody does without.
    registrar: Option<Arc<Registrar>>,
}

/// The stream of a run.
#[must_use]
pub fn stream_of(run: &RunId) -> StreamId {
    StreamId(format!("run/{run}"))
}

impl Journal {
    /// Reads a run's stream; one that is not there is a run that has not begun.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn open(store: Arc<dyn Store>, run: &RunId) -> Result<Self> {
        let stream = stream_of(run);
        let state = Arc::new(State::default());
        // Nobody asks this one for the time or is told by it.
        let queue = Queue::new(Arc::clone(&store), Arc::new(Silence), || Timestamp { unix_ms: 0 });
        let (run, news) = (run.clone(), Vec::new());
        let mut journal = Self { store, run, stream, state, news, queue, registrar: None };
        journal.catch_up().await?;
        Ok(journal)
    }

    /// The same, with questions put into the queue.
    #[must_use]
    pub fn registering(mut self, registrar: Option<Arc<Registrar>>) -> Self {
        if let Some(registrar) = &registrar {
            self.queue = registrar.queue.clone();
        }
        self.registrar = registrar;
        self
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Where the run stands, as far as it was read.
    #[must_use]
    pub fn state(&self) -> Arc<State> {
        Arc::clone(&self.state)
    }

    /// What was read or written since this was asked last.
    pub fn take_news(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.news)
    }

    /// Reads what was appended meanwhile.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn catch_up(&mut self) -> Result<()> {
        loop {
            let records = self.store.read(&self.stream, self.state.version, BATCH).await?;
            let full = records.len() == BATCH;
            for record in &records {
                let event = event_of(record)?;
                apply(Arc::make_mut(&mut self.state), &event);
                self.news.push(Told { event, at: record.at, version: record.version });
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// Decides, records, and only then takes over what was decided. When somebody else wrote
    /// meanwhile, it reads that and decides again. What a question is asked about and how it is
    /// answered is recorded in the queue in the same moment.
    ///
    /// # Errors
    /// When the command is refused, or the log cannot be written.
    pub async fn tell(&mut self, command: &Command, now: Timestamp) -> Result<()> {
        for _ in 0..MAX_RETRIES {
            let events = self.decide(command)?;
            let besides = Besides { queue: &self.queue, registrar: self.registrar.as_deref() };
            let beside = match besides.of(&self.state, &events, now).await? {
                Beside::Appends(beside) => beside,
                Beside::First(first) => {
                    // What was decided elsewhere counts, and is in the queue already.
                    let events = self.decide(&first)?;
                    self.write(events, Vec::new(), now).await?;
                    continue;
                }
            };
            if self.write(events, beside, now).await? {
                return Ok(());
            }
        }
        Err(Error::Lost { what: format!("{} is written by others all the time", self.stream) })
    }

    /// What a command leads to. Whatever else was said of a question, the rules that hold now say
    /// whether it is for people only.
    fn decide(&self, command: &Command) -> Result<Vec<Event>> {
        let registrar = self.registrar.as_deref();
        let for_people = |question: &Question, state: &State| {
            registrar.is_some_and(|one| one.needs_person(&question.about, state))
        };
        Ok(decide_with(&self.state, command, &for_people)?)
    }

    /// Records events and what goes beside them; false when somebody else wrote meanwhile, which is
    /// read then.
    async fn write(
        &mut self,
        events: Vec<Event>,
        beside: Vec<Append>,
        now: Timestamp,
    ) -> Result<bool> {
        let own = Append {
            stream: self.stream.clone(),
            expected: Expected::Version(self.state.version),
            at: now,
            records: events.iter().map(record_of).collect::<Result<Vec<_>>>()?,
            outgoing: Vec::new(),
            mark: None,
        };
        let appends = std::iter::once(own).chain(beside).collect();
        match self.store.append_all(appends).await {
            Ok(_) => {
                let state = Arc::make_mut(&mut self.state);
                for event in events {
                    apply(state, &event);
                    self.news.push(Told { event, at: now, version: state.version });
                }
                Ok(true)
            }
            Err(aurora_store::Error::Conflict { .. }) => self.catch_up().await.map(|()| false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Every event of a run with its place, in order.
///
/// # Errors
/// When the log cannot be read, or there is no such run.
pub async fn load(store: &Arc<dyn Store>, run: &RunId) -> Result<(Vec<Told>, Arc<State>)> {
    let mut journal = Journal::open(Arc::clone(store), run).await?;
    let told = journal.take_news();
    if told.is_empty() {
        return Err(Error::NoRun { run: run.to_string() });
    }
    Ok((told, journal.state))
}

fn record_of(event: &Event) -> Result<NewRecord> {
    let payload = serde_json::to_string(event)
        .map_err(|error| Error::Lost { what: format!("an event cannot be written: {error}") })?;
    let kind = kind_of(&payload).to_owned();
    Ok(NewRecord { kind, schema: SCHEMA, payload })
}

/// The name under which an event is recorded: what its text says first.
fn kind_of(payload: &str) -> &str {
    let rest = payload.strip_prefix(r#"{"type":""#);
    rest.and_then(|rest| rest.split('"').next()).unwrap_or("event")
}

fn event_of(record: &Record) -> Result<Event> {
    serde_json::from_str(&record.payload).map_err(|error| Error::Unreadable {
        stream: record.stream.to_string(),
        version: record.version,
        why: error.to_string(),
    })
}
