//! The same on a real terminal, looked at through tmux.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use super::{GOAL, answer, plans, scripted};
use crate::harness::World;

/// A terminal of 80 columns in which one command runs; gone when it is dropped.
struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Runs the program in it; nothing where there is no tmux.
    fn running(world: &World, args: &str) -> Option<Self> {
        let found = Command::new("tmux").arg("-V").output().is_ok_and(|out| out.status.success());
        if !found {
            eprintln!("SKIPPED: there is no tmux to look through");
            return None;
        }
        let terminal = Self { socket: world.path("tmux") };
        let line = format!(
            "cd {0}/repo; env -i HOME={0}/home PATH=\"$PATH\" TERM=xterm-256color LANG=C.UTF-8 \
             TMPDIR={0} NO_COLOR=1 {1} {args}; echo \"exit $?\"; sleep 60",
            world.dir.display(),
            env!("CARGO_BIN_EXE_aur"),
        );
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "40", &line]);
        Some(terminal)
    }

    fn tmux(&self, args: &[&str]) -> String {
        let out = Command::new("tmux")
            .env("LC_ALL", "C.UTF-8")
            .arg("-S")
            .arg(&self.socket)
            .args(args)
            .output()
            .unwrap();
        assert!(out.status.success(), "tmux {args:?}: {out:?}");
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// What is on it, once it has this text.
    fn when(&self, text: &str) -> String {
        self.once(text, |shown| shown.contains(text))
    }

    /// What is on it, once it is as it should be.
    fn once(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.tmux(&["capture-pane", "-p"]);
            if is_so(&shown) {
                return shown.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
            }
            assert!(Instant::now() < until, "never shows {what}:\n{shown}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// REV-1, REV-3: the summary as a person meets it, and Enter writes the plan.
#[test]
fn a_person_sees_the_summary_and_enter_proceeds() {
    let waits = "cat > /dev/null; while [ ! -e \"$HOME/go\" ]; do sleep 0.1; done";
    let world = scripted(&format!("{waits}; cat <<'X'\n{}\nX", answer()));
    let Some(terminal) = Terminal::running(&world, &format!("goals '{GOAL}'")) else { return };
    let asking = "asking helper to take the goal apart … ";
    terminal.once("the seconds", |shown| shown.contains(asking) && !shown.contains("apart … 0s"));
    world.write("home/go", "");
    let shown = terminal.when("Choice [P/a]:");
    let shown = shown.split_once('╭').map(|(_, rest)| format!("╭{rest}")).unwrap();
    assert_snapshot!(shown.trim_end(), @r"
    ╭─────────────────────────── Decomposition Summary ───────────────────────────╮
    │ Goal: Improve memory indexing                                               │
    │                                                                             │
    │ Subgoals: 2                                                                 │
    │                                                                             │
    │  1. Profile the indexing (sg-1)                                             │
    │     Agent: @helper                                                          │
    │     scope: src/*.txt; about 2 files; about 40 lines                         │
    │                                                                             │
    │  2. Speed up the embedding (sg-2)                                           │
    │     Agent: performance-engineer ⚠ GAP                                       │
    │     after: sg-1                                                             │
    │                                                                             │
    │ Summary:                                                                    │
    │   ✓ 1 subgoal assigned to available agents                                  │
    │   ⚠ 1 agent gap (will spawn ad-hoc or fallback)                             │
    │   ⚠ no model is configured: a gap has only an ad-hoc agent to try           │
    ╰─────────────────────────────────────────────────────────────────────────────╯

    Options:
      [P]roceed - Write the plan (gaps: try ad-hoc agents)
      [A]bort   - Cancel, write nothing

    Choice [P/a]:
    ");
    terminal.tmux(&["send-keys", "what", "Enter"]);
    terminal.when("`what` is none of: proceed, abort");
    assert!(!world.path("repo/.aurora/plans/0001-improve-memory-indexing").exists());
    terminal.tmux(&["send-keys", "Enter"]);
    let ended = terminal.when("exit 0");
    assert!(ended.contains("next: aur spawn .aurora/plans/0001-improve"), "{ended}");
    assert_eq!(plans(&world), ["0001-improve-memory-indexing"]);
}

/// REV-4: Abort at the terminal writes nothing.
#[test]
fn a_person_can_abort() {
    let world = scripted(&format!("cat > /dev/null; cat <<'X'\n{}\nX", answer()));
    let Some(terminal) = Terminal::running(&world, &format!("goals '{GOAL}'")) else { return };
    terminal.when("Choice [P/a]:");
    terminal.tmux(&["send-keys", "a", "Enter"]);
    let ended = terminal.when("exit 3");
    assert!(ended.contains("aborted; nothing was written"), "{ended}");
    assert!(!world.path("repo/.aurora/plans").exists() || plans(&world).is_empty());
}

/// EXE-5: Ctrl+C at the question leaves it open, and says how to go on.
#[test]
fn a_person_can_leave_the_question_for_later() {
    let world = scripted(&format!("cat > /dev/null; cat <<'X'\n{}\nX", answer()));
    let Some(terminal) = Terminal::running(&world, &format!("goals '{GOAL}'")) else { return };
    terminal.when("Choice [P/a]:");
    terminal.tmux(&["send-keys", "C-c"]);
    let ended = terminal.when("go on: aur goals --resume goals-");
    assert!(ended.contains("answer it: aur approvals answer goals-"), "{ended}");
    let list = world.run(&["approvals", "list"]);
    assert!(list.stdout.contains("written down as a plan"), "{list:?}");
}
