//! `aur agents` and the player behind scripted agents.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::World;

const FILE: &str = "repo/.aurora/agents.yaml";

/// A world in which these programs, and no others, are on PATH.
fn world(programs: &[(&str, &str)]) -> World {
    let world = World::new();
    for (name, script) in programs {
        let path = format!("bin/{name}");
        world.write(&path, &format!("#!/bin/sh\n{script}\n"));
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.path(&path), executable).unwrap();
    }
    let path = world.path("bin").display().to_string();
    world.with("PATH", &path)
}

#[test]
fn agt_1_known_agents_on_this_machine_are_shown_with_an_entry_to_paste() {
    let world = world(&[("codex", ""), ("rm", "")]);
    assert_snapshot!(world.run(&["agents", "list"]).shown(), @r#"
    exit: 0
    ----- stdout -----
    no agents are configured

    on this machine, and not configured; paste below `agents:`
    # Codex, [DIR]/bin/codex
      - id: codex
        provider: cli
        command: ["codex", "exec", "-s", "workspace-write", "{prompt}"]
        pass_environment: [OPENAI_API_KEY]
        limits: {max_cost_usd: 0.50}

    `aur agents init` writes a file to start from
    "#);
}

#[test]
fn agt_1_a_file_to_start_from_is_written_once_and_can_be_read() {
    let world = world(&[("codex", ""), ("claude", "")]).with("ANTHROPIC_API_KEY", "k");
    assert_snapshot!(world.run(&["agents", "init"]).shown(), @r"
    exit: 0
    ----- stdout -----
    wrote [DIR]/repo/.aurora/agents.yaml (with claude, codex)
    see what it says with `aur agents list`
    ");
    assert!(world.read("repo/.aurora/.gitignore").contains("!agents.yaml"));
    assert_snapshot!(world.run(&["agents", "list"]).shown(), @r"
    exit: 0
    ----- stdout -----
    claude  (default)  cli, .aurora/agents.yaml:11
      at      [DIR]/bin/claude
      read as claude-stream-json
      can     edits files, reports cost
      held    contained: works at a desk, judged before it is adopted
      level   supervised
      gets    ANTHROPIC_API_KEY
    codex  cli, .aurora/agents.yaml:18
      at      [DIR]/bin/codex
      read as text
      can     edits files
      held    contained: works at a desk, judged before it is adopted
      level   supervised
      gets    OPENAI_API_KEY (not set)
    ");
    let before = world.read(FILE);
    assert_snapshot!(world.run(&["agents", "init"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: [DIR]/repo/.aurora/agents.yaml is there already
    hint: change it by hand; `aur agents list` shows entries to paste
    ");
    assert_eq!(world.read(FILE), before);
    // Without any of them, the file is one that can be read, too.
    let bare = self::world(&[]);
    assert_eq!(bare.run(&["agents", "init", "--user"]).code, Some(0));
    let listed = bare.run(&["agents", "list", "--json"]).json();
    assert_eq!((&listed["agents"], &listed["model"]), (&json!([]), &Value::Null));
}

#[test]
fn agt_1_every_commented_entry_of_the_file_can_be_read() {
    let programs = ["claude", "codex", "gemini", "opencode", "qwen", "aider"];
    let world = world(&programs.map(|name| (name, "")));
    assert_eq!(world.run(&["agents", "init"]).code, Some(0));
    let listed = world.run(&["agents", "list", "--json"]).json();
    let names: Vec<&str> =
        listed["agents"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(names, programs);
    let text = world.read(FILE).replace("# model:", "model:");
    let text: Vec<&str> = text
        .lines()
        .map(|line| if line.starts_with("#   ") { line.trim_start_matches("# ") } else { line })
        .collect();
    world.write(FILE, &text.join("\n"));
    let listed = world.run(&["agents", "list", "--json"]).json();
    assert_eq!(listed["model"]["name"], "MODEL", "{listed}");
}

#[test]
fn agt_1_the_projects_file_lies_over_the_users_and_replaces_agents_whole() {
    let world = world(&[("a", ""), ("b", "")]);
    world.write(
        "home/.aurora/agents.yaml",
        "default: one\nmodel: { provider: ollama, name: mine }\nagents:\n\
         - { id: one, provider: cli, command: [a], role: developer, pass_environment: [X] }\n\
         - { id: two, provider: cli, command: [a] }\n",
    );
    world.write(
        FILE,
        "default: two\nagents:\n- { id: one, provider: cli, command: [b] }\n\
         - { id: three, provider: 'null' }\n",
    );
    let listed = world.run(&["agents", "list", "--json"]).json();
    let agents: Vec<Value> = listed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| json!([a["id"], a["program"], a["default"], a["variables"]]))
        .collect();
    assert_eq!(
        Value::from(agents),
        json!([["one", "b", false, {}], ["two", "a", true, {}], ["three", null, false, {}],])
    );
    assert_eq!(listed["model"]["name"], "mine");
}

#[test]
fn agt_1_every_mistake_is_told_at_once_with_its_place_and_what_was_meant() {
    let world = world(&[]);
    world.write(
        FILE,
        r#"defualt: x
model:
  provider: anthropc
  api_key: sk-secret
  api_key_env: sk-secret
agents:
  - id: a
    provider: cli
    command: ["claude", "-p", "{promt}"]
    output: line_json
    limits: { max_cost_usd: -1 }
  - id: b
    provider: acp
  - provider: scripted
    command: [x]
  - id: c
    provider: cli
    command: claude -p
  - id: c
    provider: 'null'
  - { id: d, provider: cli, command: [x], prompt: argument, success: { exit_codes: [256] } }
runtime:
  execution_mode: interactiv
"#,
    );
    assert_snapshot!(world.run(&["agents", "list"]).shown(), @r#"
    exit: 2
    ----- stderr -----
    error: .aurora/agents.yaml:1:1: defualt: unknown key
      hint: did you mean `default`?
    .aurora/agents.yaml:3:3: model: `name` is missing
      hint: the model's name at its provider
    .aurora/agents.yaml:3:13: model.provider: expected anthropic, openai, gemini or ollama, found `anthropc`
      hint: did you mean `anthropic`?
    .aurora/agents.yaml:4:3: model.api_key: keys never stand in this file
      hint: `api_key_env` names the variable that holds it
    .aurora/agents.yaml:5:16: model.api_key_env: this is not the name of a variable
      hint: a name such as MY_VARIABLE; keys themselves never stand in this file
    .aurora/agents.yaml:9:32: agents.1.command: character 1: nothing is called `{promt}`
      hint: did you mean `{prompt}`?
    .aurora/agents.yaml:10:13: agents.1.output: expected text, line-json, claude-stream-json or claude-control, found `line_json`
      hint: did you mean `line-json`?
    .aurora/agents.yaml:11:29: agents.1.limits.max_cost_usd: expected a number from 0 to 1000000, found `-1`
    .aurora/agents.yaml:13:15: agents.2.provider: agents with `provider: acp` cannot be used yet
      hint: `provider: cli` runs any command
    .aurora/agents.yaml:14:5: agents.3: `id` is missing
      hint: the name by which tasks ask for it
    .aurora/agents.yaml:14:5: agents.3: `scenario` is missing
      hint: the file that it plays
    .aurora/agents.yaml:15:5: agents.3.command: means nothing to an agent with `provider: scripted`
      hint: it belongs to `provider: cli`
    .aurora/agents.yaml:18:14: agents.4.command: expected a list of words, found `claude -p`
      hint: for example ["my-agent", "--task", "{prompt}"]
    .aurora/agents.yaml:21:51: agents.6.prompt: the prompt goes nowhere: `{prompt}` does not occur in the command
      hint: add `{prompt}`, or say `stdin`
    .aurora/agents.yaml:21:85: agents.6.success.exit_codes: expected a whole number from 0 to 255, found `256`
    .aurora/agents.yaml:23:19: runtime.execution_mode: expected deterministic or interactive, found `interactiv`
      hint: did you mean `interactive`?
    hint: no agent is started by settings that cannot be read; correct the file
    "#);
    world.write(FILE, "default: claud\nagents: [{ id: claude, provider: 'null' }]\n");
    assert_snapshot!(world.run(&["agents", "list"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: .aurora/agents.yaml:1:10: default: no agent is called `claud`
      hint: did you mean `claude`?
    hint: no agent is started by settings that cannot be read; correct the file
    ");
}

#[test]
fn agt_1_the_doctor_asks_known_programs_for_their_version_and_starts_no_others() {
    let claude = "[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)' && env > \"$HOME/env\"";
    let world = world(&[("claude", claude), ("mine", "touch \"$HOME/started\"")])
        .with("SECRET", "do not tell");
    world.write("repo/.aurora/broken.yaml", "default: [ { sya: hello } ]\n");
    world.write(
        FILE,
        "agents:\n- { id: claude, provider: cli, command: [claude, '{prompt}'] }\n\
         - { id: mine, provider: cli, command: [mine] }\n\
         - { id: gone, provider: cli, command: [gone] }\n\
         - { id: actor, provider: scripted, scenario: broken.yaml }\n",
    );
    let run = world.run(&["agents", "doctor", "--json"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let told = run.json();
    let agents = told["agents"].as_array().unwrap();
    assert_eq!(agents[0]["version"], "2.1.325 (Claude Code)");
    assert_eq!(agents[0]["problems"], json!([]));
    assert_eq!(agents[1]["problems"], json!([]));
    assert_eq!(agents[2]["problems"], json!(["gone is not on PATH"]));
    let note = agents[1]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("cost unknown beforehand: the budget can only stop the next call"));
    assert!(agents[3]["notes"].is_null(), "a scripted agent costs nothing");
    let broken = agents[3]["problems"][0].as_str().unwrap();
    assert!(broken.contains("broken.yaml: default, step 1: unknown variant `sya`"), "{broken}");
    assert!(!world.path("home/started").exists());
    assert!(!world.read("home/env").contains("SECRET"));
    assert!(told["containment"].as_array().unwrap().iter().any(|way| way["works"] == true));
}

#[test]
fn agt_1_the_doctor_does_not_wait_for_a_program_that_never_answers() {
    let world = world(&[("codex", "while :; do read -r line </dev/zero; done")]);
    world.write(FILE, "agents: [{ id: codex, provider: cli, command: [codex] }]\n");
    let run = world.run(&["agents", "doctor"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("problem codex --version: no answer in 5 s"), "{run:?}");
}

/// The first line that a scripted agent hears.
fn task(id: &str, attempt: u32) -> Vec<u8> {
    let message = json!({
        "type": "task", "run": "run-1", "task": id, "title": "Paint", "attempt": attempt,
        "prompt": "p", "working_directory": "/", "timeout_seconds": 5,
    });
    format!("{message}\n").into_bytes()
}

#[test]
fn agt_2_a_scenario_is_played_by_a_process_of_its_own() {
    let world = World::new();
    world.write(
        "scenario.yaml",
        "default:\n\
         - say: 'painting {task}'\n\
         - write: { path: 'out/{task}.txt', text: \"red\\n\" }\n\
         - cost: { usd: 0.01 }\n\
         - result: painted\n\
         tasks:\n\
        \x20 sg-2:\n\
        \x20   attempts:\n\
        \x20     - [ { complain: no paint }, { exit: 7 } ]\n\
        \x20     - [ crash ]\n",
    );
    let scenario = world.path("scenario.yaml").display().to_string();
    let play = ["play", "--scenario", &scenario];
    assert_snapshot!(world.run_with(&play, &task("sg-1", 1)).shown(), @r#"
    exit: 0
    ----- stdout -----
    painting sg-1
    {"type":"cost","usd":0.01}
    {"type":"result","success":true,"summary":"painted"}
    "#);
    assert_eq!(world.read("repo/out/sg-1.txt"), "red\n");
    assert_snapshot!(world.run_with(&play, &task("sg-2", 1)).shown(), @r"
    exit: 7
    ----- stderr -----
    no paint
    ");
    assert_eq!(world.run_with(&play, &task("sg-2", 2)).shown(), "killed");
    assert_snapshot!(world.run_with(&play, b"hello\n").shown(), @r"
    exit: 1
    ----- stderr -----
    error: cannot play the scenario: the first line is no task: expected value at line 1 column 1
    ");
}
