//! What a task costs beyond its agent's own time, beside doing the same by hand with plain git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use xtask::bench::{Row, program};
use xtask::say;

/// How many files the repository has.
const FILES: usize = 2_000;
/// How many tasks one run has.
const TASKS: usize = 20;
/// How often each is measured; the middle one counts.
const ROUNDS: usize = 3;
/// What the agent does: next to nothing.
const WORK: &str = "echo done > \"out-$AURORA_TASK.txt\"";

type Outcome<T> = Result<T, String>;

fn main() -> Outcome<()> {
    // `cargo test --benches` starts this too, and wants it to be over.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let aur = program()?;
    let yard = Yard::new()?;
    say::line(&Row::head().text());
    let (one, apart, shared) =
        (yard.spawn(&aur, "1")?, yard.by_worktrees()?, yard.in_one_worktree()?);
    let name = "a task, one at a time";
    say::line(&Row::times(name, one, "worktree, commit, merge", apart).text());
    say::line(&Row::times(name, one, "git add, commit in place", shared).text());
    let five = yard.spawn(&aur, "5")?;
    let name = "a task, five at a time";
    say::line(&Row::times(name, five, "worktree, commit, merge", apart).text());
    let ours = yard.time(Command::new(&aur).args(["spawn", "--list-checkpoints"]))?;
    let theirs = yard.time(Command::new("git").args(["log", "-1"]))?;
    say::line(&Row::times("list what can be resumed", ours, "git log -1", theirs).text());
    Ok(())
}

/// A repository that both sides work in, in turn.
struct Yard {
    dir: PathBuf,
}

impl Yard {
    fn new() -> Outcome<Self> {
        let dir = std::env::temp_dir().join(format!("aurora-bench-engine-{}", std::process::id()));
        let yard = Self { dir };
        let repo = yard.repo();
        for number in 0..FILES {
            let path = repo.join(format!("src/{}/{number}.txt", number / 20));
            write(&path, &format!("file {number}\n"))?;
        }
        let agents = format!(
            "default: sh\nagents:\n  - id: sh\n    provider: cli\n    command: [sh, -c, '{WORK}']\n"
        );
        write(&repo.join(".aurora/agents.yaml"), &agents)?;
        yard.git(&repo, &["init", "--quiet", "--initial-branch=main"])?;
        yard.git(&repo, &["add", "-A"])?;
        yard.git(&repo, &["commit", "--quiet", "-m", "begin"])?;
        Ok(yard)
    }

    fn repo(&self) -> PathBuf {
        self.dir.join("repo")
    }

    fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env("HOME", &self.dir);
        command.env("XDG_STATE_HOME", self.dir.join("state")).env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "bench");
            command.env(format!("GIT_{role}_EMAIL"), "bench@localhost");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn git(&self, folder: &Path, args: &[&str]) -> Outcome<()> {
        run(self.command(Path::new("git"), folder).args(args))
    }

    /// What one task of a run costs.
    fn spawn(&self, aur: &Path, parallel: &str) -> Outcome<Duration> {
        middle(|round| {
            let mut list = format!("# Bench {parallel} {round}\n\n");
            for number in 0..TASKS {
                list.push_str(&format!("- [ ] Task {number} <!-- id: t{number} -->\n"));
            }
            let file = self.repo().join("tasks.md");
            write(&file, &list)?;
            let mut command = self.command(aur, &self.repo());
            command.args(["spawn", "tasks.md", "--yes", "--max-parallel", parallel]);
            let start = Instant::now();
            run(&mut command)?;
            let taken = start.elapsed();
            let ticked = fs::read_to_string(&file).unwrap_or_default().matches("[x]").count();
            if ticked != TASKS {
                return Err(format!("{ticked} of {TASKS} tasks were done"));
            }
            Ok(taken)
        })
    }

    /// The same by hand, with a worktree for each task.
    fn by_worktrees(&self) -> Outcome<Duration> {
        middle(|round| {
            let branch = format!("apart-{round}");
            let home = self.dir.join(&branch);
            self.git(&self.repo(), &["worktree", "add", "--quiet", "-b", &branch, &text(&home)])?;
            let start = Instant::now();
            for number in 0..TASKS {
                let name = format!("{branch}-{number}");
                let desk = self.dir.join(&name);
                let add = ["worktree", "add", "--quiet", "-b", &name, &text(&desk), &branch];
                self.git(&self.repo(), &add)?;
                self.work(&desk, number)?;
                self.git(&desk, &["add", "-A"])?;
                self.git(&desk, &["commit", "--quiet", "-m", &name])?;
                self.git(&home, &["merge", "--quiet", "--no-edit", &name])?;
                self.git(&self.repo(), &["worktree", "remove", "--force", &text(&desk)])?;
            }
            Ok(start.elapsed())
        })
    }

    /// The same by hand in one worktree: nothing is kept apart, and nothing can be judged first.
    fn in_one_worktree(&self) -> Outcome<Duration> {
        middle(|round| {
            let branch = format!("shared-{round}");
            let home = self.dir.join(&branch);
            self.git(&self.repo(), &["worktree", "add", "--quiet", "-b", &branch, &text(&home)])?;
            let start = Instant::now();
            for number in 0..TASKS {
                self.work(&home, number)?;
                self.git(&home, &["add", "-A"])?;
                self.git(&home, &["commit", "--quiet", "-m", "task"])?;
            }
            Ok(start.elapsed())
        })
    }

    fn work(&self, folder: &Path, number: usize) -> Outcome<()> {
        let mut command = self.command(Path::new("sh"), folder);
        run(command.args(["-c", WORK]).env("AURORA_TASK", format!("t{number}")))
    }

    /// How long a command takes in the repository.
    fn time(&self, command: &mut Command) -> Outcome<Duration> {
        command.current_dir(self.repo()).env("HOME", &self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let times = (0..20).map(|_| {
            let start = Instant::now();
            run(command).map(|()| start.elapsed())
        });
        let mut times = times.collect::<Outcome<Vec<Duration>>>()?;
        times.sort_unstable();
        Ok(times.get(times.len() / 2).copied().unwrap_or_default())
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        // What stays behind in the folder for temporary files is harmless.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// The middle of some rounds, for one task.
fn middle(round: impl Fn(usize) -> Outcome<Duration>) -> Outcome<Duration> {
    let mut times = (0..ROUNDS).map(round).collect::<Outcome<Vec<Duration>>>()?;
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    Ok(middle / u32::try_from(TASKS).unwrap_or(1))
}

fn run(command: &mut Command) -> Outcome<()> {
    let status = command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?} ended with {status}")),
    }
}

fn write(path: &Path, text: &str) -> Outcome<()> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
