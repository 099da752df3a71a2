//! `aur agents autonomy`: how much agents may do by themselves, what lowered it, and a person's word.

use aurora_engine::approvals::autonomy;
use aurora_gate::approval::Rules;
use aurora_gate::approval::autonomy::PROJECT;
use aurora_model::{Autonomy, Surface};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::style::Style;
use crate::output::{self, escape};
use crate::wiring::approvals::settings;
use crate::wiring::lowered::{self, Lowered};
use crate::wiring::place::{Given, Place};
use crate::wiring::store::Log;
use crate::wiring::workspace::now;
use crate::wiring::{fence, person};

/// What to do about it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur agents autonomy show
  aur agents autonomy raise agent:coder semi --reason 'looked into it'
  aur agents autonomy lower project supervised --reason 'release week'

A level is locked, supervised, semi or full. What approvals.yaml says holds at most; below that a level
is lowered by what happens: three calls that the policy denies or a budget that is used up make an
agent supervised; a call that leaves its desk or changed git data make it locked; a broken log locks
the project. Only a person raises it again, and both are in the log.

Exit codes: 0 done; 3 refused: that is for people; 2 wrong usage; 1 failed.";

/// What can be done about it.
#[derive(clap::Subcommand)]
enum Command {
    /// Show the levels of the settings and what is lowered below them.
    Show(Show),
    /// Let an agent, a role or the project do more again.
    Raise(Change),
    /// Let an agent, a role or the project do less from now on.
    Lower(Change),
}

/// How to tell it.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  aur agents autonomy show\n  aur agents autonomy show --json")]
struct Show {
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
}

/// Whose level, and why.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aur agents autonomy raise agent:coder semi --reason 'looked into it'
  aur agents autonomy lower role:backend locked --reason 'until the audit is over'")]
struct Change {
    /// Whose: `project`, `role:NAME` or `agent:NAME`.
    #[arg(value_name = "SCOPE")]
    scope: String,
    /// The level from now on at most: locked, supervised, semi or full.
    #[arg(value_name = "LEVEL")]
    level: String,
    /// Why; it is recorded.
    #[arg(long, alias = "feedback", value_name = "TEXT")]
    reason: String,
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Show(args) => output::with_error(args.json, show(args)),
        Command::Raise(args) => output::with_error(args.json, change(args, true)),
        Command::Lower(args) => output::with_error(args.json, change(args, false)),
    }
}

fn show(args: &Show) -> anyhow::Result<Exit> {
    let rules = settings::rules(&Place::look(Given::default()))?;
    let configured = rules.show().get("autonomy").cloned().unwrap_or_default();
    let lowered = lowered::here()?;
    if args.json {
        let all: Vec<_> = lowered.iter().map(lowered::in_json).collect();
        output::print_json(&json!({"configured": configured, "lowered": all}))?;
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    super::super::approvals::config::push_section(
        &mut out,
        "autonomy",
        &configured,
        Style::of_stdout(),
    );
    lowered::push(&mut out, &lowered, Style::of_stdout());
    output::print(&out)?;
    Ok(Exit::Ok)
}

fn change(args: &Change, up: bool) -> anyhow::Result<Exit> {
    fence::for_people(if up { "raising a level" } else { "lowering a level" })?;
    let level = level(&args.level)?;
    let rules = settings::rules(&Place::look(Given::default()))?;
    let allowed = allowed(&rules, &args.scope)?;
    if up && let Some(allowed) = allowed.filter(|allowed| level > *allowed) {
        let what = format!("approvals.yaml lets {} be {} at most", args.scope, allowed.name());
        return Err(Failure::usage(escape::line(&what))
            .hint("`aur agents autonomy show` tells where that is written")
            .into());
    }
    if args.reason.trim().is_empty() {
        return Err(Failure::usage("--reason is empty: say why").into());
    }
    let by = person::here(&rules, Surface::Command);
    let (scope, why) = (args.scope.as_str(), args.reason.trim());
    let log = Log::open()?;
    let store = log.store.as_ref();
    let changed = log.ask(async {
        match up {
            true => autonomy::raise(store, scope, level, (&by, Some(why)), now()).await,
            false => autonomy::lower_by(store, scope, level, (&by, why), now()).await,
        }
    });
    let changed = changed.map_err(|error| Failure::failed(error.to_string()))?;
    let lowered = lowered::of(&log)?;
    tell(args, up, changed, &by.name, lowered.iter().find(|one| one.scope == scope))
}

fn tell(
    args: &Change,
    up: bool,
    changed: bool,
    by: &str,
    cap: Option<&Lowered>,
) -> anyhow::Result<Exit> {
    let scope = escape::line(&args.scope);
    let at_most = cap.map(|cap| cap.to.name());
    if args.json {
        output::print_json(&json!({
            "scope": args.scope, "changed": changed, "at_most": at_most, "by": by,
        }))?;
        return Ok(Exit::Ok);
    }
    let is = match at_most {
        Some(level) => format!("{scope} is {level} at most"),
        None => format!("{scope} is what the settings say"),
    };
    let line = match (changed, up) {
        (true, true) => format!("raised by {}: {is}\n", escape::line(by)),
        (true, false) => format!("lowered by {}: {is}\n", escape::line(by)),
        (false, _) => format!("nothing changed: {is}\n"),
    };
    output::print(&line)?;
    Ok(Exit::Ok)
}

fn level(name: &str) -> anyhow::Result<Autonomy> {
    Autonomy::from_name(name).ok_or_else(|| {
        let names = Autonomy::ALL.map(Autonomy::name).join(", ");
        Failure::usage(format!("`{}` is no level", escape::line(name)))
            .hint(format!("the levels are {names}"))
            .into()
    })
}

/// What the settings allow a scope at most; nothing is said of the project as a whole.
fn allowed(rules: &Rules, scope: &str) -> anyhow::Result<Option<Autonomy>> {
    let sound = |name: &str| !name.is_empty() && name.len() <= 100 && !name.contains('/');
    match scope.split_once(':') {
        None if scope == PROJECT => Ok(None),
        Some(("agent", name)) if sound(name) => Ok(Some(rules.autonomy(Some(name), None))),
        Some(("role", name)) if sound(name) => Ok(Some(rules.autonomy(None, Some(name)))),
        _ => Err(Failure::usage(format!("`{}` is no scope", escape::line(scope)))
            .hint("write project, role:NAME or agent:NAME, as in agent:coder")
            .into()),
    }
}
