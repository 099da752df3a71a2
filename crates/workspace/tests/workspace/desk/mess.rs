//! Property test.
