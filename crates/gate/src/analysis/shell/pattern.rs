//! Shell patterns against known text, as `${x#pattern}` and `${x/pattern/…}` need them.

/// Whether a pattern of `*`, `?` and `[…]` matches the whole text. Work is bounded by the product
/// of the lengths: the last `*` alone is ever retried.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let step = text.get(t).and_then(|c| one(&pattern, p, *c));
        if pattern.get(p) == Some(&'*') {
            retry = Some((p, t));
            p += 1;
        } else if let Some(next) = step {
            p = next;
            t += 1;
        } else if let Some((star, from)) = retry {
            p = star + 1;
            t = from + 1;
            retry = Some((star, from + 1));
        } else {
            return false;
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// Matches one character at `p`; the place in the pattern behind it.
fn one(pattern: &[char], p: usize, c: char) -> Option<usize> {
    match pattern.get(p)? {
        '*' => None,
        '?' => Some(p + 1),
        '\\' => (pattern.get(p + 1) == Some(&c)).then_some(p + 2),
        '[' => bracket(pattern, p, c),
        literal => (*literal == c).then_some(p + 1),
    }
}

fn bracket(pattern: &[char], p: usize, c: char) -> Option<usize> {
    let mut at = p + 1;
    let negated = matches!(pattern.get(at), Some('!' | '^'));
    if negated {
        at += 1;
    }
    let mut hit = false;
    let mut first = true;
    loop {
        let low = *pattern.get(at)?;
        if low == ']' && !first {
            return (hit != negated).then_some(at + 1);
        }
        first = false;
        if pattern.get(at + 1) == Some(&'-') && pattern.get(at + 2).is_some_and(|c| *c != ']') {
            let high = *pattern.get(at + 2)?;
            hit |= (low..=high).contains(&c);
            at += 3;
        } else {
            hit |= low == c;
            at += 1;
        }
    }
}

/// The byte lengths of all prefixes of `text`, shortest first.
fn cuts(text: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len()))
}

/// `${x#pattern}` and `${x##pattern}`.
#[must_use]
pub fn trim_start(text: &str, pattern: &str, longest: bool) -> String {
    let fits = |cut: &usize| text.get(..*cut).is_some_and(|head| matches(pattern, head));
    let cut = if longest { cuts(text).rev().find(fits) } else { cuts(text).find(fits) };
    cut.and_then(|cut| text.get(cut..)).unwrap_or(text).to_owned()
}

/// `${x%pattern}` and `${x%%pattern}`.
#[must_use]
pub fn trim_end(text: &str, pattern: &str, longest: bool) -> String {
    let fits = |cut: &usize| text.get(*cut..).is_some_and(|tail| matches(pattern, tail));
    let cut = if longest { cuts(text).find(fits) } else { cuts(text).rev().find(fits) };
    cut.and_then(|cut| text.get(..cut)).unwrap_or(text).to_owned()
}

/// In longer texts patterns are not searched for: every place and every length would be tried.
pub const MAX_SEARCHED: usize = 256;

/// `${x/pattern/with}` and `${x//pattern/with}`.
#[must_use]
pub fn replace(text: &str, pattern: &str, with: &str, all: bool) -> String {
    let (pattern, anchor) = match pattern.chars().next() {
        Some(c @ ('#' | '%')) if !all => (pattern.get(1..).unwrap_or(""), Some(c)),
        _ => (pattern, None),
    };
    if pattern.is_empty() {
        return text.to_owned();
    }
    if anchor.is_none() && !pattern.contains(['*', '?', '[', '\\']) {
        return if all { text.replace(pattern, with) } else { text.replacen(pattern, with, 1) };
    }
    if text.len() > MAX_SEARCHED {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    let mut left = if all { usize::MAX } else { 1 };
    while !rest.is_empty() {
        let fits = |cut: &usize| {
            *cut > 0
                && rest.get(..*cut).is_some_and(|head| matches(pattern, head))
                && (anchor != Some('%') || *cut == rest.len())
        };
        let found = if left > 0 { cuts(rest).rev().find(fits) } else { None };
        if let Some(cut) = found {
            out.push_str(with);
            rest = rest.get(cut..).unwrap_or("");
            left -= 1;
        } else if anchor == Some('#') || left == 0 {
            break;
        } else if let Some(c) = rest.chars().next() {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or("");
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_bash_matches() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("?", "x", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("*.tar.*", "x.tar.gz", true),
            ("a**b", "ab", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn trims_and_replacements_do_what_bash_does() {
        assert_eq!(trim_start("a/b/c", "*/", false), "b/c");
        assert_eq!(trim_start("a/b/c", "*/", true), "c");
        assert_eq!(trim_end("x.tar.gz", ".*", false), "x.tar");
        assert_eq!(trim_end("x.tar.gz", ".*", true), "x");
        assert_eq!(replace("xmx", "x", "r", true), "rmr");
        assert_eq!(replace("xmx", "x", "r", false), "rmx");
        assert_eq!(replace("xm", "%m", "n", false), "xn");
    }
}
