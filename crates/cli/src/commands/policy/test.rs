//! `aur policy test`: the examples that rules carry, judged.

use aurora_gate::policy::{ExampleOutcome, check_examples};
use serde_json::{Value, json};

use super::PolicyArgs;
use crate::exit::Exit;
use crate::output;
use crate::output::escape;

/// How to tell.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Answer in JSON: every example with its outcome.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    policy: PolicyArgs,
}

const EXAMPLES: &str = "Examples:
  aur policy test
  aur policy test --json
  aur policy test --policy .aurora/policies.yaml

Each rule may carry `match` and `not_match` examples; every one is judged, and the command ends with
1 when one of them is not judged as its rule says.";

/// Runs all examples.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let policy = args.policy.load()?;
    let outcomes = check_examples(&policy);
    let failed = outcomes.iter().filter(|outcome| !outcome.ok).count();
    if args.json {
        let examples: Vec<Value> = outcomes.iter().map(as_json).collect();
        output::print_json(
            &json!({"total": outcomes.len(), "failed": failed, "examples": examples}),
        )?;
    } else {
        output::print(&as_text(&outcomes, failed))?;
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failure })
}

fn as_json(outcome: &ExampleOutcome) -> Value {
    json!({
        "rule": outcome.rule,
        "example": outcome.example,
        "should_match": outcome.should_match,
        "ok": outcome.ok,
        "got": outcome.got,
    })
}

fn as_text(outcomes: &[ExampleOutcome], failed: usize) -> String {
    let mut out = String::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.ok) {
        let should = if outcome.should_match { "should match" } else { "should not match" };
        out.push_str(&format!(
            "FAIL  {}\n  {} {should}, got {}\n",
            escape::line(&outcome.rule),
            escape::line(&outcome.example),
            escape::line(&outcome.got.to_string())
        ));
    }
    let total = outcomes.len();
    let plural = if total == 1 { "example" } else { "examples" };
    if failed == 0 {
        out.push_str(&format!("{total} {plural}, all as their rules say\n"));
    } else {
        out.push_str(&format!("{total} {plural}, {failed} not as their rules say\n"));
    }
    out
}
