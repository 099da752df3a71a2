//! Redraws a panel in place: below what was printed, without taking the screen or hiding anything.
//!
//! Between two calls the cursor stands at the start of the line below the panel, and the terminal is in
//! no special state. Whoever is killed leaves a panel behind that stays readable, nothing else.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar as _;

/// A terminal's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// Draws a panel again and again at the same place.
#[derive(Debug)]
pub struct Painter<W: Write> {
    out: W,
    size: Size,
    /// The lines that stand there.
    drawn: Vec<String>,
}

impl<W: Write> Painter<W> {
    /// One that has drawn nothing yet.
    pub fn new(out: W, size: Size) -> Self {
        Self { out, size, drawn: Vec::new() }
    }

    /// The terminal has another size now; what stands there is drawn again by the next call.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
    }

    /// How many lines a panel may have to be shown whole.
    #[must_use]
    pub fn max_lines(&self) -> usize {
        self.size.rows.saturating_sub(1).max(1)
    }

    /// Draws the panel in the place of the one before.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let lines = self.fitting(lines);
        if lines == self.drawn {
            return Ok(());
        }
        let mut bytes = self.back();
        self.paint(&mut bytes, lines);
        self.send(&bytes)
    }

    /// Prints lines above the panel, where they stay.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        let mut bytes = self.back();
        // Line by line, since some terminals keep a copy of a screen that is cleared from its top.
        for line in text.lines() {
            bytes.push_str(line);
            bytes.push_str("\x1b[K\r\n");
        }
        let lines = std::mem::take(&mut self.drawn);
        let lines = self.fitting(&lines);
        self.paint(&mut bytes, lines);
        self.send(&bytes)
    }

    /// Takes the panel away, so that something else can stand there.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.drawn.is_empty() {
            return Ok(());
        }
        let mut bytes = self.back();
        bytes.push_str("\x1b[J");
        self.drawn.clear();
        self.send(&bytes)
    }

    /// The lines that fit on the screen, each cut to its width.
    fn fitting(&self, lines: &[String]) -> Vec<String> {
        let most = self.max_lines();
        let cut = |line: &String| cut(line, self.size.columns);
        if lines.len() <= most {
            return lines.iter().map(cut).collect();
        }
        // The last line closes the frame, so it is the one before it that gives way.
        let head = lines.iter().take(most.saturating_sub(1));
        head.chain(lines.last()).map(cut).collect()
    }

    /// Goes back to the first line of the panel. A terminal that became narrower has broken its lines
    /// into more rows.
    fn back(&self) -> String {
        let columns = self.size.columns.max(1);
        let rows: usize = self.drawn.iter().map(|line| width(line).div_ceil(columns).max(1)).sum();
        match rows.min(self.max_lines()) {
            0 => "\r".to_owned(),
            rows => format!("\r\x1b[{rows}A"),
        }
    }

    fn paint(&mut self, bytes: &mut String, lines: Vec<String>) {
        for line in &lines {
            bytes.push_str(line);
            // Clearing after writing does not flicker.
            bytes.push_str("\x1b[K\r\n");
        }
        bytes.push_str("\x1b[J");
        self.drawn = lines;
    }

    /// In one piece, so that a reader never sees half a panel for long.
    fn send(&mut self, bytes: &str) -> io::Result<()> {
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }
}

/// How many columns a painted line takes.
fn width(line: &str) -> usize {
    visible(line).map(|(_, _, wide)| wide).sum()
}

/// The characters of a painted line with their places and widths; colour has none.
fn visible(line: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let mut in_colour = false;
    line.char_indices().map(move |(at, c)| {
        if c == '\x1b' {
            in_colour = true;
        }
        let wide = match c {
            _ if in_colour => 0,
            '\u{fe0f}' => 1,
            c => c.width().unwrap_or(0),
        };
        if in_colour && c.is_ascii_alphabetic() {
            in_colour = false;
        }
        (at, c, wide)
    })
}

/// A painted line cut to a width; colour ends with it.
fn cut(line: &str, columns: usize) -> String {
    let mut used = 0;
    for (at, _, wide) in visible(line) {
        used += wide;
        if used > columns {
            let head = line.get(..at).unwrap_or_default();
            let reset = if head.contains('\x1b') { "\x1b[0m" } else { "" };
            return format!("{head}{reset}");
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests;
