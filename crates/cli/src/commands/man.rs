//! `aur man`: manual pages from the same source as the help.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::Cli;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::atomic;

/// Where to put them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Write a page for every command into this folder instead of printing aur(1).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  aur man | man -l -
  aur man --out ~/.local/share/man/man1";

/// Prints the first page, or writes all.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let Some(folder) = &args.out else {
        output::print(&String::from_utf8_lossy(&page(&root)?))?;
        return Ok(Exit::Ok);
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("cannot make folder {}: {error}", folder.display()))
    })?;
    let written = write_all(&root, folder)?;
    output::print(&format!("wrote {written} pages into {}\n", folder.display()))?;
    Ok(Exit::Ok)
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Man::new(command.clone()).render(&mut bytes)?;
    Ok(bytes)
}

fn write_all(command: &clap::Command, folder: &Path) -> anyhow::Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    atomic::write(&folder.join(format!("{name}.1")), &page(command)?)?;
    let mut written = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        written += write_all(below, folder)?;
    }
    Ok(written)
}
