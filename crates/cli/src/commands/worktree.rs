//! `aur worktree`: a worktree per feature, on a branch of its own.

use aurora_workspace::git::worktree::{Cleaned, FeatureWorktree, NewWorktree, RemoveWorktree};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::escape;
use crate::wiring::layers;
use crate::wiring::place::{Given, Place};
use crate::wiring::question::Consent;
use crate::wiring::words;
use crate::wiring::workspace::Session;

/// Of what was thrown away, so much is named; `--json` names all.
const MOST_LINES: usize = 20;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur worktree add login-form
  aur worktree list
  aur worktree remove login-form

A worktree lives outside the repository, on a branch aurora/<name> (the policy's
safety.branch_prefix says what it starts with), and has checkpoints of its own.
Your own checkout, index, stash and branches stay as they are.";

/// What can be done with them.
#[derive(clap::Subcommand)]
enum Command {
    /// Make one, on a branch aurora/<SLUG>.
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddArgs),
    /// List those that were made here.
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Remove one, after a checkpoint of what is in it.
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
    /// Take away what a crash left half-made or half-removed.
    #[command(after_help = CLEANUP_EXAMPLES)]
    Cleanup(ListArgs),
}

#[derive(clap::Args)]
struct AddArgs {
    /// The short name: lower-case letters, digits, `-`, `_` and `.`.
    slug: String,
    /// The commit to begin with.
    #[arg(long, value_name = "REVISION", default_value = "HEAD")]
    from: String,
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
}

const ADD_EXAMPLES: &str = "Examples:
  aur worktree add login-form
  aur worktree add hotfix --from v1.2

No hook or filter of the repository runs: files hold what is committed.";

#[derive(clap::Args)]
struct ListArgs {
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
}

const LIST_EXAMPLES: &str = "Examples:
  aur worktree list
  aur worktree list --json";

#[derive(clap::Args)]
struct RemoveArgs {
    /// The short name.
    slug: String,
    /// Also when something would be lost: ignored files, repositories inside, commits that no
    /// branch has. A branch whose commits are in no other stays.
    #[arg(long)]
    force: bool,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
}

const REMOVE_EXAMPLES: &str = "Examples:
  aur worktree remove login-form
  aur worktree remove login-form --yes
  aur worktree remove login-form --force

Ignored files (such as build output) and repositories inside are in no checkpoint, so it is refused
while there are any; --force throws them away.

Its branch goes too when it has no commits of its own. Its checkpoints stay:
`aur checkpoints list --feature login-form` shows them.";

const CLEANUP_EXAMPLES: &str = "Examples:
  aur worktree cleanup
  aur worktree cleanup --json

A worktree that is whole, or that holds anything of anybody's, is left alone.";

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Add(args) => output::with_error(args.json, add(args)),
        Command::List(args) => output::with_error(args.json, list(args)),
        Command::Remove(args) => output::with_error(args.json, remove(args)),
        Command::Cleanup(args) => output::with_error(args.json, cleanup(args)),
    }
}

fn add(args: &AddArgs) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let new = NewWorktree {
        from: args.from.clone(),
        prefix: branch_prefix(&session)?,
        ..NewWorktree::named(&args.slug)
    };
    let made = session.ask(|workspace| workspace.create_worktree(&new))?;
    if args.json {
        output::print_json(&json!(made))?;
        return Ok(Exit::Ok);
    }
    let path = made.path.to_string_lossy();
    let mut out =
        format!("made {} on branch {}\n", escape::line(&path), escape::line(&made.branch));
    for note in &made.notes {
        out.push_str(&format!("  {}\n", escape::line(note)));
    }
    out.push_str(&format!("go there with: cd {}\n", escape::line(&words::quote(&path))));
    output::print(&out)?;
    Ok(Exit::Ok)
}

/// What the policy says that branches start with.
fn branch_prefix(session: &Session) -> anyhow::Result<String> {
    let root = session.workspace.root().to_owned();
    let policy = layers::load(&Place::look(Given { cwd: Some(root), ..Given::default() }), None)?;
    Ok(policy.branches().prefix)
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let all = session.ask(|workspace| workspace.list_worktrees())?;
    if args.json {
        output::print_json(&json!({"worktrees": all}))?;
    } else if all.is_empty() {
        output::print("no worktree was made here; `aur worktree add NAME` makes one\n")?;
    } else {
        output::print(&all.iter().map(row).collect::<String>())?;
    }
    Ok(Exit::Ok)
}

fn row(one: &FeatureWorktree) -> String {
    let state = if one.whole { "" } else { "  (not whole: `aur worktree cleanup`)" };
    format!(
        "{}  {}  {}{state}\n",
        escape::line(&one.slug),
        escape::line(&one.branch),
        escape::line(&one.path.to_string_lossy())
    )
}

fn remove(args: &RemoveArgs) -> anyhow::Result<Exit> {
    let consent = Consent::of(args.yes, args.json);
    let session = Session::open()?;
    let all = session.ask(|workspace| workspace.list_worktrees())?;
    let one = all.iter().find(|one| one.slug == args.slug).ok_or_else(|| {
        Failure::usage(format!("there is no worktree `{}`", args.slug))
            .hint("`aur worktree list` shows those that were made here")
    })?;
    consent.check("removing a worktree")?;
    let path = escape::line(&one.path.to_string_lossy());
    if !consent.ask(&format!("Remove {path}? A checkpoint of it is made first."))? {
        output::print("nothing was removed\n")?;
        return Ok(Exit::Failure);
    }
    let request = RemoveWorktree { slug: args.slug.clone(), force: args.force };
    let removed = session.ask(|workspace| workspace.remove_worktree(&request))?;
    if args.json {
        output::print_json(&json!(removed))?;
        return Ok(Exit::Ok);
    }
    let mut out = format!("removed {path}\n");
    for gone in removed.thrown_away.iter().take(MOST_LINES) {
        out.push_str(&format!("  thrown away: {}\n", escape::line(gone)));
    }
    if let Some(more) = removed.thrown_away.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
        out.push_str(&format!("  thrown away: {more} more\n"));
    }
    if let Some(id) = &removed.checkpoint {
        let all = if removed.thrown_away.is_empty() { "what" } else { "other than that, what" };
        out.push_str(&format!("  {all} was in it is {}\n", escape::line(&id.0)));
    }
    if let Some(branch) = &removed.kept_branch {
        let branch = escape::line(branch);
        out.push_str(&format!("  branch {branch} stays: its commits are in no other\n"));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}

fn cleanup(args: &ListArgs) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let cleaned = session.ask(|workspace| workspace.cleanup_worktrees())?;
    if args.json {
        output::print_json(&json!({"cleaned": cleaned}))?;
    } else if cleaned.is_empty() {
        output::print("nothing to clean up\n")?;
    } else {
        output::print(&cleaned.iter().map(outcome).collect::<String>())?;
    }
    Ok(Exit::Ok)
}

fn outcome(one: &Cleaned) -> String {
    let did = if one.removed { "removed" } else { "left alone" };
    format!("{did} {}: {}\n", escape::line(&one.slug), escape::line(&one.because))
}
