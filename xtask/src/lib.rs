//! Chores of the repository, as code: the architecture as a test, fuzzing, and the corpus they read.

pub mod bench;
pub mod corpus;
pub mod fuzz;
pub mod say;
pub mod tidy;

use std::path::{Path, PathBuf};

/// The repository's root.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
