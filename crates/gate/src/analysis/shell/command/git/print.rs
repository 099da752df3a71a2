//! What git prints when it is known beforehand: names and places that lines put into other commands.

use super::facts::Facts;
use crate::analysis::shell::command::step::Step;
use crate::analysis::shell::field::Field;

/// The checked-out branch, as `git branch --show-current` prints it.
#[must_use]
pub fn branch(facts: &Facts<'_>, like: &Field, full: bool) -> Vec<Step> {
    let Some(branch) = &facts.branch else { return Vec::new() };
    let name = if full { format!("refs/heads/{branch}") } else { branch.clone() };
    vec![Step::Print(Field::lit(name, like.span))]
}

/// What `git rev-parse ARGS` prints.
#[must_use]
pub fn rev_parse(args: &[Field], facts: &Facts<'_>) -> Vec<Step> {
    let Some(last) = args.last() else { return Vec::new() };
    let has = |name: &str| args.iter().any(|arg| arg.is(name));
    let print = |text: String| vec![Step::Print(Field::lit(text, last.span))];
    let head = last.is("HEAD") || last.is("@");
    let abbreviated =
        has("--abbrev-ref") || has("--abbrev-ref=strict") || has("--abbrev-ref=loose");
    if abbreviated && head {
        return branch(facts, last, false);
    }
    if has("--symbolic-full-name") && head {
        return branch(facts, last, true);
    }
    if abbreviated && ["@{u}", "@{upstream}", "HEAD@{u}"].iter().any(|name| last.is(name)) {
        return facts.upstream.clone().map(print).unwrap_or_default();
    }
    let Some(root) = &facts.root else { return Vec::new() };
    if has("--show-toplevel") {
        return print(root.clone());
    }
    if has("--git-dir") || has("--absolute-git-dir") || has("--git-common-dir") {
        return print(format!("{root}/.git"));
    }
    match (args.iter().any(|arg| arg.is("--git-path")), last.text()) {
        (true, Some(path)) => print(format!("{root}/.git/{path}")),
        _ => Vec::new(),
    }
}
