//! Says in words what is wrong with a line of a batch that could not be read.

use serde_json::{Map, Value};

const DIALECTS: &str = "generic, postgres, mysql, sqlite or mssql";

/// What is wrong, by the names that the line itself uses; `error` is what reading it ran into.
#[must_use]
pub fn in_words(text: &str, error: &serde_json::Error) -> String {
    match serde_json::from_str::<Value>(text) {
        Err(error) => format!("this is not JSON: {}", with_column(&error)),
        Ok(Value::Object(line)) => in_fields(&line).unwrap_or_else(|| with_column(error)),
        Ok(_) => "expected a JSON object".to_owned(),
    }
}

/// The error with its column only: for the reader of a batch the JSON has no lines of its own.
fn with_column(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} (column {})", error.column()),
        None => text,
    }
}

fn in_fields(line: &Map<String, Value>) -> Option<String> {
    let is_texts =
        |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    if line.get("command").is_some_and(|value| !is_text(value) && !is_texts(value)) {
        return Some("command: expected a string or a list of strings".to_owned());
    }
    if let Some(key) = ["sql", "patch", "tool"].into_iter().find(|key| is_wrong(line, key)) {
        return Some(format!("{key}: expected a string"));
    }
    if line.get("dialect").is_some_and(|value| {
        !value.as_str().is_some_and(|name| DIALECTS.split([' ', ',']).any(|known| known == name))
    }) {
        return Some(format!("dialect: expected {DIALECTS}"));
    }
    match line.get("context") {
        None | Some(Value::Null) => None,
        Some(Value::Object(context)) => in_context(context),
        Some(_) => Some("context: expected an object".to_owned()),
    }
}

fn in_context(context: &Map<String, Value>) -> Option<String> {
    let texts = ["cwd", "root", "home", "branch", "upstream", "role"];
    if let Some(key) = texts.into_iter().find(|key| is_wrong(context, key)) {
        return Some(format!("context.{key}: expected a string"));
    }
    match context.get("aliases")? {
        Value::Null => None,
        Value::Object(aliases) => aliases
            .iter()
            .find(|(_, value)| !value.is_string())
            .map(|(name, _)| format!("context.aliases.{name}: expected a string")),
        _ => Some("context.aliases: expected an object".to_owned()),
    }
}

fn is_wrong(fields: &Map<String, Value>, key: &str) -> bool {
    fields.get(key).is_some_and(|value| !is_text(value))
}

/// A text, or nothing said.
fn is_text(value: &Value) -> bool {
    value.is_string() || value.is_null()
}

#[cfg(test)]
mod tests {
    use super::super::batch_line::Line;

    fn check(text: &str, expected: &str) {
        match Line::read(text) {
            Ok(_) => panic!("{text} can be read"),
            Err(problem) => assert_eq!(problem, expected, "{text}"),
        }
    }

    #[test]
    fn what_is_wrong_is_said_by_the_names_in_the_line() {
        check("garbage", "this is not JSON: expected value (column 1)");
        check(r#"{"command": "#, "this is not JSON: EOF while parsing a value (column 12)");
        check("3", "expected a JSON object");
        check("[]", "expected a JSON object");
        check(r#"["a", "ls", null, "generic", null, null, null, null]"#, "expected a JSON object");
        check(r#"{"command": 3}"#, "command: expected a string or a list of strings");
        check(r#"{"command": ["a", 3]}"#, "command: expected a string or a list of strings");
        check(r#"{"sql": []}"#, "sql: expected a string");
        check(r#"{"tool": 7}"#, "tool: expected a string");
        let dialects = "dialect: expected generic, postgres, mysql, sqlite or mssql";
        check(r#"{"sql": "x", "dialect": "dbase"}"#, dialects);
        check(r#"{"sql": "x", "dialect": null}"#, dialects);
        check(r#"{"command": "ls", "context": 3}"#, "context: expected an object");
        check(r#"{"command": "ls", "context": []}"#, "context: expected an object");
        check(
            r#"{"command": "ls", "context": {"branch": 3}}"#,
            "context.branch: expected a string",
        );
        check(
            r#"{"command": "ls", "context": {"aliases": {"pf": 3}}}"#,
            "context.aliases.pf: expected a string",
        );
        check(
            r#"{"command": "ls", "context": {"aliases": "x"}}"#,
            "context.aliases: expected an object",
        );
        check(r#"{"command": "ls", "command": "rm"}"#, "duplicate field `command` (column 27)");
    }
}
