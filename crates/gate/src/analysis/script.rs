//! One-liners and here-document scripts of other languages, read by the names of the calls they make.

mod api;
mod arguments;
mod awk;
mod call;
mod cmdlet;
mod expression;
mod lexer;
mod literal;
mod method;
mod powershell;
mod quote;
mod reader;
mod value;

#[cfg(test)]
mod tests;

use aurora_model::{Span, Touch};

pub use self::value::{decode_base64, decode_hex, split_shell};
use super::shell::machine::ScriptLang;

/// Stands in code and in findings for text that nobody can know beforehand.
pub const UNKNOWN: char = '\u{FFFC}';

/// How deep code inside code is followed (`exec("exec('…')")`).
const MAX_NESTING: u8 = 4;

/// One thing that a script would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFinding {
    /// What it does.
    pub what: What,
    /// It stands in a loop, so it may happen any number of times.
    pub in_loop: bool,
    /// Where it stands in the code.
    pub span: Span,
}

/// What a script does. Text is nothing when nobody can know it; where only a part is unknown,
/// [`UNKNOWN`] stands for that part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A program runs. With `argv` it is started directly, else `command` is given to a shell; with
    /// neither, nobody knows what runs.
    Run {
        /// A line for the shell.
        command: Option<String>,
        /// Program and arguments.
        argv: Option<Vec<Option<String>>>,
        /// What it reads, when the script says so.
        input: Option<String>,
    },
    /// Files go away.
    Delete {
        /// Which; patterns when `many`.
        paths: Vec<Option<String>>,
        /// Whole directories go.
        recursive: bool,
        /// Their number cannot be known (a pattern, a listing).
        many: bool,
    },
    /// A path is changed.
    Change {
        /// Which.
        path: Option<String>,
        /// How.
        touch: Touch,
    },
    /// SQL reaches a database.
    Sql {
        /// The statements.
        text: Option<String>,
    },
    /// A disk is overwritten.
    Wipe {
        /// Which.
        device: String,
    },
    /// Something is fetched from the network.
    Fetch {
        /// From where.
        target: Option<String>,
    },
    /// Code runs that cannot be seen.
    Opaque {
        /// Why not.
        why: &'static str,
    },
}

/// What a script would do, as far as the names of its calls tell.
///
/// Code held in constant strings that the script evaluates is read too. [`UNKNOWN`] in the code is
/// a value that nobody knows.
#[must_use]
pub fn analyse(lang: ScriptLang, code: &str) -> Vec<ScriptFinding> {
    analyse_nested(lang, code, 0)
}

fn analyse_nested(lang: ScriptLang, code: &str, nesting: u8) -> Vec<ScriptFinding> {
    if nesting >= MAX_NESTING {
        let what = What::Opaque { why: "code inside code, nested too deeply" };
        return vec![ScriptFinding { what, in_loop: false, span: Span::new(0, code.len()) }];
    }
    match lang {
        ScriptLang::PowerShell => powershell::analyse(code, nesting),
        ScriptLang::Awk => awk::analyse(code, nesting),
        _ => {
            let mut reader = reader::Reader::new(lang, code, nesting);
            reader.program();
            reader.findings
        }
    }
}
