//! `aur shadow promote`: brings what a shadow changes into the worktree.

use std::path::PathBuf;

use aurora_workspace::shadow::{PromotionMode, PromotionRequest, Shadow, WhenMoved};
use serde_json::json;

use super::report;
use crate::exit::Exit;
use crate::output;
use crate::output::style::Style;
use crate::wiring::question::{self, Consent};
use crate::wiring::workspace::Session;

/// Which one, how, and which paths of it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shadow; without one, the latest open one.
    #[arg(value_name = "SHADOW")]
    name: Option<String>,
    /// Promote what can go and leave the rest in the shadow, instead of all or nothing.
    #[arg(long)]
    incremental: bool,
    /// Merge files that the worktree changed too, instead of refusing them.
    #[arg(long)]
    merge: bool,
    /// Promote in spite of violations, such as links that lead out of the worktree.
    #[arg(long)]
    accept_violations: bool,
    /// Promote files too that the repository's rules ignore.
    #[arg(long)]
    ignored: bool,
    /// Show what would happen, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask. Without a terminal nothing is asked anyway: a promotion can be undone.
    #[arg(short, long)]
    yes: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    /// Only these paths, and what is below them.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  aur shadow promote --dry-run          only look
  aur shadow promote                    all of it, or nothing
  aur shadow promote 3 -- src/ a.txt    only these; paths start at the current directory
  aur shadow promote --merge            merge what the worktree changed too
  aur rollback --undo                   take it back

Exit codes: 0 done; 1 refused, or something stays in the shadow that was to go; 2 wrong usage.";

/// Promotes it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let shadow = super::find(&session, args.name.as_deref())?;
    let request = PromotionRequest {
        mode: if args.incremental { PromotionMode::Incremental } else { PromotionMode::Atomic },
        only: session.paths(&args.paths)?,
        when_moved: if args.merge { WhenMoved::Merge } else { WhenMoved::Refuse },
        accept_violations: args.accept_violations,
        ignored: args.ignored,
        dry_run: args.dry_run,
        ..PromotionRequest::default()
    };
    let asks = !args.dry_run && !args.yes && !args.json && question::is_possible();
    if asks && !agreed(&session, &shadow, &request)? {
        output::print("nothing was promoted\n")?;
        return Ok(Exit::Failure);
    }
    let done = match session.ask(|workspace| workspace.promote_shadow(&shadow, &request)) {
        Ok(done) => done,
        Err(error) => {
            if args.merge && !args.json && !args.dry_run {
                show_conflicts(&session, &shadow, &request)?;
            }
            return Err(error);
        }
    };
    if args.json {
        output::print_json(&json!(done))?;
    } else {
        output::print(&report::promotion(&done, Style::of_stdout()))?;
    }
    let stays = |one: &aurora_workspace::PathOutcome| {
        use aurora_workspace::Outcome::{Conflict, Failed, Kept};
        matches!(one.outcome, Conflict { .. } | Failed { .. } | Kept { .. })
    };
    Ok(if done.paths.iter().any(stays) { Exit::Failure } else { Exit::Ok })
}

/// Shows the places that could not be merged, when that is why nothing went.
fn show_conflicts(
    session: &Session,
    shadow: &Shadow,
    request: &PromotionRequest,
) -> anyhow::Result<()> {
    let look = PromotionRequest { dry_run: true, ..request.clone() };
    // The refusal itself is told by the caller; this only adds to it.
    let Ok(mut would) = session.ask(|workspace| workspace.promote_shadow(shadow, &look)) else {
        return Ok(());
    };
    would.paths.retain(|one| matches!(one.outcome, aurora_workspace::Outcome::Conflict { .. }));
    output::print(&report::conflicts(&would.paths, Style::of_stdout()))
}

/// Shows what would happen, and asks.
fn agreed(session: &Session, shadow: &Shadow, request: &PromotionRequest) -> anyhow::Result<bool> {
    let look = PromotionRequest { dry_run: true, ..request.clone() };
    let would = session.ask(|workspace| workspace.promote_shadow(shadow, &look))?;
    output::print(&report::promotion(&would, Style::of_stdout()))?;
    Consent::Open.ask("Promote?")
}
