//! The workspace crate against a real git, a real kernel and real crashes.
