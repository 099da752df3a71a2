//! Watches the log: after every append, whatever must always hold is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use aurora_engine::machine::{Phase, State, TaskState, TaskStatus, apply, owed};
use aurora_model::{About, Choice, Event, HowSettled, QuestionId, TaskId};

/// The log as it stands, and the state after each append.
#[derive(Default)]
pub struct Watch {
    pub log: Vec<Event>,
    pub state: State,
    states: BTreeMap<u64, Arc<State>>,
    completed: BTreeSet<TaskId>,
    answered: BTreeSet<QuestionId>,
    /// What came of each call, by the question that counted.
    pub settled: BTreeMap<QuestionId, HowSettled>,
    pub appends: u64,
}

pub type Watched = Arc<Mutex<Watch>>;

impl Watch {
    /// What was appended to the log, as it can be read there.
    pub fn appended(&mut self, payloads: &[String]) {
        self.appends += 1;
        assert!(!matches!(self.state.phase, Phase::Finished(_)), "finished is final");
        for payload in payloads {
            let event: Event = serde_json::from_str(payload).unwrap();
            self.follows(&event);
            apply(&mut self.state, &event);
            self.log.push(event);
        }
        self.holds();
        self.states.insert(self.state.version, Arc::new(self.state.clone()));
    }

    /// The state that the log told when it had so many records.
    pub fn state_at(&self, version: u64) -> Arc<State> {
        let state = self.states.get(&version).expect("only whole appends are seen");
        Arc::clone(state)
    }

    /// Whether an event may come now.
    fn follows(&mut self, event: &Event) {
        let state = &self.state;
        match event {
            Event::TaskCompleted { task, .. } => {
                assert!(self.completed.insert(task.clone()), "{task} is completed twice");
            }
            Event::QuestionAnswered { question, .. } => {
                assert!(state.question(question).is_some(), "{question} was never asked");
                assert!(self.answered.insert(question.clone()), "{question} is answered twice");
            }
            Event::QuestionClosed { question, .. } => {
                assert!(state.question(question).is_some(), "{question} was never asked");
                assert!(self.answered.insert(question.clone()), "{question} is closed twice");
            }
            Event::CallSettled { question, how, .. } => {
                assert!(self.answered.contains(question), "{question} was not decided");
                let before = self.settled.insert(question.clone(), *how);
                assert_eq!(before, None, "{question} is settled twice");
                let answer = &state.question(question).unwrap().answer;
                let yes = |choice| matches!(choice, Choice::Allow | Choice::Retry | Choice::Done);
                let allowed = answer.as_ref().is_some_and(|(choice, _)| yes(*choice));
                assert!(*how != HowSettled::Executed || allowed, "{question} was not allowed");
            }
            Event::TaskUnparked { task, .. } => {
                let calls = &state.task(task).unwrap().conversation.as_ref().unwrap().calls;
                assert!(
                    calls.iter().all(|call| call.settled.is_some()),
                    "{task} goes on too early"
                );
            }
            Event::QuestionAsked { question } => {
                assert!(state.question(&question.id).is_none(), "a name is used twice");
                if let About::Failure { .. } = question.about {
                    assert!(!state.tasks.iter().any(TaskState::is_busy), "asked while it runs");
                    let another =
                        |one: &aurora_model::Question| matches!(one.about, About::Failure { .. });
                    assert!(!state.open_questions().any(another), "two failures are asked");
                }
            }
            Event::AttemptStarted { task, attempt, .. } => {
                let one = state.task(task).unwrap();
                assert_eq!(one.status, TaskStatus::Cleared, "{task} may not begin");
                assert!(state.is_ready(one), "{task} begins before what it waits for is done");
                assert!(one.attempts.iter().all(|one| one.ended.is_some()), "{task} is alive");
                assert_eq!(one.attempts.len() as u64 + 1, u64::from(*attempt));
                let new = one.attempts.is_empty();
                assert!(!new || !state.has_failure(), "{task} is begun after a failure");
                let apart = |a: &TaskState, b: &TaskState| a.planned.apart_from.contains(b.id());
                for other in state.tasks.iter().filter(|other| other.desk().is_some()) {
                    assert!(!apart(one, other) && !apart(other, one), "{task} runs beside another");
                }
            }
            _ => {}
        }
    }

    /// Whether the state is sound.
    fn holds(&self) {
        let state = &self.state;
        if state.phase == Phase::Open {
            assert!(!owed(state).is_empty(), "stuck: {state:#?}");
        }
        let attempting = state.tasks.iter().filter(|task| {
            task.attempts.iter().any(|attempt| attempt.ended.is_none()) && task.is_busy()
        });
        let most = state.brief.as_ref().unwrap().settings.max_parallel.max(1);
        assert!(attempting.count() as u64 <= u64::from(most), "too many at once");
        let mut desks: Vec<u32> = state.tasks.iter().filter_map(TaskState::desk).collect();
        desks.sort_unstable();
        assert!(desks.windows(2).all(|two| two[0] != two[1]), "a desk is shared");
        for asked in state.questions.iter() {
            assert_eq!(asked.is_open(), !self.answered.contains(&asked.question.id));
        }
        self.nothing_waits_for_nothing();
    }

    /// Where there is room, whatever may go on does: who is parked keeps nobody waiting.
    fn nothing_waits_for_nothing(&self) {
        let state = &self.state;
        let busy = state.tasks.iter().filter(|task| task.is_busy()).count();
        let held_up = state.is_previewing() || state.has_failure() || state.is_plan_only();
        if state.phase != Phase::Open || held_up || busy >= state.most_at_once() {
            return;
        }
        let at_desks = || state.tasks.iter().filter(|task| task.desk().is_some());
        let apart = |a: &TaskState, b: &TaskState| a.planned.apart_from.contains(b.id());
        for task in state.tasks.iter() {
            let done = |one: &aurora_engine::machine::Conversation| {
                one.calls.iter().all(|call| call.settled.is_some())
            };
            let waits = match task.status {
                TaskStatus::Parked { .. } => task.conversation.as_deref().is_some_and(done),
                TaskStatus::Cleared => {
                    state.is_ready(task)
                        && state.next_route(task).is_some()
                        && !at_desks().any(|other| apart(task, other) || apart(other, task))
                }
                _ => false,
            };
            assert!(!waits, "{} could go on: {state:#?}", task.id());
        }
    }

    /// How often an attempt had gone on after it was parked, when the log had so many records.
    pub fn parts(&self, task: &TaskId, attempt: u32, version: u64) -> usize {
        let until = usize::try_from(version).unwrap();
        let goes_on = |event: &&Event| {
            matches!(event, Event::TaskUnparked { task: one, attempt: number }
                if one == task && *number == attempt)
        };
        self.log[..until].iter().filter(goes_on).count()
    }

    /// Whether the end of the run is right, and the log is enough to know it.
    pub fn ends(&self) {
        let Phase::Finished(outcome) = self.state.phase else { panic!("the run has not ended") };
        assert_eq!(State::of(&self.log), self.state, "a replay gives another state");
        assert_eq!(self.log.len() as u64, self.state.version);
        let plan_only = self.state.is_plan_only();
        if outcome != aurora_model::RunOutcome::Aborted && !plan_only {
            assert!(self.state.tasks.iter().all(TaskState::is_over), "something is left");
            assert_eq!(self.state.open_questions().count(), 0, "a question is left");
        }
    }
}
