//! HTML comments in Markdown: where they begin and end, and where `<!--` is only text.

use std::collections::HashMap;

use super::lines::Line;

/// A comment: the bytes of what stands inside it, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comment {
    /// The first byte of `<!--`.
    pub start: usize,
    /// The byte behind `-->`, or behind the text where it is never closed.
    pub end: usize,
    /// Whether it is closed.
    pub closed: bool,
}

impl Comment {
    /// What it says.
    pub fn inside(self, text: &str) -> (usize, &str) {
        let start = self.start + 4;
        let end = if self.closed { self.end - 3 } else { self.end };
        (start, text.get(start..end.max(start)).unwrap_or_default())
    }
}

/// Finds comments from the first line to the last; each byte is looked at a bounded number of times.
pub(super) struct Finder<'t> {
    text: &'t str,
    /// The first `-->` at or behind the last place that was asked for.
    close: Option<usize>,
    asked: bool,
    /// For each line, the byte at which its paragraph ends.
    paragraph_ends: Vec<usize>,
}

impl<'t> Finder<'t> {
    pub fn new(text: &'t str, lines: &[Line<'t>]) -> Self {
        let mut ends = vec![text.len(); lines.len()];
        let mut end = text.len();
        for (line, slot) in lines.iter().zip(ends.iter_mut()).rev() {
            if line.is_blank() {
                end = line.start;
            }
            *slot = end;
        }
        Self { text, close: None, asked: false, paragraph_ends: ends }
    }

    /// The first `-->` from a byte on. Bytes are asked for in rising order.
    fn next_close(&mut self, from: usize) -> Option<usize> {
        let stale = !self.asked || self.close.is_some_and(|close| close < from);
        if stale {
            self.asked = true;
            let found = self.text.get(from..).and_then(|rest| rest.find("-->"));
            self.close = found.map(|found| from + found);
        }
        self.close
    }

    /// The comments that begin in a line, or in the line in which the one before them ends; also the
    /// index of the last line that they reach.
    pub fn of_line(&mut self, lines: &[Line<'t>], first: usize) -> (Vec<Comment>, usize) {
        let mut comments = Vec::new();
        let mut last = first;
        let Some(mut line) = lines.get(first) else { return (comments, last) };
        let mut from = line.start;
        let mut opens = opens(line, from).into_iter();
        while let Some(start) = opens.next() {
            // What stands inside a comment opens none.
            if start < from {
                continue;
            }
            let paragraph = self.paragraph_ends.get(last).copied().unwrap_or(0);
            let at_start = line.text.trim_start().len() == line.end() - start;
            match self.next_close(start + 4) {
                Some(close) if at_start || close < paragraph => {
                    from = close + 3;
                    comments.push(Comment { start, end: from, closed: true });
                }
                None if at_start => {
                    comments.push(Comment { start, end: self.text.len(), closed: false });
                    return (comments, lines.len().saturating_sub(1));
                }
                _ => return (comments, last),
            }
            if from > line.end() {
                last += lines.get(last..).map_or(0, |rest| {
                    rest.partition_point(|line| line.start < from).saturating_sub(1)
                });
                let Some(next) = lines.get(last) else { break };
                line = next;
                opens = self::opens(line, from).into_iter();
            }
        }
        (comments, last)
    }
}

/// Where `<!--` stands in a line outside of code, from a byte on.
fn opens(line: &Line<'_>, from: usize) -> Vec<usize> {
    let skipped = from.saturating_sub(line.start);
    let Some(text) = line.text.get(skipped..) else { return Vec::new() };
    if !text.contains("<!--") {
        return Vec::new();
    }
    let code = code_spans(text);
    let mut spans = code.iter().peekable();
    let found = text.match_indices("<!--").map(|(at, _)| at).filter(|at| {
        while spans.next_if(|(_, end)| end <= at).is_some() {}
        spans.peek().is_none_or(|(start, _)| at < start)
    });
    found.map(|at| line.start + skipped + at).collect()
}

/// The spans of inline code in a line: each from a run of backticks to the next run as long.
fn code_spans(text: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some((start, long)) if *start + *long == at => *long += 1,
            _ => runs.push((at, 1)),
        }
    }
    let mut later: HashMap<usize, usize> = HashMap::new();
    let mut partner = vec![None; runs.len()];
    for (index, ((_, long), slot)) in runs.iter().zip(partner.iter_mut()).enumerate().rev() {
        *slot = later.insert(*long, index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while let (Some((start, _)), Some(pair)) = (runs.get(index), partner.get(index)) {
        let closing = pair.and_then(|pair| runs.get(pair).map(|run| (pair, run)));
        if let Some((pair, (at, long))) = closing {
            spans.push((*start, at + long));
            index = pair;
        }
        index += 1;
    }
    spans
}
