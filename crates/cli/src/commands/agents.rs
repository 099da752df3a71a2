//! `aur agents`: which agents are configured, found and able to work.

use crate::exit::Exit;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  aur agents list")]
pub struct Args {}

/// Does it.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    Ok(Exit::Ok)
}
