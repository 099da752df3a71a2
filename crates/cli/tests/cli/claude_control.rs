//! An agent that asks before each call by Claude Code's control protocol, played by a script: what a
//! person decides from another process is what happens.

use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::World;

/// Asks about a call: `ask NUMBER TOOL ARGUMENTS`, and leaves the answer in `$answer`.
const SPEAKS: &str = r#"
read -r begin; read -r task
ask() {
  printf '{"type":"control_request","request_id":"r%s","request":{"subtype":"can_use_tool","tool_name":"%s","input":%s,"tool_use_id":"c%s"}}\n' "$1" "$2" "$3" "$1"
  read -r answer
}
allowed() { case $answer in *'"behavior":"allow"'*) return 0;; *) return 1;; esac; }
told() {
  printf '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%s","content":"told","is_error":%s}]}}\n' "$1" "$2"
}
done_() { printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","total_cost_usd":0.01}\n' "$1"; }
"#;

/// A long time, for a machine that does ten other things.
const PATIENCE: Duration = Duration::from_secs(60);

struct Asking {
    world: World,
    run: String,
    driving: Child,
}

impl Asking {
    /// A run whose only task is done by this script, and which is being driven.
    fn new(script: &str, seconds: u64) -> Self {
        let world = World::with_commit();
        let state = world.path("state").display().to_string();
        let world = world.with("XDG_STATE_HOME", &state);
        world.write("agent.sh", &format!("{SPEAKS}{script}"));
        let agents = json!({
            "default": "claude",
            "agents": [{
                "id": "claude", "provider": "cli", "output": "claude-control",
                "command": ["bash", world.path("agent.sh").to_str().unwrap()],
                "limits": {"timeout_seconds": seconds},
            }]
        });
        world.write("repo/.aurora/agents.yaml", &agents.to_string());
        world.write("tasks.md", "# Go on\n\n- [ ] Go on\n");
        let begun = world.run(&["spawn", "../tasks.md", "--json"]).json_lines();
        let run = begun[0]["run"].as_str().unwrap().to_owned();
        let first = format!("{run}.q1");
        assert_eq!(world.run(&["approvals", "answer", &first, "proceed"]).code, Some(0));
        let driving = world.command(&["spawn", "--resume", &run, "--json"]).spawn().unwrap();
        Self { world, run, driving }
    }

    /// Waits for something.
    fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < until, "it never came to this: {what}");
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// The call that waits.
    fn asked(&self) -> String {
        let prefix = format!("{}.", self.run);
        self.until("a call waits", || {
            let list = self.world.run(&["approvals", "list", "--json"]).json();
            let ids = list["questions"].as_array()?.iter();
            let mut ids = ids.filter_map(|one| one["id"].as_str().map(str::to_owned));
            let is_call =
                |id: &String| id.strip_prefix(&prefix).is_some_and(|rest| !rest.starts_with('q'));
            ids.find(is_call)
        })
    }

    fn state(&self, id: &str) -> String {
        let shown = self.world.run(&["approvals", "show", id, "--json"]).json();
        shown["state"].as_str().unwrap_or_default().to_owned()
    }

    fn say(&self, words: &[&str]) {
        let run = self.world.run(&[&["approvals"], words].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    }

    /// Where the only desk is.
    fn desk(&self) -> std::path::PathBuf {
        let all = self.world.path("state/aurora/desks");
        let of_repo = std::fs::read_dir(all).unwrap().flatten().next().unwrap().path();
        let mut desks: Vec<_> = std::fs::read_dir(of_repo).unwrap().flatten().collect();
        desks.retain(|entry| entry.path().join(".git").exists());
        assert_eq!(desks.len(), 1, "{desks:?}");
        desks.remove(0).path()
    }

    /// What the run told until it ended.
    fn ended(self) -> (World, Vec<Value>) {
        let run = self.world.finish(self.driving);
        let lines = run.json_lines();
        assert!(!lines.is_empty(), "{run:?}");
        (self.world, lines)
    }
}

fn summary(told: &[Value]) -> String {
    let ended = told.iter().find(|one| one["type"] == "attempt_ended");
    ended.map(|one| one["end"]["summary"].to_string()).unwrap_or_default()
}

/// AGT-2, APR-5: what is allowed happens once, what is denied does not, and the agent is told why; its
/// time does not run while it waits.
#[test]
fn what_a_person_allows_happens_once_and_what_they_deny_does_not() {
    let script = r#"
ask 1 Read '{"file_path":"README.md"}'; allowed && told 1 false
ask 2 Bash '{"command":"echo once >> happened"}'
if allowed; then echo once >> happened; told 2 false; else told 2 true; fi
ask 3 Bash '{"command":"echo never > refused"}'
if allowed; then echo never > refused; fi; told 3 true
case $answer in *"not this one"*) done_ "was told why";; *) done_ "was not told";; esac
"#;
    let asking = Asking::new(script, 3);
    let first = asking.asked();
    let begun = Instant::now();
    // Longer than the agent may work in all.
    asking.until("a while passes", || {
        assert_eq!(asking.state(&first), "pending");
        (begun.elapsed() > Duration::from_secs(4)).then_some(())
    });
    asking.say(&["approve", &first, "--yes"]);
    asking.until("it was done", || (asking.state(&first) == "executed").then_some(()));
    let second =
        asking.until("the second waits", || Some(asking.asked()).filter(|id| *id != first));
    asking.say(&["deny", &second, "--reason", "not this one"]);
    let (world, told) = asking.ended();
    assert_eq!(summary(&told), "\"was told why\"", "{told:#?}");
    let done = told.iter().find(|one| one["type"] == "task_completed").unwrap();
    assert_eq!(done["changed"], json!([{"path": "happened", "kind": "added"}]), "{told:#?}");
    let work = told.last().unwrap()["worktree"].as_str().unwrap().replace("[DIR]/", "");
    assert_eq!(world.read(&format!("{work}/happened")), "once\n");
}

/// AGT-2, APR-3: a file that changed between question and yes makes the yes stale.
#[test]
fn a_yes_to_a_file_that_changed_meanwhile_is_stale() {
    let script = r#"
echo old > a.txt
ask 1 Write "{\"file_path\":\"$PWD/a.txt\",\"content\":\"new\"}"
if allowed; then printf new > a.txt; told 1 false; done_ "wrote"; else told 1 true; done_ "$(echo "$answer" | grep -o stale | head -n 1)"; fi
"#;
    let asking = Asking::new(script, 30);
    let id = asking.asked();
    std::fs::write(asking.desk().join("a.txt"), "somebody else's\n").unwrap();
    asking.say(&["approve", &id, "--yes"]);
    asking.until("it is stale", || (asking.state(&id) == "stale").then_some(()));
    let (_, told) = asking.ended();
    assert_eq!(summary(&told), "\"stale\"", "{told:#?}");
}

/// AGT-2, APR-2: when the run is stopped nobody needs to decide any more.
#[test]
fn a_call_of_a_run_that_is_stopped_is_cancelled() {
    let script = "ask 1 Bash '{\"command\":\"echo x > y\"}'\ndone_ never\n";
    let asking = Asking::new(script, 30);
    let id = asking.asked();
    let pid = asking.driving.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    asking.until("it is cancelled", || (asking.state(&id) == "cancelled").then_some(()));
    asking.ended();
}

/// AGT-2, APR-7: an agent that dies after a yes leaves an outcome that nobody knows; and it is killed
/// with its run, the next attempt says so.
#[test]
fn an_agent_that_dies_after_a_yes_leaves_an_unknown_outcome() {
    let script = "ask 1 Bash '{\"command\":\"echo x > y\"}'\nexit 7\n";
    let asking = Asking::new(script, 30);
    let id = asking.asked();
    asking.say(&["approve", &id, "--yes"]);
    asking.until("nobody knows", || (asking.state(&id) == "outcome_unknown").then_some(()));
    // It is tried again, and asks again; somebody ends that.
    let pid = asking.driving.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    asking.ended();
}

/// APR-5: what the policy denies counts for an agent that asks by the control protocol as well, once.
#[test]
fn three_denials_lower_an_agent_that_asks_by_the_control_protocol() {
    let script = r#"
for n in 1 2 3 4; do ask $n Write '{"file_path":".git/config","content":"x"}'; told $n true; done
done_ "gave up"
"#;
    let (world, told) = Asking::new(script, 60).ended();
    let warned: Vec<&Value> = told.iter().filter(|one| one["type"] == "warning").collect();
    assert_eq!(warned.len(), 1, "{told:#?}");
    let text = warned[0]["warning"].as_str().unwrap();
    assert!(text.starts_with("claude is supervised from now on: the policy denied 3"), "{text}");
    let config = world.run(&["approvals", "config", "--json"]).json();
    assert_eq!(config["lowered"][0]["scope"], "agent:claude", "{config}");
}
