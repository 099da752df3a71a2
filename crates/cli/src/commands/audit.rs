//! `aur audit`: the log of everything that happened.

pub mod export;
pub mod show;
pub mod transcript;
pub mod verify;

use aurora_model::RunId;
use aurora_store::StreamId;

use crate::exit::{Exit, Failure};
use crate::output;

/// What to do with it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur audit show --run spawn-1705234567
  aur audit show --kind question_answered
  aur audit transcript spawn-1705234567 cache
  aur audit verify
  aur audit export > log.jsonl
  aur audit verify --file log.jsonl

The log is .aurora/aurora.db of the main checkout, one for all worktrees. Each record carries a hash of
itself and of the one before it, so that a changed, missing or moved record is found and located.";

/// What can be done with it.
#[derive(clap::Subcommand)]
enum Command {
    /// Print records.
    Show(show::Args),
    /// Print what an agent or the model said at an attempt.
    Transcript(transcript::Args),
    /// Check that nothing was changed, taken out or moved.
    Verify(verify::Args),
    /// Print all of it in a form that can be verified elsewhere.
    Export(export::Args),
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Show(args) => show::run(args),
        Command::Transcript(args) => output::with_error(args.json, transcript::run(args)),
        Command::Verify(args) => output::with_error(args.json, verify::run(args)),
        Command::Export(args) => export::run(args),
    }
}

/// The stream that `--run` or `--stream` names.
fn stream(run: Option<&str>, stream: Option<&str>) -> anyhow::Result<Option<StreamId>> {
    match (run, stream) {
        (Some(run), _) => {
            let id = RunId::parse(run)
                .ok_or_else(|| Failure::usage(format!("`{run}` cannot be the name of a run")))?;
            Ok(Some(aurora_engine::driver::stream_of(&id)))
        }
        (None, stream) => Ok(stream.map(|name| StreamId(name.to_owned()))),
    }
}

/// Says that a stream is not there.
fn unknown(stream: &StreamId) -> anyhow::Error {
    Failure::usage(format!("the log has no stream {stream}"))
        .hint("`aur audit show` names the stream of each record")
        .into()
}

/// Says that there is no log.
fn nothing(json: bool) -> anyhow::Result<Exit> {
    if json {
        output::note("nothing recorded yet");
    } else {
        output::print("nothing recorded yet\n")?;
    }
    Ok(Exit::Ok)
}
