//! `aur shadow cleanup`: removes what crashes left, and what is over.

use aurora_workspace::shadow::CleanupRequest;
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::escape;
use crate::wiring::quantity;
use crate::wiring::question::Consent;
use crate::wiring::workspace::Session;

/// What goes.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Promoted shadows, and open ones that change nothing, go when they are older than this.
    #[arg(long, value_name = "SPAN", value_parser = quantity::span_ms, default_value = "7d")]
    older_than: i64,
    /// Open shadows go too, with all that they changed.
    #[arg(long)]
    all: bool,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Show what would go, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur shadow cleanup
  aur shadow cleanup --older-than 1d
  aur shadow cleanup --all --dry-run

An open shadow with changes never goes unless --all is given, and one in use never does.";

/// Tidies up.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let consent = Consent::of(args.yes, args.json);
    if args.all && !args.dry_run {
        consent.check("discarding open shadows")?;
    }
    let session = Session::open()?;
    let mut request =
        CleanupRequest { older_than_ms: args.older_than, also_open: args.all, dry_run: true };
    if args.all && !args.dry_run && !consent.ask("Discard all open shadows of this repository?")? {
        output::print("nothing was removed\n")?;
        return Ok(Exit::Failure);
    }
    request.dry_run = args.dry_run;
    let cleaned = session.ask(|workspace| workspace.cleanup_shadows(&request))?;
    if args.json {
        output::print_json(&json!({"dry_run": args.dry_run, "shadows": cleaned}))?;
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    for one in &cleaned {
        let did = match (one.removed, args.dry_run) {
            (true, true) => "would remove",
            (true, false) => "removed",
            (false, _) => "kept",
        };
        let (name, because) = (escape::line(&one.shadow), escape::line(&one.because));
        out.push_str(&format!("{did} {name}: {because}\n"));
    }
    if cleaned.is_empty() {
        out.push_str("nothing to remove\n");
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}
