//! Rules that users write: when they speak, what they say, and the examples they carry.

use aurora_model::{Answer, Effect, EffectKind, Operation, PathRef, Span};
use serde_json::json;

use super::constraint::with_lock;
use super::read::Given;
use super::setting::{Item, Origin};
use super::words::{Match, argv_fits, program_fits, word_fits};
use crate::analysis::path::PatternSet;
use crate::analysis::{Analysis, Simple};

/// One rule of the user's own.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Its name.
    pub id: String,
    /// When it speaks.
    pub when: When,
    /// What it says.
    pub answer: Answer,
    /// Why.
    pub reason: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
    /// Lines that it must match.
    pub matches: Vec<Item>,
    /// Lines that it must not match.
    pub not_matches: Vec<Item>,
    /// Where it was written.
    pub origin: Origin,
    /// Where it was locked.
    pub locked: Option<Origin>,
}

/// When a rule speaks: everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct When {
    programs: Vec<String>,
    argv: Vec<String>,
    has: Vec<String>,
    operations: Vec<Operation>,
    paths: Vec<String>,
    set: Option<PatternSet>,
    tools: Vec<String>,
}

/// A rule's conditions could not be evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unevaluated;

/// What a rule finds in an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// How far it matches; never `No`.
    pub sure: Match,
    /// Where.
    pub span: Span,
}

impl Rule {
    /// From an entry whose fields are already checked.
    pub(super) fn from_entry(mut entry: Given, origin: Origin) -> Self {
        let answer = entry.text("action").and_then(|word| Answer::from_name(&word));
        Self {
            id: entry.text("id").unwrap_or_default(),
            when: entry.block("when").map(When::from_entry).unwrap_or_default(),
            answer: answer.unwrap_or(Answer::Deny),
            reason: entry.text("reason"),
            instead: entry.text("instead"),
            matches: entry.list("match"),
            not_matches: entry.list("not_match"),
            locked: entry.flag("locked").then(|| origin.clone()),
            origin,
        }
    }

    /// As JSON, in the file's own words.
    pub fn json(&self) -> serde_json::Value {
        let mut out = serde_json::Map::new();
        out.insert("id".into(), json!(self.id));
        out.insert("when".into(), self.when.json());
        out.insert("action".into(), json!(self.answer.name()));
        for (name, text) in [("reason", &self.reason), ("instead", &self.instead)] {
            if let Some(text) = text {
                out.insert(name.into(), json!(text));
            }
        }
        for (name, items) in [("match", &self.matches), ("not_match", &self.not_matches)] {
            if !items.is_empty() {
                out.insert(name.into(), items.iter().map(|item| json!(item.text)).collect());
            }
        }
        with_lock(out.into(), self.locked.is_some())
    }
}

impl When {
    fn from_entry(mut entry: Given) -> Self {
        let mut texts = |name| entry.list(name).into_iter().map(|item| item.text).collect();
        let paths: Vec<String> = texts("path");
        let operations: Vec<String> = texts("operation");
        Self {
            programs: texts("program"),
            argv: texts("argv"),
            has: texts("has"),
            operations: operations.iter().filter_map(|name| Operation::from_name(name)).collect(),
            set: if paths.is_empty() { None } else { PatternSet::new(&paths).ok() },
            paths,
            tools: texts("tool"),
        }
    }

    /// As JSON, in the file's own words.
    pub fn json(&self) -> serde_json::Value {
        let operations: Vec<String> =
            self.operations.iter().map(|operation| operation.name().to_owned()).collect();
        let mut out = serde_json::Map::new();
        for (name, list) in [
            ("program", &self.programs),
            ("argv", &self.argv),
            ("has", &self.has),
            ("operation", &operations),
            ("path", &self.paths),
            ("tool", &self.tools),
        ] {
            if !list.is_empty() {
                out.insert(name.into(), json!(list));
            }
        }
        out.into()
    }

    /// Whether it looks at a command's words.
    pub fn names_command(&self) -> bool {
        !(self.programs.is_empty() && self.argv.is_empty() && self.has.is_empty())
    }

    /// Whether it looks at effects.
    pub fn names_effect(&self) -> bool {
        !(self.operations.is_empty() && self.paths.is_empty())
    }

    /// Whether it looks at the tool's name.
    pub fn names_tool(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Whether the tool's name fits, or is not asked for.
    pub fn tool_fits(&self, tool: Option<&str>) -> bool {
        self.tools.is_empty()
            || tool.is_some_and(|tool| self.tools.iter().any(|pattern| word_fits(pattern, tool)))
    }

    /// Everything in an action that the conditions hold for.
    pub fn find(&self, analysis: &Analysis, tool: Option<&str>) -> Result<Vec<Found>, Unevaluated> {
        if self.tool_fits(tool) { self.find_whatever_tool(analysis) } else { Ok(Vec::new()) }
    }

    /// The same, whatever tool is called.
    pub fn find_whatever_tool(&self, analysis: &Analysis) -> Result<Vec<Found>, Unevaluated> {
        if !self.names_command() && !self.names_effect() {
            let span = analysis.effects.iter().map(|effect| effect.span).reduce(Span::to);
            return Ok(vec![Found { sure: Match::Yes, span: span.unwrap_or_default() }]);
        }
        let effects = self.effects(analysis)?;
        if !self.names_command() {
            return Ok(effects);
        }
        let mut found = Vec::new();
        for simple in &analysis.commands {
            let sure = self.command(simple)?;
            if sure == Match::No {
                continue;
            }
            if self.names_effect() {
                let inside = effects.iter().filter(|effect| overlap(effect.span, simple.span));
                found.extend(
                    inside.map(|effect| Found { sure: sure.min(effect.sure), span: effect.span }),
                );
            } else {
                found.push(Found { sure, span: simple.span });
            }
        }
        Ok(found)
    }

    /// How far a simple command fits.
    pub fn command(&self, simple: &Simple) -> Result<Match, Unevaluated> {
        let mut sure = Match::Yes;
        if !self.programs.is_empty() {
            sure = sure.min(match simple.argv.first() {
                Some(Some(program)) => Match::certain(
                    self.programs.iter().any(|pattern| program_fits(pattern, program)),
                ),
                Some(None) => Match::Maybe,
                None => Match::No,
            });
        }
        if !self.argv.is_empty() && sure > Match::No {
            sure = sure.min(argv_fits(&self.argv, &simple.argv).ok_or(Unevaluated)?);
        }
        for pattern in &self.has {
            if sure == Match::No {
                break;
            }
            let words = || simple.argv.iter().skip(1);
            let certain = words().flatten().any(|word| word_fits(pattern, word));
            sure = sure.min(if certain {
                Match::Yes
            } else if words().any(Option::is_none) || simple.argv.first() == Some(&None) {
                Match::Maybe
            } else {
                Match::No
            });
        }
        Ok(sure)
    }

    /// The effects that fit.
    fn effects(&self, analysis: &Analysis) -> Result<Vec<Found>, Unevaluated> {
        if !self.paths.is_empty() && self.set.is_none() {
            return Err(Unevaluated);
        }
        let mut found = Vec::new();
        for effect in &analysis.effects {
            let sure = self.effect(effect, false);
            if sure > Match::No {
                found.push(Found { sure, span: effect.span });
            }
        }
        Ok(found)
    }

    /// How far an effect fits; `every` asks for all of its paths, not only for one of them.
    pub fn effect(&self, effect: &Effect, every: bool) -> Match {
        let operation = effect.kind.operation();
        if !self.operations.is_empty() && !self.operations.contains(&operation) {
            return Match::No;
        }
        if self.paths.is_empty() {
            return Match::Yes;
        }
        let Some(set) = &self.set else { return Match::Maybe };
        let one = |path: &PathRef, recursive: bool| {
            if path.resolved.is_none() {
                return Match::Maybe;
            }
            let below = recursive && !every && set.covered_below(path).is_some();
            Match::certain(set.covering(path).is_some() || below)
        };
        match &effect.kind {
            EffectKind::ChangePath { path, recursive, .. } => one(path, *recursive),
            EffectKind::DeleteFiles { paths, recursive, .. } => {
                let each = paths.iter().map(|path| one(path, *recursive));
                let all = if every { each.min() } else { each.max() };
                all.unwrap_or(Match::Maybe)
            }
            _ => Match::No,
        }
    }
}

/// Whether two ranges share a byte, or one of them says nothing.
fn overlap(left: Span, right: Span) -> bool {
    left.start == left.end
        || right.start == right.end
        || (left.start < right.end && right.start < left.end)
}
