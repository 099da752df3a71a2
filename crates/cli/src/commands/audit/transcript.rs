//! `aur audit transcript`: what an agent or the model said at an attempt, as it was kept.

use std::io::{IsTerminal as _, Write as _};

use aurora_engine::driver::{self, Told};
use aurora_model::{Digest, Event, RunId, TaskId};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::escape;
use crate::wiring::run;
use crate::wiring::store::{Log, failure};

/// Which one, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The run.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The task.
    #[arg(value_name = "TASK")]
    pub task: String,
    /// The attempt, counted from 1 [default: the last one that said anything].
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
    /// Print only its digest and length, as JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur audit transcript spawn-1705234567 cache
  aur audit transcript spawn-1705234567 cache --attempt 2 > said.txt
  aur audit transcript spawn-1705234567 cache --json

A pipe or a file gets the bytes as they were said; on a terminal, what could do something to it is
shown as text.";

/// Prints it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let name = |what: &str, text: &str| Failure::usage(format!("`{text}` is no name of a {what}"));
    let run = RunId::parse(&args.run).ok_or_else(|| name("run", &args.run))?;
    let task = TaskId::parse(&args.task).ok_or_else(|| name("task", &args.task))?;
    let Some(log) = Log::open_existing()? else {
        return Err(Failure::usage("nothing recorded yet").into());
    };
    let (told, _) = log.ask(driver::load(&log.store, &run)).map_err(run::failure)?;
    let (attempt, digest) = find(&told, &task, args.attempt)?;
    let bytes = log.ask(log.store.get(&digest)).map_err(failure)?;
    if args.json {
        output::print_json(&json!({
            "run": run, "task": task, "attempt": attempt, "sha256": digest, "bytes": bytes.len(),
        }))?;
        return Ok(Exit::Ok);
    }
    let mut out = std::io::stdout().lock();
    let shown = match out.is_terminal() {
        true => {
            let text = String::from_utf8_lossy(&bytes);
            let lines = text.lines().map(|line| format!("{}\n", escape::line(line)));
            lines.collect::<String>().into_bytes()
        }
        false => bytes,
    };
    match out.write_all(&shown).and_then(|()| out.flush()) {
        // Whoever read along has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Ok),
        Err(error) => Err(Failure::failed(format!("cannot write: {error}")).into()),
        Ok(()) => Ok(Exit::Ok),
    }
}

/// The transcript of an attempt, or of the last one that has any.
fn find(told: &[Told], task: &TaskId, wanted: Option<u32>) -> anyhow::Result<(u32, Digest)> {
    let mut attempts = Vec::new();
    for one in told {
        if let Event::AttemptEnded { task: whose, attempt, transcript, .. } = &one.event
            && whose == task
        {
            attempts.push((*attempt, transcript.clone()));
        }
    }
    let with_words = attempts.iter().rev().find(|(_, transcript)| transcript.is_some());
    let found = match wanted {
        Some(wanted) => attempts.iter().find(|(number, _)| *number == wanted),
        None => with_words.or(attempts.last()),
    };
    match (found, wanted) {
        (Some((attempt, Some(digest))), _) => Ok((*attempt, digest.clone())),
        (Some((attempt, None)), _) => {
            let what = format!("nothing was said at attempt {attempt} of {task}");
            Err(Failure::failed(what).into())
        }
        (None, Some(wanted)) if !attempts.is_empty() => {
            let last = attempts.last().map_or(0, |(number, _)| *number);
            Err(Failure::usage(format!("{task} has no ended attempt {wanted}; the last is {last}"))
                .into())
        }
        (None, _) => Err(Failure::usage(format!("the run has no ended attempt of a task {task}"))
            .hint("`aur audit show --run RUN --kind attempt_ended` lists them")
            .into()),
    }
}
