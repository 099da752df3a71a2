//! `aur token list`: who has a token, without what it is.

use std::sync::Arc;

use aurora_engine::people::{Token, TokenBook};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output;
use crate::output::escape;
use crate::output::style::Style;
use crate::output::wrap::hang;
use crate::wiring::run;
use crate::wiring::store::Log;
use crate::wiring::workspace::now;

/// Which, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Also those that expired or were taken back.
    #[arg(long)]
    all: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur token list
  aur token list --all --json";

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let tokens = match Log::open_existing()? {
        Some(log) => {
            let book = TokenBook::new(Arc::clone(&log.store));
            log.ask(book.all()).map_err(run::failure)?
        }
        None => Vec::new(),
    };
    let shown: Vec<&Token> =
        tokens.iter().filter(|token| args.all || token.is_valid(now())).collect();
    if args.json {
        let all: Vec<Value> = shown.iter().map(|token| super::in_json(token)).collect();
        output::print_json(&json!({"tokens": all}))?;
        return Ok(Exit::Ok);
    }
    if shown.is_empty() {
        output::print("no tokens; `aur token create --person NAME` makes one\n")?;
        return Ok(Exit::Ok);
    }
    let width = Style::of_stdout().width;
    let lines: String = shown.iter().map(|token| hang("", &line(token), width)).collect();
    output::print(&lines)?;
    Ok(Exit::Ok)
}

fn line(token: &Token) -> String {
    let end = match (&token.revoked_at, &token.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(end)) if token.is_valid(now()) => format!("until {end}"),
        (None, Some(end)) => format!("expired {end}"),
        (None, None) => "until revoked".to_owned(),
    };
    let roles: String = token.roles.iter().map(|role| format!(" {role}")).collect();
    let name = if token.name.is_empty() { String::new() } else { format!("  {}", token.name) };
    let text =
        format!("{}  {} ({}){roles}  {end}{name}", token.id, token.person, token.kind.name());
    escape::line(&text)
}
