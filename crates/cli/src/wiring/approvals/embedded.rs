//! The queue in the log beside us.

mod carry;
mod judged;

use std::sync::Arc;
use std::time::Duration;

use aurora_engine::approvals::{Filter, PREFIX, Queue, Saying as Decided};
use aurora_engine::driver;
use aurora_gate::Policy;
use aurora_gate::approval::Rules;
use aurora_gate::approval::{Command, Refused};
use aurora_model::{ApprovalEvent, ApprovalState, QuestionId, Surface};
use aurora_store::Subscription;

use super::{Change, Refusal, Requests, Said, Saying, Taken, settings};
use crate::exit::Failure;
use crate::output::request::{Detail, Happened, Item};
use crate::wiring::place::{Given, Place};
use crate::wiring::store::{Log, failure};
use crate::wiring::workspace::now;
use crate::wiring::{layers, notify, person};

/// So many of the last requests are looked at for how similar ones were decided.
const PRECEDENTS: usize = 500;
/// So many records are read at once.
const BATCH: usize = 1000;
/// The clock may be set meanwhile, so that it is looked at from time to time.
const LONGEST: Duration = Duration::from_secs(60);
/// A longer text beside the log is not shown.
const MAX_KEPT_BYTES: usize = 1024 * 1024;

/// The queue in the log beside us.
pub struct Embedded {
    /// The log.
    pub log: Log,
    queue: Queue,
    place: Place,
    rules: Rules,
}

impl Embedded {
    /// The queue of this repository; nothing when nothing was recorded yet. What became due while
    /// nobody looked happens first.
    pub fn open() -> anyhow::Result<Option<Self>> {
        let Some(log) = Log::open_existing()? else { return Ok(None) };
        let place = Place::look(Given::default());
        let rules = settings::rules(&place)?;
        let notices = notify::notices(rules.channels());
        let queue = Queue::new(Arc::clone(&log.store), notices, now);
        let this = Self { log, queue, place, rules };
        this.catch_up_clock()?;
        Ok(Some(this))
    }

    fn catch_up_clock(&self) -> anyhow::Result<()> {
        self.log.ask(self.queue.catch_up_clock()).map_err(told)
    }

    /// Waits for something new, and does what becomes due meanwhile; false when the log is gone.
    fn wait(&self, news: &mut Subscription, seen: u64) -> anyhow::Result<bool> {
        let next = self.log.ask(self.log.store.next_wake()).map_err(failure)?;
        let Some(next) = next else { return Ok(self.log.ask(news.past(seen))) };
        let left = u64::try_from(next.unix_ms.saturating_sub(now().unix_ms)).unwrap_or(0);
        let waited = self.log.ask(async {
            let left = Duration::from_millis(left.saturating_add(1)).min(LONGEST);
            tokio::time::timeout(left, news.past(seen)).await
        });
        match waited {
            Ok(there) => Ok(there),
            Err(_) => self.catch_up_clock().map(|()| true),
        }
    }

    fn policy(&self) -> anyhow::Result<Policy> {
        layers::load(&self.place, None)
    }

    fn load(&self, id: &QuestionId) -> anyhow::Result<Option<Item>> {
        Ok(self.log.ask(self.queue.load(id)).map_err(told)?.map(Item::from))
    }

    /// The ids of the requests that were written last, whose names begin so.
    fn latest(&self, begin: &str, limit: usize) -> anyhow::Result<Vec<QuestionId>> {
        let heads = self.log.ask(self.log.store.heads(&format!("{PREFIX}{begin}"), limit));
        let id = |stream: &str| stream.strip_prefix(PREFIX).and_then(QuestionId::parse);
        Ok(heads.map_err(failure)?.iter().filter_map(|head| id(&head.stream.0)).collect())
    }

    fn precedent(&self, item: &Item) -> anyhow::Result<Vec<(ApprovalState, u64)>> {
        let (shape, mut counts) = (item.shape(), Vec::<(ApprovalState, u64)>::new());
        for id in self.latest("", PRECEDENTS)? {
            let Some(other) = self.load(&id)? else { continue };
            if other.is_open() || other.id() == item.id() || other.shape() != shape {
                continue;
            }
            let state = settled(&other);
            match counts.iter_mut().find(|(known, _)| *known == state) {
                Some((_, count)) => *count += 1,
                None => counts.push((state, 1)),
            }
        }
        counts.sort_unstable();
        Ok(counts)
    }

    fn kept(&self, item: &Item) -> Option<String> {
        let digest = item.request.detail.as_ref()?;
        // Whoever decides sees the rest all the same when this is gone.
        let bytes = self.log.ask(self.log.store.get(digest)).ok()?;
        let shown = bytes.get(..MAX_KEPT_BYTES).unwrap_or(&bytes);
        Some(String::from_utf8_lossy(shown).into_owned())
    }

    fn said(&self, item: &Item, told: Told) -> anyhow::Result<Said> {
        match told {
            Ok(standing) => {
                // What fails here is done when the run is resumed.
                let _ = self.log.ask(driver::carry_over(&self.queue, &standing));
                let item = Item::from(standing);
                notify::flush(&self.log, self.rules.channels());
                let (driven, resume) = carry::how_to_go_on(&self.log, &item);
                Ok(Said::Taken(Box::new(Taken { item, driven, resume })))
            }
            Err(aurora_engine::Error::Request { refused, .. }) => {
                Ok(Said::Refused(refusal(item.id(), &refused)))
            }
            Err(error) => Err(self::told(error)),
        }
    }
}

type Told = Result<aurora_gate::approval::Standing, aurora_engine::Error>;

impl Requests for Embedded {
    fn list(&self, filter: &Filter, limit: usize) -> anyhow::Result<Vec<Item>> {
        let page = self.log.ask(self.queue.list(filter, 0, limit)).map_err(told)?;
        Ok(page.requests.into_iter().map(Item::from).collect())
    }

    fn find(&self, id: &str) -> anyhow::Result<Option<Item>> {
        if let Some(exact) = QuestionId::parse(id)
            && let Some(item) = self.load(&exact)?
        {
            return Ok(Some(item));
        }
        let found = if id.is_empty() { Vec::new() } else { self.latest(id, 3)? };
        match found.as_slice() {
            [] => Ok(None),
            [only] => self.load(only),
            several => {
                let names: Vec<&str> = several.iter().map(QuestionId::as_str).collect();
                Err(Failure::usage(format!("`{id}` could be {}", names.join(" or ")))
                    .hint("write more of it")
                    .into())
            }
        }
    }

    fn detail(&self, item: &Item) -> anyhow::Result<Detail> {
        let history = self.log.ask(self.queue.history(item.id())).map_err(told)?;
        let precedent = self.precedent(item)?;
        Ok(Detail { history, precedent, kept: self.kept(item), ..Detail::default() })
    }

    fn decide(&self, item: &Item, saying: &Saying) -> anyhow::Result<Said> {
        let decided = Decided {
            choice: saying.choice,
            by: person::here(&self.rules, Surface::Command),
            seen: saying.seen.clone(),
            policy: settings::policy_digest(&self.policy()?),
            reason: saying.reason.clone(),
        };
        let told = self.log.ask(self.queue.decide(item.id(), &decided));
        self.said(item, told)
    }

    fn edit(&self, item: &Item, change: &Change) -> anyhow::Result<Said> {
        let policy = self.policy()?;
        let by = person::here(&self.rules, Surface::Command);
        let edit = judged::edit(&self.log, item, change, by, policy, &self.rules)?;
        let told = self.log.ask(self.queue.tell(item.id(), &Command::Edit(Box::new(edit))));
        self.said(item, told)
    }

    fn watch(
        &self,
        begin: &mut dyn FnMut() -> anyhow::Result<()>,
        each: &mut dyn FnMut(&Happened) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let mut news = self.log.store.subscribe();
        let mut seen = news.position();
        begin()?;
        loop {
            let records = self.log.ask(self.log.store.read_all(seen, BATCH)).map_err(failure)?;
            for record in &records {
                seen = record.position;
                let id = record.stream.0.strip_prefix(PREFIX).and_then(QuestionId::parse);
                let event = serde_json::from_str::<ApprovalEvent>(&record.payload).ok();
                let (Some(id), Some(event)) = (id, event) else { continue };
                let item = self.load(&id)?;
                if !each(&Happened { id, at: record.at, event, item })? {
                    return Ok(());
                }
            }
            if records.is_empty() && !self.wait(&mut news, seen)? {
                return Ok(());
            }
        }
    }
}

/// How a request was decided, whatever became of it after that.
fn settled(item: &Item) -> ApprovalState {
    match (item.state, &item.decision) {
        (ApprovalState::Reserved | ApprovalState::Executed | ApprovalState::Failed, Some(_))
        | (ApprovalState::OutcomeUnknown, Some(_)) => ApprovalState::Approved,
        (state, _) => state,
    }
}

/// Why a decision was not taken, so that whoever made it knows who was first.
fn refusal(id: &QuestionId, refused: &Refused) -> Refusal {
    let (word, usage) = match refused {
        Refused::Unknown => ("unknown", true),
        Refused::Closed { .. } => ("closed", false),
        Refused::Expired => ("expired", false),
        Refused::NotAllowed { .. } => ("not_allowed", false),
        Refused::Outdated { .. } => ("outdated", false),
        Refused::NoSuchChoice { .. } => ("no_such_choice", true),
        Refused::VotedBefore { .. } => ("voted_before", false),
        Refused::NeedsReason => ("needs_reason", true),
        Refused::CannotEdit { .. } => ("cannot_edit", false),
        Refused::Forbidden { .. } => ("forbidden", false),
    };
    let (message, state) = match refused {
        Refused::Closed { state, by, reason } => {
            let by = by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default();
            let why = reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let what = state.name().replace('_', " ");
            (format!("{id} was decided before: {what}{by}{why}"), Some(*state))
        }
        refused => (format!("{id}: {refused}"), None),
    };
    Refusal { word: word.to_owned(), message, state, usage }
}

fn told(error: aurora_engine::Error) -> anyhow::Error {
    crate::wiring::run::failure(error).into()
}
