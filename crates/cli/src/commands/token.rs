//! `aur token`: who may decide, read or ask over HTTP.

pub mod create;
pub mod list;
pub mod revoke;

use aurora_engine::people::Token;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output;
use crate::wiring::workspace::now;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur token create --person ana --role lead --expires 30d
  aur token create --person claude --kind agent
  aur token list
  aur token revoke tok-3f9a1c22d0b7

A token is shown once; the log keeps its hash. Tokens of people decide, those of agents and services
read and ask only. Making one and taking it back are in the log like everything else.";

/// What can be done with them.
#[derive(clap::Subcommand)]
enum Command {
    /// Make a token, and show it once.
    Create(create::Args),
    /// List them, without what they are.
    List(list::Args),
    /// Take one back; it opens nothing from the next request on.
    Revoke(revoke::Args),
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Create(args) => output::with_error(args.json, create::run(args)),
        Command::List(args) => output::with_error(args.json, list::run(args)),
        Command::Revoke(args) => output::with_error(args.json, revoke::run(args)),
    }
}

/// A token for programs, without its hash.
fn in_json(token: &Token) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "person": token.person,
        "roles": token.roles,
        "kind": token.kind,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "valid": token.is_valid(now()),
    })
}
