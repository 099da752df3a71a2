//! Shell text to effects: parse, expand words abstractly, take off wrappers, ask each command's model.

pub mod ast;
mod brace;
mod builtin;
pub mod command;
pub mod escape;
mod eval;
pub mod expand;
pub mod field;
mod findings;
pub mod machine;
mod param;
pub mod parse;
pub mod pattern;
mod redirect;
mod run;
pub mod scope;
mod simple;
mod word;

use aurora_model::{Context, Span, SqlDialect};

use self::field::Field;
use self::machine::{Lang, Machine, Stream};
use super::Analysis;

/// Longer texts are not followed.
pub const MAX_BYTES: usize = 64 * 1024;

/// What a line or script of shell would cause.
///
/// A text with something hidden in it, or too long to be read whole, is read as far as it goes and
/// is unreadable besides: a limit never makes a verdict milder.
#[must_use]
pub fn analyse(text: &str, context: &Context) -> Analysis {
    let mut machine = Machine::new(context);
    let mut code = Field::lit(readable(text), Span::new(0, text.len()));
    code.verbatim = Some(0);
    machine.run_code(Lang::Shell, &code);
    machine.uncalled_functions();
    if let Some(why) = refusal(text) {
        machine.unreadable("command", why, Span::new(0, text.len()));
    }
    machine.finish()
}

/// As much of a text as fits into the limit.
fn readable(text: &str) -> &str {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

/// What a program with these arguments would cause: nothing expands them any more.
#[must_use]
pub fn analyse_argv(argv: &[String], context: &Context) -> Analysis {
    let mut machine = Machine::new(context);
    let mut fields = Vec::with_capacity(argv.len());
    let mut at = 0;
    for word in argv {
        let span = Span::new(at, at + word.len());
        at = span.end + 1;
        if let Some(why) = refusal(word) {
            machine.unreadable("argument", why, span);
        }
        let mut field = Field::lit(word.clone(), span);
        field.verbatim = Some(span.start);
        fields.push(field);
    }
    let span = Span::new(0, at.saturating_sub(1));
    machine.run_argv(&fields, &Stream::Terminal, span);
    machine.finish()
}

/// What SQL would cause, with whatever shell commands its client's own commands start.
#[must_use]
pub fn analyse_sql(text: &str, dialect: SqlDialect, context: &Context) -> Analysis {
    let mut machine = Machine::new(context);
    let mut code = Field::lit(text, Span::new(0, text.len()));
    code.verbatim = Some(0);
    machine.run_code(Lang::Sql(dialect), &code);
    if text.contains('\0') {
        machine.unreadable("SQL", "it holds a NUL byte", Span::new(0, text.len()));
    }
    machine.finish()
}

/// Why a text is not even parsed.
fn refusal(text: &str) -> Option<&'static str> {
    if text.len() > MAX_BYTES {
        return Some("it is longer than 64 KiB");
    }
    if text.contains('\0') {
        return Some("it holds a NUL byte");
    }
    if text.is_ascii() {
        return None;
    }
    if text.contains(|c| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')) {
        return Some("it holds characters that reverse the direction of text");
    }
    if text.contains(['\u{200B}', '\u{2060}', '\u{FEFF}', '\u{180E}']) {
        return Some("it holds invisible characters");
    }
    None
}

#[cfg(test)]
mod tests;
