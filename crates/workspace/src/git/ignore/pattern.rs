//! One pattern, matched step by step as git does it: git compares the part before the first wildcard
//! on its own, so that `/a**/b` also matches `ab/c/b`, which a glob as a whole would not.

use gix::bstr::ByteSlice as _;
use gix::glob::wildmatch::Mode;

/// One line of a file of rules.
#[derive(Debug)]
pub(super) struct Pattern {
    text: Vec<u8>,
    /// Whether it takes back what earlier ones say.
    pub negative: bool,
    folders_only: bool,
    /// Whether it is about names, wherever they are.
    name_only: bool,
    /// Whether it is a star and then no wildcard.
    ends_with: bool,
    /// How many bytes come before the first wildcard.
    literal: usize,
}

/// The patterns of a file.
pub(super) fn parse(bytes: &[u8]) -> Vec<Pattern> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines
        .filter_map(|line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
            Pattern::new(trim(line))
        })
        .collect()
}

/// A line without spaces at its end, unless a backslash comes before them.
fn trim(line: &[u8]) -> &[u8] {
    let mut spaces = None;
    let mut bytes = line.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b' ' => {
                spaces.get_or_insert(at);
                continue;
            }
            b'\\' if bytes.next().is_none() => return line,
            _ => {}
        }
        spaces = None;
    }
    spaces.and_then(|at| line.get(..at)).unwrap_or(line)
}

fn first_wildcard(text: &[u8]) -> Option<usize> {
    text.find_byteset(br"*?[\")
}

impl Pattern {
    fn new(line: &[u8]) -> Option<Self> {
        let (negative, line) = match line.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (folders_only, text) = match line.strip_suffix(b"/") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        if text.is_empty() {
            return None;
        }
        let after = line.strip_prefix(b"*");
        Some(Self {
            text: text.to_vec(),
            negative,
            folders_only,
            name_only: !text.contains(&b'/'),
            ends_with: after.is_some_and(|after| first_wildcard(after).is_none()),
            literal: first_wildcard(text).unwrap_or(text.len()),
        })
    }

    /// Whether it is about a path, which is given from the folder of the rules on.
    pub fn matches(&self, path: &[u8], folder: bool, fold: bool) -> bool {
        if self.folders_only && !folder {
            return false;
        }
        if self.name_only { self.matches_name(path, fold) } else { self.matches_path(path, fold) }
    }

    fn matches_name(&self, path: &[u8], fold: bool) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if self.literal == self.text.len() {
            return same(&self.text, name, fold);
        }
        if self.ends_with {
            let end = self.text.get(1..).unwrap_or_default();
            let from = name.len().checked_sub(end.len());
            return from
                .and_then(|from| name.get(from..))
                .is_some_and(|name| same(end, name, fold));
        }
        gix::glob::wildmatch(self.text.as_bstr(), name.as_bstr(), mode(Mode::empty(), fold))
    }

    fn matches_path(&self, path: &[u8], fold: bool) -> bool {
        let (text, literal) = match self.text.strip_prefix(b"/") {
            Some(rest) => (rest, self.literal.saturating_sub(1)),
            None => (self.text.as_slice(), self.literal),
        };
        let Some((start, rest)) = path.split_at_checked(literal) else { return false };
        let (before, pattern) = text.split_at_checked(literal).unwrap_or_default();
        if !same(before, start, fold) {
            return false;
        }
        if literal > 0 && pattern.is_empty() && (rest.is_empty() || self.folders_only) {
            return true;
        }
        let mode = mode(Mode::NO_MATCH_SLASH_LITERAL, fold);
        gix::glob::wildmatch(pattern.as_bstr(), rest.as_bstr(), mode)
    }
}

fn same(a: &[u8], b: &[u8], fold: bool) -> bool {
    if fold { a.eq_ignore_ascii_case(b) } else { a == b }
}

fn mode(mode: Mode, fold: bool) -> Mode {
    if fold { mode | Mode::IGNORE_CASE } else { mode }
}
