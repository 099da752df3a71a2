//! Code that git runs for its caller: configured programs, and subcommands that take commands.

use aurora_model::{EffectKind, Span};

use super::facts::Facts;
use crate::analysis::shell::command::options::{Spec, Style};
use crate::analysis::shell::command::step::{Step, joined};
use crate::analysis::shell::field::Field;

/// On which occasion git runs a configured program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occasion {
    Network,
    Editor,
    Pager,
    Diff,
    Help,
    Gui,
    Any,
}

/// Configuration keys and variables whose value is code.
static CONFIGURED: &[(&str, &str, Occasion)] = &[
    ("core.sshcommand", "GIT_SSH_COMMAND", Occasion::Network),
    ("core.gitproxy", "GIT_PROXY_COMMAND", Occasion::Network),
    ("core.askpass", "GIT_ASKPASS", Occasion::Network),
    ("", "GIT_SSH", Occasion::Network),
    ("core.editor", "GIT_EDITOR", Occasion::Editor),
    ("sequence.editor", "GIT_SEQUENCE_EDITOR", Occasion::Editor),
    ("", "EDITOR", Occasion::Editor),
    ("", "VISUAL", Occasion::Editor),
    ("core.pager", "GIT_PAGER", Occasion::Pager),
    ("", "PAGER", Occasion::Pager),
    ("diff.external", "GIT_EXTERNAL_DIFF", Occasion::Diff),
    ("interactive.difffilter", "", Occasion::Diff),
    ("core.fsmonitor", "", Occasion::Any),
    ("core.alternaterefscommand", "", Occasion::Network),
    ("gpg.program", "", Occasion::Editor),
    ("uploadpack.packobjectshook", "", Occasion::Network),
];

/// Sections of which one key, whatever the middle part, is code.
static CONFIGURED_BY_NAME: &[(&str, &str)] = &[
    ("filter.", ".clean"),
    ("filter.", ".smudge"),
    ("filter.", ".process"),
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("merge.", ".driver"),
    ("difftool.", ".cmd"),
    ("mergetool.", ".cmd"),
    ("pager.", ""),
    ("gpg.", ".program"),
    ("trailer.", ".command"),
    ("trailer.", ".cmd"),
];

/// The same, for keys whose code runs on one occasion only.
static OCCASIONAL_BY_NAME: &[(&str, &str, Occasion)] = &[
    ("remote.", ".receivepack", Occasion::Network),
    ("remote.", ".uploadpack", Occasion::Network),
    ("browser.", ".cmd", Occasion::Help),
    ("man.", ".cmd", Occasion::Help),
    ("guitool.", ".cmd", Occasion::Gui),
];

/// The code that configuration on this line makes `git SUBCOMMAND` run.
#[must_use]
pub fn steps(subcommand: &str, facts: &Facts<'_>, env: &[(String, Field)]) -> Vec<Step> {
    let mut found = Vec::new();
    for (name, value) in env {
        let row = CONFIGURED.iter().find(|(_, variable, _)| variable == name);
        if row.is_some_and(|(_, _, occasion)| happens(*occasion, subcommand)) {
            found.push(Step::Code(value.clone()));
        }
    }
    for (key, value) in &facts.overrides {
        if key.starts_with("credential.") && key.ends_with("helper") {
            let code = value.strip_prefix("!").filter(|_| happens(Occasion::Network, subcommand));
            found.extend(code.map(Step::Code));
            continue;
        }
        if key.starts_with("submodule.") && key.ends_with(".update") {
            let code = value.strip_prefix("!").filter(|_| subcommand == "submodule");
            found.extend(code.map(Step::Code));
            continue;
        }
        let row = CONFIGURED.iter().find(|(name, _, _)| name == key);
        let by_name = CONFIGURED_BY_NAME
            .iter()
            .any(|(start, end)| key.starts_with(start) && key.ends_with(end))
            || OCCASIONAL_BY_NAME.iter().any(|(start, end, occasion)| {
                key.starts_with(start) && key.ends_with(end) && happens(*occasion, subcommand)
            });
        if row.is_some_and(|(_, _, occasion)| happens(*occasion, subcommand)) || by_name {
            found.push(Step::Code(value.clone()));
        }
    }
    // A program that is wholly unknown is the user's own choice from elsewhere, not this line's.
    found.retain(|step| !matches!(step, Step::Code(code) if code.prefix().is_empty()));
    found
}

fn happens(occasion: Occasion, subcommand: &str) -> bool {
    let occasions: &[&str] = match occasion {
        Occasion::Any => return true,
        Occasion::Help => &["help", "instaweb", "web--browse"],
        Occasion::Gui => &["gui"],
        Occasion::Network => &[
            "push",
            "pull",
            "fetch",
            "clone",
            "ls-remote",
            "remote",
            "submodule",
            "lfs",
            "archive",
            "send-pack",
            "fetch-pack",
            "subtree",
            "svn",
        ],
        Occasion::Editor => &[
            "commit",
            "rebase",
            "merge",
            "tag",
            "revert",
            "cherry-pick",
            "config",
            "notes",
            "am",
            "branch",
            "pull",
            "add",
            "send-email",
            "replace",
        ],
        Occasion::Pager => &[
            "log",
            "diff",
            "show",
            "branch",
            "tag",
            "blame",
            "grep",
            "reflog",
            "stash",
            "config",
            "shortlog",
            "help",
            "whatchanged",
            "range-diff",
            "show-branch",
            "format-patch",
        ],
        Occasion::Diff => &["diff", "log", "show", "stash", "format-patch", "add", "checkout"],
    };
    occasions.contains(&subcommand)
}

const REBASE: Spec = Spec {
    short_values: "xsXC",
    short_optional: "rS",
    long_values: &[
        "exec",
        "strategy",
        "strategy-option",
        "onto",
        "whitespace",
        "empty",
        "committer-date",
    ],
    long_flags: &["interactive", "autosquash", "continue", "abort", "skip", "edit-todo"],
    long_optional: &["rebase-merges", "gpg-sign"],
    style: Style::Permute,
};

const FILTER_BRANCH: Spec = Spec {
    short_values: "d",
    long_values: &[
        "setup",
        "subdirectory-filter",
        "env-filter",
        "tree-filter",
        "index-filter",
        "parent-filter",
        "msg-filter",
        "commit-filter",
        "tag-name-filter",
        "original",
        "state-branch",
    ],
    long_flags: &["force", "prune-empty", "help"],
    ..Spec::FLAGS
};

const DIFFTOOL: Spec = Spec { short_values: "tx", long_values: &["tool", "extcmd"], ..Spec::FLAGS };

const TRANSFER: Spec = Spec {
    short_values: "uobjc",
    long_values: &[
        "upload-pack",
        "exec",
        "depth",
        "branch",
        "origin",
        "jobs",
        "config",
        "template",
        "reference",
        "reference-if-able",
        "separate-git-dir",
        "filter",
        "deepen",
        "shallow-since",
        "shallow-exclude",
        "server-option",
        "refmap",
        "recurse-submodules-default",
        "remote",
        "format",
        "prefix",
        "output",
        "add-file",
        "bundle-uri",
        "ref-format",
    ],
    ..Spec::FLAGS
};

/// What runs because a subcommand was given a command, and what such subcommands throw away.
#[must_use]
pub fn option_steps(subcommand: &str, args: &[Field], span: Span) -> Vec<Step> {
    let codes = |spec: Spec, names: &[(char, &str)]| -> Vec<Step> {
        let parsed = spec.parse(args);
        let values = names.iter().flat_map(|(short, long)| {
            parsed.values(*short, long).into_iter().cloned().collect::<Vec<_>>()
        });
        values.map(Step::Code).collect()
    };
    match subcommand {
        "rebase" => codes(REBASE, &[('x', "exec")]),
        "difftool" => codes(DIFFTOOL, &[('x', "extcmd")]),
        "grep" => {
            let spec = Spec {
                short_optional: "O",
                short_values: "ABCmef",
                long_optional: &["open-files-in-pager"],
                ..Spec::FLAGS
            };
            let mut steps = codes(spec, &[('O', "open-files-in-pager")]);
            for step in &mut steps {
                // The pager gets the files that match.
                if let Step::Code(code) = step {
                    code.push_lit(" ");
                    code.push_any(true);
                }
            }
            steps
        }
        "clone" | "fetch" | "pull" | "ls-remote" | "fetch-pack" | "archive" => {
            let mut steps = codes(TRANSFER, &[('\0', "upload-pack"), ('\0', "exec")]);
            if subcommand == "clone" {
                steps.extend(codes(TRANSFER, &[('u', "")]));
            }
            steps.extend(args.iter().filter_map(transport));
            steps
        }
        "filter-branch" | "filter-repo" => rewrite(subcommand, args, span),
        "bisect" => match args.split_first() {
            Some((run, command)) if run.is("run") && !command.is_empty() => {
                vec![Step::Run(vec![], command.to_vec())]
            }
            _ => Vec::new(),
        },
        "for-each-repo" => {
            let parsed = Spec { long_values: &["config"], style: Style::StopAtOperand, ..TRANSFER }
                .parse(args);
            let mut argv = vec![Field::lit("git", span)];
            argv.extend(parsed.operands.iter().map(|operand| (*operand).clone()));
            if argv.len() > 1 {
                vec![Step::Repeated(vec![Step::Run(vec![], argv)])]
            } else {
                Vec::new()
            }
        }
        "submodule" => submodule(args, span),
        _ => Vec::new(),
    }
}

/// The command that an `ext::` address runs: no shell, words apart by spaces, `% ` is a space.
#[must_use]
pub fn transport(url: &Field) -> Option<Step> {
    let command = url.strip_prefix("ext::")?;
    let Some(text) = command.text() else { return Some(Step::Code(command)) };
    let mut words = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let word = match c {
            ' ' => {
                words.push(String::new());
                continue;
            }
            '%' => chars.next(),
            other => Some(other),
        };
        if let Some(last) = words.last_mut() {
            last.extend(word);
        }
    }
    let words = words.into_iter().filter(|word| !word.is_empty());
    Some(Step::Run(vec![], words.map(|word| Field::lit(word, command.span)).collect()))
}

fn discards(what: &str, span: Span) -> Step {
    Step::Emit(EffectKind::DiscardWork { what: what.to_owned() }, Some(span))
}

fn rewrite(subcommand: &str, args: &[Field], span: Span) -> Vec<Step> {
    let parsed = FILTER_BRANCH.parse(args);
    let looks_only = ["analyze", "dry-run", "help", "version"];
    if args.is_empty() || looks_only.iter().any(|name| parsed.has('h', name)) {
        return Vec::new();
    }
    let mut steps = vec![discards("the history before it is rewritten", span)];
    if subcommand == "filter-branch" {
        for name in FILTER_BRANCH.long_values.iter().filter(|name| {
            **name == "setup" || (name.ends_with("-filter") && !name.starts_with("subdirectory"))
        }) {
            steps.extend(parsed.values('\0', name).into_iter().cloned().map(Step::Code));
        }
    }
    steps
}

fn submodule(args: &[Field], span: Span) -> Vec<Step> {
    let spec = Spec { style: Style::StopAtOperand, ..Spec::FLAGS };
    let parsed = spec.parse(args);
    let Some((action, rest)) = parsed.operands.split_first() else { return Vec::new() };
    let rest: Vec<Field> = rest.iter().map(|field| (*field).clone()).collect();
    let forced = Spec::FLAGS.parse(&rest).has('f', "force");
    match action.text() {
        Some("foreach") => {
            let inner = spec.parse(&rest);
            if inner.operands.is_empty() {
                return Vec::new();
            }
            vec![Step::Repeated(vec![Step::Code(joined(inner.operands.iter().copied()))])]
        }
        Some("deinit") if forced => vec![discards("changes in submodules", span)],
        Some("update") if forced => vec![discards("changes in submodules", span)],
        _ => Vec::new(),
    }
}
