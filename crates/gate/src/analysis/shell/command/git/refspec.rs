//! One refspec of a push: where it lands, and whether it forces or deletes.

use super::facts::Facts;
use crate::analysis::shell::field::{Field, Seg};

/// Names under which the protected branches can be written as a destination.
const MAIN_NAMES: [&str; 6] =
    ["main", "master", "heads/main", "heads/master", "refs/heads/main", "refs/heads/master"];

/// What pushing one refspec means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Landing {
    /// The refspec starts with `+`.
    pub forced: bool,
    /// Nothing is pushed to the destination: it is deleted.
    pub deletes: bool,
    /// Why main or master is, or may be, the destination.
    pub main: Option<String>,
}

/// Reads one refspec.
#[must_use]
pub fn landing(refspec: &Field, facts: &Facts<'_>) -> Landing {
    let (forced, plain) = match refspec.strip_prefix("+") {
        Some(plain) => (true, plain),
        None => (false, refspec.clone()),
    };
    if plain.is(":") {
        return Landing { forced, deletes: false, main: Some(MATCHING.to_owned()) };
    }
    match plain.split_once(':') {
        Some((source, destination)) => Landing {
            forced,
            deletes: source.is(""),
            main: main_by_name(&destination).or_else(|| remote_head(&destination)),
        },
        None => Landing { forced, deletes: false, main: main_of_source(&plain, facts) },
    }
}

/// What a push of every branch that both sides know is called.
pub const MATCHING: &str = "every branch that exists on both sides, which may include main";

/// A refspec without a colon lands under its own name, or where the branch's upstream is.
fn main_of_source(source: &Field, facts: &Facts<'_>) -> Option<String> {
    if source.is("HEAD") || source.is("@") {
        return current(facts);
    }
    let name = source.text().map(|text| text.trim_start_matches("refs/heads/"));
    let follows = facts
        .config_text("push.default")
        .is_some_and(|how| matches!(how.as_str(), "upstream" | "tracking"));
    if let (true, Some(merge)) = (follows, name.and_then(|name| facts.merge_of(name))) {
        return main_by_text(&merge);
    }
    main_by_name(source)
}

/// Why the checked-out branch is, or may be, main.
#[must_use]
pub fn current(facts: &Facts<'_>) -> Option<String> {
    match &facts.branch {
        Some(branch) => main_by_text(branch),
        None => Some("the checked-out branch, which is not known and may be main".to_owned()),
    }
}

/// Whether a known destination is main or master.
#[must_use]
pub fn main_by_text(name: &str) -> Option<String> {
    let short = MAIN_NAMES.contains(&name).then(|| name.rsplit('/').next())?;
    short.map(str::to_owned)
}

/// Whether a destination is, or may be, main or master.
#[must_use]
pub fn main_by_name(name: &Field) -> Option<String> {
    if let Some(text) = name.text().filter(|text| !text.contains('*')) {
        return main_by_text(text);
    }
    let covered = MAIN_NAMES.iter().any(|main| matches(name, main));
    let why = if name.has_any() { "which may be main" } else { "which includes main" };
    covered.then(|| format!("{}, {why}", name.display()))
}

fn remote_head(destination: &Field) -> Option<String> {
    (destination.is("HEAD") || destination.is("@"))
        .then(|| "the remote's HEAD, which may be main".to_owned())
}

/// Whether a name with unknown parts or `*` can turn out to be this.
fn matches(name: &Field, text: &str) -> bool {
    let mut head = String::new();
    let mut tail = String::new();
    let mut open = false;
    for seg in name.segs() {
        match seg {
            Seg::Lit(lit) if open => {
                tail = match lit.rsplit_once('*') {
                    Some((_, after)) => after.to_owned(),
                    None => tail + lit,
                };
            }
            Seg::Lit(lit) => match (lit.split_once('*'), lit.rsplit_once('*')) {
                (Some((before, _)), Some((_, after))) => {
                    head.push_str(before);
                    tail = after.to_owned();
                    open = true;
                }
                _ => head.push_str(lit),
            },
            Seg::Glob(_) | Seg::Any => {
                open = true;
                tail.clear();
            }
        }
    }
    text.len() >= head.len() + tail.len() && text.starts_with(&head) && text.ends_with(&tail)
}
