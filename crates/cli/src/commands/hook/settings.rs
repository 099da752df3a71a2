//! Puts the hook into an agent's settings, or takes it out, and leaves everything else as it is.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::wiring::words;

const EVENT: &str = "PreToolUse";
const TIMEOUT_S: u64 = 30;

/// What was done to settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing: they are as wished already.
    None,
    /// The hook was put in.
    Added,
    /// An older hook of ours was brought up to date.
    Updated,
    /// The hook was taken out.
    Removed,
}

impl Change {
    /// The word for it in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Removed => "removed",
        }
    }
}

/// Puts the hook in; the error says which part of the settings has an unexpected shape.
pub fn install(settings: &mut Map<String, Value>, command: &str) -> Result<Change, String> {
    check_shape(settings)?;
    let wished = json!({"type": "command", "command": command, "timeout": TIMEOUT_S});
    let everything = Value::from("*");
    let whole: Vec<&Value> = groups(settings)
        .filter(|group| group.get("matcher") == Some(&everything))
        .flat_map(entries)
        .filter(|entry| is_ours(entry))
        .collect();
    let all = groups(settings).flat_map(entries).filter(|entry| is_ours(entry)).count();
    if all == 1 && whole == [&wished] {
        return Ok(Change::None);
    }
    if all > 0 {
        remove(settings);
    }
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let Some(hooks) = hooks.as_object_mut() else { return Err(shape("hooks", "an object")) };
    let groups = hooks.entry(EVENT).or_insert_with(|| json!([]));
    let Some(groups) = groups.as_array_mut() else {
        return Err(shape("hooks.PreToolUse", "a list"));
    };
    groups.push(json!({"matcher": "*", "hooks": [wished]}));
    Ok(if all > 0 { Change::Updated } else { Change::Added })
}

/// Takes the hook out.
pub fn uninstall(settings: &mut Map<String, Value>) -> Result<Change, String> {
    check_shape(settings)?;
    if groups(settings).flat_map(entries).any(is_ours) {
        remove(settings);
        Ok(Change::Removed)
    } else {
        Ok(Change::None)
    }
}

/// Whether these settings switch all hooks off.
#[must_use]
pub fn hooks_are_off(settings: &Map<String, Value>) -> bool {
    settings.get("disableAllHooks") == Some(&Value::Bool(true))
}

fn shape(key: &str, expected: &str) -> String {
    format!("`{key}` is not {expected}")
}

fn check_shape(settings: &Map<String, Value>) -> Result<(), String> {
    let Some(hooks) = settings.get("hooks") else { return Ok(()) };
    let hooks = hooks.as_object().ok_or_else(|| shape("hooks", "an object"))?;
    let Some(groups) = hooks.get(EVENT) else { return Ok(()) };
    let groups = groups.as_array().ok_or_else(|| shape("hooks.PreToolUse", "a list"))?;
    for (index, group) in groups.iter().enumerate() {
        let key = format!("hooks.PreToolUse[{index}]");
        let group = group.as_object().ok_or_else(|| shape(&key, "an object"))?;
        if group.get("hooks").is_some_and(|entries| !entries.is_array()) {
            return Err(shape(&format!("{key}.hooks"), "a list"));
        }
    }
    Ok(())
}

fn groups(settings: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let groups = settings.get("hooks").and_then(|hooks| hooks.get(EVENT));
    groups.and_then(Value::as_array).into_iter().flatten()
}

fn entries(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("hooks").and_then(Value::as_array).into_iter().flatten()
}

/// Whether an entry runs this program's hook, wherever the program is installed.
fn is_ours(entry: &Value) -> bool {
    let command = entry.get("command").and_then(Value::as_str).unwrap_or_default();
    let Some(words) = words::split(command) else { return false };
    match words.as_slice() {
        [program, hook, agent, ..] => {
            let name = Path::new(program).file_name().unwrap_or_default();
            let own = std::env::current_exe().is_ok_and(|own| own == Path::new(program));
            (name == "aur" || own) && hook == "hook" && agent == "claude-code"
        }
        _ => false,
    }
}

/// Takes our entries out, and with them what held nothing else.
fn remove(settings: &mut Map<String, Value>) {
    let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) else { return };
    let Some(groups) = hooks.get_mut(EVENT).and_then(Value::as_array_mut) else { return };
    groups.retain_mut(|group| {
        let Some(entries) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
            return true;
        };
        let before = entries.len();
        entries.retain(|entry| !is_ours(entry));
        entries.len() == before || !entries.is_empty()
    });
    if groups.is_empty() {
        hooks.shift_remove(EVENT);
    }
    if hooks.is_empty() {
        settings.shift_remove("hooks");
    }
}

/// The settings as text, indented as the old text is.
#[must_use]
pub fn to_text(settings: &Map<String, Value>, old: &str) -> String {
    let indented = old.lines().find(|line| line.starts_with([' ', '\t']));
    let indent: String = indented
        .map(|line| line.chars().take_while(|c| *c == ' ' || *c == '\t').take(8).collect())
        .unwrap_or_else(|| "  ".to_owned());
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Writing JSON values into memory cannot fail.
    let _ = serde::Serialize::serialize(settings, &mut writer);
    let end = if old.is_empty() || old.ends_with('\n') { "\n" } else { "" };
    String::from_utf8_lossy(&bytes).into_owned() + end
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/opt/aur hook claude-code";

    fn map(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn installing_twice_is_installing_once_and_uninstalling_brings_back_what_was() {
        for text in [
            "{}",
            r#"{"z":1,"a":{"k":[1,2]},"hooks":{"Stop":[{"hooks":[]}]}}"#,
            r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]},"b":2}"#,
        ] {
            let mut settings = map(text);
            assert_eq!(install(&mut settings, COMMAND), Ok(Change::Added), "{text}");
            let once = settings.clone();
            assert_eq!(install(&mut settings, COMMAND), Ok(Change::None));
            assert_eq!(settings, once);
            assert_eq!(uninstall(&mut settings), Ok(Change::Removed));
            assert_eq!(serde_json::to_string(&settings).unwrap(), text);
            assert_eq!(uninstall(&mut settings), Ok(Change::None));
        }
    }

    #[test]
    fn an_older_hook_of_ours_is_replaced_and_the_neighbours_stay() {
        let mut settings = map(r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[
                {"type":"command","command":"mine"},
                {"type":"command","command":"'/old place/aur' hook claude-code --defer"}]}]}}"#);
        assert_eq!(install(&mut settings, COMMAND), Ok(Change::Updated));
        assert_eq!(
            serde_json::to_string(&settings).unwrap(),
            r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]},{"matcher":"*","hooks":[{"type":"command","command":"/opt/aur hook claude-code","timeout":30}]}]}}"#
        );
    }

    #[test]
    fn settings_of_another_shape_are_refused_and_left_alone() {
        for text in [
            r#"{"hooks":[]}"#,
            r#"{"hooks":{"PreToolUse":{}}}"#,
            r#"{"hooks":{"PreToolUse":["x"]}}"#,
            r#"{"hooks":{"PreToolUse":[{"hooks":"x"}]}}"#,
        ] {
            let mut settings = map(text);
            assert!(install(&mut settings, COMMAND).is_err(), "{text}");
            assert!(uninstall(&mut settings).is_err(), "{text}");
            assert_eq!(serde_json::to_string(&settings).unwrap(), text);
        }
    }

    #[test]
    fn the_text_keeps_its_indentation_and_its_end() {
        let settings = map(r#"{"a":{"b":1}}"#);
        assert_eq!(to_text(&settings, ""), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
        assert_eq!(to_text(&settings, "{\n\t\"a\":1\n}"), "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}");
    }
}
