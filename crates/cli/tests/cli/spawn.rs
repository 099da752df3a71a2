//! `aur spawn` as its users meet it: real agents' processes, real git, a real log, killed and resumed.

mod agents;
mod beginning;
mod disk;
mod gate;
mod git_data;
mod hostile;
mod keeping;
mod kill;
mod parallel;
mod recovery;
pub mod screens;
mod signals;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Run, World};
use crate::keep::{mark, marked};

/// Long enough for a machine that does ten other things.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A repository with agents and a list of tasks; whatever is started there carries a mark.
pub struct Scratch {
    pub world: World,
    pub mark: String,
}

impl Scratch {
    /// One agent, `worker`, that plays a scenario; and a list.
    pub fn new(scenario: &str, tasks: &str) -> Self {
        let scratch = Self::with_agents("", tasks);
        scratch.world.write("repo/.aurora/scenario.yaml", scenario);
        scratch
    }

    /// The same with more agents, or a model.
    pub fn with_agents(more: &str, tasks: &str) -> Self {
        let mark = mark();
        let world = World::with_commit().with("AURORA_TEST_MARK", &mark);
        let state = world.path("state").display().to_string();
        let world = world.with("XDG_STATE_HOME", &state);
        let dir = world.dir.display().to_string();
        let agents = format!(
            "default: worker\nagents:\n  - id: worker\n    provider: scripted\n    \
             scenario: scenario.yaml\n    environment: {{AURORA_TEST_MARK: {mark}}}\n{more}"
        );
        world.write(
            "repo/.aurora/agents.yaml",
            &agents.replace("[MARK]", &mark).replace("[DIR]", &dir),
        );
        world.write("repo/.aurora/scenario.yaml", "default: [{say: done}]\n");
        world.write("tasks.md", tasks);
        Self { world, mark }
    }

    /// Lays a policy over the others in every run from here on.
    pub fn policy(self, text: &str) -> Self {
        self.world.write("repo/.aurora/policies.yaml", text);
        self
    }

    /// Runs `aur spawn` on the list, unattended, telling everything as JSON.
    pub fn spawn(&self) -> Told {
        self.told(&["spawn", "../tasks.md", "--yes", "--json"])
    }

    /// Goes on with a run.
    pub fn resume(&self, run: &str) -> Told {
        self.told(&["spawn", "--resume", run, "--yes", "--json"])
    }

    /// Runs a command whose every line is a JSON object.
    pub fn told(&self, args: &[&str]) -> Told {
        let run = self.world.run(args);
        let lines = run.json_lines();
        assert!(lines.iter().all(Value::is_object), "{run:?}");
        Told { lines, run }
    }

    /// Runs without `--json`.
    pub fn shown(&self, args: &[&str]) -> Run {
        self.world.run(args)
    }

    /// Starts `aur` and hands over what it tells, line by line.
    pub fn start(&self, args: &[&str]) -> Started {
        let mut child = self.world.command(args).stdin(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Started { child, lines, told: Vec::new() }
    }

    /// All records of a run, as the log has them.
    pub fn records(&self, run: &str) -> Vec<Value> {
        let args = ["audit", "show", "--run", run, "--limit", "100000", "--json"];
        let shown = self.world.run(&args);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        shown.json_lines().into_iter().map(|mut record| record["payload"].take()).collect()
    }

    /// A file of the run's worktree.
    pub fn work(&self, feature: &str, file: &str) -> String {
        std::fs::read_to_string(self.worktree(feature).join(file)).unwrap_or_default()
    }

    /// The run's worktree.
    pub fn worktree(&self, feature: &str) -> std::path::PathBuf {
        let all = self.world.path("state/aurora/worktrees");
        let mut found = std::fs::read_dir(all).unwrap().flatten();
        found.next().unwrap().path().join(feature)
    }

    /// Finds nothing left of what was started, before long.
    pub fn nothing_is_left(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !marked(&self.mark).is_empty() {
            assert!(Instant::now() < deadline, "left: {:?}", marked(&self.mark));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Finds nothing left of what was started, now.
    pub fn nothing_is_left_now(&self) {
        assert_eq!(marked(&self.mark), Vec::<u32>::new(), "something is left");
    }

    /// Finds the log whole.
    pub fn the_log_is_whole(&self) {
        let verified = self.world.run(&["audit", "verify"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
    }

    /// Everything of the user's checkout that a run must not touch.
    pub fn checkout(&self) -> String {
        let git = |args: &[&str]| self.world.git(args);
        let branches = git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let theirs = branches.lines().filter(|line| !line.starts_with("refs/heads/aurora/"));
        let theirs: Vec<&str> = theirs.filter(|line| !line.starts_with("refs/aurora/")).collect();
        let index = std::fs::read(self.world.path("repo/.git/index")).unwrap();
        format!(
            "{}\n{}\n{}\n{theirs:?}\n{index:?}",
            git(&["rev-parse", "HEAD"]),
            git(&["--no-optional-locks", "status", "--porcelain"]),
            git(&["stash", "list"]),
        )
    }
}

/// What one command told.
#[derive(Debug)]
pub struct Told {
    pub lines: Vec<Value>,
    pub run: Run,
}

impl Told {
    /// The run's name.
    pub fn id(&self) -> String {
        self.lines.first().and_then(|line| line["run"].as_str()).unwrap_or_default().to_owned()
    }

    /// The events of a kind.
    pub fn of<'a>(&'a self, kind: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        of(&self.lines, kind)
    }

    /// The only event of a kind that is about a task.
    pub fn the(&self, kind: &str, task: &str) -> &Value {
        let mut found = self.of(kind).filter(|event| event["task"] == task);
        let first = found.next().unwrap_or_else(|| panic!("no {kind} of {task}: {self:#?}"));
        assert!(found.next().is_none(), "more than one {kind} of {task}: {self:#?}");
        first
    }

    /// How it ended.
    pub fn outcome(&self) -> &str {
        self.lines.last().and_then(|line| line["outcome"].as_str()).unwrap_or_default()
    }
}

/// The events of a kind.
pub fn of<'a>(lines: &'a [Value], kind: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let kind = kind.to_owned();
    lines.iter().filter(move |line| line["type"] == kind.as_str())
}

/// An `aur` that is at work.
pub struct Started {
    pub child: Child,
    lines: BufReader<std::process::ChildStdout>,
    pub told: Vec<Value>,
}

impl Started {
    /// Reads on until a line of this kind; whether it came.
    pub fn until(&mut self, kind: &str) -> bool {
        while let Some(line) = self.line() {
            if line["type"] == kind {
                return true;
            }
        }
        false
    }

    /// The next line.
    pub fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).unwrap();
        // A process that was killed may have left half a line.
        let value: Value = (read > 0).then(|| serde_json::from_str(&line).ok()).flatten()?;
        self.told.push(value.clone());
        Some(value)
    }

    /// What is said without `--json` up to a line that has this text, or to the end.
    pub fn said_until(&mut self, text: &str) -> String {
        let mut said = String::new();
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            said.push_str(&line);
            if line.contains(text) {
                break;
            }
            line.clear();
        }
        said
    }

    /// The run's name, once it was told.
    pub fn run(&self) -> Option<String> {
        self.told.first().and_then(|line| line["run"].as_str()).map(str::to_owned)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits until it has ended; everything that it told, and its exit code.
    pub fn end(mut self) -> (Vec<Value>, Option<i32>, String) {
        while self.line().is_some() {}
        let mut said = String::new();
        let _ = std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said);
        let code = self.child.wait().unwrap().code();
        (self.told, code, said)
    }
}
