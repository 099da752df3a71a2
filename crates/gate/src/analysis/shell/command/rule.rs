//! Rules for programs with subcommands: which words and options mean what effect, as data.

use aurora_model::EffectKind;

use super::options::{OptName, Parsed, Spec};
use super::place::only_informs;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine};

/// Where the words of a rule stand among the operands.
#[derive(Debug, Clone, Copy)]
pub enum Path {
    /// At the start, one pattern each: alternatives with `|`, `*` for any word.
    Start(&'static [&'static str]),
    /// Somewhere: one of these words.
    Anywhere(&'static [&'static str]),
    /// Somewhere: a word that is, or starts with one of these and a colon.
    Task(&'static [&'static str]),
}

/// What happens.
#[derive(Debug, Clone, Copy)]
pub enum Outcome {
    /// Tables or databases are dropped.
    Drop(&'static str),
    /// Tables are emptied.
    Empty(&'static str),
    /// Infrastructure is destroyed.
    Infra,
    /// Files whose number is not known go away.
    Files,
}

/// An option by its two spellings.
pub type Flag = (char, &'static str);

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The programs it speaks of.
    pub names: &'static [&'static str],
    /// Which words must be there.
    pub path: Path,
    /// One of these options must be given; empty means none need be.
    pub needs: &'static [Flag],
    /// With one of these options nothing happens.
    pub unless: &'static [Flag],
    /// What happens.
    pub outcome: Outcome,
}

/// Options that make every program only show what it would do.
const DRY: &[&str] = &["dry-run", "dryrun", "dry_run", "preview-only", "plan-only", "what-if"];

/// A rule whose words stand at the start.
pub const fn start(
    names: &'static [&'static str],
    words: &'static [&'static str],
    outcome: Outcome,
) -> Rule {
    Rule { names, path: Path::Start(words), needs: &[], unless: &[], outcome }
}

/// A rule with one of these words anywhere.
pub const fn anywhere(
    names: &'static [&'static str],
    words: &'static [&'static str],
    outcome: Outcome,
) -> Rule {
    Rule { names, path: Path::Anywhere(words), needs: &[], unless: &[], outcome }
}

/// Applies the first rule that fits; whether one did.
pub fn apply(
    rules: &'static [Rule],
    spec: &Spec,
    machine: &mut Machine<'_>,
    call: &Call<'_>,
) -> bool {
    let parsed = spec.parse(call.args);
    if idle(&parsed) {
        return false;
    }
    let fitting =
        rules.iter().find(|rule| rule.names.contains(&call.name) && rule.fits(&parsed, call.args));
    let Some(rule) = fitting else { return false };
    let words: Vec<String> = call.args.iter().map(Field::display).collect();
    let line = format!("{} {}", call.name, words.join(" "));
    let kind = match rule.outcome {
        Outcome::Drop(object) => EffectKind::DropObject { object: format!("{object} ({line})") },
        Outcome::Empty(object) => EffectKind::EmptyTable { object: format!("{object} ({line})") },
        Outcome::Infra => EffectKind::DestroyInfra { what: line },
        Outcome::Files => {
            machine.delete_unknown(&[], call.span);
            return true;
        }
    };
    machine.emit(kind, call.span);
    true
}

/// Whether only help or a preview is asked for.
pub fn idle(parsed: &Parsed<'_>) -> bool {
    let dry = parsed.opts.iter().any(|opt| match &opt.name {
        OptName::Long(name) => {
            let off = opt.value.as_ref().and_then(Field::text);
            DRY.contains(&name.as_str()) && !matches!(off, Some("false" | "none" | "0"))
        }
        OptName::Short(_) => false,
    });
    dry || only_informs(parsed) || parsed.operands.first().is_some_and(|word| word.is("help"))
}

impl Rule {
    fn fits(&self, parsed: &Parsed<'_>, args: &[Field]) -> bool {
        // Programs written in Go spell long names with one dash.
        let single_dash = |name: &str| {
            args.iter().any(|arg| arg.text().and_then(|text| text.strip_prefix('-')) == Some(name))
        };
        let given = |options: &[Flag]| {
            options.iter().any(|(short, long)| {
                (long.len() > 1 && single_dash(long))
                    || parsed.opts.iter().any(|opt| {
                        let off = opt.value.as_ref().is_some_and(|value| value.is("false"));
                        opt.name.is(*short, long) && !off
                    })
            })
        };
        let words: Vec<&str> =
            parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
        self.path.fits(&words)
            && (self.needs.is_empty() || given(self.needs))
            && !given(self.unless)
    }
}

impl Path {
    fn fits(&self, words: &[&str]) -> bool {
        match self {
            Self::Start(patterns) => {
                words.len() >= patterns.len()
                    && patterns.iter().zip(words).all(|(pattern, word)| {
                        *pattern == "*" || pattern.split('|').any(|choice| choice == *word)
                    })
            }
            Self::Anywhere(choices) => words.iter().any(|word| choices.contains(word)),
            Self::Task(choices) => words.iter().any(|word| {
                choices.iter().any(|choice| {
                    word.strip_prefix(choice)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '[']))
                })
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_words_at_the_start_or_anywhere() {
        let path = Path::Start(&["db", "drop|reset"]);
        assert!(path.fits(&["db", "reset", "x"]));
        assert!(!path.fits(&["db", "migrate"]));
        assert!(!path.fits(&["db"]));
        assert!(Path::Anywhere(&["destroy"]).fits(&["run-all", "destroy"]));
        assert!(Path::Task(&["db:drop"]).fits(&["db:drop:primary"]));
        assert!(!Path::Task(&["db:drop"]).fits(&["db:drops"]));
    }
}
