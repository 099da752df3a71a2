//! The `aur` program: what it can be asked, and how an answer becomes an exit code.

mod commands;
mod exit;
mod output;
mod wiring;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::Exit;

/// The control plane for AI coding agents: see, judge and hold what they do.
#[derive(Parser)]
#[command(name = "aur", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur policy check -- git push --force        may this run?
  aur policy check -- 'make && rm -rf build'  one argument is a line for the shell
  aur hook install claude-code                put the gate in front of Claude Code
  aur checkpoint -m 'before the refactoring'  record what the worktree holds
  aur rollback                                take it back, after a look; --undo undoes that
  aur goals 'Index faster'                    take a goal apart, look, write down a plan
  aur spawn tasks.md                          let agents do a list of tasks, after a look
  aur approvals list                          what runs ask of you
  aur demo                                    see all of it at work, without network or key

Exit codes:
  0  allowed, or done                    3  denied
  1  failed                              4  a person would be asked
  2  wrong usage, policy or settings   130  interrupted";

#[derive(Subcommand)]
enum Command {
    /// Ask the gate, and look at the policy that it judges by.
    #[command(subcommand, after_help = commands::policy::EXAMPLES)]
    Policy(commands::policy::Command),
    /// Answer an agent's pre-tool hook, or install that hook.
    #[command(subcommand, after_help = commands::hook::EXAMPLES)]
    Hook(commands::hook::Command),
    /// Record what the worktree holds now.
    Checkpoint(commands::checkpoint::Args),
    /// List, show, compare, branch from and prune checkpoints.
    Checkpoints(commands::checkpoints::Args),
    /// Take the worktree back to a checkpoint; that can be undone.
    Rollback(commands::rollback::Args),
    /// Let something work on a shadow of the worktree, then promote or discard it.
    Shadow(commands::shadow::Args),
    /// Watch the worktree, so that a checkpoint costs only what changed.
    Watch(commands::watch::Args),
    /// Make, list and clean up worktrees, one per feature.
    Worktree(commands::worktree::Args),
    /// See which agents are configured and whether they can work.
    Agents(commands::agents::Args),
    /// Take a goal apart into subgoals, look at them, and write them down as a plan.
    Goals(commands::goals::Args),
    /// Do the tasks of a list with agents, after a look at what will happen.
    Spawn(commands::spawn::Args),
    /// See and answer what runs ask of a person.
    Approvals(commands::approvals::Args),
    /// Serve approvals, runs, checkpoints, policies and the log over HTTP.
    Serve(commands::serve::Args),
    /// Make, list and take back tokens for those who decide, read or ask over HTTP.
    Token(commands::token::Args),
    /// Read, verify and export the log of everything that happened.
    Audit(commands::audit::Args),
    /// See what was spent, and say what may be.
    Budget(commands::budget::Args),
    /// Show the gate and the way back at work in a scratch repository, without network or key.
    Demo(commands::demo::Args),
    /// Print a completion script for a shell.
    Completions(commands::completions::Args),
    /// Print the manual page, or write all of them into a folder.
    Man(commands::man::Args),
    /// Play a scenario as an agent would work; agents with `provider: scripted` are this.
    #[command(hide = true)]
    Play(commands::play::Args),
    /// Hold the processes of an agent; `spawn` calls it.
    #[command(hide = true)]
    Keep(commands::keep::Args),
}

fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Policy(command) => commands::policy::run(command),
        Command::Hook(command) => commands::hook::run(command),
        Command::Checkpoint(args) => commands::checkpoint::run(&args),
        Command::Checkpoints(args) => commands::checkpoints::run(&args),
        Command::Rollback(args) => commands::rollback::run(&args),
        Command::Shadow(args) => commands::shadow::run(&args),
        Command::Watch(args) => commands::watch::run(&args),
        Command::Worktree(args) => commands::worktree::run(&args),
        Command::Agents(args) => commands::agents::run(&args),
        Command::Goals(args) => commands::goals::run(&args),
        Command::Spawn(args) => commands::spawn::run(&args),
        Command::Approvals(args) => commands::approvals::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Token(args) => commands::token::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Budget(args) => commands::budget::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Play(args) => commands::play::run(&args),
        Command::Keep(args) => commands::keep::run(&args),
    }
}

fn main() -> ExitCode {
    exit::report_panics_in_one_line();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_usage(&error),
    };
    match run(cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => exit::of_error(&error),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    fn check_help(command: &clap::Command, path: &str) {
        let path = format!("{path} {}", command.get_name());
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Examples:"), "no examples in the help of{path}");
        assert!(command.get_about().is_some(), "nothing is said about{path}");
        command.get_subcommands().for_each(|below| check_help(below, &path));
    }

    #[test]
    fn every_command_has_help_with_examples() {
        Cli::command().debug_assert();
        check_help(&Cli::command(), "");
    }
}
