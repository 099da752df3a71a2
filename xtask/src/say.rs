//! The only place of this crate that prints.

use std::io::Write as _;

/// Prints a line on stdout; a reader that went away is no reason to stop.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a line on stderr.
pub fn complaint(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
