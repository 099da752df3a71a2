//! The canonical JSON of an action (RFC 8785) and its SHA-256: what a decision is bound to.

#[cfg(test)]
mod tests;

use aurora_model::{Digest, Subject};
use serde::Serialize;
use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

/// The canonical JSON of a value; nothing when it has none, as a number that RFC 8785 cannot tell from
/// the one beside it.
#[must_use]
pub fn canonical<T: Serialize>(value: &T) -> Option<String> {
    let plain = serde_json::to_value(value).ok()?;
    is_exact(&plain).then(|| serde_json_canonicalizer::to_string(value).ok()).flatten()
}

/// The digest of a subject. One that has no canonical JSON is hashed as it is written, after a word
/// that no JSON begins with, so that it is like nothing but itself.
#[must_use]
pub fn digest_of(subject: &Subject) -> Digest {
    let text = canonical(subject).unwrap_or_else(|| {
        // A subject holds names, words and a JSON value: writing it down cannot fail.
        format!("as written: {}", serde_json::to_string(subject).unwrap_or_default())
    });
    Digest::of_bytes(Sha256::digest(text.as_bytes()).into())
}

/// Whether every number in it is one that a double holds as it is. RFC 8785 writes all numbers as
/// doubles, so 9007199254740993 would be 9007199254740992, and a yes to one a yes to the other.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_double(number),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

fn is_double(number: &Number) -> bool {
    // The digits between the first and the last that is set must fit into 53.
    let fits = |n: u64| n == 0 || 64 - n.leading_zeros() - n.trailing_zeros() <= 53;
    let whole = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    whole.is_none_or(fits)
}
