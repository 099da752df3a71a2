//! Makes hostile text harmless for a terminal: what cannot be seen is written out.

use std::fmt::Write as _;

use aurora_model::RepoPath;

/// Whether a character would act on the terminal, or hide or reorder text.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x180E | 0x3164 | 0xFEFF | 0xFFA0
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
            | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
}

/// Appends a character, written out when it is hidden.
pub fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if !is_hidden(c) => out.push(c),
        // Writing to a string cannot fail.
        c if u32::from(c) < 0x100 => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// The text as one harmless line.
#[must_use]
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut out, c));
    out
}

/// A path as one harmless line: as git writes it, and what hides or reorders text written out too.
#[must_use]
pub fn path(path: &RepoPath) -> String {
    line(&path.to_string())
}

/// The text with its line breaks kept and everything else made harmless.
#[must_use]
pub fn lines(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// How many columns of a terminal a character that is not hidden takes.
#[must_use]
pub fn width(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36F
        | 0x483..=0x489
        | 0x591..=0x5BD
        | 0x610..=0x61A
        | 0x64B..=0x65F
        | 0x1AB0..=0x1AFF
        | 0x1DC0..=0x1DFF
        | 0x20D0..=0x20FF
        | 0xFE00..=0xFE0F
        | 0xFE20..=0xFE2F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF01..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(line(text), expected);
    }

    #[test]
    fn what_a_terminal_would_act_on_is_written_out() {
        check("git status", "git status");
        check("\u{1b}[2Jls", "\\x1b[2Jls");
        check("a\u{9b}31m", "a\\x9b31m");
        check("rm \u{202e}txt.a", "rm \\u{202e}txt.a");
        check("pass\u{200b}word", "pass\\u{200b}word");
        check("a\0b\r\n\tc\u{7f}", "a\\x00b\\r\\n\\tc\\x7f");
        check("größe 漢字 é", "größe 漢字 é");
        check("tag\u{e0041}", "tag\\u{e0041}");
        assert_eq!(lines("a\u{1b}\nb"), "a\\x1b\nb");
    }
}
