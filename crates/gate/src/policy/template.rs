//! The policy file that `aur policy init` writes: every key with its default, commented out.

/// A policy file in which nothing is set yet and everything is explained.
pub const TEMPLATE: &str = include_str!("template.yaml");
