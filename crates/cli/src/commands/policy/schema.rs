//! `aur policy schema`: the JSON Schema of policy files.

use crate::exit::Exit;
use crate::output;

/// Nothing to choose.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

const EXAMPLES: &str = "Examples:
  aur policy schema > policies.schema.json
  then, as the first line of a policy file:
  # yaml-language-server: $schema=policies.schema.json";

/// Prints the schema.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    output::print_json(&aurora_gate::policy::schema())?;
    Ok(Exit::Ok)
}
