//! One-liners and here-document scripts of other languages, read by the names of the calls they make.

mod api;
mod arguments;
mod awk;
mod call;
mod cmdlet;
mod expression;
mod lexer;
mod literal;
mod member;
mod method;
mod powershell;
mod quote;
mod reader;
mod value;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::rc::Rc;

use aurora_model::{Span, Touch};

pub use self::value::{decode_base64, decode_hex, split_shell};
use super::shell::machine::ScriptLang;

/// Stands in code and in findings for text that nobody can know beforehand.
pub const UNKNOWN: char = '\u{FFFC}';

/// How deep code inside code is followed (`exec("exec('…')")`).
const MAX_NESTING: u8 = 4;

/// How many bytes of code inside code are read for one script.
const MAX_NESTED_CODE: usize = 256 * 1024;

/// How many findings of one script are kept.
const MAX_FINDINGS: usize = 1024;

/// How deep a script stands in others, and how much more of such code is worth reading.
#[derive(Debug, Clone)]
struct Nesting {
    depth: u8,
    left: Rc<Cell<usize>>,
}

impl Nesting {
    /// One step deeper, for this code.
    fn deeper(&self, code: &str) -> Self {
        let enough = self.left.get() >= code.len();
        self.left.set(self.left.get().saturating_sub(code.len().max(64)));
        let depth = if enough { self.depth + 1 } else { MAX_NESTING };
        Self { depth, left: Rc::clone(&self.left) }
    }
}

/// Keeps a finding; past the limit one stands for all the rest.
fn add(findings: &mut Vec<ScriptFinding>, finding: ScriptFinding) {
    match findings.len() {
        0..MAX_FINDINGS => findings.push(finding),
        MAX_FINDINGS => {
            let what = What::Opaque { why: "it does more than can be looked at" };
            findings.push(ScriptFinding { what, ..finding });
        }
        _ => {}
    }
}

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
    let left = Rc::new(Cell::new(MAX_NESTED_CODE));
    analyse_nested(lang, code, &Nesting { depth: 0, left })
}

fn analyse_nested(lang: ScriptLang, code: &str, nesting: &Nesting) -> Vec<ScriptFinding> {
    let nesting = nesting.clone();
    if nesting.depth >= MAX_NESTING {
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
