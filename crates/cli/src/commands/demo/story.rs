//! The run of the demo: a list of tasks, done by the built-in scripted agent, all of it for real.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::refuse;
use crate::exit::Failure;
use crate::output;
use crate::output::style::Style;

const AGENTS: &str = "default: coder
agents:
  - id: coder
    provider: scripted
    scenario: scenario.yaml
";

const SCENARIO: &str =
    "# What the scripted agent does for each task. A real agent would be a command here.
tasks:
  greet:
    - say: reading src/app.py
    - wait_ms: 900
    - say: writing src/greet.py
    - write: {path: src/greet.py, text: \"def greet(name):\\n    return f'hello, {name}'\\n\"}
    - cost: {usd: 0.012, input_tokens: 2100, output_tokens: 160, model: demo}
    - wait_ms: 400
    - result: added greet()
  profile:
    attempts:
      - - say: starting the profiler
        - wait_ms: 500
        - fail: the profiler is not installed
      - - say: measuring by hand this time
        - wait_ms: 700
        - write: {path: docs/profile.md, text: \"Starting takes 12 ms, most of it in imports.\\n\"}
        - cost: {usd: 0.009, input_tokens: 1500, output_tokens: 120, model: demo}
        - result: measured the start
  token:
    - say: putting a new token into .env
    - wait_ms: 300
    - write: {path: .env, text: \"TOKEN=new\\n\"}
    - result: rotated the token
  use:
    - wait_ms: 700
    - write: {path: src/app.py, text: \"from greet import greet\\n\\nprint(greet('world'))\\n\"}
    - cost: {usd: 0.006, input_tokens: 900, output_tokens: 80, model: demo}
    - result: the app greets
  deploy:
    - say: looking for the deploy key
    - wait_ms: 400
    - fail: there is no deploy key
";

const TASKS: &str = "# Greet people by name

- [ ] Add a function that greets <!-- id: greet, files: src/greet.py -->
- [ ] Find out what makes the start slow <!-- id: profile, agent: performance-engineer -->
- [ ] Rotate the token <!-- id: token -->
- [ ] Use it in the app <!-- id: use, depends-on: greet; files: src/app.py -->
- [ ] Deploy it <!-- id: deploy, depends-on: use -->
";

/// Whether somebody answers, or `--yes` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Whoever sits at the terminal.
    Person,
    /// `--yes`.
    Flag,
}

/// Does the list for real, by the program itself, and shows what the log says of it.
pub fn show(folder: &Path, answers: Answers, style: Style) -> anyhow::Result<()> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find our own program: {error}")))?;
    let stage = Stage { folder: folder.to_owned(), program };
    output::print(&format!(
        "\n{}\n\nA list of five tasks, and an agent that plays a scenario. One task is for somebody who is not \
         there, one\nwants to write a protected file, one fails. Your checkout stays as it is.\n\n{}\n{TASKS}",
        style.bold("Aurora: a run"),
        style.faint("$ cat tasks.md"),
    ))?;
    if !stage.set()? {
        return output::print("\nSkipped: a run needs git, which was not found.\n");
    }
    let spawn: &[&str] = match answers {
        Answers::Person => &["spawn", "tasks.md"],
        Answers::Flag => &["spawn", "tasks.md", "--yes"],
    };
    stage.play(spawn, style)?;
    stage.play(&["budget", "show"], style)?;
    stage.play(&["audit", "verify"], style)
}

/// Where the run happens.
struct Stage {
    folder: PathBuf,
    program: PathBuf,
}

impl Stage {
    /// Writes the settings and commits what is there; false without git.
    fn set(&self) -> anyhow::Result<bool> {
        let files = [
            (".aurora/agents.yaml", AGENTS),
            (".aurora/scenario.yaml", SCENARIO),
            ("tasks.md", TASKS),
        ];
        for (name, text) in files {
            let path = self.folder.join(name);
            let parent = path.parent().unwrap_or(&path);
            std::fs::create_dir_all(parent)
                .and_then(|()| std::fs::write(&path, text))
                .map_err(|error| refuse(&path, &error))?;
        }
        let git = |args: &[&str]| {
            Command::new("git")
                .arg("-C")
                .arg(&self.folder)
                .args(["-c", "user.name=demo", "-c", "user.email=demo@localhost"])
                .args(["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"])
                .args(args)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        Ok(git(&["add", "-A"]) && git(&["commit", "--quiet", "-m", "begin"]))
    }

    /// Runs the program itself, as a user would.
    fn play(&self, args: &[&str], style: Style) -> anyhow::Result<()> {
        output::print(&format!("\n{}\n\n", style.faint(&format!("$ aur {}", args.join(" ")))))?;
        let status = Command::new(&self.program)
            .args(args)
            .current_dir(&self.folder)
            .env("XDG_STATE_HOME", self.folder.with_file_name("state"))
            .status();
        // A run in which a task is denied does not end with 0, and that is what is shown.
        status.map_err(|error| Failure::failed(format!("cannot run ourselves: {error}")))?;
        Ok(())
    }
}
