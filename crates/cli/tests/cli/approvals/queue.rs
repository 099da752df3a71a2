//! The queue on the command line: what waits, what is needed to decide it, and what becomes of it.

use aurora_model::{Choice, Tier, Who};
use insta::assert_snapshot;
use serde_json::json;

use super::asking::{call, decide, me, open, push};
use crate::harness::{Run, World};

fn world() -> World {
    World::with_commit().with("COLUMNS", "60")
}

/// What was said, with whoever runs this under another name.
fn shown(run: &Run) -> String {
    run.steady().replace(&me(), "[ME]")
}

/// APR-1: everything that is needed to decide is in one place, in sixty columns, without colour, and
/// what the agent says is marked as its own.
#[test]
fn a_request_is_shown_with_everything_that_is_needed_to_decide_it() {
    let world = world();
    open(&world, &push("spawn-7.q3"));
    let run = world.run(&["approvals", "show", "spawn-7.q3"]);
    assert_snapshot!(shown(&run), @r"
    exit: 0
    ----- stdout -----
    may coder push main to origin?
      state    pending
      asked    4 minutes ago, by coder (semi), in spawn-7, task
               sg-1 (operation gate)
      effect   push main to origin, where others see it
      call     run_command
               command: git push origin main
               timeout_s: 60
      to       main at 1a2b3c4d5e6f
      why      a push leaves this machine
               rule push.any, from .aurora/policies.yaml:3
               instead: push to a branch of your own
      risk     high: vcs:push
      decides  anyone
      on no    coder is told so and goes on without it
      no reply it waits for as long as it takes (wait, built-in
               defaults)
      the agent says, unchecked; a yes is not to these words:
               > Everybody agreed.
               > Approve quickly \x1b[2J please
      digest   dba4e2d44e6c
    aur approvals approve spawn-7.q3 --digest dba4e2d44e6c
    aur approvals answer spawn-7.q3 allow|deny|request_changes
    ");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 60), "{run:?}");
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    let json = world.run(&["approvals", "show", "spawn-7", "--json"]).json();
    assert_eq!(json["subject"]["args"]["command"], "git push origin main");
    assert_eq!((&json["state"], &json["tier"]), (&json!("pending"), &json!("high")));
    assert_eq!(json["history"][0]["event"]["type"], "requested");
}

/// APR-1: the most dangerous come first, and what is alike is said once.
#[test]
fn what_is_alike_stands_together_below_what_is_more_dangerous() {
    let world = world();
    for (number, path) in [(1, "src/a.rs"), (2, "src/b.rs"), (3, "src/c.rs")] {
        let mut request = call(&format!("spawn-7.q{number}"), "write_file", json!({"path": path}));
        request.tier = Tier::Medium;
        request.title = format!("may coder write {path}?");
        open(&world, &request);
    }
    let mut other = push("spawn-8.q1");
    other.ruling.deciders = vec![Who::Role("lead".to_owned())];
    other.ruling.quorum = 2;
    open(&world, &other);
    assert_snapshot!(shown(&world.run(&["approvals", "list"])), @r"
    exit: 0
    ----- stdout -----
    spawn-8.q1  high  4 minutes ago
      may coder push main to origin?
      a push leaves this machine
      decides: role:lead; 2 must say yes, 2 still missing
      allow | deny | request_changes
    3 alike: write_file by coder  medium
      spawn-7.q1
        may coder write src/a.rs?
      spawn-7.q2
        may coder write src/b.rs?
      spawn-7.q3
        may coder write src/c.rs?
      allow | deny | request_changes
    ");
    let ids = |args: &[&str]| -> Vec<String> {
        let json = world.run(&[&["approvals", "list", "--json"], args].concat()).json();
        let all = json["questions"].as_array().unwrap().iter();
        all.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--tier", "high"]), ["spawn-8.q1"]);
    assert_eq!(ids(&["--tier", "medium"]).len(), 3, "a tier means itself, not what is above it");
    assert_eq!(ids(&["--agent", "nobody"]).len(), 0);
    assert_eq!(ids(&["--gate", "operation"]).len(), 4);
    assert_eq!(ids(&["--state", "denied"]).len(), 0);
    assert_eq!(world.run(&["approvals", "list", "--tier", "huge"]).code, Some(2));
    assert_eq!(world.run(&["approvals", "list", "--state", "gone"]).code, Some(2));
}

/// APR-3: a yes is bound to what was seen; without a digest and without a terminal it is none.
#[test]
fn a_yes_needs_the_digest_of_what_was_seen() {
    let world = world();
    let request = push("spawn-7.q3");
    open(&world, &request);
    assert_snapshot!(shown(&world.run(&["approvals", "approve", "spawn-7.q3"])), @r"
    exit: 2
    ----- stderr -----
    error: saying yes to spawn-7.q3 needs the digest of what you saw, and nobody is there to show it to
    hint: `aur approvals show spawn-7.q3` tells it for --digest
    hint: --yes takes what is there now as seen
    ");
    let wrong = world.run(&["approvals", "approve", "spawn-7.q3", "--digest", "0123456789ab"]);
    assert_snapshot!(shown(&wrong), @r"
    exit: 3
    ----- stderr -----
    error: spawn-7.q3: what you saw is not what would be done
    hint: `aur approvals show` tells what would be done now
    ");
    assert_eq!(world.run(&["approvals", "approve", "spawn-7.q3", "--digest", "0"]).code, Some(2));
    let digest = request.digest.as_str().get(..12).unwrap();
    let args =
        ["approvals", "approve", "spawn-7", "--digest", digest, "--reason", "it is time", "--json"];
    let json = world.run(&args).json();
    assert_eq!((&json["state"], &json["choice"]), (&json!("approved"), &json!("allow")));
    assert_eq!(json["by"], json!(me()));
    let history = world.run(&["approvals", "show", "spawn-7.q3", "--json"]).json();
    let decision = &history["decision"];
    assert_eq!(decision["seen"], json!(request.digest), "what was seen is recorded");
    assert_eq!(decision["by"]["surface"], "command");
    assert_eq!(decision["by"]["kind"], "person");
    assert_ne!(decision["policy"], json!("0".repeat(64)), "and which policy was in force");
    assert_eq!(world.run(&["audit", "verify"]).code, Some(0));
}

/// APR-2: whoever comes second is told who was first, from where and why.
#[test]
fn the_second_decision_is_refused_and_says_who_was_first() {
    let world = world();
    let request = push("spawn-7.q3");
    open(&world, &request);
    decide(&world, &request, "ana", Choice::Deny, "not on a Friday");
    let second = world.run(&["approvals", "approve", "spawn-7.q3", "--yes"]);
    assert_snapshot!(shown(&second), @r"
    exit: 3
    ----- stderr -----
    error: spawn-7.q3 was decided before: denied, by ana (http): not on a Friday
    ");
    let same = world.run(&["approvals", "deny", "spawn-7.q3"]);
    assert_eq!(same.code, Some(0), "they wanted the same: {same:?}");
    assert!(same.stdout.contains("by ana (http)"), "{same:?}");
    let args = ["approvals", "request-changes", "spawn-7.q3", "--feedback", "wait", "--json"];
    let json = world.run(&args);
    assert_eq!(json.code, Some(3));
    assert!(json.json()["error"].as_str().unwrap().contains("by ana (http)"), "{json:?}");
    assert_eq!(world.run(&["approvals", "list"]).stdout, "no question waits for an answer\n");
    let past = world.run(&["approvals", "list", "--all"]);
    assert!(past.stdout.contains("denied"), "{past:?}");
}

/// APR-8: only those may decide who are named, and several must where several are asked for.
#[test]
fn whoever_is_not_named_may_not_decide_and_a_quorum_needs_several() {
    let world = world();
    let mut request = push("spawn-7.q3");
    request.ruling.deciders = vec![Who::Person("ana".to_owned())];
    open(&world, &request);
    assert_snapshot!(shown(&world.run(&["approvals", "approve", "spawn-7.q3", "--yes", "--json"])), @r#"
    exit: 3
    ----- stdout -----
    {
      "error": "spawn-7.q3: [ME] may not decide it; ana may"
    }
    ----- stderr -----
    error: spawn-7.q3: [ME] may not decide it; ana may
    "#);
    let mut two = push("spawn-8.q1");
    two.ruling.quorum = 2;
    open(&world, &two);
    let first = world.run(&["approvals", "answer", "spawn-8.q1", "allow"]);
    assert_eq!(
        shown(&first),
        "exit: 0\n----- stdout -----\nrecorded: allow, by [ME]; one more must say yes"
    );
    let again = world.run(&["approvals", "answer", "spawn-8.q1", "allow"]);
    assert_eq!(again.code, Some(3), "{again:?}");
    assert!(again.stderr.contains("you said yes before; 1 more must"), "{again:?}");
    let shown = world.run(&["approvals", "show", "spawn-8"]).stdout;
    assert!(shown.contains("2 must say yes, 1 still missing"), "{shown}");
    decide(&world, &two, "ana", Choice::Allow, "fine");
    let json = world.run(&["approvals", "show", "spawn-8.q1", "--json"]).json();
    assert_eq!((&json["state"], json["votes"].as_array().unwrap().len()), (&json!("approved"), 1));
}

/// APR-3: deny, ask for changes and choices by name; a beginning that could be two is no name.
#[test]
fn a_no_and_a_wish_are_recorded_with_their_words() {
    let world = world();
    open(&world, &push("spawn-7.q3"));
    open(&world, &push("spawn-7.q4"));
    let either = world.run(&["approvals", "deny", "spawn-7"]);
    assert_snapshot!(shown(&either), @r"
    exit: 2
    ----- stderr -----
    error: `spawn-7` could be spawn-7.q4 or spawn-7.q3
    hint: write more of it
    ");
    assert_eq!(world.run(&["approvals", "deny", "spawn-7.q3", "--reason", "no"]).code, Some(0));
    let empty = world.run(&["approvals", "request-changes", "spawn-7.q4", "--feedback", " "]);
    assert_eq!(empty.code, Some(2), "{empty:?}");
    let args = ["approvals", "request-changes", "spawn-7.q4", "--feedback", "use a branch"];
    assert_eq!(world.run(&args).code, Some(0));
    let state = |id: &str| world.run(&["approvals", "show", id, "--json"]).json();
    assert_eq!(state("spawn-7.q3")["decision"]["reason"], "no");
    assert_eq!(state("spawn-7.q4")["state"], "changes_requested");
    assert_eq!(state("spawn-7.q4")["decision"]["reason"], "use a branch");
    open(&world, &push("spawn-9.q1"));
    let precedent = world.run(&["approvals", "show", "spawn-9.q1"]).stdout;
    assert!(precedent.contains("2 alike: 1 denied, 1 changes requested"), "{precedent}");
}

/// APR-10: the set is frozen; what changed meanwhile is named and not decided.
#[test]
fn a_batch_decides_exactly_the_set_that_was_seen() {
    let world = world();
    for number in 1..4 {
        let mut request = push(&format!("spawn-7.q{number}"));
        request.tier = Tier::Low;
        open(&world, &request);
    }
    open(&world, &push("spawn-8.q1"));
    let without = world.run(&["approvals", "batch", "approve"]);
    assert_eq!(without.code, Some(2), "{without:?}");
    let set = world.run(&["approvals", "list", "--tier", "low", "--json"]);
    world.write("set.json", &set.stdout);
    let mut second = push("spawn-7.q2");
    second.tier = Tier::Low;
    decide(&world, &second, "ana", Choice::Deny, "never");
    let mut late = push("spawn-7.q9");
    late.tier = Tier::Low;
    open(&world, &late);
    let run = world.run(&["approvals", "batch", "approve", "--set", "../set.json"]);
    assert_snapshot!(shown(&run), @r"
    exit: 3
    ----- stdout -----
    spawn-7.q1: allow
    NOT decided: spawn-7.q2 was decided before: denied, by ana
      (http): never (may coder push main to origin?)
    spawn-7.q3: allow
    2 of 3 requests decided
    ");
    let rest = world.run(&["approvals", "list", "--json"]).json();
    assert_eq!(rest["questions"].as_array().unwrap().len(), 2, "{rest:#}");
    let deny = ["approvals", "batch", "deny", "--agent", "coder", "--yes", "--json"];
    let deny = world.run(&deny);
    assert_eq!((deny.code, &deny.json()["decided"]), (Some(0), &json!(2)));
    world.write("set.json", "{}");
    assert_eq!(world.run(&["approvals", "batch", "deny", "--set", "../set.json"]).code, Some(2));
}

/// APR-7: the parked tasks of each agent, with what they wait for.
#[test]
fn parked_tasks_are_listed_by_agent() {
    let world = world();
    assert_eq!(world.run(&["approvals", "parked"]).stdout, "no task is parked\n");
    open(&world, &push("spawn-7.q3"));
    let approved = push("spawn-7.q4");
    open(&world, &approved);
    decide(&world, &approved, "ana", Choice::Allow, "fine");
    assert_snapshot!(shown(&world.run(&["approvals", "parked"])), @r"
    exit: 0
    ----- stdout -----
    coder: 1 parked task
      spawn-7 sg-1 waits for 2 calls
        spawn-7.q3  high, pending
          may coder push main to origin?
        spawn-7.q4  high, approved
          may coder push main to origin?
    ");
    let json = world.run(&["approvals", "parked", "--json"]).json();
    assert_eq!(json["calls"].as_array().unwrap().len(), 2);
}

/// APR-3: what is edited is judged again: what the policy denies is refused, what it allows is a new
/// version with a digest of its own.
#[test]
fn an_edited_call_is_judged_again_before_it_is_approved() {
    let world = world();
    let policy = "destructive:\n  git_force_push: deny\n";
    world.write("repo/.aurora/policies.yaml", policy);
    let mut request = call("spawn-7.q3", "Bash", json!({"command": "git push origin main"}));
    request.subject.project = world.path("repo").display().to_string();
    request.digest = aurora_gate::approval::digest_of(&request.subject);
    open(&world, &request);
    let edit = |text: &str, more: &[&str]| {
        let args = [&["approvals", "edit", "spawn-7.q3", "--args", "-"], more].concat();
        world.run_with(&args, text.as_bytes())
    };
    let forbidden = edit(r#"{"command": "git push --force origin main"}"#, &["--yes"]);
    assert_eq!(forbidden.code, Some(3), "{forbidden:?}");
    assert!(forbidden.stderr.contains("the policy forbids it"), "{forbidden:?}");
    assert_eq!(edit("[]", &["--yes"]).code, Some(2));
    assert_eq!(edit(r#"{"command": "git push origin main"}"#, &["--yes"]).code, Some(1));
    assert_eq!(
        edit(r#"{"command": "git push origin main:topic"}"#, &[]).code,
        Some(2),
        "nobody said yes"
    );
    let taken = edit(r#"{"command": "git push origin main:topic"}"#, &["--yes", "--json"]);
    assert_eq!(taken.code, Some(0), "{taken:?}");
    let json = world.run(&["approvals", "show", "spawn-7.q3", "--json"]).json();
    assert_eq!((&json["state"], &json["version"]), (&json!("approved"), &json!(2)));
    assert_eq!(json["subject"]["args"]["command"], "git push origin main:topic");
    assert_ne!(json["digest"], json!(request.digest));
    assert_eq!(json["decision"]["seen"], json["digest"]);
}

/// APR-8: the settings that hold, with where they come from, and who sits here by them.
#[test]
fn the_settings_are_written_shown_and_say_who_you_are() {
    let world = world();
    let init = world.run(&["approvals", "init", "--json"]);
    assert_eq!(init.code, Some(0), "{init:?}");
    assert_eq!(world.run(&["approvals", "init"]).code, Some(2), "it stays as it is");
    assert!(world.git(&["status", "--porcelain", "-uall"]).contains(".aurora/approvals.yaml"));
    let defaults = world.run(&["approvals", "config", "--json"]).json();
    assert_eq!(defaults["risk"]["value"]["vcs:push"], "high");
    assert_eq!(defaults["you"]["name"], json!(me()));
    let file = format!("people:\n  ana: {{login: {}, roles: [lead]}}\n", me());
    world.write("repo/.aurora/approvals.yaml", &file);
    let shown = world.run(&["approvals", "config"]).stdout;
    assert!(shown.starts_with("you are ana (lead)\n"), "{shown}");
    assert!(shown.contains("people  # .aurora/approvals.yaml:"), "{shown}");
    let mut request = push("spawn-7.q3");
    request.ruling.deciders = vec![Who::Role("lead".to_owned())];
    open(&world, &request);
    assert_eq!(world.run(&["approvals", "approve", "spawn-7.q3", "--yes"]).code, Some(0));
    let json = world.run(&["approvals", "show", "spawn-7.q3", "--json"]).json();
    assert_eq!(json["decision"]["by"]["name"], "ana");
    assert_eq!(json["decision"]["by"]["roles"], json!(["lead"]));
    world.write("repo/.aurora/approvals.yaml", "peeple: {}\n");
    let wrong = world.run(&["approvals", "deny", "spawn-7.q3"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}

/// APR-6: what became due while nobody looked happens when somebody does, and a time that is over is
/// nobody's no.
#[test]
fn a_deadline_that_passed_while_nobody_looked_is_a_timeout() {
    let world = world();
    let mut request = push("spawn-7.q3");
    request.ruling.timeout.policy = "deny".to_owned();
    request.ruling.timeout.settings = json!({"timeout_s": 3600});
    request.asked_at.unix_ms -= 5 * 3_600_000;
    open(&world, &request);
    let late = world.run(&["approvals", "approve", "spawn-7.q3", "--yes"]);
    assert_eq!(late.code, Some(3), "{late:?}");
    assert!(late.stderr.contains("timed out"), "{late:?}");
    let json = world.run(&["approvals", "show", "spawn-7.q3", "--json"]).json();
    assert_eq!((&json["state"], &json["decision"]), (&json!("timed_out"), &json!(null)));
}
