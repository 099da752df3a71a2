//! Placeholder.
#[must_use]
/// Stand-in.
pub fn is_disk(_path: &str) -> bool {
    false
}
