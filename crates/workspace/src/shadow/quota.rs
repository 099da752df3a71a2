//! How much a shadow holds.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::shadow::meta::Shadow;
use crate::shadow::{Strategy, layers};

/// How many bytes of disk the changes of a shadow take. What cannot be looked at counts nothing.
pub(crate) fn bytes_held(shadow: &Shadow) -> u64 {
    match shadow.meta.strategy {
        Strategy::Overlay => {
            shadow.meta.layers.iter().map(|layer| bytes_below(&shadow.dir.join(&layer.upper))).sum()
        }
        Strategy::Reflink | Strategy::Copy => layers::walk(shadow).map_or(0, |walked| walked.bytes),
    }
}

/// How many bytes of disk all below a folder takes.
pub(crate) fn bytes_below(dir: &Path) -> u64 {
    let mut folders = vec![dir.to_owned()];
    let mut bytes: u64 = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                bytes = bytes.saturating_add(meta.blocks().saturating_mul(512));
            }
        }
    }
    bytes
}
