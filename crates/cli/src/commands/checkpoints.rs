//! `aur checkpoints`.

use crate::exit::{Exit, Failure};

/// What to do.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

const EXAMPLES: &str = "Examples:
  aur checkpoints list";

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Args {} = args;
    Err(Failure::failed("not there yet").into())
}
