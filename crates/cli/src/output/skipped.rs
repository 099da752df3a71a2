//! What a checkpoint left out, what it found inside, and what it found wrong, for people.

use aurora_model::{Checkpoint, Head, Severity, SkipReason, Skipped, Violation};

use super::changes::{self, bytes};
use super::escape;

const EXAMPLES: usize = 3;

/// `3 ignored (node_modules/, dist/, …), 1 too large (a.iso: 120 MiB)`; empty when nothing was.
#[must_use]
pub fn summary(skipped: &[Skipped]) -> String {
    let reasons = [
        SkipReason::Ignored,
        SkipReason::TooLarge,
        SkipReason::Unreadable,
        SkipReason::SpecialFile,
        SkipReason::Unsettled,
        SkipReason::GitData,
    ];
    let parts: Vec<String> = reasons
        .into_iter()
        .filter_map(|reason| {
            let of_it: Vec<&Skipped> = skipped.iter().filter(|one| one.reason == reason).collect();
            (!of_it.is_empty())
                .then(|| format!("{} {} ({})", of_it.len(), word(reason), examples(&of_it)))
        })
        .collect();
    parts.join(", ")
}

/// Every one of them, a line each.
#[must_use]
pub fn list(skipped: &[Skipped]) -> String {
    skipped.iter().map(|one| format!("  {}  ({})\n", name(one), word(one.reason))).collect()
}

fn examples(skipped: &[&Skipped]) -> String {
    let mut names: Vec<String> = skipped.iter().take(EXAMPLES).map(|one| name(one)).collect();
    if skipped.len() > EXAMPLES {
        names.push("…".to_owned());
    }
    names.join(", ")
}

fn name(skipped: &Skipped) -> String {
    let slash = if skipped.folder { "/" } else { "" };
    let size = skipped.bytes.map(|number| format!(": {}", bytes(number))).unwrap_or_default();
    format!("{}{slash}{size}", escape::path(&skipped.path))
}

fn word(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Ignored => "ignored",
        SkipReason::TooLarge => "too large",
        SkipReason::Unreadable => "not readable",
        SkipReason::SpecialFile => "neither file nor link",
        SkipReason::Unsettled => "still being written",
        SkipReason::GitData => "git data",
    }
}

/// A line per repository inside the worktree.
#[must_use]
pub fn nested(checkpoint: &Checkpoint) -> String {
    let mut out = String::new();
    for nested in checkpoint.nested.iter().take(changes::MAX_PATHS) {
        let kind = if nested.submodule { "submodule" } else { "nested repository" };
        let at = nested.head.as_deref().map_or_else(
            || "without a commit".to_owned(),
            |commit| format!("at {}", escape::line(short(commit))),
        );
        let path = escape::path(&nested.path);
        out.push_str(&format!("  {kind}: {path}/ {at}, its files are in, its git data is not\n"));
    }
    out.push_str(&changes::more(checkpoint.nested.len(), changes::MAX_PATHS));
    out
}

/// One violation in one line.
#[must_use]
pub fn violation(violation: &Violation) -> String {
    let place = violation.file.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
    let suggestion = violation.suggestion.trim();
    let suggestion = if suggestion.is_empty() { String::new() } else { format!(" ({suggestion})") };
    format!("{place}{}{suggestion}", violation.message)
}

/// The word for how bad something is.
#[must_use]
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
        Severity::Critical => "critical",
    }
}

/// Where HEAD stood: `main at 1234abcd`.
#[must_use]
pub fn head(head: &Head) -> String {
    let branch = head.branch.as_deref().map_or("detached".to_owned(), escape::line);
    match head.commit.as_deref() {
        Some(commit) => format!("{branch} at {}", escape::line(short(commit))),
        None => format!("{branch}, without a commit"),
    }
}

/// The first digits of a hash.
#[must_use]
pub fn short(hash: &str) -> &str {
    hash.get(..10).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use aurora_model::RepoPath;

    use super::*;

    fn skipped(path: &str, reason: SkipReason, folder: bool, bytes: Option<u64>) -> Skipped {
        Skipped { path: RepoPath::new(path).expect("a path"), reason, folder, bytes }
    }

    #[test]
    fn what_was_left_out_is_counted_by_reason_with_examples() {
        assert_eq!(summary(&[]), "");
        let all = [
            skipped("node_modules", SkipReason::Ignored, true, None),
            skipped("dist", SkipReason::Ignored, true, None),
            skipped("a.log", SkipReason::Ignored, false, None),
            skipped("b\x1b.log", SkipReason::Ignored, false, None),
            skipped("big.iso", SkipReason::TooLarge, false, Some(120 << 20)),
        ];
        assert_eq!(
            summary(&all),
            "4 ignored (node_modules/, dist/, a.log, …), 1 too large (big.iso: 120 MiB)"
        );
        assert!(list(&all).contains("  \"b\\033.log\"  (ignored)\n"), "{}", list(&all));
    }
}
