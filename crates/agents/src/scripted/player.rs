//! Plays the steps of a scenario, as the process that is the agent.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::scenario::{Away, File, Flood, Replace, Scenario, Step};
use crate::protocol::{FromAgent, TaskMessage, ToAgent};

/// What a player has to do with: it plays in the current directory.
pub struct Stage<'s> {
    /// Where the task comes from.
    pub input: &'s mut dyn BufRead,
    /// Where the protocol goes.
    pub out: &'s mut dyn Write,
    /// Where complaints go.
    pub err: &'s mut dyn Write,
    /// Starts a process that leaves its family and lives on.
    pub fork_away: &'s dyn Fn(&Away) -> io::Result<()>,
}

/// How a play ends: what the process is to do with itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Ends with this code.
    Code(u8),
    /// Kills itself.
    Crash,
}

/// Reads the task and plays the scenario's steps for it.
///
/// # Errors
/// When the task cannot be read, or nobody listens any more.
pub fn play(scenario: &Scenario, stage: &mut Stage<'_>) -> io::Result<End> {
    let mut line = String::new();
    stage.input.read_line(&mut line)?;
    let task = match serde_json::from_str(&line) {
        Ok(ToAgent::Task(task)) => task,
        Ok(_) => return Err(io::Error::other("the first message is no task")),
        Err(error) => return Err(io::Error::other(format!("the first line is no task: {error}"))),
    };
    let Some(steps) = scenario.steps(&task.task, &task.title, task.attempt) else {
        let error = format!("the scenario has no steps for {} ({})", task.task, task.title);
        return fail(stage, error);
    };
    for step in steps {
        match perform(step, &task, stage) {
            Ok(None) => {}
            Ok(Some(end)) => {
                stage.out.flush()?;
                return Ok(end);
            }
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
            Err(error) => return fail(stage, format!("a step could not be played: {error}")),
        }
        stage.out.flush()?;
    }
    Ok(End::Code(0))
}

fn fail(stage: &mut Stage<'_>, summary: String) -> io::Result<End> {
    writeln!(stage.err, "{summary}")?;
    tell(stage, &FromAgent::Result { success: false, summary })?;
    stage.out.flush()?;
    Ok(End::Code(1))
}

fn tell(stage: &mut Stage<'_>, message: &FromAgent) -> io::Result<()> {
    let line = serde_json::to_string(message)?;
    writeln!(stage.out, "{line}")
}

/// A text in which the task's own words are filled in; other braces stay.
fn filled(text: &str, task: &TaskMessage) -> String {
    text.replace("{task}", &task.task)
        .replace("{title}", &task.title)
        .replace("{attempt}", &task.attempt.to_string())
        .replace("{run}", &task.run)
        .replace("{role}", task.role.as_deref().unwrap_or_default())
}

fn perform(step: &Step, task: &TaskMessage, stage: &mut Stage<'_>) -> io::Result<Option<End>> {
    match step {
        Step::Say(text) => writeln!(stage.out, "{}", filled(text, task))?,
        Step::Complain(text) => writeln!(stage.err, "{}", filled(text, task))?,
        Step::Write(file) => write(file, task, false)?,
        Step::Append(file) => write(file, task, true)?,
        Step::Replace(replace) => substitute(replace, task)?,
        Step::Delete(path) => delete(Path::new(&filled(path, task)))?,
        Step::Run(argv) => run(argv, task)?,
        Step::ToolCall(tool) => {
            let (name, args) = (tool.name.clone(), tool.args.clone());
            let args = if args.is_null() { json!({}) } else { args };
            tell(stage, &FromAgent::ToolCall { name, args })?;
        }
        Step::Cost(cost) => tell(stage, &FromAgent::Cost(cost.clone()))?,
        Step::WaitMs(ms) => std::thread::sleep(Duration::from_millis(*ms)),
        Step::Flood(flood) => pour(flood, stage)?,
        Step::NotUtf8 => stage.out.write_all(b"caf\xe9 \xff\xfe is no UTF-8\n")?,
        Step::Hang => loop {
            std::thread::sleep(Duration::from_secs(3600));
        },
        Step::ForkAway(away) => (stage.fork_away)(away)?,
        Step::Crash => return Ok(Some(End::Crash)),
        Step::Exit(code) => return Ok(Some(End::Code(*code))),
        Step::Fail(message) => return fail(stage, filled(message, task)).map(Some),
        Step::Result(summary) => {
            tell(stage, &FromAgent::Result { success: true, summary: filled(summary, task) })?;
        }
    }
    Ok(None)
}

fn write(file: &File, task: &TaskMessage, append: bool) -> io::Result<()> {
    let path = filled(&file.path, task);
    let path = Path::new(&path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).write(true).append(append).truncate(!append);
    options.open(path)?.write_all(filled(&file.text, task).as_bytes())
}

fn substitute(replace: &Replace, task: &TaskMessage) -> io::Result<()> {
    let path = filled(&replace.path, task);
    let text = std::fs::read_to_string(&path)?;
    let find = filled(&replace.find, task);
    if !text.contains(&find) {
        return Err(io::Error::other(format!("{path} does not hold `{find}`")));
    }
    std::fs::write(&path, text.replace(&find, &filled(&replace.with, task)))
}

fn delete(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    }
}

fn run(argv: &[String], task: &TaskMessage) -> io::Result<()> {
    let words: Vec<String> = argv.iter().map(|word| filled(word, task)).collect();
    let Some((program, args)) = words.split_first() else {
        return Err(io::Error::other("`run` names no program"));
    };
    let status = Command::new(program).args(args).stdin(Stdio::null()).status()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{} ended with {status}", words.join(" "))))
}

fn pour(flood: &Flood, stage: &mut Stage<'_>) -> io::Result<()> {
    const LINE: &[u8; 64] = b"so much to say, and nobody who needs to hear all of it, so much\n";
    let mut chunk = LINE.repeat(1024);
    if flood.one_line {
        chunk.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    }
    let target: &mut dyn Write = if flood.stderr { stage.err } else { stage.out };
    let mut left = flood.bytes;
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        target.write_all(chunk.get(..count).unwrap_or_default())?;
        left -= count as u64;
    }
    target.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn played(scenario: Value, task: &str) -> (End, String, String) {
        let scenario = Scenario::from_json(&scenario).unwrap();
        let message = ToAgent::Task(TaskMessage {
            run: "run-1".to_owned(),
            task: task.to_owned(),
            title: "A title".to_owned(),
            attempt: 1,
            role: None,
            prompt: "do it".to_owned(),
            working_directory: "/".to_owned(),
            timeout_seconds: 5,
        });
        let line = message.line();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut stage = Stage {
            input: &mut line.as_bytes(),
            out: &mut out,
            err: &mut err,
            fork_away: &|away| Err(io::Error::other(format!("away: {}", away.mark))),
        };
        let end = play(&scenario, &mut stage).unwrap();
        (end, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    // AGT-2: a scenario plays output, edits, commands, tool calls and failures.
    #[test]
    fn a_scenario_is_played_step_by_step() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let (end, out, err) = played(
            json!({"tasks": {"sg-1": [
                {"say": "working on {task}: {title}"},
                {"complain": "hm"},
                {"write": {"path": at("a/{task}.txt"), "text": "one {x}\n"}},
                {"append": {"path": at("a/sg-1.txt"), "text": "two\n"}},
                {"replace": {"path": at("a/sg-1.txt"), "find": "one", "with": "1"}},
                {"write": {"path": at("gone")}},
                {"delete": at("gone")},
                {"run": ["test", "-f", at("a/sg-1.txt")]},
                {"tool_call": {"name": "Bash", "args": {"command": "ls"}}},
                {"cost": {"usd": 0.5}},
                {"wait_ms": 1},
                {"flood": {"bytes": 10, "stderr": true}},
                {"result": "done"},
                {"exit": 3},
                {"say": "never"},
            ]}}),
            "sg-1",
        );
        assert_eq!(end, End::Code(3));
        assert_eq!(
            out,
            "working on sg-1: A title\n\
             {\"type\":\"tool_call\",\"name\":\"Bash\",\"args\":{\"command\":\"ls\"}}\n\
             {\"type\":\"cost\",\"usd\":0.5}\n\
             {\"type\":\"result\",\"success\":true,\"summary\":\"done\"}\n"
        );
        assert_eq!(err, "hm\nso much to\n");
        let text = std::fs::read_to_string(folder.path().join("a/sg-1.txt")).unwrap();
        assert_eq!(text, "1 {x}\ntwo\n");
        assert!(!folder.path().join("gone").exists());
    }

    #[test]
    fn a_step_that_cannot_be_played_is_a_failure_that_is_told() {
        let check = |steps: Value, end: End, said: &str| {
            let (ended, out, _) = played(json!({"default": steps}), "sg-9");
            assert_eq!(ended, end);
            assert!(out.contains(said), "{out}");
        };
        check(json!([{"delete": "/not/there"}]), End::Code(1), "could not be played");
        check(json!([{"run": ["false"]}]), End::Code(1), "false ended with");
        check(json!([{"run": []}]), End::Code(1), "names no program");
        check(json!([{"fork_away": {"mark": "m"}}]), End::Code(1), "away: m");
        check(json!([{"fail": "no {title}"}]), End::Code(1), "no A title");
        check(json!(["crash"]), End::Crash, "");
        let (end, out, _) = played(json!({}), "sg-9");
        assert_eq!(end, End::Code(1));
        assert!(out.contains("no steps for sg-9"), "{out}");
    }
}
