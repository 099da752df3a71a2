//! A patch's files as effects.

use aurora_model::{Cause, Count, Effect, EffectKind, PathRef, Touch};

use super::{Change, PatchAnalysis, PatchFile};

/// What a patch would cause.
#[must_use]
pub fn effects(analysis: &PatchAnalysis) -> Vec<Effect> {
    let mut out = Vec::new();
    let deleted: Vec<&PatchFile> =
        analysis.files.iter().filter(|file| file.change == Change::Deleted).collect();
    if let Some(first) = deleted.first() {
        let paths = deleted.iter().filter_map(|file| file.old.as_deref().map(path)).collect();
        let count = Count::Known(u64::try_from(deleted.len()).unwrap_or(u64::MAX));
        let kind = EffectKind::DeleteFiles { paths, count, recursive: false };
        out.push(Effect::new(kind, first.span));
    }
    for file in &analysis.files {
        for (name, touch) in touches(file) {
            let kind = EffectKind::ChangePath { path: path(name), touch, recursive: false };
            out.push(Effect::new(kind, file.span));
        }
    }
    if let Some(refusal) = &analysis.refusal {
        let why = format!("line {}: {}", refusal.line, refusal.why);
        let span = analysis.files.last().map(|file| file.span).unwrap_or_default();
        let kind = EffectKind::Opaque { what: "patch".to_owned(), why, cause: Cause::Unreadable };
        out.push(Effect::new(kind, span));
    }
    out
}

/// In which ways one file's names are touched, other than by deletion.
fn touches(file: &PatchFile) -> Vec<(&[u8], Touch)> {
    let new = file.new.as_deref();
    let mut out = Vec::new();
    let link = |mode: Option<u32>| mode.is_some_and(|mode| mode & 0o170_000 == 0o120_000);
    let is_link = link(file.new_mode) || file.new_mode.is_none() && link(file.old_mode);
    match file.change {
        Change::Deleted => return out,
        Change::Renamed => {
            out.extend(file.old.as_deref().map(|name| (name, Touch::Rename)));
            out.extend(new.map(|name| (name, Touch::Rename)));
        }
        Change::Added | Change::Copied if !is_link => {
            out.extend(new.map(|name| (name, Touch::Create)));
        }
        Change::Modified if !is_link && has_content(file) => {
            out.extend(new.map(|name| (name, Touch::Write)));
        }
        _ => {}
    }
    if is_link {
        out.extend(new.map(|name| (name, Touch::Link)));
    }
    let executable = |mode: u32| mode & 0o170_000 == 0o100_000 && mode & 0o100 != 0;
    let modes = (file.old_mode.is_some_and(executable), file.new_mode.map(executable));
    if let (before, Some(after)) = modes
        && before != after
    {
        out.extend(new.map(|name| (name, Touch::Mode)));
    } else if out.is_empty() {
        out.extend(new.map(|name| (name, Touch::Write)));
    }
    out
}

/// Whether the content changes, not only the mode.
fn has_content(file: &PatchFile) -> bool {
    file.binary || file.added_lines > 0 || file.removed_lines > 0
}

/// A name as a path relative to the root.
fn path(name: &[u8]) -> PathRef {
    let text = String::from_utf8_lossy(name).into_owned();
    PathRef { resolved: Some(text.clone()), text, glob: false }
}
