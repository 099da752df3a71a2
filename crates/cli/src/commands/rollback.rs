//! `aur rollback`.

use crate::exit::{Exit, Failure};

/// What to do.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

const EXAMPLES: &str = "Examples:
  aur rollback --undo";

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Args {} = args;
    Err(Failure::failed("not there yet").into())
}
