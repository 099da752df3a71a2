//! What may be done about a call: judged by the policy, then by the agent's level, and frozen as it is
//! where a person must decide.

mod differs;
mod own;
mod pushed;

use std::collections::BTreeSet;
use std::path::Path;

use aurora_gate::Policy;
use aurora_gate::approval::autonomy::Lowering;
use aurora_gate::approval::risk::{actions_of_call, as_creation};
use aurora_gate::approval::rules::Asked;
use aurora_gate::approval::{Classifier as _, Rules, tighten_call};
use aurora_gate::judge::describe;
use aurora_model::{
    Action, ActionType, AgentName, Answer, Autonomy, Context, Digest, FrozenCall, GateKind,
    Operation, Reason, RepoPath, Span, Target, Tier, ToolCall,
};
use aurora_workspace::desk::Files;

pub(in crate::world) use differs::differs;

use super::args::Args;
use super::files;
use super::told::Made;
use super::{SCHEMA, Tool, patch};
use crate::world::conversation::Worker;
use crate::world::reading;

/// More files that a command names are not looked at.
const MAX_NAMED: usize = 64;
/// Files that programs do what is in without being told their names.
const UNNAMED: [(&str, &[&str]); 12] = [
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile", "rakefile"]),
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
    ("bun", &["package.json"]),
    ("cargo", &["build.rs", "Cargo.toml", ".cargo/config.toml"]),
    ("docker", &["Dockerfile", "compose.yaml", "docker-compose.yml"]),
    ("docker-compose", &["compose.yaml", "docker-compose.yml"]),
];
/// A longer command is cut where it is named.
const MAX_TITLE_CHARS: usize = 100;

/// What calls of an agent are judged by, whoever asks: a run, somebody over HTTP, or a person who
/// changes a call.
#[derive(Debug, Clone)]
pub struct Judge<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The digest of the policy.
    pub policy_digest: &'a Digest,
    /// The rules of approvals.
    pub rules: &'a Rules,
    /// Where it would happen: at the desk.
    pub context: Context,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
}

/// What was found about a call.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What policy and level say.
    pub decision: Answer,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What would happen, in words.
    pub effects: Vec<String>,
    /// What kinds of action that is.
    pub actions: Vec<ActionType>,
    /// How dangerous it is.
    pub tier: Tier,
    /// Files that it would run, as far as the gate sees.
    wanted: Vec<String>,
    /// Whether it would push anything.
    pushes: bool,
    /// Whose settings hold besides those of the desk.
    home: Option<String>,
}

/// A call that was judged, with what it would be done to.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// What was found about it.
    pub judged: Judged,
    /// What it would be done to, as it is now.
    pub targets: Vec<Target>,
    /// What it is, in one line.
    pub title: String,
}

/// How much an agent may do by itself now.
#[must_use]
pub fn level(
    rules: &Rules,
    lowering: &Lowering,
    agent: Option<&str>,
    role: Option<&str>,
) -> Autonomy {
    lowering.effective(rules.autonomy(agent, role), agent, role)
}

/// The context of calls that are made in a folder.
#[must_use]
pub fn context_at(place: &Path, context: Context) -> Context {
    let place = place.to_string_lossy().into_owned();
    Context { cwd: Some(place.clone()), root: Some(place), ..context }
}

impl Judged {
    /// Whether it is known to change nothing.
    pub fn only_reads(&self) -> bool {
        let reads = |action: &ActionType| action.as_str().ends_with(":read");
        !self.actions.is_empty() && self.actions.iter().all(reads)
    }
}

impl Judge<'_> {
    /// Judges a call of any tool, with what it would be done to in a folder.
    ///
    /// # Errors
    /// When it is a call of our own tools that cannot be made like this, with why.
    pub fn resolve(&self, call: &ToolCall, place: &Path) -> Result<Resolved, String> {
        let Some(tool) = Tool::from_name(&call.name) else {
            return Ok(self.resolve_own(call, place));
        };
        let args = Args::read(tool, &call.args, place)?;
        let judged = self.judge(tool, &args);
        let targets = judged.targets(&args, place).map_err(|made| made.summary)?;
        let title = title(&args, &targets);
        Ok(Resolved { judged, targets, title })
    }

    /// The same for a call of a tool that is none of ours.
    #[must_use]
    pub fn resolve_own(&self, call: &ToolCall, place: &Path) -> Resolved {
        let judged = self.judge_call(call.clone());
        let targets = own::targets(call, &judged, place);
        Resolved { judged, targets, title: plain(&own::words(call, place)) }
    }

    /// Judges a call.
    pub(in crate::world) fn judge(&self, tool: Tool, args: &Args) -> Judged {
        let call = ToolCall { name: tool.name().to_owned(), args: args.resolved() };
        let mut judged = self.judge_call(call);
        if self.is_new(args) {
            judged.actions = as_creation(judged.actions);
            judged.tier = self.rules.strictest(&judged.actions);
        }
        judged
    }

    /// Whether a call writes a file that is not there: then a rule on `code:create` is meant.
    fn is_new(&self, args: &Args) -> bool {
        let Args::Write { path, .. } = args else { return false };
        let Some(desk) = self.context.root.as_deref() else { return false };
        let at_desk = Files::beneath(Path::new(desk));
        at_desk.is_ok_and(|at_desk| matches!(files::look(&at_desk, path), Ok(None)))
    }

    /// Judges a call of a tool that may be the agent's own.
    pub(in crate::world) fn judge_call(&self, call: ToolCall) -> Judged {
        let action = Action::Tool(call);
        let (verdict, context) = reading::judge(&action, self.policy, &self.context);
        let actions = actions_of_call(&action, &context);
        let (answer, level) = (verdict.decision, self.autonomy);
        let decision = tighten_call(answer, &action, self.policy, &context, level);
        let pushes =
            actions.iter().any(|kind| kind.as_str() == "vcs:push") || speaks_of_push(&action);
        let mut reasons = verdict.reasons;
        if decision != verdict.decision {
            reasons.push(self.reason(&actions));
        }
        Judged {
            decision,
            reasons,
            effects: verdict.effects.iter().map(describe).collect(),
            tier: self.rules.strictest(&actions),
            actions,
            wanted: verdict.wanted,
            pushes,
            home: self.context.home.clone(),
        }
    }

    /// Why the agent's level asks.
    fn reason(&self, actions: &[ActionType]) -> Reason {
        let names: Vec<&str> = actions.iter().map(ActionType::as_str).collect();
        let level = self.autonomy.name();
        Reason {
            answer: Answer::Ask,
            operation: Operation::None,
            rule: format!("autonomy.{level}"),
            message: format!("an agent that is `{level}` asks before {}", names.join(", ")),
            span: Span::default(),
            instead: None,
            origin: "approvals.yaml".to_owned(),
        }
    }

    /// A call as it will be made after a yes.
    pub(in crate::world) fn freeze(
        &self,
        call: &str,
        tool: Tool,
        args: &Args,
        judged: Judged,
        worker: &Worker,
    ) -> Result<FrozenCall, Made> {
        let targets = judged.targets(args, &worker.desk)?;
        let title = title(args, &targets);
        let made = ToolCall { name: tool.name().to_owned(), args: args.resolved() };
        Ok(self.frozen(call, made, &worker.agent, Resolved { judged, targets, title }))
    }

    /// A call of the agent's own tools, as it will make it itself after a yes.
    pub(in crate::world) fn freeze_own(
        &self,
        call: &str,
        own: &ToolCall,
        worker: &Worker,
    ) -> FrozenCall {
        let claimed = own::text(own, "description").map(str::to_owned);
        let resolved = self.resolve_own(own, &worker.desk);
        FrozenCall { claimed, ..self.frozen(call, own.clone(), &worker.agent, resolved) }
    }

    fn frozen(
        &self,
        call: &str,
        made: ToolCall,
        agent: &AgentName,
        resolved: Resolved,
    ) -> FrozenCall {
        let Resolved { judged, targets, title } = resolved;
        let asked = Asked {
            gate: GateKind::Operation,
            tier: judged.tier,
            autonomy: self.autonomy,
            actions: &judged.actions,
        };
        FrozenCall {
            call: call.to_owned(),
            agent: agent.clone(),
            tool: made.name,
            schema: SCHEMA,
            args: made.args,
            targets,
            policy: self.policy_digest.clone(),
            title,
            reasons: judged.reasons,
            effects: judged.effects,
            needs_person: self.rules.needs_person(&asked),
            actions: judged.actions,
            tier: judged.tier,
            autonomy: self.autonomy,
            claimed: None,
        }
    }
}

impl Judged {
    /// What a call would be done to, as it is now.
    pub(in crate::world) fn targets(&self, args: &Args, desk: &Path) -> Result<Vec<Target>, Made> {
        let at_desk = Files::beneath(desk).map_err(|error| files::failed(&error))?;
        targets(args, self, &at_desk, desk)
    }
}

/// What a call would be done to.
fn targets(
    args: &Args,
    judged: &Judged,
    at_desk: &Files,
    desk: &Path,
) -> Result<Vec<Target>, Made> {
    let of = |path: &RepoPath| files::target(at_desk, path).map_err(|error| files::failed(&error));
    match args {
        Args::Read { .. } | Args::List { .. } | Args::Search { .. } => Ok(Vec::new()),
        Args::Write { path, .. } => Ok(vec![of(path)?]),
        Args::Patch { patch } => {
            let bad = |why: String| Made::failed("does_not_apply", &why);
            // What does not fit is told to the model, and no person is asked about it.
            patch::apply(patch.as_bytes(), at_desk).map_err(bad)?;
            let paths = patch::paths(patch.as_bytes()).map_err(bad)?;
            paths.iter().map(of).collect()
        }
        Args::Run { command, .. } => Ok(of_command(command, judged, at_desk, desk)),
    }
}

/// What a command would be done to: the files that it names or runs, and what it would push.
fn of_command(command: &str, judged: &Judged, at_desk: &Files, desk: &Path) -> Vec<Target> {
    let mut targets = named(command, judged, at_desk, desk);
    if judged.pushes {
        targets.extend(pushed::targets(command, desk, judged.home.as_deref()));
    }
    targets
}

/// Whether the word stands anywhere in a command: a push is better bound too often than not at all.
fn speaks_of_push(action: &Action) -> bool {
    let Action::Tool(call) = action else { return false };
    own::text(call, "command").is_some_and(|command| command.contains("push"))
}

/// The files that a command runs, wherever they are, and those of the desk that it names: a script
/// must not be another one when it is run than when it was asked about.
fn named(command: &str, judged: &Judged, at_desk: &Files, desk: &Path) -> Vec<Target> {
    let there = |target: &Target| matches!(target, Target::Path { content: Some(_), .. });
    // What is no file is no target; where one comes to be, there is one more.
    let below = |name: &str| {
        let path = RepoPath::new(name.trim_start_matches("./"))?;
        files::target(at_desk, &path).ok().filter(there)
    };
    let apart = |c: char| c.is_whitespace() || "'\"`;|&<>(){}$=,:".contains(c);
    let words: BTreeSet<&str> = command.split(apart).collect();
    let unnamed = UNNAMED.iter().filter(|(program, _)| words.contains(program));
    let unnamed: Vec<Target> =
        unnamed.flat_map(|(_, files)| *files).filter_map(|name| below(name)).collect();
    let named = words.into_iter().filter_map(below).take(MAX_NAMED);
    let elsewhere = |name: &String| {
        let home = judged.home.as_ref().zip(name.strip_prefix("~/"));
        let full = match home {
            Some((home, rest)) => Path::new(home).join(rest),
            None => desk.join(name),
        };
        Some(own::outside(name, &full)).filter(there)
    };
    let run = judged.wanted.iter().filter_map(|name| below(name).or_else(|| elsewhere(name)));
    let targets: BTreeSet<Target> = run.chain(named).chain(unnamed).collect();
    targets.into_iter().collect()
}

/// What a call is, in one line of ours that steers no terminal.
fn title(args: &Args, targets: &[Target]) -> String {
    plain(&words(args, targets))
}

fn plain(title: &str) -> String {
    title.chars().map(|c| if c.is_control() { '�' } else { c }).collect()
}

fn words(args: &Args, targets: &[Target]) -> String {
    match args {
        Args::Read { path, .. } => format!("read {path}"),
        Args::List { path } => format!("list {}", super::args::shown(path.as_ref())),
        Args::Search { path, .. } => format!("search {}", super::args::shown(path.as_ref())),
        Args::Write { path, content, .. } => {
            let new = matches!(targets.first(), Some(Target::Path { content: None, .. }));
            let lines = content.lines().count();
            let word = if new { "make the new file" } else { "write over" };
            format!("{word} {path} ({lines} {})", if lines == 1 { "line" } else { "lines" })
        }
        Args::Patch { .. } => {
            let paths = targets.iter().filter_map(|target| match target {
                Target::Path { path, .. } => Some(path.as_str()),
                _ => None,
            });
            format!("apply a patch to {}", paths.collect::<Vec<_>>().join(", "))
        }
        Args::Run { command, .. } => run_words(command),
    }
}

fn run_words(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().take(MAX_TITLE_CHARS).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    format!("run `{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    // APR-5
    #[test]
    fn apr_5_writing_a_file_that_is_not_there_creates_it() {
        let desk = tempfile::tempdir().unwrap();
        std::fs::write(desk.path().join("old.rs"), "").unwrap();
        let root = desk.path().to_str().map(str::to_owned);
        let text = "risk: {\"code:create\": critical}".to_owned();
        let rules = Rules::read(&[("approvals.yaml".to_owned(), text)]).unwrap();
        let judge = Judge {
            policy: &Policy::builtin(),
            policy_digest: &Digest::of_bytes([1; 32]),
            rules: &rules,
            context: Context { cwd: root.clone(), root, ..Context::default() },
            autonomy: Autonomy::Full,
        };
        for (name, kind, tier) in
            [("new.rs", "code:create", Tier::Critical), ("old.rs", "code:write", Tier::Medium)]
        {
            let path = RepoPath::parse(name).unwrap();
            let args = Args::Write { path, content: "x".to_owned(), executable: None };
            let judged = judge.judge(Tool::WriteFile, &args);
            let kinds: Vec<&str> = judged.actions.iter().map(ActionType::as_str).collect();
            assert_eq!((kinds.as_slice(), judged.tier), (&[kind][..], tier), "{name}");
        }
    }
}
