//! What the user allows: one policy, made of layers.

/// A loaded policy.
#[derive(Debug, Clone, Default)]
pub struct Policy {}
