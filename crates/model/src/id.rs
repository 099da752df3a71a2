//! Names of runs, tasks, questions, plans and agents: short words that are safe in paths and URLs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longer names are refused.
const MAX_CHARS: usize = 120;

/// Whether a text can be a name: letters, digits, `.`, `_`, `-`, and no leading `.` or `-`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !text.is_empty()
        && text.len() <= MAX_CHARS
        && text.chars().all(sound)
        && !text.starts_with(['.', '-'])
}

/// A text as a part of a name: lower case, words joined by `-`, at most `max` characters.
#[must_use]
pub fn slug(text: &str, max: usize) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() >= max {
            break;
        }
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.trim_end_matches('-').to_owned()
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The name, when the text can be one.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                is_name(text).then(|| Self(text.to_owned()))
            }

            /// The name's text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// The name of a run, such as `spawn-1705234567-3f9a`.
    RunId;
    /// The name of a task within its run, such as `sg-3`.
    TaskId;
    /// The name of a question, such as `q-4`, unique within its run.
    QuestionId;
    /// The name of a plan, such as `0004-add-caching`.
    PlanId;
    /// The name of an agent as the settings know it, without the `@` that people write.
    AgentName;
}

/// The SHA-256 of some bytes, as 64 hexadecimal digits: the name of what is kept beside the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest, when the text is 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(digit)).then(|| Self(text.to_owned()))
    }

    /// The digest of these 32 bytes.
    #[must_use]
    pub fn of_bytes(bytes: [u8; 32]) -> Self {
        let digits = bytes.into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        Self(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect())
    }

    /// Its digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_safe_in_a_path_and_in_an_address() {
        for good in ["sg-1", "spawn-1705234567", "a.b_c", "7"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", ".", "..", "-x", "a/b", "a b", "ä", "a\n", &"x".repeat(200)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_slug_is_a_name_made_of_the_words() {
        assert_eq!(slug("Improve: memory  indexing!", 40), "improve-memory-indexing");
        assert_eq!(slug("ÄÖ", 40), "");
        assert_eq!(slug("aaa bbb", 4), "aaa");
    }
}
