//! The second table: what the entries of `path_rules`, `contracts`, `roles` and `rules` are made of.

/// What a field's value must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum FieldKind {
    /// Text that is not empty.
    Text,
    /// A name of letters, digits, `-` and `_`.
    Name,
    /// One text, or a list of them.
    Texts,
    /// One gitignore pattern, or a list of them.
    Patterns,
    /// A command line pattern: text that is split at spaces, or a list of words.
    Words,
    /// One of these words, or a list of them when `many`.
    Choice {
        /// The words.
        words: &'static [&'static str],
        /// Whether a list is taken too.
        many: bool,
    },
    /// One action type (`docs:write`), or a list of them.
    Kinds,
    /// A day: `2026-12-31`.
    Date,
    /// `true` or `false`.
    Flag,
    /// A mapping of further fields.
    Block(&'static [Field]),
}

/// One field of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it must be.
    pub kind: FieldKind,
    /// Whether an entry without it is an error.
    pub required: bool,
    /// One sentence.
    pub doc: &'static str,
}

/// A top-level key that holds entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collection {
    /// The key.
    pub name: &'static str,
    /// Whether the entries have names (a mapping) or an order (a list).
    pub named: bool,
    /// What an entry is made of.
    pub fields: &'static [Field],
    /// One sentence.
    pub doc: &'static str,
}

const fn field(name: &'static str, kind: FieldKind, doc: &'static str) -> Field {
    Field { name, kind, required: false, doc }
}

const fn required(name: &'static str, kind: FieldKind, doc: &'static str) -> Field {
    Field { name, kind, required: true, doc }
}

/// The operations that a rule may name: those that effects belong to.
pub(super) static OPERATION_NAMES: [&str; 11] = [
    "git_force_push",
    "git_push_main",
    "file_delete",
    "drop_table",
    "truncate",
    "git_discard",
    "sql_delete_all",
    "opaque_exec",
    "infra_destroy",
    "disk_wipe",
    "unknown_tool",
];

const LOCKED: Field = field(
    "locked",
    FieldKind::Flag,
    "Whether layers below this one may tighten this entry but not loosen it.",
);
const REASON: Field = field("reason", FieldKind::Text, "Why, in words for whoever is stopped.");
const INSTEAD: Field = field("instead", FieldKind::Text, "What to do instead.");

static WHEN: [Field; 7] = [
    field(
        "program",
        FieldKind::Texts,
        "The program's name; `*` and `?` stand for other characters.",
    ),
    field(
        "argv",
        FieldKind::Words,
        "The whole command: one pattern per word, `*` within a word, `**` for any number of words.",
    ),
    field("has", FieldKind::Texts, "Patterns of words that must all be among the arguments."),
    field(
        "operation",
        FieldKind::Choice { words: &OPERATION_NAMES, many: true },
        "The operation that an effect of the action belongs to.",
    ),
    field(
        "path",
        FieldKind::Patterns,
        "The path that is changed or deleted, as gitignore pattern.",
    ),
    field("tool", FieldKind::Texts, "The name of the agent's tool; `*` stands for any characters."),
    field(
        "kind",
        FieldKind::Kinds,
        "The kind of action that an effect is, such as docs:write; only for rules that allow.",
    ),
];

static PATH_RULE: [Field; 6] = [
    field("role", FieldKind::Texts, "For whom it holds; absent: for everyone."),
    field("not_role", FieldKind::Texts, "For whom it does not hold."),
    required("paths", FieldKind::Patterns, "The paths, as gitignore patterns."),
    field(
        "action",
        FieldKind::Choice { words: &["prompt", "deny"], many: false },
        "What happens on a change there: prompt or deny (the default).",
    ),
    REASON,
    INSTEAD,
];

static CONTRACT: [Field; 3] = [
    required("paths", FieldKind::Patterns, "The files that make up the contract."),
    field("lock", FieldKind::Text, "The lock that must be held; absent: the contract's own name."),
    LOCKED,
];

static ROLE: [Field; 2] = [
    required(
        "tools",
        FieldKind::Texts,
        "The tools that this role may call; `*` stands for any characters. Actions that are no \
         tool calls are named shell, exec, sql and patch.",
    ),
    LOCKED,
];

static RULE: [Field; 10] = [
    required("id", FieldKind::Name, "The rule's own name: verdicts say `rules.<id>`."),
    required("when", FieldKind::Block(&WHEN), "When it speaks: everything given here must hold."),
    required(
        "action",
        FieldKind::Choice { words: &["allow", "prompt", "deny"], many: false },
        "What happens then; allow waives a prompt, never a deny and never a locked operation.",
    ),
    REASON,
    INSTEAD,
    field("match", FieldKind::Texts, "Command lines that the rule must match, checked on loading."),
    field("not_match", FieldKind::Texts, "Command lines that the rule must not match."),
    field(
        "levels",
        FieldKind::Choice { words: &["supervised", "semi"], many: true },
        "The levels of autonomy for which an allow also answers what they ask; needs kind and expires.",
    ),
    field(
        "expires",
        FieldKind::Date,
        "The first day on which an allow does not hold any more, such as 2026-12-31.",
    ),
    LOCKED,
];

/// Every collection.
pub(super) static COLLECTIONS: [Collection; 4] = [
    Collection {
        name: "path_rules",
        named: false,
        fields: &PATH_RULE,
        doc: "Paths that need a person's yes, or are closed, for some roles; all that apply count.",
    },
    Collection {
        name: "contracts",
        named: true,
        fields: &CONTRACT,
        doc: "Files that may only be changed by whoever holds a lock.",
    },
    Collection {
        name: "roles",
        named: true,
        fields: &ROLE,
        doc: "The tools that each role may call.",
    },
    Collection { name: "rules", named: false, fields: &RULE, doc: "Rules of your own." },
];
