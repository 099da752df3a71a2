//! `aur rollback`: takes the worktree back to a checkpoint, after showing what that does.

pub mod target;
pub mod violations;

use std::path::PathBuf;

use aurora_model::{Checkpoint, TreeId};
use aurora_workspace::{
    Edits, Error, GitWorkspace, MovedHead, Outcome, PathOutcome, RollbackPlan, RollbackReport,
    RollbackRequest, Scope, UndoRequest, Workspace as _,
};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::style::Style;
use crate::output::{escape, history, moment, rollback, skipped};
use crate::wiring::question::Consent;
use crate::wiring::workspace::{self, Session};

/// Where to, and how far.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub struct Args {
    /// The checkpoint; without one, the latest that was asked for or made by the watchdog.
    #[arg(value_name = "CHECKPOINT", conflicts_with_all = ["checkpoint", "undo"])]
    id: Option<String>,
    /// The same, by an option.
    #[arg(short, long, value_name = "CHECKPOINT", conflicts_with = "undo")]
    checkpoint: Option<String>,
    /// Undo the latest rollback or promotion; twice does it again.
    #[arg(long, conflicts_with_all = ["file", "smart", "merge"])]
    undo: bool,
    /// Only this file or folder; may be given again.
    #[arg(short, long, value_name = "PATH", num_args = 1.., conflicts_with = "smart")]
    file: Vec<PathBuf>,
    /// Only files that violate something.
    #[arg(long)]
    smart: bool,
    /// Take the violations from this JSON file (`-` is stdin) instead of the checkpoints since.
    #[arg(long, value_name = "FILE", requires = "smart")]
    violations: Option<PathBuf>,
    /// Keep edits that no checkpoint has: a three-way merge with the latest checkpoint as base.
    #[arg(long)]
    merge: bool,
    /// Show what would happen, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Restore files even when HEAD or the branch moved since; HEAD stays where it is.
    #[arg(long)]
    allow_moved_head: bool,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
}

const USAGE: &str = "aur rollback [OPTIONS] [CHECKPOINT]
       aur rollback [OPTIONS] [CHECKPOINT] --file <PATH>...
       aur rollback [OPTIONS] [CHECKPOINT] --smart [--violations <FILE>]
       aur rollback --undo [--dry-run] [--yes] [--json]";

const EXAMPLES: &str = "Examples:
  aur rollback                        to the latest checkpoint, after a look at what changes
  aur rollback 3 --dry-run            only look
  aur rollback 3 --file src/ a.txt    only these; paths start at the current directory
  aur rollback 3 --merge              keep what you edited since the latest checkpoint
  aur rollback --smart                only files that violate something, to the latest checkpoint
                                      where they did not
  aur rollback --undo                 undo it; nothing was lost

Only files that differ are touched, what was there is kept in a safety checkpoint first, and your
index, HEAD, branches and stash stay as they are. Without a terminal to ask at, --yes is needed.

Exit codes: 0 done; 1 it could not be done, or not for every file; 2 wrong usage.";

/// Does it, or shows it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    output::with_error(args.json, go(args))
}

fn go(args: &Args) -> anyhow::Result<Exit> {
    let consent = Consent::of(args.yes, args.json);
    let session = Session::open()?;
    let asked = asked(args, &session)?;
    // Nobody looks at a plan after a yes. What is refused may still be nothing to do, which only a
    // plan tells.
    if consent == Consent::Given && !args.dry_run {
        match session.ask(|workspace| Ok(carry_out(workspace, &asked, None)))? {
            Err(Error::Refused { .. }) => {}
            done => return tell(args, &session, &done.map_err(workspace::failure)?),
        }
    }
    let plan = session.ask(|workspace| match &asked {
        Asked::Undo(request) => workspace.plan_undo(request),
        Asked::Rollback(request) => workspace.plan_rollback(request),
    })?;
    let to = session.ask(|workspace| workspace.find(&plan.to.0))?;
    if args.dry_run {
        show_plan(args, &to, &plan)?;
        return Ok(Exit::Ok);
    }
    if rollback::is_empty(&plan) {
        if args.json {
            output::print_json(&rollback::idle_json(&plan))?;
            return Ok(if rollback::has_conflict(&plan) { Exit::Failure } else { Exit::Ok });
        }
        return nothing_to_do(args, &to, &plan);
    }
    check_head(args, &plan)?;
    consent.check("a rollback")?;
    if consent != Consent::Given {
        show_plan(args, &to, &plan)?;
    }
    if !consent.ask(if args.undo { "Undo?" } else { "Roll back?" })? {
        output::print("nothing was changed\n")?;
        return Ok(Exit::Failure);
    }
    let seen = Some(plan.now);
    let report = session.ask(|workspace| carry_out(workspace, &asked, seen))?;
    tell(args, &session, &report)
}

fn carry_out(
    workspace: &GitWorkspace,
    asked: &Asked,
    seen: Option<TreeId>,
) -> aurora_workspace::Result<RollbackReport> {
    match asked {
        Asked::Undo(request) => workspace.undo(&UndoRequest { seen, ..request.clone() }),
        Asked::Rollback(request) => {
            workspace.rollback(&RollbackRequest { seen, ..request.clone() })
        }
    }
}

/// What was asked for: a checkpoint's state, or what was there before the latest rollback.
enum Asked {
    Rollback(RollbackRequest),
    Undo(UndoRequest),
}

fn asked(args: &Args, session: &Session) -> anyhow::Result<Asked> {
    let moved_head = if args.allow_moved_head { MovedHead::Accept } else { MovedHead::Refuse };
    if args.undo {
        return Ok(Asked::Undo(UndoRequest { moved_head, ..UndoRequest::default() }));
    }
    let name = args.id.as_deref().or(args.checkpoint.as_deref());
    let (to, scope) = match (name, args.smart && args.violations.is_none()) {
        (None, true) => violations::aim(session)?,
        _ => {
            let to = target::find(session, name)?;
            let scope = scope(args, session, &to)?;
            (to, scope)
        }
    };
    Ok(Asked::Rollback(RollbackRequest {
        scope,
        edits: if args.merge { Edits::Merge } else { Edits::Replace },
        moved_head,
        ..RollbackRequest::to(to.checkpoint_id)
    }))
}

/// Refuses before a question is asked whose yes would be refused.
fn check_head(args: &Args, plan: &RollbackPlan) -> anyhow::Result<()> {
    let Some((then, now)) = plan.moved_head.as_ref().filter(|_| !args.allow_moved_head) else {
        return Ok(());
    };
    let (then, now) = (skipped::head(then), skipped::head(now));
    Err(Failure::failed(format!("HEAD was {then} at {} and is {now} now", plan.to))
        .hint("switch back first, or insist with --allow-moved-head: HEAD stays where it is")
        .into())
}

fn scope(args: &Args, session: &Session, to: &Checkpoint) -> anyhow::Result<Scope> {
    if args.smart {
        return violations::scope(session, to, args.violations.as_deref());
    }
    let paths = session.paths(&args.file)?;
    Ok(if paths.is_empty() { Scope::Everything } else { Scope::Paths(paths) })
}

fn show_plan(args: &Args, to: &Checkpoint, plan: &RollbackPlan) -> anyhow::Result<()> {
    if args.json {
        return output::print_json(&rollback::plan_json(plan));
    }
    let style = Style::of_stdout();
    let mut out = headline(to, style);
    if plan.steps.is_empty() && plan.empty_folders.is_empty() {
        out.push_str("nothing to do: the worktree is as it was then\n");
        out.push_str(&rollback::in_lines(&plan.notes));
    } else {
        out.push_str(&rollback::plan(plan, args.merge, style));
    }
    output::print(&out)
}

/// Which checkpoint that is, in words that a person recognises.
fn headline(to: &Checkpoint, style: Style) -> String {
    let message = history::message(to);
    let message = if message.is_empty() { message } else { format!(": {message}") };
    format!(
        "back to {} ({}, {}){message}\n",
        style.bold(&escape::line(&to.checkpoint_id.0)),
        history::kind(to.kind),
        moment::ago(workspace::now(), to.timestamp)
    )
}

fn nothing_to_do(args: &Args, to: &Checkpoint, plan: &RollbackPlan) -> anyhow::Result<Exit> {
    if plan.steps.is_empty() {
        let id = escape::line(&to.checkpoint_id.0);
        let notes = rollback::in_lines(&plan.notes);
        output::print(&format!("nothing to do: the worktree is as {id} has it\n{notes}"))?;
    } else {
        show_plan(args, to, plan)?;
    }
    if rollback::has_conflict(plan) {
        return Err(Failure::failed("nothing was rolled back").hint(CONFLICT_HINT).into());
    }
    Ok(Exit::Ok)
}

const CONFLICT_HINT: &str = "edit the files in conflict by hand, or roll back without --merge: your \
                             edits are in a safety checkpoint then";

fn tell(args: &Args, session: &Session, report: &RollbackReport) -> anyhow::Result<Exit> {
    // Of a file that was asked for by name, staying as it is does not go well.
    let stayed = |one: &PathOutcome| matches!(one.outcome, Outcome::Kept { .. });
    let missed = !args.file.is_empty() && report.paths.iter().any(stayed);
    let well = rollback::went_well(report) && !missed;
    if args.json {
        output::print_json(&rollback::report_json(report))?;
        return Ok(if well { Exit::Ok } else { Exit::Failure });
    }
    if let Some(plan) = rollback::idle(report) {
        let to = session.ask(|workspace| workspace.find(&report.to.0))?;
        return nothing_to_do(args, &to, &plan);
    }
    output::print(&rollback::report(report, Style::of_stdout()))?;
    if well {
        return Ok(Exit::Ok);
    }
    let failure = Failure::failed("not every file could be rolled back");
    let conflict = |one: &PathOutcome| matches!(one.outcome, Outcome::Conflict { .. });
    Err(match report.paths.iter().any(conflict) {
        true => failure.hint(CONFLICT_HINT).into(),
        false => failure.into(),
    })
}
