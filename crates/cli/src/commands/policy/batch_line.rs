//! One line of a batch: its id, what is to be judged, and where.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use aurora_model::{Action, SqlDialect, ToolCall};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::batch_problem;
use crate::wiring::place::Given;

/// A line as it is written.
#[derive(Deserialize)]
pub struct Line {
    /// Whatever the caller calls it.
    #[serde(default)]
    pub id: Value,
    command: Option<CommandText>,
    sql: Option<String>,
    #[serde(default)]
    dialect: SqlDialect,
    patch: Option<String>,
    tool: Option<String>,
    args: Option<Value>,
    /// Where it would happen.
    pub context: Option<Place>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CommandText {
    Line(String),
    Argv(Vec<String>),
}

/// What a line says about the place.
#[derive(Deserialize)]
pub struct Place {
    cwd: Option<String>,
    root: Option<String>,
    home: Option<String>,
    branch: Option<String>,
    upstream: Option<String>,
    aliases: Option<BTreeMap<String, String>>,
    role: Option<String>,
}

impl From<Place> for Given {
    fn from(place: Place) -> Self {
        Self {
            cwd: place.cwd.map(Into::into),
            root: place.root.map(Into::into),
            home: place.home.map(Into::into),
            branch: place.branch,
            upstream: place.upstream,
            aliases: place.aliases.unwrap_or_default(),
            role: place.role,
        }
    }
}

impl Line {
    /// Reads a line; the error says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let line = serde_json::from_str(text)
            .map_err(|error: serde_json::Error| batch_problem::in_words(text, &error))?;
        // A list with a value for each field would be read as well.
        if text.trim_start().starts_with('{') {
            Ok(line)
        } else {
            Err("expected a JSON object".to_owned())
        }
    }

    /// The one action that the line names.
    pub fn action(self) -> Result<Action, &'static str> {
        let mut actions = Vec::new();
        match self.command {
            Some(CommandText::Line(command)) => actions.push(Action::Shell { command }),
            Some(CommandText::Argv(argv)) => actions.push(Action::Exec { argv }),
            None => {}
        }
        actions.extend(self.sql.map(|text| Action::Sql { text, dialect: self.dialect }));
        actions.extend(self.patch.map(|patch| Action::Patch { patch: patch.into_bytes() }));
        match (self.tool, self.args) {
            (Some(name), args) => {
                let args = args.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
                actions.push(Action::Tool(ToolCall { name, args }));
            }
            (None, Some(_)) => return Err("`args` without `tool`"),
            (None, None) => {}
        }
        let action = actions.pop().ok_or("no `command`, `sql`, `patch` or `tool`")?;
        if actions.is_empty() {
            Ok(action)
        } else {
            Err("more than one of `command`, `sql`, `patch` and `tool`")
        }
    }
}

/// The id of a line that is broken somewhere, as far as it can be read.
#[must_use]
pub fn id_of_broken(text: &str) -> Value {
    let mut id = Value::Null;
    let mut json = serde_json::Deserializer::from_str(text);
    // The error is known already; what was seen before it is what counts.
    let _ = json.deserialize_map(FindId(&mut id));
    id
}

struct FindId<'v>(&'v mut Value);

impl<'de> Visitor<'de> for FindId<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == "id" {
                *self.0 = map.next_value()?;
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(text: &str) -> Result<Action, String> {
        Line::read(text)?.action().map_err(str::to_owned)
    }

    #[test]
    fn each_kind_of_line_is_its_action() {
        let check = |text: &str, expected: Action| assert_eq!(action(text), Ok(expected), "{text}");
        check(r#"{"command": "ls"}"#, Action::Shell { command: "ls".into() });
        check(
            r#"{"command": ["ls", "-l"]}"#,
            Action::Exec { argv: vec!["ls".into(), "-l".into()] },
        );
        check(
            r#"{"sql": "x", "dialect": "mysql"}"#,
            Action::Sql { text: "x".into(), dialect: SqlDialect::Mysql },
        );
        check(r#"{"patch": "x"}"#, Action::Patch { patch: b"x".to_vec() });
        check(
            r#"{"tool": "Read", "args": {"a": 1}, "unknown": true}"#,
            Action::Tool(ToolCall { name: "Read".into(), args: serde_json::json!({"a": 1}) }),
        );
    }

    #[test]
    fn a_line_that_names_none_or_two_is_refused() {
        for text in [
            "{}",
            r#"{"command": "ls", "sql": "x"}"#,
            r#"{"args": {}}"#,
            r#"{"command": 3}"#,
            r#"{"command": "ls", "command": "rm -rf /"}"#,
            r#"{"command": "ls", "context": {"cwd": 3}}"#,
            "[]",
            "3",
        ] {
            assert!(action(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_id_of_a_broken_line_is_found_when_it_stands_before_the_break() {
        assert_eq!(id_of_broken(r#"{"id": "a", "command": "#), "a");
        assert_eq!(id_of_broken(r#"{"command": 3, "id": 7}"#), 7);
        assert_eq!(id_of_broken(r#"{"command": , "id": 7}"#), Value::Null);
        assert_eq!(id_of_broken("garbage"), Value::Null);
    }
}
