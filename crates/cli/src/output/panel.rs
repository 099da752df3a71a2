//! Panels: lines of text in a frame, broken to the width, aligned whatever the characters are.

use std::io::IsTerminal as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::escape;
use super::style::Style;

/// Longer texts of others are cut: nobody reads them in a panel.
const MAX_CHARS: usize = 1_000;
const MIN_COLUMNS: usize = 40;
const MAX_COLUMNS: usize = 200;

/// What is drawn on.
#[derive(Debug, Clone, Copy)]
pub struct Canvas {
    /// Colour and width.
    pub style: Style,
    /// Whether the locale can show more than ASCII.
    pub unicode: bool,
    /// Whether frames are drawn: on a terminal. Elsewhere the lines stand alone.
    pub framed: bool,
}

/// Signs that are drawn in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Something is well.
    Good,
    /// Something is worth a look.
    Warning,
    /// Something is wrong.
    Bad,
    /// One thing after another.
    Arrow,
    /// Something is left out.
    More,
    /// Between two short facts.
    Dot,
    /// What is running.
    Running,
    /// The part of a bar that is done.
    Full,
    /// The part of a bar that is left.
    Empty,
}

/// How a piece of text is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Not at all.
    Plain,
    /// Went well.
    Good,
    /// Went wrong.
    Bad,
    /// Worth a look.
    Notable,
    /// Matters less.
    Faint,
    /// A heading.
    Bold,
}

/// A piece of text that is harmless already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    paint: Paint,
    text: String,
}

/// Whether a locale speaks UTF-8: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that says anything.
#[must_use]
pub fn speaks_utf8(locale: [Option<&str>; 3]) -> bool {
    let said = locale.into_iter().flatten().find(|value| !value.is_empty()).unwrap_or_default();
    let said = said.to_ascii_lowercase();
    said.contains("utf-8") || said.contains("utf8")
}

impl Canvas {
    /// What fits stdout: frames on a terminal, more than ASCII where the locale has it.
    #[must_use]
    pub fn of_stdout() -> Self {
        let said = ["LC_ALL", "LC_CTYPE", "LANG"].map(|name| std::env::var(name).ok());
        let [all, kind, lang] = &said;
        let unicode = speaks_utf8([all.as_deref(), kind.as_deref(), lang.as_deref()]);
        let framed = std::io::stdout().is_terminal();
        Self { style: Style::of_stdout(), unicode, framed }
    }

    /// How many columns a panel takes. One is left free: terminals do not agree on how wide some
    /// characters are, and a line that is one too long would spoil all below it.
    #[must_use]
    pub fn columns(self) -> usize {
        self.style.width.clamp(MIN_COLUMNS, MAX_COLUMNS) - 1
    }

    /// A sign.
    #[must_use]
    pub fn sign(self, sign: Sign) -> &'static str {
        let (unicode, ascii) = match sign {
            Sign::Good => ("✓", "+"),
            Sign::Warning => ("⚠", "!"),
            Sign::Bad => ("✗", "x"),
            Sign::Arrow => ("→", "->"),
            Sign::More => ("…", "..."),
            Sign::Dot => ("·", "-"),
            Sign::Running => ("▸", ">"),
            Sign::Full => ("█", "#"),
            Sign::Empty => ("░", "-"),
        };
        if self.unicode { unicode } else { ascii }
    }

    /// Somebody else's text as one harmless line that this locale can show.
    #[must_use]
    pub fn safe(self, text: &str) -> String {
        let mut out = String::new();
        for (index, c) in text.chars().enumerate() {
            if index == MAX_CHARS {
                out.push_str(self.sign(Sign::More));
                break;
            }
            if self.unicode || c.is_ascii() || escape::is_hidden(c) {
                escape::push(&mut out, c);
            } else {
                out.push_str(plainer(c));
            }
        }
        out
    }

    /// A line that a program wrote for a terminal, without its colours and tabs; still to be made
    /// harmless.
    #[must_use]
    pub fn output(self, text: &str) -> String {
        let mut out = String::new();
        let mut chars = text.trim().chars().take(4 * MAX_CHARS).peekable();
        while let Some(c) = chars.next() {
            if c == '\x1b' && chars.next_if_eq(&'[').is_some() {
                while chars.next_if(|c| c.is_ascii_digit() || ";:?".contains(*c)).is_some() {}
                chars.next_if(char::is_ascii_alphabetic);
            } else {
                out.push(if c == '\t' { ' ' } else { c });
            }
        }
        out.trim().to_owned()
    }

    /// A painted piece of somebody else's text.
    #[must_use]
    pub fn piece(self, paint: Paint, text: &str) -> Piece {
        Piece { paint, text: self.safe(text) }
    }

    /// A piece of somebody else's text.
    #[must_use]
    pub fn text(self, text: &str) -> Piece {
        self.piece(Paint::Plain, text)
    }

    /// A painted sign.
    #[must_use]
    pub fn mark(self, paint: Paint, sign: Sign) -> Piece {
        Piece { paint, text: self.sign(sign).to_owned() }
    }

    /// A text cut to so many columns, with a sign where something is missing.
    #[must_use]
    pub fn cut(self, text: &str, columns: usize) -> String {
        let text = self.safe(text);
        if text.width() <= columns {
            return text;
        }
        let more = self.sign(Sign::More);
        let (head, _) = split(&text, columns.saturating_sub(more.width()));
        format!("{head}{more}")
    }

    /// Pieces as lines: on a terminal broken to its width, what follows set in by `hang`; elsewhere
    /// one line.
    #[must_use]
    pub fn broken(self, hang: usize, pieces: &[Piece]) -> String {
        if !self.framed {
            return self.painted(pieces);
        }
        let mut line = Line::new(0, hang, self.columns());
        pieces.iter().for_each(|piece| line.push(piece));
        let lines: Vec<String> = line.finish().iter().map(|line| self.painted(line)).collect();
        lines.join("\n")
    }

    fn painted(self, pieces: &[Piece]) -> String {
        let paint = |piece: &Piece| match piece.paint {
            Paint::Plain => piece.text.clone(),
            Paint::Good => self.style.good(&piece.text),
            Paint::Bad => self.style.bad(&piece.text),
            Paint::Notable => self.style.notable(&piece.text),
            Paint::Faint => self.style.faint(&piece.text),
            Paint::Bold => self.style.bold(&piece.text),
        };
        pieces.iter().map(paint).collect()
    }
}

/// What stands for a character where only ASCII can be shown.
fn plainer(c: char) -> &'static str {
    match c {
        '…' => "...",
        '→' => "->",
        '–' | '—' => "-",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        _ => "?",
    }
}

/// A panel that is being filled.
#[derive(Debug, Clone)]
pub struct Panel {
    canvas: Canvas,
    title: String,
    lines: Vec<Vec<Piece>>,
}

impl Panel {
    /// An empty one.
    #[must_use]
    pub fn new(canvas: Canvas, title: &str) -> Self {
        Self { canvas, title: canvas.safe(title), lines: Vec::new() }
    }

    /// How many columns there are for text.
    #[must_use]
    pub fn columns(&self) -> usize {
        let frame = if self.canvas.framed { 4 } else { 0 };
        self.canvas.columns() - frame
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.lines.push(Vec::new());
    }

    /// Text that is set in by `indent`; where it is broken, what follows is set in by `hang`.
    pub fn line(&mut self, indent: usize, hang: usize, pieces: Vec<Piece>) {
        let columns = self.columns();
        let mut line = Line::new(indent, hang.min(columns / 2), columns);
        for piece in pieces {
            line.push(&piece);
        }
        self.lines.extend(line.finish());
    }

    /// `Label: text`, broken under the text.
    pub fn field(&mut self, label: &str, text: &str) {
        let label = format!("{label}: ");
        let pieces = vec![self.canvas.text(&label), self.canvas.text(text)];
        self.line(0, label.width(), pieces);
    }

    /// The panel's lines, painted, without line ends.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        if !self.canvas.framed {
            let title = self.canvas.style.bold(&self.title);
            let lines = self.lines.iter().map(|line| self.canvas.painted(line));
            return [title].into_iter().chain(lines.map(|line| trimmed(&line))).collect();
        }
        let [top, bottom] = if self.canvas.unicode { ["╭╮", "╰╯"] } else { ["++", "++"] };
        let side = if self.canvas.unicode { "│" } else { "|" };
        let mut out = vec![self.edge(top, &self.title)];
        for line in &self.lines {
            let used: usize = line.iter().map(|piece| piece.text.width()).sum();
            let pad = " ".repeat(self.columns().saturating_sub(used));
            out.push(format!("{side} {}{pad} {side}", self.canvas.painted(line)));
        }
        out.push(self.edge(bottom, ""));
        out
    }

    /// The upper or lower edge, with the title in its middle.
    fn edge(&self, corners: &str, title: &str) -> String {
        let bar = if self.canvas.unicode { "─" } else { "-" };
        let inner = self.canvas.columns() - 2;
        let title = self.canvas.cut(title, inner.saturating_sub(4));
        let title = if title.is_empty() { title } else { format!(" {title} ") };
        let painted = if title.is_empty() { title.clone() } else { self.canvas.style.bold(&title) };
        let left = inner.saturating_sub(title.width()) / 2;
        let right = inner.saturating_sub(left + title.width());
        let mut corners = corners.chars();
        let mut corner = || corners.next().map(String::from).unwrap_or_default();
        let (first, last) = (corner(), corner());
        format!("{first}{}{painted}{}{last}", bar.repeat(left), bar.repeat(right))
    }

    /// The panel as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines().join("\n") + "\n"
    }
}

/// Without spaces at the end.
fn trimmed(line: &str) -> String {
    line.trim_end_matches(' ').to_owned()
}

/// A line on its way to be broken.
struct Line {
    hang: usize,
    columns: usize,
    done: Vec<Vec<Piece>>,
    now: Vec<Piece>,
    used: usize,
    /// Spaces that stand before the next word unless the line is broken there.
    space: usize,
    /// Whether a word stands in the line already.
    begun: bool,
}

impl Line {
    fn new(indent: usize, hang: usize, columns: usize) -> Self {
        let mut line = Self {
            hang,
            columns,
            done: Vec::new(),
            now: Vec::new(),
            used: 0,
            space: 0,
            begun: false,
        };
        line.put(Paint::Plain, &" ".repeat(indent));
        line
    }

    fn put(&mut self, paint: Paint, text: &str) {
        self.used += text.width();
        match self.now.last_mut() {
            Some(last) if last.paint == paint => last.text.push_str(text),
            _ if text.is_empty() => {}
            _ => self.now.push(Piece { paint, text: text.to_owned() }),
        }
    }

    fn push(&mut self, piece: &Piece) {
        for (index, word) in piece.text.split(' ').enumerate() {
            self.space += usize::from(index > 0);
            if !word.is_empty() {
                self.word(piece.paint, word);
            }
        }
    }

    fn word(&mut self, paint: Paint, word: &str) {
        let fits = self.used + self.space + word.width() <= self.columns;
        if self.begun && self.space > 0 && !fits {
            self.break_line();
        } else {
            let space = " ".repeat(self.space);
            self.put(Paint::Plain, &space);
        }
        self.space = 0;
        self.begun = true;
        let mut rest = word;
        while self.used + rest.width() > self.columns {
            let (head, tail) = split(rest, self.columns.saturating_sub(self.used));
            // A character that is wider than what is left goes to the next line.
            self.put(paint, head);
            rest = tail;
            self.break_line();
        }
        self.put(paint, rest);
    }

    fn break_line(&mut self) {
        self.done.push(std::mem::take(&mut self.now));
        self.used = 0;
        self.put(Paint::Plain, &" ".repeat(self.hang));
    }

    fn finish(mut self) -> Vec<Vec<Piece>> {
        self.done.push(self.now);
        self.done
    }
}

/// A text split behind as many columns as fit.
fn split(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        // The selector that makes an emoji of a sign makes it wider too.
        let wide = if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) };
        if used + wide > columns {
            end = at;
            break;
        }
        used += wide;
    }
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests;
