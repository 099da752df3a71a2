//! `aur approvals edit`: changes what would be done, has it judged again, and says yes to that.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use aurora_gate::approval::options::yes_of;
use serde_json::Value;

use super::approve::ambiguous;
use super::deciding;
use super::source::{Asked, Source};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::request::{self, Item};
use crate::output::style::Style;
use crate::wiring::approvals::{Change, Said};
use crate::wiring::question::{self, Consent};
use crate::wiring::{fence, input};

/// Which, and what would be done instead.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The request, such as `spawn-1705234567.q1`, or the beginning of it.
    #[arg(value_name = "ID")]
    id: String,
    /// The new arguments as a JSON object; `-` reads stdin. Without it, your editor opens.
    #[arg(long, value_name = "FILE")]
    args: Option<PathBuf>,
    /// Why; it is recorded with the decision.
    #[arg(long, alias = "feedback", value_name = "TEXT")]
    reason: Option<String>,
    /// Do not ask before saying yes to the new arguments.
    #[arg(long)]
    yes: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals edit spawn-1705234567.q1
  aur approvals edit spawn-1705234567.q1 --args new.json --yes
  echo '{\"command\": \"ls\"}' | aur approvals edit spawn-1705234567.q1 --args - --yes

The editor is $VISUAL or $EDITOR. What you write is judged by the project's policy: what it denies, and
what is more dangerous than what was asked, is refused. Where several must say yes, earlier votes are
void, since they were for something else.

Exit codes: 0 recorded; 3 refused, with the reason; 2 wrong usage; 1 nothing was changed or decided.";

/// Edits it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("editing")?;
    let queue = args.source.open()?;
    let item = match queue.find(&args.id)? {
        Asked::Old(found) => {
            let offered = &found.asked.question.options;
            return Err(ambiguous("call that could be edited", &args.id, offered).into());
        }
        Asked::Item(item) => item,
    };
    let Some(choice) = yes_of(&item.request).filter(|_| item.request.subject.args.is_object())
    else {
        let (id, options) = (item.id().as_str(), &item.request.options);
        return Err(ambiguous("call that could be edited", id, options).into());
    };
    let new = match &args.args {
        Some(path) => parse(&input::text(input::file_or_stdin(path)?))?,
        None => parse(&in_editor(&item)?)?,
    };
    if new == item.request.subject.args {
        output::print("nothing was changed, and nothing decided\n")?;
        return Ok(Exit::Failure);
    }
    let consent = Consent::of(args.yes, args.json);
    consent.check("saying yes to other arguments")?;
    if consent == Consent::Open {
        output::print(&request::compared(&item.request.subject.args, &new, Style::of_stdout()))?;
        if !consent.ask("Say yes to it like this?")? {
            return deciding::nothing();
        }
    }
    let seen = item.request.digest.clone();
    let change = Change { args: new, seen, reason: args.reason.clone() };
    match queue.of(&args.id)?.edit(&item, &change)? {
        Said::Taken(taken) => deciding::tell(&taken, choice, args.json),
        Said::Refused(refusal) => deciding::refused(&refusal),
    }
}

fn parse(text: &str) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Failure::usage(format!("cannot read the arguments as JSON: {error}")))?;
    match value.is_object() {
        true => Ok(value),
        false => Err(Failure::usage("the arguments of a call are a JSON object").into()),
    }
}

/// What the person makes of the arguments in their editor.
fn in_editor(item: &Item) -> anyhow::Result<String> {
    if !question::is_possible() {
        return Err(Failure::usage("there is no terminal for an editor")
            .hint("--args takes the new arguments from a file, or from stdin")
            .into());
    }
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).ok_or_else(|| {
        Failure::usage("neither VISUAL nor EDITOR is set")
            .hint("--args takes the new arguments from a file, or from stdin")
    })?;
    let folder = Scratch::new()?;
    let path = folder.0.join("arguments.json");
    let text = format!("{:#}\n", item.request.subject.args);
    write(&path, &text).map_err(|error| cannot("write", &path, &error))?;
    // An editor may be given with its options, as in `code --wait`.
    let line = format!("{editor} \"$1\"");
    let ended = Command::new("/bin/sh").args(["-c", &line, "editor"]).arg(&path).status();
    let ended =
        ended.map_err(|error| Failure::failed(format!("cannot start `{editor}`: {error}")))?;
    if !ended.success() {
        return Err(
            Failure::failed(format!("`{editor}` ended with {ended}; nothing was decided")).into()
        );
    }
    let text = std::fs::read_to_string(&path).map_err(|error| cannot("read", &path, &error))?;
    Ok(text)
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot {what} {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

/// A folder for one file, which only we may look into, gone when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let moment = crate::wiring::workspace::now().unix_ms;
        let name = format!("aur-edit-{}-{moment}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // A folder that is there already is somebody else's.
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| cannot("make", &path, &error))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
