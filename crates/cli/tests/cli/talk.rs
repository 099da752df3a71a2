//! A model with tools at its desk: it asks, is parked, and goes on with the true result of its calls.

mod autonomy;
mod crash;
mod edges;
pub mod model;

use std::sync::Arc;
use std::time::Duration;

use aurora_engine::approvals::{Queue, Silence};
use aurora_gate::approval::Standing;
use aurora_model::{QuestionId, Timestamp};
use serde_json::{Value, json};

use crate::harness::{Run, World};
use crate::keep::mark;
use crate::log::{store, wait};
use crate::spawn::{Scratch, Told, of};
use model::{Model, Turn, calls, say};

/// Long enough for a machine that does ten other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository whose tasks are done by a model with tools, and whoever answers its questions.
pub struct Talk {
    pub scratch: Scratch,
    pub model: Model,
}

impl Talk {
    /// One script for each task, by a word of its title.
    pub fn new(tasks: &str, scripts: Vec<(&'static str, Vec<Turn>)>) -> Self {
        Self::with("", tasks, scripts)
    }

    /// The same with more in `agents.yaml`.
    fn with(more: &str, tasks: &str, scripts: Vec<(&'static str, Vec<Turn>)>) -> Self {
        let model = Model::playing(scripts);
        let mark = mark();
        let world =
            World::with_commit().with("AURORA_TEST_MARK", &mark).with("OPENAI_API_KEY", "sk-test");
        let state = world.path("state").display().to_string();
        let world = world.with("XDG_STATE_HOME", &state);
        world.write(
            "repo/.aurora/agents.yaml",
            &format!(
                "default: coder\nagents:\n  - id: coder\n    provider: api\n    tools: true\n    \
                 model: {{provider: openai, name: scripted, base_url: '{}', \
                 price: {{input_usd_per_mtok: 1, output_usd_per_mtok: 1}}}}\n{more}",
                model.url
            ),
        );
        world.write("repo/.aurora/scenario.yaml", "default: [{say: done}]\n");
        world.write("tasks.md", tasks);
        Self { scratch: Scratch { world, mark }, model }
    }

    /// Begins a run, says that it may, and drives it as far as it goes.
    fn begin(&self) -> String {
        let told = self.scratch.told(&["spawn", "../tasks.md", "--json"]);
        let run = told.lines[0]["run"].as_str().unwrap().to_owned();
        self.answer(&format!("{run}.q1"), &["proceed"]);
        run
    }

    /// Drives a run as far as it goes.
    fn drive(&self, run: &str) -> Told {
        self.scratch.told(&["spawn", "--resume", run, "--json"])
    }

    fn answer(&self, question: &str, words: &[&str]) -> Run {
        let args = [&["approvals", "answer", question], words].concat();
        let run = self.scratch.world.run(&args);
        assert_eq!(run.code, Some(0), "{run:?}");
        run
    }

    /// The names of the questions that wait, in order.
    pub fn open(&self) -> Vec<String> {
        let list = self.scratch.world.run(&["approvals", "list", "--json"]).json();
        let all = list["questions"].as_array().unwrap_or_else(|| panic!("{list}"));
        let mut ids: Vec<String> =
            all.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    }

    /// The queue of the repository.
    fn queue(&self) -> Queue {
        Queue::new(store(&self.scratch.world), Arc::new(Silence), now)
    }

    pub fn standing(&self, question: &str) -> Standing {
        wait(self.queue().load(&id(question))).unwrap().unwrap()
    }

    /// A file in the run's worktree, once its task is done.
    fn work(&self, file: &str) -> String {
        self.scratch.work("work", file)
    }

    /// Where the only desk is.
    fn desk(&self) -> std::path::PathBuf {
        let all = self.scratch.world.path("state/aurora/desks");
        let of_repo = std::fs::read_dir(all).unwrap().flatten().next().unwrap().path();
        let mut desks: Vec<_> = std::fs::read_dir(of_repo).unwrap().flatten().collect();
        desks.retain(|entry| entry.path().join(".git").exists());
        assert_eq!(desks.len(), 1, "{desks:?}");
        desks.remove(0).path()
    }
}

fn id(question: &str) -> QuestionId {
    QuestionId::parse(question).unwrap()
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap() }
}

const ONE_TASK: &str = "# Work\n\n- [ ] Greet the world <!-- id: t1 -->\n";

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("repo.write_file", json!({"path": path, "content": content, "why": "it is needed"}))
}

fn command(line: &str) -> (&'static str, Value) {
    ("run_command", json!({"command": line}))
}

// APR-7. Traps: approving resumed nothing, or the model had to call again and was asked again; the
// result was written before parking; only the first of several gated calls was parked.
#[test]
fn calls_that_are_asked_are_made_once_after_a_yes_and_the_model_sees_what_came_of_them() {
    let read = ("repo.read_file", json!({"path": "README.md"}));
    let talk = Talk::new(
        ONE_TASK,
        vec![(
            "Greet",
            vec![
                calls(
                    "I look and write.",
                    &[
                        read,
                        write("greeting.txt", "hello world\n"),
                        command("echo ran >> ran.log; printf done-$((40+2))"),
                    ],
                ),
                say("I wrote a greeting."),
            ],
        )],
    );
    let run = talk.begin();
    let told = talk.drive(&run);
    assert_eq!(of(&told.lines, "task_parked").count(), 1, "{told:#?}");
    assert_eq!(talk.model.asked("Greet").len(), 1, "it waits, and nobody asks the model");
    let open = talk.open();
    assert_eq!(open, [format!("{run}.q2"), format!("{run}.q3")], "both of the gated calls wait");
    assert!(!talk.desk().join("greeting.txt").exists());
    let standing = talk.standing(&open[0]);
    assert_eq!(standing.request.title, "make the new file greeting.txt (1 line)");
    assert_eq!(standing.request.claimed.as_deref(), Some("it is needed"));
    assert!(standing.request.parked.is_some());
    // Driving it again changes nothing as long as nobody answered.
    talk.drive(&run);
    assert_eq!(talk.model.asked("Greet").len(), 1);
    talk.answer(&open[0], &["allow"]);
    talk.drive(&run);
    assert_eq!(talk.model.asked("Greet").len(), 1, "one call is still missing its answer");
    talk.answer(&open[1], &["allow"]);
    let told = talk.drive(&run);
    assert_eq!(told.outcome(), "completed", "{told:#?}");
    assert_eq!(talk.model.asked("Greet").len(), 2, "it goes on once");
    let results = talk.model.told("Greet");
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["call_0_0", "call_0_1", "call_0_2"], "each under its own name, in order");
    assert_eq!(results[0].1, "hello\n");
    assert!(results[1].1.contains("\"written\":\"greeting.txt\""), "{results:?}");
    let ran: Value = serde_json::from_str(&results[2].1).unwrap();
    assert_eq!((&ran["exit_code"], &ran["stdout"]), (&json!(0), &json!("done-42")));
    assert_eq!(talk.work("greeting.txt"), "hello world\n");
    assert_eq!(talk.work("ran.log"), "ran\n", "it was run once");
    assert_eq!(talk.standing(&open[0]).state.name(), "executed");
    // Every part of it is in the log, and what it cost is counted once each.
    let records = talk.scratch.records(&run);
    assert_eq!(of(&records, "task_unparked").count(), 1);
    assert_eq!(of(&records, "call_settled").count(), 2);
    let cost = |kind: &str| of(&records, kind).next().unwrap()["cost"]["tokens"]["input"].clone();
    assert_eq!((cost("task_parked"), cost("attempt_ended")), (json!(100), json!(100)));
}

// APR-7. Traps: on resume the question was recorded as approved also after a rejection; a rejected call
// was executed.
#[test]
fn a_denied_call_is_not_made_and_the_model_is_told_who_said_so_and_why_and_tries_another_way() {
    let patch = "--- /dev/null\n+++ b/allowed.txt\n@@ -0,0 +1 @@\n+yes\n";
    let talk = Talk::new(
        ONE_TASK,
        vec![(
            "Greet",
            vec![
                calls("", &[command("touch forbidden.txt"), write("a.txt", "x\n")]),
                calls("Then another way.", &[("repo.apply_patch", json!({"patch": patch}))]),
                say("I found another way."),
            ],
        )],
    );
    let run = talk.begin();
    talk.drive(&run);
    let open = talk.open();
    talk.answer(&open[0], &["deny", "--reason", "never touch that"]);
    talk.answer(&open[1], &["request_changes", "--reason", "call it allowed.txt"]);
    talk.drive(&run);
    let results = talk.model.told("Greet");
    let refusal: Value = serde_json::from_str(&results[0].1).unwrap();
    assert_eq!(refusal["error"], "denied", "{refusal}");
    let decision = talk.standing(&open[0]).decision.unwrap();
    assert_eq!(
        (&refusal["by"], &refusal["reason"]),
        (&json!(decision.by.name), &json!("never touch that"))
    );
    let changes: Value = serde_json::from_str(&results[1].1).unwrap();
    assert_eq!(changes["error"], "changes_requested", "{changes}");
    assert_eq!(changes["reason"], "call it allowed.txt");
    let open = talk.open();
    assert_eq!(open, [format!("{run}.q4")], "the other way is asked about as well");
    talk.answer(&open[0], &["allow"]);
    assert_eq!(talk.drive(&run).outcome(), "completed");
    assert_eq!(talk.work("allowed.txt"), "yes\n");
    let tree = talk.scratch.worktree("work");
    assert!(!tree.join("forbidden.txt").exists() && !tree.join("a.txt").exists());
    assert_eq!(talk.standing(&format!("{run}.q2")).state.name(), "denied");
}

// APR-7: its place is free while it waits, and the others are done.
#[test]
fn other_tasks_go_on_while_one_waits_for_a_person() {
    let worker = "  - {id: worker, provider: scripted, scenario: scenario.yaml}\n";
    let tasks = "# Work\n\n- [ ] Greet the world <!-- id: t1 -->\n\
                 - [ ] @worker: Sweep <!-- id: t2 -->\n\
                 - [ ] Wash up <!-- id: t3 -->\n";
    let talk = Talk::with(
        worker,
        tasks,
        vec![
            ("Greet", vec![calls("", &[write("g.txt", "g\n")]), say("greeted")]),
            ("Wash", vec![calls("", &[("repo.list", json!({}))]), say("all is clean")]),
        ],
    );
    let run = talk.begin();
    let told = talk.drive(&run);
    let done: Vec<&Value> = of(&told.lines, "task_completed").map(|event| &event["task"]).collect();
    assert!(done.contains(&&json!("t2")) && done.contains(&&json!("t3")), "{told:#?}");
    assert_eq!(of(&told.lines, "task_parked").count(), 1);
    let open = talk.open();
    assert_eq!(open.len(), 1);
    talk.answer(&open[0], &["allow"]);
    assert_eq!(talk.drive(&run).outcome(), "completed");
    assert_eq!(talk.work("g.txt"), "g\n");
}

// MOD-2, POL-1: what the policy denies is not made, and no person is asked; what a model makes up is an
// error that it is told.
#[test]
fn what_the_policy_denies_and_what_makes_no_sense_is_told_and_nobody_is_asked() {
    let talk = Talk::new(
        ONE_TASK,
        vec![(
            "Greet",
            vec![
                calls(
                    "",
                    &[
                        command("git push --force origin main"),
                        ("no_such_tool", json!({})),
                        ("repo.read_file", json!({"path": "../../secret"})),
                        ("repo.write_file", json!({"path": ".git/config", "content": "x"})),
                        (
                            "repo.apply_patch",
                            json!({"patch": "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n"}),
                        ),
                    ],
                ),
                say("I give up."),
            ],
        )],
    );
    talk.scratch.world.write(
        "repo/.aurora/policies.yaml",
        "destructive:\n  git_force_push: deny\n  git_push_main: deny\n",
    );
    let run = talk.begin();
    let told = talk.drive(&run);
    assert_eq!(of(&told.lines, "task_parked").count(), 0, "{told:#?}");
    let results = talk.model.told("Greet");
    let error = |at: usize| -> Value { serde_json::from_str(&results[at].1).unwrap() };
    assert_eq!((&error(0)["error"], &error(0)["by"]), (&json!("denied"), &json!("policy")));
    assert!(error(0)["rule"].as_str().unwrap().starts_with("destructive."), "{results:?}");
    assert_eq!(error(1)["error"], "unknown_tool");
    assert_eq!(error(2)["error"], "malformed_arguments");
    assert_eq!(error(3)["error"], "denied", "git's own is never written: {results:?}");
    assert_eq!(error(4)["error"], "does_not_apply");
}

// REV-3: `--yes` answers in the person's place, and that is what is recorded.
#[test]
fn with_yes_calls_are_made_without_waiting_and_the_flag_is_named_as_who_decided() {
    let talk = Talk::new(
        ONE_TASK,
        vec![("Greet", vec![calls("", &[write("g.txt", "g\n")]), say("greeted")])],
    );
    let told = talk.scratch.spawn();
    assert_eq!(told.outcome(), "completed", "{told:#?}");
    assert_eq!(talk.work("g.txt"), "g\n");
    let run = told.lines[0]["run"].as_str().unwrap();
    let decision = talk.standing(&format!("{run}.q2")).decision.unwrap();
    assert_eq!(decision.by.kind, aurora_model::DeciderKind::Rule, "{decision:?}");
}
