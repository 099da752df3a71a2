//! Task lists as people write them in Markdown, read and ticked without touching anything else.
//!
//! A *task* is a list item with a box: `- [ ] …`, `* [x] …`, `1. [ ] …`, at any depth. A box with boxes
//! below it is a *group*, not a task: what its comments say about agent and dependencies goes for all
//! tasks below it, to depend on it means to depend on all of them, and its box is ticked when theirs
//! are ([`tick_groups`]). Boxes in code, comments and quotes are text. `[-]` and `[~]` are left alone.
//!
//! What is known about a task stands in HTML comments on its line or directly below (`<!-- id: sg-2,
//! agent: x, depends-on: sg-1; files: src/*.rs; lines: 200 -->`) or in the front matter (`tasks:`).
//! A task can be named by its id, by the number or name that its title begins with (`1.1 Title`,
//! `sg-1: Title`), or, where it has no id, by its place: `t1`, `t2`, …
//!
//! Pure: whoever calls reads and writes the file.

mod blocks;
mod comments;
mod front_matter;
mod lines;
pub(crate) mod metadata;
mod resolve;
mod scan;
mod tick;

use std::fmt;

use aurora_model::id::PlanId;
use aurora_model::task::Task;

use self::lines::{Line, lines};
use self::scan::{Scan, Scanner};
pub use self::tick::{NotFound, Ticked, tick, tick_groups};

/// Longer files are refused.
pub const MAX_BYTES: usize = 10 * 1024 * 1024;
/// More boxes are refused.
pub const MAX_TASKS: usize = 10_000;
/// So many problems are told at once.
const MAX_PROBLEMS: usize = 100;

/// What a tasks file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFile {
    /// What all of it is for: the front matter's `goal`, else the first heading, else the file's name.
    pub goal: String,
    /// The plan that it belongs to.
    pub plan: Option<PlanId>,
    /// How many tasks it wants to be run at once.
    pub max_parallel: Option<u32>,
    /// The tasks, in the order of the file; ids are unique, dependencies known and without a cycle.
    pub tasks: Vec<Task>,
    /// For each task the line that it stands in, counted from one.
    pub lines: Vec<usize>,
}

/// Something in a tasks file that must be put right before it can be run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The line, counted from one.
    pub line: usize,
    /// The column, in characters, counted from one.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl Problem {
    fn new(line: usize, column: usize, what: &str, hint: &str) -> Self {
        Self { line, column, what: what.to_owned(), hint: hint.to_owned() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} ({})", self.line, self.column, self.what, self.hint)
    }
}

/// Reads a tasks file; `name` is the file's name, for the goal where nothing else says it.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn read(text: &str, name: &str) -> Result<TaskFile, Vec<Problem>> {
    if text.len() > MAX_BYTES {
        let what = format!("the file has {} bytes; at most {MAX_BYTES} are read", text.len());
        return Err(vec![Problem::new(1, 1, &what, "split it")]);
    }
    let lines = lines_of(text);
    let front = front_matter::read(&lines);
    let scan = Scanner::new(text, &lines).scan(front.end);
    resolve::resolve(name, &lines, front, scan)
}

/// The lines of a text, without the mark that some editors put first.
fn lines_of(text: &str) -> Vec<Line<'_>> {
    lines(text, if text.starts_with('\u{feff}') { 3 } else { 0 })
}

/// The boxes of a text, whatever else is wrong with it.
fn boxes<'t>(text: &'t str, lines: &[Line<'t>]) -> Scan<'t> {
    Scanner::new(text, lines).scan(front_matter::read(lines).end)
}

#[cfg(test)]
mod tests;
