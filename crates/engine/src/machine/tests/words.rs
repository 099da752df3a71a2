//! Commands, events and effects in short words, so that a table can be read.

use aurora_model::{
    About, Answer, Answerer, ApprovalState, AttemptEnd, Autonomy, Choice, Cost, Digest, Event,
    FrozenCall, Known, Operation, QuestionId, Reason, Route, SkipWhy, Span, Tier, Usd,
};

use super::briefs::{Plan, task};
use crate::machine::{Command, Effect};

/// `start`, `resume`, `interrupt`, `abandon`, `written`, `q1 skip`, `judge a ask`, `a.1 ok`, `check a.1 deny`, `adopt a.1`,
/// `conflict a.1`, `park a.1 x+y!` (`!` needs a person), `settle a q2 executed`, `close q2 timed_out`.
pub fn command(plan: &Plan, text: &str) -> Command {
    let words: Vec<&str> = text.split(' ').collect();
    match words.as_slice() {
        ["start"] => Command::Start(Box::new(plan.brief.clone())),
        ["written"] => Command::PlanWritten { path: "plans/1".to_owned() },
        ["abandon"] => Command::Abandon,
        ["resume"] => Command::Resume,
        ["interrupt"] => Command::Interrupt { by: "SIGINT".to_owned() },
        ["judge", id, decision] => Command::Judged {
            task: task(id),
            decision: answer(decision),
            reasons: reasons(decision),
            needs_person: false,
        },
        ["check", id, decision] => {
            let (id, attempt) = attempt_of(id);
            Command::ChangesJudged {
                task: id,
                attempt,
                decision: answer(decision),
                reasons: reasons(decision),
                files: 3,
                lines: 30,
                paths: vec!["+ new.rs".to_owned(), "~ old.rs".to_owned(), "- gone.rs".to_owned()],
                place: Some("/desks/1".to_owned()),
                result: None,
                needs_person: false,
            }
        }
        ["adopt", id] => {
            let (task, attempt) = attempt_of(id);
            Command::Adopted {
                task,
                attempt,
                checkpoint: None,
                changed: Vec::new(),
                noticed: Vec::new(),
            }
        }
        ["conflict", id] => {
            let (task, attempt) = attempt_of(id);
            let conflicts = vec!["x".to_owned()];
            Command::NotAdopted { task, attempt, error: "conflict in x".to_owned(), conflicts }
        }
        ["park", id] => park(id, ""),
        ["park", id, calls] => park(id, calls),
        ["settle", id, question, how] => Command::Settled {
            task: task(id),
            question: QuestionId::parse(&format!("r.{question}")).unwrap(),
            how: serde_json::from_value(serde_json::Value::from(*how)).unwrap(),
            result: Digest::of_bytes([9; 32]),
        },
        ["close", question, how] => Command::Closed {
            question: QuestionId::parse(&format!("r.{question}")).unwrap(),
            how: ApprovalState::from_name(how).unwrap(),
            reason: "nobody was there".to_owned(),
        },
        [question, choice] if Choice::from_name(choice).is_some() => Command::Answer {
            question: QuestionId::parse(&format!("r.{question}")).unwrap(),
            choice: Choice::from_name(choice).unwrap(),
            answerer: Answerer {
                by: "ann".to_owned(),
                surface: "terminal".to_owned(),
                reason: None,
            },
        },
        [id, end] => {
            let (task, attempt) = attempt_of(id);
            let (cost, millis, transcript, base) = (Cost::default(), 7, None, None);
            let end = end_of(end);
            let noticed = Vec::new();
            Command::AttemptOver { task, attempt, end, cost, millis, transcript, base, noticed }
        }
        _ => panic!("`{text}` says nothing"),
    }
}

/// An attempt that is parked with these calls.
fn park(id: &str, calls: &str) -> Command {
    let (task, attempt) = attempt_of(id);
    let calls = calls.split('+').filter(|call| !call.is_empty());
    Command::Parked {
        task,
        attempt,
        context: Digest::of_bytes([1; 32]),
        calls: calls.map(frozen).collect(),
        cost: Cost { usd: Usd { micros: 10 }, known: Known::Reported, tokens: None, model: None },
        millis: 5,
        base: None,
    }
}

fn frozen(call: &str) -> FrozenCall {
    FrozenCall {
        call: call.trim_end_matches('!').to_owned(),
        agent: super::briefs::agent("dev"),
        tool: "Bash".to_owned(),
        schema: 1,
        args: serde_json::json!({ "command": call }),
        targets: Vec::new(),
        policy: Digest::of_bytes([2; 32]),
        title: format!("run {call}"),
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: Vec::new(),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        claimed: None,
        needs_person: call.ends_with('!'),
    }
}

fn attempt_of(text: &str) -> (aurora_model::TaskId, u32) {
    let (id, attempt) = text.split_once('.').unwrap();
    (task(id), attempt.parse().unwrap())
}

fn end_of(text: &str) -> AttemptEnd {
    match text {
        "ok" => AttemptEnd::Succeeded { summary: "did it".to_owned() },
        "failed" => AttemptEnd::Failed { error: "broken".to_owned() },
        "slow" => AttemptEnd::TimedOut { seconds: 120 },
        "dear" => AttemptEnd::OverBudget { error: "too dear".to_owned() },
        "stopped" => AttemptEnd::Interrupted {},
        _ => panic!("`{text}` is no end"),
    }
}

fn answer(text: &str) -> Answer {
    match text {
        "ask" => Answer::Ask,
        text => Answer::from_name(text).unwrap(),
    }
}

fn reasons(decision: &str) -> Vec<Reason> {
    let answer = answer(decision);
    let reason = Reason {
        answer,
        operation: Operation::None,
        rule: "rules.x".to_owned(),
        message: "it is risky".to_owned(),
        span: Span { start: 0, end: 0 },
        instead: None,
        origin: "built-in defaults".to_owned(),
    };
    if answer == Answer::Allow { Vec::new() } else { vec![reason] }
}

fn short(question: &QuestionId) -> &str {
    question.as_str().strip_prefix("r.").unwrap()
}

fn way(route: &Route) -> String {
    match route {
        Route::Agent { agent } => agent.to_string(),
        Route::AdHoc { agent, role } => format!("{agent} as {role}"),
        Route::Model => "model".to_owned(),
    }
}

pub fn event(event: &Event) -> String {
    match event {
        Event::RunStarted { .. } => "started".to_owned(),
        Event::QuestionAsked { question } => {
            let about = match &question.about {
                About::Preview => "preview".to_owned(),
                About::Operation { task, call } => format!("operation {task} {}", call.call),
                About::Unknown { task, question, .. } => {
                    format!("unknown {task} {}", short(question))
                }
                About::Policy { task, .. } => format!("policy {task}"),
                About::Changes { task, files, lines, .. } => {
                    format!("changes {task} {files} {lines}")
                }
                About::Failure { task, error, dependents } => {
                    format!("failure {task} ({error}) +{dependents}")
                }
            };
            format!("{}? {about}", short(&question.id))
        }
        Event::QuestionAnswered { question, choice, answerer } => {
            format!("{}={} by {}", short(question), choice.name(), answerer.by)
        }
        Event::TaskJudged { task, decision, .. } => format!("{task} judged {}", decision.name()),
        Event::AttemptStarted { task, attempt, route, desk } => {
            format!("{task}.{attempt} by {} at {desk}", way(route))
        }
        Event::AttemptEnded { task, attempt, end, .. } => {
            let end = match end {
                AttemptEnd::Succeeded { .. } => "ok",
                AttemptEnd::Failed { .. } => "failed",
                AttemptEnd::TimedOut { .. } => "slow",
                AttemptEnd::OverBudget { .. } => "dear",
                AttemptEnd::Interrupted {} => "stopped",
            };
            format!("{task}.{attempt} {end}")
        }
        Event::ChangesJudged { task, attempt, decision, .. } => {
            format!("{task}.{attempt} checked {}", decision.name())
        }
        Event::AdoptionFailed { task, attempt, .. } => format!("{task}.{attempt} conflict"),
        Event::TaskCompleted { task, route, .. } => format!("{task} done by {}", way(route)),
        Event::TaskFailed { task, .. } => format!("{task} failed"),
        Event::TaskSkipped { task, why } => match why {
            SkipWhy::Answered { error } => format!("{task} skipped ({error})"),
            SkipWhy::Dependency { on } => format!("{task} skipped for {on}"),
            SkipWhy::Done {} => format!("{task} was done"),
            SkipWhy::Unanswered { how, .. } => format!("{task} skipped ({})", how.name()),
        },
        Event::TaskDenied { task, .. } => format!("{task} denied"),
        Event::PlanWritten { .. } => "written".to_owned(),
        Event::RunInterrupted { by } => format!("stopped by {by}"),
        Event::RunResumed {} => "resumed".to_owned(),
        Event::QuestionClosed { question, how, .. } => {
            format!("{} closed {}", short(question), how.name())
        }
        Event::TaskParked { task, attempt, calls, .. } => {
            format!("{task}.{attempt} parked {}", calls.len())
        }
        Event::CallSettled { task, question, how, .. } => {
            format!("{task} settled {} {how:?}", short(question)).to_lowercase()
        }
        Event::TaskUnparked { task, attempt } => format!("{task}.{attempt} unparked"),
        Event::Noticed { what, .. } => format!("noticed {}", what.join(", ")),
        Event::RunFinished { outcome } => format!("finished {outcome:?}").to_lowercase(),
    }
}

pub fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Ask { question } => format!("ask {}", short(question)),
        Effect::WritePlan => "write".to_owned(),
        Effect::Judge { task } => format!("judge {task}"),
        Effect::Settle { task, question, desk } => {
            format!("settle {task} {} at {desk}", short(question))
        }
        Effect::Attempt { task, attempt, desk } => format!("attempt {task}.{attempt} at {desk}"),
        Effect::Check { task, attempt, desk } => format!("check {task}.{attempt} at {desk}"),
        Effect::Adopt { task, attempt, desk } => format!("adopt {task}.{attempt} at {desk}"),
    }
}
