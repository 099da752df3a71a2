//! Paths without a file system: where an argument leads, and which patterns (in the meaning of
//! gitignore) cover it.

use aurora_model::PathRef;

use super::shell::field::{Field, Seg};
use super::shell::pattern;

pub use self::patterns::{BadPattern, PatternSet};

mod patterns;

/// Absolute and without `.`, `..` and doubled slashes, by looking at the text alone; nothing when
/// it is relative and the current directory is not known.
#[must_use]
pub fn normalize(path: &str, cwd: Option<&str>) -> Option<String> {
    if path.is_empty() {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    if !path.starts_with('/') {
        parts.extend(cwd?.split('/').filter(|part| !part.is_empty()));
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts == ["dev", "fd"] => parts = vec!["proc", "self"],
            ".." => {
                parts.pop();
            }
            name => {
                parts.push(name);
                match link_of_process(&parts) {
                    Some("cwd") => parts = components(cwd?).collect(),
                    Some(_) => parts.clear(),
                    None => {}
                }
            }
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// The link in a process's folder that a path has come to: `/proc/self/cwd` leads to the current
/// directory and `/proc/self/root` to the root. Which process it is does not matter: the ones that
/// a line can name stand where it stands.
fn link_of_process<T: AsRef<str>>(parts: &[T]) -> Option<&str> {
    let [first, process, link] = parts else { return None };
    let process = process.as_ref();
    let is_process = matches!(process, "self" | "thread-self" | "**")
        || process.bytes().all(|byte| byte.is_ascii_digit());
    let link = link.as_ref();
    (first.as_ref() == "proc" && is_process && matches!(link, "cwd" | "root")).then_some(link)
}

/// Where an argument leads, as far as that is known.
///
/// Inside the worktree the result is relative to its root (`.` is the root itself), an ancestor of
/// the root is written as `..`, anything else is absolute. Unknown parts become `*` or `**`, and
/// nothing at all is said when nothing is known.
#[must_use]
pub fn resolve(field: &Field, cwd: Option<&str>, root: Option<&str>) -> PathRef {
    let text = field.display();
    if let Some(exact) = field.text() {
        let resolved = normalize(exact, cwd).map(|path| relative(&path, root));
        return PathRef { text, resolved, glob: false };
    }
    let resolved = pattern_of(field, cwd).map(|path| relative_pattern(&path, root));
    PathRef { text, resolved, glob: true }
}

fn components(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|part| !part.is_empty())
}

/// An absolute, normalised path as seen from the root.
fn relative(path: &str, root: Option<&str>) -> String {
    let Some(root) = root else { return path.to_owned() };
    let (mut inner, mut outer) = (components(path), components(root));
    loop {
        let rest = inner.clone();
        match (outer.next(), inner.next()) {
            (None, None) => return ".".to_owned(),
            (None, Some(_)) => return rest.collect::<Vec<_>>().join("/"),
            (Some(_), None) => return "..".to_owned(),
            (Some(left), Some(right)) if left == right => {}
            _ => return path.to_owned(),
        }
    }
}

/// An argument with globs and unknown parts as an absolute pattern, or one that starts with `**`.
fn pattern_of(field: &Field, cwd: Option<&str>) -> Option<String> {
    const ANY: char = '\u{1}';
    let mut text = String::new();
    for seg in field.segs() {
        match seg {
            Seg::Lit(part) | Seg::Glob(part) => text.push_str(part),
            Seg::Any => text.push(ANY),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    let from_anywhere = text.starts_with(ANY);
    if from_anywhere {
        parts.push("**".to_owned());
    } else if !text.starts_with('/') {
        match cwd {
            Some(cwd) => parts.extend(components(cwd).map(str::to_owned)),
            None => parts.push("**".to_owned()),
        }
    }
    let mut says_something = false;
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts == ["dev", "fd"] {
                    parts = vec!["proc".to_owned(), "self".to_owned()];
                    continue;
                }
                // What is above an unknown folder is unknown.
                if parts.iter().any(|part| part.contains("**")) {
                    return None;
                }
                parts.pop();
            }
            name if name.trim_matches(ANY).is_empty() => {
                if parts.last().is_none_or(|last| last != "**") {
                    parts.push("**".to_owned());
                }
            }
            name => {
                says_something = true;
                parts.push(name.replace(ANY, "*"));
                match link_of_process(&parts) {
                    Some("cwd") => parts = components(cwd?).map(str::to_owned).collect(),
                    Some(_) => parts.clear(),
                    None => {}
                }
            }
        }
    }
    if !says_something && (from_anywhere || parts.len() <= 1) {
        return None;
    }
    let absolute = parts.first().is_none_or(|first| first != "**");
    Some(format!("{}{}", if absolute { "/" } else { "" }, parts.join("/")))
}

/// An absolute pattern as seen from the root.
fn relative_pattern(path: &str, root: Option<&str>) -> String {
    let Some(root) = root.filter(|_| path.starts_with('/')) else { return path.to_owned() };
    let inner: Vec<&str> = components(path).collect();
    let outer: Vec<&str> = components(root).collect();
    let shared = inner.iter().zip(&outer).take_while(|(left, right)| left == right).count();
    if shared == outer.len() {
        return inner.get(shared..).unwrap_or(&[]).join("/");
    }
    // `rm -rf ~/*` takes the worktree along when it lives there.
    let takes_root = inner.len() <= outer.len()
        && inner.iter().zip(&outer).all(|(glob, name)| {
            *glob != "**"
                && pattern::matches(glob, name)
                && !(name.starts_with('.') && glob.starts_with('*'))
        });
    if takes_root { "..".to_owned() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(parts: &[&str]) -> Field {
        let mut field = Field::default();
        for part in parts {
            match *part {
                "?any" => field.push_any(true),
                "*" | "?" => field.push_glob(part),
                text => field.push_lit(text),
            }
        }
        field
    }

    #[test]
    fn paths_resolve_from_the_current_directory_to_the_root() {
        let cwd = Some("/home/u/proj/src");
        let root = Some("/home/u/proj");
        for (parts, expected) in [
            (vec!["a.rs"], Some("src/a.rs")),
            (vec!["../.env"], Some(".env")),
            (vec![".."], Some(".")),
            (vec!["../.."], Some("..")),
            (vec!["/"], Some("..")),
            (vec!["/etc/passwd"], Some("/etc/passwd")),
            (vec!["../../other/x"], Some("/home/u/other/x")),
            (vec!["*", ".pem"], Some("src/*.pem")),
            (vec!["/home/u/", "*"], Some("..")),
            (vec!["/", "*"], Some("..")),
            (vec!["vendor/", "?any"], Some("src/vendor/**")),
            (vec!["?any", "/.env"], Some("**/.env")),
            (vec!["?any", ".pem"], Some("**/*.pem")),
            (vec!["?any"], None),
            (vec!["?any", "/../x"], None),
        ] {
            let resolved = resolve(&any(&parts), cwd, root).resolved;
            assert_eq!(resolved.as_deref(), expected, "{parts:?}");
        }
    }
}
