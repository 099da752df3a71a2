//! Ctrl+C and its kin: a run stops so that it can be resumed, and nothing is left.

use std::io::{BufRead as _, BufReader, Read as _};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Scratch, of};
use crate::keep::{until, until_marked};

const TASKS: &str =
    "# Stop\n- [ ] First <!-- id: a -->\n- [ ] Endless <!-- id: b, depends-on: a -->\n";
const HANGS: &str =
    "tasks:\n  a: [{append: {path: a.txt, text: a}}]\n  b: [{fork_away: {mark: x}}, hang]\n";
const ENDS: &str =
    "tasks:\n  a: [{append: {path: a.txt, text: a}}]\n  b: [{append: {path: b.txt, text: b}}]\n";

/// EXE-5: each of these signals ends with 130, says how to go on, and leaves no process.
#[test]
fn signals_stop_a_run_so_that_it_can_be_resumed() {
    let kinds = [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM"), (Signal::HUP, "SIGHUP")];
    for (signal, name) in kinds {
        let scratch = Scratch::new(HANGS, TASKS);
        let mut started = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
        while started
            .line()
            .is_some_and(|line| line["type"] != "attempt_started" || line["task"] != "b")
        {}
        // aur, the keeper and its init, the agent, and what it left behind.
        until_marked(&scratch.mark, 3);
        started.signal(signal);
        let (told, code, said) = started.end();
        scratch.nothing_is_left_now();
        assert_eq!(code, Some(130), "{name}: {said} {told:#?}");
        assert_eq!(of(&told, "run_interrupted").next().unwrap()["by"], name);
        assert_eq!(told.last().unwrap()["outcome"], "interrupted");
        let run = told[0]["run"].as_str().unwrap();
        scratch.world.write("repo/.aurora/scenario.yaml", ENDS);
        let resumed = scratch.resume(run);
        assert_eq!(resumed.run.code, Some(0), "{name}: {resumed:#?}");
        assert!(resumed.of("attempt_started").all(|event| event["task"] == "b"), "{resumed:#?}");
        assert_eq!(scratch.work("stop", "a.txt"), "a");
        assert_eq!(scratch.work("stop", "b.txt"), "b");
    }
}

/// EXE-5: whoever presses Ctrl+C is told how to go on; a second one does not wait for the agent. A busy
/// machine may be slow in ending it once, and not every time.
#[test]
fn a_second_interrupt_ends_at_once_what_will_not_end() {
    let took: Vec<Duration> = (0..5).map(|_| interrupt_twice()).collect();
    assert!(took.iter().any(|took| *took < GRACE), "it waited for the agent: {took:?}");
}

/// So long an agent is waited for after the first interrupt.
const GRACE: Duration = Duration::from_millis(1700);

/// How long a run takes to end after the second interrupt.
fn interrupt_twice() -> Duration {
    let more = "  - id: stubborn\n    provider: cli\n    \
                command: [bash, -c, 'trap \"\" TERM INT HUP; touch [DIR]/ready; while :; do sleep 1000; done']\n    \
                environment: {AURORA_TEST_MARK: \"[MARK]\"}\n";
    let scratch = Scratch::with_agents(more, "- [ ] Stay <!-- id: t, agent: stubborn -->\n");
    let mut started = scratch.world.command(&["spawn", "../tasks.md", "--yes"]).spawn().unwrap();
    until("the agent is at work", || scratch.world.path("ready").exists());
    let pid = rustix::process::Pid::from_child(&started);
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    // Two of the same at once would be one.
    let mut lines = BufReader::new(started.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("stopping (SIGINT)") {
        assert!(lines.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let again = Instant::now();
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    lines.read_to_string(&mut said).unwrap();
    let code = started.wait().unwrap().code();
    let took = again.elapsed();
    scratch.nothing_is_left_now();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("aur spawn --resume spawn-"), "{said}");
    took
}
