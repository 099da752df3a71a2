//! Sets of patterns in the meaning of gitignore, matched against paths and against globs.

use aurora_model::PathRef;

use crate::analysis::shell::pattern::matches;

/// A pattern that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    text: String,
    parts: Vec<String>,
    anchored: bool,
    negated: bool,
}

/// Patterns in the meaning of gitignore: the last one that matches decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatternSet {
    patterns: Vec<Pattern>,
}

impl PatternSet {
    /// Reads the patterns.
    ///
    /// # Errors
    /// When one of them is empty or not a pattern.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, BadPattern> {
        let patterns = patterns.iter().map(|text| Pattern::new(text.as_ref())).collect();
        Ok(Self { patterns: Result::from_iter::<Vec<Result<Pattern, BadPattern>>>(patterns)? })
    }

    /// Which pattern covers this path: it names it, or a folder in which it lies.
    #[must_use]
    pub fn covering(&self, path: &PathRef) -> Option<&str> {
        let resolved = path.resolved.as_deref()?;
        // Like gitignore, a policy speaks of its own worktree: what is outside is not covered.
        if matches!(resolved, "." | "..") || resolved.starts_with('/') {
            return None;
        }
        let parts: Vec<&str> = resolved.split('/').filter(|part| !part.is_empty()).collect();
        let last = self.patterns.iter().rev().find(|p| p.covers(&parts, path.glob))?;
        (!last.negated).then_some(last.text.as_str())
    }

    /// Which pattern covers something at or below this path when all of it is changed.
    #[must_use]
    pub fn covered_below(&self, path: &PathRef) -> Option<&str> {
        if let Some(found) = self.covering(path) {
            return Some(found);
        }
        let resolved = path.resolved.as_deref()?;
        let mut positive = self.patterns.iter().filter(|pattern| !pattern.negated);
        if matches!(resolved, "." | "..") {
            let git = positive.clone().find(|pattern| pattern.is_git());
            return git.or_else(|| positive.next()).map(|pattern| pattern.text.as_str());
        }
        let parts: Vec<&str> = resolved.split('/').collect();
        let found = positive.find(|pattern| {
            pattern.anchored
                && pattern.parts.len() > parts.len()
                && pattern.parts.iter().zip(&parts).all(|(own, part)| own == part)
        });
        found.map(|pattern| pattern.text.as_str())
    }
}

impl Pattern {
    fn new(text: &str) -> Result<Self, BadPattern> {
        let bad = |why: &str| BadPattern { pattern: text.to_owned(), why: why.to_owned() };
        let (negated, body) = match text.strip_prefix('!') {
            Some(body) => (true, body),
            None => (false, text),
        };
        let inner = body.trim_end_matches('/');
        let anchored = inner.contains('/') && !inner.starts_with("**/");
        let inner = inner.trim_start_matches("**/");
        let anchored = anchored || inner.contains('/');
        let parts: Vec<String> =
            inner.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        if parts.is_empty() {
            return Err(bad("it names nothing"));
        }
        if parts.iter().any(|part| part == "." || part == "..") {
            return Err(bad("`.` and `..` have no meaning here"));
        }
        let open = inner.matches('[').count();
        if open > inner.matches(']').count() {
            return Err(bad("a `[` is not closed"));
        }
        Ok(Self { text: text.to_owned(), parts, anchored, negated })
    }

    fn is_git(&self) -> bool {
        matches!(self.parts.as_slice(), [only] if only == ".git")
    }

    fn covers(&self, path: &[&str], glob: bool) -> bool {
        let [only] = self.parts.as_slice() else {
            return starts_with(&self.parts, path, glob);
        };
        if self.anchored {
            return path.first().is_some_and(|part| part_covers(only, part, glob));
        }
        path.iter().any(|part| part_covers(only, part, glob))
    }
}

/// An anchored pattern covers a path that starts with it.
fn starts_with(own: &[String], path: &[&str], glob: bool) -> bool {
    match (own.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((first, rest)), _) if first == "**" => {
            rest.is_empty()
                || (0..=path.len())
                    .any(|skip| starts_with(rest, path.get(skip..).unwrap_or(&[]), glob))
        }
        (Some(_), None) => false,
        (Some((first, rest)), Some((part, below))) => {
            part_covers(first, part, glob) && starts_with(rest, below, glob)
        }
    }
}

const WILD: [char; 3] = ['*', '?', '['];

/// Whether one component of a pattern covers one component of a path or glob.
fn part_covers(own: &str, part: &str, glob: bool) -> bool {
    if !glob || !part.contains(WILD) && !part.contains('(') {
        // `.GIT` is `.git` on file systems that ignore case.
        return matches(own, part) || (own == ".git" && part.eq_ignore_ascii_case(own));
    }
    if let Some((_, inner)) = part.split_once('(') {
        // `@(.env|.env.local)`: any of the names between the bars.
        let names = inner.split([')', '|']).filter(|name| !name.is_empty());
        return !part.starts_with('!') && { names }.any(|name| part_covers(own, name, true));
    }
    let (head, tail) = literal_ends(part);
    if head.is_empty() && tail.is_empty() && !has_letters(part) {
        return false;
    }
    if !own.contains(WILD) {
        return matches(part, own) && (!own.starts_with('.') || part.starts_with('.'));
    }
    let (own_head, own_tail) = literal_ends(own);
    head.starts_with(own_head) && tail.ends_with(own_tail) && !own_tail.is_empty()
}

/// The text before the first and behind the last wildcard.
fn literal_ends(pattern: &str) -> (&str, &str) {
    let head = pattern.split(WILD).next().unwrap_or("");
    let tail = pattern.rsplit(['*', '?', ']']).next().unwrap_or("");
    (head, tail)
}

/// Whether a glob holds a letter or digit outside brackets: `*` alone names nothing in particular.
fn has_letters(pattern: &str) -> bool {
    let mut bracket = false;
    pattern.chars().any(|c| {
        match c {
            '[' => bracket = true,
            ']' => bracket = false,
            _ => {}
        }
        !bracket && c.is_alphanumeric()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: [&str; 6] = [".git/", "node_modules/", "vendor/", ".env", "*.pem", "*.key"];

    fn path(text: &str) -> PathRef {
        let glob = text.contains(WILD);
        PathRef { text: text.to_owned(), resolved: Some(text.to_owned()), glob }
    }

    #[test]
    fn pol_4_protected_paths_have_the_meaning_of_gitignore() {
        let set = PatternSet::new(&DEFAULT).unwrap();
        for (text, expected) in [
            (".git", Some(".git/")),
            (".git/config", Some(".git/")),
            ("sub/.git/hooks/x", Some(".git/")),
            (".GIT/config", Some(".git/")),
            (".github/workflows/ci.yml", None),
            (".gitignore", None),
            (".env", Some(".env")),
            ("a/b/.env", Some(".env")),
            (".env.local", None),
            ("vendor.js", None),
            ("vendor/x", Some("vendor/")),
            ("certs/a.pem", Some("*.pem")),
            ("/etc/ssl/a.key", None),
            ("a.pem.txt", None),
            ("*.pem", Some("*.pem")),
            ("certs/server*.key", Some("*.key")),
            (".*", Some(".env")),
            (".env*", Some(".env")),
            ("node_*", Some("node_modules/")),
            ("*", None),
            ("src/*", None),
            ("*.*", None),
            ("**", None),
            ("*.log", None),
            ("**/.env", Some(".env")),
            ("src/vendor/**", Some("vendor/")),
            ("@(.env|x)*", Some(".env")),
            ("@(a|b)*", None),
        ] {
            assert_eq!(set.covering(&path(text)).is_some(), expected.is_some(), "{text}");
        }
    }

    #[test]
    fn deleting_the_root_or_what_is_above_it_covers_git() {
        let set = PatternSet::new(&DEFAULT).unwrap();
        assert_eq!(set.covered_below(&path(".")), Some(".git/"));
        assert_eq!(set.covered_below(&path("..")), Some(".git/"));
        assert_eq!(set.covered_below(&path("src")), None);
        let set = PatternSet::new(&["config/secrets/"]).unwrap();
        assert_eq!(set.covered_below(&path("config")), Some("config/secrets/"));
        assert_eq!(set.covering(&path("config/secrets/a")), Some("config/secrets/"));
        assert_eq!(set.covering(&path("src/config/secrets/a")), None);
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let set = PatternSet::new(&["*.key", "!public.key"]).unwrap();
        assert!(set.covering(&path("a.key")).is_some());
        assert!(set.covering(&path("public.key")).is_none());
        assert!(PatternSet::new(&[""]).is_err());
        assert!(PatternSet::new(&["a[b"]).is_err());
    }
}
