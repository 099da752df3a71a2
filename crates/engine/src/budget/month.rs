//! A calendar month in UTC, which names a stream of the ledger.

use std::fmt;

use aurora_model::Timestamp;
use aurora_store::StreamId;

/// A calendar month in UTC, such as `2026-11`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(String);

impl Month {
    /// The month of a moment.
    #[must_use]
    pub fn of(moment: Timestamp) -> Self {
        Self(moment.to_string().chars().take(7).collect())
    }

    /// Reads `2026-11`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let day = Timestamp::parse(&format!("{text}-01T00:00:00Z"))?;
        Some(Self::of(day)).filter(|month| month.0 == text)
    }

    /// The month whose ledger a stream is.
    #[must_use]
    pub fn of_stream(stream: &StreamId) -> Option<Self> {
        Self::parse(stream.0.strip_prefix("budget/")?)
    }

    /// The stream of its ledger.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        StreamId(format!("budget/{}", self.0))
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
