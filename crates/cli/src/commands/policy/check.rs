//! `aur policy check`: may this happen?

use std::ffi::OsString;
use std::path::PathBuf;

use aurora_model::{Action, SqlDialect, ToolCall};

use super::batch;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::style::Style;
use crate::wiring::input;
use crate::wiring::judging;
use crate::wiring::layers;
use crate::wiring::patience::{self, PATIENCE};
use crate::wiring::place::{Given, Place};

/// What to judge, and where it would happen.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
#[command(group(clap::ArgGroup::new("what").required(true)
    .args(["command", "sql", "patch", "tool", "batch"])))]
pub struct Args {
    /// One argument is a line for the shell, several are a program's; `-` reads a line from stdin.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Judge SQL; `-` reads it from stdin.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    sql: Option<String>,
    /// Whose SQL it is; without it, any of them.
    #[arg(long, requires = "sql")]
    dialect: Option<Dialect>,
    /// Judge a patch as `git apply` would read it; `-` reads it from stdin.
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Judge a call of an agent's tool.
    #[arg(long, value_name = "NAME", requires = "args")]
    tool: Option<String>,
    /// The tool's arguments; `-` reads them from stdin.
    #[arg(long, value_name = "JSON", requires = "tool")]
    args: Option<String>,
    /// Judge many: one JSON object per line on stdin, one answer per line on stdout.
    #[arg(long)]
    pub batch: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    /// Add a policy file on top of the user's and the project's.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Judge as if in this folder.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Judge as if this branch were checked out.
    #[arg(long)]
    branch: Option<String>,
    /// Judge as if done by this role.
    #[arg(long)]
    role: Option<String>,
}

const USAGE: &str = "aur policy check [OPTIONS] -- <COMMAND>...
       aur policy check [OPTIONS] --sql <TEXT> [--dialect <DIALECT>]
       aur policy check [OPTIONS] --patch <FILE>
       aur policy check [OPTIONS] --tool <NAME> --args <JSON>
       aur policy check [OPTIONS] --batch";

const EXAMPLES: &str = r#"Examples:
  aur policy check -- git push --force
  aur policy check -- 'git push --force | cat'
  aur policy check --sql 'DROP TABLE users' --dialect postgres
  git diff | aur policy check --patch -
  aur policy check --tool Write --args '{"file_path": ".env", "content": "A=1"}'
  echo '{"id": "1", "command": "rm -rf build"}' | aur policy check --batch

Several arguments after `--` are one program's arguments, taken as they are; a single argument is
read by a shell, so write pipes, lists and redirections as one quoted argument.

A batch line is {"id", "command" | "sql" | "patch" | "tool" + "args", "context"}. The optional
context holds cwd, home, root, branch, upstream, aliases and role; a line without one happens here.
The answer is {"id", "decision", "operation", "rule", "reasons", "effects"}, where rule is "" when
no rule spoke. A line that cannot be judged is answered with "error" and the decision "deny", and
the next line is read.

Exit codes: 0 allow, 3 deny, 4 a person would be asked, 2 wrong usage or a policy that cannot be
read. A batch ends with 0 when its lines were answered."#;

/// Whose SQL a text is.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Dialect {
    Generic,
    Postgres,
    Mysql,
    Sqlite,
    Mssql,
}

impl From<Dialect> for SqlDialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Generic => Self::Generic,
            Dialect::Postgres => Self::Postgres,
            Dialect::Mysql => Self::Mysql,
            Dialect::Sqlite => Self::Sqlite,
            Dialect::Mssql => Self::Mssql,
        }
    }
}

/// Judges one action, or a batch of them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    // The parser does not ask for what cannot stand beside the action that was given.
    if args.dialect.is_some() && args.sql.is_none() {
        return Err(Failure::usage("--dialect says whose SQL it is, and there is no --sql").into());
    }
    if args.args.is_some() && args.tool.is_none() {
        return Err(Failure::usage("--args are a tool's, and there is no --tool").into());
    }
    let given = Given {
        cwd: args.cwd.clone(),
        branch: args.branch.clone(),
        role: args.role.clone(),
        ..Given::default()
    };
    let place = Place::look(given.clone());
    if let Some(folder) = args.cwd.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("{} is not a folder", folder.display())).into());
    }
    let policy = layers::load(&place, args.policy.as_deref());
    if args.batch {
        return batch::run(policy, given);
    }
    let policy = policy?;
    let action = action(args)?;
    let judged = patience::in_time(PATIENCE, move || {
        let context = place.context(judging::may_run_git(&action));
        Ok((judging::judge(&action, &policy, &context), action))
    });
    let (verdict, action) =
        judged.map_err(|problem| Failure::failed(format!("cannot judge this: {problem}")))?;
    if args.json {
        let text = judging::judged_text(&action);
        output::print_json(&output::verdict::json(&verdict, &text))?;
    } else {
        let shown = judging::shown(&action);
        output::print(&output::verdict::human(&verdict, &shown, Style::of_stdout()))?;
    }
    Ok(verdict.decision.into())
}

fn action(args: &Args) -> anyhow::Result<Action> {
    if let Some(text) = &args.sql {
        let text = if text == "-" { input::text(input::stdin()?) } else { text.clone() };
        return Ok(Action::Sql { text, dialect: args.dialect.unwrap_or(Dialect::Generic).into() });
    }
    if let Some(path) = &args.patch {
        return Ok(Action::Patch { patch: input::file_or_stdin(path)? });
    }
    if let (Some(name), Some(json)) = (&args.tool, &args.args) {
        let json = if json == "-" { input::text(input::stdin()?) } else { json.clone() };
        let args = serde_json::from_str(&json).map_err(|error| {
            Failure::usage(format!("cannot read --args as JSON: {error}"))
                .hint(r#"write it like --args '{"command": "ls"}'"#)
        })?;
        return Ok(Action::Tool(ToolCall { name: name.clone(), args }));
    }
    command(&args.command)
}

/// A line for the shell when there is one argument, else a program and its arguments. What is not
/// UTF-8 cannot equal any name that a policy knows, so the replacement character stands for it.
fn command(words: &[OsString]) -> anyhow::Result<Action> {
    match words {
        [] => Err(Failure::usage("there is no command after --").into()),
        [only] if only == "-" => Ok(Action::Shell { command: input::text(input::stdin()?) }),
        [only] => Ok(Action::Shell { command: only.to_string_lossy().into_owned() }),
        several => Ok(Action::Exec {
            argv: several.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        }),
    }
}
