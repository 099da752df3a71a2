//! `aur goals`: real calls to a provider on the loopback and to agents that are shell scripts, until
//! a plan stands on the disk that `aur spawn` takes as it is.

#[path = "../../../agents/tests/agents/provider.rs"]
#[expect(dead_code, reason = "it plays more than is needed here")]
mod provider;
mod terminal;

use std::process::Stdio;
use std::time::{Duration, Instant};

use aurora_agents::ModelProvider;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Run, World};
use provider::{Provider, Reply, speech};

const GOAL: &str = "Improve memory indexing";
const PLAN: &str = "repo/.aurora/plans/0001-improve-memory-indexing";
const TASKS: &str = ".aurora/plans/0001-improve-memory-indexing/tasks.md";

/// Two subgoals, the second for somebody who is not there.
fn answer() -> String {
    json!({"subgoals": [
        {"id": "sg-1", "title": "Profile the indexing", "details": "Measure first.\nThen look.",
         "agent": "helper", "depends_on": [],
         "scope": {"paths": ["src/*.txt"], "files": 2, "lines": 40}},
        {"id": "sg-2", "title": "Speed up the embedding", "details": "",
         "agent": "performance-engineer", "depends_on": ["sg-1"],
         "scope": {"paths": [], "files": 0, "lines": 0}},
    ]})
    .to_string()
}

fn says(provider: ModelProvider, text: &str) -> Reply {
    let stop = if provider == ModelProvider::Anthropic { "end_turn" } else { "stop" };
    Reply::Stream(speech(provider, &[text], stop))
}

/// A repository whose model is at the provider, with one agent.
fn world(kind: ModelProvider, provider: &Provider) -> World {
    let world = World::with_commit().with("MODEL_KEY", "k-123").with("LANG", "C.UTF-8");
    let agents = format!(
        "default: helper\nmodel:\n  provider: {}\n  name: test-model\n  base_url: {}\n  \
         api_key_env: MODEL_KEY\n  max_output_tokens: 1000\n  price:\n    \
         input_usd_per_mtok: 1000\n    output_usd_per_mtok: 1000\nagents:\n  - id: helper\n    \
         provider: cli\n    command: [helper]\n    prompt: stdin\n    role: does everything\n",
        kind.name(),
        provider.url
    );
    world.write("repo/.aurora/agents.yaml", &agents);
    world
}

fn openai(replies: Vec<Reply>) -> (World, Provider) {
    let provider = Provider::playing(replies);
    (world(ModelProvider::OpenAi, &provider), provider)
}

/// A repository without a model, whose only agent is this script.
fn scripted(script: &str) -> World {
    let world = World::with_commit();
    world.write("agent.sh", &format!("#!/bin/sh\n{script}\n"));
    let path = world.path("agent.sh");
    let agents = format!(
        "agents:\n  - id: helper\n    provider: cli\n    command: [sh, {}]\n    prompt: stdin\n",
        path.display()
    );
    world.write("repo/.aurora/agents.yaml", &agents);
    world
}

/// What was shown, without what differs from run to run.
fn steady(run: &Run) -> String {
    let text = run.steady();
    let mut out = String::new();
    for part in text.split_inclusive("goals-") {
        let digits = part.chars().take_while(|c| c.is_ascii_digit()).count();
        let named = digits >= 9 || part.starts_with("[HASH]");
        let rest = if part.starts_with("[HASH]") { part.get(6..) } else { part.get(digits..) };
        if named && out.ends_with("goals-") {
            out.push('N');
            out.push_str(rest.unwrap_or_default());
        } else {
            out.push_str(part);
        }
    }
    let seconds = |s: u32| out.contains(&format!("after {s}s"));
    let found = (0..600).find(|s| seconds(*s));
    found.map_or(out.clone(), |s| out.replace(&format!("after {s}s"), "after Ns"))
}

fn plans(world: &World) -> Vec<String> {
    let all = world.list("repo/.aurora/plans");
    all.into_iter().filter(|name| !name.starts_with('.')).collect()
}

/// The run that a line of the output names.
fn run_of(run: &Run) -> String {
    let at = run.stdout.find("--resume ").expect("says how to go on") + "--resume ".len();
    run.stdout.get(at..).unwrap().split_whitespace().next().unwrap().to_owned()
}

fn git_state(world: &World) -> String {
    world.git(&["status", "--porcelain", "--untracked-files=all"])
}

/// EXE-1: the model is asked with a schema and what is known here, and the plan is what it said.
#[test]
fn a_goal_becomes_a_plan_that_spawn_takes_as_it_is() {
    let (world, provider) = openai(vec![says(ModelProvider::OpenAi, &answer())]);
    let run = world.run(&["goals", GOAL, "--yes"]);
    assert_snapshot!(steady(&run), @r"
    exit: 0
    ----- stdout -----
    Decomposition Summary
    Goal: Improve memory indexing

    Subgoals: 2

     1. Profile the indexing (sg-1)
        Agent: @helper
        scope: src/*.txt; about 2 files; about 40 lines

     2. Speed up the embedding (sg-2)
        Agent: performance-engineer ⚠ GAP
        after: sg-1

    Summary:
      ✓ 1 subgoal assigned to available agents
      ⚠ 1 agent gap (will spawn ad-hoc or fallback)
    plan written: .aurora/plans/0001-improve-memory-indexing/tasks.md
    next: aur spawn .aurora/plans/0001-improve-memory-indexing/tasks.md
    ----- stderr -----
    note: asking test-model to take the goal apart …
    note: test-model answered after Ns: 2 subgoals, $0.0180
    ");
    let asked = provider.asked();
    let body = asked[0].body.to_string();
    for part in [GOAL, "helper: does everything", "src/: 1 file", "json_schema", "depends_on"] {
        assert!(body.contains(part), "{part}: {body}");
    }
    assert!(!body.contains("hello"), "the content of files stays here: {body}");
    assert!(asked[0].head.contains("authorization: bearer k-123"));
    assert_eq!(world.list(PLAN), ["goals.json", "tasks.md"]);
    assert_snapshot!(world.read(&format!("{PLAN}/tasks.md")), @r"
    ---
    plan: 0001-improve-memory-indexing
    ---

    # Improve memory indexing

    - [ ] Profile the indexing
      <!-- id: sg-1; agent: helper; files: src/*.txt, 2; lines: 40 -->

      Measure first.
      Then look.

    - [ ] Speed up the embedding
      <!-- id: sg-2; agent: performance-engineer; depends-on: sg-1 -->
    ");
    let goals: Value = serde_json::from_str(&world.read(&format!("{PLAN}/goals.json"))).unwrap();
    assert_eq!(goals["plan_id"], "0001-improve-memory-indexing");
    assert_eq!(goals["subgoals"][1]["gap"], true);
    let preview = world.run(&["spawn", TASKS, "--dry-run", "--json"]).json();
    assert_eq!(preview["plan"], "0001-improve-memory-indexing");
    assert_eq!(preview["goal"], GOAL);
    let tasks = preview["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2);
    assert_eq!(tasks[0]["id"], "sg-1");
    assert_eq!(tasks[0]["details"], "Measure first.\nThen look.");
    assert_eq!(tasks[0]["scope"], json!({"paths": ["src/*.txt"], "files": 2, "lines": 40}));
    assert_eq!(tasks[0]["assignment"], json!({"to": "agent", "agent": "helper"}));
    assert_eq!(tasks[1]["depends_on"], json!(["sg-1"]));
    assert_eq!(tasks[1]["assignment"]["role"], "performance-engineer");
    assert_eq!(git_state(&world), "?? .aurora/agents.yaml\n");
}

/// EXE-1, POL-6: what a call may cost is reserved before it, and what it cost is settled after it.
#[test]
fn what_asking_costs_is_in_the_budget() {
    let (world, _provider) = openai(vec![says(ModelProvider::OpenAi, &answer())]);
    let told = world.run(&["goals", GOAL, "--yes", "--json"]).json_lines();
    let kinds: Vec<&str> = told.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let expected = [
        "asking",
        "decomposed",
        "run_started",
        "question_asked",
        "question_answered",
        "plan_written",
        "run_finished",
        "ended",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(told[1]["cost"]["tokens"], json!({"input": 11, "output": 7}));
    assert_eq!(told[1]["gaps"], 1);
    assert_eq!(told[1]["repairs"], json!([]));
    let ended = told.last().unwrap();
    assert_eq!(ended["outcome"], "completed");
    assert_eq!(ended["exit_code"], 0);
    assert!(ended["tasks"].as_str().unwrap().ends_with(TASKS));
    let history = world.run(&["budget", "show", "--json"]).json().to_string();
    assert!(history.contains("\"spent_usd\":0.018,"), "11 and 7 tokens at $0.001: {history}");
    assert!(history.contains(told[0]["run"].as_str().unwrap()), "{history}");
}

/// POL-6: what the budget does not allow is not asked.
#[test]
fn nobody_is_asked_when_the_budget_is_used_up() {
    let (world, provider) = openai(vec![says(ModelProvider::OpenAi, &answer())]);
    world.write(
        "repo/.aurora/policies.yaml",
        "budget:\n  monthly_limit_usd: 0.01\n  hard_limit_action: reject\n",
    );
    let run = world.run(&["goals", GOAL, "--yes"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("the limit of $0.01 for"), "{run:?}");
    assert!(run.stderr.contains("hint: `aur budget show`"), "{run:?}");
    assert!(provider.asked().is_empty());
    let told = world.run(&["goals", GOAL, "--yes", "--json"]).json_lines();
    assert_eq!((&told[0]["type"], &told[1]["type"]), (&json!("asking"), &json!("error")));
}

/// EXE-1: what is mildly wrong is repaired and said, and the answer as it came is kept.
#[test]
fn a_fenced_answer_that_needs_repairs_is_taken_and_kept() {
    let text = format!(
        "Here is the plan:\n```json\n{}\n```\n",
        answer().replace("\"sg-2\"", "\"zwei\"").replace("performance-engineer", "Perf Engineer!")
    );
    let provider = Provider::playing(vec![says(ModelProvider::Anthropic, &text)]);
    let world = world(ModelProvider::Anthropic, &provider);
    let run = world.run(&["goals", GOAL, "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("repaired: the agent of sg-2 was no name"), "{run:?}");
    assert_eq!(world.list(PLAN), ["answer.txt", "goals.json", "tasks.md"]);
    assert_eq!(world.read(&format!("{PLAN}/answer.txt")), text);
    assert_eq!(plans(&world), ["0001-improve-memory-indexing"]);
}

/// EXE-1: a bad answer is sent back once, with what is wrong; a second one is refused and kept.
#[test]
fn an_answer_that_cannot_be_used_is_refused_and_kept() {
    let good = vec![
        says(ModelProvider::OpenAi, "I would rather not."),
        says(ModelProvider::OpenAi, &answer()),
    ];
    let (world, provider) = openai(good);
    assert_eq!(world.run(&["goals", GOAL, "--yes"]).code, Some(0));
    let again = provider.asked().pop().unwrap().body.to_string();
    assert!(again.contains("I would rather not."), "{again}");
    let bad = vec![
        says(ModelProvider::OpenAi, "I would rather not."),
        says(ModelProvider::OpenAi, "{\"subgoals\": []}"),
    ];
    let (world, _provider) = openai(bad);
    let run = world.run(&["goals", GOAL, "--yes"]);
    assert_snapshot!(steady(&run), @r"
    exit: 1
    ----- stderr -----
    note: asking test-model to take the goal apart …
    error: the answer of test-model cannot be used: there are no subgoals
    hint: the answer as it came: [DIR]/repo/.aurora/plans/goals-N/answer.txt
    hint: it cost $0.0360; ask again, or somebody else with --agent
    ");
    let kept = plans(&world);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let text = world.read(&format!("repo/.aurora/plans/{}/answer.txt", kept[0]));
    assert_eq!(text, "{\"subgoals\": []}");
    let spent = world.run(&["budget", "show", "--json"]).json().to_string();
    assert!(spent.contains("\"spent_usd\":0.036,"), "both calls are paid: {spent}");
}

/// EXE-1, AGT-4: nothing waits longer than the policy says.
#[test]
fn a_model_that_never_answers_is_given_up() {
    let (world, provider) = openai(vec![Reply::Never]);
    world.write("repo/.aurora/policies.yaml", "agent_recovery:\n  timeout_seconds: 1\n");
    let run = world.run(&["goals", GOAL, "--yes"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("could not ask test-model: no answer within 1s"), "{run:?}");
    provider.wait_until_left();
    assert!(!world.path("repo/.aurora/plans").exists());
}

#[test]
fn without_anybody_to_ask_it_says_what_to_write() {
    let world = World::with_commit();
    assert_snapshot!(world.run(&["goals", GOAL]).shown(), @r#"
    exit: 2
    ----- stderr -----
    error: nobody can be asked: no model and no agent is configured
    hint: write who is asked into .aurora/agents.yaml, a model:
      model:
        provider: anthropic            # or openai, gemini, ollama
        name: claude-sonnet-4-5
        api_key_env: ANTHROPIC_API_KEY # the variable that holds the key
    or an agent of this machine:
      default: claude
      agents:
        - id: claude
          provider: cli
          command: [claude, -p, "{prompt}", --output-format, stream-json, --verbose]
          output: claude-stream-json
    "#);
    world.write("repo/.aurora/agents.yaml", "agents:\n  - id: idle\n    provider: \"null\"\n");
    let idle = world.run(&["goals", GOAL]);
    assert!(idle.code == Some(2) && idle.stderr.contains("idle is nobody"), "{idle:?}");
    let unknown = world.run(&["goals", GOAL, "--agent", "claude"]);
    assert!(unknown.stderr.contains("known agents: idle"), "{unknown:?}");
    let empty = world.run(&["goals", "  "]);
    assert!(empty.code == Some(2) && empty.stderr.contains("the goal is empty"), "{empty:?}");
    let model = "model:\n  provider: openai\n  name: m\n  api_key_env: NO_SUCH_KEY\n";
    world.write("repo/.aurora/agents.yaml", model);
    let keyless = world.run(&["goals", GOAL]);
    assert!(keyless.code == Some(2) && keyless.stderr.contains("NO_SUCH_KEY"), "{keyless:?}");
}

/// REV-3: without a terminal the question stands in the queue until somebody answers it.
#[test]
fn a_question_is_answered_from_another_process_and_the_plan_written_after_it() {
    let (world, _provider) = openai(vec![says(ModelProvider::OpenAi, &answer())]);
    let run = world.run(&["goals", GOAL]);
    assert_snapshot!(steady(&run), @r"
    exit: 4
    ----- stdout -----
    Decomposition Summary
    Goal: Improve memory indexing

    Subgoals: 2

     1. Profile the indexing (sg-1)
        Agent: @helper
        scope: src/*.txt; about 2 files; about 40 lines

     2. Speed up the embedding (sg-2)
        Agent: performance-engineer ⚠ GAP
        after: sg-1

    Summary:
      ✓ 1 subgoal assigned to available agents
      ⚠ 1 agent gap (will spawn ad-hoc or fallback)
    waiting for an answer
    answer it: aur approvals answer goals-N.q1 proceed|fallback|abort
    go on: aur goals --resume goals-N
    ----- stderr -----
    note: asking test-model to take the goal apart …
    note: test-model answered after Ns: 2 subgoals, $0.0180
    ");
    assert!(!world.path("repo/.aurora/plans").exists());
    let id = run_of(&run);
    let again = world.run(&["goals", "--resume", &id]);
    assert_eq!(again.code, Some(4), "{again:?}");
    let told = world.run(&["goals", "--resume", &id, "--json"]).json_lines();
    let ended = told.last().unwrap();
    assert_eq!(ended["questions"], json!([format!("{id}.q1")]));
    assert_eq!((&ended["exit_code"], &ended["plan"]), (&json!(4), &Value::Null));
    let shown = world.run(&["approvals", "show", &format!("{id}.q1")]).stdout;
    assert!(shown.contains("written down as a plan, with 2 subgoals?"), "{shown}");
    assert!(shown.contains("2. Speed up the embedding: performance-engineer (gap)"), "{shown}");
    let answered = world.run(&["approvals", "answer", &format!("{id}.q1"), "fallback"]);
    assert!(answered.stdout.contains(&format!("aur goals --resume {id}")), "{answered:?}");
    let spawn = world.run(&["spawn", "--resume", &id]);
    assert!(spawn.code == Some(2) && spawn.stderr.contains("aur goals --resume"), "{spawn:?}");
    let resumed = world.run(&["goals", "--resume", &id]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    // REV-4: Fallback marks the gaps for the model, and spawn takes them so.
    let preview = world.run(&["spawn", TASKS, "--dry-run", "--json"]).json();
    let model = json!({"to": "agent", "agent": "model"});
    assert_eq!(preview["tasks"][1]["assignment"], model);
    assert_eq!(preview["tasks"][1]["details"], "Do it as performance-engineer would.");
    let over = world.run(&["goals", "--resume", &id]);
    assert!(over.code == Some(2) && over.stderr.contains("its plan is"), "{over:?}");
}

/// REV-4, EXE-1: a plan whose gaps go to the model is done that way.
#[test]
fn a_plan_with_its_gaps_for_the_model_is_done() {
    let done = "Everything was looked at.";
    let replies = vec![says(ModelProvider::OpenAi, &answer()), says(ModelProvider::OpenAi, done)];
    let (world, provider) = openai(replies);
    let agents = world.read("repo/.aurora/agents.yaml");
    let agents = agents
        .replace("provider: cli\n    command: [helper]\n    prompt: stdin", "provider: \"null\"");
    world.write("repo/.aurora/agents.yaml", &agents);
    let id = run_of(&world.run(&["goals", GOAL]));
    world.run(&["approvals", "answer", &format!("{id}.q1"), "fallback"]);
    assert_eq!(world.run(&["goals", "--resume", &id]).code, Some(0));
    let run = world.run(&["spawn", TASKS, "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let asked = provider.asked().pop().unwrap().body.to_string();
    assert!(asked.contains("Do it as performance-engineer would."), "{asked}");
    let tasks = world.read(&format!("{PLAN}/tasks.md"));
    assert_eq!(tasks.matches("- [x] ").count(), 2, "{tasks}");
}

/// REV-4: Abort writes nothing.
#[test]
fn abort_writes_nothing() {
    let text = format!("```\n{}\n```", answer().replace("\"sg-1\"", "\"one\""));
    let (world, _provider) = openai(vec![says(ModelProvider::OpenAi, &text)]);
    let id = run_of(&world.run(&["goals", GOAL]));
    world.run(&["approvals", "answer", &format!("{id}.q1"), "abort"]);
    let over = world.run(&["goals", "--resume", &id]);
    assert!(over.code == Some(2) && over.stderr.contains("it was aborted"), "{over:?}");
    assert_eq!(plans(&world), Vec::<String>::new());
    let other = world.run(&["goals", "--resume", "goals-1"]);
    assert_eq!(other.code, Some(2), "{other:?}");
}

/// REV-3: who waits with --wait goes on when somebody answers, and --yes answers an open question.
#[test]
fn a_resumed_question_can_be_waited_for_or_answered_beforehand() {
    let replies = || vec![says(ModelProvider::OpenAi, &answer())];
    let (world, _provider) = openai(replies());
    let id = run_of(&world.run(&["goals", GOAL]));
    let yes = world.run(&["goals", "--resume", &id, "--yes"]);
    assert_eq!(yes.code, Some(0), "{yes:?}");
    assert_eq!(plans(&world), ["0001-improve-memory-indexing"]);
    let (world, _provider) = openai(replies());
    let id = run_of(&world.run(&["goals", GOAL]));
    let waiting = world.command(&["goals", "--resume", &id, "--wait"]).spawn().unwrap();
    world.run(&["approvals", "answer", &format!("{id}.q1"), "proceed"]);
    let waited = world.finish(waiting);
    assert_eq!(waited.code, Some(0), "{waited:?}");
    assert_eq!(plans(&world), ["0001-improve-memory-indexing"]);
}

/// EXE-1: an agent answers in place of a model, in an empty folder of its own.
#[test]
fn an_agent_is_asked_where_no_model_is_and_sees_nothing_of_the_checkout() {
    let script = format!(
        "cat > \"$PWD/prompt\"; echo thinking >&2; touch left-behind\n\
         test \"$(ls)\" = \"left-behind\nprompt\" || exit 9\n\
         grep -q 'src/: 1 file' prompt || exit 8\ncat <<'X'\n```json\n{}\n```\nX",
        answer()
    );
    let world = scripted(&script);
    let before = git_state(&world);
    let run = world.run(&["goals", GOAL, "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("asking helper to take the goal apart"), "{run:?}");
    assert_eq!(plans(&world), ["0001-improve-memory-indexing"]);
    assert_eq!(git_state(&world), before);
    let left = world.list(".").into_iter().filter(|name| name.starts_with("aur-")).count();
    assert_eq!(left, 0, "{:?}", world.list("."));
    let failing = scripted("echo no licence >&2; exit 3");
    let run = failing.run(&["goals", GOAL, "--agent", "helper"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("helper: no licence (exit code 3)"), "{run:?}");
}

/// EXE-1, EXE-5: Ctrl+C while somebody is asked ends the agent and everything that it started.
#[test]
fn an_interrupt_while_asking_leaves_nobody_behind() {
    let world =
        scripted("sh -c 'echo $$ > \"$MARK/pid\"; sleep 600' & echo up > \"$MARK/up\"; wait");
    let agents = world.read("repo/.aurora/agents.yaml");
    let mark = world.path("mark");
    std::fs::create_dir(&mark).unwrap();
    let agents = format!("{agents}    environment:\n      MARK: {}\n", mark.display());
    world.write("repo/.aurora/agents.yaml", &agents);
    let child = world.command(&["goals", GOAL]).stdin(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !mark.join("up").exists() {
        assert!(Instant::now() < until, "the agent never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let run = world.finish(child);
    assert_eq!(run.code, Some(130), "{run:?}");
    assert!(run.stdout.contains("interrupted; nothing was written"), "{run:?}");
    let text = format!("MARK={}", mark.display());
    assert_eq!(with_variable(&text), 0, "somebody was left behind");
    assert!(!world.path("repo/.aurora/plans").exists());
}

/// How many processes have this in their environment.
fn with_variable(text: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = processes.filter_map(|one| std::fs::read(one.path().join("environ")).ok());
    environments
        .filter(|all| all.split(|byte| *byte == 0).any(|one| one == text.as_bytes()))
        .count()
}

/// EXE-1: a plan that cannot be written is written later, and nobody is asked a second time.
#[test]
fn a_plan_that_cannot_be_written_is_written_later() {
    let (world, _provider) = openai(vec![says(ModelProvider::OpenAi, &answer())]);
    world.write("repo/.aurora/plans", "in the way");
    let run = world.run(&["goals", GOAL, "--yes"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("cannot make [DIR]/repo/.aurora/plans"), "{run:?}");
    let at = run.stderr.find("--resume ").unwrap() + "--resume ".len();
    let id = run.stderr.get(at..).unwrap().split('`').next().unwrap();
    std::fs::remove_file(world.path("repo/.aurora/plans")).unwrap();
    let resumed = world.run(&["goals", "--resume", id]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(plans(&world), ["0001-improve-memory-indexing"]);
}

/// EXE-1: plans that are written at the same moment have numbers of their own.
#[test]
fn plans_written_at_once_do_not_collide() {
    let world = scripted(&format!("cat > /dev/null; cat <<'X'\n{}\nX", answer()));
    let goals = ["one", "two", "three", "three"];
    let children: Vec<_> = goals
        .iter()
        .map(|goal| world.command(&["goals", goal, "--yes"]).spawn().unwrap())
        .collect();
    for child in children {
        let run = world.finish(child);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let plans = plans(&world);
    let numbers: Vec<&str> = plans.iter().map(|name| name.get(..4).unwrap()).collect();
    assert_eq!(numbers, ["0001", "0002", "0003", "0004"], "{plans:?}");
}
