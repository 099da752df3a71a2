//! Comparing what was seen with what the previous tree has.

use std::collections::BTreeMap;

use aurora_model::RepoPath;

use super::{Looked, ScanNotes, Scanner, Settled, SettledFolder, joined};
use crate::git::objects::Entry;
use crate::git::stat_cache::{Folder, Record, StatCache};
use crate::git::tree::Delta;

impl Scanner<'_> {
    /// What differs, and the new listing when everything was looked at.
    pub(super) fn assemble(
        &self,
        old: &StatCache,
        folders: BTreeMap<Vec<u8>, SettledFolder>,
        mut notes: ScanNotes,
        taken_ns: i64,
        everything: bool,
    ) -> Looked {
        let mut deltas = Vec::new();
        notes.permissions = self.permissions_in(&folders);
        let mut listing = StatCache::default();
        let mut learnt = 0;
        for folder in old.folders() {
            // A folder that was not seen is not there any more.
            if !folders.contains_key(&folder.path) {
                for record in &folder.records {
                    push(&mut deltas, &folder.path, old.name(record), Some(record.entry), None);
                }
            }
        }
        for (path, mut seen) in folders {
            for file in &mut seen.files {
                file.stat = file.stat.filter(|stat| !stat.is_racy(taken_ns));
            }
            let before = old.folder(&path).map(|(_, folder)| folder);
            learnt += compare(old, before, &path, &seen, &mut deltas);
            if everything {
                let records = seen.files.iter();
                let records = records.map(|file| listing.record(&file.name, file.entry, file.stat));
                let records = records.collect();
                listing.push(Folder { path, records });
            }
        }
        deltas.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        if !notes.permissions.is_empty() {
            for delta in deltas.iter().filter(|delta| delta.after.is_none()) {
                notes.permissions.remove(&delta.path);
            }
        }
        Looked { deltas, notes, listing: everything.then_some(listing), learnt }
    }
}

/// Compares one folder, and says of how many files more is known now.
fn compare(
    old: &StatCache,
    before: Option<&Folder>,
    path: &[u8],
    seen: &SettledFolder,
    deltas: &mut Vec<Delta>,
) -> usize {
    let mut learnt = 0;
    let mut records = before.map(|before| before.records.as_slice()).unwrap_or_default().iter();
    let mut record = records.next();
    let looked_at = |name: &[u8]| seen.only.as_ref().is_none_or(|only| only.contains_key(name));
    let gone = |record: &Record, deltas: &mut Vec<Delta>| {
        let name = old.name(record);
        if looked_at(name) {
            push(deltas, path, name, Some(record.entry), None);
        }
    };
    for Settled { name, entry, stat } in &seen.files {
        while let Some(earlier) = record.filter(|have| old.name(have) < name.as_slice()) {
            gone(earlier, deltas);
            record = records.next();
        }
        let same = record.filter(|have| old.name(have) == name.as_slice());
        if same.is_some() {
            record = records.next();
        }
        if same.map(|have| have.entry) != Some(*entry) {
            push(deltas, path, name, same.map(|have| have.entry), Some(*entry));
        }
        learnt += usize::from(stat.is_some() && same.is_none_or(|have| have.stat != *stat));
    }
    while let Some(rest) = record {
        gone(rest, deltas);
        record = records.next();
    }
    learnt
}

fn push(
    deltas: &mut Vec<Delta>,
    folder: &[u8],
    name: &[u8],
    before: Option<Entry>,
    after: Option<Entry>,
) {
    let path = RepoPath::new(joined(folder, name));
    deltas.extend(path.map(|path| Delta { path, before, after }));
}

/// The folders with the most of something, for messages: `vendor (3 GiB), data (1 GiB)`.
pub(crate) fn largest<'a>(
    weights: impl Iterator<Item = (&'a [u8], u64)>,
    show: &dyn Fn(u64) -> String,
) -> String {
    let mut folders = BTreeMap::<&[u8], u64>::new();
    for (path, weight) in weights {
        let top = match path.iter().position(|byte| *byte == b'/') {
            Some(at) => path.get(..at).unwrap_or_default(),
            None => path,
        };
        *folders.entry(top).or_default() += weight;
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    let shown = folders.iter().take(3).filter_map(|(path, weight)| {
        Some(format!("`{}` ({})", RepoPath::new(*path)?, show(*weight)))
    });
    shown.collect::<Vec<_>>().join(", ")
}
