//! Rules that users write: when they speak, what they say, and the examples they carry.

use aurora_model::{Answer, Autonomy, Effect, EffectKind, Operation, PathRef, Span, Timestamp};
use serde_json::json;

use super::constraint::with_lock;
use super::read::{Given, date};
use super::setting::{Item, Origin};
use super::words::{Match, argv_fits, program_fits, word_fits};
use crate::analysis::path::PatternSet;
use crate::analysis::{Analysis, Simple};
use crate::approval::risk::action_of;

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
    /// The levels of autonomy for which an allow also answers what they ask.
    pub levels: Vec<Autonomy>,
    /// From when on an allow does not hold any more.
    pub expires: Option<Timestamp>,
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
    kinds: Vec<String>,
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
            levels: levels(&entry.list("levels")),
            expires: entry.text("expires").and_then(|day| date(&day)),
            locked: entry.flag("locked").then(|| origin.clone()),
            origin,
        }
    }

    /// Whether an allow holds at a moment; one that ends does not hold where nobody knows the time.
    pub fn holds(&self, now: Option<Timestamp>) -> bool {
        self.expires.is_none_or(|end| now.is_some_and(|now| now < end))
    }

    /// What is wrong with its parts taken together.
    pub fn misfit(&self) -> Option<(&'static str, &'static str)> {
        let answers = !self.levels.is_empty();
        let loosens = answers || self.expires.is_some() || self.when.names_kind();
        if loosens && self.answer != Answer::Allow {
            let message = "`kind`, `levels` and `expires` are for rules that allow";
            return Some((message, "stop something by operation, path, tool or its words"));
        }
        if answers && !(self.when.names_kind() && self.expires.is_some()) {
            let message = "what answers for a level names a kind of action, and ends some day";
            return Some((message, "add `kind` to `when`, and `expires` to the rule"));
        }
        None
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
        if !self.levels.is_empty() {
            out.insert("levels".into(), json!(self.levels));
        }
        if let Some(end) = self.expires {
            let day = end.to_string();
            out.insert("expires".into(), json!(day.split('T').next()));
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
            kinds: texts("kind"),
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
            ("kind", &self.kinds),
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
        !(self.operations.is_empty() && self.paths.is_empty() && self.kinds.is_empty())
    }

    /// Whether it names kinds of action.
    pub fn names_kind(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether it names this kind of action.
    pub fn means_kind(&self, kind: &str) -> bool {
        self.kinds.iter().any(|one| one == kind)
    }

    /// Whether it looks at what an effect is done to or which operation it is.
    pub fn names_target(&self) -> bool {
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
        if self.names_kind() && !self.means_kind(action_of(&effect.kind)) {
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

fn levels(items: &[Item]) -> Vec<Autonomy> {
    items.iter().filter_map(|item| Autonomy::from_name(&item.text)).collect()
}

/// Whether two ranges share a byte, or one of them says nothing.
fn overlap(left: Span, right: Span) -> bool {
    left.start == left.end
        || right.start == right.end
        || (left.start < right.end && right.start < left.end)
}
