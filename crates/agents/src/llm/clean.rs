//! Text of a model for people: without what would steer a terminal or hide something.

/// A text without control characters and escape sequences; lines stay lines.
pub fn text(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => rest = after_escape(rest),
            '\n' | '\t' => clean.push(c),
            c if c.is_control() || hides(c) => {}
            c => clean.push(c),
        }
    }
    clean
}

/// A text as one line of at most so many characters, with single spaces.
pub fn line(of: &str, max_chars: usize) -> String {
    // No more is cleaned than could be shown, however long the text is.
    let head: String = of.chars().take(max_chars.saturating_mul(8)).collect();
    let clean = text(&head);
    let mut line = String::new();
    for word in clean.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.chars().count() <= max_chars {
        return line;
    }
    let mut cut: String = line.chars().take(max_chars.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Characters that reverse the order of text or take no room in it.
fn hides(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// What follows an escape sequence. One that does not end takes only its first character with it,
/// so that it cannot swallow the text.
fn after_escape(rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            let mut sequence = ahead.clone();
            match sequence.find(|c| !matches!(c, '\u{20}'..='\u{3f}')) {
                Some('\u{40}'..='\u{7e}') => sequence,
                _ => ahead,
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut sequence = ahead.clone();
            while let Some(c) = sequence.next() {
                match c {
                    '\u{7}' => return sequence,
                    '\u{1b}' if sequence.as_str().starts_with('\\') => {
                        sequence.next();
                        return sequence;
                    }
                    '\n' => break,
                    _ => {}
                }
            }
            ahead
        }
        Some('\u{20}'..='\u{7e}') => ahead,
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_stays() {
        let check = |input: &str, expected: &str| assert_eq!(text(input), expected, "{input:?}");
        check("plain\n\ttext ä", "plain\n\ttext ä");
        check("a\u{1b}[31mred\u{1b}[0m", "ared");
        check("a\u{1b}]0;title\u{7}b\u{1b}]8;;http://x\u{1b}\\c", "abc");
        check("a\u{1b}]no end\nb", "ano end\nb");
        check("a\u{1b}[", "a");
        check("a\u{1b}", "a");
        check("a\r\u{8}\0\u{9b}b", "ab");
        check("ab\u{202e}cd\u{200b}\u{feff}", "abcd");
        check("\u{1b}c\u{1b}\u{1b}[2Jx", "x");
    }

    #[test]
    fn a_line_has_single_spaces_and_a_length() {
        assert_eq!(line(" a\n b\t\tc ", 20), "a b c");
        assert_eq!(line("abcdef", 4), "abc…");
        assert_eq!(line("", 4), "");
    }
}
