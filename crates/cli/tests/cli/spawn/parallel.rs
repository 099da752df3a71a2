//! parallel.
