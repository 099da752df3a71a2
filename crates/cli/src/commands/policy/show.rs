//! `aur policy show`: the policy that holds here.

use serde_json::json;

use super::PolicyArgs;
use crate::exit::Exit;
use crate::output;

/// How to show it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Say of each value where it comes from.
    #[arg(long)]
    origin: bool,
    /// Answer in JSON: each key with its value, origin and lock.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    policy: PolicyArgs,
}

const EXAMPLES: &str = "Examples:
  aur policy show
  aur policy show --origin
  aur policy show --json --policy ci.yaml";

/// Prints the policy as YAML or JSON.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let policy = args.policy.load()?;
    if args.json {
        let mut all = serde_json::Map::new();
        for entry in policy.entries() {
            let told = json!({
                "value": entry.value,
                "origin": entry.origin,
                "locked": entry.locked,
            });
            all.insert(entry.key, told);
        }
        output::print_json(&all.into())?;
    } else {
        output::print(&policy.to_yaml(args.origin))?;
    }
    Ok(Exit::Ok)
}
