//! AGT-2: Claude Code's control protocol, played over pipes: it asks about every call, and waits.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::*;
use crate::agent::{Made, Permission, Wish};
use crate::contract::process::{Act, played};

/// Answers when it is told to: allows, and denies what speaks of `no`.
struct Slow {
    answers: Semaphore,
    notes: Mutex<Vec<String>>,
}

impl Slow {
    fn new(answers: usize) -> Self {
        Self { answers: Semaphore::new(answers), notes: Mutex::default() }
    }

    fn note(&self, note: String) {
        self.notes.lock().unwrap().push(note);
    }
}

/// Notes when a question is taken back.
struct Question<'a>(&'a Slow, String);

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.0.note(format!("over {}", self.1));
    }
}

impl Listener for Slow {
    fn hear(&self, heard: Heard) {
        match heard {
            Heard::Said(text) => self.note(format!("says {text}")),
            Heard::Complained(text) => self.note(format!("complains {text}")),
            _ => {}
        }
    }

    fn may<'a>(&'a self, wish: Wish) -> Pin<Box<dyn Future<Output = Permission> + Send + 'a>> {
        self.note(format!("asked {} {}", wish.call, wish.tool));
        let question = Question(self, wish.call.clone());
        Box::pin(async move {
            let _question = question;
            self.answers.acquire().await.unwrap().forget();
            if wish.args.to_string().contains("no") {
                return Permission::Deny { message: "not today".to_owned(), interrupt: false };
            }
            Permission::Allow { args: wish.args }
        })
    }

    fn made(&self, made: Made) {
        self.note(format!("made {} {}", made.call, if made.failed { "badly" } else { "well" }));
    }
}

fn out(value: Value) -> Act {
    Act::Out(format!("{value}\n").into_bytes())
}

fn wish(request: &str, call: &str, command: &str) -> Act {
    out(json!({"type": "control_request", "request_id": request, "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command},
        "tool_use_id": call,
    }}))
}

fn result_of(call: &str, is_error: bool) -> Act {
    out(json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call, "content": "x", "is_error": is_error},
    ]}}))
}

fn ended() -> Act {
    out(json!({"type": "result", "subtype": "success", "is_error": false, "result": "done",
        "total_cost_usd": 0.01}))
}

fn job() -> Job {
    Job {
        name: "run/t/1".to_owned(),
        prompt: "go\n\"on\"".to_owned(),
        title: "go".to_owned(),
        task: "t".to_owned(),
        attempt: 1,
        role: None,
        cwd: "/".to_owned(),
        timeout_seconds: 10,
    }
}

/// What came of it, what the process heard, and what the listener noted.
fn play(acts: Vec<Act>, ends: Ended, slow: &Slow) -> (Report, Vec<Value>, Vec<String>) {
    let played = played(acts, ends);
    let agent = agent(Output::ClaudeControl);
    let job = job();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (report, heard) = runtime.block_on(async {
        let working =
            async { tokio::join!(agent.attend(&job, Some(played.pipes), slow), played.acting) };
        tokio::time::timeout(Duration::from_secs(20), working).await.unwrap()
    });
    let heard = String::from_utf8(heard).unwrap();
    let heard = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (report.unwrap(), heard, slow.notes.lock().unwrap().clone())
}

/// AGT-2: it asks about a call, waits for the answer, and goes on as it is told.
#[test]
fn every_call_waits_for_an_answer_and_is_bound_to_it() {
    let slow = Slow::new(2);
    let callback = json!({"type": "control_request", "request_id": "h1", "request": {
        "subtype": "hook_callback", "callback_id": "x", "input": {"tool_name": "Bash"},
    }});
    let acts = vec![
        Act::Listen,
        Act::Listen,
        out(json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": "aurora-begin", "response": {},
        }})),
        out(callback),
        Act::Listen,
        wish("r1", "c1", "echo yes"),
        Act::Listen,
        result_of("c1", false),
        wish("r2", "c2", "echo no"),
        Act::Listen,
        result_of("c2", true),
        result_of("c3", false),
        out(json!({"type": "control_request", "request_id": "o1", "request": {"subtype": "new"}})),
        Act::Listen,
        ended(),
        Act::Listen,
    ];
    let (report, heard, notes) = play(acts, Ended::Code(0), &slow);
    assert!(report.success, "{}", report.summary);
    assert_eq!(report.summary, "done");
    assert_eq!(heard[0]["request"]["subtype"], "initialize");
    assert_eq!(heard[1]["message"]["content"], "go\n\"on\"");
    let given = &heard[2]["response"]["response"]["hookSpecificOutput"]["permissionDecision"];
    assert_eq!(given, "ask");
    assert_eq!(heard[3]["response"]["request_id"], "r1");
    let allowed = json!({"behavior": "allow", "updatedInput": {"command": "echo yes"}});
    assert_eq!(heard[3]["response"]["response"], allowed);
    let denied = json!({"behavior": "deny", "message": "not today", "interrupt": false});
    assert_eq!(heard[4]["response"]["response"], denied);
    assert_eq!(heard[5]["response"]["subtype"], "error");
    assert_eq!(heard.len(), 6, "its input is closed once it has ended");
    let expected = [
        "asked c1 Bash",
        "over c1",
        "made c1 well",
        "asked c2 Bash",
        "over c2",
        "made c2 badly",
        "complains it made a call without asking: c3",
        "made c3 well",
    ];
    assert_eq!(notes, expected);
}

/// AGT-2: while one question waits the agent is heard on, and what it takes back is asked no more.
#[test]
fn a_question_that_is_taken_back_is_over_and_others_go_on() {
    let slow = Slow::new(0);
    let said = json!({"type": "assistant", "message": {"id": "m", "content": [
        {"type": "text", "text": "meanwhile"},
    ]}});
    let acts = vec![
        Act::Listen,
        Act::Listen,
        wish("r1", "c1", "echo yes"),
        out(said),
        out(json!({"type": "control_cancel_request", "request_id": "r1"})),
        wish("r2", "c2", "echo yes"),
        ended(),
        Act::Listen,
    ];
    let (report, heard, notes) = play(acts, Ended::Code(0), &slow);
    assert!(report.success);
    assert_eq!(heard.len(), 2, "nobody answered");
    assert!(notes.contains(&"says meanwhile".to_owned()), "{notes:?}");
    assert!(
        notes.contains(&"over c1".to_owned()) && notes.contains(&"over c2".to_owned()),
        "{notes:?}"
    );
}

/// AGT-2: one that does not take that it must ask is ended, and has failed.
#[test]
fn one_that_does_not_take_that_it_must_ask_has_failed() {
    let slow = Slow::new(0);
    let acts = vec![
        Act::Listen,
        Act::Listen,
        out(json!({"type": "control_response", "response": {
            "subtype": "error", "request_id": "aurora-begin", "error": "hooks are not allowed",
        }})),
        Act::Listen,
    ];
    let (report, _, _) = play(acts, Ended::Code(0), &slow);
    assert!(!report.success);
    assert!(report.summary.contains("hooks are not allowed"), "{}", report.summary);
    assert_eq!(agent(Output::ClaudeControl).capabilities().holding, Holding::Asks);
}

/// AGT-2: where nobody can be asked, everything is a no.
#[test]
fn where_nobody_can_be_asked_everything_is_a_no() {
    let notes = Notes::default();
    let wish = Wish { call: "c".to_owned(), tool: "Bash".to_owned(), args: json!({}) };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let given = runtime.block_on(notes.may(wish));
    assert!(matches!(given, Permission::Deny { .. }), "{given:?}");
}
