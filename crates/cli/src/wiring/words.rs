//! Arguments as a shell line, and a shell line as arguments, for lines that hold plain words only.

/// One argument, quoted when a shell would read it otherwise.
#[must_use]
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// All arguments as one line.
#[must_use]
pub fn join<S: AsRef<str>>(argv: &[S]) -> String {
    argv.iter().map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// The words of a line that was made by [`join`], or by a person who writes quotes in one of the
/// usual ways; nothing when a quote is open.
#[must_use]
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_way_through_a_line() {
        for argv in [
            vec!["git", "push", "--force"],
            vec!["a b", "", "it's", "$x", "\"q\"", "back\\slash", "täg"],
            vec!["/opt/my tools/aur", "hook", "claude-code"],
        ] {
            let line = join(&argv);
            assert_eq!(
                split(&line),
                Some(argv.iter().map(|s| (*s).to_owned()).collect()),
                "{line}"
            );
        }
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("a\\"), None);
        assert_eq!(split("  "), Some(Vec::new()));
        assert_eq!(join(&["git", "commit", "-m", "a b"]), "git commit -m 'a b'");
    }
}
