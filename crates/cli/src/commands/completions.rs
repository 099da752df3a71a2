//! `aur completions`: a completion script from the same source as the help.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::Cli;
use crate::exit::Exit;
use crate::output;

/// For which shell.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  aur completions bash > ~/.local/share/bash-completion/completions/aur
  aur completions zsh > ~/.zfunc/_aur
  aur completions fish > ~/.config/fish/completions/aur.fish";

/// Prints the script.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "aur", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
