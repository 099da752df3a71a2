//! The lines that differ between two texts, as hunks in git's format.

use std::io::Write as _;
use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// How many unchanged lines are shown around a change.
const CONTEXT: u32 = 3;
/// How many bytes of a line are shown as the heading of a hunk.
const HEADING_BYTES: usize = 80;

/// How many lines differ between two texts: added, removed.
pub(super) fn count(before: &[u8], after: &[u8]) -> (u64, u64) {
    let input = InternedInput::new(before, after);
    let diff = Diff::compute(Algorithm::Myers, &input);
    (diff.count_additions().into(), diff.count_removals().into())
}

/// The ranges of lines that differ, where git's own diff would put them.
pub(crate) fn changed(before: &[u8], after: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let input = InternedInput::new(before, after);
    let wide = |range: &Range<u32>| range.start as usize..range.end as usize;
    let hunks = compute(&input);
    hunks.iter().map(|hunk| (wide(&hunk.before), wide(&hunk.after))).collect()
}

/// A text's lines, each with its newline.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Writes the hunks that lead from one text to the other; nothing when they are the same.
pub(super) fn write_hunks(before: &[u8], after: &[u8], out: &mut Vec<u8>) {
    if before.is_empty() || after.is_empty() {
        write_whole(before, after, out);
        return;
    }
    let input = InternedInput::new(before, after);
    let hunks = compute(&input);
    let mut heading = Heading::default();
    let near = |one: &Hunk, next: &Hunk| next.before.start - one.before.end <= 2 * CONTEXT;
    for group in hunks.chunk_by(near) {
        write_group(&input, group, &mut heading, out);
    }
}

fn compute(input: &InternedInput<&[u8]>) -> Vec<Hunk> {
    let mut diff = Diff::compute(Algorithm::Myers, input);
    diff.postprocess_lines(input);
    diff.hunks().collect()
}

/// All lines of one side, where the other has none: nothing needs to be compared.
fn write_whole(before: &[u8], after: &[u8], out: &mut Vec<u8>) {
    let (removed, added) = (lines(before).count() as u32, lines(after).count() as u32);
    if removed == 0 && added == 0 {
        return;
    }
    write_header(&(0..removed), &(0..added), &[], out);
    for line in lines(before) {
        write_line(b'-', line, out);
    }
    for line in lines(after) {
        write_line(b'+', line, out);
    }
}

/// Writes changes that are near each other as one hunk.
fn write_group(
    input: &InternedInput<&[u8]>,
    group: &[Hunk],
    heading: &mut Heading,
    out: &mut Vec<u8>,
) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let old_start = first.before.start.saturating_sub(CONTEXT);
    let new_start = first.after.start.saturating_sub(CONTEXT);
    let old_left = (input.before.len() as u32).saturating_sub(last.before.end);
    let new_left = (input.after.len() as u32).saturating_sub(last.after.end);
    let tail = CONTEXT.min(old_left).min(new_left);
    let old = old_start..last.before.end + tail;
    let new = new_start..last.after.end + tail;
    heading.look_up_from(input, old_start);
    write_header(&old, &new, &heading.text, out);
    let mut at = old_start;
    for hunk in group {
        write_lines(b' ', input, Side::Before, at..hunk.before.start, out);
        write_lines(b'-', input, Side::Before, hunk.before.clone(), out);
        write_lines(b'+', input, Side::After, hunk.after.clone(), out);
        at = hunk.before.end;
    }
    write_lines(b' ', input, Side::Before, at..old.end, out);
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

fn write_lines(
    mark: u8,
    input: &InternedInput<&[u8]>,
    side: Side,
    range: Range<u32>,
    out: &mut Vec<u8>,
) {
    let tokens = match side {
        Side::Before => &input.before,
        Side::After => &input.after,
    };
    let range = range.start as usize..range.end as usize;
    for token in tokens.get(range).unwrap_or_default() {
        write_line(mark, input.interner[*token], out);
    }
}

fn write_line(mark: u8, line: &[u8], out: &mut Vec<u8>) {
    out.push(mark);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

fn write_header(old: &Range<u32>, new: &Range<u32>, heading: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"@@ -");
    write_range(old, out);
    out.extend_from_slice(b" +");
    write_range(new, out);
    out.extend_from_slice(b" @@");
    if !heading.is_empty() {
        out.push(b' ');
        out.extend_from_slice(heading);
    }
    out.push(b'\n');
}

/// Lines count from one; an empty range is named by the line before it, a single line needs no count.
fn write_range(range: &Range<u32>, out: &mut Vec<u8>) {
    let start = if range.is_empty() { range.start } else { range.start + 1 };
    // Writing into memory cannot fail.
    let _ = match range.len() {
        1 => write!(out, "{start}"),
        count => write!(out, "{start},{count}"),
    };
}

/// What is shown behind a hunk's numbers: the last line above it that looks like a function's first.
#[derive(Default)]
struct Heading {
    text: Vec<u8>,
    looked_to: u32,
}

impl Heading {
    /// Looks upward from a line to where it was looked from before; without a find the old one stays.
    fn look_up_from(&mut self, input: &InternedInput<&[u8]>, line: u32) {
        let above = self.looked_to as usize..line as usize;
        self.looked_to = line;
        let tokens = input.before.get(above).unwrap_or_default();
        let found = tokens.iter().rev().find_map(|token| heading_of(input.interner[*token]));
        if let Some(text) = found {
            self.text = text.to_vec();
        }
    }
}

fn heading_of(line: &[u8]) -> Option<&[u8]> {
    let first = *line.first()?;
    if !(first.is_ascii_alphabetic() || first == b'_' || first == b'$') {
        return None;
    }
    let line = line.get(..HEADING_BYTES).unwrap_or(line);
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let end = line.iter().rposition(|byte| !blank(byte)).map_or(0, |at| at + 1);
    Some(sound_utf8(line.get(..end).unwrap_or_default()))
}

/// Git ends a heading where it stops being UTF-8, which it may do by having been cut.
fn sound_utf8(text: &[u8]) -> &[u8] {
    let sound = match std::str::from_utf8(text) {
        Ok(_) => text,
        Err(error) => text.get(..error.valid_up_to()).unwrap_or_default(),
    };
    // U+FFFE and U+FFFF are no characters to git.
    let odd = |three: &[u8]| matches!(three, [0xef, 0xbf, 0xbe | 0xbf]);
    let end = sound.windows(3).position(odd).unwrap_or(sound.len());
    sound.get(..end).unwrap_or_default()
}
