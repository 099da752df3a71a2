//! A unified diff on its way to a reader: untouched to a program, painted and harmless to a person,
//! or only counted.

use std::io::{self, IsTerminal as _, Write};

use aurora_model::{Change, ChangeKind};

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

/// Added and removed lines of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Lines {
    added: u64,
    removed: u64,
    binary: bool,
}

/// Counts the lines of a diff that is written into it.
#[derive(Debug, Default)]
pub struct Counter {
    reader: Reader,
    line: Vec<u8>,
    sections: Vec<Lines>,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if *byte == b'\n' {
                self.end_line();
            } else {
                self.line.push(*byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Counter {
    fn end_line(&mut self) {
        let kind = self.reader.kind(&self.line);
        if kind == Kind::Section {
            self.sections.push(Lines::default());
        }
        if let Some(lines) = self.sections.last_mut() {
            match kind {
                Kind::Added => lines.added += 1,
                Kind::Removed => lines.removed += 1,
                Kind::About if self.line == b"GIT binary patch" => lines.binary = true,
                _ => {}
            }
        }
        self.line.clear();
    }

    /// The lines of each change. A file that became a link, or the other way round, has two sections:
    /// one goes and one comes. Nothing when the sections are not those of the changes.
    fn per_change(&self, changes: &[Change]) -> Option<Vec<Lines>> {
        let mut sections = self.sections.iter().copied();
        let mut all = Vec::with_capacity(changes.len());
        for change in changes {
            let mut lines = sections.next()?;
            if change.kind == ChangeKind::TypeChanged {
                let other = sections.next()?;
                lines.added += other.added;
                lines.removed += other.removed;
                lines.binary |= other.binary;
            }
            all.push(lines);
        }
        sections.next().is_none().then_some(all)
    }

    /// The changes with their numbers of lines, and the sum, as `git diff --stat` says it.
    #[must_use]
    pub fn stat(&self, all: &[Change], style: Style) -> String {
        let mut out = String::new();
        let lines = self.per_change(all);
        for (index, change) in all.iter().enumerate() {
            let lines = lines.as_ref().and_then(|lines| lines.get(index)).copied();
            let numbers = match lines {
                Some(Lines { binary: true, .. }) => "binary".to_owned(),
                Some(Lines { added, removed, .. }) => format!(
                    "{} {}",
                    style.good(&format!("+{added}")),
                    style.bad(&format!("-{removed}"))
                ),
                None => String::new(),
            };
            out.push_str(&format!("  {}  {numbers}\n", escape::path(&change.path)));
        }
        let added: u64 = self.sections.iter().map(|lines| lines.added).sum();
        let removed: u64 = self.sections.iter().map(|lines| lines.removed).sum();
        out.push_str(&format!(
            "{}, {added} lines added, {removed} removed\n",
            changes::summary(all)
        ));
        out
    }
}

#[cfg(test)]
mod tests {
    use aurora_model::RepoPath;

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
    fn lines_are_counted_by_what_hunks_say() {
        let mut counter = Counter::default();
        counter.write_all(DIFF.as_bytes()).expect("counted");
        let change = |path: &str, kind| Change {
            path: RepoPath::new(path).expect("a path"),
            kind,
            before: None,
            after: None,
        };
        let changes = [change("a", ChangeKind::Modified), change("b", ChangeKind::Added)];
        assert_eq!(
            counter.stat(&changes, Style::plain()),
            "  a  +1 -1\n  b  binary\n2 files changed (1 new, 1 modified), 1 lines added, 1 removed\n"
        );
        assert_eq!(counter.per_change(&changes[..1]), None);
    }

    #[test]
    fn a_terminal_gets_nothing_that_it_would_act_on() {
        let line = paint(Kind::Added, b"+\tif x \x1b[2J\xff\r", Style::plain());
        assert_eq!(line, "+\tif x \\x1b[2J\u{fffd}\\r");
    }
}
