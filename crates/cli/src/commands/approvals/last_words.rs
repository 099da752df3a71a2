//! What an agent said at the end of an attempt, from what was kept of it.

use aurora_model::Digest;
use serde_json::Value;

use crate::wiring::store::Log;

/// So many lines are shown; the transcript has them all.
const LINES: usize = 12;
/// A longer line is cut.
const MAX_CHARS: usize = 400;

/// The last lines of a transcript; none where there is none, or where it cannot be read.
pub fn of(log: &Log, transcript: Option<&Digest>) -> Vec<String> {
    let Some(digest) = transcript else { return Vec::new() };
    // Whoever looks at a question sees it all the same when its transcript is gone.
    let bytes = log.ask(log.store.get(digest)).unwrap_or_default();
    last(&String::from_utf8_lossy(&bytes))
}

fn last(text: &str) -> Vec<String> {
    let said = text.lines().rev().flat_map(|line| {
        let mut lines: Vec<String> = words(line).lines().map(shown).collect();
        lines.reverse();
        lines
    });
    let mut lines: Vec<String> = said.filter(|line| !line.is_empty()).take(LINES).collect();
    lines.reverse();
    lines
}

/// What a line says to people: a message of a protocol is reduced to its words.
fn words(line: &str) -> String {
    let Ok(Value::Object(message)) = serde_json::from_str(line) else { return line.to_owned() };
    if !message.contains_key("type") {
        return line.to_owned();
    }
    let direct = ["content", "summary", "result"].into_iter().find_map(|key| message.get(key));
    if let Some(text) = direct.and_then(Value::as_str) {
        return text.to_owned();
    }
    let parts = message.get("message").and_then(|one| one.get("content"));
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part.get("text")?.as_str()).collect();
    texts.join("\n")
}

fn shown(line: &str) -> String {
    let line = line.trim_end();
    // Of a line that overwrites itself only the last version counts.
    let line = line.rsplit('\r').next().unwrap_or(line);
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}...", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OBS-1: whoever decides about a failure reads what the agent said, not how it was wrapped.
    #[test]
    fn the_last_words_are_those_for_people() {
        let mut text: String = (0..20).map(|number| format!("line {number}\n")).collect();
        text.push_str("10%\r100%\n\n");
        text.push_str("{\"type\":\"cost\",\"usd\":0.1}\n");
        text.push_str("{\"type\":\"message\",\"content\":\"one\\ntwo\"}\n");
        text.push_str("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"three\"}]}}\n");
        text.push_str("{\"type\":\"result\",\"success\":false,\"summary\":\"no paint\"}\n");
        text.push_str("{\"is\": \"no message\"}\n");
        let lines = last(&text);
        assert_eq!(lines.len(), LINES);
        let end =
            ["line 19", "100%", "one", "two", "three", "no paint", "{\"is\": \"no message\"}"];
        assert!(lines.ends_with(&end.map(ToOwned::to_owned)), "{lines:?}");
        assert_eq!(last(&"x".repeat(1000)).concat().len(), MAX_CHARS + 3);
        assert!(last("").is_empty());
    }
}
