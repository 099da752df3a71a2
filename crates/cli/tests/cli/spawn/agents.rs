//! Agents that do what agents should not: each is found out, and nothing is left of any.

use std::time::Instant;

use serde_json::Value;

use super::{Scratch, Told, of};
use crate::keep;

const ONE_ATTEMPT: &str = "agent_recovery: {timeout_seconds: 20, max_retries: 1}\n";

fn error_of<'a>(told: &'a Told, task: &str) -> &'a str {
    told.the("task_failed", task)["error"].as_str().unwrap()
}

/// AGT-4: the whole tree of an attempt that ran out of time is gone before the next one begins: it
/// left a process in a session of its own that holds a lock, and the next one must get the lock.
#[test]
fn nothing_of_an_attempt_that_never_ends_is_left_when_the_next_one_begins() {
    let script = "exec 9>\"$1/lock\"\nflock -n 9 || exit 7\n[ -e \"$1/first\" ] && exit 0\n\
                  touch \"$1/first\"\nsetsid sleep 1000 &\nsetsid bash -c 'trap \"\" TERM; sleep 1000; :' &\n\
                  trap '' TERM\nwhile :; do sleep 1000; done\n";
    let more = "  - id: endless\n    provider: cli\n    command: [bash, [DIR]/agent.sh, [DIR]]\n    \
                environment: {AURORA_TEST_MARK: \"[MARK]\"}\n";
    let scratch = Scratch::with_agents(more, "- [ ] Never end <!-- id: t, agent: endless -->\n")
        .policy("agent_recovery: {timeout_seconds: 1, max_retries: 2}\n");
    scratch.world.write("agent.sh", script);
    let begun = Instant::now();
    let told = scratch.spawn();
    scratch.nothing_is_left_now();
    let ends: Vec<&Value> = told.of("attempt_ended").map(|event| &event["end"]).collect();
    assert_eq!(ends.len(), 2, "{told:#?}");
    assert_eq!(ends[0]["how"], "timed_out");
    assert_eq!(ends[1]["how"], "succeeded", "{told:#?}");
    assert_eq!(told.run.code, Some(0));
    assert!(begun.elapsed() < super::PATIENCE, "it took {:?}", begun.elapsed());
}

/// AGT-4: what agents can do wrong, all at once.
#[test]
fn whatever_an_agent_does_it_is_told_and_nothing_is_left_of_it() {
    let cli = |name: &str, command: &str, more: &str| {
        format!(
            "  - id: {name}\n    provider: cli\n    command: {command}\n    \
             environment: {{AURORA_TEST_MARK: \"[MARK]\"}}\n{more}"
        )
    };
    let more = [
        cli("liar", "[sh, -c, 'echo FATAL: no; exit 0']", "    success: {fail_on: FATAL}\n"),
        cli("mute", "['true']", "    success: {require_line: ALL DONE}\n"),
        cli("missing", "[no-such-program-anywhere]", ""),
        cli("plain", "[[DIR]/plain.txt]", ""),
        cli("bytes", "[printf, '\\377\\376 caf\\351\\n']", ""),
    ];
    let tasks = "- [ ] Nothing said <!-- id: silent -->\n\
                 - [ ] Left behind <!-- id: forks -->\n\
                 - [ ] Said well, did badly <!-- id: liar, agent: liar -->\n\
                 - [ ] Never said so <!-- id: mute, agent: mute -->\n\
                 - [ ] No text <!-- id: bytes, agent: bytes -->\n\
                 - [ ] No text either <!-- id: noise -->\n\
                 - [ ] Killed <!-- id: crash -->\n\
                 - [ ] Code <!-- id: code -->\n\
                 - [ ] Not found <!-- id: missing, agent: missing -->\n\
                 - [ ] No program <!-- id: plain, agent: plain -->\n";
    let scratch = Scratch::with_agents(&more.concat(), tasks).policy(ONE_ATTEMPT);
    scratch.world.write("plain.txt", "no program\n");
    scratch.world.write(
        "repo/.aurora/scenario.yaml",
        "tasks:\n  silent: []\n  forks: [{fork_away: {mark: away}}, {say: gone}]\n  \
         noise: [not_utf8, {say: after}]\n  crash: [{say: last words}, crash]\n  code: [{exit: 3}]\n",
    );
    let told = scratch.spawn();
    scratch.nothing_is_left_now();
    assert_eq!(told.run.code, Some(1), "{told:#?}");
    for good in ["silent", "forks", "bytes", "noise"] {
        told.the("task_completed", good);
    }
    let said = |task: &str, what: &str| {
        let error = error_of(&told, task);
        assert!(error.contains(what), "{task}: {error}");
    };
    said("liar", "FATAL");
    said("mute", "ALL DONE");
    said("crash", "signal 9");
    said("code", "code 3");
    said("missing", "no-such-program-anywhere");
    said("plain", "plain.txt");
    let open: Vec<&Value> = told.of("question_answered").collect();
    assert!(open.iter().all(|answer| answer["answerer"]["by"] == "--yes"), "{open:#?}");
    let summary = &told.the("task_completed", "bytes")["summary"];
    assert!(summary.as_str().unwrap().contains("caf\u{fffd}"), "{summary}");
}

/// AGT-4: an agent that floods its output costs neither memory nor the run; a gigabyte where
/// `AURORA_FLOOD_MB` says so.
#[test]
fn an_agent_that_floods_its_output_fills_no_memory() {
    let megabytes = std::env::var("AURORA_FLOOD_MB").ok().and_then(|text| text.parse().ok());
    let bytes = megabytes.unwrap_or(24_u64) << 20;
    let tasks = "- [ ] Lines <!-- id: lines -->\n- [ ] One line <!-- id: line -->\n\
                 - [ ] Complain <!-- id: complain -->\n";
    let scratch = Scratch::new(
        &format!(
            "tasks:\n  lines: [{{flood: {{bytes: {bytes}}}}}]\n  \
             line: [{{flood: {{bytes: {bytes}, one_line: true}}}}]\n  \
             complain: [{{flood: {{bytes: {bytes}, stderr: true}}}}]\n"
        ),
        tasks,
    )
    .policy("agent_recovery: {timeout_seconds: 3600, max_retries: 1}\n");
    let mut started = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    let mut most = 0;
    while started.until("task_completed") {
        most = most.max(memory_kib(started.child.id()));
    }
    let (told, code, said) = started.end();
    assert_eq!((code, of(&told, "task_completed").count()), (Some(0), 3), "{said} {told:#?}");
    assert!(most > 0 && most < 300 << 10, "{most} KiB");
    let blobs = walk(&scratch.world.path("repo/.aurora"));
    assert!(blobs < 64 << 20, "{blobs} bytes are kept of it");
    scratch.nothing_is_left_now();
}

/// The most memory that a process ever had.
fn memory_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn walk(dir: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(kind) if kind.is_dir() => walk(&entry.path()),
            Ok(kind) => kind.len(),
            Err(_) => 0,
        })
        .sum()
}

/// AGT-1: agents work at a desk with an allow-list of variables, and not in the user's checkout.
#[test]
fn an_agent_works_at_its_desk_with_no_variable_that_it_was_not_given() {
    let more =
        "  - id: env\n    provider: cli\n    command: [sh, -c, 'pwd > where; env > variables']\n";
    let tasks = "# Look around\n- [ ] Look <!-- id: t, agent: env -->\n";
    let mut scratch = Scratch::with_agents(more, tasks);
    scratch.world = scratch.world.with("MY_SECRET", "hunter2");
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    let variables = scratch.work("look-around", "variables");
    assert!(variables.contains("PATH="), "{variables}");
    assert!(!variables.contains("hunter2") && !variables.contains(&scratch.mark), "{variables}");
    let place = scratch.work("look-around", "where");
    assert!(place.starts_with(&scratch.world.path("state").display().to_string()), "{place}");
    assert!(keep::marked(&scratch.mark).is_empty());
}
