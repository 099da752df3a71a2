//! What kind of action a whole call is: its effects, and what is known of the programs and tools in it.
//!
//! Many calls have no effect that a policy judges: reading, testing, committing, and every program
//! without a model. An agent's level needs to tell them apart, and what it cannot tell apart is asked.

use aurora_model::{Action, ActionType, Context, Effect, Span, ToolCall};
use serde_json::Value;

use super::{action_of, push};
use crate::analysis::{self, Analysis, Simple};

/// Programs that only read what they are given and print something, with the beginnings of options
/// that make them do more.
static READERS: &[(&str, &[&str])] = &[
    (":", &[]),
    ("[", &[]),
    ("basename", &[]),
    ("cat", &[]),
    ("cd", &[]),
    ("cmp", &[]),
    ("comm", &[]),
    ("cut", &[]),
    ("date", &["-s", "--s"]),
    ("df", &[]),
    ("diff", &[]),
    ("dirname", &[]),
    ("du", &[]),
    ("echo", &[]),
    ("egrep", &[]),
    ("exit", &[]),
    ("expr", &[]),
    ("false", &[]),
    ("fgrep", &[]),
    ("file", &["-C", "--compile", "--comp"]),
    ("find", &[]),
    ("fold", &[]),
    ("grep", &[]),
    ("head", &[]),
    ("id", &[]),
    ("jq", &[]),
    ("ls", &[]),
    ("nl", &[]),
    ("od", &[]),
    ("paste", &[]),
    ("printf", &["-v"]),
    ("pwd", &[]),
    ("readlink", &[]),
    ("realpath", &[]),
    ("rg", &["--pre", "--hostname-bin", "--search-zip", "-z"]),
    ("rev", &[]),
    ("seq", &[]),
    ("sha1sum", &[]),
    ("sha256sum", &[]),
    ("sleep", &[]),
    ("sort", &["--comp", "-o", "--o", "-T"]),
    ("stat", &[]),
    ("tac", &[]),
    ("tail", &[]),
    ("test", &[]),
    ("tr", &[]),
    ("tree", &["-o"]),
    ("true", &[]),
    ("type", &[]),
    ("uname", &[]),
    ("wc", &[]),
    ("which", &[]),
    ("whoami", &[]),
];

/// Programs whose effects say everything that they do.
static MODELLED: &[&str] = &[
    "awk", "chmod", "chown", "cp", "curl", "dd", "install", "ln", "mkdir", "mv", "rm", "rmdir",
    "sed", "shred", "tee", "touch", "truncate", "unlink", "wget",
];

/// Programs that only run another one, which is looked at by itself.
static WRAPPERS: &[&str] = &["env", "nice", "time", "timeout", "xargs"];

/// The project's own checks, by their first words.
static CHECKS: &[&[&str]] = &[
    &["cargo", "bench"],
    &["cargo", "build"],
    &["cargo", "check"],
    &["cargo", "clippy"],
    &["cargo", "nextest", "run"],
    &["cargo", "test"],
    &["ctest"],
    &["dotnet", "test"],
    &["eslint"],
    &["go", "build"],
    &["go", "test"],
    &["go", "vet"],
    &["gradle", "test"],
    &["jest"],
    &["make", "check"],
    &["make", "test"],
    &["mvn", "test"],
    &["mypy"],
    &["npm", "run", "test"],
    &["npm", "test"],
    &["phpunit"],
    &["pnpm", "test"],
    &["pyright"],
    &["pytest"],
    &["rspec"],
    &["ruff", "check"],
    &["tox"],
    &["tsc"],
    &["vitest"],
    &["yarn", "test"],
];

/// Options of checks that choose what is checked, or how much is said. Others may name a program to run.
static CHECK_OPTIONS: &[&str] = &[
    "--",
    "--all",
    "--all-features",
    "--all-targets",
    "--bins",
    "--doc",
    "--exact",
    "--features",
    "--ignored",
    "--lib",
    "--no-capture",
    "--no-default-features",
    "--no-fail-fast",
    "--nocapture",
    "--package",
    "--quiet",
    "--release",
    "--test",
    "--tests",
    "--verbose",
    "--workspace",
    "-D",
    "-E",
    "-count",
    "-k",
    "-p",
    "-q",
    "-race",
    "-run",
    "-s",
    "-v",
    "-vv",
    "-x",
];

/// What git's commands are, where they are always the same.
static GIT: &[(&str, &str)] = &[
    ("add", "vcs:commit"),
    ("blame", "vcs:read"),
    ("branch", "vcs:branch"),
    ("cat-file", "vcs:read"),
    ("checkout", "vcs:branch"),
    ("cherry-pick", "vcs:commit"),
    ("clean", "code:delete"),
    ("commit", "vcs:commit"),
    ("describe", "vcs:read"),
    ("diff", "vcs:read"),
    ("log", "vcs:read"),
    ("ls-files", "vcs:read"),
    ("ls-tree", "vcs:read"),
    ("merge", "vcs:commit"),
    ("merge-base", "vcs:read"),
    ("mv", "code:write"),
    ("push", "vcs:push"),
    ("reset", "vcs:commit"),
    ("restore", "code:write"),
    ("revert", "vcs:commit"),
    ("rev-list", "vcs:read"),
    ("rev-parse", "vcs:read"),
    ("rm", "code:delete"),
    ("send-email", "comms:external"),
    ("shortlog", "vcs:read"),
    ("show", "vcs:read"),
    ("stash", "vcs:commit"),
    ("status", "vcs:read"),
    ("switch", "vcs:branch"),
];

/// Tools that change nothing, by what they are.
static TOOLS: &[(&str, &str)] = &[
    ("AskUserQuestion", "comms:internal"),
    ("BashOutput", "code:read"),
    ("EnterPlanMode", "memory:note"),
    ("ExitPlanMode", "memory:note"),
    ("Glob", "code:read"),
    ("Grep", "code:read"),
    ("LS", "code:read"),
    ("LSP", "code:read"),
    ("ListAgents", "memory:read"),
    ("NotebookRead", "code:read"),
    ("Read", "code:read"),
    ("ReportFindings", "comms:internal"),
    ("SendMessage", "comms:internal"),
    ("TaskCreate", "memory:note"),
    ("TaskGet", "memory:read"),
    ("TaskList", "memory:read"),
    ("TaskOutput", "memory:read"),
    ("TaskUpdate", "memory:note"),
    ("TodoRead", "memory:read"),
    ("TodoWrite", "memory:note"),
    ("ToolSearch", "memory:read"),
    ("feature.get_context", "memory:read"),
    ("glob", "code:read"),
    ("grep", "code:read"),
    ("grep_search", "code:read"),
    ("list", "code:read"),
    ("list_directory", "code:read"),
    ("ls", "code:read"),
    ("read", "code:read"),
    ("read_file", "code:read"),
    ("read_many_files", "code:read"),
    ("repo.diff", "vcs:read"),
    ("repo.list", "code:read"),
    ("repo.read_file", "code:read"),
    ("repo.search", "code:read"),
    ("repo.status", "vcs:read"),
    ("search_file_content", "code:read"),
    ("todo_write", "memory:note"),
    ("todoread", "memory:read"),
    ("todowrite", "memory:note"),
    ("update_plan", "memory:note"),
    ("view_image", "code:read"),
];

/// What a tool that changes nothing is; nothing for every other tool.
#[must_use]
pub fn actions_of_tool(name: &str) -> Option<ActionType> {
    ActionType::parse(tool(name)?)
}

fn tool(name: &str) -> Option<&'static str> {
    TOOLS.iter().find(|(tool, _)| *tool == name).map(|(_, kind)| *kind)
}

/// One thing in a call that makes it a kind of action.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    /// The kind.
    pub kind: &'static str,
    /// What makes it so.
    pub cause: Because<'a>,
}

/// What makes a call a kind of action.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Because<'a> {
    /// An effect.
    Effect(&'a Effect),
    /// A program, by its name.
    Program(&'a Simple),
    /// The tool itself.
    Tool,
    /// Nothing that could be named.
    Unknown,
}

/// What kinds of action a call is; at least one. What is in it that nobody knows is `shell:run` or
/// `tool:unknown`, and high.
#[must_use]
pub fn actions_of_call(action: &Action, context: &Context) -> Vec<ActionType> {
    let analysis = analysis::analyse(action, context);
    let mut actions = Vec::new();
    for piece in pieces(action, &analysis) {
        push(&mut actions, piece.kind);
    }
    actions
}

/// Everything in a call that makes it a kind of action; at least one thing.
pub(crate) fn pieces<'a>(action: &Action, analysis: &'a Analysis) -> Vec<Piece<'a>> {
    let effects = analysis.effects.iter();
    let mut pieces: Vec<Piece<'_>> = effects
        .map(|effect| Piece { kind: action_of(&effect.kind), cause: Because::Effect(effect) })
        .collect();
    pieces.extend(programs(analysis));
    if !analysis.commands.is_empty() && sets_variables(action) {
        pieces.push(Piece { kind: "shell:run", cause: Because::Unknown });
    }
    let named = match action {
        Action::Tool(ToolCall { name, .. }) => tool(name),
        Action::Sql { .. } if analysis.effects.is_empty() => Some("db:mutate"),
        _ => None,
    };
    pieces.extend(named.map(|kind| Piece { kind, cause: Because::Tool }));
    if pieces.is_empty() {
        let kind = if matches!(action, Action::Tool(_)) { "tool:unknown" } else { "shell:run" };
        pieces.push(Piece { kind, cause: Because::Unknown });
    }
    pieces
}

/// What each program of a shell line is, besides its effects.
fn programs(analysis: &Analysis) -> impl Iterator<Item = Piece<'_>> {
    let known = |simple: &Simple| {
        let caused = analysis.effects.iter().any(|effect| overlap(effect.span, simple.span));
        let holds = |inner: &Simple| inner != simple && within(inner.span, simple.span);
        let around = analysis.commands.iter().any(holds);
        Known { quiet: analysis.effects.is_empty(), caused, around }
    };
    analysis.commands.iter().filter_map(move |simple| {
        let kind = program(simple, known(simple))?;
        Some(Piece { kind, cause: Because::Program(simple) })
    })
}

/// What is known of a program besides its words.
#[derive(Clone, Copy)]
struct Known {
    /// Nothing in the whole call has an effect.
    quiet: bool,
    /// It has effects.
    caused: bool,
    /// Other commands stand inside of it.
    around: bool,
}

/// What a program is; nothing where its effects or what it wraps say everything. Only a bare name is
/// believed, and only when every word is known.
fn program(simple: &Simple, known: Known) -> Option<&'static str> {
    let words = simple.argv.iter().map(Option::as_deref).collect::<Option<Vec<&str>>>();
    let Some(words) = words else { return Some("shell:run") };
    let (name, rest) = words.split_first()?;
    if *name == "git" {
        return Some(git(rest));
    }
    if let Some((_, more)) = READERS.iter().find(|(reader, _)| reader == name) {
        let does_more = rest.iter().any(|word| more.iter().any(|begin| word.starts_with(begin)));
        return Some(if does_more { "shell:run" } else { "code:read" });
    }
    if known.caused && MODELLED.contains(name) {
        return None;
    }
    if known.around && wraps_only(name, rest) {
        return None;
    }
    // A check runs what the project says; beside other effects nobody can tell what that is by then.
    let is_check = known.quiet && CHECKS.iter().any(|check| is_check(check, &words));
    Some(if is_check { "test:run" } else { "shell:run" })
}

/// Whether a program does nothing but run what stands in its arguments.
fn wraps_only(name: &str, rest: &[&str]) -> bool {
    match name {
        "bash" | "sh" => matches!(rest, ["-c" | "-lc", _]),
        _ => WRAPPERS.contains(&name) && !rest.iter().any(|word| word.contains('=')),
    }
}

/// Whether a command is this check of this project, with nothing in it that could make it another one.
fn is_check(check: &[&str], words: &[&str]) -> bool {
    let harmless = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_./:-".contains(c);
        let inside = !word.starts_with('/') && !word.split('/').any(|part| part == "..");
        let option = word.starts_with('-');
        (option && CHECK_OPTIONS.contains(word)) || (!option && inside && word.chars().all(plain))
    };
    words.strip_prefix(check).is_some_and(|rest| rest.iter().all(harmless))
}

/// Variables that change how much is said, and nothing else.
static HARMLESS: &[&str] =
    &["CI", "DEBUG", "LANG", "LC_ALL", "NO_COLOR", "NODE_ENV", "RUST_BACKTRACE", "RUST_LOG", "TZ"];

/// Whether a text may set a variable of the environment: `PATH` and many others decide what a name
/// runs. Read loosely, so that it rather sees one too many.
fn sets_variables(action: &Action) -> bool {
    match action {
        Action::Shell { command } => sets_variable(command),
        Action::Tool(call) => call.args.as_object().is_some_and(|args| {
            let texts = args.values().flat_map(|value| match value {
                Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
                other => other.as_str().into_iter().collect::<Vec<_>>(),
            });
            texts.into_iter().any(sets_variable)
        }),
        _ => false,
    }
}

fn sets_variable(text: &str) -> bool {
    let mut before = "";
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_=+".contains(c)));
    for word in words.filter(|word| !word.is_empty()) {
        let name = word.split(['=', '+']).next().unwrap_or_default();
        let variable = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let set = name.len() < word.len() || matches!(before, "for" | "select");
        if variable && set && !HARMLESS.contains(&name) {
            return true;
        }
        before = word;
    }
    false
}

/// Whether two ranges share a byte, or one of them says nothing.
const fn overlap(left: Span, right: Span) -> bool {
    left.start == left.end || (left.start < right.end && right.start < left.end)
}

/// Whether a range lies in a larger one.
const fn within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// What a git command is. Options before its name, and those by which reading runs or writes something,
/// make it unknown.
fn git(words: &[&str]) -> &'static str {
    let Some((name, rest)) = words.split_first() else { return "vcs:read" };
    let does_more = |word: &&str| {
        ["--output", "--ext-diff", "--textconv", "-O", "--open-files", "--exec", "--filters"]
            .iter()
            .any(|begin| word.starts_with(begin))
    };
    match GIT.iter().find(|(command, _)| command == name) {
        Some((_, "vcs:read")) if rest.iter().any(does_more) => "shell:run",
        Some((_, what)) => what,
        None => "shell:run",
    }
}
