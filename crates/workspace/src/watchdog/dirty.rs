//! Which paths may have changed, each with the moment at which it last did.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use aurora_model::RepoPath;

use super::DirtyPath;

#[derive(Debug, Clone, Copy)]
struct Dirt {
    sequence: u64,
    whole: bool,
}

/// A bounded set of paths that may have changed. Beyond its bound it says that everything may have.
#[derive(Debug)]
pub(super) struct DirtySet {
    by_path: HashMap<Arc<[u8]>, Dirt>,
    by_sequence: BTreeMap<u64, Arc<[u8]>>,
    sequence: u64,
    /// The latest mark that was handed out: only across it do two changes of a path differ.
    handed_out: u64,
    /// Marks before this one cannot be answered any more, and why.
    floor: u64,
    floor_because: String,
    captured: u64,
    bound: usize,
}

impl DirtySet {
    /// An empty set.
    pub fn new(bound: usize) -> Self {
        Self {
            by_path: HashMap::new(),
            by_sequence: BTreeMap::new(),
            sequence: 1,
            handed_out: 0,
            floor: 1,
            floor_because: String::new(),
            captured: 0,
            bound,
        }
    }

    /// Notes that a path may have changed, and says when that was.
    pub fn insert(&mut self, path: &[u8], whole: bool) -> u64 {
        if let Some(known) = self.by_path.get_mut(path) {
            known.whole |= whole;
            if known.sequence > self.handed_out {
                return known.sequence;
            }
            self.sequence += 1;
            if let Some(path) = self.by_sequence.remove(&known.sequence) {
                self.by_sequence.insert(self.sequence, path);
            }
            known.sequence = self.sequence;
            return self.sequence;
        }
        if self.by_path.len() >= self.bound {
            let because = format!("more than {} paths changed", self.bound);
            self.everything(&because);
        }
        self.sequence += 1;
        let path: Arc<[u8]> = path.into();
        self.by_sequence.insert(self.sequence, Arc::clone(&path));
        self.by_path.insert(path, Dirt { sequence: self.sequence, whole });
        self.sequence
    }

    /// Anything may have changed by now.
    pub fn everything(&mut self, because: &str) {
        self.by_path = HashMap::new();
        self.by_sequence = BTreeMap::new();
        self.sequence += 1;
        self.floor = self.sequence;
        because.clone_into(&mut self.floor_because);
    }

    /// A mark for now.
    pub fn hand_out(&mut self) -> u64 {
        self.handed_out = self.sequence;
        self.sequence
    }

    /// What may have changed after a mark, or why that cannot be told. Costs what is in the answer.
    pub fn since(&self, sequence: u64) -> Result<Vec<DirtyPath>, &str> {
        if sequence < self.floor {
            return Err(&self.floor_because);
        }
        let newer = self.by_sequence.range(sequence.saturating_add(1)..);
        let path = |(_, path): (&u64, &Arc<[u8]>)| {
            let whole = self.by_path.get(path).is_none_or(|dirt| dirt.whole);
            Some(DirtyPath { path: RepoPath::new(path.to_vec())?, whole })
        };
        Ok(newer.filter_map(path).collect())
    }

    /// Everything up to a mark is in a checkpoint. What was captured before that is forgotten; the
    /// latest span is kept, because whoever noted the mark may have died before writing it down.
    /// Says whether the mark is one of ours and news.
    pub fn captured(&mut self, sequence: u64) -> bool {
        if sequence <= self.captured || sequence > self.handed_out {
            return false;
        }
        let until = std::mem::replace(&mut self.captured, sequence);
        if until <= self.floor {
            return true;
        }
        let newer = self.by_sequence.split_off(&(until + 1));
        for path in std::mem::replace(&mut self.by_sequence, newer).into_values() {
            self.by_path.remove(&path);
        }
        self.floor = until;
        "what changed before its last checkpoints is forgotten".clone_into(&mut self.floor_because);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(set: &DirtySet, mark: u64) -> Vec<String> {
        let paths = set.since(mark).unwrap();
        paths
            .iter()
            .map(|dirty| format!("{}{}", dirty.path, ["", "/"][usize::from(dirty.whole)]))
            .collect()
    }

    #[test]
    fn each_mark_gets_what_changed_after_it_and_old_marks_are_told_so() {
        let mut set = DirtySet::new(3);
        set.insert(b"a", false);
        set.insert(b"b", true);
        let first = set.hand_out();
        assert_eq!(paths(&set, 1), ["a", "b/"]);
        assert_eq!(paths(&set, first), [""; 0]);
        set.insert(b"a", false);
        set.insert(b"a", false);
        assert_eq!(paths(&set, first), ["a"]);
        let second = set.hand_out();
        set.captured(first);
        set.captured(second);
        assert_eq!(paths(&set, first), ["a"], "the latest span is kept");
        assert!(set.since(1).unwrap_err().contains("forgotten"));
        for name in [b"c", b"d", b"e"] {
            set.insert(name, false);
        }
        assert_eq!(set.since(second).unwrap_err(), "more than 3 paths changed");
        let third = set.hand_out();
        assert_eq!(paths(&set, third), [""; 0]);
        set.insert(b"f", false);
        assert_eq!(paths(&set, third), ["f"]);
    }
}
