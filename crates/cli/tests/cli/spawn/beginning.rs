//! beginning.
