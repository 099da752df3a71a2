//! `aur keep`: holds the processes of an agent. Nothing here may start a thread.

use aurora_workspace::process;

use crate::exit::Exit;
use crate::wiring::workspace::failure;

/// Nothing: everything is said through stdin.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

const EXAMPLES: &str = "Examples:
  aur keep    only `aur` itself calls it, with a socket as stdin";

/// Keeps what it is told to, until all of it is gone.
pub fn run(_: &Args) -> anyhow::Result<Exit> {
    hear_what_is_ignored();
    process::keep().map_err(failure)?;
    Ok(Exit::Ok)
}

/// Signals that our own caller ignores (`nohup`) would be ignored by agents, too; those that are
/// heard are not handed on.
fn hear_what_is_ignored() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let ignored = (1..=31).filter(|signal| mask >> (signal - 1) & 1 == 1);
    // Whoever starts a program from Rust hands on SIGPIPE as it should be.
    for signal in ignored.filter(|&signal| signal != signal_hook::consts::SIGPIPE) {
        let heard = std::sync::Arc::default();
        let _ = signal_hook::flag::register(signal, heard);
    }
}
