//! Works out what a unified diff makes of the files of a desk: all of it, or why not. Which files it
//! is about is read by the gate, so that what is judged is what is done.

use std::collections::BTreeSet;

use aurora_gate::analysis::patch::{Change as Kind, PatchFile, analyse};
use aurora_model::RepoPath;
use aurora_workspace::desk::{FileRead, Files};

use super::files::look;

/// What becomes of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::world) struct Change {
    pub path: RepoPath,
    /// What it will be; nothing when it goes.
    pub after: Option<FileRead>,
}

/// One part of a change: what must stand somewhere, and what stands there after it.
#[derive(Debug, Default)]
struct Hunk {
    /// The line before which it begins, counted from nothing.
    at: usize,
    before: Vec<Vec<u8>>,
    after: Vec<Vec<u8>>,
}

/// The paths that a patch is about.
pub(in crate::world) fn paths(patch: &[u8]) -> Result<Vec<RepoPath>, String> {
    let mut paths = BTreeSet::new();
    for file in files_of(patch)? {
        for name in [&file.old, &file.new].into_iter().flatten() {
            paths.insert(path_of(name)?);
        }
    }
    Ok(paths.into_iter().collect())
}

/// What a patch would make of the files as they are.
pub(in crate::world) fn apply(patch: &[u8], files: &Files) -> Result<Vec<Change>, String> {
    let mut changes: Vec<Change> = Vec::new();
    for file in files_of(patch)? {
        for change in one(&file, patch, files)? {
            if changes.iter().any(|before| before.path == change.path) {
                return Err(format!("{} is changed twice", change.path));
            }
            changes.push(change);
        }
    }
    Ok(changes)
}

fn files_of(patch: &[u8]) -> Result<Vec<PatchFile>, String> {
    let read = analyse(patch);
    if let Some(refusal) = read.refusal {
        return Err(format!("line {}: {}", refusal.line, refusal.why));
    }
    if read.files.is_empty() {
        return Err("there is no file in it: it must be a unified diff".to_owned());
    }
    Ok(read.files)
}

fn path_of(name: &[u8]) -> Result<RepoPath, String> {
    let shown = || format!("`{}` is no path of the worktree", String::from_utf8_lossy(name));
    RepoPath::new(name).ok_or_else(shown)
}

fn one(file: &PatchFile, patch: &[u8], files: &Files) -> Result<Vec<Change>, String> {
    let name = file.new.as_ref().or(file.old.as_ref()).ok_or("a file has no name")?;
    let path = path_of(name)?;
    if file.binary {
        return Err(format!("{path}: only text can be patched"));
    }
    let modes = [file.old_mode, file.new_mode].into_iter().flatten();
    if modes.into_iter().any(|mode| mode & 0o170_000 != 0o100_000) {
        return Err(format!("{path}: only files can be patched"));
    }
    let section = section(file, patch).ok_or_else(|| format!("{path}: it cannot be read"))?;
    let hunks = hunks(section).map_err(|why| format!("{path}: {why}"))?;
    let source = match (&file.old, file.change) {
        (_, Kind::Added) | (None, _) => None,
        (Some(old), _) => Some(path_of(old)?),
    };
    let before = match &source {
        Some(source) => Some(
            look(files, source)
                .map_err(|error| error.to_string())?
                .ok_or_else(|| format!("there is no file {source}"))?,
        ),
        None => None,
    };
    if source.as_ref() != Some(&path) && look(files, &path).map_err(|e| e.to_string())?.is_some() {
        return Err(format!("{path} is there already"));
    }
    let was = before.as_ref().is_some_and(|file| file.executable);
    let bytes = before.map(|file| file.bytes).unwrap_or_default();
    let bytes = applied(&bytes, &hunks).map_err(|why| format!("{path}: {why}"))?;
    if file.change == Kind::Deleted {
        return match bytes.is_empty() {
            true => Ok(vec![Change { path, after: None }]),
            false => Err(format!("{path}: more is in it than the patch removes")),
        };
    }
    let executable = file.new_mode.map_or(was, |mode| mode & 0o100 != 0);
    let mut changes = Vec::new();
    if let (Kind::Renamed, Some(source)) = (file.change, source) {
        changes.push(Change { path: source, after: None });
    }
    changes.push(Change { path, after: Some(FileRead { bytes, executable }) });
    Ok(changes)
}

fn section<'p>(file: &PatchFile, patch: &'p [u8]) -> Option<&'p [u8]> {
    patch.get(file.span.start..file.span.end)
}

/// The parts of a file's section.
fn hunks(section: &[u8]) -> Result<Vec<Hunk>, String> {
    let mut lines = section.split_inclusive(|byte| *byte == b'\n').peekable();
    let mut hunks = Vec::new();
    while let Some(line) = lines.next() {
        let Some((at, mut old, mut new)) = head(line) else { continue };
        let mut hunk = Hunk { at, ..Hunk::default() };
        while old > 0 || new > 0 {
            let line = lines.next().ok_or("it ends in the middle of a part")?;
            let (sign, rest) = match line {
                b"\n" | b"\r\n" => (b' ', line),
                _ => line.split_first().map(|(sign, rest)| (*sign, rest)).ok_or("an empty line")?,
            };
            let count = |left: &mut u64| {
                *left = left.checked_sub(1).ok_or("a part has more lines than it says")?;
                Ok::<(), &str>(())
            };
            if matches!(sign, b' ' | b'-') {
                count(&mut old)?;
                hunk.before.push(rest.to_vec());
            }
            if matches!(sign, b' ' | b'+') {
                count(&mut new)?;
                hunk.after.push(rest.to_vec());
            }
            if !matches!(sign, b' ' | b'-' | b'+') {
                return Err("a line begins with none of ` `, `-` and `+`".to_owned());
            }
            if lines.next_if(|next| next.starts_with(b"\\")).is_some() {
                unterminate(&mut hunk, sign);
            }
        }
        hunks.push(hunk);
    }
    Ok(hunks)
}

/// The line that was read last has no newline at its end.
fn unterminate(hunk: &mut Hunk, sign: u8) {
    let cut = |lines: &mut Vec<Vec<u8>>| {
        if let Some(line) = lines.last_mut().filter(|line| line.ends_with(b"\n")) {
            line.pop();
        }
    };
    if sign != b'+' {
        cut(&mut hunk.before);
    }
    if sign != b'-' {
        cut(&mut hunk.after);
    }
}

/// Where a part begins, how many lines it has before and after: `@@ -3,7 +3,8 @@`.
fn head(line: &[u8]) -> Option<(usize, u64, u64)> {
    let text = std::str::from_utf8(line.strip_prefix(b"@@ -")?).ok();
    // What follows the second `@@` may be anything.
    let lossy = text.map(str::to_owned);
    let text = lossy
        .unwrap_or_else(|| String::from_utf8_lossy(line.get(4..).unwrap_or_default()).into_owned());
    let (old, rest) = text.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((begin, count)) => Some((begin.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((begin, old), (_, new)) = (range(old)?, range(new)?);
    // What removes nothing stands after the line that it names.
    let at = if old == 0 { begin } else { begin.saturating_sub(1) };
    Some((usize::try_from(at).ok()?, old, new))
}

/// The bytes after all parts, each where it says or at the only other place where it fits.
fn applied(bytes: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, String> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let (mut out, mut done): (Vec<u8>, usize) = (Vec::new(), 0);
    let mut shift = 0_isize;
    for hunk in hunks {
        let expected = hunk.at.saturating_add_signed(shift);
        let at = place(&lines, hunk, expected, done)?;
        shift = at.cast_signed() - hunk.at.cast_signed();
        for line in lines.get(done..at).unwrap_or_default() {
            out.extend_from_slice(line);
        }
        hunk.after.iter().for_each(|line| out.extend_from_slice(line));
        done = at + hunk.before.len();
    }
    for line in lines.get(done..).unwrap_or_default() {
        out.extend_from_slice(line);
    }
    Ok(out)
}

fn place(lines: &[&[u8]], hunk: &Hunk, expected: usize, from: usize) -> Result<usize, String> {
    let fits = |at: usize| {
        let there = lines.get(at..at.saturating_add(hunk.before.len()));
        there.is_some_and(|there| there.iter().zip(&hunk.before).all(|(one, other)| one == other))
    };
    if expected >= from && fits(expected) {
        return Ok(expected);
    }
    let nowhere = || format!("it does not fit at line {}", hunk.at.saturating_add(1));
    if hunk.before.is_empty() {
        return Err(nowhere());
    }
    let mut others = (from..=lines.len()).filter(|at| fits(*at));
    match (others.next(), others.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => Err(format!("{}, and fits at several others", nowhere())),
        (None, _) => Err(nowhere()),
    }
}

#[cfg(test)]
mod tests;
