//! `aur spawn`: does the tasks of a list, with agents, after a look at what will happen.

mod answers;
pub mod begin;
mod clean;
mod keeping;
mod list;
mod resume;
mod resume_file;
pub mod screen;
mod settle;
mod told;
pub mod view;

use std::path::PathBuf;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::{fence, quantity};

/// What to do, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The list of tasks, in Markdown: `- [ ] what is to be done`.
    #[arg(value_name = "TASKS.md", required_unless_present_any = ["resume", "list_checkpoints", "clean_checkpoints"])]
    file: Option<PathBuf>,
    /// Answer every question beforehand: the preview is skipped, what the policy asks about is
    /// allowed, what fails is skipped. The log says so.
    #[arg(short, long)]
    yes: bool,
    /// Go on with a run that was stopped or has died.
    #[arg(long, value_name = "ID", conflicts_with = "file")]
    resume: Option<String>,
    /// List the runs that can be resumed.
    #[arg(long, conflicts_with_all = ["file", "resume"])]
    list_checkpoints: bool,
    /// Give up old runs, and remove what was kept to resume them. The log keeps them.
    #[arg(long, conflicts_with_all = ["file", "resume", "list_checkpoints"])]
    clean_checkpoints: bool,
    /// How old they must be (with --clean-checkpoints) [default: 7d].
    #[arg(long, value_name = "AGE", value_parser = quantity::span_ms, requires = "clean_checkpoints", conflicts_with_all = ["file", "resume", "list_checkpoints"])]
    older_than: Option<i64>,
    /// Make no checkpoint after each task, and no file to resume from.
    #[arg(long)]
    no_checkpoint: bool,
    /// A policy that is laid over the others.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// How many tasks at once [default: 5, or what the file says].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    max_parallel: Option<u32>,
    /// Show what would happen, and do nothing.
    #[arg(long, conflicts_with_all = ["resume", "yes"])]
    dry_run: bool,
    /// Without a terminal: wait until questions are answered elsewhere.
    #[arg(long)]
    wait: bool,
    /// Show what agents say, too.
    #[arg(short, long)]
    verbose: bool,
    /// Tell everything as it happens, one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// How old what is cleaned up must be, unless somebody says otherwise.
const WEEK_MS: i64 = 7 * 24 * 3600 * 1000;

const EXAMPLES: &str = "Examples:
  aur spawn tasks.md                     look, then do it
  aur spawn tasks.md --yes               without a question
  aur spawn tasks.md --dry-run           only look
  aur spawn --list-checkpoints           what can be resumed
  aur spawn --resume spawn-1763222400    go on where it stood
  aur spawn --clean-checkpoints --older-than 30d

A task may say who does it, what it waits for and what it should touch:
  - [ ] Add a cache <!-- id: cache, agent: claude, files: src/cache.rs -->
  - [ ] Test it     <!-- depends-on: cache -->

Work happens in a worktree of its own, on a branch aurora/<goal>; your checkout stays as it is.
Ctrl+C stops so that it can be resumed; a second one ends it at once.

Exit codes:
  0  every task is done                  3  the policy denied a task
  1  a task failed or was left out       4  somebody must answer first
  2  wrong usage, tasks or settings    130  interrupted";

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    output::with_error_line(args.json, choose(args))
}

fn choose(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("beginning a run")?;
    if args.list_checkpoints {
        return list::run(args.json);
    }
    if args.clean_checkpoints {
        return clean::run(args.older_than.unwrap_or(WEEK_MS), args.json);
    }
    match (&args.resume, &args.file) {
        (Some(id), _) => resume::run(id, args),
        (None, Some(file)) => begin::run(file, args),
        (None, None) => Err(Failure::usage("name a list of tasks").into()),
    }
}
