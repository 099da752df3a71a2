//! `aur shadow create`: makes a shadow, without running anything.

use aurora_workspace::shadow::{
    Base, DEFAULT_MAX_BYTES, Namespace, Shadow, ShadowRequest, Strategy,
};
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::{changes, escape};
use crate::wiring::quantity;
use crate::wiring::workspace::Session;

/// What kind of shadow.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub kind: KindArgs,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

/// What kind of shadow, also for `run`.
#[derive(clap::Args)]
pub struct KindArgs {
    /// How changes are kept away; without it, the best that works here.
    #[arg(long, value_enum, value_name = "HOW")]
    pub strategy: Option<How>,
    /// How much it may hold.
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub max_size: Option<u64>,
    /// Make no checkpoint of the worktree first: faster in a large one, but files that change there
    /// meanwhile cannot be merged.
    #[arg(long)]
    pub no_checkpoint: bool,
    /// Use a user namespace even where a mount namespace would do.
    #[arg(long, hide = true)]
    pub user_namespace: bool,
}

/// How changes are kept away.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum How {
    /// An overlay over the worktree's own path.
    Overlay,
    /// A copy that shares its blocks.
    Reflink,
    /// A plain copy.
    Copy,
}

const EXAMPLES: &str = "Examples:
  aur shadow create
  aur shadow create --strategy copy --max-size 500M
  aur shadow create --json";

/// Makes it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let shadow = make(&session, &args.kind)?;
    if args.json {
        output::print_json(&json!({
            "shadow": shadow.meta.id,
            "strategy": shadow.meta.strategy,
            "why": shadow.meta.why,
            "path": shadow.seen_at().to_string_lossy(),
            "base_checkpoint": shadow.meta.base_checkpoint,
            "max_bytes": shadow.meta.max_bytes,
            "notes": shadow.meta.notes,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut out = made(&shadow);
    out.push_str(&format!(
        "seen at  {}\nholds    at most {}\n",
        escape::line(&shadow.seen_at().to_string_lossy()),
        changes::bytes(shadow.meta.max_bytes)
    ));
    for note in &shadow.meta.notes {
        out.push_str(&format!("note     {}\n", escape::line(note)));
    }
    out.push_str(&format!("run something in it with: aur shadow run {} -- …\n", shadow.meta.id));
    output::print(&out)?;
    Ok(Exit::Ok)
}

/// Makes a shadow.
pub fn make(session: &Session, kind: &KindArgs) -> anyhow::Result<Shadow> {
    let request = ShadowRequest {
        strategy: kind.strategy.map(|how| match how {
            How::Overlay => Strategy::Overlay,
            How::Reflink => Strategy::Reflink,
            How::Copy => Strategy::Copy,
        }),
        max_bytes: kind.max_size.unwrap_or(DEFAULT_MAX_BYTES),
        base: if kind.no_checkpoint { Base::None } else { Base::Checkpoint },
        helper: Some(super::helper()?),
        namespace: namespace(kind.user_namespace),
        ..ShadowRequest::default()
    };
    session.ask(|workspace| workspace.create_shadow(&request))
}

/// Which namespaces to use.
pub fn namespace(user: bool) -> Namespace {
    if user { Namespace::User } else { Namespace::Auto }
}

/// Which shadow was made, and how it keeps changes away.
pub fn made(shadow: &Shadow) -> String {
    format!("made     {} ({})\n", shadow.meta.id, escape::line(&shadow.meta.why))
}
