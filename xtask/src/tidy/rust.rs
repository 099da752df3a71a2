//! Reads Rust source just far enough: what is code, what is a test, where functions end.

use super::{File, Finding};

/// Every file says on its first line what it is for.
pub fn opening(file: &File) -> Option<Finding> {
    let first = file.text.lines().next().unwrap_or_default();
    let says = first.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty());
    (!says).then(|| {
        Finding::new(&file.path, 1, "no `//!` on the first line", "say what the file is for")
    })
}

/// The text with comments and literals blanked out; lines and columns stay where they are.
pub fn code(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(here) = chars.get(at) {
        let end = skipped(&chars, at);
        if end > at {
            blank(&mut out, chars.get(at..end).unwrap_or_default());
            at = end;
        } else {
            out.push(*here);
            at += 1;
        }
    }
    out
}

fn blank(out: &mut String, chars: &[char]) {
    out.extend(chars.iter().map(|char| if *char == '\n' { '\n' } else { ' ' }));
}

/// Where the comment or literal that starts here ends; `at` itself when none starts here.
fn skipped(chars: &[char], at: usize) -> usize {
    let get = |index: usize| chars.get(index).copied().unwrap_or('\0');
    match (get(at), get(at + 1)) {
        ('/', '/') => until(chars, at, |index| get(index) == '\n'),
        ('/', '*') => block_comment(chars, at),
        ('"', _) => quoted(chars, at + 1, '"'),
        ('r' | 'b' | 'c', _) if at == 0 || !is_word(get(at - 1)) => prefixed(chars, at),
        ('\'', '\\') => quoted(chars, at + 1, '\''),
        ('\'', _) if get(at + 2) == '\'' => at + 3,
        _ => at,
    }
}

fn until(chars: &[char], from: usize, stop: impl Fn(usize) -> bool) -> usize {
    (from..chars.len()).find(|index| stop(*index)).unwrap_or(chars.len())
}

fn block_comment(chars: &[char], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut index = at;
    while index < chars.len() {
        match (chars.get(index), chars.get(index + 1)) {
            (Some('/'), Some('*')) => depth += 1,
            (Some('*'), Some('/')) => depth = depth.saturating_sub(1),
            _ => {
                index += 1;
                continue;
            }
        }
        index += 2;
        if depth == 0 {
            return index;
        }
    }
    chars.len()
}

/// One past the closing quote, with backslashes taking the next character along.
fn quoted(chars: &[char], from: usize, quote: char) -> usize {
    let mut index = from;
    while let Some(char) = chars.get(index) {
        index += match *char {
            '\\' => 2,
            char if char == quote => return index + 1,
            _ => 1,
        };
    }
    chars.len()
}

/// A literal with letters before it: `r"…"`, `br#"…"#`, `b'x'`, `c"…"`.
fn prefixed(chars: &[char], at: usize) -> usize {
    let letters = until(chars, at, |index| !matches!(chars.get(index), Some('r' | 'b' | 'c')));
    let raw = chars.get(at..letters).is_some_and(|prefix| prefix.contains(&'r'));
    let hashes = until(chars, letters, |index| chars.get(index) != Some(&'#'));
    match chars.get(hashes) {
        Some('"') if raw => {
            let count = hashes - letters;
            let closes = |index: usize| {
                chars.get(index) == Some(&'"')
                    && (1..=count).all(|offset| chars.get(index + offset) == Some(&'#'))
            };
            (until(chars, hashes + 1, closes) + 1 + count).min(chars.len())
        }
        Some('"') if hashes == letters => quoted(chars, letters + 1, '"'),
        Some('\'') if letters == at + 1 && chars.get(at) == Some(&'b') => {
            quoted(chars, letters + 1, '\'')
        }
        _ => at,
    }
}

/// Whether a character can be part of a name.
pub fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Which lines belong to tests, from line one on.
pub fn test_lines(path: &str, code: &str) -> Vec<bool> {
    let whole = path.ends_with("/tests.rs") || path.contains("/tests/");
    let mut lines = vec![whole; code.lines().count()];
    for (start, _) in code.match_indices("#[cfg(test)]") {
        let Some(end) = item_end(code, start) else { continue };
        let first = line_of(code, start);
        for line in first..=line_of(code, end) {
            if let Some(is_test) = lines.get_mut(line - 1) {
                *is_test = true;
            }
        }
    }
    lines
}

/// The line, from one, of a byte.
pub fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The last byte of the item that starts at `start`: its `;`, or the brace that closes it.
fn item_end(code: &str, start: usize) -> Option<usize> {
    let (mut braces, mut others) = (0_usize, 0_usize);
    for (at, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'{' => braces += 1,
            b'}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return Some(at);
                }
            }
            b'(' | b'[' => others += 1,
            b')' | b']' => others = others.saturating_sub(1),
            b';' if braces == 0 && others == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// A function and the lines it takes.
#[derive(Debug, PartialEq, Eq)]
pub struct Function<'c> {
    /// Its name.
    pub name: &'c str,
    /// The line of its `fn`.
    pub line: usize,
    /// How many lines there are up to the closing brace.
    pub lines: usize,
}

/// Every function of a file's code.
pub fn functions(code: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code.get(..at).and_then(|text| text.chars().next_back());
        let after = code.get(at + 3..).unwrap_or_default();
        let name = after.split(|char| !is_word(char)).next().unwrap_or_default();
        if name.is_empty() || before.is_some_and(is_word) {
            continue;
        }
        let Some(end) = item_end(code, at) else { continue };
        let line = line_of(code, at);
        found.push(Function { name, line, lines: line_of(code, end) + 1 - line });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let check = |text: &str, expected: &str| assert_eq!(code(text), expected, "{text}");
        check("a // b\nc", "a     \nc");
        check("a /* b /* c */ d */ e", "a                   e");
        check(r#"f("x // y", 'z')"#, r"f(        ,    )");
        check(r#"f("a\"b") + g"#, "f(      ) + g");
        check("r#\"a\"b\"# c", "         c");
        check(r#"b"a" br"c" d"#, "           d");
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check(r"'\'' + '\u{7f}' x", "     +          x");
        check("rb = 1; car", "rb = 1; car");
        check("\"a\nb\" c", "  \n   c");
        check("b'x' y", "     y");
        check("/* never closed", "               ");
    }

    #[test]
    fn test_modules_and_test_files_are_known() {
        let check = |path: &str, code: &str, expected: &[bool]| {
            assert_eq!(test_lines(path, code), expected, "{path} {code}");
        };
        check("a.rs", "x\n#[cfg(test)]\nmod tests {\n}\ny", &[false, true, true, true, false]);
        check("a.rs", "#[cfg(test)]\nmod tests;\ny", &[true, true, false]);
        check("crates/a/src/b/tests.rs", "x\ny", &[true, true]);
        check("crates/a/tests/b.rs", "x", &[true]);
        check("crates/a/src/contests.rs", "x", &[false]);
    }

    #[test]
    fn functions_are_measured_from_name_to_closing_brace() {
        let found = functions("pub fn a(x: [u8; 2]) -> u8 {\n  {1}\n}\ntrait T { fn b(); }\nifn c");
        let measured: Vec<_> = found.iter().map(|one| (one.name, one.line, one.lines)).collect();
        assert_eq!(measured, [("a", 1, 3), ("b", 4, 1)]);
    }

    #[test]
    fn a_file_without_an_opening_sentence_is_found() {
        let check = |text: &str, expected: bool| {
            let file = File { path: "a.rs".into(), text: text.into() };
            assert_eq!(opening(&file).is_some(), expected, "{text}");
        };
        check("//! What it is for.\n", false);
        check("use std;\n//! Too late.\n", true);
        check("//!\n", true);
        check("", true);
    }
}
