//! `aur approvals`: what waits for a person, and where it is decided.

pub mod answer;
pub mod approve;
pub mod batch;
pub mod channels;
pub mod config;
mod deciding;
pub mod deny;
pub mod edit;
pub mod init;
mod last_words;
pub mod list;
mod old;
pub mod parked;
mod question;
pub mod request_changes;
pub mod show;
mod source;
pub mod watch;

use crate::exit::Exit;
use crate::output;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur approvals list
  aur approvals show spawn-1705234567.q1
  aur approvals approve spawn-1705234567.q1
  aur approvals deny spawn-1705234567.q2 --reason 'the API changed'
  aur approvals answer spawn-1705234567.q3 retry
  aur approvals batch approve --tier low --run spawn-1705234567

A request stays open until somebody decides it or its time is over. It can be decided here, at the
terminal of its run, or over HTTP; the first decision counts. The beginning of an id is enough where
it is the only one that begins so.

Exit codes: 0 done; 3 refused: somebody was first, or you may not decide it; 2 wrong usage; 1 failed.";

/// What can be done with them.
#[derive(clap::Subcommand)]
enum Command {
    /// List what waits for a person.
    List(list::Args),
    /// Tell everything that is needed to decide one.
    Show(show::Args),
    /// Say yes to exactly what was shown.
    Approve(approve::Args),
    /// Say no.
    Deny(deny::Args),
    /// Say no to it as it is, and what should be done otherwise.
    RequestChanges(request_changes::Args),
    /// Change what would be done, and say yes to that.
    Edit(edit::Args),
    /// Choose one of its options by name.
    Answer(answer::Args),
    /// Tell everything that happens to them, as it happens.
    Watch(watch::Args),
    /// Decide several at once, which are shown first and do not change meanwhile.
    Batch(batch::Args),
    /// List the parked tasks of each agent, and what they wait for.
    Parked(parked::Args),
    /// Write a settings file to start from.
    Init(init::Args),
    /// Show who may decide what here, until when, and where that comes from.
    Config(config::Args),
    /// List over what people are told, and try it out.
    Channels(channels::Args),
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List(args) => output::with_error(args.json, list::run(args)),
        Command::Show(args) => output::with_error(args.json, show::run(args)),
        Command::Approve(args) => output::with_error(args.json, approve::run(args)),
        Command::Deny(args) => output::with_error(args.json, deny::run(args)),
        Command::RequestChanges(args) => output::with_error(args.json, request_changes::run(args)),
        Command::Answer(args) => output::with_error(args.json, answer::run(args)),
        Command::Edit(args) => output::with_error(args.json, edit::run(args)),
        Command::Watch(args) => output::with_error_line(args.json, watch::run(args)),
        Command::Batch(args) => batch::run(args),
        Command::Parked(args) => output::with_error(args.json, parked::run(args)),
        Command::Init(args) => output::with_error(args.json, init::run(args)),
        Command::Config(args) => output::with_error(args.json, config::run(args)),
        Command::Channels(args) => output::with_error(args.json, channels::run(args)),
    }
}
