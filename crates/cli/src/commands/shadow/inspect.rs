//! `aur shadow inspect`: what a shadow changes, what is wrong with it, who works in it.

use serde_json::json;

use super::report;
use crate::exit::Exit;
use crate::output;
use crate::output::moment;
use crate::output::style::Style;
use crate::wiring::workspace::{self, Session};

/// Which one.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shadow; without one, the latest open one.
    #[arg(value_name = "SHADOW")]
    name: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur shadow inspect
  aur shadow inspect 3 --json | jq -r '.changes[].path'";

/// Tells it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let shadow = super::find(&session, args.name.as_deref())?;
    let inspection = session.ask(|workspace| workspace.inspect_shadow(&shadow))?;
    if args.json {
        let mut told = json!(inspection);
        if let Some(told) = told.as_object_mut() {
            told.insert("shadow".to_owned(), json!(shadow.meta.id));
            told.insert("meta".to_owned(), report::named(&inspection.meta));
        }
        output::print_json(&told)?;
        return Ok(Exit::Ok);
    }
    let ago = moment::ago(workspace::now(), shadow.meta.created);
    output::print(&report::whole(&inspection, &ago, Style::of_stdout()))?;
    Ok(Exit::Ok)
}
