//! What the text programs compute, on constants.

/// Backslash escapes as `echo -e` and `printf` read them.
pub fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(letter) = chars.next() else {
            out.push('\\');
            break;
        };
        match letter {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'e' | 'E' => out.push('\u{1b}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            'c' => break,
            '\\' => out.push('\\'),
            '"' => out.push('"'),
            '\'' => out.push('\''),
            'x' => push_number(&mut out, &mut chars, 16, 2, 'x'),
            'u' => push_number(&mut out, &mut chars, 16, 4, 'u'),
            'U' => push_number(&mut out, &mut chars, 16, 8, 'U'),
            '0' => push_number(&mut out, &mut chars, 8, 3, '0'),
            '1'..='7' => {
                let mut value = letter.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                out.push(char::from_u32(value).unwrap_or('\u{FFFD}'));
            }
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}

fn push_number(
    out: &mut String,
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    most: usize,
    letter: char,
) {
    let mut value = 0;
    let mut count = 0;
    while count < most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value * radix + digit;
        count += 1;
        chars.next();
    }
    if count == 0 && letter != '0' {
        out.push('\\');
        out.push(letter);
        return;
    }
    out.push(char::from_u32(value).unwrap_or('\u{FFFD}'));
}

/// What `printf` prints: the format is used again until every value was.
pub fn printf(format: &str, values: &[String]) -> String {
    let mut out = String::new();
    let mut next = 0;
    loop {
        let before = next;
        once(format, values, &mut next, &mut out);
        if next >= values.len() || next == before || out.len() > 65_536 {
            return out;
        }
    }
}

fn once(format: &str, values: &[String], next: &mut usize, out: &mut String) {
    let mut literal = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' {
            literal.push(c);
            literal.extend(chars.next());
            continue;
        }
        if c != '%' {
            literal.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            literal.push('%');
            continue;
        }
        out.push_str(&unescape(&std::mem::take(&mut literal)));
        while chars.peek().is_some_and(|c| !c.is_ascii_alphabetic()) {
            chars.next();
        }
        let value = values.get(*next).map_or("", String::as_str);
        *next += 1;
        match chars.next() {
            Some('b') => out.push_str(&unescape(value)),
            Some('c') => out.extend(value.chars().next()),
            Some('d' | 'i' | 'u') if value.is_empty() => out.push('0'),
            _ => out.push_str(value),
        }
    }
    out.push_str(&unescape(&literal));
}

/// Base64 of bytes.
pub fn encode_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = 0_u32;
        for index in 0..3 {
            group = (group << 8) | u32::from(chunk.get(index).copied().unwrap_or(0));
        }
        for index in 0..4_usize {
            let at = (group >> (18 - 6 * index)) & 63;
            let letter = usize::try_from(at).ok().and_then(|at| LETTERS.get(at));
            let shown = if index <= chunk.len() { letter.copied().unwrap_or(b'=') } else { b'=' };
            out.push(char::from(shown));
        }
    }
    out
}

/// The characters of a set of `tr`; nothing when it is not understood.
fn set(text: &str) -> Option<Vec<char>> {
    let expanded = text
        .replace("[:upper:]", "A-Z")
        .replace("[:lower:]", "a-z")
        .replace("[:digit:]", "0-9")
        .replace("[:alpha:]", "A-Za-z")
        .replace("[:space:]", " \\t\\n\\r")
        .replace("[:blank:]", " \\t");
    if expanded.contains("[:") || expanded.contains("[=") {
        return None;
    }
    let chars: Vec<char> = unescape(&expanded).chars().collect();
    let mut out = Vec::new();
    let mut index = 0;
    while let Some(&first) = chars.get(index) {
        if let (Some('-'), Some(&last)) = (chars.get(index + 1), chars.get(index + 2)) {
            out.extend(first..=last);
            index += 3;
        } else {
            out.push(first);
            index += 1;
        }
    }
    Some(out)
}

/// `tr -d SET`.
pub fn delete_chars(text: &str, chars: &str) -> Option<String> {
    let chars = set(chars)?;
    Some(text.chars().filter(|c| !chars.contains(c)).collect())
}

/// `tr FROM TO`.
pub fn translate(text: &str, from: &str, to: &str) -> Option<String> {
    let (from, to) = (set(from)?, set(to)?);
    let last = *to.last()?;
    let one = |c: char| match from.iter().rposition(|own| *own == c) {
        Some(at) => to.get(at).copied().unwrap_or(last),
        None => c,
    };
    Some(text.chars().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_computed_as_the_programs_do() {
        assert_eq!(unescape("a\\tb\\x72m\\101\\0101\\c."), "a\tbrmAA");
        assert_eq!(printf("%s-%s\\n", &["a".into(), "b".into(), "c".into()]), "a-b\nc-\n");
        assert_eq!(printf("rm %s", &["-rf x".into()]), "rm -rf x");
        assert_eq!(printf("50%%", &[]), "50%");
        assert_eq!(encode_base64(b"rm -rf x"), "cm0gLXJmIHg=");
        assert_eq!(translate("ez -es k", "a-z", "n-za-m").as_deref(), Some("rm -rf x"));
        assert_eq!(translate("ABC", "[:upper:]", "[:lower:]").as_deref(), Some("abc"));
        assert_eq!(delete_chars("r\\m", "\\\\").as_deref(), Some("rm"));
    }
}
