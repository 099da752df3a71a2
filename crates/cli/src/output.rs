//! What a person or a program gets to read.

pub mod changes;
pub mod checkpoint;
pub mod escape;
pub mod failure;
pub mod history;
pub mod moment;
pub mod operation;
pub mod options;
pub mod painter;
pub mod panel;
pub mod patch;
pub mod progress;
pub mod progress_panel;
pub mod request;
pub mod review;
pub mod rollback;
pub mod skipped;
pub mod snippet;
pub mod style;
pub mod summary;
pub mod verdict;
pub mod wrap;

use std::io::{ErrorKind, Write as _};

use crate::exit::Failure;

/// Writes text to stdout; a reader that went away is not an error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to stdout: {error}")).into())
        }
        _ => Ok(()),
    }
}

/// Writes a JSON value to stdout, indented, with a newline at the end.
pub fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&format!("{value:#}\n"))
}

/// The same result; an error is also told on stdout where JSON is expected there, so that a program
/// that reads it never finds nothing.
pub fn with_error<T>(json: bool, result: anyhow::Result<T>) -> anyhow::Result<T> {
    if let (true, Err(error)) = (json, &result) {
        print_json(&told(serde_json::json!({}), error))?;
    }
    result
}

/// The same where one object a line is expected.
pub fn with_error_line<T>(json: bool, result: anyhow::Result<T>) -> anyhow::Result<T> {
    if let (true, Err(error)) = (json, &result) {
        print(&format!("{}\n", told(serde_json::json!({"type": "error"}), error)))?;
    }
    result
}

/// An object with what is wrong and what can be done about it.
fn told(mut told: serde_json::Value, error: &anyhow::Error) -> serde_json::Value {
    let hints = error.downcast_ref::<Failure>().map(Failure::hints).unwrap_or_default();
    if let Some(told) = told.as_object_mut() {
        told.insert("error".to_owned(), format!("{error:#}").into());
        if !hints.is_empty() {
            told.insert("hint".to_owned(), hints.join("\n").into());
        }
    }
    told
}

/// Says on stderr something that is neither an answer nor a problem.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "note: {}", escape::line(text));
}

/// Says on stderr that something is wrong with what was recorded, and how bad that is.
pub fn violation(severity: &str, text: &str) {
    let _ = writeln!(std::io::stderr(), "violation ({severity}): {}", escape::line(text));
}

/// Writes a warning to stderr.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {}", escape::line(text));
}
