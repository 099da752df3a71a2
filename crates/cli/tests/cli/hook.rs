//! INT-1: `aur hook`: an answer whatever happens, in the agent's own format.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Run, World};

fn call(tool: &str, input: Value, cwd: &std::path::Path) -> String {
    json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": cwd, "prompt_id": "p",
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": input, "tool_use_id": "toolu_1"})
    .to_string()
}

fn decision(run: &Run) -> (String, String) {
    assert_eq!(run.code, Some(0), "{run:?}");
    let json = run.json();
    let told = &json["hookSpecificOutput"];
    assert_eq!(told["hookEventName"], "PreToolUse", "{json}");
    let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

fn bash(world: &World, command: &str) -> (String, String) {
    let payload = call("Bash", json!({"command": command}), &world.path("repo"));
    decision(&world.run_with(&["hook", "claude-code"], payload.as_bytes()))
}

#[test]
fn each_verdict_is_said_in_claude_codes_words() {
    // INT-1
    let world = World::new();
    let (word, reason) = bash(&world, "bash -c 'git push --force'");
    assert_eq!(word, "deny", "{reason}");
    assert!(reason.contains("destructive.git_force_push"), "{reason}");
    assert!(reason.contains("Instead: "), "{reason}");
    assert_eq!(bash(&world, "rm -rf build").0, "ask");
    assert_eq!(bash(&world, r#"git commit -m "drop table users""#).0, "allow");
}

#[test]
fn file_tools_are_judged_by_their_paths() {
    let world = World::new();
    let judge = |tool: &str, input: Value| {
        let payload = call(tool, input, &world.path("repo"));
        decision(&world.run_with(&["hook", "claude-code"], payload.as_bytes())).0
    };
    let env = world.path("repo/.env");
    assert_eq!(judge("Write", json!({"file_path": env, "content": "x"})), "deny");
    assert_eq!(
        judge("Edit", json!({"file_path": env, "old_string": "a", "new_string": "b"})),
        "deny"
    );
    assert_eq!(judge("Read", json!({"file_path": env})), "allow");
    let source = world.path("repo/src/a.rs");
    assert_eq!(judge("Write", json!({"file_path": source, "content": "x"})), "allow");
}

#[test]
fn deferring_leaves_what_is_allowed_to_the_agent_and_nothing_else() {
    let world = World::new();
    let run = |command: &str| {
        let payload = call("Bash", json!({"command": command}), &world.path("repo"));
        world.run_with(&["hook", "claude-code", "--defer"], payload.as_bytes())
    };
    assert_eq!(run("ls").json(), json!({}));
    assert_eq!(decision(&run("git push --force")).0, "deny");
    assert_eq!(decision(&run("rm -rf build")).0, "ask");
}

/// A yes switches the agent's own prompts off, so it is said only where the gate judges everything.
#[test]
fn an_allowed_call_that_reaches_further_is_left_to_the_agent() {
    let world = World::new();
    let payload = |tool: &str, input: Value| call(tool, input, &world.path("repo"));
    let bash = |command: &str| payload("Bash", json!({"command": command}));
    let write = |path: &str| payload("Write", json!({"file_path": path, "content": "x"}));
    let fetch = payload("WebFetch", json!({"url": "https://example.com", "prompt": "p"}));
    for (payload, close) in [
        (bash("cargo test 2>/dev/null"), true),
        (bash("echo x > src/a.txt && mkdir -p out"), true),
        (bash("echo x > /tmp/scratch.txt"), true),
        (bash("echo x > ../../../../../srv/a"), false),
        (bash("echo x > ~/notes.txt"), world.dir.starts_with("/tmp")),
        (bash("touch /srv/a"), false),
        (bash("rm /srv/a"), false),
        (bash("echo x > \"$OUT\""), false),
        (bash("curl https://example.com"), false),
        (bash("ls && curl https://example.com"), false),
        (write("src/a.rs"), true),
        (write("/srv/a.rs"), false),
        (fetch, false),
    ] {
        for (agent, event, takes_allow) in [
            ("claude-code", "PreToolUse", true),
            ("qwen", "PreToolUse", true),
            ("gemini", "BeforeTool", true),
            ("codex", "PreToolUse", false),
        ] {
            let payload = payload.replace("PreToolUse", event);
            let reply = world.run_with(&["hook", agent], payload.as_bytes()).json();
            let said = reply.pointer("/hookSpecificOutput/permissionDecision");
            let said = said.or(reply.get("decision")).and_then(Value::as_str);
            assert_eq!(said, (close && takes_allow).then_some("allow"), "{agent}: {payload}");
            if said.is_none() {
                assert_eq!(reply, json!({}), "{agent}: {payload}");
            }
            let deferred = world.run_with(&["hook", agent, "--defer"], payload.as_bytes());
            assert_eq!(deferred.json(), json!({}), "{agent}: {payload}");
        }
    }
}

#[test]
fn the_payloads_folder_decides_where_a_call_happens() {
    let world = World::new().at("elsewhere");
    assert_eq!(bash(&world, "git push").0, "ask", "the repository there is on main");
}

#[test]
fn the_policy_is_that_of_the_folder_where_the_agent_was_started() {
    let world = World::new();
    world.write("other/.git/HEAD", "ref: refs/heads/dev\n");
    world.write(
        "other/.aurora/policies.yaml",
        "destructive:\n  git_force_push:\n    action: allow\n",
    );
    let payload = call("Bash", json!({"command": "git push --force"}), &world.path("other"));
    let free = world.run_with(&["hook", "claude-code"], payload.as_bytes());
    assert_eq!(decision(&free).0, "allow");
    let repo = world.path("repo").display().to_string();
    let world = world.with("CLAUDE_PROJECT_DIR", &repo);
    let held = world.run_with(&["hook", "claude-code"], payload.as_bytes());
    assert_eq!(decision(&held).0, "deny");
}

#[test]
fn whatever_goes_wrong_is_a_denial_that_says_so() {
    // INT-1
    let world = World::new();
    let good = call("Bash", json!({"command": "ls"}), &world.path("repo"));
    let twice = good.replacen("\"tool_name\"", "\"tool_name\":\"Read\",\"tool_name\"", 1);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (stdin, problem) in [
        ("", "stdin is empty"),
        ("not json", "cannot be read"),
        ("{\"hook_event_name\": \"PreToolUse\"", "cannot be read"),
        ("[]", "cannot be read"),
        ("{}", "hook_event_name"),
        ("{\"hook_event_name\": \"PreToolUse\"}", "names no tool"),
        (twice.as_str(), "duplicate field"),
        (deep.as_str(), "cannot be read"),
    ] {
        let (word, reason) = decision(&world.run_with(&["hook", "claude-code"], stdin.as_bytes()));
        assert_eq!(word, "deny", "{stdin:.100}");
        assert!(reason.contains(problem), "{stdin:.100}: {reason}");
    }
    let bytes = [good.as_bytes(), b"\xff"].concat();
    assert_eq!(decision(&world.run_with(&["hook", "claude-code"], &bytes)).0, "deny");
    let huge = vec![b' '; 17 * 1024 * 1024];
    let (word, reason) = decision(&world.run_with(&["hook", "claude-code"], &huge));
    assert_eq!((word.as_str(), reason.contains("16 MiB")), ("deny", true), "{reason}");
    let closed = world.command(&["hook", "claude-code"]).stdin(Stdio::null()).spawn().unwrap();
    assert_eq!(decision(&world.finish(closed)).0, "deny");
}

#[test]
fn a_policy_that_cannot_be_read_denies_and_says_where() {
    let world = World::new();
    world
        .write("repo/.aurora/policies.yaml", "destructive:\n  git_forse_push:\n    action: deny\n");
    let (word, reason) = bash(&world, "ls");
    assert_eq!(word, "deny");
    assert!(reason.contains(".aurora/policies.yaml:2:3: "), "{reason}");
}

#[test]
fn arguments_with_nul_or_without_sense_get_an_answer() {
    let world = World::new();
    assert_ne!(bash(&world, "git push\0 --force").0, "allow");
    for input in [json!(null), json!([1]), json!("x"), json!({"command": 3}), json!({})] {
        let payload = call("Bash", input.clone(), &world.path("repo"));
        let (word, _) = decision(&world.run_with(&["hook", "claude-code"], payload.as_bytes()));
        assert_ne!(word, "allow", "{input}");
    }
}

#[test]
fn events_that_ask_nothing_get_an_empty_answer() {
    let payload = r#"{"hook_event_name": "Stop", "stop_hook_active": false}"#;
    let run = World::new().run_with(&["hook", "claude-code"], payload.as_bytes());
    assert_eq!((run.code, run.json()), (Some(0), json!({})));
}

/// INT-1: the name of the event is no way around the gate.
#[test]
fn a_tool_is_judged_whatever_its_event_is_called() {
    let world = World::new();
    let payload = call("Bash", json!({"command": "git push --force"}), &world.path("repo"));
    let named = "\"hook_event_name\":\"PreToolUse\"";
    assert!(payload.contains(named));
    for event in [
        "\"hook_event_name\":\"pretooluse\"",
        "\"hook_event_name\":\"PreToolUse \"",
        "\"hook_event_name\":\"Unheard\"",
        "\"hook_event_name\":\"\"",
        "\"hook_event_name\":null",
        "\"hook_event_name\":7",
        "\"x\":1",
    ] {
        let payload = payload.replace(named, event);
        for agent in ["claude-code", "codex", "qwen", "gemini"] {
            let reply = world.run_with(&["hook", agent], payload.as_bytes()).json();
            let said = reply.pointer("/hookSpecificOutput/permissionDecision");
            assert_eq!(said.or(reply.get("decision")), Some(&json!("deny")), "{agent}: {event}");
        }
    }
    let empty = world.run_with(&["hook", "claude-code"], b"{\"hook_event_name\":\"pretooluse\"}");
    assert_eq!(decision(&empty).0, "deny");
}

#[test]
fn a_permission_request_is_denied_in_its_own_words_or_left_to_the_person() {
    let world = World::new();
    let ask = |world: &World, command: &str| {
        let payload = call("Bash", json!({"command": command}), &world.path("repo"));
        let payload = payload.replace("PreToolUse", "PermissionRequest");
        world.run_with(&["hook", "claude-code"], payload.as_bytes()).json()
    };
    assert_eq!(ask(&world, "ls"), json!({}));
    assert_eq!(ask(&world, "rm -rf build"), json!({}));
    let denied = |reply: &Value, why: &str| {
        let told = &reply["hookSpecificOutput"];
        assert_eq!(told["hookEventName"], "PermissionRequest", "{reply}");
        assert_eq!(told["decision"]["behavior"], "deny", "{reply}");
        assert!(told["decision"]["message"].as_str().unwrap().contains(why), "{reply}");
    };
    denied(&ask(&world, "git push --force"), "destructive.git_force_push");
    world.write("repo/.aurora/policies.yaml", "nonsense: 1\n");
    denied(&ask(&world, "ls"), "could not judge");
}

#[test]
fn a_closed_stdout_is_the_exit_code_that_blocks() {
    let world = World::new();
    let payload = call("Bash", json!({"command": "ls"}), &world.path("repo"));
    for (redirection, code) in [(">&-", 2), (">/dev/null", 0)] {
        let script = format!("exec \"$0\" hook claude-code {redirection}");
        let mut child = std::process::Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_aur")])
            .current_dir(world.path("repo"))
            .env("HOME", world.path("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
        let run = world.finish(child);
        assert_eq!(run.code, Some(code), "{redirection}: {run:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_the_exit_code_that_blocks() {
    let world = World::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = world.command(&["hook", "claude-code"]);
    let mut child = command.stdin(Stdio::piped()).stdout(full).spawn().unwrap();
    let payload = call("Bash", json!({"command": "ls"}), &world.path("repo"));
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let run = world.finish(child);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.starts_with("error: cannot answer the agent"), "{run:?}");
}

#[test]
fn other_agents_are_answered_in_their_own_words() {
    // INT-1
    let world = World::new();
    let run = |agent: &str, event: &str, command: &str| {
        let payload = call("Bash", json!({"command": command}), &world.path("repo"));
        let payload = payload.replace("PreToolUse", event);
        world.run_with(&["hook", agent], payload.as_bytes()).json()
    };
    let said = |json: &Value| json["hookSpecificOutput"]["permissionDecision"].clone();
    assert_eq!(said(&run("codex", "PreToolUse", "git push --force")), "deny");
    assert_eq!(said(&run("codex", "PreToolUse", "rm -rf build")), "deny", "Codex runs on ask");
    assert_eq!(run("codex", "PreToolUse", "ls"), json!({}));
    assert_eq!(said(&run("qwen", "PreToolUse", "rm -rf build")), "ask");
    assert_eq!(run("gemini", "BeforeTool", "git push --force")["decision"], "deny");
    assert_eq!(run("gemini", "BeforeTool", "rm -rf build")["decision"], "deny");
    assert_eq!(run("gemini", "BeforeTool", "ls")["decision"], "allow");
}
