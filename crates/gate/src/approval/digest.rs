//! The canonical JSON of an action (RFC 8785) and its SHA-256: what a decision is bound to.

use aurora_model::{Digest, Subject};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The canonical JSON of a value; nothing when it has none, as a number that no JSON can hold.
#[must_use]
pub fn canonical<T: Serialize>(value: &T) -> Option<String> {
    serde_json_canonicalizer::to_string(value).ok()
}

/// The digest of a subject. One that has no canonical JSON has a digest that matches nothing.
#[must_use]
pub fn digest_of(subject: &Subject) -> Digest {
    let text = canonical(subject).unwrap_or_default();
    Digest::of_bytes(Sha256::digest(text.as_bytes()).into())
}
