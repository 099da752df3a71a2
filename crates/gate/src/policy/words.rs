//! Patterns over the words of a command: certain, possible when a word is not known, or no match.

/// How far something matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// It does not.
    No,
    /// It does if a word that is not known turns out so.
    Maybe,
    /// It does.
    Yes,
}

impl Match {
    /// `Yes` or `No`.
    pub const fn certain(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// More steps than this are not taken: the rule then cannot be evaluated.
const MAX_STEPS: usize = 4_000_000;

/// Whether a word fits a pattern in which `*` is any text, `?` one character, and `\` takes the
/// next character as it is.
pub(crate) fn word_fits(pattern: &str, word: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let word: Vec<char> = word.chars().collect();
    let (mut p, mut w) = (0, 0);
    // Where to go on when the text after the last `*` does not fit: one character further.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match (pattern.get(p), word.get(w)) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((p + 1, w));
                Some((p + 1, w))
            }
            (Some('?'), Some(_)) => Some((p + 1, w + 1)),
            (Some('\\'), Some(char)) if pattern.get(p + 1) == Some(char) => Some((p + 2, w + 1)),
            (Some(wanted), Some(char)) if wanted == char && *wanted != '\\' => Some((p + 1, w + 1)),
            _ => None,
        };
        (p, w) = match (step, retry) {
            (Some(next), _) => next,
            (None, Some((after, from))) if from < word.len() => {
                retry = Some((after, from + 1));
                (after, from + 1)
            }
            _ => return false,
        };
    }
}

/// Whether a program's name fits: without its folder, unless the pattern names one.
pub(crate) fn program_fits(pattern: &str, program: &str) -> bool {
    let name =
        if pattern.contains('/') { program } else { program.rsplit('/').next().unwrap_or(program) };
    word_fits(pattern, name)
}

/// Whether the words of a command fit a pattern of words; `**` is any number of words, and a word
/// that is not known may be any number of them too. Nothing when it would take too long.
pub(crate) fn argv_fits(pattern: &[String], argv: &[Option<String>]) -> Option<Match> {
    let longest = argv.iter().flatten().map(String::len).max().unwrap_or(1).max(1);
    if pattern.len().saturating_mul(argv.len()).saturating_mul(longest) > MAX_STEPS {
        return None;
    }
    // `row[i]`: how far the pattern's words so far fit the first `i` words.
    let mut row = vec![Match::No; argv.len() + 1];
    if let Some(first) = row.first_mut() {
        *first = Match::Yes;
    }
    spill(&mut row, argv, false);
    for (index, wanted) in pattern.iter().enumerate() {
        let mut next = vec![Match::No; argv.len() + 1];
        for (at, so_far) in row.iter().copied().enumerate().filter(|(_, far)| *far > Match::No) {
            if wanted == "**" {
                raise(&mut next, at, so_far);
                continue;
            }
            match argv.get(at) {
                // An unknown word may stand for this word and for more after it.
                Some(None) => {
                    raise(&mut next, at, Match::Maybe);
                    raise(&mut next, at + 1, Match::Maybe);
                }
                Some(Some(word)) => {
                    let fits = if index == 0 {
                        program_fits(wanted, word)
                    } else {
                        word_fits(wanted, word)
                    };
                    if fits {
                        raise(&mut next, at + 1, so_far);
                    }
                }
                None => {}
            }
        }
        spill(&mut next, argv, wanted == "**");
        row = next;
    }
    row.last().copied()
}

fn raise(row: &mut [Match], at: usize, to: Match) {
    if let Some(cell) = row.get_mut(at) {
        *cell = (*cell).max(to);
    }
}

/// Lets words pass without a pattern word: any under `**`, else unknown ones (which may be none).
fn spill(row: &mut [Match], argv: &[Option<String>], any: bool) {
    for (at, word) in argv.iter().enumerate() {
        let here = row.get(at).copied().unwrap_or(Match::No);
        if any {
            raise(row, at + 1, here);
        } else if word.is_none() && here > Match::No {
            raise(row, at + 1, Match::Maybe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_words_pattern_is_matched_as_a_whole() {
        let check = |pattern, word, expected| {
            assert_eq!(word_fits(pattern, word), expected, "{pattern} {word}");
        };
        check("push", "push", true);
        check("push", "pushd", false);
        check("*", "", true);
        check("--set=*", "--set=a=b", true);
        check("a*b*c", "aXbYbZc", true);
        check("a*b*c", "aXbYbZ", false);
        check("?", "ä", true);
        check("?", "", false);
        check("\\*", "*", true);
        check("\\*", "x", false);
        check("\\", "\\", false);
        check("\\\\", "\\", true);
        check("**", "x", true);
    }

    #[test]
    fn words_that_are_not_known_match_perhaps() {
        let check = |pattern: &str, line: &str, expected| {
            let pattern: Vec<String> = pattern.split_whitespace().map(str::to_owned).collect();
            let argv: Vec<Option<String>> = line
                .split_whitespace()
                .map(|word| (word != "…").then(|| word.to_owned()))
                .collect();
            assert_eq!(argv_fits(&pattern, &argv), Some(expected), "{pattern:?} {line}");
        };
        check("git push", "git push", Match::Yes);
        check("git push", "/usr/bin/git push", Match::Yes);
        check("git push", "git push origin", Match::No);
        check("git push **", "git push", Match::Yes);
        check("git push **", "git push origin main", Match::Yes);
        check("git ** --tags **", "git push origin --tags x", Match::Yes);
        check("git ** --tags", "git push origin", Match::No);
        check("git push **", "git …", Match::Maybe);
        check("git push **", "… push", Match::Maybe);
        check("git push **", "git push …", Match::Yes);
        check("git push origin", "git push … origin", Match::Maybe);
        check("git push origin", "git push …", Match::Maybe);
        check("git push origin", "npm …", Match::No);
        check("a b c d", "…", Match::Maybe);
        check("a b", "a … c", Match::No);
        check("a", "a …", Match::Maybe);
        check("**", "", Match::Yes);
        check("x", "", Match::No);
    }
}
