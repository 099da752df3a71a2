//! A three-way merge by lines.

use std::ops::Range;

use crate::git::diff::lines::{changed, lines};

/// The merged text, or the text with both sides marked where they touch the same lines.
pub(super) fn merge(base: &[u8], now: &[u8], then: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
    let mut merge = Merge {
        base: lines(base).collect(),
        now: One::new(base, now),
        then: One::new(base, then),
        at: 0,
        out: Vec::new(),
        conflict: false,
    };
    while merge.step() {}
    if merge.conflict { Err(merge.out) } else { Ok(merge.out) }
}

/// One side: its lines, and how they differ from the base.
struct One<'a> {
    lines: Vec<&'a [u8]>,
    hunks: std::iter::Peekable<std::vec::IntoIter<(Range<usize>, Range<usize>)>>,
}

impl<'a> One<'a> {
    fn new(base: &[u8], text: &'a [u8]) -> Self {
        let hunks = changed(base, text).into_iter().peekable();
        Self { lines: lines(text).collect(), hunks }
    }

    fn start(&mut self) -> Option<usize> {
        self.hunks.peek().map(|(base, _)| base.start)
    }

    fn end(&mut self) -> Option<usize> {
        self.hunks.peek().map(|(base, _)| base.end)
    }

    /// Takes the hunks that begin up to a line of the base, and grows that end with them.
    fn take_up_to(
        &mut self,
        end: &mut usize,
        taken: &mut Vec<(Range<usize>, Range<usize>)>,
    ) -> bool {
        let mut grew = false;
        while let Some(hunk) = self.hunks.next_if(|(base, _)| base.start <= *end) {
            *end = hunk.0.end.max(*end);
            taken.push(hunk);
            grew = true;
        }
        grew
    }

    /// This side's lines that stand for a range of the base.
    fn standing_for(
        &self,
        region: &Range<usize>,
        taken: &[(Range<usize>, Range<usize>)],
    ) -> Vec<u8> {
        let (Some(first), Some(last)) = (taken.first(), taken.last()) else { return Vec::new() };
        let start = first.1.start.saturating_sub(first.0.start.saturating_sub(region.start));
        let end = last.1.end + region.end.saturating_sub(last.0.end);
        self.lines.get(start..end).unwrap_or_default().concat()
    }
}

struct Merge<'a> {
    base: Vec<&'a [u8]>,
    now: One<'a>,
    then: One<'a>,
    at: usize,
    out: Vec<u8>,
    conflict: bool,
}

impl Merge<'_> {
    /// Copies up to the next change and makes it; says whether there may be more.
    fn step(&mut self) -> bool {
        // Changes that touch without a line between them are in each other's way, as for git.
        let apart = |one: Option<usize>, other: Option<usize>| {
            one.is_some_and(|end| other.is_none_or(|start| end < start))
        };
        let (now_start, then_start) = (self.now.start(), self.then.start());
        if apart(self.now.end(), then_start) {
            if let Some((base, side)) = self.now.hunks.next() {
                let lines = self.now.lines.get(side).unwrap_or_default().concat();
                self.replace(base, &lines);
            }
            return true;
        }
        if apart(self.then.end(), now_start) {
            if let Some((base, side)) = self.then.hunks.next() {
                let lines = self.then.lines.get(side).unwrap_or_default().concat();
                self.replace(base, &lines);
            }
            return true;
        }
        let (Some(now_start), Some(then_start)) = (now_start, then_start) else {
            let rest = self.base.get(self.at..).unwrap_or_default().concat();
            self.out.extend_from_slice(&rest);
            return false;
        };
        self.both(now_start.min(then_start));
        true
    }

    /// Both sides change the same lines: fine when they do the same.
    fn both(&mut self, start: usize) {
        let (mut end, mut of_now, mut of_then) = (start, Vec::new(), Vec::new());
        // The end must reach over the first change of each side before they are compared.
        end = end.max(self.now.start().unwrap_or(end)).max(self.then.start().unwrap_or(end));
        while self.now.take_up_to(&mut end, &mut of_now)
            | self.then.take_up_to(&mut end, &mut of_then)
        {}
        let region = start..end;
        let (now, then) =
            (self.now.standing_for(&region, &of_now), self.then.standing_for(&region, &of_then));
        if now == then {
            self.replace(region, &now);
            return;
        }
        self.conflict = true;
        let mut marked = b"<<<<<<< now\n".to_vec();
        push_lines(&mut marked, &now);
        marked.extend_from_slice(b"=======\n");
        push_lines(&mut marked, &then);
        marked.extend_from_slice(b">>>>>>> checkpoint\n");
        self.replace(region, &marked);
    }

    fn replace(&mut self, region: Range<usize>, lines: &[u8]) {
        let before = self.base.get(self.at..region.start).unwrap_or_default().concat();
        self.out.extend_from_slice(&before);
        self.out.extend_from_slice(lines);
        self.at = region.end;
    }
}

/// A mark needs a line of its own.
fn push_lines(out: &mut Vec<u8>, lines: &[u8]) {
    out.extend_from_slice(lines);
    if !lines.is_empty() && !lines.ends_with(b"\n") {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Repo;

    fn check(base: &str, now: &str, then: &str, merged: Option<&str>) {
        let ours = merge(base.as_bytes(), now.as_bytes(), then.as_bytes());
        assert_eq!(ours.as_deref().ok(), merged.map(str::as_bytes), "{base:?} {now:?} {then:?}");
        let swapped = merge(base.as_bytes(), then.as_bytes(), now.as_bytes());
        assert_eq!(swapped.ok(), ours.clone().ok(), "the sides swapped");
    }

    // WSP-4
    #[test]
    fn edits_on_both_sides_are_merged_unless_they_touch() {
        check("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", Some("A\nb\nC\n"));
        check("a\nb\nc\n", "A\nb\nc\n", "A\nb\nc\n", Some("A\nb\nc\n"));
        check("a\nb\nc\n", "A\nb\nc\n", "B\nb\nc\n", None);
        check("a\nb\nc\n", "a\nb\nc\n", "", Some(""));
        check("a\nb\n", "a\nB\n", "", None);
        check("", "a\n", "b\n", None);
        check("", "a\n", "a\n", Some("a\n"));
        check("a\nb\nc\nd\n", "x\na\nb\nc\nd\n", "a\nb\nc\nd\ny", Some("x\na\nb\nc\nd\ny"));
    }

    // WSP-4: git's own merge is the oracle.
    #[test]
    fn what_merges_cleanly_is_what_git_merges() {
        let repo = Repo::empty();
        let mut state = 88_172_645_463_325_252_u64;
        let mut dice = move |bound: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % bound
        };
        let mut clean = 0;
        for case in 0..80 {
            let base: Vec<String> = (0..30).map(|line| format!("line {line}\n")).collect();
            let mut side = || {
                let mut lines = base.clone();
                for _ in 0..=dice(2) {
                    let at = dice(29) as usize;
                    match dice(3) {
                        0 => drop(lines.remove(at.min(lines.len() - 1))),
                        1 => lines.insert(at.min(lines.len()), format!("new {}\n", dice(2))),
                        _ => lines[at.min(25)] = format!("changed {}\n", dice(2)),
                    }
                }
                lines.concat()
            };
            let (now, then) = (side(), side());
            for (name, text) in [("base", &base.concat()), ("now", &now), ("then", &then)] {
                repo.write(name, text);
            }
            let theirs = repo.try_git(&repo.root(), &["merge-file", "-p", "now", "base", "then"]);
            let ours = merge(base.concat().as_bytes(), now.as_bytes(), then.as_bytes());
            assert_eq!(ours.is_ok(), theirs.status.success(), "case {case}\n{now}\n{then}");
            if let Ok(ours) = ours {
                assert_eq!(
                    String::from_utf8(ours),
                    String::from_utf8(theirs.stdout),
                    "case {case}"
                );
                clean += 1;
            }
        }
        assert!(clean > 20, "only {clean} merged cleanly");
    }
}
