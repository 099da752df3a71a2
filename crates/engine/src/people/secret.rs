//! What only the holder of a token knows: 256 random bits, and the hash by which they are known.

use std::fmt;

use aurora_model::Digest;

/// What every token begins with, so that people and scanners recognise one.
pub const PREFIX: &str = "aur_";

/// The text of a token. It is shown once, and kept by nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The token of these bits, which must come from the system's source of randomness.
    #[must_use]
    pub fn of(bits: [u8; 32]) -> Self {
        Self(format!("{PREFIX}{}", Digest::of_bytes(bits)))
    }

    /// Its text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// By what it is known.
    #[must_use]
    pub fn hash(&self) -> Digest {
        Self::hash_of(&self.0)
    }

    /// By what a text would be known. The bits are random, so that there is nothing to guess and a
    /// slow hash would only slow us down.
    #[must_use]
    pub fn hash_of(text: &str) -> Digest {
        aurora_store::chain::digest(text.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Whether two digests are the same, in a time that does not depend on where they differ.
#[must_use]
pub fn same(one: &Digest, other: &Digest) -> bool {
    let (one, other) = (one.as_str().as_bytes(), other.as_str().as_bytes());
    let differing = one.iter().zip(other).fold(0, |sum, (one, other)| sum | (one ^ other));
    std::hint::black_box(differing) == 0 && one.len() == other.len()
}
