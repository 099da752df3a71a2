//! The ledger of what calls cost: reserved before a call, settled after it, one stream per month.
//!
//! Every append says which version of the stream it follows, so that two runs that decide at the same
//! moment cannot both take what only one may have: the second one reads on and decides again.

mod call;
mod decide;
mod event;
mod ledger;
mod month;
mod picture;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aurora_model::{Cost, RunId, Timestamp};
use aurora_store::{Append, Expected, NewRecord, Record, Store};
use tokio::sync::Semaphore;

use crate::error::{Error, Result};

pub use call::{Call, CallState, calls};
pub use decide::{
    Decided, Limits, OnLimit, Reserve, decide_release, decide_reserve, decide_settle,
};
pub use event::{BudgetEvent, Reservation};
pub use ledger::{Ledger, Share};
pub use month::Month;
pub use picture::verify_pictures;

/// Which shape the payload of an event has.
const SCHEMA: u16 = 1;
/// How many records are read at once.
const BATCH: usize = 1000;
/// How often a decision is made again because somebody else wrote first.
const MAX_RETRIES: usize = 1000;
/// How many months are searched for a call that began in an earlier one.
const MONTHS_BACK: usize = 3;
/// A picture is kept when so many records came since the last one, or a quarter of all of them.
const PICTURE_EVERY: u64 = 500;

/// The ledger of a log, for whoever makes calls.
pub struct Budget {
    store: Arc<dyn Store>,
    limits: Limits,
    now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// What was read so far; never held while something is awaited.
    months: Mutex<BTreeMap<Month, Kept>>,
    /// Whoever writes here takes turns, so that they do not compete with each other. That nothing is
    /// overspent does not rest on it, but on the version of the stream.
    turns: Semaphore,
}

/// A month as far as it was read.
#[derive(Default)]
struct Kept {
    ledger: Ledger,
    /// Up to where a picture was kept.
    pictured: u64,
}

impl Budget {
    /// The ledger in this log, within these limits.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        limits: Limits,
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        let months = Mutex::default();
        Self { store, limits, now: Box::new(now), months, turns: Semaphore::new(1) }
    }

    /// Reserves what a call may cost, before it is made. The same call reserved twice is reserved
    /// once, also when it was in another month.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub async fn reserve(&self, reservation: &Reservation) -> Result<Reserve> {
        let found = self.month_of(&reservation.id).await?;
        let month = found.unwrap_or_else(|| self.this_month());
        let decide = |ledger: &Ledger| decide_reserve(ledger, &month, reservation, self.limits);
        self.write(&month, decide).await
    }

    /// Settles a call: what it cost takes the place of what was reserved, in the month in which it
    /// began. A cost that nobody knows is taken as estimated. Gives a warning where one is due.
    ///
    /// # Errors
    /// When nothing was reserved for it, or the log cannot be read or written.
    pub async fn settle(&self, id: &str, cost: &Cost) -> Result<Option<String>> {
        let Some(month) = self.month_of(id).await? else {
            return Err(Error::Lost { what: format!("nothing was reserved for the call {id}") });
        };
        let decide = |ledger: &Ledger| decide_settle(ledger, &month, id, cost, self.limits);
        self.write(&month, decide).await
    }

    /// Gives a reservation back: the call was not made. One that is not open stays as it is.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub async fn release(&self, id: &str, why: &str) -> Result<()> {
        let Some(month) = self.month_of(id).await? else { return Ok(()) };
        self.write(&month, |ledger| decide_release(ledger, id, why)).await
    }

    /// Settles every open reservation of a run as estimated: whoever made the calls is gone, and
    /// nobody knows what they cost. Says how many there were.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub async fn settle_unknown(&self, run: &RunId) -> Result<usize> {
        let mut settled = 0;
        for month in self.recent_months().await? {
            self.catch_up(&month).await?;
            let ids = self.look(&month, |ledger| ledger.open_of(run));
            settled += ids.len();
            for id in ids {
                self.settle(&id, &Cost::default()).await?;
            }
        }
        Ok(settled)
    }

    /// How a month stands.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn ledger(&self, month: &Month) -> Result<Ledger> {
        self.catch_up(month).await?;
        Ok(self.look(month, Clone::clone))
    }

    /// The month in which a call that is made now begins.
    #[must_use]
    pub fn this_month(&self) -> Month {
        Month::of((self.now)())
    }

    /// The month that knows a call; nothing when none does.
    async fn month_of(&self, id: &str) -> Result<Option<Month>> {
        for month in self.recent_months().await? {
            self.catch_up(&month).await?;
            if self.look(&month, |ledger| ledger.knows(id)) {
                return Ok(Some(month));
            }
        }
        Ok(None)
    }

    /// This month and those before it, the latest first.
    async fn recent_months(&self) -> Result<Vec<Month>> {
        let mut months = months(&self.store).await?;
        let now = self.this_month();
        if !months.contains(&now) {
            months.push(now);
        }
        months.sort_unstable_by(|a, b| b.cmp(a));
        months.truncate(MONTHS_BACK);
        Ok(months)
    }

    /// Decides by the latest state, records what was decided, and takes it over. When somebody else
    /// wrote meanwhile, it reads that and decides again.
    async fn write<T>(&self, month: &Month, decide: impl Fn(&Ledger) -> Decided<T>) -> Result<T> {
        let _turn = self.turns.acquire().await;
        for _ in 0..MAX_RETRIES {
            self.catch_up(month).await?;
            let (version, decided) = self.look(month, |ledger| (ledger.version, decide(ledger)));
            if decided.events.is_empty() {
                return Ok(decided.answer);
            }
            let append = Append {
                stream: month.stream(),
                expected: Expected::Version(version),
                at: (self.now)(),
                records: decided.events.iter().map(record_of).collect::<Result<_>>()?,
                outgoing: Vec::new(),
                mark: None,
            };
            match self.store.append(append).await {
                Ok(_) => {
                    self.take_over(month, version, &decided.events);
                    self.keep_picture(month).await;
                    return Ok(decided.answer);
                }
                Err(aurora_store::Error::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Lost { what: format!("{} is written by others all the time", month.stream()) })
    }

    /// Reads what was appended meanwhile.
    async fn catch_up(&self, month: &Month) -> Result<()> {
        if !self.months().contains_key(month) {
            let kept = picture(&self.store, month).await?;
            self.months().entry(month.clone()).or_insert(kept);
        }
        loop {
            let version = self.look(month, |ledger| ledger.version);
            let records = self.store.read(&month.stream(), version, BATCH).await?;
            let full = records.len() == BATCH;
            for record in &records {
                let event = event_of(record)?;
                self.take_over(month, record.version - 1, std::slice::from_ref(&event));
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// Takes over events that follow a version, unless another reader did so before.
    fn take_over(&self, month: &Month, after: u64, events: &[BudgetEvent]) {
        let mut months = self.months();
        let kept = months.entry(month.clone()).or_default();
        if kept.ledger.version == after {
            events.iter().for_each(|event| kept.ledger.apply(event));
        }
    }

    fn look<T>(&self, month: &Month, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.months().entry(month.clone()).or_default().ledger)
    }

    fn months(&self) -> MutexGuard<'_, BTreeMap<Month, Kept>> {
        // What a panicking holder left is a prefix of the stream, like any other.
        self.months.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a picture now and then, so that a long month opens fast. Losing one costs time only.
    async fn keep_picture(&self, month: &Month) {
        let picture = {
            let mut months = self.months();
            let Some(kept) = months.get_mut(month) else { return };
            let version = kept.ledger.version;
            if version - kept.pictured.min(version) < PICTURE_EVERY.max(version / 4) {
                return;
            }
            kept.pictured = version;
            serde_json::to_value(&kept.ledger).ok().map(|ledger| (version, ledger))
        };
        let Some((version, ledger)) = picture else { return };
        let last = self.store.read(&month.stream(), version.saturating_sub(1), 1).await;
        let Some(last) = last.ok().and_then(|records| records.into_iter().next()) else { return };
        let picture = serde_json::json!({"hash": last.hash, "ledger": ledger}).to_string();
        let name = month.stream().0;
        let _ = self.store.keep_projection(&name, last.position, &picture).await;
    }
}

/// The months that the log knows, the latest written first.
///
/// # Errors
/// When the log cannot be read.
pub async fn months(store: &Arc<dyn Store>) -> Result<Vec<Month>> {
    let heads = store.heads("budget/", BATCH).await?;
    Ok(heads.iter().filter_map(|head| Month::of_stream(&head.stream)).collect())
}

/// The picture of a month, if it was made of the records that the log has.
async fn picture(store: &Arc<dyn Store>, month: &Month) -> Result<Kept> {
    let stream = month.stream();
    let Some((_, text)) = store.projection(&stream.0).await? else { return Ok(Kept::default()) };
    let Ok(mut picture) = serde_json::from_str::<serde_json::Value>(&text) else {
        return Ok(Kept::default());
    };
    let ledger = picture.get_mut("ledger").map(serde_json::Value::take).unwrap_or_default();
    let Ok(ledger) = serde_json::from_value::<Ledger>(ledger) else { return Ok(Kept::default()) };
    let last = store.read(&stream, ledger.version.saturating_sub(1), 1).await?;
    let hash = picture.get("hash").and_then(serde_json::Value::as_str);
    let fits = last
        .first()
        .is_some_and(|last| last.version == ledger.version && Some(last.hash.as_str()) == hash);
    Ok(if fits { Kept { pictured: ledger.version, ledger } } else { Kept::default() })
}

fn record_of(event: &BudgetEvent) -> Result<NewRecord> {
    let payload = serde_json::to_string(event)
        .map_err(|error| Error::Lost { what: format!("an event cannot be written: {error}") })?;
    Ok(NewRecord { kind: event.kind().to_owned(), schema: SCHEMA, payload })
}

fn event_of(record: &Record) -> Result<BudgetEvent> {
    serde_json::from_str(&record.payload).map_err(|error| Error::Unreadable {
        stream: record.stream.to_string(),
        version: record.version,
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
