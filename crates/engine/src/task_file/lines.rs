//! A text as lines, whatever ends them, and where in it something stands.

/// One line without what ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// Its first byte within the whole text.
    pub start: usize,
    /// Its text.
    pub text: &'t str,
}

impl Line<'_> {
    /// The byte behind its last one.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether nothing can be seen in it.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// How many columns its text stands in; a tab goes on to the next multiple of four.
    pub fn indent(&self) -> usize {
        columns(self.text).0
    }
}

/// How many columns the white space before a text takes, and how many bytes.
pub(super) fn columns(text: &str) -> (usize, usize) {
    let (mut column, mut bytes) = (0, 0);
    for c in text.chars() {
        match c {
            ' ' => column += 1,
            '\t' => column += 4 - column % 4,
            _ => break,
        }
        bytes += 1;
    }
    (column, bytes)
}

/// All lines from a byte on; `\n`, `\r\n` and a lone `\r` end one.
pub(super) fn lines(text: &str, from: usize) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = from;
    let bytes = text.as_bytes();
    while start < text.len() {
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = start + length.unwrap_or(rest.len());
        lines.push(Line { start, text: text.get(start..end).unwrap_or_default() });
        let crlf = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
        start = end + if crlf { 2 } else { 1 };
    }
    lines
}

/// The line and the column of a byte, both counted from one, columns in characters.
pub(super) fn position(lines: &[Line<'_>], at: usize) -> (usize, usize) {
    let index = lines.partition_point(|line| line.start <= at).saturating_sub(1);
    let Some(line) = lines.get(index) else { return (1, 1) };
    let before = line.text.char_indices().take_while(|(byte, _)| line.start + byte < at).count();
    (index + 1, before + 1)
}
