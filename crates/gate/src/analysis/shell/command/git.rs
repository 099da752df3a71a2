//! git: global options, aliases and configuration first, then each subcommand's own meaning.

mod code;
mod config;
mod discard;
mod facts;
mod files;
mod print;
mod push;
mod refspec;

use aurora_model::Span;

use self::facts::{Facts, normal_key};
use super::step::{Step, perform, split_words};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// How deep aliases may lead to aliases.
const MAX_ALIAS_DEPTH: usize = 8;

/// The model of git, and of `git-push` and its like.
pub fn git(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let mut args = call.args.to_vec();
    if let Some(subcommand) = call.name.strip_prefix("git-") {
        args.insert(0, Field::lit(subcommand, call.span));
    }
    let steps = {
        let (branch, upstream) = facts::standing(machine, call);
        let context = machine.context();
        let stored = |key: &str| {
            let alias = key.strip_prefix("alias.");
            machine
                .git_config(key)
                .or_else(|| context.git.aliases.get(alias?).cloned())
                .or_else(|| context.git.config.get(key).cloned())
        };
        let facts = Facts {
            branch,
            upstream,
            root: context.root.clone(),
            overrides: facts::from_environment(call.env),
            stored: &stored,
            incomplete: context.git.incomplete,
            is_here: &|dir| facts::is_here(machine, dir),
            is_file: &|path| {
                context.files.contains_key(path) || context.file_counts.contains_key(path)
            },
        };
        invocation(&args, facts, call.env, 0)
    };
    perform(machine, &steps, call)
}

/// Everything that `git ARGS` would do.
fn invocation(
    args: &[Field],
    mut facts: Facts<'_>,
    env: &[(String, Field)],
    depth: usize,
) -> Vec<Step> {
    let globals = Globals::read(args);
    for (key, value) in globals.config {
        facts.overrides.push((key, value));
    }
    for (key, variable) in globals.from_env {
        let set = env.iter().find(|(name, _)| variable.is(name)).map(|(_, value)| value.clone());
        facts.overrides.push((key, set.unwrap_or(Field::unknown(false, variable.span))));
    }
    if globals.elsewhere || globals.dirs.iter().any(|dir| !(facts.is_here)(dir)) {
        (facts.branch, facts.upstream) = (None, None);
    }
    let Some((subcommand, rest)) = globals.rest.split_first() else { return Vec::new() };
    let Some(name) = subcommand.text() else {
        return vec![Step::Opaque {
            what: format!("git {}", subcommand.display()),
            why: "the subcommand is not known".to_owned(),
        }];
    };
    if name == "clone" {
        facts.overrides.extend(files::clone_settings(rest));
    }
    let mut steps = code::steps(name, &facts, env);
    if rest.first().is_some_and(|first| first.is("--help")) {
        return steps;
    }
    if may_be_unread_alias(name, &facts) {
        steps.push(Step::Opaque {
            what: format!("git {name}"),
            why: "git's configuration could not be read, and may have an alias of this name"
                .to_owned(),
        });
    }
    match alias(name, &facts) {
        Some(_) if depth >= MAX_ALIAS_DEPTH => steps.push(Step::Opaque {
            what: format!("git {name}"),
            why: "aliases lead to aliases too many times".to_owned(),
        }),
        Some(value) => steps.extend(expanded(name, &value, rest, facts, env, depth)),
        None if facts::has_other_configuration(&facts, env) && !is_program(name) => {
            steps.push(Step::Opaque {
                what: format!("git {name}"),
                why: "another configuration file may hold it as an alias".to_owned(),
            });
        }
        None => steps.extend(subcommand_steps(name, rest, &facts, subcommand.span)),
    }
    globals.dirs.iter().rev().fold(steps, |steps, dir| vec![Step::InDir((*dir).clone(), steps)])
}

/// Whether a name may be an alias, or another one than is known, in configuration that could not be
/// read; what the line itself says wins over all of it.
fn may_be_unread_alias(name: &str, facts: &Facts<'_>) -> bool {
    let key = format!("alias.{}", name.to_ascii_lowercase());
    facts.incomplete
        && COMMANDS.binary_search(&name).is_err()
        && !facts.overrides.iter().any(|(own, _)| *own == key)
}

/// Whether git runs a program of this name before it looks for an alias.
fn is_program(name: &str) -> bool {
    const ADDED: [&str; 7] = ["absorb", "annex", "crypt", "filter-repo", "lfs", "subtree", "town"];
    COMMANDS.binary_search(&name).is_ok() || ADDED.contains(&name)
}

/// What an alias stands for; git never looks for an alias in place of a command of its own.
fn alias(name: &str, facts: &Facts<'_>) -> Option<Field> {
    if COMMANDS.binary_search(&name).is_ok() {
        return None;
    }
    facts
        .config(&format!("alias.{}", name.to_ascii_lowercase()))
        .or_else(|| facts.config(&format!("alias.{name}.command")))
}

fn expanded(
    name: &str,
    value: &Field,
    rest: &[Field],
    facts: Facts<'_>,
    env: &[(String, Field)],
    depth: usize,
) -> Vec<Step> {
    if let Some(code) = value.strip_prefix("!") {
        if rest.is_empty() {
            return vec![Step::Code(code)];
        }
        // git runs `sh -c 'CODE "$@"' CODE ARGS…`.
        let mut with_args = code.clone();
        with_args.push_lit(" \"$@\"");
        let mut argv = vec![Field::lit("sh", value.span), Field::lit("-c", value.span)];
        argv.extend([with_args, code]);
        argv.extend(rest.iter().cloned());
        return vec![Step::Run(vec![], argv)];
    }
    let Some(text) = value.text() else {
        return vec![Step::Opaque {
            what: format!("git {name}"),
            why: "its alias is not known".to_owned(),
        }];
    };
    let mut args: Vec<Field> =
        split_words(text).into_iter().map(|word| Field::lit(word, value.span)).collect();
    args.extend(rest.iter().cloned());
    invocation(&args, facts, env, depth + 1)
}

fn subcommand_steps(name: &str, args: &[Field], facts: &Facts<'_>, span: Span) -> Vec<Step> {
    match name {
        "push" => push::push(args, facts),
        "send-pack" | "http-push" => push::send_pack(args, facts),
        "subtree" => push::subtree(args, facts),
        "reset" | "checkout" | "switch" | "restore" | "clean" | "stash" | "branch" | "worktree"
        | "update-ref" | "symbolic-ref" | "reflog" | "gc" | "prune" | "checkout-index"
        | "read-tree" => discard::steps(name, args, facts, span),
        "config" => config::config(args),
        "remote" => config::remote(args),
        "rev-parse" => print::rev_parse(args, facts),
        _ => {
            let mut steps = code::option_steps(name, args, span);
            steps.extend(files::steps(name, args));
            steps
        }
    }
}

/// The options before the subcommand.
#[derive(Default)]
struct Globals<'a> {
    dirs: Vec<&'a Field>,
    config: Vec<(String, Field)>,
    /// Configuration whose value is the value of a variable.
    from_env: Vec<(String, Field)>,
    elsewhere: bool,
    rest: &'a [Field],
}

impl<'a> Globals<'a> {
    /// git reads these by exact spelling: no abbreviations, no groups.
    fn read(args: &'a [Field]) -> Self {
        let mut globals = Self::default();
        let mut rest = args;
        while let Some((first, after)) = rest.split_first() {
            let prefix = first.prefix();
            if !prefix.starts_with('-') {
                break;
            }
            let mut after = after;
            let mut value = || {
                let (value, remaining) = after.split_first()?;
                after = remaining;
                Some(value)
            };
            match first.text().unwrap_or(prefix) {
                "-C" => globals.dirs.extend(value()),
                "-c" => globals.config.extend(value().and_then(setting)),
                "--config-env" => globals.from_env.extend(value().and_then(setting)),
                "--git-dir" | "--work-tree" => {
                    globals.elsewhere |= value().is_some_and(|dir| !dir.is(".git") && !dir.is("."));
                }
                "--namespace" | "--super-prefix" | "--attr-source" => {
                    let _ = value();
                }
                "-h" | "--help" | "-v" | "--version" | "--html-path" | "--man-path"
                | "--info-path" | "--exec-path" => {
                    return Self::default();
                }
                _ => {
                    if let Some(named) = first.strip_prefix("--config-env=") {
                        globals.from_env.extend(setting(&named));
                    }
                    let dir = first
                        .strip_prefix("--git-dir=")
                        .or_else(|| first.strip_prefix("--work-tree="));
                    globals.elsewhere |= dir.is_some_and(|dir| !dir.is(".git") && !dir.is("."));
                }
            }
            rest = after;
        }
        globals.rest = rest;
        globals
    }
}

/// A `key=value` setting; without a value it is true.
fn setting(field: &Field) -> Option<(String, Field)> {
    match field.split_once('=') {
        Some((key, value)) => Some((normal_key(key.text()?), value)),
        None => Some((normal_key(field.text()?), Field::lit("true", field.span))),
    }
}

/// git's own commands, sorted: no alias can take their place.
#[rustfmt::skip]
static COMMANDS: &[&str] = &[
    "add", "am", "annotate", "apply", "archimport", "archive", "bisect", "blame", "branch",
    "bugreport", "bundle", "cat-file", "check-attr", "check-ignore", "check-mailmap",
    "check-ref-format", "checkout", "checkout-index", "cherry", "cherry-pick", "clean", "clone",
    "column", "commit", "commit-graph", "commit-tree", "config", "count-objects", "credential",
    "credential-cache", "credential-store", "cvsexportcommit", "cvsimport", "cvsserver", "daemon",
    "describe", "diagnose", "diff", "diff-files", "diff-index", "diff-tree", "difftool",
    "fast-export", "fast-import", "fetch", "fetch-pack", "filter-branch", "fmt-merge-msg",
    "for-each-ref", "for-each-repo", "format-patch", "fsck", "fsck-objects", "gc",
    "get-tar-commit-id", "grep", "hash-object", "help", "hook", "http-backend", "http-fetch",
    "http-push", "imap-send", "index-pack", "init", "init-db", "instaweb", "interpret-trailers",
    "log", "ls-files", "ls-remote", "ls-tree", "mailinfo", "mailsplit", "maintenance", "merge",
    "merge-base", "merge-file", "merge-index", "merge-octopus", "merge-one-file", "merge-ours",
    "merge-recursive", "merge-resolve", "merge-subtree", "merge-tree", "mergetool", "mktag",
    "mktree", "multi-pack-index", "mv", "name-rev", "notes", "p4", "pack-objects",
    "pack-redundant", "pack-refs", "patch-id", "pickaxe", "prune", "prune-packed", "pull", "push",
    "quiltimport", "range-diff", "read-tree", "rebase", "receive-pack", "reflog", "refs", "remote",
    "repack", "replace", "replay", "request-pull", "rerere", "reset", "restore", "rev-list",
    "rev-parse", "revert", "rm", "send-email", "send-pack", "shell", "shortlog", "show",
    "show-branch", "show-index", "show-ref", "sparse-checkout", "stage", "stash", "status",
    "stripspace", "submodule", "svn", "switch", "symbolic-ref", "tag", "unpack-file",
    "unpack-objects", "update-index", "update-ref", "update-server-info", "upload-archive",
    "upload-pack", "var", "verify-commit", "verify-pack", "verify-tag", "version", "whatchanged",
    "worktree", "write-tree",
];

#[cfg(test)]
mod tests;
