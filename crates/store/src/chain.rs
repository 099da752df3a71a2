//! The two chains of hashes that make a changed, missing, moved or added record show.
//!
//! Every hash is a SHA-256 over fields in a fixed order. A text is its length in bytes as eight
//! bytes, most significant first, and then its bytes; a number is eight bytes, most significant
//! first (a time in two's complement); a hash is its 32 bytes. So no two lists of fields have the
//! same encoding.
//!
//! - A record's `hash`: the text `aurora.record.1`, the hash of the record before it in its stream
//!   (32 zeros for the first), stream, version, time in milliseconds, kind, schema, payload.
//! - A record's `chain`: the text `aurora.chain.1`, the chain of the record before it in the whole
//!   log (32 zeros for the first), position, the record's `hash`.
//!
//! A stream can be verified on its own, and a stream that was taken out whole is missed all the same.
//! Whoever can write the file can write a new chain, too: only a head that was noted elsewhere shows
//! that.

mod beside;
mod verify;

use aurora_model::{Digest, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::record::Record;

pub use beside::{referred, verify_beside};
pub use verify::{Finding, Verification, Verifier, What, verify, verify_with};

/// The 32 bytes of a hash.
pub type Hash = [u8; 32];

/// What stands for the record before the first.
pub const BEGINNING: Hash = [0; 32];

/// The hash of a record, given the one before it in its stream.
#[must_use]
pub fn hash(
    before: &Hash,
    stream: &str,
    version: u64,
    at: Timestamp,
    kind: &str,
    schema: u16,
    payload: &str,
) -> Hash {
    let mut fields = Fields::new("aurora.record.1");
    fields.hash(before);
    fields.text(stream);
    fields.number(version.to_be_bytes());
    fields.number(at.unix_ms.to_be_bytes());
    fields.text(kind);
    fields.number(u64::from(schema).to_be_bytes());
    fields.text(payload);
    fields.done()
}

/// The hash that a record should have, given the one before it in its stream.
#[must_use]
pub fn hash_of(before: &Hash, record: &Record) -> Hash {
    let Record { stream, version, at, kind, schema, payload, .. } = record;
    hash(before, &stream.0, *version, *at, kind, *schema, payload)
}

/// The link of a record to the one before it in the whole log.
#[must_use]
pub fn link(before: &Hash, position: u64, hash: &Hash) -> Hash {
    let mut fields = Fields::new("aurora.chain.1");
    fields.hash(before);
    fields.number(position.to_be_bytes());
    fields.hash(hash);
    fields.done()
}

/// The SHA-256 of some bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> Digest {
    Digest::of_bytes(Sha256::digest(bytes).into())
}

/// The bytes of a digest; nothing when it is none.
#[must_use]
pub fn bytes(digest: &Digest) -> Option<Hash> {
    let digits = digest.as_str().as_bytes();
    let mut hash = BEGINNING;
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(hash)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Fields on their way into a hash.
struct Fields(Sha256);

impl Fields {
    fn new(what: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.text(what);
        fields
    }

    fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text.as_bytes());
    }

    fn number(&mut self, bytes: [u8; 8]) {
        self.0.update(bytes);
    }

    fn hash(&mut self, hash: &Hash) {
        self.0.update(hash);
    }

    fn done(self) -> Hash {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests;
