//! What a model found out, as data: so that models stay pure and the machine only carries it out.

use aurora_model::{EffectKind, Span, Touch};

use crate::analysis::shell::field::{Field, Seg};
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// A variable that no line sets: it stands for unknown text inside code that is parsed again.
const UNKNOWN_TEXT: &str = "${AURORA_UNKNOWN}";

/// One thing that the machine is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An effect, and the argument that causes it.
    Emit(EffectKind, Option<Span>),
    /// These paths go away.
    Delete {
        /// Which.
        targets: Vec<Field>,
        /// Whole directories go.
        recursive: bool,
    },
    /// Files of unknown number go away below these folders.
    DeleteBelow(Vec<Field>),
    /// A path is changed.
    Change {
        /// Which.
        target: Field,
        /// How.
        touch: Touch,
        /// Everything below it too.
        recursive: bool,
    },
    /// Something that cannot be seen through.
    Opaque {
        /// What it is.
        what: String,
        /// Why nothing more is known.
        why: String,
    },
    /// Another program runs, with these variables set for it alone.
    Run(Vec<(String, Field)>, Vec<Field>),
    /// Shell code runs.
    Code(Field),
    /// Standard input is run as shell code.
    StdinCode,
    /// A file is run as shell code.
    FileCode(Field),
    /// In another folder.
    InDir(Field, Vec<Step>),
    /// On another machine, or in a container.
    Elsewhere(Vec<Step>),
    /// Nobody knows how often.
    Repeated(Vec<Step>),
    /// With nothing to read.
    Unread(Vec<Step>),
    /// Git configuration is set from here on.
    Remember(String, String),
    /// This text is printed.
    Print(Field),
}

/// Carries out the steps of a call in order; gives what the last of them prints.
pub fn perform(machine: &mut Machine<'_>, steps: &[Step], call: &Call<'_>) -> Stream {
    let mut printed = Stream::Output(call.name.to_owned());
    for step in steps {
        if let Some(stream) = perform_one(machine, step, call) {
            printed = stream;
        }
    }
    printed
}

fn perform_one(machine: &mut Machine<'_>, step: &Step, call: &Call<'_>) -> Option<Stream> {
    match step {
        Step::Emit(kind, span) => machine.emit(kind.clone(), span.unwrap_or(call.span)),
        Step::Delete { targets, recursive } => {
            let targets: Vec<&Field> = targets.iter().collect();
            machine.delete(&targets, *recursive, call.span);
        }
        Step::DeleteBelow(below) => {
            let below: Vec<&Field> = below.iter().collect();
            machine.delete_unknown(&below, call.span);
        }
        Step::Change { target, touch, recursive } => machine.change(target, *touch, *recursive),
        Step::Opaque { what, why } => machine.opaque(what, why, call.span),
        Step::Run(env, argv) => {
            return Some(machine.run_with_env(argv, call.stdin, env, call.span));
        }
        Step::Code(code) => return Some(run_code(machine, code, call)),
        Step::StdinCode => return Some(machine.run_stream(Lang::Shell, call.stdin, call.span)),
        Step::FileCode(file) => return Some(machine.run_file(Lang::Shell, file)),
        Step::InDir(dir, steps) => {
            return Some(machine.in_dir(dir, |machine| perform(machine, steps, call)));
        }
        Step::Elsewhere(steps) => {
            let printed = machine.elsewhere(|machine| perform(machine, steps, call));
            // Files and programs there are not files and programs here.
            return Some(match printed {
                Stream::Text(_) | Stream::Terminal => printed,
                _ => Stream::Output(call.name.to_owned()),
            });
        }
        Step::Repeated(steps) => {
            return Some(machine.repeated(|machine| perform(machine, steps, call)));
        }
        Step::Unread(steps) => {
            let call = Call { stdin: &Stream::Terminal, ..*call };
            return Some(perform(machine, steps, &call));
        }
        Step::Remember(key, value) => machine.set_git_config(key, value),
        Step::Print(text) => return Some(Stream::Text(text.clone())),
    }
    None
}

/// Runs shell code; where something is piped in, through `sh -c`, so that commands inside read it.
fn run_code(machine: &mut Machine<'_>, code: &Field, call: &Call<'_>) -> Stream {
    let code = readable(code);
    if *call.stdin == Stream::Terminal {
        return machine.run_code(Lang::Shell, &code);
    }
    let argv = [Field::lit("sh", call.span), Field::lit("-c", call.span), code];
    machine.run_argv(&argv, call.stdin, call.span)
}

/// Code in which unknown parts are written as a variable that nobody set, so that it still parses.
fn readable(code: &Field) -> Field {
    if code.text().is_some() {
        return code.clone();
    }
    let mut text = String::new();
    for seg in code.segs() {
        match seg {
            Seg::Lit(part) | Seg::Glob(part) => text.push_str(part),
            Seg::Any => text.push_str(UNKNOWN_TEXT),
        }
    }
    Field::lit(text, code.span)
}

/// The arguments joined by spaces, as programs do that hand them to a shell.
#[must_use]
pub fn joined<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Field {
    let mut fields = fields.into_iter();
    let Some(first) = fields.next() else { return Field::default() };
    let mut out = first.clone();
    for field in fields {
        out.push_lit(" ");
        out.push_field(field);
        out.span = out.span.to(field.span);
        out.verbatim = None;
    }
    out.many = false;
    out
}

/// An argument as one word of shell code.
#[must_use]
pub fn quoted(field: &Field) -> String {
    let mut out = String::new();
    for seg in field.segs() {
        match seg {
            Seg::Lit(text) => {
                out.push('\'');
                out.push_str(&text.replace('\'', r"'\''"));
                out.push('\'');
            }
            Seg::Glob(pattern) => out.push_str(pattern),
            Seg::Any if field.many => out.push_str(UNKNOWN_TEXT),
            Seg::Any => {
                out.push('"');
                out.push_str(UNKNOWN_TEXT);
                out.push('"');
            }
        }
    }
    if out.is_empty() {
        out.push_str("''");
    }
    out
}

/// Splits text into words as a shell does with quotes and backslashes, without expanding anything.
#[must_use]
pub fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None | Some('"'), '\\') => {
                word.get_or_insert_default().extend(chars.next());
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split_words(text), expected);
        check("push --force", &["push", "--force"]);
        check("  a 'b c' \"d \\\" e\" f\\ g ''", &["a", "b c", "d \" e", "f g", ""]);
        check("", &[]);
    }

    #[test]
    fn arguments_survive_being_quoted() {
        assert_eq!(quoted(&Field::lit("it's", Span::default())), r"'it'\''s'");
        assert_eq!(quoted(&Field::lit("", Span::default())), "''");
        assert_eq!(quoted(&Field::unknown(false, Span::default())), "\"${AURORA_UNKNOWN}\"");
    }
}
