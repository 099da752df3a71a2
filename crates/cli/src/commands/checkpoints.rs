//! `aur checkpoints`: what was recorded earlier.

pub mod branch;
pub mod compare;
pub mod diff;
pub mod list;
pub mod prune;
pub mod show;
pub mod verify;

use aurora_model::{Checkpoint, RepoPath, TreeId};
use aurora_workspace::{MovedHead, RollbackRequest, Workspace as _};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::workspace::Session;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints list
  aur checkpoints show latest
  aur checkpoints diff 3
  aur checkpoints compare 3 now
  aur checkpoints prune --keep-last 50

A checkpoint is named by its whole name (ckpt-003-a3f2b9c4), by a beginning that only one has, by its
number (3), or as `latest`. Each worktree and each shadow has its own; --feature NAME reads those of
another, and `list --all-features` lists all.";

/// What can be done with them.
#[derive(clap::Subcommand)]
enum Command {
    /// List them, the newest first.
    List(list::Args),
    /// Tell everything about one.
    Show(show::Args),
    /// Print what one changed, or what changed since the latest one.
    Diff(diff::Args),
    /// Say what differs between two.
    Compare(compare::Args),
    /// Make a branch that holds one.
    Branch(branch::Args),
    /// Forget some, and give their space back.
    Prune(prune::Args),
    /// Check that they are whole and that nobody changed them.
    Verify(verify::Args),
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List(args) => output::with_error(args.json, list::run(args)),
        Command::Show(args) => output::with_error(args.json, show::run(args)),
        Command::Diff(args) => diff::run(args),
        Command::Compare(args) => output::with_error(args.json, compare::run(args)),
        Command::Branch(args) => output::with_error(args.json, branch::run(args)),
        Command::Prune(args) => output::with_error(args.json, prune::run(args)),
        Command::Verify(args) => output::with_error(args.json, verify::run(args)),
    }
}

/// Whose checkpoints are meant.
#[derive(clap::Args)]
pub struct Whose {
    /// Those of this feature: another worktree (also a removed one) or a shadow.
    #[arg(long, value_name = "NAME")]
    pub feature: Option<String>,
}

impl Whose {
    /// The checkpoint that a name means.
    pub fn find(&self, session: &Session, name: &str) -> anyhow::Result<Checkpoint> {
        match self.known(session)? {
            Some(feature) => session.ask(|workspace| workspace.find_of(feature, name)),
            None => session.ask(|workspace| workspace.find(name)),
        }
    }

    /// All of them, the oldest first.
    pub fn all(&self, session: &Session) -> anyhow::Result<Vec<Checkpoint>> {
        match self.known(session)? {
            Some(feature) => session.ask(|workspace| workspace.checkpoints_of(feature)),
            None => session.ask(|workspace| workspace.checkpoints()),
        }
    }

    /// The feature that was named, which must have checkpoints.
    fn known(&self, session: &Session) -> anyhow::Result<Option<&str>> {
        let Some(name) = self.feature.as_deref() else { return Ok(None) };
        let all = session.ask(|workspace| workspace.features())?;
        if all.iter().any(|feature| feature == name) {
            return Ok(Some(name));
        }
        let hint = match all.is_empty() {
            true => "no feature has any".to_owned(),
            false => format!("there are those of {}", all.join(", ")),
        };
        Err(Failure::usage(format!("no checkpoints of a feature `{name}`")).hint(hint).into())
    }
}

/// What the worktree holds now, compared with a checkpoint.
pub fn tree_now(session: &Session, checkpoint: &Checkpoint) -> anyhow::Result<TreeId> {
    let request = RollbackRequest {
        moved_head: MovedHead::Accept,
        ..RollbackRequest::to(checkpoint.checkpoint_id.clone())
    };
    Ok(session.ask(|workspace| workspace.plan_rollback(&request))?.now)
}

/// Whether a path is among those that were asked for; none means all.
#[must_use]
pub fn is_wanted(path: &RepoPath, only: &[RepoPath]) -> bool {
    only.is_empty() || only.iter().any(|folder| path.is_within(folder))
}
