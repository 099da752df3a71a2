//! git subcommands that create, move or delete files which are not git's own.

use aurora_model::Touch;

use crate::analysis::shell::command::options::{Parsed, Spec, Style};
use crate::analysis::shell::command::step::Step;
use crate::analysis::shell::field::Field;

const RM: Spec = Spec {
    short_values: "",
    short_optional: "",
    long_values: &["pathspec-from-file"],
    long_flags: &[
        "dry-run",
        "quiet",
        "cached",
        "force",
        "ignore-unmatch",
        "sparse",
        "pathspec-file-nul",
    ],
    long_optional: &[],
    style: Style::Permute,
};

const CLONE: Spec = Spec {
    short_values: "obujc",
    long_values: &[
        "jobs",
        "template",
        "reference",
        "reference-if-able",
        "origin",
        "branch",
        "upload-pack",
        "depth",
        "shallow-since",
        "shallow-exclude",
        "separate-git-dir",
        "ref-format",
        "config",
        "server-option",
        "filter",
        "bundle-uri",
        "revision",
    ],
    long_flags: &[
        "verbose",
        "quiet",
        "progress",
        "reject-shallow",
        "checkout",
        "bare",
        "mirror",
        "local",
        "hardlinks",
        "shared",
        "dissociate",
        "single-branch",
        "tags",
        "shallow-submodules",
        "ipv4",
        "ipv6",
        "also-filter-submodules",
        "remote-submodules",
        "sparse",
    ],
    long_optional: &["recurse-submodules", "recursive"],
    ..RM
};

const INIT: Spec = Spec {
    short_values: "b",
    long_values: &["template", "separate-git-dir", "object-format", "ref-format", "initial-branch"],
    long_flags: &["quiet", "bare"],
    long_optional: &["shared"],
    ..RM
};

/// Options of diff, log and their like that name a file to write.
const OUTPUT: Spec = Spec {
    short_values: "oSGOL",
    long_values: &["output", "output-directory"],
    long_flags: &["output-indicator-new", "output-indicator-old", "output-indicator-context"],
    ..Spec::FLAGS
};

/// What `git SUBCOMMAND ARGS` does to files.
#[must_use]
pub fn steps(subcommand: &str, args: &[Field]) -> Vec<Step> {
    match subcommand {
        "rm" => rm(&RM.parse(args)),
        "mv" => mv(&RM.parse(args)),
        "clone" => clone(&CLONE.parse(args)),
        "init" | "init-db" => {
            let parsed = INIT.parse(args);
            let dir = parsed.operands.first().filter(|dir| !dir.is("."));
            dir.map(|dir| created(dir)).into_iter().collect()
        }
        "bundle" => match args {
            [create, rest @ ..] if create.is("create") => {
                let operands = Spec::FLAGS.parse(rest).operands;
                operands.first().map(|file| created(file)).into_iter().collect()
            }
            _ => Vec::new(),
        },
        "archive" | "format-patch" => {
            let parsed = OUTPUT.parse(args);
            let named = [('o', "output"), ('o', "output-directory")]
                .iter()
                .find_map(|(short, long)| parsed.value(*short, long));
            named.map(created).into_iter().collect()
        }
        "diff" | "log" | "show" | "diff-tree" | "diff-index" | "diff-files" | "whatchanged"
        | "range-diff" | "shortlog" => {
            let named = Spec { short_values: "SGOL", ..OUTPUT }.parse(args);
            named.value('\0', "output").map(created).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A path that comes into being.
#[must_use]
pub fn created(path: &Field) -> Step {
    Step::Change { target: path.clone(), touch: Touch::Create, recursive: false }
}

/// The configuration that `git clone -c KEY=VALUE` sets.
#[must_use]
pub fn clone_settings(args: &[Field]) -> Vec<(String, Field)> {
    CLONE.parse(args).values('c', "config").into_iter().filter_map(super::setting).collect()
}

fn rm(parsed: &Parsed<'_>) -> Vec<Step> {
    if parsed.switched_on('\0', "cached") || parsed.switched_on('n', "dry-run") {
        return Vec::new();
    }
    if parsed.has('\0', "pathspec-from-file") {
        return vec![Step::DeleteBelow(Vec::new())];
    }
    if parsed.operands.is_empty() {
        return Vec::new();
    }
    let targets = parsed.operands.iter().map(|path| pathspec(path)).collect();
    vec![Step::Delete { targets, recursive: parsed.has('r', "") }]
}

fn mv(parsed: &Parsed<'_>) -> Vec<Step> {
    if parsed.switched_on('n', "dry-run") {
        return Vec::new();
    }
    let rename = |path: &&Field| Step::Change {
        target: (*path).clone(),
        touch: Touch::Rename,
        recursive: false,
    };
    parsed.operands.iter().map(rename).collect()
}

/// A clone without a folder of its own goes into one named after the repository.
fn clone(parsed: &Parsed<'_>) -> Vec<Step> {
    match parsed.operands.as_slice() {
        [_, dir, ..] if dir.is(".") => Vec::new(),
        [_, dir, ..] => vec![created(dir)],
        [url] => {
            let bare = parsed.has('\0', "bare") || parsed.has('\0', "mirror");
            let text = url.text().unwrap_or_default().trim_end_matches('/');
            let text = text.trim_end_matches(".git").trim_end_matches('/');
            match text.rsplit(['/', ':']).next() {
                Some(name) if !name.is_empty() && !bare => {
                    vec![created(&Field::lit(name, url.span))]
                }
                _ => Vec::new(),
            }
        }
        [] => Vec::new(),
    }
}

/// A path as git's commands read it: patterns are matched even when the shell left them alone.
#[must_use]
pub fn pathspec(path: &Field) -> Field {
    match path.text() {
        Some(text) if text.contains(['*', '?', '[']) || text.starts_with(":(") => {
            let mut out = Field::lit("", path.span);
            out.push_glob(text);
            out
        }
        _ => path.clone(),
    }
}
