//! `aur token create`: makes a token, and shows it once.

use std::sync::Arc;

use aurora_engine::people::{NewToken, TokenBook, TokenKind};
use aurora_model::Timestamp;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::store::Log;
use crate::wiring::workspace::now;
use crate::wiring::{fence, person, quantity, run, serve};

/// Whose token, and how long it holds.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// In whose name it speaks: a person's, an agent's or a program's.
    #[arg(long, value_name = "NAME")]
    person: String,
    /// A role that they have; may be given more than once.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// What speaks with it.
    #[arg(long, value_enum, default_value_t = Kind::Person)]
    kind: Kind,
    /// When it ends, counted from now, such as `30d` [default: never].
    #[arg(long, value_name = "SPAN", value_parser = quantity::span_ms)]
    expires: Option<i64>,
    /// What you call it, such as where it is used.
    #[arg(long, value_name = "TEXT", default_value = "")]
    name: String,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Kind {
    /// Reads, asks and decides.
    Person,
    /// Reads and asks, and never decides.
    Agent,
    /// Reads and asks, and never decides: a program that gathers figures, or opens requests.
    Service,
}

const EXAMPLES: &str = "Examples:
  aur token create --person ana --role lead --expires 30d
  aur token create --person claude --kind agent --json
  aur token create --person prometheus --kind service --name 'metrics of the office'

Send it as `Authorization: Bearer aur_…`. It is shown now and never again.";

/// Makes it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("making a token")?;
    for name in std::iter::once(&args.person).chain(&args.roles) {
        if !aurora_model::id::is_name(name) {
            let told = format!("`{name}` can have letters, digits and `._-` only");
            return Err(Failure::usage(told).into());
        }
    }
    if args.name.chars().count() > 200 || args.name.chars().any(char::is_control) {
        return Err(Failure::usage("--name is one line of at most 200 characters").into());
    }
    let log = Log::open()?;
    let (now, secret) = (now(), serve::secret()?);
    let expires_at =
        args.expires.map(|span| Timestamp { unix_ms: now.unix_ms.saturating_add(span) });
    let kind = match args.kind {
        Kind::Person => TokenKind::Person,
        Kind::Agent => TokenKind::Agent,
        Kind::Service => TokenKind::Service,
    };
    let (name, person, roles) = (args.name.clone(), args.person.clone(), args.roles.clone());
    let new = NewToken { name, person, roles, kind, expires_at };
    let book = TokenBook::new(Arc::clone(&log.store));
    let made = log.ask(book.create(new, &secret, &person::login(), now)).map_err(run::failure)?;
    if args.json {
        let mut told = super::in_json(&made);
        if let Some(fields) = told.as_object_mut() {
            fields.insert("token".to_owned(), secret.expose().into());
        }
        output::print_json(&told)?;
        return Ok(Exit::Ok);
    }
    output::print(&format!("{}\n", secret.expose()))?;
    let end = made.expires_at.map_or("never".to_owned(), |end| end.to_string());
    output::note(&format!(
        "{} speaks as {} ({}) and ends {end}; it is not shown again",
        made.id,
        made.person,
        made.kind.name()
    ));
    Ok(Exit::Ok)
}
