//! Which files a patch would touch, read exactly as `git apply` reads it; a patch that could touch
//! anything else is refused.

mod effects;
mod header;
mod hunk;
mod name;
mod reader;

#[cfg(test)]
mod tests;

use aurora_model::Span;

pub use effects::effects;

/// What a patch would do to the working tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchAnalysis {
    /// The files in the order of the patch, up to the refusal if there is one.
    pub files: Vec<PatchFile>,
    /// Why the patch must not be applied: what `git apply` would touch is not certain.
    pub refusal: Option<Refusal>,
}

/// Why a patch is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason in words.
    pub why: String,
    /// The line of the patch, counted from one.
    pub line: usize,
}

/// One file's part of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// Its name before; nothing when it is new.
    pub old: Option<Vec<u8>>,
    /// Its name after; nothing when it is deleted.
    pub new: Option<Vec<u8>>,
    /// What happens to it.
    pub change: Change,
    /// Its mode before, when the patch says it.
    pub old_mode: Option<u32>,
    /// Its mode after, when the patch says it.
    pub new_mode: Option<u32>,
    /// Its content is not text.
    pub binary: bool,
    /// How many lines are added.
    pub added_lines: u64,
    /// How many lines are removed.
    pub removed_lines: u64,
    /// Which bytes of the patch are about it.
    pub span: Span,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It comes into being.
    Added,
    /// It goes away.
    Deleted,
    /// Its content or mode changes.
    Modified,
    /// It gets another name.
    Renamed,
    /// It is made from another file that stays.
    Copied,
}

/// Reads a patch.
#[must_use]
pub fn analyse(patch: &[u8]) -> PatchAnalysis {
    let mut files = Vec::new();
    let refusal = reader::read(patch, &mut files).err().map(|refused| {
        let before = patch.get(..refused.at).unwrap_or(patch);
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Refusal { why: refused.why, line }
    });
    PatchAnalysis { files, refusal }
}
