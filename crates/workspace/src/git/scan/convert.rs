//! Which paths git converts between the worktree and its objects. Of those, the index says nothing
//! about the bytes on the disk.

use std::path::Path;

use gix::bstr::ByteSlice as _;
use gix::glob::Pattern;
use gix::glob::pattern::Case;
use gix::glob::wildmatch;

use super::repository::Repository;

/// How a path may be converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// Not at all.
    None,
    /// Only its line ends, which shows in its size.
    LineEnds,
    /// In any way.
    Any,
}

/// What the attributes of a repository may do. Errs on the side of more conversions: all attributes
/// that any file of them mentions are thought to hold.
#[derive(Debug, Default)]
pub(crate) struct Conversions {
    everything: bool,
    line_ends: bool,
    patterns: Vec<(Vec<u8>, Pattern)>,
}

impl Conversions {
    /// What the settings and the attributes outside the worktree do.
    pub fn of(repository: &Repository) -> Self {
        let mut all =
            Self { line_ends: repository.config.converts_line_ends, ..Default::default() };
        let outside = [
            Some(repository.common_dir.join("info/attributes")),
            repository.config.attributes_file.clone(),
            Some(Path::new("/etc/gitattributes").to_owned()),
        ];
        for path in outside.into_iter().flatten() {
            if path.metadata().is_ok_and(|about| about.is_file()) {
                // What cannot be read might say anything.
                match std::fs::read(&path) {
                    Ok(text) => all.add(&[], &text),
                    Err(_) => all.everything = true,
                }
            }
        }
        all
    }

    /// Adds the attributes of one folder's `.gitattributes`.
    pub fn add(&mut self, folder: &[u8], text: &[u8]) {
        for line in text.lines() {
            let line = line.trim_ascii_start();
            let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|w| !w.is_empty());
            let Some(pattern) = words.next().filter(|pattern| !pattern.starts_with(b"#")) else {
                continue;
            };
            let (mut ends, mut any) = (false, false);
            for word in words {
                let name = word.trim_start_with(|c| c == '-' || c == '!');
                match name.split(|byte| *byte == b'=').next().unwrap_or_default() {
                    b"text" | b"eol" | b"crlf" => ends = true,
                    b"filter" | b"ident" | b"working-tree-encoding" => any = true,
                    _ => {}
                }
            }
            self.line_ends |= ends;
            if !any {
                continue;
            }
            // A macro may be used anywhere, and so may a name in quotes.
            match Pattern::from_bytes_without_negation(pattern) {
                Some(parsed) if !pattern.starts_with(b"[") && !pattern.starts_with(b"\"") => {
                    self.patterns.push((folder.to_vec(), parsed));
                }
                _ => self.everything = true,
            }
        }
    }

    /// Anything may be converted.
    pub fn doubt(&mut self) {
        self.everything = true;
    }

    /// How a path may be converted.
    pub fn of_path(&self, path: &[u8]) -> Conversion {
        let matches = |(folder, pattern): &(Vec<u8>, Pattern)| {
            let base = if folder.is_empty() { 0 } else { folder.len() + 1 };
            let inside = super::walk::is_within(path, folder);
            let path = path.get(base..).filter(|_| inside).unwrap_or_default().as_bstr();
            let name = path.rfind_byte(b'/').map(|at| at + 1);
            let mode = wildmatch::Mode::NO_MATCH_SLASH_LITERAL;
            pattern.matches_repo_relative_path(path, name, Some(false), Case::Fold, mode)
        };
        if self.everything || self.patterns.iter().any(matches) {
            return Conversion::Any;
        }
        if self.line_ends { Conversion::LineEnds } else { Conversion::None }
    }
}
