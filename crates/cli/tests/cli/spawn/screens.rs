//! What a person sees at a real terminal, played by `tmux`: preview, progress, failure, resume.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use super::{PATIENCE, Scratch};

const TASKS: &str = "# Add a cache\n- [x] Read the code <!-- id: z -->\n\
                     - [ ] Write the cache, 缓存 <!-- id: a, files: src/cache.rs, lines: 40 -->\n\
                     - [ ] Test it <!-- id: b, depends-on: a, agent: tester -->\n";
const SCENARIO: &str = "tasks:\n  a: [{say: reading src/main.rs}, {run: [bash, -c, 'while ! test -e [DIR]/go; do sleep 0.05; done']}, \
                        {append: {path: src/cache.rs, text: \"// fast\\n\"}}]\n  \
                        b: {attempts: [[{complain: \"assertion failed: 1 == 2\"}, {fail: the test fails}], \
                        [{fail: it still fails}], [{say: ok}]]}\n";

/// A terminal of a size, in which one thing runs.
pub struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Opens it and runs `aur`; nothing where there is no tmux.
    pub fn open(scratch: &Scratch, size: (u32, u32), locale: &str, args: &str) -> Option<Self> {
        let terminal = Self { socket: scratch.world.path("tmux") };
        let aur = scratch.world.command::<&str>(&[]);
        let variables: Vec<String> = aur
            .get_envs()
            .filter_map(|(name, value)| {
                let (name, value) = (name.to_string_lossy(), value?.to_string_lossy());
                (name != "COLUMNS").then(|| format!("{name}='{value}'"))
            })
            .collect();
        let line = format!(
            "cd {} && env -i TERM=screen LC_ALL={locale} USER=grace {} {} {args}; echo \"[exit $?]\"; cat",
            scratch.world.path("repo").display(),
            variables.join(" "),
            aur.get_program().to_string_lossy(),
        );
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        let opened = terminal.tmux(&[
            "-f",
            "/dev/null",
            "-u",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            "bash",
            "-c",
            &line,
        ]);
        match opened {
            Ok(output) if output.status.success() => Some(terminal),
            output => {
                eprintln!("SKIPPED: there is no terminal by tmux here: {output:?}");
                None
            }
        }
    }

    fn tmux(&self, args: &[&str]) -> std::io::Result<Output> {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(args).env("LC_ALL", "C.UTF-8").output()
    }

    pub fn now(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]).unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// What is seen once this is to be seen.
    pub fn once(&self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let seen = self.now();
            if seen.contains(text) {
                return steady(&seen);
            }
            assert!(Instant::now() < deadline, "`{text}` is never seen:\n{seen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn press(&self, keys: &[&str]) {
        let mut args = vec!["send-keys"];
        args.extend(keys);
        assert!(self.tmux(&args).unwrap().status.success());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

/// Runs, checkpoints, seconds and folders as what they are, by as many characters.
fn steady(seen: &str) -> String {
    let mut lines = Vec::new();
    for line in seen.lines() {
        let mut out = String::new();
        let mut digits = String::new();
        let mut lost = 0;
        for c in line.chars().chain(['\0']) {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            match (digits.len(), c) {
                (10, _) => out.push_str("1234567890"),
                // A slow machine takes seconds; what they push aside comes back.
                (more @ 1.., 's') => {
                    out.push('0');
                    lost += more - 1;
                }
                _ => out.push_str(&digits),
            }
            digits.clear();
            if c != '\0' {
                out.push(c);
            }
        }
        if let Some(end) = out.rfind(['│', '|']) {
            out.insert_str(end, &" ".repeat(lost));
        }
        lines.push(crate::harness::steady(&out));
    }
    lines.join("\n")
}

fn scratch() -> Scratch {
    let more = "  - id: tester\n    provider: scripted\n    scenario: scenario.yaml\n    \
                environment: {AURORA_TEST_MARK: \"[MARK]\"}\n";
    let scratch = Scratch::with_agents(more, TASKS);
    let dir = scratch.world.dir.display().to_string();
    scratch.world.write("repo/.aurora/scenario.yaml", &SCENARIO.replace("[DIR]", &dir));
    scratch
}

/// The lines from one that has this text on.
pub fn from(seen: &str, text: &str) -> String {
    let lines: Vec<&str> = seen.lines().skip_while(|line| !line.contains(text)).collect();
    lines.join("\n")
}

/// REV-2, REV-3, EXE-3, EXE-4: preview, progress, a failure and its answer, the summary.
#[test]
fn a_run_at_a_terminal_from_preview_to_summary() {
    let scratch = scratch();
    let Some(terminal) = Terminal::open(&scratch, (80, 50), "C.UTF-8", "spawn ../tasks.md") else {
        return;
    };
    assert_snapshot!("preview", terminal.once("Choice ["));
    terminal.press(&["p", "Enter"]);
    let progress = terminal.once("reading src/main.rs");
    assert_snapshot!("progress", from(&progress, "Choice ["));
    scratch.world.write("go", "");
    let failure = terminal.once("Choice [R");
    assert_snapshot!("failure", from(&failure, "completed"));
    terminal.press(&["r", "Enter"]);
    let summary = terminal.once("[exit 0]");
    assert!(summary.contains("Summary"), "{summary}");
    assert_eq!(scratch.world.read("tasks.md"), TASKS.replace("[ ]", "[x]"));
    drop(terminal);
    scratch.nothing_is_left();
}

/// EXE-5, REV-3: Ctrl+C while a question stands: nothing is begun, and resuming asks again.
#[test]
fn an_interrupt_at_a_question_leaves_it_open() {
    let scratch = scratch();
    let Some(terminal) = Terminal::open(&scratch, (80, 50), "C.UTF-8", "spawn ../tasks.md") else {
        return;
    };
    terminal.once("Choice [");
    terminal.press(&["C-c"]);
    let seen = terminal.once("[exit 130]");
    assert!(seen.contains("aur spawn --resume spawn-"), "{seen}");
    drop(terminal);
    let list = scratch.world.run(&["spawn", "--list-checkpoints", "--json"]).json();
    let run = list["runs"][0]["execution_id"].as_str().unwrap();
    let args = format!("spawn --resume {run}");
    let Some(terminal) = Terminal::open(&scratch, (80, 50), "C.UTF-8", &args) else { return };
    assert_snapshot!("resume", terminal.once("Choice ["));
    terminal.press(&["a", "Enter"]);
    terminal.once("[exit 3]");
    assert!(!scratch.world.path("state").exists(), "nothing was begun");
}

/// EXE-3, REV-2: a narrow terminal without UTF-8.
#[test]
fn a_narrow_terminal_without_utf_8_shows_the_same() {
    let scratch = scratch();
    let Some(terminal) = Terminal::open(&scratch, (60, 50), "C", "spawn ../tasks.md") else {
        return;
    };
    assert_snapshot!("narrow_preview", terminal.once("Choice ["));
    terminal.press(&["p", "Enter"]);
    let progress = terminal.once("reading src/main.rs");
    assert_snapshot!("narrow_progress", from(&progress, "Choice ["));
    terminal.press(&["C-c"]);
    let seen = terminal.once("[exit 130]");
    assert!(seen.lines().all(|line| line.chars().count() <= 60), "{seen}");
    drop(terminal);
    scratch.nothing_is_left();
}

/// POL-6, EXE-6: changes are allowed by whoever has seen them and means it: what was typed before the
/// question, Enter and an `a` of two meanings allow nothing. The panel has the width of this moment.
#[test]
fn changes_are_allowed_by_a_key_that_was_meant() {
    let scratch = scratch();
    scratch.world.write("tasks.md", "# Grow\n- [ ] Write a little <!-- id: a, lines: 1 -->\n");
    let text = "line\\n".repeat(50);
    let scenario = format!(
        "tasks:\n  a: [{{say: working}}, {{run: [bash, -c, 'while ! test -e {}/go; do sleep 0.05; done']}}, \
         {{write: {{path: new.txt, text: \"{text}\"}}}}, {{write: {{path: README.md, text: other}}}}]\n",
        scratch.world.dir.display()
    );
    scratch.world.write("repo/.aurora/scenario.yaml", &scenario);
    let Some(terminal) = Terminal::open(&scratch, (80, 50), "C.UTF-8", "spawn ../tasks.md") else {
        return;
    };
    terminal.once("Choice [P/a]");
    terminal.press(&["p", "Enter"]);
    terminal.once("working");
    assert!(terminal.tmux(&["resize-window", "-x", "60", "-y", "50"]).unwrap().status.success());
    terminal.press(&["y", "Enter", "allow", "Enter", "y"]);
    scratch.world.write("go", "");
    let question = terminal.once("Choice [y/r/s/b]:");
    // Where the command is broken depends on how long the name of the scratch folder is.
    let panel = from(&question, "Changes Need a Yes");
    let panel: Vec<&str> = panel.lines().take_while(|line| !line.contains("Held in")).collect();
    assert_snapshot!(panel.join("\n"), @r"
    ╭────────────────── Changes Need a Yes ───────────────────╮
    │ Parent: Grow                                            │
    │                                                         │
    │ Task: Write a little                                    │
    │ Agent: @worker                                          │
    │ Changed: 2 files, 52 lines                              │
    │   ~ README.md                                           │
    │   + new.txt                                             │
    ");
    terminal.press(&["Enter"]);
    terminal.once("Enter alone chooses nothing here");
    terminal.press(&["a", "Enter"]);
    terminal.once("`a` could be allow or abort");
    let worktree = scratch.worktree("grow");
    assert!(!worktree.join("new.txt").exists(), "nobody allowed it yet");
    terminal.press(&["y", "Enter"]);
    let summary = terminal.once("[exit 0]");
    let edge = summary.lines().rev().find(|line| line.starts_with('╰')).unwrap();
    assert_eq!(edge.chars().count(), 59, "{summary}");
    assert!(worktree.join("new.txt").exists());
    drop(terminal);
    scratch.nothing_is_left();
}
