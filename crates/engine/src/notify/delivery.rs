//! Sends what waits in the outbox: at least once, each channel for itself, by an id that stays.
//!
//! One task owns everything. It sleeps until a message is due or something is appended; a message
//! that was taken is nobody else's for a while, so several processes can do this at once.

mod lane;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use aurora_gate::approval::rules::notify::{ChannelKind, Moment};
use aurora_model::{ApprovalState, Timestamp};
use aurora_store::{Append, Expected, NewRecord, Outgoing, Store, StreamId};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use self::lane::{Lane, Taken};
use super::counts::Counts;
use super::message::Message;
use super::pace::Pace;
use super::route::{Fault, FaultKind, Routes, Sender};
use super::scrub::clean;
use crate::approvals::{Queue, Silence};

/// What the names of the streams begin with in which it stands that a message was given up.
pub const PREFIX: &str = "notify/";
/// How many messages are taken at once.
const BATCH: usize = 32;
/// A machine that slept looks again after this at the latest.
const LONGEST_SLEEP: Duration = Duration::from_secs(300);
/// How long to wait when the log cannot be read or written.
const TROUBLE: Duration = Duration::from_secs(5);
/// A message that nobody here can send is looked at again after this at the earliest.
const ELSEWHERE: Duration = Duration::from_secs(2);

/// What became of the messages, by channel.
type Book = BTreeMap<String, Counts>;

/// Sends what waits, until it is dropped.
#[derive(Debug)]
pub struct Delivery {
    task: JoinHandle<()>,
    /// How long it may still take, once it should end.
    stop: watch::Sender<Option<Duration>>,
    book: watch::Receiver<Book>,
    /// How often somebody asked whether anything is left to do.
    asked: watch::Sender<u64>,
    /// Which of those asked when nothing was.
    idle: watch::Receiver<Option<u64>>,
}

impl Delivery {
    /// Begins to send over these channels.
    #[must_use]
    pub fn start(store: Arc<dyn Store>, routes: Routes, now: fn() -> Timestamp) -> Self {
        Self::start_paced(store, routes, now, Pace::default())
    }

    /// Begins to send, with another patience.
    #[must_use]
    pub fn start_paced(
        store: Arc<dyn Store>,
        routes: Routes,
        now: fn() -> Timestamp,
        pace: Pace,
    ) -> Self {
        let (book, counts) = watch::channel(Book::new());
        let (stop, stopped) = watch::channel(None);
        let (idle, is_idle) = watch::channel(None);
        let (asked, questions) = watch::channel(0);
        let lanes = routes.into_iter().map(|route| (route.name.clone(), Lane::new(route)));
        let post = Post {
            queue: Queue::new(Arc::clone(&store), Arc::new(Silence), now),
            store,
            lanes: lanes.collect(),
            sends: JoinSet::new(),
            pace,
            on_way: BTreeSet::new(),
            book,
            idle,
        };
        let task = tokio::spawn(post.run(stopped, questions));
        Self { task, stop, book: counts, asked, idle: is_idle }
    }

    /// What became of the messages so far.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, Counts> {
        self.book.borrow().clone()
    }

    /// Waits until everything that is due now was tried once, but not longer than this: for a
    /// program that is about to end.
    pub async fn idle(&self, patience: Duration) {
        // What it found before we asked does not count: something was told since.
        let mut question = 0;
        self.asked.send_modify(|asked| {
            *asked += 1;
            question = *asked;
        });
        let mut idle = self.idle.clone();
        let waiting = idle.wait_for(|idle| idle.is_some_and(|idle| idle >= question));
        // What was not tried stays in the outbox, for whoever delivers next.
        drop(tokio::time::timeout(patience, waiting).await);
    }

    /// Ends after what is on its way, but does not wait longer than one try may take. What was taken
    /// and not sent is given back at once.
    pub async fn stop(self) {
        self.stop_within(LONGEST_SLEEP).await;
    }

    /// The same, and what is still on its way after so long is given back as well.
    pub async fn stop_within(mut self, patience: Duration) {
        self.stop.send_replace(Some(patience));
        // Whatever it ended with, nobody is left to hear of it.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What became of one try.
enum Outcome {
    Arrived,
    /// Nobody needs to be told any more.
    Pointless,
    Failed(Fault),
}

/// The task that owns everything.
struct Post {
    store: Arc<dyn Store>,
    queue: Queue,
    lanes: BTreeMap<String, Lane>,
    sends: JoinSet<(String, Taken, Outcome)>,
    /// The ids of what is being sent.
    on_way: BTreeSet<String>,
    pace: Pace,
    book: watch::Sender<Book>,
    idle: watch::Sender<Option<u64>>,
}

impl Post {
    async fn run(
        mut self,
        mut stop: watch::Receiver<Option<Duration>>,
        mut questions: watch::Receiver<u64>,
    ) {
        let mut news = self.store.subscribe();
        loop {
            let seen = news.position();
            let question = *questions.borrow_and_update();
            let sleep = match self.turn(question).await {
                Ok(sleep) => sleep,
                Err(_) => Some(TROUBLE),
            };
            let sleeping = async {
                match sleep {
                    Some(sleep) => tokio::time::sleep(sleep.min(LONGEST_SLEEP)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = asked(&mut stop) => break,
                Some(sent) = self.sends.join_next() => self.ended(sent).await,
                more = news.past(seen) => if !more { break },
                Ok(()) = questions.changed() => {}
                () = sleeping => {}
            }
        }
        let patience = stop.borrow().unwrap_or_default();
        self.end(patience).await;
    }

    /// Waits for what is on its way, and gives back what else was taken: whoever delivers next need
    /// not wait until our leases end.
    async fn end(&mut self, patience: Duration) {
        let waiting: Vec<Taken> = self.lanes.values_mut().flat_map(Lane::give_back).collect();
        let now = self.queue.now();
        for taken in waiting {
            // What cannot be given back is somebody else's when its lease ends.
            let _ = self.store.put_off(&taken.sent.id, now).await;
        }
        let last = async {
            while let Some(sent) = self.sends.join_next().await {
                self.ended(sent).await;
            }
        };
        if tokio::time::timeout(patience, last).await.is_err() {
            self.sends.abort_all();
            for id in std::mem::take(&mut self.on_way) {
                let _ = self.store.put_off(&id, now).await;
            }
        }
    }

    /// Takes what is due and begins to send it; says how long nothing is to be done.
    async fn turn(&mut self, question: u64) -> aurora_store::Result<Option<Duration>> {
        let now = self.queue.now();
        let due = self.store.next_outgoing().await?;
        if due.is_some_and(|due| due <= now) {
            let leased = after(now, self.pace.lease);
            for message in self.store.outgoing(now, leased, BATCH).await? {
                self.accept(message, now, leased).await?;
            }
        }
        self.launch();
        let due = self.store.next_outgoing().await?;
        let now = self.queue.now();
        let is_idle = self.sends.is_empty() && due.is_none_or(|due| due > now);
        self.idle.send_replace(is_idle.then_some(question));
        Ok(due.map(|due| between(now, due)))
    }

    /// Puts a message into the lane of its channel, or off.
    async fn accept(
        &mut self,
        sent: Outgoing,
        now: Timestamp,
        leased: Timestamp,
    ) -> aurora_store::Result<()> {
        let Ok(message) = serde_json::from_str::<Box<Message>>(&sent.payload) else {
            let why = "it cannot be read by this version";
            return self.give_up(&sent, why, now).await;
        };
        let age = between(message.timestamp, now);
        let taken = Taken { sent, message, leased };
        let Some(lane) = self.lanes.get_mut(&taken.sent.topic) else {
            let why = "there is no such channel in the settings";
            return self.elsewhere(&taken.sent, age, now, why).await;
        };
        if let Some(why) = lane.route.trouble().map(str::to_owned) {
            if lane.route.kind == ChannelKind::Terminal && age > self.pace.forget_after {
                self.note(&taken.sent.topic, |counts| counts.dropped += 1);
                return self.store.delivered(&taken.sent.id).await;
            }
            return self.elsewhere(&taken.sent, age, now, &why).await;
        }
        let Err(turned_away) = lane.admit(taken, now, &self.pace) else { return Ok(()) };
        let (Taken { sent, .. }, again_at) = *turned_away;
        if age > self.pace.give_up_after && sent.tried > 0 {
            let why = self.trouble(&sent.topic);
            return self.give_up(&sent, &why, now).await;
        }
        self.store.put_off(&sent.id, again_at).await
    }

    /// A message that nobody here can send: another process may, for a while.
    async fn elsewhere(
        &mut self,
        sent: &Outgoing,
        age: Duration,
        now: Timestamp,
        why: &str,
    ) -> aurora_store::Result<()> {
        if age > self.pace.give_up_after {
            return self.give_up(sent, why, now).await;
        }
        self.note(&sent.topic, |counts| counts.trouble = Some(why.to_owned()));
        let wait = (age / 2).max(ELSEWHERE).min(self.pace.longest_wait);
        self.store.put_off(&sent.id, after(now, wait)).await
    }

    /// Begins to send in every lane that is free.
    fn launch(&mut self) {
        let now = self.queue.now();
        for (name, lane) in &mut self.lanes {
            let Some((sender, taken)) = lane.next(now, &self.pace) else { continue };
            let (name, queue, pace) = (name.clone(), self.queue.clone(), self.pace);
            self.on_way.insert(taken.sent.id.clone());
            let for_people = lane.route.kind != ChannelKind::Webhook;
            self.sends.spawn(async move {
                let sending = send(&*sender, &queue, &taken.message, for_people);
                let outcome = tokio::time::timeout(pace.timeout, sending).await;
                let late = |_| Outcome::Failed(Fault::passing("the receiver does not answer"));
                let outcome = outcome.unwrap_or_else(late);
                (name, taken, outcome)
            });
        }
    }

    /// Writes down what became of a try. When that cannot be written the message is sent again: the
    /// receiver knows it by its id.
    async fn ended(&mut self, sent: Result<(String, Taken, Outcome), JoinError>) {
        let Ok((name, taken, outcome)) = sent else {
            // A try that broke down is as good as none: its lease ends by itself.
            self.lanes.values_mut().for_each(Lane::broke_down);
            return;
        };
        self.on_way.remove(&taken.sent.id);
        let now = self.queue.now();
        let written = match outcome {
            Outcome::Arrived | Outcome::Pointless => {
                let arrived = matches!(outcome, Outcome::Arrived);
                if let Some(lane) = self.lanes.get_mut(&name) {
                    lane.arrived();
                }
                self.note(&name, |counts| {
                    counts.delivered += u64::from(arrived);
                    counts.dropped += u64::from(!arrived);
                    counts.trouble = None;
                });
                self.store.delivered(&taken.sent.id).await
            }
            Outcome::Failed(fault) => self.failed(&name, &taken, &fault, now).await,
        };
        if written.is_err() {
            self.note(&name, |counts| {
                counts.trouble = Some("the log cannot be written".to_owned());
            });
        }
    }

    async fn failed(
        &mut self,
        name: &str,
        taken: &Taken,
        fault: &Fault,
        now: Timestamp,
    ) -> aurora_store::Result<()> {
        let why = clean(&fault.why, 200);
        self.note(name, |counts| {
            counts.failed += 1;
            counts.trouble = Some(why.clone());
        });
        let age = between(taken.message.timestamp, now);
        let wait = self.pace.wait(taken.sent.tried, &taken.sent.id);
        let (hopeless, wait) = match fault.kind {
            FaultKind::Gone => (true, wait),
            FaultKind::Refused => (taken.sent.tried + 1 >= self.pace.refused_tries, wait),
            FaultKind::Passing(said) => {
                (age > self.pace.give_up_after, wait.max(said.unwrap_or_default()))
            }
        };
        let mut waiting = std::collections::VecDeque::new();
        if let Some(lane) = self.lanes.get_mut(name) {
            let said = match fault.kind {
                FaultKind::Passing(said) => Some(said.unwrap_or_default()),
                FaultKind::Refused | FaultKind::Gone => None,
            };
            waiting = lane.failed(said, now, &self.pace);
        }
        for other in waiting {
            let again_at = self.lanes.get(name).map_or(now, |lane| lane.again_at(now));
            self.store.put_off(&other.sent.id, again_at).await?;
        }
        if hopeless {
            return self.give_up(&taken.sent, &why, now).await;
        }
        self.store.put_off(&taken.sent.id, after(now, wait)).await
    }

    /// Gives a message up, where everybody can see it.
    async fn give_up(
        &mut self,
        sent: &Outgoing,
        why: &str,
        now: Timestamp,
    ) -> aurora_store::Result<()> {
        let payload = json!({ "message": sent.id, "tried": sent.tried + 1, "why": why });
        let record =
            NewRecord { kind: "gave_up".to_owned(), schema: 1, payload: payload.to_string() };
        let append = Append {
            stream: StreamId(format!("{PREFIX}{}", sent.topic)),
            expected: Expected::Any,
            at: now,
            records: vec![record],
            outgoing: Vec::new(),
            mark: None,
        };
        self.store.append(append).await?;
        self.note(&sent.topic, |counts| counts.given_up += 1);
        self.store.delivered(&sent.id).await
    }

    fn note(&self, channel: &str, change: impl FnOnce(&mut Counts)) {
        self.book.send_modify(|book| change(book.entry(channel.to_owned()).or_default()));
    }

    fn trouble(&self, channel: &str) -> String {
        let book = self.book.borrow();
        let trouble = book.get(channel).and_then(|counts| counts.trouble.clone());
        trouble.unwrap_or_else(|| "it took too long".to_owned())
    }
}

/// Waits until it should end.
async fn asked(stop: &mut watch::Receiver<Option<Duration>>) {
    // Whoever could ask and is gone wants it to end, too.
    drop(stop.wait_for(Option::is_some).await);
}

/// Sends a message, unless it asks people for a decision that was made meanwhile.
async fn send(sender: &dyn Sender, queue: &Queue, message: &Message, for_people: bool) -> Outcome {
    if for_people && message.moment().is_some_and(Moment::asks) {
        let standing = queue.load(&message.data.request).await.ok().flatten();
        if standing.is_some_and(|standing| standing.state != ApprovalState::Pending) {
            return Outcome::Pointless;
        }
    }
    match sender.send(message).await {
        Ok(()) => Outcome::Arrived,
        Err(fault) => Outcome::Failed(fault),
    }
}

/// A moment so long after another.
fn after(moment: Timestamp, wait: Duration) -> Timestamp {
    let ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Timestamp { unix_ms: moment.unix_ms.saturating_add(ms) }
}

/// How long it is from one moment to another; nothing when that was before.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    let ms = to.unix_ms.saturating_sub(from.unix_ms);
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}
