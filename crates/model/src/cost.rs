//! What a call cost: money in millionths of a dollar, tokens, and how well it is known.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount of money, in millionths of a US dollar, so that sums are exact.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Usd {
    /// Millionths of a dollar.
    pub micros: u64,
}

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self { micros: 0 };

    /// An amount in dollars; what is no amount, or negative, is nothing.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast from a float saturates, and what is negative was taken out"
    )]
    pub fn from_dollars(dollars: f64) -> Self {
        let micros = (dollars * 1e6).round();
        Self { micros: if micros > 0.0 { micros as u64 } else { 0 } }
    }

    /// The sum, or the largest amount there is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { micros: self.micros.saturating_add(other.micros) }
    }

    /// What is left, or nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self { micros: self.micros.saturating_sub(other.micros) }
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, rest) = (self.micros / 1_000_000, self.micros % 1_000_000);
        if rest % 10_000 == 0 {
            write!(f, "${dollars}.{:02}", rest / 10_000)
        } else {
            write!(f, "${dollars}.{:04}", rest / 100)
        }
    }
}

/// Tokens that went to a model and came from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// To the model.
    pub input: u64,
    /// From the model.
    pub output: u64,
}

/// How well a cost is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// The provider said it, or it follows from the tokens that it counted and a known price.
    Reported,
    /// It was guessed.
    Estimated,
    /// Nobody knows; the amount is the part that is known, mostly nothing.
    #[default]
    Unknown,
}

/// What one call cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The amount.
    pub usd: Usd,
    /// How well it is known.
    pub known: Known,
    /// The tokens, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The model, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Cost {
    /// What two parts of the same work cost together; it is known as well as the worse known of them.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let known = match (self.known, other.known) {
            (Known::Unknown, _) | (_, Known::Unknown) => Known::Unknown,
            (Known::Estimated, _) | (_, Known::Estimated) => Known::Estimated,
            (Known::Reported, Known::Reported) => Known::Reported,
        };
        let tokens = match (self.tokens, other.tokens) {
            (Some(one), Some(two)) => Some(Tokens {
                input: one.input.saturating_add(two.input),
                output: one.output.saturating_add(two.output),
            }),
            (one, two) => one.or(two),
        };
        let model = other.model.clone().or_else(|| self.model.clone());
        Self { usd: self.usd.plus(other.usd), known, tokens, model }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_to_the_cent_or_to_the_hundredth_of_one() {
        assert_eq!(Usd::from_dollars(12.5).to_string(), "$12.50");
        assert_eq!(Usd::from_dollars(0.0123).to_string(), "$0.0123");
        assert_eq!(Usd::from_dollars(-1.0), Usd::ZERO);
        assert_eq!(Usd::from_dollars(f64::NAN), Usd::ZERO);
    }
}
