//! A unified diff on its way to a reader: untouched to a program, painted and harmless to a person.

use std::io::{self, IsTerminal as _, Write};

use aurora_model::Change;
use aurora_workspace::git::FileStat;

use super::changes;
use super::escape;
use super::style::Style;

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The first line about a file.
    Section,
    /// Another line before the first hunk, or of a binary patch.
    About,
    /// The line that opens a hunk.
    Hunk,
    Added,
    Removed,
    Context,
}

/// Says of each line what it is, by the numbers that a hunk opens with: content that looks like a
/// header is content.
#[derive(Debug, Default)]
struct Reader {
    old_left: u64,
    new_left: u64,
}

impl Reader {
    fn kind(&mut self, line: &[u8]) -> Kind {
        if self.old_left > 0 || self.new_left > 0 {
            let (kind, old, new) = match line.first() {
                Some(b'+') => (Kind::Added, 0, 1),
                Some(b'-') => (Kind::Removed, 1, 0),
                Some(b'\\') => (Kind::Context, 0, 0),
                _ => (Kind::Context, 1, 1),
            };
            self.old_left = self.old_left.saturating_sub(old);
            self.new_left = self.new_left.saturating_sub(new);
            return kind;
        }
        if let Some((old, new)) = line.strip_prefix(b"@@ -").and_then(hunk) {
            (self.old_left, self.new_left) = (old, new);
            return Kind::Hunk;
        }
        if line.starts_with(b"diff --git ") {
            return Kind::Section;
        }
        if line.starts_with(b"\\") { Kind::Context } else { Kind::About }
    }
}

/// How many old and new lines a hunk has: `1,3 +1,4 @@`.
fn hunk(rest: &[u8]) -> Option<(u64, u64)> {
    let rest = std::str::from_utf8(rest.get(..64).unwrap_or(rest)).unwrap_or_default();
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let number = |range: &str| match range.split_once(',') {
        Some((_, number)) => number.parse().ok(),
        None => range.parse::<u64>().ok().map(|_| 1),
    };
    Some((number(old)?, number(new)?))
}

/// Where a diff goes.
pub enum Sink {
    /// A program, a file: the bytes as they are.
    Plain(io::BufWriter<io::Stdout>),
    /// A terminal: line by line, with colour, and nothing that the terminal would act on.
    Painted(Box<Painted>),
}

/// The lines of a diff for a terminal.
pub struct Painted {
    out: io::BufWriter<io::Stdout>,
    style: Style,
    reader: Reader,
    line: Vec<u8>,
}

impl Sink {
    /// What fits stdout.
    #[must_use]
    pub fn of_stdout(style: Style) -> Self {
        let out = io::BufWriter::new(io::stdout());
        if io::stdout().is_terminal() {
            let reader = Reader::default();
            Self::Painted(Box::new(Painted { out, style, reader, line: Vec::new() }))
        } else {
            Self::Plain(out)
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Painted(painted) => painted.take(bytes).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Painted(painted) => {
                if !painted.line.is_empty() {
                    painted.end_line()?;
                }
                painted.out.flush()
            }
        }
    }
}

impl Painted {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            if *byte == b'\n' {
                self.end_line()?;
            } else {
                self.line.push(*byte);
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> io::Result<()> {
        let kind = self.reader.kind(&self.line);
        let line = paint(kind, &self.line, self.style);
        self.line.clear();
        writeln!(self.out, "{line}")
    }
}

fn paint(kind: Kind, line: &[u8], style: Style) -> String {
    // A tab is as harmless as a space, and code is full of them.
    let text: Vec<String> = String::from_utf8_lossy(line).split('\t').map(escape::line).collect();
    let text = text.join("\t");
    match kind {
        Kind::Section | Kind::About => style.bold(&text),
        Kind::Hunk => style.place(&text),
        Kind::Added => style.good(&text),
        Kind::Removed => style.bad(&text),
        Kind::Context => text,
    }
}

/// The changes with their numbers of lines, and the sum, as `git diff --stat` says it.
#[must_use]
pub fn stat(all: &[Change], lines: &[FileStat], style: Style) -> String {
    let mut out = String::new();
    for one in lines {
        let numbers = if one.binary {
            "binary".to_owned()
        } else {
            let (added, removed) = (format!("+{}", one.added), format!("-{}", one.removed));
            format!("{} {}", style.good(&added), style.bad(&removed))
        };
        out.push_str(&format!("  {}  {numbers}\n", escape::path(&one.path)));
    }
    let added: u64 = lines.iter().map(|one| one.added).sum();
    let removed: u64 = lines.iter().map(|one| one.removed).sum();
    let summary = changes::summary(all);
    out.push_str(&format!("{summary}; lines: {added} added, {removed} removed\n"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/a b/a
index 1..2 100644
--- a/a
+++ b/a
@@ -1,3 +1,3 @@ fn
 one
--- a/looks/like/a/header
+diff --git is content here
 three
\\ No newline at end of file
diff --git a/b b/b
new file mode 100644
index 0..3
GIT binary patch
literal 3
Kcmb;

literal 0
HcmV?d00001

";

    #[test]
    fn lines_are_told_apart_by_what_hunks_say() {
        let mut reader = Reader::default();
        let kinds: Vec<Kind> = DIFF.lines().map(|line| reader.kind(line.as_bytes())).collect();
        let start = [Kind::Section, Kind::About, Kind::About, Kind::About, Kind::Hunk];
        assert_eq!(kinds.get(..5), Some(start.as_slice()));
        let content = [Kind::Context, Kind::Removed, Kind::Added, Kind::Context, Kind::Context];
        assert_eq!(kinds.get(5..10), Some(content.as_slice()));
        assert_eq!(kinds.get(10), Some(&Kind::Section));
        assert!(kinds.iter().skip(11).all(|kind| *kind == Kind::About), "{kinds:?}");
    }

    #[test]
    fn a_terminal_gets_nothing_that_it_would_act_on() {
        let line = paint(Kind::Added, b"+\tif x \x1b[2J\xff\r", Style::plain());
        assert_eq!(line, "+\tif x \\x1b[2J\u{fffd}\\r");
    }
}
