//! git subcommands that throw work away: uncommitted changes, stashes, branches, unreachable commits.

use aurora_model::{EffectKind, Span, Touch};

use super::facts::{Facts, HEAD_KEY};
use super::files::{created, pathspec};
use super::print;
use crate::analysis::shell::command::options::{Parsed, Spec, Style};
use crate::analysis::shell::command::step::Step;
use crate::analysis::shell::field::Field;

const CHECKOUT: Spec = Spec {
    short_values: "bB",
    short_optional: "t",
    long_values: &["conflict", "orphan", "pathspec-from-file"],
    long_flags: &[
        "quiet",
        "progress",
        "merge",
        "detach",
        "guess",
        "force",
        "ours",
        "theirs",
        "overlay",
        "patch",
        "ignore-skip-worktree-bits",
        "ignore-other-worktrees",
        "overwrite-ignore",
        "pathspec-file-nul",
        "help",
    ],
    long_optional: &["track", "recurse-submodules"],
    style: Style::Permute,
};

const SWITCH: Spec = Spec {
    short_values: "cC",
    long_values: &["create", "force-create", "orphan", "conflict"],
    long_flags: &[
        "quiet",
        "progress",
        "merge",
        "detach",
        "guess",
        "force",
        "discard-changes",
        "overwrite-ignore",
        "ignore-other-worktrees",
        "help",
    ],
    ..CHECKOUT
};

const RESTORE: Spec = Spec {
    short_values: "s",
    short_optional: "",
    long_values: &["source", "conflict", "pathspec-from-file"],
    long_flags: &[
        "staged",
        "worktree",
        "ignore-unmerged",
        "overlay",
        "quiet",
        "progress",
        "merge",
        "ours",
        "theirs",
        "patch",
        "ignore-skip-worktree-bits",
        "pathspec-file-nul",
        "help",
    ],
    long_optional: &["recurse-submodules"],
    ..CHECKOUT
};

const RESET: Spec = Spec {
    short_values: "",
    short_optional: "",
    long_values: &["pathspec-from-file"],
    long_flags: &[
        "quiet",
        "refresh",
        "no-refresh",
        "mixed",
        "soft",
        "hard",
        "merge",
        "keep",
        "patch",
        "intent-to-add",
        "pathspec-file-nul",
        "help",
    ],
    long_optional: &["recurse-submodules"],
    ..CHECKOUT
};

const CLEAN: Spec = Spec {
    short_values: "e",
    short_optional: "",
    long_values: &["exclude"],
    long_flags: &["quiet", "dry-run", "force", "interactive", "help"],
    long_optional: &[],
    ..CHECKOUT
};

const BRANCH: Spec = Spec {
    short_values: "u",
    short_optional: "t",
    long_values: &["set-upstream-to", "sort", "points-at", "format"],
    long_flags: &[
        "verbose",
        "quiet",
        "unset-upstream",
        "remotes",
        "all",
        "delete",
        "move",
        "omit-empty",
        "copy",
        "list",
        "show-current",
        "create-reflog",
        "edit-description",
        "force",
        "ignore-case",
        "recurse-submodules",
        "help",
    ],
    long_optional: &[
        "track",
        "color",
        "abbrev",
        "column",
        "contains",
        "no-contains",
        "merged",
        "no-merged",
    ],
    ..CHECKOUT
};

const WORKTREE: Spec = Spec {
    short_values: "bB",
    short_optional: "",
    long_values: &["reason", "expire"],
    long_flags: &[
        "force",
        "detach",
        "checkout",
        "lock",
        "orphan",
        "quiet",
        "track",
        "guess-remote",
        "porcelain",
        "dry-run",
        "verbose",
        "help",
    ],
    long_optional: &[],
    ..CHECKOUT
};

/// Loose options of subcommands that have few.
const PLUMBING: Spec = Spec {
    short_values: "m",
    long_values: &[
        "expire",
        "expire-unreachable",
        "prefix",
        "index-output",
        "stage",
        "exclude-per-directory",
    ],
    long_flags: &[
        "dry-run", "force", "all", "reset", "stdin", "verbose", "quiet", "no-deref", "short",
        "delete",
    ],
    long_optional: &["prune"],
    ..RESET
};

/// What a subcommand of this file would do.
#[must_use]
pub fn steps(name: &str, args: &[Field], facts: &Facts<'_>, span: Span) -> Vec<Step> {
    match name {
        "reset" => reset(&RESET.parse(args), span),
        "checkout" => checkout(&CHECKOUT.parse(args), facts, span),
        "switch" => switch(&SWITCH.parse(args), span),
        "restore" => restore(&RESTORE.parse(args), span),
        "clean" => clean(&CLEAN.parse(args), facts, span),
        "stash" => match args.first().and_then(Field::text) {
            Some("drop") => vec![discards("a stash", span)],
            Some("clear") => vec![discards("every stash", span)],
            _ => Vec::new(),
        },
        "branch" => branch(&BRANCH.parse(args), facts, span),
        "worktree" => worktree(args, span),
        _ => plumbing(name, args, facts, span),
    }
}

fn discards(what: impl Into<String>, span: Span) -> Step {
    Step::Emit(EffectKind::DiscardWork { what: what.into() }, Some(span))
}

/// Remembers the branch that is checked out from here on; unknown ones too.
fn moves_head(branch: Option<&str>) -> Step {
    Step::Remember(HEAD_KEY.to_owned(), branch.unwrap_or_default().to_owned())
}

fn reset(parsed: &Parsed<'_>, span: Span) -> Vec<Step> {
    let throws = parsed.has('\0', "hard") || parsed.has('\0', "merge");
    if throws && !parsed.has('\0', "help") {
        vec![discards("uncommitted changes", span)]
    } else {
        Vec::new()
    }
}

/// Paths that are named, so that a protected one is seen; the current folder is no such name.
fn overwritten(paths: &[&Field]) -> Vec<Step> {
    let named = paths.iter().filter(|path| !path.is(".") && !path.is(":/") && !path.is("*"));
    named
        .map(|path| Step::Change { target: pathspec(path), touch: Touch::Write, recursive: false })
        .collect()
}

fn discards_paths(paths: &[&Field], span: Span) -> Vec<Step> {
    let mut steps = vec![discards("uncommitted changes to files", span)];
    steps.extend(overwritten(paths));
    steps
}

fn checkout(parsed: &Parsed<'_>, facts: &Facts<'_>, span: Span) -> Vec<Step> {
    if parsed.switched_on('p', "patch") || parsed.has('\0', "help") {
        return Vec::new();
    }
    let paths = parsed.behind_dashdash();
    if !paths.is_empty() {
        return discards_paths(paths, span);
    }
    if parsed.has('\0', "pathspec-from-file") {
        return discards_paths(&[], span);
    }
    let new = [('b', ""), ('B', ""), ('\0', "orphan")]
        .iter()
        .find_map(|(short, long)| parsed.value(*short, long));
    let mut steps = Vec::new();
    if parsed.switched_on('f', "force") {
        steps.push(discards("uncommitted changes", span));
    }
    if let Some(new) = new {
        steps.push(moves_head(new.text()));
        return steps;
    }
    let sides = ["ours", "theirs"].iter().any(|side| parsed.has('\0', side))
        || parsed.has('2', "")
        || parsed.has('3', "");
    match parsed.before_dashdash() {
        [] => steps,
        paths if sides => discards_paths(paths, span),
        [only] if parsed.after_dashdash.is_none() && looks_like_path(only, facts) => {
            discards_paths(&[only], span)
        }
        [only] => {
            let tracks = parsed.has('t', "track");
            steps.push(moves_head(only.text().filter(|name| *name != "-").map(|name| {
                let short = name.split_once('/').filter(|_| tracks);
                short.map_or(name, |(_, short)| short)
            })));
            steps
        }
        [first, paths @ ..] => {
            let mut found = discards_paths(paths, span);
            if looks_like_path(first, facts) {
                found.extend(overwritten(&[first]));
            }
            found
        }
    }
}

fn switch(parsed: &Parsed<'_>, span: Span) -> Vec<Step> {
    if parsed.has('\0', "help") {
        return Vec::new();
    }
    let mut steps = Vec::new();
    if parsed.switched_on('f', "force") || parsed.switched_on('\0', "discard-changes") {
        steps.push(discards("uncommitted changes", span));
    }
    let new = [('c', "create"), ('C', "force-create"), ('\0', "orphan")]
        .iter()
        .find_map(|(short, long)| parsed.value(*short, long));
    let target = new.or_else(|| parsed.operands.first().copied());
    if let Some(target) = target {
        steps.push(moves_head(target.text().filter(|name| *name != "-")));
    }
    steps
}

fn restore(parsed: &Parsed<'_>, span: Span) -> Vec<Step> {
    let only_index = parsed.switched_on('S', "staged") && !parsed.switched_on('W', "worktree");
    if only_index || parsed.switched_on('p', "patch") || parsed.has('\0', "help") {
        return Vec::new();
    }
    if parsed.operands.is_empty() && !parsed.has('\0', "pathspec-from-file") {
        return Vec::new();
    }
    discards_paths(&parsed.operands, span)
}

fn clean(parsed: &Parsed<'_>, facts: &Facts<'_>, span: Span) -> Vec<Step> {
    let unforced = facts.config_text("clean.requireforce");
    let willing = parsed.switched_on('f', "force")
        || unforced.is_some_and(|value| !super::facts::is_yes(&value));
    if !willing || parsed.switched_on('n', "dry-run") || parsed.has('\0', "help") {
        return Vec::new();
    }
    let mut steps = vec![discards("untracked files", span)];
    steps.extend(overwritten(&parsed.operands));
    steps
}

fn branch(parsed: &Parsed<'_>, facts: &Facts<'_>, span: Span) -> Vec<Step> {
    if parsed.has('\0', "show-current") {
        return print::branch(facts, &Field::lit("", span), false);
    }
    // Remote-tracking branches come back with the next fetch.
    if parsed.has('r', "remotes") || parsed.has('\0', "help") {
        return Vec::new();
    }
    let forced = parsed.switched_on('f', "force");
    let names: Vec<Option<&str>> = parsed.operands.iter().map(|name| name.text()).collect();
    if parsed.has('D', "") || (parsed.has('d', "delete") && forced) {
        return vec![discards("a branch, merged or not", span)];
    }
    if parsed.has('d', "delete") {
        return Vec::new();
    }
    if parsed.has('m', "move") || parsed.has('M', "") {
        let force = forced || parsed.has('M', "");
        return match names.as_slice() {
            [new] => vec![moves_head(*new)],
            [old, new] => {
                let mut steps = Vec::new();
                if force {
                    steps.push(discards("a branch of that name", span));
                }
                if *old == facts.branch.as_deref() {
                    steps.push(moves_head(*new));
                }
                steps
            }
            _ => Vec::new(),
        };
    }
    if let Some(upstream) = parsed.value('u', "set-upstream-to") {
        let of = names.first().copied().flatten().or(facts.branch.as_deref());
        let merge = upstream.text().map(|name| name.split_once('/').map_or(name, |(_, rest)| rest));
        if let (Some(of), Some(merge)) = (of, merge) {
            return vec![Step::Remember(format!("branch.{of}.merge"), merge.to_owned())];
        }
    }
    if (forced || parsed.has('C', "")) && !names.is_empty() {
        return vec![discards("where the branch was", span)];
    }
    Vec::new()
}

fn worktree(args: &[Field], span: Span) -> Vec<Step> {
    let Some((action, rest)) = args.split_first() else { return Vec::new() };
    let parsed = WORKTREE.parse(rest);
    match action.text() {
        Some("remove") if parsed.switched_on('f', "force") => {
            vec![discards("a worktree with its changes", span)]
        }
        Some("add") => parsed.operands.first().map(|path| created(path)).into_iter().collect(),
        Some("move") => parsed.operands.get(1).map(|path| created(path)).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn plumbing(name: &str, args: &[Field], facts: &Facts<'_>, span: Span) -> Vec<Step> {
    let parsed = PLUMBING.parse(args);
    let first = parsed.operands.first().and_then(|first| first.text());
    let dry = parsed.switched_on('n', "dry-run") || parsed.has('\0', "help");
    let thrown = match name {
        "update-ref" if parsed.has('d', "") => Some("a ref"),
        "reflog" if matches!(first, Some("expire" | "delete")) && !dry => Some("the reflog"),
        "gc" if parsed
            .value('\0', "prune")
            .is_some_and(|when| when.is("now") || when.is("all")) =>
        {
            Some("unreachable commits")
        }
        "prune" if !dry => Some("unreachable commits"),
        "checkout-index" if parsed.has('f', "force") && !parsed.has('\0', "prefix") => {
            Some("uncommitted changes")
        }
        "read-tree" if parsed.has('u', "") && parsed.has('\0', "reset") => {
            Some("uncommitted changes")
        }
        _ => None,
    };
    if let Some(thrown) = thrown {
        return vec![discards(thrown, span)];
    }
    if name == "symbolic-ref" && first == Some("HEAD") {
        let target = parsed.operands.get(1).map(|target| target.text().unwrap_or_default());
        return match target {
            Some(target) => vec![moves_head(target.strip_prefix("refs/heads/"))],
            None => print::branch(facts, &Field::lit("", span), !parsed.has('\0', "short")),
        };
    }
    Vec::new()
}

/// Whether the one operand of `git checkout` is rather a path than a branch.
fn looks_like_path(operand: &Field, facts: &Facts<'_>) -> bool {
    if operand.has_glob() {
        return true;
    }
    let Some(text) = operand.text() else {
        // `"$DIR/file.rs"` ends like a file, whatever stands before.
        return has_file_ending(operand.suffix());
    };
    let name = text.rsplit('/').next().unwrap_or(text);
    let marked = text.ends_with('/')
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with('/')
        || text.starts_with(":/")
        || text.starts_with(":(")
        || text.starts_with(":!")
        || text.contains('*')
        || name.starts_with('.');
    let named = ["Makefile", "Dockerfile", "README", "LICENSE", "CHANGELOG", "Gemfile", "Rakefile"];
    marked
        || (facts.is_file)(text)
        || named.contains(&name)
        || (has_file_ending(name) && !text.starts_with("origin/"))
}

fn has_file_ending(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    !stem.is_empty() && ENDINGS.binary_search(&ending).is_ok()
}

/// Endings by which a word is rather a file than a branch, sorted.
#[rustfmt::skip]
pub static ENDINGS: &[&str] = &[
    "bash", "bat", "bin", "c", "cc", "cfg", "cjs", "clj", "conf", "cpp", "cs", "css", "csv", "dart",
    "db", "diff", "ex", "exs", "gif", "go", "gradle", "graphql", "h", "hpp", "hs", "htm", "html",
    "ini", "ipynb", "java", "jpg", "js", "json", "jsx", "key", "kt", "less", "lock", "log", "lua",
    "m", "md", "mjs", "ml", "mod", "patch", "pdf", "pem", "php", "pl", "png", "properties", "proto",
    "ps", "py", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "sql", "sqlite", "sum", "svelte",
    "svg", "swift", "tex", "tf", "toml", "ts", "tsv", "tsx", "txt", "vue", "xml", "yaml", "yml",
    "zig",
];
