//! What became of the messages of a channel, for whoever looks at metrics.

/// What became of the messages of a channel since the delivery began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// So many arrived.
    pub delivered: u64,
    /// So many tries failed.
    pub failed: u64,
    /// So many were given up.
    pub given_up: u64,
    /// So many were pointless by the time they could have been sent.
    pub dropped: u64,
    /// What went wrong last; nothing once something arrives again.
    pub trouble: Option<String>,
}
