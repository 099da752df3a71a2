//! The JSON in an answer: alone, in a code fence, or somewhere between words.

use serde_json::{Deserializer, Value};

use super::shape;

/// A longer answer is not read.
const MAX_BYTES: usize = 512 * 1024;

/// More braces than this are not tried.
const MAX_STARTS: usize = 200;

/// The JSON value that is the answer, or what is wrong.
pub fn json(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    if text.len() > MAX_BYTES {
        return Err(format!("the answer is too long: {} bytes of JSON and text", text.len()));
    }
    if let Some((value, _)) = at_start(text, true) {
        return Ok(value);
    }
    // What comes last counts: models that think aloud write drafts before it.
    let mut other = None;
    for value in fenced(text).into_iter().chain(scattered(text)).rev() {
        if shape::is_answer(&value) {
            return Ok(value);
        }
        if value.is_object() {
            other.get_or_insert(value);
        }
    }
    other.ok_or_else(|| "there is no JSON object in the answer".to_owned())
}

/// What stands in code fences.
fn fenced(text: &str) -> Vec<Value> {
    let blocks = text.split("```").skip(1).step_by(2);
    // The first line of a block is the language.
    let body = |block: &str| block.split_once('\n').map(|(_, body)| body.trim().to_owned());
    blocks.filter_map(|block| at_start(&body(block)?, true)).map(|(value, _)| value).collect()
}

/// Everything that begins with a brace or a bracket and is JSON from there on.
fn scattered(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text;
    for _ in 0..MAX_STARTS {
        let Some(start) = rest.find(['{', '[']) else { break };
        let Some(tail) = rest.get(start..) else { break };
        let end = match at_start(tail, false) {
            Some((value, end)) => {
                values.push(value);
                end
            }
            None => 1,
        };
        rest = tail.get(end..).unwrap_or_default();
    }
    values
}

/// The JSON value at the start of a text and where it ends; alone means that nothing may follow.
fn at_start(text: &str, alone: bool) -> Option<(Value, usize)> {
    match parse(text, alone) {
        // It says so itself; looking for commas in every text would take long.
        Err(Some(error)) if error.to_string().starts_with("trailing comma") => {
            parse(&without_trailing_commas(text)?, alone).ok()
        }
        parsed => parsed.ok(),
    }
}

/// The same for JSON without faults; the error is nothing when there is more than there should be.
fn parse(text: &str, alone: bool) -> Result<(Value, usize), Option<serde_json::Error>> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next().ok_or(None)?.map_err(Some)?;
    let end = values.byte_offset();
    let rest = text.get(end..).unwrap_or_default();
    if !alone || rest.trim().is_empty() { Ok((value, end)) } else { Err(None) }
}

/// The text with a space for every comma before a closing bracket, where there is one.
fn without_trailing_commas(text: &str) -> Option<String> {
    let mut patched = String::with_capacity(text.len());
    let (mut quoted, mut escaped, mut found) = (false, false, false);
    for (at, c) in text.char_indices() {
        let closes = || {
            let rest = text.get(at + 1..).unwrap_or_default();
            rest.trim_start().starts_with(['}', ']'])
        };
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted && closes() => {
                found = true;
                patched.push(' ');
                continue;
            }
            _ => {}
        }
        patched.push(c);
    }
    found.then_some(patched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_before_brackets_go_and_those_in_texts_stay() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(without_trailing_commas(text).as_deref(), expected, "{text}");
        };
        check("[1,]", Some("[1 ]"));
        check("{\"a\":[1, \n],}", Some("{\"a\":[1  \n] }"));
        check(r#"{"a":",]","b\\":"\",}"}"#, None);
        check("[1,2]", None);
    }
}
