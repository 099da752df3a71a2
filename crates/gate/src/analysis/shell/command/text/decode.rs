//! Text in disguise: base64, hex, reversed or shifted constants.

use crate::analysis::shell::command::options::Spec;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// Text that is known whole: of a stream, or of the first file when this line wrote it.
fn known(machine: &Machine<'_>, call: &Call<'_>, operands: &[&Field]) -> Option<String> {
    let stream = match operands.first() {
        Some(file) if !file.is("-") => machine.stream_of(file),
        _ => call.stdin.clone(),
    };
    match stream {
        Stream::Text(text) => text.text().map(str::to_owned),
        _ => None,
    }
}

fn printed(call: &Call<'_>, text: Option<String>) -> Stream {
    match text {
        Some(text) => Stream::Text(Field::lit(text, call.span)),
        None => match call.stdin {
            Stream::Network(from) => Stream::Network(from.clone()),
            _ => Stream::Output(call.name.to_owned()),
        },
    }
}

const BASE64: Spec = Spec {
    short_values: "wio",
    long_values: &["wrap", "input", "output"],
    long_flags: &["decode", "ignore-garbage"],
    ..Spec::FLAGS
};

/// `base64 -d` of a constant; anything else is output.
pub(super) fn base64(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = BASE64.parse(call.args);
    let decodes = parsed.has('d', "decode") || parsed.has('D', "decode");
    if !decodes || call.name != "base64" {
        return printed(call, None);
    }
    let text = known(machine, call, &parsed.operands);
    printed(call, text.and_then(|text| from_base64(&text)))
}

/// `openssl base64 -d`, `openssl enc -base64 -d`; its `-out` files are changed.
pub(super) fn openssl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let has = |flag: &str| call.args.iter().any(|arg| arg.is(flag));
    let mut previous: Option<&Field> = None;
    for arg in call.args {
        if previous.is_some_and(|flag| {
            matches!(
                flag.text(),
                Some("-out" | "-keyout" | "-signature" | "-CAserial" | "-writerand")
            )
        }) {
            machine.overwrite(arg, aurora_model::Touch::Create, arg.span);
        }
        previous = Some(arg);
    }
    if has("-d") && (has("base64") || has("-base64") || has("-a")) {
        let text = known(machine, call, &[]);
        return printed(call, text.and_then(|text| from_base64(&text)));
    }
    Stream::Output(call.name.to_owned())
}

/// Decodes base64, whatever white space stands in it.
#[must_use]
pub fn from_base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0u32);
    for c in text.bytes().filter(|c| !c.is_ascii_whitespace()) {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

pub(super) fn rev(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let operands = Spec::FLAGS.parse(call.args).operands;
    let text = known(machine, call, &operands);
    let reversed = text.map(|text| {
        text.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect()
    });
    printed(call, reversed)
}

/// `xxd -r -p` of a constant.
pub(super) fn xxd(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec { short_values: "clgos", ..Spec::FLAGS }.parse(call.args);
    let back = call
        .args
        .iter()
        .filter_map(Field::text)
        .any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains('r'));
    let plain = call
        .args
        .iter()
        .filter_map(Field::text)
        .any(|arg| arg.starts_with('-') && arg.contains('p'));
    if !back || !plain {
        return printed(call, None);
    }
    let text = known(machine, call, &parsed.operands);
    printed(call, text.and_then(|text| from_hex(&text)))
}

fn from_hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

/// `tr a-y b-z` and `tr -d x` on a constant.
pub(super) fn tr(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec::FLAGS.parse(call.args);
    let Stream::Text(text) = call.stdin else { return printed(call, None) };
    let sets: Option<Vec<Vec<char>>> =
        parsed.operands.iter().map(|set| members(set.text()?)).collect();
    let done = text.text().zip(sets).and_then(|(text, sets)| {
        let delete = parsed.has('d', "delete");
        match (delete, sets.as_slice()) {
            (true, [gone, ..]) => Some(text.chars().filter(|c| !gone.contains(c)).collect()),
            (false, [from, to]) => {
                let last = *to.last()?;
                let map = |c: char| match from.iter().position(|other| *other == c) {
                    Some(at) => to.get(at).copied().unwrap_or(last),
                    None => c,
                };
                Some(text.chars().map(map).collect())
            }
            _ => None,
        }
    });
    printed(call, done)
}

/// The characters of a set with its ranges counted out; nothing for classes.
fn members(set: &str) -> Option<Vec<char>> {
    if set.contains("[:") || set.contains("[=") {
        return match set {
            "[:upper:]" => Some(('A'..='Z').collect()),
            "[:lower:]" => Some(('a'..='z').collect()),
            _ => None,
        };
    }
    let text = crate::analysis::shell::escape::decode_escapes(set);
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(end)) if end >= c => {
                out.extend(*c..=*end);
                at += 3;
            }
            _ => {
                out.push(*c);
                at += 1;
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_decoded() {
        assert_eq!(from_base64("cm0gLXJmIHg=").as_deref(), Some("rm -rf x"));
        assert_eq!(from_base64("cm0g\nLXJmIHg").as_deref(), Some("rm -rf x"));
        assert_eq!(from_base64("?"), None);
        assert_eq!(from_hex("72 6d").as_deref(), Some("rm"));
        assert_eq!(
            members("a-cx").map(|m| m.into_iter().collect::<String>()).as_deref(),
            Some("abcx")
        );
    }
}
