//! The judged text with one range underlined, safe for any terminal and never longer than a screen.

use aurora_model::Span;

use super::escape;

/// A line of text and the carets under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What stands before the text (a line number, when there are several lines).
    pub gutter: String,
    /// The text, made harmless.
    pub text: String,
    /// Spaces up to the carets.
    pub indent: usize,
    /// How many carets.
    pub carets: usize,
}

const MAX_ROWS: usize = 6;
/// How much is shown before the underlined part of a line that is too long.
const LEAD_COLUMNS: usize = 24;

/// The rows of `text` that `span` touches, and how many more it touches that are not shown.
#[must_use]
pub fn rows(text: &str, span: Span, width: usize) -> (Vec<Row>, usize) {
    let start = floor_boundary(text, span.start);
    let end = floor_boundary(text, span.end).max(start);
    let several = text.trim_end_matches('\n').contains('\n');
    let mut rows = Vec::new();
    let mut unseen = 0;
    let mut line_start = 0;
    for (index, line) in text.split('\n').enumerate() {
        let line_end = line_start + line.len();
        // An empty range still points at the line that it is in.
        let touches = start <= line_end && (end > line_start || start >= line_start);
        // A line break alone is nothing to underline, except as the whole range.
        let only_break = start == line_end && end > line_end;
        if touches && !only_break {
            if rows.len() < MAX_ROWS {
                let from = start.max(line_start) - line_start;
                let to = end.min(line_end).saturating_sub(line_start).max(from);
                let gutter = if several { format!("{} | ", index + 1) } else { String::new() };
                let room = width.saturating_sub(gutter.len()).max(20);
                rows.push(row(line, from, to, gutter, room));
            } else {
                unseen += 1;
            }
        }
        line_start = line_end + 1;
        if line_start > end.max(start) {
            break;
        }
    }
    (rows, unseen)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One character as it is shown.
struct Cell {
    shown: String,
    width: usize,
    inside: bool,
}

fn row(line: &str, from: usize, to: usize, gutter: String, room: usize) -> Row {
    // A line of a megabyte is not turned into cells as a whole: a screenful around the range is.
    let first = floor_boundary(line, from.saturating_sub(room * 4));
    let last = floor_boundary(line, from.saturating_add(room * 8));
    let part = line.get(first..last).unwrap_or_default();
    let cells: Vec<Cell> = part
        .char_indices()
        .map(|(at, c)| {
            let at = first + at;
            let (shown, width) = if c == '\t' {
                ("    ".to_owned(), 4)
            } else if escape::is_hidden(c) {
                let mut shown = String::new();
                escape::push(&mut shown, c);
                let width = shown.len();
                (shown, width)
            } else {
                (c.to_string(), escape::width(c))
            };
            Cell { shown, width, inside: at >= from && at < to }
        })
        .collect();
    clip(&cells, first > 0, last < line.len(), gutter, room)
}

fn clip(cells: &[Cell], cut_before: bool, cut_after: bool, gutter: String, room: usize) -> Row {
    let total: usize = cells.iter().map(|cell| cell.width).sum();
    let before: usize = cells.iter().take_while(|cell| !cell.inside).map(|cell| cell.width).sum();
    let fits = total <= room && !cut_before && !cut_after;
    let skip = if fits || before <= LEAD_COLUMNS { 0 } else { before - LEAD_COLUMNS };
    let mut out = Row { gutter, text: String::new(), indent: 0, carets: 0 };
    let mut column = 0;
    let mut used = 0;
    let mut clipped_after = cut_after;
    if skip > 0 || cut_before {
        out.text.push('…');
        out.indent += 1;
        used += 1;
    }
    for cell in cells {
        column += cell.width;
        if column <= skip {
            continue;
        }
        if !fits && used + cell.width + 1 > room {
            clipped_after = true;
            break;
        }
        used += cell.width;
        out.text.push_str(&cell.shown);
        if cell.inside {
            out.carets += cell.width;
        } else if out.carets == 0 {
            out.indent += cell.width;
        }
    }
    if clipped_after {
        out.text.push('…');
    }
    if out.carets == 0 {
        out.carets = 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, span: (usize, usize), expected: &str) {
        let (rows, unseen) = rows(text, Span::new(span.0, span.1), 60);
        let mut shown = String::new();
        for row in rows {
            shown.push_str(&format!(
                "{}{}\n{}{}\n",
                row.gutter,
                row.text,
                " ".repeat(row.gutter.len() + row.indent),
                "^".repeat(row.carets)
            ));
        }
        if unseen > 0 {
            shown.push_str(&format!("+{unseen}\n"));
        }
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn the_range_is_underlined() {
        check("ls; rm -rf x", (4, 12), "ls; rm -rf x\n    ^^^^^^^^\n");
        check("ls", (0, 2), "ls\n^^\n");
        check("", (0, 0), "\n^\n");
        check("ls", (2, 2), "ls\n  ^\n");
    }

    #[test]
    fn tabs_wide_and_hidden_characters_keep_the_carets_in_place() {
        check("\trm x", (1, 5), "    rm x\n    ^^^^\n");
        check("echo 漢字; rm x", (13, 17), "echo 漢字; rm x\n           ^^^^\n");
        check("a\u{1b}[31m; rm", (8, 10), "a\\x1b[31m; rm\n           ^^\n");
        check("e\u{301}; rm", (5, 7), "e\u{301}; rm\n   ^^\n");
    }

    #[test]
    fn several_lines_are_numbered_and_only_touched_ones_are_shown() {
        check("a\nrm x\nb", (2, 6), "2 | rm x\n    ^^^^\n");
        check("a\nrm \\\n x\nb", (2, 9), "2 | rm \\\n    ^^^^\n3 |  x\n    ^^\n");
        let many = "x\n".repeat(10);
        check(
            &many,
            (0, 20),
            &("1 | x\n    ^\n2 | x\n    ^\n3 | x\n    ^\n4 | x\n    ^\n5 | x\n    ^\n6 | x\n    ^\n"
                .to_owned() + "+4\n"),
        );
    }

    #[test]
    fn a_range_outside_the_text_or_inside_a_character_is_harmless() {
        check("ls", (50, 90), "ls\n  ^\n");
        check("é", (1, 2), "é\n^\n");
        check("ls", (2, 1), "ls\n  ^\n");
    }

    #[test]
    fn a_long_line_is_cut_around_the_range() {
        let text = format!("{}; rm x{}", "a".repeat(1_000_000), "b".repeat(1_000_000));
        let (rows, _) = rows(&text, Span::new(1_000_002, 1_000_006), 60);
        let row = &rows[0];
        assert!(row.text.chars().count() <= 60, "{}", row.text);
        assert!(row.text.starts_with('…') && row.text.ends_with('…'));
        let under: String = row.text.chars().skip(row.indent).take(row.carets).collect();
        assert_eq!(under, "rm x");
    }
}
