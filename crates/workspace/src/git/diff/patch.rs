//! The patch of one path, from what stood there to what stands there.

use std::borrow::Cow;
use std::io::{self, Write as _};

use aurora_model::{EntryMode, RepoPath};
use gix::hash::ObjectId;
use serde::Serialize;

use super::{binary, lines, name};

/// One side of a patch: what stands at the path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    /// Of which kind it is.
    pub mode: EntryMode,
    /// The blob's name, or the submodule's commit.
    pub id: ObjectId,
    /// A file's bytes or a link's target; not looked at for a submodule.
    pub bytes: &'a [u8],
}

/// How many lines of a file differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileStat {
    /// The path.
    pub path: RepoPath,
    /// How many lines came.
    pub added: u64,
    /// How many lines went.
    pub removed: u64,
    /// Whether the content is binary, so that nothing is counted.
    pub binary: bool,
}

/// The patch of one path as `git diff --binary --full-index` writes it; empty when nothing differs.
pub(crate) fn patch_of(
    path: &RepoPath,
    before: Option<Side<'_>>,
    after: Option<Side<'_>>,
) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    match (before, after) {
        (Some(old), Some(new)) if kind(old.mode) != kind(new.mode) => {
            write_patch(path, Some(old), None, &mut out)?;
            write_patch(path, None, Some(new), &mut out)?;
        }
        _ => write_patch(path, before, after, &mut out)?,
    }
    Ok(out)
}

/// How many lines of one path differ, as `git diff --numstat` counts them.
pub(crate) fn stat_of(
    path: &RepoPath,
    before: Option<Side<'_>>,
    after: Option<Side<'_>>,
) -> FileStat {
    let (old, new) = (text_of(before), text_of(after));
    let binary = binary::is_binary(&old) || binary::is_binary(&new);
    let (added, removed) = if binary || old == new { (0, 0) } else { lines::count(&old, &new) };
    FileStat { path: path.clone(), added, removed, binary }
}

/// A patch between two things of the same kind, of which one may be missing.
fn write_patch(
    path: &RepoPath,
    before: Option<Side<'_>>,
    after: Option<Side<'_>>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let Some(hash) = before.or(after).map(|side| side.id.kind()) else { return Ok(()) };
    let state = |side: Option<Side<'_>>| side.map(|side| (side.mode, side.id));
    if state(before) == state(after) {
        return Ok(());
    }
    let (old_name, new_name) =
        (name::quoted("a/", path.as_bytes()), name::quoted("b/", path.as_bytes()));
    out.extend_from_slice(b"diff --git ");
    out.extend_from_slice(&old_name);
    out.push(b' ');
    out.extend_from_slice(&new_name);
    out.push(b'\n');
    write_modes(before, after, out)?;
    let id = |side: Option<Side<'_>>| side.map_or(hash.null(), |side| side.id);
    if id(before) == id(after) {
        return Ok(());
    }
    write!(out, "index {}..{}", id(before), id(after))?;
    if let (Some(old), Some(new)) = (before, after)
        && old.mode == new.mode
    {
        write!(out, " {}", digits(new.mode))?;
    }
    out.push(b'\n');
    let (old, new) = (text_of(before), text_of(after));
    if binary::is_binary(&old) || binary::is_binary(&new) {
        return binary::write_binary(&old, &new, out);
    }
    let start = out.len();
    write_label(b"--- ", before.is_some(), &old_name, out);
    write_label(b"+++ ", after.is_some(), &new_name, out);
    let head = out.len();
    lines::write_hunks(&old, &new, out);
    if out.len() == head {
        // An empty file that comes or goes has neither names nor hunks.
        out.truncate(start);
    }
    Ok(())
}

fn write_modes(
    before: Option<Side<'_>>,
    after: Option<Side<'_>>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    match (before, after) {
        (None, Some(new)) => writeln!(out, "new file mode {}", digits(new.mode)),
        (Some(old), None) => writeln!(out, "deleted file mode {}", digits(old.mode)),
        (Some(old), Some(new)) if old.mode != new.mode => {
            writeln!(out, "old mode {}\nnew mode {}", digits(old.mode), digits(new.mode))
        }
        _ => Ok(()),
    }
}

/// A name with blanks is ended by a tab, so that readers know where it ends.
fn write_label(mark: &[u8], present: bool, name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(mark);
    out.extend_from_slice(if present { name } else { b"/dev/null" });
    if present && name.contains(&b' ') {
        out.push(b'\t');
    }
    out.push(b'\n');
}

/// What is compared: a submodule stands for a line that names its commit.
fn text_of(side: Option<Side<'_>>) -> Cow<'_, [u8]> {
    match side {
        None => Cow::Borrowed(&[]),
        Some(Side { mode: EntryMode::Submodule, id, .. }) => {
            Cow::Owned(format!("Subproject commit {id}\n").into_bytes())
        }
        Some(side) => Cow::Borrowed(side.bytes),
    }
}

/// Things of different kinds are not compared: one goes, the other comes.
fn kind(mode: EntryMode) -> u8 {
    match mode {
        EntryMode::File | EntryMode::Executable => 0,
        EntryMode::Symlink => 1,
        EntryMode::Submodule => 2,
    }
}

fn digits(mode: EntryMode) -> &'static str {
    match mode {
        EntryMode::File => "100644",
        EntryMode::Executable => "100755",
        EntryMode::Symlink => "120000",
        EntryMode::Submodule => "160000",
    }
}
