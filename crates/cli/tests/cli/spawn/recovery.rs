//! Every way from a failure to a result: again, the model, a person.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use super::{Scratch, of};
use crate::harness::me;

/// A model on the loopback that answers the same for ever, as OpenAI's API does.
pub(super) fn model(status: u16, text: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let chunk = json!({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices":
        [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": null}]});
    let end = json!({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices":
        [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}});
    let body = match status {
        200 => format!("data: {chunk}\n\ndata: {end}\n\ndata: [DONE]\n\n"),
        _ => json!({"error": {"message": text}}).to_string(),
    };
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.and_then(|stream| answer(stream, status, &body));
        }
    });
    url
}

fn answer(mut stream: TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let kind = if status == 200 { "text/event-stream" } else { "application/json" };
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

pub(super) fn scratch(scenario: &str, url: Option<&str>) -> Scratch {
    let model = url.map(|url| {
        format!(
            "model: {{provider: openai, name: test-model, base_url: \"{url}\", \
             api_key_env: TEST_KEY, price: {{input_usd_per_mtok: 1.0, output_usd_per_mtok: 2.0}}}}\n"
        )
    });
    let tasks =
        "# Recover\n- [ ] First <!-- id: a -->\n- [ ] Second <!-- id: b, depends-on: a -->\n";
    let mut scratch = Scratch::with_agents(&model.unwrap_or_default(), tasks)
        .policy("agent_recovery: {timeout_seconds: 5, max_retries: 2}\n");
    scratch.world.write("repo/.aurora/scenario.yaml", scenario);
    scratch.world = scratch.world.with("TEST_KEY", "key");
    scratch
}

fn attempts(lines: &[Value], task: &str) -> Vec<String> {
    of(lines, "attempt_started")
        .filter(|event| event["task"] == task)
        .map(|event| event["route"]["by"].as_str().unwrap().to_owned())
        .collect()
}

/// AGT-4: an agent that fails once is tried again, and nothing of its first try is left.
#[test]
fn a_failed_attempt_is_tried_again_from_a_clean_desk() {
    let scenario = "tasks:\n  a: {attempts: [[{write: {path: wreck.txt, text: x}}, {fail: no luck}], \
                    [{write: {path: good.txt, text: y}}]]}\n  b: [{say: ok}]\n";
    let scratch = scratch(scenario, None);
    let told = scratch.spawn();
    assert_eq!((told.run.code, told.outcome()), (Some(0), "completed"), "{told:#?}");
    assert_eq!(attempts(&told.lines, "a"), ["agent", "agent"]);
    assert_eq!(told.the("task_completed", "a")["attempt"], 2);
    assert_eq!(scratch.work("recover", "good.txt"), "y");
    assert!(!scratch.worktree("recover").join("wreck.txt").exists());
}

/// AGT-4, AGT-6: after the attempts the model answers; its result is marked, and paid for.
#[test]
fn what_agents_fail_at_the_model_answers_and_it_is_marked() {
    let scenario = "tasks:\n  a: [{fail: no luck}]\n  b: [{say: ok}]\n";
    let scratch = scratch(scenario, Some(&model(200, "do it by hand, like so")));
    let told = scratch.spawn();
    assert_eq!((told.run.code, told.outcome()), (Some(0), "completed"), "{told:#?}");
    assert_eq!(attempts(&told.lines, "a"), ["agent", "agent", "model"]);
    let done = told.the("task_completed", "a");
    assert_eq!(done["route"]["by"], "model");
    assert!(done["summary"].as_str().unwrap().contains("do it by hand"), "{done}");
    let paid = told.of("attempt_ended").find(|event| event["attempt"] == 3).unwrap();
    assert_eq!(paid["cost"]["known"], "reported", "{paid}");
    assert_eq!(told.lines.last().unwrap()["cost_usd"], "0.0002", "{told:#?}");
    scratch.world.write("tasks.md", "# Recover\n- [ ] First <!-- id: a -->\n");
    let shown = scratch.shown(&["spawn", "../tasks.md", "--yes"]);
    assert!(shown.stdout.contains("model, fallback"), "{shown:?}");
    assert!(shown.stdout.to_lowercase().contains("fallback"), "{shown:?}");
    let spent = scratch.world.run(&["budget", "show", "--json"]);
    assert!(!spent.stdout.is_empty(), "{spent:?}");
}

/// AGT-4, EXE-4, EXE-6: when the model fails too a person is asked; without a terminal the question
/// stands in the queue, is answered there, and the run goes on.
#[test]
fn when_the_model_fails_too_a_person_decides_from_wherever_they_are() {
    let scenario = "tasks:\n  a: {attempts: [[{fail: one}], [{fail: two}], [{fail: three}], \
                    [{write: {path: a.txt, text: at last}}]]}\n  b: [{write: {path: b.txt, text: b}}]\n";
    let scratch = scratch(scenario, Some(&model(400, "no such model")));
    let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
    assert_eq!((first.run.code, first.outcome()), (Some(4), "waiting for an answer"), "{first:#?}");
    let run = first.id();
    answer_it(&scratch, &run, "proceed");
    let second = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!(second.run.code, Some(4), "{second:#?}");
    assert_eq!(attempts(&second.lines, "a"), ["agent", "agent", "model"]);
    let failed = second.the("task_failed", "a")["error"].as_str().unwrap();
    assert!(failed.contains("no such model"), "{failed}");
    assert_eq!(attempts(&second.lines, "b"), Vec::<String>::new());
    answer_it(&scratch, &run, "retry");
    let third = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!((third.run.code, third.outcome()), (Some(0), "completed"), "{third:#?}");
    assert_eq!(scratch.work("recover", "a.txt"), "at last");
    assert_eq!(scratch.work("recover", "b.txt"), "b");
    let answers = scratch.records(&run);
    let by: Vec<&Value> =
        of(&answers, "question_answered").map(|one| &one["answerer"]["by"]).collect();
    assert_eq!(by, [&me(), &me()]);
}

/// EXE-4: each answer to a failure does what it says; after an abort, resuming asks again.
#[test]
fn a_failure_can_be_skipped_or_end_the_run() {
    let scenario = "tasks:\n  a: [{fail: no}]\n  b: [{say: ok}]\n";
    for (choice, code, outcome) in
        [("skip", 1, "completed in part"), ("abort", 4, "waiting for an answer")]
    {
        let scratch = scratch(scenario, None);
        let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
        let run = first.id();
        answer_it(&scratch, &run, "proceed");
        let second = scratch.told(&["spawn", "--resume", &run, "--json"]);
        assert_eq!(second.run.code, Some(4), "{second:#?}");
        answer_it(&scratch, &run, choice);
        let third = scratch.told(&["spawn", "--resume", &run, "--json"]);
        assert_eq!(
            (third.run.code, third.outcome()),
            (Some(code), outcome),
            "{choice}: {third:#?}"
        );
        if choice == "skip" {
            let records = scratch.records(&run);
            let skipped = of(&records, "task_skipped").last().unwrap();
            assert_eq!(skipped["why"]["on"], "a");
            let list = scratch.world.read("tasks.md");
            assert!(!list.contains("[x]"), "{list}");
        }
    }
}

/// EXE-5: `--yes` on resuming answers what stands open, and the log says so.
#[test]
fn yes_on_resuming_answers_what_stands_open() {
    let scratch = scratch("tasks:\n  a: [{fail: no}]\n  b: [{say: ok}]\n", None);
    let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
    assert_eq!(first.run.code, Some(4), "{first:#?}");
    let second = scratch.resume(&first.id());
    assert_eq!((second.run.code, second.outcome()), (Some(1), "completed in part"), "{second:#?}");
    let answers: Vec<&Value> = second.of("question_answered").collect();
    assert_eq!(answers.len(), 2, "{answers:#?}");
    assert!(answers.iter().all(|one| one["answerer"]["by"] == "--yes"), "{answers:#?}");
}

/// REV-4: a role that nobody has is played by an agent made for it, then by the model; or, where that is
/// what the preview was answered with, by the model at once.
#[test]
fn a_gap_is_filled_by_an_agent_made_for_it_or_by_the_model_at_once() {
    let tasks = "# Recover\n- [ ] First <!-- id: a, agent: reviewer -->\n";
    for (choice, ways) in
        [("proceed", &["ad_hoc", "ad_hoc", "model"][..]), ("fallback", &["model"])]
    {
        let scratch = scratch("tasks:\n  a: [{fail: no}]\n", Some(&model(200, "like so")));
        scratch.world.write("tasks.md", tasks);
        let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
        let run = first.id();
        answer_it(&scratch, &run, choice);
        let second = scratch.told(&["spawn", "--resume", &run, "--json"]);
        assert_eq!(second.run.code, Some(0), "{second:#?}");
        assert_eq!(attempts(&second.lines, "a"), ways, "{choice}");
    }
}

/// AGT-6: what an agent says that it cost is recorded as said; where it says nothing, that is marked.
#[test]
fn what_agents_say_that_they_cost_is_recorded_and_marked() {
    let scenario = "tasks:\n  a: [{cost: {input_tokens: 10, output_tokens: 20, usd: 0.25}}]\n  b: [{say: ok}]\n";
    let scratch = scratch(scenario, None);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert_eq!(told.the("attempt_ended", "a")["cost"]["known"], "reported", "{told:#?}");
    assert_eq!(told.the("attempt_ended", "b")["cost"]["known"], "unknown", "{told:#?}");
    assert_eq!(told.lines.last().unwrap()["cost_usd"], "0.25", "{told:#?}");
}

/// Answers the one open question.
fn answer_it(scratch: &Scratch, run: &str, choice: &str) {
    let list = scratch.world.run(&["approvals", "list", "--json"]).json();
    let open = list["questions"].as_array().unwrap();
    assert_eq!(open.len(), 1, "{list:#}");
    let id = open[0]["id"].as_str().unwrap();
    assert!(id.starts_with(run), "{id}");
    let answered = scratch.world.run(&["approvals", "answer", id, choice]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
}
