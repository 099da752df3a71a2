//! `aur token revoke`: takes a token back.

use std::sync::Arc;

use aurora_engine::people::TokenBook;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::store::Log;
use crate::wiring::workspace::now;
use crate::wiring::{fence, person, run};

/// Which one.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Its id, as `aur token list` shows it.
    #[arg(value_name = "ID")]
    id: String,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur token revoke tok-3f9a1c22d0b7

It opens nothing from the next request on, also at servers that run.";

/// Takes it back.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("taking a token back")?;
    let unknown = || {
        Failure::usage(format!("there is no token `{}`", args.id))
            .hint("`aur token list --all` shows all of them")
    };
    let log = Log::open_existing()?.ok_or_else(unknown)?;
    let book = TokenBook::new(Arc::clone(&log.store));
    let revoked = log.ask(book.revoke(&args.id, &person::login(), now())).map_err(run::failure)?;
    let revoked = revoked.ok_or_else(unknown)?;
    if args.json {
        output::print_json(&super::in_json(&revoked))?;
    } else {
        output::print(&format!("revoked: {}, of {}\n", revoked.id, revoked.person))?;
    }
    Ok(Exit::Ok)
}
