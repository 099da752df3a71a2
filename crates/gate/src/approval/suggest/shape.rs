//! What two requests have in common that a narrow rule can name.

use aurora_model::{Action, ActionType, Effect, EffectKind, PathRef, Tier, id};

use crate::analysis::{Analysis, Simple};
use crate::approval::risk::{Because, Classifier, Piece};
use crate::judge::Subject;

/// A kind of action by a tool, at a sort of files in one folder, or by a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub kind: &'static str,
    pub tool: String,
    pub program: Option<String>,
    pub path: Option<String>,
}

impl Shape {
    /// The shape of one thing in a call; nothing where no narrow rule could name it.
    pub fn of(action: &Action, analysis: &Analysis, piece: &Piece<'_>) -> Option<Self> {
        let tool = Subject::of(action).tool.filter(|tool| is_plain(tool))?.to_owned();
        let kind = piece.kind;
        match piece.cause {
            Because::Effect(effect) => {
                let path = Some(place(effect)?);
                let program = match innermost(analysis, effect) {
                    Some(simple) => Some(program(simple)?),
                    None if analysis.commands.is_empty() => None,
                    None => return None,
                };
                Some(Self { kind, tool, program, path })
            }
            Because::Program(simple) => {
                Some(Self { kind, tool, program: Some(program(simple)?), path: None })
            }
            Because::Tool | Because::Unknown => None,
        }
    }

    /// How dangerous it is.
    pub fn tier(&self, classifier: &dyn Classifier) -> Option<Tier> {
        ActionType::parse(self.kind).map(|kind| classifier.tier(&kind))
    }

    /// A name for its rule.
    pub fn id(&self) -> String {
        let parts =
            [Some(self.kind), Some(&self.tool), self.program.as_deref(), self.path.as_deref()];
        let words: Vec<&str> = parts.into_iter().flatten().collect();
        // Different shapes may read alike when they are shortened, so a sum of the whole is added.
        let sum = words.join("\n").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("suggested-{}-{:04x}", id::slug(&words.join(" "), 40), sum & 0xffff)
    }
}

/// Whether a name can stand in a rule and mean only itself.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !name.is_empty() && name.chars().all(plain)
}

/// The program of a command whose words are all known, by its bare name.
fn program(simple: &Simple) -> Option<String> {
    let known = simple.argv.iter().all(Option::is_some);
    let name = simple.argv.first()?.as_deref().filter(|name| known && is_plain(name))?;
    Some(name.to_owned())
}

/// The smallest command that holds an effect.
fn innermost<'a>(analysis: &'a Analysis, effect: &Effect) -> Option<&'a Simple> {
    let holds = |simple: &&Simple| {
        simple.span.start <= effect.span.start && effect.span.end <= simple.span.end
    };
    let around = analysis.commands.iter().filter(holds);
    around.min_by_key(|simple| simple.span.end.saturating_sub(simple.span.start))
}

/// Files of one sort in one folder, as a pattern: every path of the effect must be one of them.
fn place(effect: &Effect) -> Option<String> {
    let mut places = match &effect.kind {
        EffectKind::ChangePath { path, recursive: false, .. } => vec![pattern(path)?],
        EffectKind::DeleteFiles { paths, recursive: false, .. } => {
            paths.iter().map(pattern).collect::<Option<Vec<_>>>()?
        }
        _ => return None,
    };
    places.dedup();
    match places.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// `/docs/guides/*.md` for a file in that folder; the file itself where it has no folder or no kind. What is
/// hidden is settings of some tool, and nothing is proposed for it.
fn pattern(path: &PathRef) -> Option<String> {
    let name = path.resolved.as_deref().filter(|_| !path.glob)?;
    let sound = name.split('/').all(|part| is_plain(part) && !part.starts_with('.'));
    if !sound {
        return None;
    }
    let Some((folder, file)) = name.rsplit_once('/') else { return Some(format!("/{name}")) };
    match file.rsplit_once('.') {
        Some((_, kind)) => Some(format!("/{folder}/*.{kind}")),
        None => Some(format!("/{name}")),
    }
}
