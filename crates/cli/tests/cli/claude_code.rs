//! The real Claude Code behind the gate: a scripted model on loopback plays its turns.
//!
//! Runs where `AURORA_TEST_CLAUDE` names the program; elsewhere it is skipped, aloud.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::World;

/// The commands that the model asks for, one a turn.
const TURNS: [&str; 3] = [
    "git commit --quiet --allow-empty -m 'drop table users'",
    "bash -c 'git push --force origin main'",
    "touch went-on",
];

/// One request's body; nothing when the connection was closed.
fn request(stream: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.trim().to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if lower.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// What the model says next: the turn is read from the conversation itself.
fn content(request: &Value, turns: &[&str]) -> Value {
    let turn = request["messages"].to_string().matches("\"tool_result\"").count();
    let has_shell = request["tools"].to_string().contains("\"Bash\"");
    match turns.get(turn) {
        Some(command) if has_shell => json!({
            "type": "tool_use", "id": format!("toolu_{turn}"), "name": "Bash",
            "input": {"command": command, "description": "a scripted command"}
        }),
        _ => json!({"type": "text", "text": "done"}),
    }
}

fn event(out: &mut String, data: Value) {
    let name = data["type"].as_str().unwrap_or("").to_owned();
    out.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}

/// The model's answer as a stream of events.
fn answer(request: &Value, turns: &[&str]) -> String {
    let block = content(request, turns);
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    let (start, delta, stop) = if block["type"] == "tool_use" {
        let mut start = block.clone();
        start["input"] = json!({});
        let delta = json!({"type": "input_json_delta", "partial_json": block["input"].to_string()});
        (start, delta, "tool_use")
    } else {
        let delta = json!({"type": "text_delta", "text": block["text"]});
        (json!({"type": "text", "text": ""}), delta, "end_turn")
    };
    let mut out = String::new();
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": request["model"],
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage
    });
    event(&mut out, json!({"type": "message_start", "message": message}));
    event(&mut out, json!({"type": "content_block_start", "index": 0, "content_block": start}));
    event(&mut out, json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    event(&mut out, json!({"type": "content_block_stop", "index": 0}));
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    event(&mut out, json!({"type": "message_delta", "delta": delta, "usage": usage}));
    event(&mut out, json!({"type": "message_stop"}));
    out
}

fn serve(stream: TcpStream, turns: &[&str], heard: &Heard) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut stream = BufReader::new(stream);
    while let Some(request) = request(&mut stream) {
        let body = answer(&request, turns);
        heard.lock().unwrap().push(request["messages"].to_string());
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        let sent = write!(out, "{head}content-length: {}\r\n\r\n{body}", body.len());
        if sent.is_err() {
            return;
        }
    }
}

/// What the model was told, one text a request.
type Heard = Arc<Mutex<Vec<String>>>;

/// The base address of a model that plays `TURNS`.
fn scripted_model() -> String {
    model_that_plays(&TURNS).0
}

/// The base address of a model that plays these turns, and what it is told.
fn model_that_plays(turns: &'static [&'static str]) -> (String, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Heard::default();
    let told = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let told = Arc::clone(&told);
            thread::spawn(move || serve(stream, turns, &told));
        }
    });
    (format!("http://{address}"), heard)
}

fn git(world: &World, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(world.path("repo"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn int_1_the_real_claude_code_is_stopped_at_a_wrapped_force_push_and_goes_on() {
    let Some(claude) = std::env::var_os("AURORA_TEST_CLAUDE") else {
        eprintln!("SKIPPED: AURORA_TEST_CLAUDE names no Claude Code to try");
        return;
    };
    let world = World::new();
    std::fs::remove_dir_all(world.path("repo/.git")).unwrap();
    git(&world, &["init", "--quiet", "--initial-branch=main"]);
    assert_eq!(world.run(&["hook", "install", "claude-code", "--user"]).code, Some(0));
    let output = Command::new(claude)
        .args(["-p", "go", "--output-format", "stream-json", "--verbose"])
        .args(["--permission-mode", "acceptEdits", "--allowedTools", "Bash"])
        .current_dir(world.path("repo"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", world.path("home"))
        .env("ANTHROPIC_BASE_URL", scripted_model())
        .env("ANTHROPIC_API_KEY", "sk-dummy")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.com")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.com")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let subject = git(&world, &["log", "-1", "--format=%s"]);
    assert_eq!(subject.trim(), "drop table users", "{told}");
    assert!(told.contains("destructive.git_force_push = deny"), "{told}");
    assert!(world.path("repo").join("went-on").exists(), "{told}");
}

/// AGT-2, AGT-6, EXE-2: Claude Code as the agent of a run. It commits, pushes in vain, and makes a file at
/// its desk; the file arrives, the commit and the user's checkout do not.
#[test]
fn the_real_claude_code_does_a_task_of_a_list_and_says_what_it_cost() {
    let Some(claude) = std::env::var_os("AURORA_TEST_CLAUDE") else {
        eprintln!("SKIPPED: AURORA_TEST_CLAUDE names no Claude Code to try");
        return;
    };
    let world = World::with_commit().with("PATH", &std::env::var("PATH").unwrap());
    let agents = json!({
        "default": "claude",
        "agents": [{
            "id": "claude",
            "provider": "cli",
            "command": [
                claude.to_str().unwrap(), "-p", "{prompt}", "--output-format", "stream-json",
                "--verbose", "--permission-mode", "acceptEdits", "--allowedTools", "Bash"
            ],
            "output": "claude-stream-json",
            "environment": {
                "ANTHROPIC_BASE_URL": scripted_model(),
                "ANTHROPIC_API_KEY": "sk-dummy",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_TELEMETRY": "1"
            }
        }]
    });
    // JSON is YAML.
    world.write("repo/.aurora/agents.yaml", &agents.to_string());
    world.write("tasks.md", "# Go on\n\n- [ ] Go on\n");
    let before = git(&world, &["log", "--format=%H %s"]);
    let run = world.run(&["spawn", "../tasks.md", "--yes", "--json"]);
    let told = run.json_lines();
    assert_eq!(run.code, Some(0), "{told:#?} {}", run.stderr);
    let the = |kind: &str| told.iter().find(|event| event["type"] == kind).unwrap().clone();
    let changed = the("task_completed")["changed"].clone();
    assert_eq!(changed, json!([{"path": "went-on", "kind": "added"}]), "{told:#?}");
    let cost = the("attempt_ended")["cost"].clone();
    assert_eq!(cost["known"], "reported", "{told:#?}");
    let work = the("ended")["worktree"].as_str().unwrap().replace("[DIR]/", "");
    assert!(world.path(&work).join("went-on").exists(), "{told:#?}");
    assert!(world.read("tasks.md").contains("- [x] Go on"));
    assert_eq!(git(&world, &["log", "--format=%H %s"]), before);
    assert!(!world.path("repo/went-on").exists());
}

/// The commands of a task about which a person is asked.
const ASKED: [&str; 3] = ["cat README.md", "echo once >> happened", "echo never > refused"];

/// The requests that wait, once there is one besides these.
fn next_request(world: &World, known: &[String]) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let list = world.run(&["approvals", "list", "--json"]).json();
        let ids = list["questions"].as_array().into_iter().flatten();
        let ids = ids.filter_map(|one| one["id"].as_str().map(str::to_owned));
        if let Some(id) = ids.into_iter().find(|id| !known.contains(id)) {
            return id;
        }
        assert!(Instant::now() < until, "nothing is asked: {list}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// AGT-2, APR-5: Claude Code asks about every call and waits. What needs no person happens, what a
/// person allows from another process happens once, and what they deny does not; it is told why.
#[test]
fn the_real_claude_code_asks_about_every_call_and_waits_for_a_person() {
    let Some(claude) = std::env::var_os("AURORA_TEST_CLAUDE") else {
        eprintln!("SKIPPED: AURORA_TEST_CLAUDE names no Claude Code to try");
        return;
    };
    let world = World::with_commit().with("PATH", &std::env::var("PATH").unwrap());
    let (model, heard) = model_that_plays(&ASKED);
    let agents = json!({
        "default": "claude",
        "agents": [{
            "id": "claude",
            "provider": "cli",
            "command": [
                claude.to_str().unwrap(), "-p", "--input-format", "stream-json",
                "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio",
                "--setting-sources", "user"
            ],
            "output": "claude-control",
            "environment": {
                "ANTHROPIC_BASE_URL": model,
                "ANTHROPIC_API_KEY": "sk-dummy",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_TELEMETRY": "1"
            }
        }]
    });
    world.write("repo/.aurora/agents.yaml", &agents.to_string());
    world.write("tasks.md", "# Go on\n\n- [ ] Go on\n");
    let listed = world.run(&["agents", "list"]).stdout;
    assert!(listed.contains("asks: every action waits for an answer"), "{listed}");
    let begun = world.run(&["spawn", "../tasks.md", "--json"]).json_lines();
    let run = begun[0]["run"].as_str().unwrap().to_owned();
    let first = format!("{run}.q1");
    assert_eq!(world.run(&["approvals", "answer", &first, "proceed"]).code, Some(0));
    let driving = world.command(&["spawn", "--resume", &run, "--json"]).spawn().unwrap();

    let mut known = vec![first];
    let allowed = next_request(&world, &known);
    let shown = world.run(&["approvals", "show", &allowed]).stdout;
    assert!(shown.contains("echo once >> happened"), "{shown}");
    assert_eq!(world.run(&["approvals", "approve", &allowed, "--yes"]).code, Some(0));
    known.push(allowed.clone());
    let denied = next_request(&world, &known);
    let no = world.run(&["approvals", "deny", &denied, "--reason", "not this one"]);
    assert_eq!(no.code, Some(0), "{no:?}");

    let ended = world.finish(driving);
    let told = ended.json_lines();
    assert_eq!(ended.code, Some(0), "{told:#?} {}", ended.stderr);
    let the = |kind: &str| told.iter().find(|event| event["type"] == kind).unwrap().clone();
    let changed = the("task_completed")["changed"].clone();
    assert_eq!(changed, json!([{"path": "happened", "kind": "added"}]), "{told:#?}");
    let work = the("ended")["worktree"].as_str().unwrap().replace("[DIR]/", "");
    assert_eq!(world.read(&format!("{work}/happened")), "once\n");
    let last = heard.lock().unwrap().last().cloned().unwrap();
    assert!(last.contains("not this one"), "the model is not told why: {last}");
    let state = |id: &str| world.run(&["approvals", "show", id, "--json"]).json()["state"].clone();
    assert_eq!((state(&allowed), state(&denied)), (json!("executed"), json!("denied")));
}
