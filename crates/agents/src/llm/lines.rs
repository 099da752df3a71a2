//! Pieces of text, as they come, made into lines.

use super::clean;

/// A line that is longer is handed on in parts.
const MAX_LINE_BYTES: usize = 4096;

/// What has come of the line that is not complete yet.
#[derive(Debug, Default)]
pub struct Lines {
    begun: String,
}

impl Lines {
    /// Takes a piece and hands on every line that it completes, cleaned.
    pub fn push(&mut self, piece: &str, hear: &mut dyn FnMut(String)) {
        for part in piece.split_inclusive('\n') {
            self.begun.push_str(part);
            if part.ends_with('\n') || self.begun.len() >= MAX_LINE_BYTES {
                self.end(hear);
            }
        }
    }

    /// Hands on what is left.
    pub fn end(&mut self, hear: &mut dyn FnMut(String)) {
        if self.begun.is_empty() {
            return;
        }
        let line = std::mem::take(&mut self.begun);
        hear(clean::text(line.trim_end_matches(['\n', '\r'])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let mut heard = Vec::new();
        let mut lines = Lines::default();
        for piece in ["a", "b\nc\r\n", "", "\n\u{1b}[1md", "e"] {
            lines.push(piece, &mut |line| heard.push(line));
        }
        lines.end(&mut |line| heard.push(line));
        lines.end(&mut |line| heard.push(line));
        assert_eq!(heard, ["ab", "c", "", "de"]);
    }

    #[test]
    fn a_line_without_end_is_handed_on_in_parts() {
        let mut heard = 0;
        let mut lines = Lines::default();
        for _ in 0..100 {
            lines.push(&"x".repeat(1000), &mut |line| heard += line.len());
        }
        assert!(heard > 90_000, "{heard}");
    }
}
