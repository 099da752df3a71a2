//! Changes single values in a YAML file that a person wrote: everything else stays byte for byte.

use aurora_gate::settings::{Node, Pair, Place, Problems, SettingsErrors, Shape, read};

use crate::exit::Failure;

/// A value by its dotted key, as it was written.
pub type Value = (String, String);

/// Every value of a file, in its order.
pub fn values(name: &str, text: &str) -> anyhow::Result<Vec<Value>> {
    let mut out = Vec::new();
    if let Some(root) = tree(name, text)? {
        flatten(&root, "", &mut out);
    }
    Ok(out)
}

/// The text with one value changed or added: `section.key`, below the top level.
pub fn set(name: &str, text: &str, key: &str, value: &str) -> anyhow::Result<String> {
    let (section, below) = key.split_once('.').unwrap_or((key, ""));
    let old = values(name, text)?;
    let (bom, body) = split_bom(text);
    let root = tree(name, text)?;
    let found = root.as_ref().and_then(|root| pair(root, section));
    let edited = match found.map(|found| (found, pair(&found.value, below))) {
        Some((_, Some(there))) => replace(body, there.value.at, value),
        Some((section, None)) => insert(body, section, &format!("{below}: {value}")),
        None => Some(append(body, section, &format!("{below}: {value}"))),
    };
    let edited = edited.map(|body| format!("{bom}{body}"));
    // A file can be written in more ways than are known here: the result is read again, and must
    // say the same but for the one value.
    let others = |values: &[Value]| -> Vec<Value> {
        values.iter().filter(|(other, _)| other != key).cloned().collect()
    };
    let sound = |text: &String| {
        let new = values(name, text).unwrap_or_default();
        others(&new) == others(&old) && new.contains(&(key.to_owned(), value.to_owned()))
    };
    edited.filter(sound).ok_or_else(|| {
        Failure::failed(format!("cannot change {key} in {name} without changing more than that"))
            .hint(format!("write `{below}: {value}` below `{section}:` yourself"))
            .into()
    })
}

/// The text without a section of the top level; a comment takes its place.
pub fn remove(name: &str, text: &str, section: &str, comment: &str) -> anyhow::Result<String> {
    let old = values(name, text)?;
    let Some(found) = tree(name, text)?.and_then(|root| pair(&root, section).cloned()) else {
        return Ok(text.to_owned());
    };
    let (bom, body) = split_bom(text);
    let mut out = String::from(bom);
    let mut inside = false;
    for (number, line) in body.split_inclusive('\n').enumerate() {
        let first = number + 1 == found.at.line;
        // A section ends where something else stands at the beginning of a line.
        inside =
            first || (inside && (line.starts_with([' ', '\t', '-']) || line.trim().is_empty()));
        if first {
            out.push_str(&format!("# {comment}{}", line_end(body)));
        } else if !inside || line.trim().is_empty() {
            out.push_str(line);
        }
    }
    let kept: Vec<Value> = old.into_iter().filter(|(key, _)| !is_below(key, section)).collect();
    if values(name, &out).ok() != Some(kept) {
        return Err(Failure::failed(format!("cannot take `{section}` out of {name}"))
            .hint(format!("remove `{section}:` and what is below it yourself"))
            .into());
    }
    Ok(out)
}

/// Whether a dotted key is in a section.
#[must_use]
pub fn is_below(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn tree(name: &str, text: &str) -> anyhow::Result<Option<Node>> {
    let mut problems = Problems::new(name);
    let node = read(text, &mut problems);
    let errors = problems.finish();
    if errors.is_empty() {
        return Ok(node);
    }
    Err(Failure::usage(SettingsErrors(errors).to_string()).into())
}

fn pair<'n>(node: &'n Node, name: &str) -> Option<&'n Pair> {
    match &node.shape {
        Shape::Map(pairs) => pairs.iter().find(|pair| pair.name == name),
        _ => None,
    }
}

fn flatten(node: &Node, path: &str, out: &mut Vec<Value>) {
    let below = |name: &str| {
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    };
    match &node.shape {
        Shape::Scalar { text, .. } => out.push((path.to_owned(), text.clone())),
        Shape::List(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(item, &below(&index.to_string()), out);
            }
        }
        Shape::Map(pairs) => {
            pairs.iter().for_each(|pair| flatten(&pair.value, &below(&pair.name), out));
        }
    }
}

fn split_bom(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    }
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The byte at which a place is.
fn offset(text: &str, at: Place) -> Option<usize> {
    let before: usize = text.split_inclusive('\n').take(at.line - 1).map(str::len).sum();
    let line = text.get(before..)?;
    let column = line.char_indices().nth(at.column - 1).map(|(index, _)| index)?;
    Some(before + column)
}

/// The text with the word at a place replaced.
fn replace(text: &str, at: Place, value: &str) -> Option<String> {
    let start = offset(text, at)?;
    let (before, rest) = text.split_at_checked(start)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let length = match quote {
        Some(quote) => rest.get(1..)?.find(quote)? + 2,
        None => rest.find([' ', '\t', '\r', '\n', ',', '}', ']']).unwrap_or(rest.len()),
    };
    Some(format!("{before}{value}{}", rest.get(length..)?))
}

/// The text with a line more in a section that is there.
fn insert(text: &str, section: &Pair, line: &str) -> Option<String> {
    let Shape::Map(pairs) = &section.value.shape else { return None };
    let start = offset(text, section.value.at)?;
    if text.get(start..)?.starts_with('{') {
        let (before, after) = text.split_at_checked(start + 1)?;
        let comma = if pairs.is_empty() { "" } else { ", " };
        return Some(format!("{before}{line}{comma}{after}"));
    }
    // Before the first key of the section, with its indent.
    let first = pairs.first()?.at;
    let (before, after) = text.split_at_checked(offset(text, Place { column: 1, ..first })?)?;
    let indent = " ".repeat(first.column - 1);
    Some(format!("{before}{indent}{line}{}{after}", line_end(text)))
}

/// The text with a section more at its end.
fn append(text: &str, section: &str, line: &str) -> String {
    let end = line_end(text);
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => end,
        _ => &end.repeat(2),
    };
    format!("{text}{gap}{section}:{end}  {line}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let edited = set("p.yaml", text, "budget.monthly_limit_usd", "7.5").unwrap();
        assert_eq!(edited, expected);
        let again = set("p.yaml", &edited, "budget.monthly_limit_usd", "7.5").unwrap();
        assert_eq!(again, expected, "the second time changes nothing");
    }

    #[test]
    fn one_value_is_changed_and_every_other_byte_stays() {
        check("", "budget:\n  monthly_limit_usd: 7.5\n");
        check("# mine\n", "# mine\n\nbudget:\n  monthly_limit_usd: 7.5\n");
        check("a: 1", "a: 1\n\nbudget:\n  monthly_limit_usd: 7.5\n");
        check(
            "budget:   # money\n    # per month\n    monthly_limit_usd: 100.0  # dollars\nx: [1]\n",
            "budget:   # money\n    # per month\n    monthly_limit_usd: 7.5  # dollars\nx: [1]\n",
        );
        check(
            "budget:\n    warn_at_percent: 3\n\nx: ü\n",
            "budget:\n    monthly_limit_usd: 7.5\n    warn_at_percent: 3\n\nx: ü\n",
        );
        check("budget: {}\n", "budget: {monthly_limit_usd: 7.5}\n");
        check("budget: {a: 1}", "budget: {monthly_limit_usd: 7.5, a: 1}");
        check("budget: {monthly_limit_usd: '1', a: 1}", "budget: {monthly_limit_usd: 7.5, a: 1}");
        check("a: 1\r\n", "a: 1\r\n\r\nbudget:\r\n  monthly_limit_usd: 7.5\r\n");
        check("\u{feff}a: 1\n", "\u{feff}a: 1\n\nbudget:\n  monthly_limit_usd: 7.5\n");
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        for text in ["{a: 1}", "a: 1\n...\n", "budget: 3\n", "- a\n", "a: [\n", "budget: >\n  x\n"]
        {
            let edited = set("p.yaml", text, "budget.monthly_limit_usd", "7.5");
            assert!(edited.is_err(), "{text}: {edited:?}");
        }
    }

    #[test]
    fn a_section_is_taken_out_and_its_neighbours_stay() {
        let check = |text: &str, expected: &str| {
            assert_eq!(remove("c.yaml", text, "budget", "moved").unwrap(), expected);
        };
        check("a: 1\nbudget:\n  x: 1\n  # why\n\nb: 2 # c\n", "a: 1\n# moved\n\nb: 2 # c\n");
        check("budget: {x: 1}\n# b\nb:\n  - 1\n", "# moved\n# b\nb:\n  - 1\n");
        check("budget:\n  x: 1", "# moved\n");
        check("a: 1\n", "a: 1\n");
        assert!(remove("c.yaml", "{budget: {x: 1}, a: 1}", "budget", "moved").is_err());
    }
}
