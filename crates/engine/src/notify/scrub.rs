//! Makes a line safe to leave this machine: one line, no characters that hide or steer, no secrets
//! that can be told by their looks.

/// What a secret is put in place of.
const HIDDEN: &str = "[hidden]";

/// Beginnings of words that only secrets have.
const BEGINNINGS: [&str; 16] = [
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "whsec_",
    "AKIA",
    "AIza",
    "eyJ",
];

/// Words after which a secret comes.
const NAMES: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "authorization",
    "bearer",
];

/// The text as one line of at most so many characters, without what must not be in it.
pub(super) fn clean(text: &str, max: usize) -> String {
    let plain: String = text.chars().map(plain).collect();
    let mut out = String::new();
    let mut expected = false;
    for word in plain.split_inclusive([' ', '=', ':', '"', '\'', '/', '@', '&', '?', ',', ';']) {
        let end = word.char_indices().next_back().map_or(0, |(at, _)| at);
        let (bare, mark) = match word.chars().next_back() {
            Some(mark) if " =:\"'/@&?,;".contains(mark) => word.split_at(end),
            _ => (word, ""),
        };
        let lower = bare.to_ascii_lowercase();
        let schemes = ["basic", "bearer", "digest"];
        let looks = bare.len() >= 16 && BEGINNINGS.iter().any(|start| bare.starts_with(start));
        let is_value = expected && !bare.is_empty() && !schemes.contains(&lower.as_str());
        if looks || is_value {
            out.push_str(HIDDEN);
        } else {
            out.push_str(bare);
        }
        out.push_str(mark);
        let names_one = NAMES.iter().any(|name| lower.trim_start_matches('-').ends_with(name));
        let assigns = matches!(mark, "=" | ":") || lower == "bearer" || lower.starts_with("--");
        // Between a name and its value there may be nothing but marks.
        expected = (names_one && assigns) || (expected && (bare.is_empty() || !is_value));
    }
    let mut short: String = out.trim().chars().take(max).collect();
    if short.chars().count() < out.trim().chars().count() {
        short.push('…');
    }
    short
}

/// Characters that end lines, steer terminals, hide or reorder text become a space.
const fn plain(c: char) -> char {
    match c {
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    /// APR-9: what leaves this machine is one line, and known shapes of secrets are not in it.
    #[test]
    fn a_line_that_leaves_has_no_secrets_and_no_steering_characters() {
        for (text, expected) in [
            ("git push origin main", "git push origin main"),
            ("rm\r\nBcc: x@y", "rm  Bcc: x@y"),
            ("a\u{1b}[31mb\u{202e}c", "a [31mb c"),
            ("export TOKEN=abc123 && run", "export TOKEN=[hidden] && run"),
            ("curl --password hunter2 http://h/", "curl --password [hidden] http://h/"),
            (
                "curl -H 'Authorization: Bearer abc.def' x",
                "curl -H 'Authorization: Bearer [hidden]' x",
            ),
            ("DB_PASSWORD=\"hunter2\" make", "DB_PASSWORD=\"[hidden]\" make"),
            ("use sk-aaaaaaaaaaaaaaaaaaaaaaaa now", "use [hidden] now"),
            (
                "git clone https://ghp_abcdefghijklmnopqrst@github.com/x",
                "git clone https://[hidden]@github.com/x",
            ),
            (
                "delete token_store.rs and the secret garden",
                "delete token_store.rs and the secret garden",
            ),
        ] {
            assert_eq!(clean(text, 200), expected, "{text}");
        }
        assert_eq!(clean(&"x".repeat(300), 10), "xxxxxxxxxx…");
    }
}
