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
}
