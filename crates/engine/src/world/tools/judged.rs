//! What may be done about a call: judged by the policy, then by the agent's level, and frozen as it is
//! where a person must decide.

mod own;

use std::collections::BTreeSet;
use std::path::Path;

use aurora_gate::Policy;
use aurora_gate::approval::risk::actions_of_call;
use aurora_gate::approval::rules::Asked;
use aurora_gate::approval::{Classifier as _, Rules, tighten_call};
use aurora_gate::judge::describe;
use aurora_model::{
    Action, ActionType, AgentName, Answer, Autonomy, Context, Digest, FrozenCall, GateKind,
    Operation, Reason, RepoPath, Span, Target, Tier, ToolCall,
};
use aurora_workspace::desk::Files;

use super::args::Args;
use super::files;
use super::told::Made;
use super::{SCHEMA, Tool, patch};
use crate::world::reading;

/// More files that a command names are not looked at.
const MAX_NAMED: usize = 64;
/// A longer command is cut where it is named.
const MAX_TITLE_CHARS: usize = 100;

/// What calls of an agent are judged by.
pub(in crate::world) struct Judge<'a> {
    pub policy: &'a Policy,
    /// The digest of the policy.
    pub policy_digest: &'a Digest,
    pub rules: &'a Rules,
    /// Where it would happen: at the desk.
    pub context: Context,
    pub agent: &'a AgentName,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
}

/// What was found about a call.
#[derive(Debug, Clone)]
pub(in crate::world) struct Judged {
    pub decision: Answer,
    pub reasons: Vec<Reason>,
    pub effects: Vec<String>,
    pub actions: Vec<ActionType>,
    pub tier: Tier,
    /// Files that it would run, as far as the gate sees.
    wanted: Vec<String>,
}

impl Judged {
    /// Whether it is known to change nothing.
    pub fn only_reads(&self) -> bool {
        let reads = |action: &ActionType| action.as_str().ends_with(":read");
        !self.actions.is_empty() && self.actions.iter().all(reads)
    }
}

impl Judge<'_> {
    /// Judges a call.
    pub fn judge(&self, tool: Tool, args: &Args) -> Judged {
        self.judge_call(ToolCall { name: tool.name().to_owned(), args: args.resolved() })
    }

    /// Judges a call of a tool that may be the agent's own.
    pub fn judge_call(&self, call: ToolCall) -> Judged {
        let action = Action::Tool(call);
        let (verdict, context) = reading::judge(&action, self.policy, &self.context);
        let actions = actions_of_call(&action, &context);
        let (answer, level) = (verdict.decision, self.autonomy);
        let decision = tighten_call(answer, &action, self.policy, &context, level);
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
    pub fn freeze(
        &self,
        call: &str,
        tool: Tool,
        args: &Args,
        judged: &Judged,
        desk: &Path,
    ) -> Result<FrozenCall, Made> {
        let at_desk = Files::beneath(desk).map_err(|error| files::failed(&error))?;
        let targets = targets(args, &judged.wanted, &at_desk, desk)?;
        let title = title(args, &targets);
        let made = ToolCall { name: tool.name().to_owned(), args: args.resolved() };
        Ok(self.frozen(call, made, judged, targets, title))
    }

    /// A call of the agent's own tools, as it will make it itself after a yes.
    pub fn freeze_own(
        &self,
        call: &str,
        own: &ToolCall,
        judged: &Judged,
        desk: &Path,
    ) -> FrozenCall {
        let targets = own::targets(own, &judged.wanted, desk);
        let claimed = own::text(own, "description").map(str::to_owned);
        let title = plain(&own::words(own, desk));
        FrozenCall { claimed, ..self.frozen(call, own.clone(), judged, targets, title) }
    }

    fn frozen(
        &self,
        call: &str,
        made: ToolCall,
        judged: &Judged,
        targets: Vec<Target>,
        title: String,
    ) -> FrozenCall {
        let asked = Asked {
            gate: GateKind::Operation,
            tier: judged.tier,
            autonomy: self.autonomy,
            actions: &judged.actions,
        };
        FrozenCall {
            call: call.to_owned(),
            agent: self.agent.clone(),
            tool: made.name,
            schema: SCHEMA,
            args: made.args,
            targets,
            policy: self.policy_digest.clone(),
            title,
            reasons: judged.reasons.clone(),
            effects: judged.effects.clone(),
            actions: judged.actions.clone(),
            tier: judged.tier,
            autonomy: self.autonomy,
            claimed: None,
            needs_person: self.rules.needs_person(&asked),
        }
    }
}

impl Judged {
    /// What a call would be done to, as it is now.
    pub fn targets(&self, args: &Args, desk: &Path) -> Result<Vec<Target>, Made> {
        let at_desk = Files::beneath(desk).map_err(|error| files::failed(&error))?;
        targets(args, &self.wanted, &at_desk, desk)
    }
}

/// What a call would be done to.
fn targets(
    args: &Args,
    wanted: &[String],
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
        Args::Run { command, .. } => {
            let mut targets = named(command, wanted, at_desk);
            if command.split_whitespace().any(|word| word == "push") {
                let name = "HEAD".to_owned();
                targets.push(Target::Ref { name, commit: head(desk) });
            }
            Ok(targets)
        }
    }
}

/// The files of the desk that a command names or the gate wanted to read: a script must not be
/// another one when it is run than when it was asked about.
fn named(command: &str, wanted: &[String], at_desk: &Files) -> Vec<Target> {
    let apart = |c: char| c.is_whitespace() || "'\"`;|&<>(){}$=,:".contains(c);
    let words = command.split(apart).map(|word| word.trim_start_matches("./"));
    let words = words.chain(wanted.iter().map(|name| name.trim_start_matches("./")));
    let paths: BTreeSet<RepoPath> = words.filter_map(RepoPath::new).collect();
    let there = paths.iter().filter_map(|path| {
        // What is no file, or none of ours, is no target.
        let target = files::target(at_desk, path).ok()?;
        matches!(target, Target::Path { content: Some(_), .. }).then_some(target)
    });
    there.take(MAX_NAMED).collect()
}

/// The commit that a desk has checked out, as far as it can be told from its files.
fn head(desk: &Path) -> Option<String> {
    let pointer = std::fs::read_to_string(desk.join(".git")).ok()?;
    let folder = desk.join(pointer.strip_prefix("gitdir:")?.trim());
    let head = std::fs::read_to_string(folder.join("HEAD")).ok()?;
    Some(head.trim().to_owned())
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
