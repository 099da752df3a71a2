//! `aur approvals answer`: decides a question, whether or not somebody drives its run.

use aurora_engine::driver;
use aurora_engine::machine::{Command, Phase, Refused};
use aurora_model::{Answerer, Choice};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::escape;
use crate::wiring::fence;
use crate::wiring::place;
use crate::wiring::repo::Repo;
use crate::wiring::store::Log;
use crate::wiring::workspace::now;
use crate::wiring::{git_config, input};

const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// Which question, and the answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The question, such as `spawn-1705234567.q1`.
    #[arg(value_name = "ID")]
    pub id: String,
    /// One of its options, such as `retry`.
    #[arg(value_name = "CHOICE")]
    pub choice: String,
    /// Why; it is recorded with the answer.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur approvals answer spawn-1705234567.q1 retry
  aur approvals answer spawn-1705234567.q2 allow --reason 'looked at the diff'

Exit codes: 0 answered; 1 somebody answered before, or the run is over; 2 no such question or choice.";

/// Answers it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("answering")?;
    let log = super::log_for(&args.id)?;
    let found = super::find(&log, &args.id)?;
    let choice = Choice::from_name(&args.choice).ok_or_else(|| {
        let options = found.options().join(", ");
        Failure::usage(format!(
            "{} can be answered with {options}, not with `{}`",
            args.id, args.choice
        ))
    })?;
    let by = who();
    let answerer =
        Answerer { by: by.clone(), surface: "command".to_owned(), reason: args.reason.clone() };
    let question = found.asked.question.id.clone();
    let command = Command::Answer { question, choice, answerer };
    let state = log
        .ask(driver::answer(&log.store, &found.run, &command, now()))
        .map_err(|error| refused(args, error))?;
    let over = matches!(state.phase, Phase::Finished(_));
    let driven = is_driven(&log, &found.run);
    let what = if state.is_plan_only() { "goals" } else { "spawn" };
    let resume = (!over && !driven).then(|| format!("aur {what} --resume {}", found.run));
    if args.json {
        output::print_json(&json!({
            "id": args.id, "run": found.run, "choice": choice, "by": by, "driven": driven,
            "resume": resume,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut out = format!("answered: {}, by {}\n", choice.name(), escape::line(&by));
    if let Some(resume) = resume {
        out.push_str(&format!("nobody drives the run now; `{resume}` goes on with it\n"));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}

fn refused(args: &Args, error: aurora_engine::Error) -> anyhow::Error {
    let aurora_engine::Error::Refused(refused) = &error else { return error.into() };
    match refused {
        Refused::NoSuchChoice { .. } | Refused::Unknown { .. } => {
            Failure::usage(refused.to_string()).into()
        }
        Refused::Stale { what } => {
            Failure::failed(format!("{} needs no answer any more: {what}", args.id)).into()
        }
        _ => Failure::failed(refused.to_string()).into(),
    }
}

/// Whether another process has the run in its hands.
fn is_driven(log: &Log, run: &aurora_model::RunId) -> bool {
    log.ask(log.store.is_claimed(&driver::stream_of(run))).unwrap_or(false)
}

/// Who sits here, as the system or git knows them.
fn who() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("USER").or_else(|| set("LOGNAME")).or_else(git_name).unwrap_or_else(|| "unknown".to_owned())
}

fn git_name() -> Option<String> {
    let repo =
        place::cwd().and_then(|cwd| Repo::find(&cwd)).map(|repo| repo.common_dir.join("config"));
    let user = place::home().map(|home| home.join(".gitconfig"));
    let name = |path: std::path::PathBuf| {
        let text = input::small_text(&path, MAX_CONFIG_BYTES)?;
        let settings = git_config::parse(&text);
        settings.into_iter().rev().find(|setting| setting.key() == "user.name").map(|one| one.value)
    };
    repo.and_then(name).or_else(|| user.and_then(name)).filter(|name| !name.trim().is_empty())
}
