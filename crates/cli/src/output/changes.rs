//! Changed paths for people: how many of which kind, and which.

use aurora_model::{Change, ChangeKind, EntryMode};

use super::escape;
use super::style::Style;

/// How many lines of paths a person is shown before the rest is only counted.
pub const MAX_PATHS: usize = 40;

/// `files` or another noun, after its number.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// `12 files changed (3 new, 8 modified, 1 deleted)`.
#[must_use]
pub fn summary(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "no file changed".to_owned();
    }
    let kinds = [
        (ChangeKind::Added, "new"),
        (ChangeKind::Modified, "modified"),
        (ChangeKind::ModeChanged, "with another mode"),
        (ChangeKind::TypeChanged, "of another kind"),
        (ChangeKind::Deleted, "deleted"),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|(kind, word)| (changes.iter().filter(|change| change.kind == kind).count(), word))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    format!("{} changed ({})", count(changes.len(), "file"), parts.join(", "))
}

/// One line per path with git's letter for what happened, as many as fit.
#[must_use]
pub fn list(changes: &[Change], max: usize, style: Style) -> String {
    let mut out = String::new();
    for change in changes.iter().take(max) {
        out.push_str(&format!(
            "  {} {}{}\n",
            letter(change.kind, style),
            escape::path(&change.path),
            note(change)
        ));
    }
    out.push_str(&more(changes.len(), max));
    out
}

/// Says how many were not shown.
#[must_use]
pub fn more(number: usize, max: usize) -> String {
    match number.saturating_sub(max) {
        0 => String::new(),
        unseen => format!("  … and {unseen} more (all of them with --json)\n"),
    }
}

fn letter(kind: ChangeKind, style: Style) -> String {
    match kind {
        ChangeKind::Added => style.good("A"),
        ChangeKind::Modified | ChangeKind::ModeChanged => style.notable("M"),
        ChangeKind::TypeChanged => style.notable("T"),
        ChangeKind::Deleted => style.bad("D"),
    }
}

fn note(change: &Change) -> &'static str {
    match (change.kind, change.after) {
        (ChangeKind::ModeChanged, Some(EntryMode::Executable)) => "  (may be executed now)",
        (ChangeKind::ModeChanged, _) => "  (may no longer be executed)",
        (ChangeKind::TypeChanged, Some(EntryMode::Symlink)) => "  (a link now)",
        (ChangeKind::TypeChanged, Some(EntryMode::Submodule)) => "  (a submodule now)",
        (ChangeKind::TypeChanged, _) => "  (a file now)",
        (ChangeKind::Added, Some(EntryMode::Symlink)) => "  (a link)",
        (ChangeKind::Added, Some(EntryMode::Submodule)) => "  (a submodule)",
        _ => "",
    }
}

/// A number of bytes in the largest unit that it fills: `100 MiB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let Some((shift, unit)) = units.into_iter().find(|(shift, _)| number >> shift > 0) else {
        return format!("{number} bytes");
    };
    let tenths = u128::from(number) * 10 / (1 << shift);
    match tenths % 10 {
        0 => format!("{} {unit}", tenths / 10),
        rest => format!("{}.{rest} {unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use aurora_model::RepoPath;

    use super::*;

    fn change(path: &str, kind: ChangeKind) -> Change {
        let path = RepoPath::new(path).expect("a path");
        Change { path, kind, before: None, after: Some(EntryMode::File) }
    }

    #[test]
    fn changes_are_counted_by_kind() {
        assert_eq!(summary(&[]), "no file changed");
        let changes = [
            change("a", ChangeKind::Added),
            change("b", ChangeKind::Modified),
            change("c", ChangeKind::Modified),
            change("d", ChangeKind::Deleted),
        ];
        assert_eq!(summary(&changes), "4 files changed (1 new, 2 modified, 1 deleted)");
        assert_eq!(summary(&changes[..1]), "1 file changed (1 new)");
        assert_eq!(
            list(&changes, 2, Style::plain()),
            "  A a\n  M b\n  … and 2 more (all of them with --json)\n"
        );
    }

    #[test]
    fn bytes_are_said_in_the_unit_that_fits() {
        for (number, expected) in
            [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (100 << 20, "100 MiB")]
        {
            assert_eq!(bytes(number), expected);
        }
    }
}
