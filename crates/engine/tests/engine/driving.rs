//! One driver at a time, and what it does when it is stopped or the log refuses.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aurora_engine::driver::{self, Driver, Performed, Signal, Told};
use aurora_engine::machine::{Command, Effect, Phase, State};
use aurora_engine::{Ended, Error, Stop, World};
use aurora_model::{Answer, AttemptEnd, Brief, Choice, QuestionId, Timestamp};
use aurora_store::Store;
use tokio::sync::mpsc;

use crate::faulty::{Faulty, Mishap};
use crate::life::in_a_quiet_place;
use crate::tasks::{brief, run};
use crate::watch::Watched;
use crate::world::{Live, Sim, answer, over};

/// How long an attempt takes here.
const LONG: Duration = Duration::from_secs(60);

/// A world in which all goes well, nobody is there to be asked, and attempts take a minute.
struct Calm {
    sim: Sim,
    /// Whether attempts do not listen when they are told to stop.
    stubborn: bool,
}

impl Calm {
    fn new(store: &Faulty, stubborn: bool) -> Arc<Self> {
        let fate = Arc::clone(store.fate.as_ref().unwrap());
        let sim = Sim::new(0, Arc::clone(&store.watch), fate);
        sim.mild.store(true, Ordering::Relaxed);
        Arc::new(Self { sim, stubborn })
    }

    fn live(&self) -> usize {
        Live::clone(&self.sim.live).lock().unwrap().len()
    }
}

impl World for Calm {
    fn now(&self) -> Timestamp {
        self.sim.now()
    }

    fn perform(&self, effect: &Effect, state: &Arc<State>, mut stop: Stop) -> Performed {
        let stubborn = self.stubborn;
        match effect.clone() {
            Effect::Attempt { task, attempt, desk } => {
                let alive = self.sim.begins(&task, attempt, desk, state);
                Box::pin(async move {
                    let _alive = alive;
                    let end = tokio::select! {
                        biased;
                        () = stop.asked(), if !stubborn => AttemptEnd::Interrupted {},
                        () = tokio::time::sleep(LONG) => {
                            AttemptEnd::Succeeded { summary: String::new() }
                        }
                    };
                    Ok(Some(over(&task, attempt, end, 1)))
                })
            }
            Effect::Judge { task } => Box::pin(async move {
                Ok(Some(Command::Judged {
                    task,
                    decision: Answer::Allow,
                    reasons: Vec::new(),
                    needs_person: false,
                }))
            }),
            Effect::Check { task, attempt, .. } => Box::pin(async move {
                let (decision, reasons, result) = (Answer::Allow, Vec::new(), None);
                let (files, lines) = (1, 1);
                Ok(Some(Command::ChangesJudged {
                    task,
                    attempt,
                    decision,
                    reasons,
                    files,
                    lines,
                    paths: Vec::new(),
                    place: None,
                    result,
                    needs_person: false,
                }))
            }),
            Effect::Adopt { task, attempt, .. } => Box::pin(async move {
                let (checkpoint, changed) = (None, Vec::new());
                Ok(Some(Command::Adopted {
                    task,
                    attempt,
                    checkpoint,
                    changed,
                    noticed: Vec::new(),
                }))
            }),
            Effect::Ask { .. } | Effect::WritePlan | Effect::Settle { .. } => {
                Box::pin(async { Ok(None) })
            }
        }
    }

    fn recorded(&self, told: &Told, state: &Arc<State>) {
        self.sim.recorded(told, state);
    }
}

/// Two tasks at once, nothing asked.
fn two() -> Brief {
    let mut two = brief(2, |_| Vec::new());
    two.settings.yes = true;
    two
}

fn start(brief: Brief) -> Command {
    Command::Start(Box::new(brief))
}

fn driver(store: &Faulty, world: &Arc<Calm>) -> Driver {
    Driver::new(Arc::new(store.clone()), world.clone())
}

fn phase(watch: &Watched) -> Phase {
    watch.lock().unwrap().state.phase
}

type Outcome = aurora_engine::Result<(Ended, Arc<State>)>;

/// Drives on its own, as another process would.
fn spawn(
    driver: Driver,
    first: Command,
) -> (tokio::task::JoinHandle<Outcome>, mpsc::Sender<Signal>) {
    let (sender, mut signals) = mpsc::channel(4);
    let driving = tokio::spawn(async move { driver.drive(&run(), first, &mut signals).await });
    (driving, sender)
}

/// Waits until so many attempts live.
async fn until_live(world: &Calm, count: usize) {
    for _ in 0..100 {
        if world.live() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("{} attempts live, not {count}", world.live());
}

// EXE-5
#[test]
fn exe_5_a_second_driver_of_the_same_run_is_refused_and_the_first_goes_on() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, false);
        let (first, _signals) = spawn(driver(&store, &world), start(two()));
        until_live(&world, 2).await;
        let (second, _) = spawn(driver(&store, &world), Command::Resume);
        let refused = second.await.unwrap();
        assert!(matches!(refused, Err(Error::Store(aurora_store::Error::Held { .. }))));
        assert_eq!(first.await.unwrap().unwrap().0, Ended::Finished);
        // When it let go, another may try; but there is nothing left to do.
        let (third, _) = spawn(driver(&store, &world), Command::Resume);
        assert!(matches!(third.await.unwrap(), Err(Error::Refused(_))));
    });
}

// REV-3
#[test]
fn rev_3_an_answer_from_another_process_wakes_a_driver_that_stays() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, false);
        let asked = brief(1, |_| Vec::new());
        let (driving, _signals) = spawn(driver(&store, &world).staying(true), start(asked));
        tokio::time::sleep(LONG).await;
        assert!(!driving.is_finished());
        let preview = QuestionId::parse("sim.q1").unwrap();
        let now = Timestamp { unix_ms: 1 };
        let proceed = answer(&preview, Choice::Proceed, "bob");
        driver::answer(&store.other_door(), &run(), &proceed, now).await.unwrap();
        let (ended, state) = driving.await.unwrap().unwrap();
        assert_eq!(ended, Ended::Finished);
        assert_eq!(state.questions.get(0).unwrap().answer.as_ref().unwrap().1.by, "bob");
    });
}

// REV-3
#[test]
fn rev_3_where_nobody_is_there_the_question_stands_and_the_driver_lets_go() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, false);
        let (driving, _signals) = spawn(driver(&store, &world), start(brief(1, |_| Vec::new())));
        let (ended, state) = driving.await.unwrap().unwrap();
        assert_eq!((ended, state.open_questions().count()), (Ended::Waiting, 1));
        let nobody = aurora_model::RunId::parse("nobody").unwrap();
        let preview = answer(&QuestionId::parse("q1").unwrap(), Choice::Proceed, "bob");
        let store: Arc<dyn Store> = Arc::new(store);
        let told = driver::answer(&store, &nobody, &preview, Timestamp { unix_ms: 1 }).await;
        assert!(matches!(told, Err(Error::NoRun { .. })));
    });
}

// EXE-5
#[test]
fn exe_5_when_the_disk_is_full_everything_stops_and_the_run_can_be_resumed() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, false);
        let fate = Arc::clone(store.fate.as_ref().unwrap());
        let mut slow = two();
        slow.settings.max_parallel = 1;
        // Start, two judgements; then the end of the first attempt cannot be recorded.
        fate.lock().unwrap().append = Some((3, Mishap::Full));
        let (driving, _signals) = spawn(driver(&store, &world), start(slow));
        let error = driving.await.unwrap().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the disk is full, so that nothing was recorded in /sim/aurora.db"
        );
        assert_eq!((world.live(), phase(&store.watch)), (0, Phase::Open));
        let (again, _signals) = spawn(driver(&store, &world), Command::Resume);
        assert_eq!(again.await.unwrap().unwrap().0, Ended::Finished);
        store.watch.lock().unwrap().ends();
    });
}

// EXE-5
#[test]
fn exe_5_what_still_runs_is_ended_when_the_log_refuses() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        // One that listens, one that does not: both are gone when the driver lets go.
        for stubborn in [false, true] {
            let world = Calm::new(&store, stubborn);
            let first = match phase(&store.watch) {
                Phase::New => start(two()),
                _ => Command::Resume,
            };
            let (driving, signals) = spawn(driver(&store, &world), first);
            until_live(&world, 2).await;
            let fate = Arc::clone(store.fate.as_ref().unwrap());
            fate.lock().unwrap().append = Some((0, Mishap::Broken));
            signals.send(Signal::Interrupt { by: "SIGINT".to_owned() }).await.unwrap();
            assert!(matches!(driving.await.unwrap(), Err(Error::Store(_))));
            assert_eq!((world.live(), phase(&store.watch)), (0, Phase::Open));
        }
    });
}

// EXE-5
#[test]
fn exe_5_an_interrupted_run_tells_what_it_stopped_and_is_resumed() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, false);
        let (driving, signals) = spawn(driver(&store, &world), start(two()));
        until_live(&world, 2).await;
        signals.send(Signal::Interrupt { by: "SIGINT".to_owned() }).await.unwrap();
        let (ended, state) = driving.await.unwrap().unwrap();
        assert_eq!((ended, world.live()), (Ended::Interrupted, 0));
        let ended = |state: &State| state.tasks.iter().all(|task| task.attempts[0].ended.is_some());
        assert!(ended(&state), "what was stopped is told");
        let (again, _signals) = spawn(driver(&store, &world), Command::Resume);
        let (ended, state) = again.await.unwrap().unwrap();
        assert_eq!(ended, Ended::Finished);
        assert!(state.tasks.iter().all(|task| task.attempts.len() == 2 && task.failures == 0));
    });
}

// EXE-5
#[test]
fn exe_5_a_second_signal_kills_what_does_not_listen_and_so_does_time() {
    for kill in [true, false] {
        in_a_quiet_place(async {
            let store = Faulty::new();
            let world = Calm::new(&store, true);
            let (driving, signals) = spawn(driver(&store, &world), start(two()));
            until_live(&world, 2).await;
            let began = tokio::time::Instant::now();
            signals.send(Signal::Interrupt { by: "SIGINT".to_owned() }).await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!((world.live(), driving.is_finished()), (2, false));
            if kill {
                signals.send(Signal::Kill).await.unwrap();
            }
            assert_eq!(driving.await.unwrap().unwrap().0, Ended::Interrupted);
            assert_eq!(world.live(), 0);
            assert!(began.elapsed() < LONG / 2, "nothing waits for what does not listen");
            let world = Calm::new(&store, false);
            let (again, _signals) = spawn(driver(&store, &world), Command::Resume);
            assert_eq!(again.await.unwrap().unwrap().0, Ended::Finished);
        });
    }
}

// EXE-5
#[test]
fn exe_5_a_kill_alone_stops_at_once_and_can_be_resumed() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, true);
        let (driving, signals) = spawn(driver(&store, &world), start(two()));
        until_live(&world, 2).await;
        signals.send(Signal::Kill).await.unwrap();
        let (ended, state) = driving.await.unwrap().unwrap();
        assert_eq!((ended, state.phase, world.live()), (Ended::Interrupted, Phase::Interrupted, 0));
    });
}

// EXE-5
#[test]
fn exe_5_a_run_that_is_given_up_elsewhere_ends_what_is_going_on() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, false);
        let (driving, _signals) = spawn(driver(&store, &world), start(two()));
        until_live(&world, 2).await;
        let now = Timestamp { unix_ms: 1 };
        driver::answer(&store.other_door(), &run(), &Command::Abandon, now).await.unwrap();
        assert_eq!(driving.await.unwrap().unwrap().0, Ended::Finished);
        assert_eq!(world.live(), 0);
    });
}

// EXE-5
#[test]
fn exe_5_a_run_is_not_begun_twice() {
    in_a_quiet_place(async {
        let store = Faulty::new();
        let world = Calm::new(&store, false);
        let (resumed, _) = spawn(driver(&store, &world), Command::Resume);
        assert!(matches!(resumed.await.unwrap(), Err(Error::Refused(_))));
        let (driving, _) = spawn(driver(&store, &world), start(two()));
        assert_eq!(driving.await.unwrap().unwrap().0, Ended::Finished);
        let (again, _) = spawn(driver(&store, &world), start(two()));
        assert!(matches!(again.await.unwrap(), Err(Error::Refused(_))));
        store.watch.lock().unwrap().ends();
    });
}
