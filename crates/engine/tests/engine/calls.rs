//! The calls of parked attempts as the world knows them: reserved, made, recorded, or cut off between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aurora_engine::machine::{Command, Phase, State};
use aurora_model::{
    About, AgentName, ApprovalState, Autonomy, Choice, Cost, Digest, FrozenCall, HowSettled,
    QuestionId, RunOutcome, TaskId, Tier,
};

use crate::chance::Chance;
use crate::faulty::{Fates, crash};
use crate::watch::Watched;

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Somebody is making its call, or was when the power went off.
    Reserved,
    /// It was made, and that is written down.
    Done,
}

/// What became of every call, whatever the run's log says.
#[derive(Default)]
pub struct Calls {
    requests: Mutex<BTreeMap<QuestionId, Reached>>,
    /// The questions under which a call was made.
    made: Mutex<BTreeSet<QuestionId>>,
}

pub type Ledger = Arc<Calls>;

impl Calls {
    /// Makes the call of a question, which must be allowed; each question allows it once.
    fn make(&self, question: &QuestionId, watch: &Watched) {
        let state = watch.lock().unwrap().state.clone();
        let answer = state.question(question).unwrap().answer.clone();
        let allowed = matches!(answer, Some((Choice::Allow | Choice::Retry, _)));
        assert!(allowed, "{question} was not allowed, and its call is made: {answer:?}");
        assert!(self.made.lock().unwrap().insert(question.clone()), "{question} is made twice");
    }

    /// Whatever was made is in the log, or the log says that nobody can tell.
    pub fn agree(&self, watch: &Watched) {
        let watch = watch.lock().unwrap();
        // Of a run that was given up, only the requests tell what became of its calls.
        let given_up = watch.state.phase == Phase::Finished(RunOutcome::Aborted);
        for question in self.made.lock().unwrap().iter() {
            let known = given_up || watch.settled.contains_key(question);
            assert!(known, "{question} was made unnoticed");
        }
        for (question, how) in &watch.settled {
            let answer = &watch.state.question(question).unwrap().answer;
            let said_done = matches!(answer, Some((Choice::Done, _)));
            let made = self.made.lock().unwrap().contains(question);
            assert!(*how != HowSettled::Executed || made || said_done, "{question} was not made");
        }
    }
}

/// Makes a parked call or refuses it, as it was decided. The power can go off between all steps.
pub async fn settle(
    ledger: Ledger,
    watch: Watched,
    fate: Fates,
    (task, question): (TaskId, QuestionId),
    state: Arc<State>,
    (power, millis): (Option<bool>, u64),
) -> Command {
    let asked = state.question(&question).unwrap();
    let settled = |how| {
        let (task, question, result) = (task.clone(), question.clone(), Digest::of_bytes([3; 32]));
        Command::Settled { task, question, how, result }
    };
    let unknown = matches!(asked.question.about, About::Unknown { .. });
    let no = if unknown { HowSettled::Unknown } else { HowSettled::Refused };
    match (&asked.answer, &asked.closed) {
        (Some((Choice::Allow | Choice::Retry, _)), None) => {}
        (Some((Choice::Done, _)), None) => return settled(HowSettled::Executed),
        (None, Some((ApprovalState::TimedOut, _))) => return settled(HowSettled::TimedOut),
        (Some(_), None) | (None, Some(_)) => return settled(no),
        other => panic!("{question} was not decided: {other:?}"),
    }
    let before = ledger.requests.lock().unwrap().get(&question).copied();
    match before {
        Some(Reached::Done) => return settled(HowSettled::Executed),
        Some(Reached::Reserved) => return settled(HowSettled::Unknown),
        None => {}
    }
    ledger.requests.lock().unwrap().insert(question.clone(), Reached::Reserved);
    tokio::time::sleep(Duration::from_millis(millis / 2)).await;
    ledger.make(&question, &watch);
    if power == Some(true) && millis.is_multiple_of(2) {
        // Made, and not written down.
        crash(&fate).await;
    }
    ledger.requests.lock().unwrap().insert(question.clone(), Reached::Done);
    settled(HowSettled::Executed)
}

/// An attempt that parks with some calls.
pub fn parked(task: &TaskId, attempt: u32, calls: u64, chance: &mut Chance) -> Command {
    let calls = (0..calls).map(|number| FrozenCall {
        call: format!("c{number}"),
        agent: AgentName::parse("dev").unwrap(),
        tool: "Bash".to_owned(),
        schema: 1,
        args: serde_json::json!({ "command": format!("push {number}") }),
        targets: Vec::new(),
        policy: Digest::of_bytes([4; 32]),
        title: "push".to_owned(),
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: Vec::new(),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        claimed: None,
        needs_person: chance.one_in(4),
    });
    Command::Parked {
        task: task.clone(),
        attempt,
        context: Digest::of_bytes([5; 32]),
        calls: calls.collect(),
        cost: Cost::default(),
        millis: 1,
        base: None,
    }
}

/// What an attempt that is told to stop says: that it was stopped, or all that was said until then.
pub fn kept(task: &TaskId, attempt: u32, chance: &mut Chance) -> Option<Command> {
    chance.one_in(3).then(|| parked(task, attempt, 0, chance))
}

/// Time is over for a question.
pub fn late(question: &QuestionId) -> Command {
    let (how, reason) = (ApprovalState::TimedOut, "nobody was there".to_owned());
    Command::Closed { question: question.clone(), how, reason }
}
