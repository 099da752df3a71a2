//! Stand-in until the real path analysis is merged.

use aurora_model::PathRef;

/// A set of gitignore patterns.
#[derive(Debug, Clone)]
pub struct PatternSet {
    patterns: Vec<String>,
}

/// A pattern that cannot be understood.
#[derive(Debug, Clone)]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong.
    pub why: String,
}

impl PatternSet {
    /// Compiles.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, BadPattern> {
        for pattern in patterns {
            if pattern.as_ref().contains("[]") {
                let why = "an empty class".to_owned();
                return Err(BadPattern { pattern: pattern.as_ref().to_owned(), why });
            }
        }
        Ok(Self { patterns: patterns.iter().map(|p| p.as_ref().to_owned()).collect() })
    }

    /// Which pattern covers this path.
    pub fn covering(&self, path: &PathRef) -> Option<&str> {
        let resolved = path.resolved.as_deref()?;
        let parts: Vec<&str> = resolved.split('/').filter(|p| !p.is_empty()).collect();
        self.patterns.iter().map(String::as_str).find(|pattern| {
            let bare =
                pattern.trim_end_matches("/**").trim_end_matches('/').trim_start_matches('/');
            if bare.contains('/') || pattern.ends_with("/**") {
                let wanted = bare.split('/').count();
                let head: Vec<&str> = parts.iter().take(wanted).copied().collect();
                parts.len() >= wanted && crate::policy::words::word_fits(bare, &head.join("/"))
            } else {
                parts.iter().any(|part| crate::policy::words::word_fits(bare, part))
            }
        })
    }

    /// Which pattern covers something below.
    pub fn covered_below(&self, path: &PathRef) -> Option<&str> {
        let resolved = path.resolved.as_deref()?;
        let root = matches!(resolved, "" | "." | "/");
        self.patterns.iter().map(String::as_str).find(|pattern| {
            (root && *pattern == ".git/") || pattern.starts_with(&format!("{resolved}/"))
        })
    }
}
