//! What whoever is asked gets to know of the repository: which folders there are, and how many
//! tracked files in each.

use std::collections::BTreeMap;

/// More folders and files than that are counted, not named.
const MAX_NAMED: usize = 150;
/// More endings than that are not named.
const MAX_ENDINGS: usize = 8;
/// More different names than that are not told apart, so that memory is bounded.
const MAX_KNOWN: usize = 5000;
/// Endings that are longer are none.
const MAX_ENDING_CHARS: usize = 10;

/// What was counted so far.
#[derive(Default)]
pub struct Facts {
    files: usize,
    /// Files at the top, folders at the top, and folders in those, with how many files are below.
    top: BTreeMap<String, usize>,
    second: BTreeMap<String, usize>,
    endings: BTreeMap<String, usize>,
}

impl Facts {
    /// Counts a tracked path.
    pub fn count(&mut self, path: &[u8]) {
        self.files += 1;
        let path = String::from_utf8_lossy(path);
        let parts: Vec<&str> = path.splitn(3, '/').collect();
        match parts.as_slice() {
            [file] => add(&mut self.top, (*file).to_owned()),
            [folder, _] => add(&mut self.top, format!("{folder}/")),
            [folder, below, _] => {
                add(&mut self.top, format!("{folder}/"));
                add(&mut self.second, format!("{folder}/{below}/"));
            }
            _ => {}
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        if let Some((_, ending)) = ending.filter(|(_, end)| end.len() <= MAX_ENDING_CHARS) {
            add(&mut self.endings, ending.to_owned());
        }
    }

    /// The facts, a line each: what is at the top first, then what is below it as far as there is
    /// room.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        if self.files == 0 {
            return vec!["no files are tracked yet".to_owned()];
        }
        let mut lines = vec![format!("{} tracked{}", many(self.files), self.endings())];
        let entries = self.top.iter().chain(&self.second);
        let line = |(name, count): (&String, &usize)| match name.ends_with('/') {
            true => format!("{name}: {}", many(*count)),
            false => name.clone(),
        };
        lines.extend(entries.clone().take(MAX_NAMED).map(line));
        let more = entries.count().saturating_sub(MAX_NAMED);
        if more > 0 {
            lines.push(format!("and {more} more folders and files"));
        }
        lines
    }

    fn endings(&self) -> String {
        let mut endings: Vec<(&String, &usize)> = self.endings.iter().collect();
        endings.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let named = endings.iter().take(MAX_ENDINGS);
        let named: Vec<String> = named.map(|(end, count)| format!("{count} .{end}")).collect();
        if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) }
    }
}

fn add(counts: &mut BTreeMap<String, usize>, name: String) {
    if counts.len() < MAX_KNOWN || counts.contains_key(&name) {
        *counts.entry(name).or_default() += 1;
    }
}

fn many(files: usize) -> String {
    crate::output::changes::count(files, "file")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EXE-1: what is told about a repository is counted and bounded, and never a file's content.
    #[test]
    fn folders_are_counted_and_many_of_them_are_bounded() {
        let mut facts = Facts::default();
        assert_eq!(facts.lines(), ["no files are tracked yet"]);
        for path in ["Cargo.toml", "src/a.rs", "src/b/c.rs", "src/b/d.rs", "docs/x.md", ".env"] {
            facts.count(path.as_bytes());
        }
        let expected = [
            "6 files tracked: 3 .rs, 1 .md, 1 .toml",
            ".env",
            "Cargo.toml",
            "docs/: 1 file",
            "src/: 3 files",
            "src/b/: 2 files",
        ];
        assert_eq!(facts.lines(), expected);
        for number in 0..10_000 {
            facts.count(format!("d{number}/x/y").as_bytes());
        }
        assert_eq!(facts.lines().len(), MAX_NAMED + 2);
    }
}
