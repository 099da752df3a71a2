//! `aur policy`: ask the gate, and look at the policy that it judges by.

pub mod batch;
pub mod batch_flow;
pub mod batch_line;
pub mod batch_problem;
pub mod check;
pub mod explain;
pub mod init;
pub mod schema;
pub mod show;
pub mod suggest;
pub mod test;

use std::path::PathBuf;

use aurora_gate::Policy;

use crate::exit::Exit;
use crate::output;
use crate::wiring::layers;
use crate::wiring::place::{Given, Place};

/// Shown with the help.
pub const EXAMPLES: &str = "Examples:
  aur policy check -- git push --force
  aur policy show --origin
  aur policy explain destructive.git_force_push

Layers: built-in defaults, ~/.aurora/policies.yaml, .aurora/policies.yaml of the project, --policy.";

/// What can be asked about policies.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Ask whether a command, SQL, a patch or a tool call may happen.
    Check(Box<check::Args>),
    /// Print the policy that holds here.
    Show(show::Args),
    /// Print the JSON Schema of policy files, for editors.
    Schema(schema::Args),
    /// Run the examples that the policy's rules carry.
    Test(test::Args),
    /// Say what a rule means, or list all rules.
    Explain(explain::Args),
    /// Propose narrow rules from what people decided, with a back-test.
    Suggest(suggest::Args),
    /// Write a policy file to start from.
    Init(init::Args),
}

/// Runs one of them.
pub fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        // A batch tells its errors in its answers.
        Command::Check(args) => output::with_error(args.json && !args.batch, check::run(&args)),
        Command::Show(args) => output::with_error(args.json, show::run(&args)),
        Command::Schema(args) => schema::run(&args),
        Command::Test(args) => output::with_error(args.json, test::run(&args)),
        Command::Explain(args) => output::with_error(args.json, explain::run(&args)),
        Command::Suggest(args) => output::with_error(args.json, suggest::run(&args)),
        Command::Init(args) => output::with_error(args.json, init::run(&args)),
    }
}

/// Which policy is meant.
#[derive(clap::Args)]
pub struct PolicyArgs {
    /// Add a policy file on top of the user's and the project's.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Take the project's policy from this folder instead of the current one.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

impl PolicyArgs {
    fn place(&self) -> Place {
        Place::look(Given { cwd: self.cwd.clone(), ..Given::default() })
    }

    fn load(&self) -> anyhow::Result<Policy> {
        layers::load(&self.place(), self.policy.as_deref())
    }
}
