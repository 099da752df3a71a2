//! The one table of keys: reading, defaults, listing, schema and explanations all come from it.

use aurora_model::{Answer, Operation};

/// A setting, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    MonthlyLimitUsd,
    WarnAtPercent,
    HardLimitAction,
    TimeoutSeconds,
    MaxRetries,
    FallbackToLlm,
    FileDelete,
    FileDeleteMaxFiles,
    GitForcePush,
    GitPushMain,
    DropTable,
    Truncate,
    GitDiscard,
    SqlDeleteAll,
    OpaqueExec,
    InfraDestroy,
    DiskWipe,
    UnknownTool,
    AutoBranch,
    BranchPrefix,
    MaxFilesModified,
    MaxLinesChanged,
    ProtectedPaths,
    ScopeMultiplier,
    UnexpectedFileTypes,
    AllowedAreas,
    ForbiddenAreas,
    ProtectedAreas,
}

/// What a key's value must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number in this range.
    Whole(u64, u64),
    /// A decimal number in this range.
    Amount(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `allow`, `prompt` or `deny`.
    Answer,
    /// Text that is not empty.
    Text,
    /// A list of patterns with gitignore's meaning.
    Patterns,
}

/// The value that holds when no file says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Preset {
    Flag(bool),
    Whole(u64),
    Amount(f64),
    Word(&'static str),
    Answer(Answer),
    List(&'static [&'static str]),
}

/// Which of two values is the tighter one: below a lock only tighter values are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tighter {
    /// The stricter answer.
    Stricter,
    /// The smaller number.
    Smaller,
    /// This flag or word.
    Only(&'static str),
    /// Neither: a locked value stays as it is.
    Neither,
    /// The list with more entries.
    More,
    /// The list with fewer entries, unless it is empty (which means everything).
    Fewer,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyRow {
    pub key: Key,
    /// The dotted path in the file.
    pub path: &'static str,
    pub kind: Kind,
    pub preset: Preset,
    pub tighter: Tighter,
    /// Whether the lists of all layers add up instead of replacing each other.
    pub adds_up: bool,
    /// One sentence.
    pub doc: &'static str,
}

/// A mapping that holds settings, and may be locked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    /// The dotted path in the file.
    pub path: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

const ANSWERS_DOC: &str = "What happens then: allow, prompt (a person decides) or deny.";
const COUNT: Kind = Kind::Whole(0, 1_000_000_000);

const fn row(
    key: Key,
    path: &'static str,
    kind: Kind,
    preset: Preset,
    tighter: Tighter,
    doc: &'static str,
) -> KeyRow {
    let adds_up = matches!(key, Key::ProtectedPaths | Key::ForbiddenAreas | Key::ProtectedAreas);
    KeyRow { key, path, kind, preset, tighter, adds_up, doc }
}

const fn action(key: Key, path: &'static str, answer: Answer) -> KeyRow {
    row(key, path, Kind::Answer, Preset::Answer(answer), Tighter::Stricter, ANSWERS_DOC)
}

const fn patterns(
    key: Key,
    path: &'static str,
    preset: &'static [&'static str],
    tighter: Tighter,
    doc: &'static str,
) -> KeyRow {
    row(key, path, Kind::Patterns, Preset::List(preset), tighter, doc)
}

/// Every setting. INVARIANT: the row of a key stands at the key's own number.
pub(crate) static KEYS: [KeyRow; 28] = [
    row(
        Key::MonthlyLimitUsd,
        "budget.monthly_limit_usd",
        Kind::Amount(0.0, 1e9),
        Preset::Amount(100.0),
        Tighter::Smaller,
        "How many US dollars may be spent in a calendar month.",
    ),
    row(
        Key::WarnAtPercent,
        "budget.warn_at_percent",
        Kind::Whole(0, 100),
        Preset::Whole(80),
        Tighter::Smaller,
        "At how many percent of the monthly limit a warning appears.",
    ),
    row(
        Key::HardLimitAction,
        "budget.hard_limit_action",
        Kind::Choice(&["reject", "warn"]),
        Preset::Word("reject"),
        Tighter::Only("reject"),
        "What happens at the monthly limit: reject further calls, or only warn.",
    ),
    row(
        Key::TimeoutSeconds,
        "agent_recovery.timeout_seconds",
        Kind::Whole(1, 86_400),
        Preset::Whole(120),
        Tighter::Smaller,
        "How long one attempt of an agent may take, in seconds.",
    ),
    row(
        Key::MaxRetries,
        "agent_recovery.max_retries",
        Kind::Whole(1, 100),
        Preset::Whole(2),
        Tighter::Smaller,
        "How many attempts an agent gets in all before the fallback.",
    ),
    row(
        Key::FallbackToLlm,
        "agent_recovery.fallback_to_llm",
        Kind::Flag,
        Preset::Flag(true),
        Tighter::Only("false"),
        "Whether the language model is asked directly when every attempt failed.",
    ),
    action(Key::FileDelete, "destructive.file_delete.action", Answer::Ask),
    row(
        Key::FileDeleteMaxFiles,
        "destructive.file_delete.max_files",
        COUNT,
        Preset::Whole(5),
        Tighter::Smaller,
        "How many files one action may delete by name before the action above applies.",
    ),
    action(Key::GitForcePush, "destructive.git_force_push.action", Answer::Deny),
    action(Key::GitPushMain, "destructive.git_push_main.action", Answer::Ask),
    action(Key::DropTable, "destructive.drop_table.action", Answer::Deny),
    action(Key::Truncate, "destructive.truncate.action", Answer::Ask),
    action(Key::GitDiscard, "destructive.git_discard.action", Answer::Ask),
    action(Key::SqlDeleteAll, "destructive.sql_delete_all.action", Answer::Ask),
    action(Key::OpaqueExec, "destructive.opaque_exec.action", Answer::Ask),
    action(Key::InfraDestroy, "destructive.infra_destroy.action", Answer::Ask),
    action(Key::DiskWipe, "destructive.disk_wipe.action", Answer::Deny),
    action(Key::UnknownTool, "destructive.unknown_tool.action", Answer::Ask),
    row(
        Key::AutoBranch,
        "safety.auto_branch",
        Kind::Flag,
        Preset::Flag(true),
        Tighter::Only("true"),
        "Whether work happens on a branch of its own instead of the checked-out one.",
    ),
    row(
        Key::BranchPrefix,
        "safety.branch_prefix",
        Kind::Text,
        Preset::Word("aurora/"),
        Tighter::Neither,
        "What the names of those branches start with.",
    ),
    row(
        Key::MaxFilesModified,
        "safety.max_files_modified",
        COUNT,
        Preset::Whole(20),
        Tighter::Smaller,
        "How many files one change may touch before a person is asked.",
    ),
    row(
        Key::MaxLinesChanged,
        "safety.max_lines_changed",
        COUNT,
        Preset::Whole(1000),
        Tighter::Smaller,
        "How many lines one change may add and remove before a person is asked.",
    ),
    patterns(
        Key::ProtectedPaths,
        "safety.protected_paths",
        &[".git/", "node_modules/", "vendor/", ".env", "*.pem", "*.key"],
        Tighter::More,
        "Paths that are never changed, as gitignore patterns; the lists of all layers add up.",
    ),
    row(
        Key::ScopeMultiplier,
        "anomalies.scope_multiplier",
        Kind::Amount(1.0, 1e6),
        Preset::Amount(3.0),
        Tighter::Smaller,
        "How many times the expected scope a change may have before a person is asked.",
    ),
    patterns(
        Key::UnexpectedFileTypes,
        "anomalies.unexpected_file_types",
        &["*.sql", "*.sh", "Dockerfile"],
        Tighter::More,
        "Files whose change in a patch is unusual enough to ask a person, as gitignore patterns.",
    ),
    patterns(
        Key::AllowedAreas,
        "areas.allowed_areas",
        &[],
        Tighter::Fewer,
        "Where changes may happen, as gitignore patterns; an empty list means everywhere.",
    ),
    patterns(
        Key::ForbiddenAreas,
        "areas.forbidden_areas",
        &[],
        Tighter::More,
        "Where changes must not happen, as gitignore patterns; the lists of all layers add up.",
    ),
    patterns(
        Key::ProtectedAreas,
        "areas.protected_areas",
        &[],
        Tighter::More,
        "What is read-only for everyone, as gitignore patterns; the lists of all layers add up.",
    ),
];

/// Every mapping that holds settings and may be locked, outermost first.
pub(crate) static GROUPS: [Group; 17] = [
    Group { path: "budget", doc: "What may be spent." },
    Group { path: "agent_recovery", doc: "What happens when an agent fails." },
    Group { path: "destructive", doc: "Operations that are hard to undo, each with its answer." },
    Group {
        path: "destructive.file_delete",
        doc: "Deleting files: more than max_files, recursively, or an unknown number.",
    },
    Group {
        path: "destructive.git_force_push",
        doc: "Rewriting history on a remote, or deleting a remote ref.",
    },
    Group { path: "destructive.git_push_main", doc: "Pushing to main or master." },
    Group { path: "destructive.drop_table", doc: "Dropping a table, schema or database." },
    Group { path: "destructive.truncate", doc: "Emptying a table." },
    Group {
        path: "destructive.git_discard",
        doc: "Throwing away uncommitted, stashed or unmerged work.",
    },
    Group {
        path: "destructive.sql_delete_all",
        doc: "DELETE or UPDATE without WHERE: every row is changed.",
    },
    Group { path: "destructive.opaque_exec", doc: "Running code that cannot be seen beforehand." },
    Group { path: "destructive.infra_destroy", doc: "Destroying infrastructure." },
    Group { path: "destructive.disk_wipe", doc: "Overwriting a disk, or losing a system folder." },
    Group { path: "destructive.unknown_tool", doc: "Calling a tool that Aurora has no model of." },
    Group { path: "safety", doc: "How work stays recoverable and in bounds." },
    Group { path: "anomalies", doc: "What is unusual enough to stop and ask." },
    Group { path: "areas", doc: "Where in the worktree changes may happen." },
];

impl Key {
    /// Its place in the table.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The key that answers for an operation.
    pub const fn of_operation(operation: Operation) -> Option<Self> {
        Some(match operation {
            Operation::GitForcePush => Self::GitForcePush,
            Operation::GitPushMain => Self::GitPushMain,
            Operation::FileDelete => Self::FileDelete,
            Operation::DropTable => Self::DropTable,
            Operation::Truncate => Self::Truncate,
            Operation::GitDiscard => Self::GitDiscard,
            Operation::SqlDeleteAll => Self::SqlDeleteAll,
            Operation::OpaqueExec => Self::OpaqueExec,
            Operation::InfraDestroy => Self::InfraDestroy,
            Operation::DiskWipe => Self::DiskWipe,
            Operation::UnknownTool => Self::UnknownTool,
            _ => return None,
        })
    }
}

/// The row of a dotted path.
pub(crate) fn row_at(path: &str) -> Option<&'static KeyRow> {
    KEYS.iter().find(|row| row.path == path)
}

/// The names directly below a mapping (`""` is the whole file), without `locked`.
pub(crate) fn children(parent: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for path in GROUPS.iter().map(|group| group.path).chain(KEYS.iter().map(|row| row.path)) {
        let rest = if parent.is_empty() {
            Some(path)
        } else {
            path.strip_prefix(parent).and_then(|rest| rest.strip_prefix('.'))
        };
        let Some(name) = rest.and_then(|rest| rest.split('.').next()) else { continue };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stands_at_its_keys_number() {
        for (index, row) in KEYS.iter().enumerate() {
            assert_eq!(row.key.index(), index, "{}", row.path);
        }
    }

    #[test]
    fn every_row_stands_in_a_documented_group() {
        for row in &KEYS {
            let parent = row.path.rsplit_once('.').expect("a section").0;
            assert!(GROUPS.iter().any(|group| group.path == parent), "{parent}");
        }
    }
}
