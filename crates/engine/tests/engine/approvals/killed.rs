//! Real processes that are killed between a decision, its reservation, the deed and the record of it.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command as Program, Stdio};

use super::*;
use aurora_gate::approval::Command;

/// Says to a child where the log is, and who it is.
const LIVE: &str = "AURORA_ENGINE_LIVE";
/// Where a child stops and waits for the word, in order.
const STOPS: [&str; 6] = ["begin", "decided", "reserved", "did", "recorded", "end"];

/// In a child: stops, says where, and waits for the word.
fn stop(place: &str) {
    println!("at {place}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// In a child: gets a request decided and does what was approved, as whoever drives a run does.
#[test]
fn a_process_decides_and_does_until_it_is_killed() {
    let Ok(told) = std::env::var(LIVE) else { return };
    let (executor, folder) = told.split_once(' ').unwrap();
    let folder = Path::new(folder);
    run(async {
        let queue = real_queue(file(folder));
        let one = id("one");
        let request = queue.load(&one).await.unwrap().unwrap().request;
        stop("begin");
        if state(&queue, "one").await == ApprovalState::Pending {
            queue.decide(&one, &saying(&request, Choice::Allow, executor)).await.unwrap();
        }
        stop("decided");
        match state(&queue, "one").await {
            ApprovalState::Approved => {}
            ApprovalState::Reserved => {
                let reason = "whoever did it is gone".to_owned();
                queue.tell(&one, &Command::Lost { reason }).await.unwrap();
                return;
            }
            other => panic!("{other:?}"),
        }
        let digest = digest_of(&request.subject);
        let executor = executor.to_owned();
        let reserve = Command::Reserve { executor: executor.clone(), digest };
        queue.tell(&one, &reserve).await.unwrap();
        stop("reserved");
        let mut deeds =
            OpenOptions::new().append(true).create(true).open(folder.join("deeds")).unwrap();
        deeds.write_all(b"done\n").unwrap();
        stop("did");
        let executed = Command::Executed { executor, result: None, summary: String::new() };
        queue.tell(&one, &executed).await.unwrap();
        stop("recorded");
        stop("end");
    });
}

struct Life {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Life {
    fn begin(executor: &str, folder: &Path) -> Self {
        let test = "approvals::killed::a_process_decides_and_does_until_it_is_killed";
        let mut child = Program::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(LIVE, format!("{executor} {}", folder.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits until it stops at a place; false when it ended before.
    fn reaches(&mut self, place: &str) -> bool {
        let at = format!("at {place}");
        self.lines.by_ref().map_while(Result::ok).any(|line| line.ends_with(&at))
    }

    fn go(&mut self) {
        // Who is dead does not listen.
        let _ = self.child.stdin.as_mut().unwrap().write_all(b"go\n");
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it live to its end.
    fn end(mut self) {
        for place in STOPS {
            if !self.reaches(place) {
                break;
            }
            self.go();
        }
        assert!(self.child.wait().unwrap().success());
    }
}

fn deeds(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("deeds")).unwrap_or_default().lines().count()
}

/// What became of it, and how often it was done.
fn after(folder: &Path) -> (ApprovalState, usize) {
    (run(state(&real_queue(file(folder)), "one")), deeds(folder))
}

fn begin(folder: &Path) {
    let asked_at = SystemClock.now();
    let request = asked("one", asked_at, rule("wait", json!({})));
    run(real_queue(file(folder)).open(&request)).unwrap();
}

// APR-2, APR-7: `kill -9` between any two steps, and somebody else goes on.
#[test]
fn apr_7_who_is_killed_between_any_two_steps_leaves_nothing_twice_and_nothing_lost() {
    for (place, expected) in [
        ("begin", (ApprovalState::Executed, 1)),
        ("decided", (ApprovalState::Executed, 1)),
        ("reserved", (ApprovalState::OutcomeUnknown, 0)),
        ("did", (ApprovalState::OutcomeUnknown, 1)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        begin(folder.path());
        let mut first = Life::begin("first", folder.path());
        for stop in STOPS {
            assert!(first.reaches(stop), "{place}");
            if stop == place {
                break;
            }
            first.go();
        }
        first.kill();
        Life::begin("second", folder.path()).end();
        assert_eq!(after(folder.path()), expected, "{place}");
    }
}

// APR-2, APR-7: killed at whatever moment of a step, also in the midst of a write.
#[test]
fn apr_7_who_is_killed_in_the_midst_of_a_step_leaves_nothing_twice_and_nothing_lost() {
    for (n, place) in
        ["begin", "decided", "reserved", "did"].into_iter().cycle().take(16).enumerate()
    {
        let folder = tempfile::tempdir().unwrap();
        begin(folder.path());
        let mut first = Life::begin("first", folder.path());
        for stop in STOPS {
            assert!(first.reaches(stop), "{place}");
            first.go();
            if stop == place {
                break;
            }
        }
        std::thread::sleep(Duration::from_micros(300 * n as u64));
        first.kill();
        let (state, _) = after(folder.path());
        if state != ApprovalState::Executed {
            Life::begin("second", folder.path()).end();
        }
        let (state, done) = after(folder.path());
        match state {
            ApprovalState::Executed => assert_eq!(done, 1, "{place} {n}"),
            ApprovalState::OutcomeUnknown => assert!(done <= 1, "{place} {n}"),
            other => panic!("{other:?}: {place} {n}"),
        }
    }
}
