//! Paragraphs broken into lines that fit.

use super::escape;

/// The text with its words on lines of at most `width` columns; its own line breaks stay.
#[must_use]
pub fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let mut used = 0;
        for word in line.split_whitespace() {
            let long: usize = word.chars().map(escape::width).sum();
            if used > 0 && used + 1 + long > width {
                out.push('\n');
                used = 0;
            } else if used > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += long;
        }
    }
    out
}

/// One line below `lead`, broken at single spaces where it is too long; what follows a break stands
/// two columns further in. Spaces that stand together elsewhere are kept: they may be quoted.
#[must_use]
pub fn hang(lead: &str, text: &str, width: usize) -> String {
    let mut out = lead.to_owned();
    let mut used = lead.len();
    let mut at_start = true;
    for word in text.split(' ') {
        let long: usize = word.chars().map(escape::width).sum();
        if at_start {
            at_start = false;
        } else if used + 1 + long > width {
            out.push_str(&format!("\n{lead}  "));
            used = lead.len() + 2;
        } else {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += long;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_line_breaks_stay() {
        assert_eq!(wrap("one two three", 7), "one two\nthree");
        assert_eq!(wrap("one\n\ntwo", 7), "one\n\ntwo");
        assert_eq!(wrap("incomprehensible", 7), "incomprehensible");
        assert_eq!(wrap("", 7), "");
    }
    #[test]
    fn what_follows_a_break_stands_further_in() {
        let check = |text: &str, expected: &str| assert_eq!(hang("  ", text, 12), expected);
        check("one two", "  one two\n");
        check("one two three four", "  one two\n    three\n    four\n");
        check("a  b", "  a  b\n");
        check("incomprehensible", "  incomprehensible\n");
        check("an incomprehensible", "  an\n    incomprehensible\n");
        check("漢字 漢字漢", "  漢字\n    漢字漢\n");
        check("", "  \n");
    }
}
