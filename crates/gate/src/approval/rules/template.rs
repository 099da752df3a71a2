//! The file that `aur approvals init` writes: every setting at its default, commented out.

/// A file in which nothing is set yet and everything is explained.
pub const TEMPLATE: &str = include_str!("template.yaml");
