//! Paths made from arguments: last components, joins, places on other machines.

use aurora_model::Span;

use super::options::Parsed;
use crate::analysis::shell::field::{Field, Seg};

/// Whether only information is printed (`--help`, `--version`).
#[must_use]
pub fn only_informs(parsed: &Parsed<'_>) -> bool {
    parsed.has('\0', "help") || parsed.has('\0', "version")
}

/// The last component of a path; nothing when it is not known, or is no name (`.`, `..`, `/`).
#[must_use]
pub fn last_component(path: &Field) -> Option<Field> {
    let mut out = Field::lit("", path.span);
    for seg in path.segs() {
        match seg {
            Seg::Lit(text) => {
                let (before, last) = match text.rsplit_once('/') {
                    Some((before, last)) => (Some(before), last),
                    None => (None, text.as_str()),
                };
                if before.is_some() {
                    out = Field::lit("", path.span);
                }
                out.push_lit(last);
            }
            Seg::Glob(pattern) => out.push_glob(pattern),
            Seg::Any => out.push_any(path.many),
        }
    }
    if out.segs().is_empty() {
        // A slash at the end belongs to the name before it.
        let trimmed = path.text()?.trim_end_matches('/');
        let name = trimmed.rsplit('/').next().filter(|name| !name.is_empty())?;
        out = Field::lit(name, path.span);
    }
    (!out.has_any() && !out.is(".") && !out.is("..")).then_some(out)
}

/// A path below a folder.
#[must_use]
pub fn below(folder: &Field, name: &Field) -> Field {
    let mut out = Field::lit("", folder.span.to(name.span));
    out.push_field(folder);
    if !folder.suffix().ends_with('/') {
        out.push_lit("/");
    }
    out.push_field(name);
    out.many = folder.many || name.many;
    out
}

/// A field with more text at its end.
#[must_use]
pub fn with_suffix(path: &Field, suffix: &str) -> Field {
    let mut out = path.clone();
    out.verbatim = None;
    out.push_lit(suffix);
    out
}

/// Whether a path is certainly a folder, by its spelling.
#[must_use]
pub fn is_folder(path: &Field) -> bool {
    path.suffix().ends_with('/')
        || matches!(path.text(), Some("." | ".." | "~"))
        || path.suffix().ends_with("/.")
        || path.suffix().ends_with("/..")
}

/// Whether a path is on another machine (`host:path`, `rsync://…`, `s3://…`).
#[must_use]
pub fn is_remote(path: &Field) -> bool {
    let text = path.prefix();
    let head = text.split('/').next().unwrap_or("");
    text.contains("://") || (head.contains(':') && !head.starts_with(':'))
}

/// A literal field.
#[must_use]
pub fn literal(text: &str, span: Span) -> Field {
    Field::lit(text, span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<&str>) {
        let field = Field::lit(path, Span::default());
        let last = last_component(&field);
        assert_eq!(last.as_ref().and_then(Field::text), expected, "{path}");
    }

    #[test]
    fn the_last_component_is_a_name_or_nothing() {
        check("a/b.txt", Some("b.txt"));
        check("b.txt", Some("b.txt"));
        check("a/b/", Some("b"));
        check(".", None);
        check("a/..", None);
        check("/", None);
    }

    #[test]
    fn places_are_told_apart_by_their_spelling() {
        let field = |text: &str| Field::lit(text, Span::default());
        assert!(is_remote(&field("host:dir/x")));
        assert!(is_remote(&field("s3://bucket/x")));
        assert!(!is_remote(&field("dir/a:b")));
        assert!(is_folder(&field("a/")));
        assert!(is_folder(&field("..")));
        assert!(!is_folder(&field("a")));
    }
}
