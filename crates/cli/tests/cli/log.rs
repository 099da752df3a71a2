//! A log with something in it, written by the same code that runs write it with.

use std::future::Future;
use std::sync::Arc;

use aurora_engine::budget::{Budget, Limits, OnLimit, Reservation};
use aurora_engine::driver::Journal;
use aurora_engine::machine::Command;
use aurora_model::run::Place;
use aurora_model::{
    AgentName, Answer, Answerer, Assignment, Brief, Choice, Cost, Known, Operation, Planned,
    QuestionId, Reason, RunId, RunSettings, Span, Task, TaskId, Timestamp, Tokens, Usd,
};
use aurora_store::{Settings, SqliteStore, Store};

use crate::harness::World;

/// 2026-11-18, 00:00 UTC.
pub const NOW: Timestamp = Timestamp { unix_ms: 1_794_960_000_000 };

/// The log of a world's repository, made where there is none.
pub fn store(world: &World) -> Arc<dyn Store> {
    let folder = world.path("repo/.aurora");
    Arc::new(SqliteStore::open(Settings::within(&folder)).unwrap())
}

/// Waits.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

pub fn run_id(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

/// A run of two tasks that asks whether it may begin.
pub fn begin(store: &Arc<dyn Store>, name: &str) {
    let task = |id: &str, title: &str, depends_on: &[&str]| Planned {
        task: Task {
            id: TaskId::parse(id).unwrap(),
            title: title.to_owned(),
            details: String::new(),
            agent: None,
            depends_on: depends_on.iter().map(|id| TaskId::parse(id).unwrap()).collect(),
            scope: Default::default(),
            done: false,
        },
        assignment: Assignment::Agent { agent: AgentName::parse("coder").unwrap() },
        apart_from: Vec::new(),
    };
    let brief = Brief {
        run: run_id(name),
        kind: Default::default(),
        goal: "tidy up".to_owned(),
        plan: None,
        source: None,
        tasks: vec![task("sg-1", "drop the old table", &[]), task("sg-2", "say so", &["sg-1"])],
        place: Place { feature: name.to_owned(), path: "/w".to_owned(), branch: None },
        policy: None,
        settings: RunSettings {
            max_parallel: 1,
            timeout_seconds: 1,
            max_attempts: 1,
            model: false,
            fallback: false,
            checkpoints: false,
            yes: false,
            people_only: Vec::new(),
            ungated: false,
        },
    };
    tell(store, name, &Command::Start(Box::new(brief)));
}

/// Answers the preview, and lets the gate ask about the first task.
pub fn ask_about_policy(store: &Arc<dyn Store>, name: &str) {
    let question = QuestionId::parse(&format!("{name}.q1")).unwrap();
    let answerer = Answerer { by: "ada".to_owned(), surface: "terminal".to_owned(), reason: None };
    tell(store, name, &Command::Answer { question, choice: Choice::Proceed, answerer });
    let reason = Reason {
        answer: Answer::Ask,
        operation: Operation::DropTable,
        rule: "destructive.drop_table".to_owned(),
        message: "the task speaks of dropping a table".to_owned(),
        span: Span { start: 0, end: 4 },
        instead: Some("rename it first".to_owned()),
        origin: "built-in defaults".to_owned(),
    };
    let task = TaskId::parse("sg-1").unwrap();
    let (decision, reasons) = (Answer::Ask, vec![reason]);
    tell(store, name, &Command::Judged { task, decision, reasons, needs_person: false });
}

fn tell(store: &Arc<dyn Store>, name: &str, command: &Command) {
    wait(async {
        let mut journal = Journal::open(Arc::clone(store), &run_id(name)).await.unwrap();
        journal.tell(command, NOW).await.unwrap();
    });
}

/// What is told about a call's end.
pub enum End {
    Reported(f64),
    Unknown,
    Open,
    NotMade,
}

/// Makes a call.
pub fn call(store: &Arc<dyn Store>, at: Timestamp, id: &str, agent: &str, estimate: f64, end: End) {
    let limits =
        Limits { monthly: Usd::from_dollars(1e6), warn_at_percent: 80, on_limit: OnLimit::Reject };
    let budget = Budget::new(Arc::clone(store), limits, move || at);
    let reservation = Reservation {
        id: id.to_owned(),
        run: run_id(id.split('/').next().unwrap()),
        task: id.split('/').nth(1).and_then(TaskId::parse),
        agent: agent.to_owned(),
        estimate: Cost {
            usd: Usd::from_dollars(estimate),
            known: Known::Estimated,
            tokens: None,
            model: Some("m-1".to_owned()),
        },
    };
    wait(async {
        budget.reserve(&reservation).await.unwrap();
        match end {
            End::Reported(amount) => {
                let cost = Cost {
                    usd: Usd::from_dollars(amount),
                    known: Known::Reported,
                    tokens: Some(Tokens { input: 1200, output: 340 }),
                    model: Some("m-1".to_owned()),
                };
                budget.settle(id, &cost).await.unwrap();
            }
            End::Unknown => {
                budget.settle(id, &Cost::default()).await.unwrap();
            }
            End::NotMade => budget.release(id, "the agent could not be started").await.unwrap(),
            End::Open => {}
        }
    });
}
