//! Names of requests that nobody can guess.

use aurora_model::QuestionId;

use crate::error::{Error, Result};

/// The digits of base 32 (RFC 4648), in small letters.
const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A name that nobody can guess and nobody has had before: `apr-` and 128 random bits.
///
/// # Errors
/// When the system has no randomness to give.
pub fn fresh_id() -> Result<QuestionId> {
    let mut bytes = [0; 16];
    let lost = || Error::Lost { what: "there is no randomness to make a name of".to_owned() };
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| lost())?;
    let bits = u128::from_be_bytes(bytes);
    // 26 digits of 5 bits each; the last holds what is left of them.
    let digits = (0..26_u32).filter_map(|at| {
        let digit = if at == 25 { bits << 2 } else { bits >> (123 - 5 * at) };
        DIGITS.get(usize::try_from(digit & 31).ok()?).copied().map(char::from)
    });
    let name: String = "apr-".chars().chain(digits).collect();
    QuestionId::parse(&name).ok_or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    // APR-1: ids such as `checkpoint_iter3` were guessed, and were the same in two sessions.
    #[test]
    fn apr_1_the_name_of_a_request_cannot_be_guessed() {
        let ids: Vec<String> = (0..1000).map(|_| fresh_id().unwrap().to_string()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        for place in 4..30 {
            let digits: BTreeSet<char> =
                ids.iter().map(|id| id.chars().nth(place).unwrap()).collect();
            // The last digit holds three bits.
            let expected = if place == 29 { 8 } else { 32 };
            assert_eq!(digits.len(), expected, "{place}");
        }
        assert!(ids.iter().all(|id| id.len() == 30 && id.starts_with("apr-")));
    }
}
