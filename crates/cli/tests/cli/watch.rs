//! `aur watch` as a process of its own: what it prints, who can ask it, and how it ends.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::World;

/// A world whose current directory is a real repository without a commit.
fn world() -> World {
    let world = World::new().at("work");
    let made = Command::new("git")
        .args(["init", "--quiet", "--initial-branch=main"])
        .arg(world.path("work"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", world.path("home"))
        .status();
    assert!(made.unwrap().success());
    world.write("work/a.txt", "one\n");
    world
}

/// A watch that is running. It is killed when the test ends before it does.
struct Watch {
    child: Option<Child>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watch {
    fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.command(&[&["watch"], args].concat());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child: Some(child), lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// The next JSON line of a kind.
    fn event(&mut self, event: &str) -> Value {
        loop {
            let value: Value = serde_json::from_str(&self.line()).unwrap();
            if value["event"] == event {
                return value;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.as_ref().unwrap().id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// How it ended, with what it still had to say on both.
    fn end(&mut self, world: &World) -> (Option<i32>, Vec<String>, String) {
        let rest = self.lines.by_ref().map(|line| line.unwrap()).collect();
        let run = world.finish(self.child.take().unwrap());
        (run.code, rest, run.stderr)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn sockets(world: &World) -> Vec<String> {
    world.list("").into_iter().filter(|name| name.starts_with("aur-watch-")).collect()
}

/// WSP-2: events as they happen, for programs, and a clean end.
#[test]
fn watch_tells_events_as_json_lines_and_ends_cleanly() {
    let world = world();
    let mut watch = Watch::start(&world, &["--json", "--settle", "20"]);
    let begin = watch.event("watching");
    assert_eq!(begin["watches"], 1, "{begin}");
    assert_eq!(begin["root"], world.path("work").to_str().unwrap());
    assert_eq!(sockets(&world).len(), 1);
    world.write("work/.env", "A=1");
    let change = watch.event("change");
    assert_eq!((&change["event_type"], &change["file_path"]), (&"add".into(), &".env".into()));
    assert_eq!(change["file_size"], 3);
    watch.signal(Signal::INT);
    let (code, rest, stderr) = watch.end(&world);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(rest.last().unwrap().contains("\"ended\""), "{rest:?}");
    assert_eq!(sockets(&world), [""; 0], "the socket is gone");
    let features = world.path("work/.git/aurora/features/checkout");
    assert!(!features.join("watch.json").exists());
    let log = std::fs::read_to_string(features.join("logs/file-changes.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("\"checkpoint_id\":null"), "{log}");
}

/// WSP-2: events as they happen, for people.
#[test]
fn watch_tells_events_as_plain_lines_where_nobody_paints() {
    let world = world();
    let mut watch = Watch::start(&world, &["--settle", "20"]);
    assert!(watch.line().starts_with("watching /"));
    assert!(watch.line().contains("Ctrl+C"));
    world.write("work/new\u{1b}[31m", "x");
    let line = watch.line();
    assert!(line.contains("Z + ") && !line.contains('\u{1b}'), "{line:?}");
    std::fs::rename(world.path("work/a.txt"), world.path("work/b.txt")).unwrap();
    assert!(watch.line().ends_with("Z > b.txt (was a.txt)"));
    std::fs::remove_file(world.path("work/b.txt")).unwrap();
    assert!(watch.line().ends_with("Z - b.txt"));
    watch.signal(Signal::TERM);
    assert_eq!(watch.end(&world).0, Some(0));
}

/// WSP-2: one watchdog per worktree; a killed one is in nobody's way.
#[test]
fn a_second_watch_is_refused_and_a_killed_one_is_replaced() {
    let world = world();
    let mut first = Watch::start(&world, &["--json"]);
    first.event("watching");
    let second = world.run(&["watch"]);
    assert_eq!(second.code, Some(1));
    assert!(second.stderr.contains("is watched already (process"), "{second:?}");
    first.signal(Signal::KILL);
    first.end(&world);
    assert_eq!(sockets(&world).len(), 1, "a killed process cleans nothing up");
    let mut third = Watch::start(&world, &["--json"]);
    third.event("watching");
    assert_eq!(sockets(&world).len(), 1, "the next one does");
    third.signal(Signal::TERM);
    third.end(&world);
    assert_eq!(sockets(&world), [""; 0]);
}

/// WSP-2: a checkpoint of another process looks only at what changed, and the log names it.
#[test]
fn a_checkpoint_beside_a_watch_looks_only_at_what_changed() {
    let world = world();
    let mut watch = Watch::start(&world, &["--json", "--settle", "20"]);
    watch.event("watching");
    let first = world.run(&["checkpoint", "--json"]).json();
    assert!(first["scanned"]["everything"].is_object(), "{first}");
    world.write("work/deep/.new", "x\n");
    world.write("work/a.txt", "two\n");
    let second = world.run(&["checkpoint", "--json"]);
    let second = second.json();
    assert!(second["scanned"]["watched"].is_object(), "{second}");
    assert_eq!(second["files_changed"], serde_json::json!(["a.txt", "deep/.new"]));
    let full = world.run(&["checkpoint", "--json", "--full"]).json();
    assert_eq!((&full["unchanged"], &full["tree"]), (&true.into(), &second["tree"]));
    watch.signal(Signal::TERM);
    assert_eq!(watch.end(&world).0, Some(0));
    let log = world.read("work/.git/aurora/features/checkout/logs/file-changes.jsonl");
    let id = second["checkpoint_id"].as_str().unwrap();
    assert_eq!(log.lines().filter(|line| line.contains(id)).count(), 2, "{log}");
    let alone = world.run(&["checkpoint", "--json"]).json();
    assert!(alone["scanned"]["everything"].is_object(), "{alone}");
}

/// WSP-2: checkpoints by itself: one to go back to, and a last one.
#[test]
fn watch_makes_checkpoints_by_itself() {
    let world = world();
    let mut watch = Watch::start(&world, &["--json", "--checkpoint", "--settle", "20"]);
    assert_eq!(watch.event("checkpoint")["reason"], "start");
    world.write("work/b.txt", "b\n");
    watch.event("change");
    watch.signal(Signal::INT);
    let last = watch.event("checkpoint");
    assert_eq!((&last["reason"], &last["files_changed"][0]), (&"end".into(), &"b.txt".into()));
    assert!(last["scanned"]["watched"].is_object(), "{last}");
    assert_eq!(watch.end(&world).0, Some(0));
    let id = last["checkpoint_id"].as_str().unwrap();
    let log = world.read("work/.git/aurora/features/checkout/logs/file-changes.jsonl");
    assert!(log.contains(&format!("\"checkpoint_id\":\"{id}\"")), "{log}");
}

#[test]
fn watch_ends_when_its_reader_goes_away_and_refuses_nonsense() {
    let world = world();
    let mut watch = Watch::start(&world, &["--json", "--settle", "1"]);
    watch.event("watching");
    let mut child = watch.child.take().unwrap();
    drop(watch);
    let mut number = 0;
    while child.try_wait().unwrap().is_none() {
        world.write(&format!("work/f{}", number % 100), "x");
        number += 1;
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(world.run(&["watch", "--threshold", "0", "--checkpoint"]).code, Some(2));
    assert_eq!(world.run(&["watch", "--threshold", "5"]).code, Some(2));
    let outside = world.at("home/nowhere").run(&["watch"]);
    assert_eq!(outside.code, Some(2), "{outside:?}");
}
