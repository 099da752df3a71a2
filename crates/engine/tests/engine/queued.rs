//! Questions of runs as requests in the queue, with the real driver and the real log: decided here,
//! elsewhere, by time, while somebody drives the run and while nobody does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aurora_engine::approvals::{Queue, Registrar, Saying, Silence};
use aurora_engine::driver::{self, Driver, Performed, Signal, Told};
use aurora_engine::machine::{Command, Effect, Phase, State};
use aurora_engine::world::asking::Asking;
use aurora_engine::world::{Asker, MaybeAnswer};
use aurora_engine::{Ended, Error, Stop, World};
use aurora_gate::approval::{Command as Say, Refused, Rules, Standing, digest_of};
use aurora_model::{
    Answer, Answerer, ApprovalState, AttemptEnd, Brief, Choice, Decider, DeciderKind, Digest,
    Event, HowSettled, Question, QuestionId, RunOutcome, Surface, TaskId, Timestamp,
};
use aurora_store::{Settings, SqliteStore, Store};
use tokio::sync::mpsc;

use crate::calls;
use crate::chance::Chance;
use crate::tasks::{brief, run};
use crate::world::over;

/// Whatever takes longer does not happen.
const TOO_LONG: Duration = Duration::from_secs(60);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap() }
}

fn tomorrow() -> Timestamp {
    Timestamp { unix_ms: now().unix_ms + DAY_MS }
}

/// Whoever sits at the terminal: says nothing, or one answer, and hears what they are told.
#[derive(Default)]
struct Sitting {
    /// What they answer, one after the other; then they wait.
    answers: Mutex<Vec<Choice>>,
    /// Whether nobody sits there at all.
    empty: bool,
    heard: Mutex<Vec<String>>,
}

impl Sitting {
    /// Waits until something is so.
    async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            while !is_so(self) {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(TOO_LONG, waiting).await.expect("it never is so");
    }
}

impl Asker for Sitting {
    fn ask(&self, _: &Question, _: &Arc<State>, mut stop: Stop) -> MaybeAnswer {
        let answer = self.answers.lock().unwrap().pop();
        let empty = self.empty;
        Box::pin(async move {
            if answer.is_none() && !empty {
                stop.asked().await;
            }
            let (by, surface) = ("me".to_owned(), "terminal".to_owned());
            answer.map(|choice| (choice, Answerer { by, surface, reason: None }))
        })
    }

    fn told_elsewhere(&self, question: &Question, text: &str) {
        self.heard.lock().unwrap().push(format!("{}: {text}", question.id));
    }
}

/// A world in which all goes well, and the first attempt parks with some calls.
struct Queued {
    registrar: Arc<Registrar>,
    asking: Arc<Asking>,
    calls: u64,
    /// The calls that were made.
    made: Arc<Mutex<Vec<QuestionId>>>,
}

impl World for Queued {
    fn now(&self) -> Timestamp {
        now()
    }

    fn registrar(&self) -> Option<Arc<Registrar>> {
        Some(Arc::clone(&self.registrar))
    }

    fn perform(&self, effect: &Effect, state: &Arc<State>, stop: Stop) -> Performed {
        let state = Arc::clone(state);
        match effect.clone() {
            Effect::Ask { question } => {
                let asking = Arc::clone(&self.asking);
                Box::pin(async move { asking.ask(question, state, stop).await })
            }
            Effect::Settle { task, question, .. } => {
                let (registrar, made) = (Arc::clone(&self.registrar), Arc::clone(&self.made));
                Box::pin(async move { settle(&registrar, &state, task, question, &made).await })
            }
            effect => {
                let told = self.outcome(&effect, &state);
                Box::pin(async move { Ok(told) })
            }
        }
    }

    fn recorded(&self, _: &Told, _: &Arc<State>) {}
}

impl Queued {
    fn outcome(&self, effect: &Effect, state: &State) -> Option<Command> {
        let mut chance = Chance::new(3);
        match effect.clone() {
            Effect::Judge { task } => Some(Command::Judged {
                task,
                decision: Answer::Allow,
                reasons: Vec::new(),
                needs_person: false,
            }),
            Effect::Attempt { task, attempt, .. } => {
                let parked = state.task(&task).unwrap().conversation.is_some();
                if parked || self.calls == 0 {
                    let end = AttemptEnd::Succeeded { summary: String::new() };
                    return Some(over(&task, attempt, end, 1));
                }
                Some(calls::parked(&task, attempt, self.calls, &mut chance))
            }
            Effect::Check { task, attempt, .. } => Some(Command::ChangesJudged {
                task,
                attempt,
                decision: Answer::Allow,
                reasons: Vec::new(),
                files: 0,
                lines: 0,
                paths: Vec::new(),
                place: None,
                result: None,
                needs_person: false,
            }),
            Effect::Adopt { task, attempt, .. } => Some(Command::Adopted {
                task,
                attempt,
                checkpoint: None,
                changed: Vec::new(),
                noticed: Vec::new(),
            }),
            Effect::Ask { .. } | Effect::Settle { .. } | Effect::WritePlan => None,
        }
    }
}

/// Makes a call that was approved, under its reservation; refuses every other.
async fn settle(
    registrar: &Registrar,
    state: &State,
    task: TaskId,
    question: QuestionId,
    made: &Mutex<Vec<QuestionId>>,
) -> aurora_engine::Result<Option<Command>> {
    let queue = &registrar.queue;
    let how = match queue.load(&question).await?.unwrap().state {
        ApprovalState::Approved => {
            let subject = registrar.subject(&state.question(&question).unwrap().question, state);
            let (executor, digest) = ("test".to_owned(), digest_of(&subject));
            queue.tell(&question, &Say::Reserve { executor: executor.clone(), digest }).await?;
            made.lock().unwrap().push(question.clone());
            let (result, summary) = (None, String::new());
            queue.tell(&question, &Say::Executed { executor, result, summary }).await?;
            HowSettled::Executed
        }
        ApprovalState::TimedOut => HowSettled::TimedOut,
        _ => HowSettled::Refused,
    };
    let result = Digest::of_bytes([8; 32]);
    Ok(Some(Command::Settled { task, question, how, result }))
}

/// A log on a disk, a world, and whoever sits there.
struct Place {
    folder: tempfile::TempDir,
    store: Arc<dyn Store>,
    sitting: Arc<Sitting>,
    world: Arc<Queued>,
}

fn open(folder: &tempfile::TempDir) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(Settings::within(folder.path())).unwrap())
}

impl Place {
    fn new(rules: &str, calls: u64, sitting: Sitting) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let queue = Queue::new(Arc::clone(&store), Arc::new(Silence), now);
        let layer = ("approvals.yaml".to_owned(), rules.to_owned());
        let rules = Arc::new(Rules::read(&[layer]).unwrap());
        let policy = Digest::of_bytes([6; 32]);
        let sitting = Arc::new(sitting);
        let person = Decider {
            name: "me".to_owned(),
            kind: DeciderKind::Person,
            roles: rules.roles_of("me"),
            surface: Surface::Terminal,
        };
        let asking = Arc::new(Asking {
            asker: sitting.clone(),
            queue: Some(queue.clone()),
            person: Some(person),
            policy: policy.clone(),
        });
        let registrar = Arc::new(Registrar { queue, rules, policy, project: "/w".to_owned() });
        let made = Arc::default();
        let world = Arc::new(Queued { registrar, asking, calls, made });
        Self { folder, store, sitting, world }
    }

    fn drive(&self, first: Command, stays: bool) -> (Driving, mpsc::Sender<Signal>) {
        let driver = Driver::new(Arc::clone(&self.store), self.world.clone()).staying(stays);
        let (sender, mut signals) = mpsc::channel(4);
        let driving = tokio::spawn(async move { driver.drive(&run(), first, &mut signals).await });
        (driving, sender)
    }

    /// The queue as another process sees it.
    fn elsewhere(&self, now: fn() -> Timestamp) -> Queue {
        Queue::new(open(&self.folder), Arc::new(Silence), now)
    }

    async fn events(&self) -> Vec<Event> {
        let (told, _) = driver::load(&self.store, &run()).await.unwrap();
        told.into_iter().map(|told| told.event).collect()
    }

    fn made(&self) -> usize {
        self.world.made.lock().unwrap().len()
    }
}

type Driving = tokio::task::JoinHandle<aurora_engine::Result<(Ended, Arc<State>)>>;

async fn ended(driving: Driving) -> (Ended, Arc<State>) {
    tokio::time::timeout(TOO_LONG, driving).await.expect("it goes on for ever").unwrap().unwrap()
}

fn id(number: u32) -> QuestionId {
    QuestionId::parse(&format!("sim.q{number}")).unwrap()
}

/// Waits until a request is there.
async fn asked(queue: &Queue, id: &QuestionId) -> Standing {
    let mut news = queue.store().subscribe();
    let there = async {
        loop {
            let seen = news.position();
            if let Some(standing) = queue.load(id).await.unwrap() {
                return standing;
            }
            assert!(news.past(seen).await, "the log is gone");
        }
    };
    tokio::time::timeout(TOO_LONG, there).await.expect("it is never asked")
}

async fn saying(queue: &Queue, id: &QuestionId, choice: Choice, who: &str) -> Saying {
    let standing = asked(queue, id).await;
    Saying {
        choice,
        by: Decider {
            name: who.to_owned(),
            kind: DeciderKind::Person,
            roles: Vec::new(),
            surface: Surface::Http,
        },
        seen: standing.request.digest,
        policy: standing.request.subject.policy,
        reason: Some("because".to_owned()),
    }
}

async fn say(queue: &Queue, id: &QuestionId, choice: Choice, who: &str) {
    let saying = saying(queue, id, choice, who).await;
    queue.decide(id, &saying).await.unwrap();
}

fn one_task() -> Brief {
    brief(1, |_| Vec::new())
}

fn start() -> Command {
    Command::Start(Box::new(one_task()))
}

fn really<T>(story: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(story)
}

fn settled(events: &[Event]) -> Vec<HowSettled> {
    let how = |event: &Event| match event {
        Event::CallSettled { how, .. } => Some(*how),
        _ => None,
    };
    events.iter().filter_map(how).collect()
}

// APR-1
#[test]
fn apr_1_a_driven_run_takes_decisions_from_elsewhere_and_makes_each_allowed_call_once() {
    really(async {
        // Somebody sits there and says nothing; or nobody does, and the driver stays.
        for empty in [false, true] {
            let place = Place::new("", 2, Sitting { empty, ..Sitting::default() });
            let (driving, _signals) = place.drive(start(), true);
            let queue = place.elsewhere(now);
            say(&queue, &id(1), Choice::Proceed, "bob").await;
            say(&queue, &id(3), Choice::Deny, "bob").await;
            say(&queue, &id(2), Choice::Allow, "eve").await;
            let (how, state) = ended(driving).await;
            assert_eq!(
                (how, state.phase),
                (Ended::Finished, Phase::Finished(RunOutcome::Completed))
            );
            assert_eq!(*place.world.made.lock().unwrap(), [id(2)]);
            assert_eq!(queue.load(&id(2)).await.unwrap().unwrap().state, ApprovalState::Executed);
            let (choice, by) = state.question(&id(3)).unwrap().answer.clone().unwrap();
            assert_eq!(
                (choice, by.by.as_str(), by.surface.as_str()),
                (Choice::Deny, "bob", "http")
            );
            let heard = place.sitting.heard.lock().unwrap().clone();
            // Who was not asked yet hears nothing of it, and where nobody sits nobody hears anything.
            let said = heard.iter().filter(|one| one.starts_with("sim.q2: approved"));
            let due = "sim.q2: approved (allow) by eve (http): because";
            assert!(said.clone().all(|one| one == due), "{heard:?}");
            assert!(!empty || said.count() == 0, "{heard:?}");
        }
    });
}

// APR-1
#[test]
fn apr_1_whoever_sits_there_decides_through_the_queue_and_is_told_when_that_is_not_enough() {
    really(async {
        let two = "people: {me: {}, bob: {}, eve: {}}\napprovers:\n  - {when: {gate: preview}, who: [me, bob, eve], quorum: 2}\n";
        let sitting = Sitting { answers: Mutex::new(vec![Choice::Proceed]), ..Sitting::default() };
        let place = Place::new(two, 0, sitting);
        let (driving, _signals) = place.drive(start(), false);
        let queue = place.elsewhere(now);
        let standing = asked(&queue, &id(1)).await;
        assert_eq!(standing.request.ruling.quorum, 2);
        say(&queue, &id(1), Choice::Proceed, "bob").await;
        assert_eq!(ended(driving).await.0, Ended::Finished);
        let decided = queue.load(&id(1)).await.unwrap().unwrap();
        let mut who: Vec<String> = decided.votes.iter().map(|vote| vote.by.name.clone()).collect();
        who.extend(decided.decision.map(|decision| decision.by.name));
        who.sort();
        assert_eq!(who, ["bob", "me"], "both had to say yes");
        // Somebody who may not decide is told so, and it stays open.
        let others = "people: {bob: {}}\napprovers:\n  - {when: {gate: preview}, who: bob}\n";
        let sitting = Sitting { answers: Mutex::new(vec![Choice::Proceed]), ..Sitting::default() };
        let place = Place::new(others, 0, sitting);
        let (driving, _signals) = place.drive(start(), false);
        let queue = place.elsewhere(now);
        place.sitting.until(|it| !it.heard.lock().unwrap().is_empty()).await;
        say(&queue, &id(1), Choice::Proceed, "bob").await;
        assert_eq!(ended(driving).await.0, Ended::Finished);
        let decided = queue.load(&id(1)).await.unwrap().unwrap();
        assert_eq!(decided.decision.unwrap().by.name, "bob");
    });
}

// APR-1, APR-6
#[test]
fn apr_6_time_closes_the_questions_of_a_driven_run_and_nothing_is_made() {
    really(async {
        let place =
            Place::new("timeouts:\n  - {policy: deny, timeout: 4h}\n", 1, Sitting::default());
        let (driving, _signals) = place.drive(start(), true);
        let queue = place.elsewhere(now);
        say(&queue, &id(1), Choice::Proceed, "bob").await;
        asked(&queue, &id(2)).await;
        let late = place.elsewhere(tomorrow);
        late.tell(&id(2), &Say::Wake).await.unwrap();
        assert_eq!(ended(driving).await.0, Ended::Finished);
        let events = place.events().await;
        let closed = |event: &&Event| {
            matches!(event, Event::QuestionClosed { how: ApprovalState::TimedOut, .. })
        };
        assert_eq!(events.iter().filter(closed).count(), 1);
        assert_eq!((settled(&events), place.made()), (vec![HowSettled::TimedOut], 0));
        let saying = saying(&queue, &id(2), Choice::Allow, "bob").await;
        let refused = queue.decide(&id(2), &saying).await;
        let late = matches!(refused, Err(Error::Request { refused: Refused::Closed { .. }, .. }));
        assert!(late, "a timeout is final");
    });
}

// APR-1, EXE-5
#[test]
fn apr_1_what_is_decided_while_nobody_drives_is_carried_over_at_once_or_on_resuming() {
    really(async {
        for carried in [true, false] {
            let place = Place::new("", 2, Sitting { empty: true, ..Sitting::default() });
            let (driving, _signals) = place.drive(start(), false);
            assert_eq!(ended(driving).await.0, Ended::Waiting);
            let queue = place.elsewhere(now);
            let proceed = saying(&queue, &id(1), Choice::Proceed, "bob").await;
            if carried {
                driver::decide(&queue, &id(1), &proceed).await.unwrap();
            } else {
                // The power goes off between the decision and the telling of it.
                queue.decide(&id(1), &proceed).await.unwrap();
            }
            let answered = |event: &Event| matches!(event, Event::QuestionAnswered { .. });
            assert_eq!(place.events().await.iter().any(answered), carried);
            let (driving, _signals) = place.drive(Command::Resume, false);
            assert_eq!(ended(driving).await.0, Ended::Waiting);
            for (number, choice) in [(2, Choice::Allow), (3, Choice::Allow)] {
                let saying = saying(&queue, &id(number), choice, "bob").await;
                queue.decide(&id(number), &saying).await.unwrap();
            }
            let (driving, _signals) = place.drive(Command::Resume, false);
            assert_eq!(ended(driving).await.0, Ended::Finished);
            let events = place.events().await;
            assert_eq!((settled(&events).len(), place.made()), (2, 2));
            // Telling it again changes nothing.
            let standing = queue.load(&id(2)).await.unwrap().unwrap();
            assert!(!driver::carry_over(&queue, &standing).await.unwrap());
            assert_eq!(place.events().await, events);
        }
    });
}

// APR-1, REV-3
#[test]
fn rev_3_a_flag_answers_in_the_same_moment_in_which_it_is_asked_and_is_recorded_as_such() {
    really(async {
        let lead = "people: {bob: {roles: [lead]}}\napprovers:\n  - {when: {gate: operation}, who: role:lead}\n";
        let place = Place::new(lead, 1, Sitting { empty: true, ..Sitting::default() });
        let mut yes = one_task();
        yes.settings.yes = true;
        yes.settings.people_only = vec![aurora_model::GateKind::Failure];
        let (driving, _signals) = place.drive(Command::Start(Box::new(yes)), false);
        let (how, state) = ended(driving).await;
        let queue = place.elsewhere(now);
        let preview = queue.load(&id(1)).await.unwrap().unwrap();
        let by = preview.decision.unwrap().by;
        assert_eq!((by.name.as_str(), by.kind), ("--yes", DeciderKind::Rule));
        assert_eq!((by.surface, preview.records), (Surface::Flag, 2));
        // A call that a person must allow waits for them, whatever was said before: whoever froze it
        // said that anybody may, and the rules name somebody.
        let call = queue.load(&id(2)).await.unwrap().unwrap();
        let needs = state.question(&id(2)).unwrap().question.needs_person;
        let (waits, flag) = (call.state == ApprovalState::Pending, how == Ended::Waiting);
        assert!(needs && waits && flag, "{how:?} {call:?}");
        assert_eq!(call.request.ruling.deciders, [aurora_model::Who::Role("lead".to_owned())]);
        assert_eq!(call.request.parked, Some(Digest::of_bytes([5; 32])));
    });
}

// APR-1
#[test]
fn apr_1_what_a_run_leaves_open_when_it_is_over_is_cancelled() {
    really(async {
        let place = Place::new("", 2, Sitting { empty: true, ..Sitting::default() });
        let (driving, _signals) = place.drive(start(), true);
        let queue = place.elsewhere(now);
        say(&queue, &id(1), Choice::Proceed, "bob").await;
        asked(&queue, &id(3)).await;
        driver::answer(&place.store, &run(), &Command::Abandon, now()).await.unwrap();
        assert_eq!(ended(driving).await.0, Ended::Finished);
        for number in [2, 3] {
            let left = queue.load(&id(number)).await.unwrap().unwrap();
            assert_eq!(left.state, ApprovalState::Cancelled);
        }
        assert_eq!(place.made(), 0);
    });
}

// APR-1
#[test]
fn apr_1_an_answer_that_is_told_to_the_run_alone_counts_in_the_queue_or_not_at_all() {
    really(async {
        let two = "people: {bob: {}, eve: {}}\napprovers:\n  - {when: {gate: preview}, who: [bob, eve], quorum: 2}\n";
        let answer = |who: &str| crate::world::answer(&id(1), Choice::Proceed, who);
        let place = Place::new(two, 0, Sitting { empty: true, ..Sitting::default() });
        ended(place.drive(start(), false).0).await;
        let told = driver::answer(&place.store, &run(), &answer("bob"), now()).await;
        assert!(matches!(told, Err(Error::Request { .. })), "two must say yes");
        let queue = place.elsewhere(now);
        assert_eq!(queue.load(&id(1)).await.unwrap().unwrap().state, ApprovalState::Pending);
        let place = Place::new("", 0, Sitting { empty: true, ..Sitting::default() });
        ended(place.drive(start(), false).0).await;
        driver::answer(&place.store, &run(), &answer("bob"), now()).await.unwrap();
        let queue = place.elsewhere(now);
        let decided = queue.load(&id(1)).await.unwrap().unwrap();
        assert_eq!(decided.decision.unwrap().by.name, "bob");
    });
}
