//! The git folder of a copy: its own HEAD, branches and index, and nothing that is executed.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::error::{Error, Result};
use crate::git::place::Place;

/// Makes `.git` in a copy. Commits made there stay there: only objects are read from the real one.
pub(crate) fn make(place: &Place, git: &Path) -> Result<()> {
    // Where refs are in tables, `refs/heads` is a file that keeps other programs out.
    let refs: &[&str] = if place.reftable { &["refs"] } else { &["refs/heads", "refs/tags"] };
    for folder in refs.iter().chain(&["objects/info", "objects/pack", "info"]) {
        let path = git.join(folder);
        DirBuilder::new().recursive(true).create(&path).map_err(Error::io("create", &path))?;
    }
    let (own, common) = (&place.git_dir, &place.common_dir);
    copy_file(&own.join("HEAD"), &git.join("HEAD"))?;
    copy_file(&own.join("index"), &git.join("index"))?;
    copy_file(&common.join("packed-refs"), &git.join("packed-refs"))?;
    copy_file(&common.join("shallow"), &git.join("shallow"))?;
    for name in ["exclude", "attributes"] {
        copy_file(&common.join("info").join(name), &git.join("info").join(name))?;
    }
    copy_file(&own.join("info/sparse-checkout"), &git.join("info/sparse-checkout"))?;
    copy_refs(&common.join("refs"), &git.join("refs"), 0)?;
    if common.join("reftable").is_dir() {
        let tables = git.join("reftable");
        std::fs::create_dir_all(&tables).map_err(Error::io("create", &tables))?;
        copy_refs(&common.join("reftable"), &tables, 0)?;
    }
    write_alternates(common, git)?;
    let config = common.join("config");
    let text = match std::fs::read(&config) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("read", config)(error)),
    };
    let path = git.join("config");
    std::fs::write(&path, harmless(&text)).map_err(Error::io("write", &path))
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    match std::fs::read(from) {
        Ok(bytes) => std::fs::write(to, bytes).map_err(Error::io("write", to)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("read", from)(error)),
    }
}

const MAX_DEPTH: u32 = 64;

fn copy_refs(from: &Path, to: &Path, depth: u32) -> Result<()> {
    let entries = match std::fs::read_dir(from) {
        Ok(entries) if depth < MAX_DEPTH => entries,
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("list", from)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(Error::io("list", from))?;
        let Ok(kind) = entry.file_type() else { continue };
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            std::fs::create_dir_all(&target).map_err(Error::io("create", &target))?;
            copy_refs(&entry.path(), &target, depth + 1)?;
        } else if kind.is_file() {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Lets objects be read from the real repository, and from where that reads them.
fn write_alternates(common: &Path, git: &Path) -> Result<()> {
    let objects = common.join("objects");
    let path = git.join("objects/info/alternates");
    let mut line = Vec::new();
    let bytes = objects.as_os_str().as_bytes();
    if bytes.contains(&b'\n') || bytes.first() == Some(&b'"') {
        // Git reads a quoted path with C's escapes.
        line.push(b'"');
        for byte in bytes {
            match byte {
                b'\n' => line.extend_from_slice(b"\\n"),
                b'"' | b'\\' => line.extend_from_slice(&[b'\\', *byte]),
                _ => line.push(*byte),
            }
        }
        line.push(b'"');
    } else {
        line.extend_from_slice(bytes);
    }
    line.push(b'\n');
    std::fs::write(&path, line).map_err(Error::io("write", &path))
}

/// A configuration without what leads elsewhere: other files, hooks, a worktree, a monitor. Filters
/// and aliases stay, because whoever works in the copy shall get what the real one would give.
fn harmless(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut section = Vec::new();
    let mut continued: Option<bool> = None;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let keep = match continued {
            Some(keep) => keep,
            None => {
                let mut trimmed = line.trim_ascii();
                if let Some(rest) = trimmed.strip_prefix(b"[") {
                    let end = rest.iter().rposition(|byte| *byte == b']').unwrap_or(rest.len());
                    let (head, tail) = rest.split_at_checked(end).unwrap_or((rest, b""));
                    section = head.to_ascii_lowercase();
                    trimmed = tail.strip_prefix(b"]").unwrap_or(tail).trim_ascii();
                }
                is_harmless(&section, trimmed)
            }
        };
        let ends = line.trim_ascii_end().iter().rev().take_while(|byte| **byte == b'\\').count();
        continued = (ends % 2 == 1).then_some(keep);
        if keep {
            out.extend_from_slice(line);
        }
    }
    out
}

fn is_harmless(section: &[u8], setting: &[u8]) -> bool {
    let name = section.split(|byte| byte.is_ascii_whitespace() || *byte == b'.').next();
    let key = setting.split(|byte| *byte == b'=' || byte.is_ascii_whitespace()).next();
    let key = key.unwrap_or_default().to_ascii_lowercase();
    let leads: [&[u8]; 3] = [b"worktree", b"hookspath", b"fsmonitor"];
    match name.unwrap_or_default() {
        b"include" | b"includeif" => false,
        b"core" => !leads.contains(&key.as_slice()),
        b"extensions" => key != b"worktreeconfig",
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let out = harmless(text.as_bytes());
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    // WSP-5
    #[test]
    fn what_a_copy_takes_from_the_configuration_leads_nowhere_else() {
        check("[core]\n\tbare = false\n", "[core]\n\tbare = false\n");
        check("[core]\n\tworktree = /real\n\tfilemode = true\n", "[core]\n\tfilemode = true\n");
        check("[core] hooksPath = x\n[user]\n name = T\n", "[user]\n name = T\n");
        check("[include]\n\tpath = x\n[includeIf \"gitdir:/a]b\"]\n\tpath = y\n", "");
        check("[core]\n\tfsmonitor = evil \\\n more\n[a]\n\tb = c\n", "[core]\n[a]\n\tb = c\n");
        check("[CORE]\n\tHooksPath = x\n", "[CORE]\n");
    }
}
