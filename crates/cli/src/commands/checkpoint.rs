//! `aur checkpoint`: records what the worktree holds now.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use aurora_model::Severity;
use aurora_workspace::{
    CheckpointRequest, Created, IgnoredFiles, Limits, OnUnchanged, Scan, Workspace as _,
};

use crate::commands::rollback::target;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::style::Style;
use crate::output::{checkpoint, skipped};
use crate::wiring::quantity;
use crate::wiring::workspace::{Session, diff_files};

/// What to record; `create` may be left out.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    create: CreateArgs,
}

/// The word that may be left out.
#[derive(clap::Subcommand)]
enum Command {
    /// Record what the worktree holds now.
    #[command(after_help = EXAMPLES)]
    Create(CreateArgs),
}

/// What to record.
#[derive(clap::Args)]
struct CreateArgs {
    /// Say something about it.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    message: String,
    /// Look at every file, even where a watchdog says what changed.
    #[arg(long)]
    full: bool,
    /// Take small ignored files that look like settings or secrets (.env, *.pem) too.
    #[arg(long)]
    with_secrets: bool,
    /// Take this path whatever the ignore rules say; may be given again.
    #[arg(long, value_name = "PATH")]
    include: Vec<PathBuf>,
    /// Leave out files that are larger than this.
    #[arg(long, value_name = "SIZE", default_value = "100M", value_parser = quantity::bytes)]
    max_file_size: u64,
    /// Refuse to record more new content than this at once.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = quantity::bytes)]
    max_total: u64,
    /// Answer in JSON, with every path.
    #[arg(long)]
    json: bool,
    /// Print the checkpoint's name and nothing else.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

const EXAMPLES: &str = r#"Examples:
  aur checkpoint
  aur checkpoint -m "before the refactoring"
  aur checkpoint --with-secrets --include local/notes.txt
  aur checkpoint --json | jq -r .checkpoint_id

Tracked, staged and untracked files are recorded as they are on the disk, with modes and links.
Ignored files are left out, and what was left out is listed. Your index, HEAD, branches and stash
stay as they are. `aur rollback` goes back, `aur checkpoints list` shows all.

Exit codes: 0 recorded, or nothing changed; 1 it could not be recorded; 2 wrong usage."#;

/// Work that took longer says why it looked at everything.
const SLOW: Duration = Duration::from_millis(500);

/// Records it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let args = match &args.command {
        Some(Command::Create(args)) => args,
        None => &args.create,
    };
    output::with_error(args.json, create(args))
}

fn create(args: &CreateArgs) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let request = request(args, &session)?;
    let begun = Instant::now();
    let created = session.ask(|workspace| workspace.checkpoint(&request))?;
    let slow = begun.elapsed() >= SLOW;
    if args.json {
        let diffs = diff_files(&session.workspace, &created.checkpoint);
        output::print_json(&checkpoint::json(&created, &diffs))?;
    } else if args.quiet {
        output::print(&format!("{}\n", created.checkpoint.checkpoint_id))?;
    } else {
        say(&created, slow)?;
    }
    Ok(Exit::Ok)
}

fn say(created: &Created, slow: bool) -> anyhow::Result<()> {
    output::print(&checkpoint::human(created, Style::of_stdout()))?;
    if !created.unchanged {
        for violation in &created.checkpoint.violations {
            let text = skipped::violation(violation);
            match violation.severity {
                Severity::Info => output::note(&text),
                Severity::Warning => output::warn(&text),
                severe => output::violation(skipped::severity(severe), &text),
            }
        }
    }
    checkpoint::damage(&created.scanned).iter().for_each(|what| output::warn(what));
    if slow && std::io::stderr().is_terminal() {
        checkpoint::why_slow(&created.scanned).iter().for_each(|why| output::note(why));
    }
    Ok(())
}

fn request(args: &CreateArgs, session: &Session) -> anyhow::Result<CheckpointRequest> {
    let mut also = Vec::new();
    for path in &args.include {
        also.push(session.path(path)?.ok_or_else(|| {
            Failure::usage("--include names the worktree itself")
                .hint("name the files or folders that are ignored and wanted")
        })?);
    }
    Ok(CheckpointRequest {
        message: args.message.clone(),
        ignored: if args.with_secrets { IgnoredFiles::SecretsLike } else { IgnoredFiles::Leave },
        scan: if args.full { Scan::Full } else { Scan::Auto },
        on_unchanged: on_unchanged(args, session),
        limits: Limits {
            max_file_bytes: args.max_file_size,
            max_new_bytes: args.max_total,
            ..Limits::default()
        },
        also,
        ..CheckpointRequest::default()
    })
}

/// What somebody says is kept, and `aur rollback` must find what was asked for: neither may vanish
/// in a checkpoint that a rollback made by itself.
fn on_unchanged(args: &CreateArgs, session: &Session) -> OnUnchanged {
    let latest = session.workspace.find("latest");
    let stands = latest.is_ok_and(|latest| target::is_meant(&latest));
    match args.message.is_empty() && stands {
        true => OnUnchanged::Reuse,
        false => OnUnchanged::Record,
    }
}
