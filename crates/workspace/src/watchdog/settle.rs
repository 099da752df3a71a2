//! Waiting until a file is quiet, so that one save is one event however many writes it took.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use aurora_model::RepoPath;

use super::ChangeType;

/// However long somebody goes on writing, a path is reported after this time.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A path that something happened to, until it is quiet.
#[derive(Debug, Clone)]
struct Pending {
    /// Whether it was not there before the first event.
    fresh: bool,
    /// Where it was, when it was renamed.
    from: Option<RepoPath>,
    first: Instant,
    due: Instant,
    sequence: u64,
}

/// A path that is quiet, and what was seen of it.
#[derive(Debug)]
pub(super) struct Settled {
    /// The path.
    pub path: RepoPath,
    /// When it last changed, as the dirty set counts.
    pub sequence: u64,
    fresh: bool,
    from: Option<RepoPath>,
}

impl Settled {
    /// What happened, given whether something is there now: the path that it happened to, the kind,
    /// and where it came from. Nothing when it came and went while nobody looked.
    pub fn outcome(self, there: bool) -> Option<(RepoPath, ChangeType, Option<RepoPath>)> {
        match (there, self.from, self.fresh) {
            (true, Some(from), _) => Some((self.path, ChangeType::Rename, Some(from))),
            (true, None, true) => Some((self.path, ChangeType::Add, None)),
            (true, None, false) => Some((self.path, ChangeType::Change, None)),
            (false, Some(from), _) => Some((from, ChangeType::Unlink, None)),
            (false, None, false) => Some((self.path, ChangeType::Unlink, None)),
            (false, None, true) => None,
        }
    }
}

/// All paths that are not quiet yet.
#[derive(Debug)]
pub(super) struct Settling {
    pending: HashMap<RepoPath, Pending>,
    by_due: BTreeSet<(Instant, RepoPath)>,
    settle: Duration,
    bound: usize,
}

impl Settling {
    /// Nothing is pending.
    pub fn new(settle: Duration, bound: usize) -> Self {
        Self { pending: HashMap::new(), by_due: BTreeSet::new(), settle, bound }
    }

    /// Something is there that was not.
    pub fn created(&mut self, path: RepoPath, sequence: u64, now: Instant) {
        self.touch(path, sequence, now, true);
    }

    /// Something was written, or is gone.
    pub fn changed(&mut self, path: RepoPath, sequence: u64, now: Instant) {
        self.touch(path, sequence, now, false);
    }

    /// A file got another name.
    pub fn renamed(&mut self, from: RepoPath, to: RepoPath, sequence: u64, now: Instant) {
        let old = self.take(&from);
        let replaced = self.take(&to);
        let first = old.as_ref().map_or(now, |old| old.first);
        let (fresh, from) = match (old, replaced) {
            // A file that nobody was told of took another's place, which is how editors save. Whether
            // something stood there cannot be seen, and mostly it did.
            (Some(old), replaced) if old.fresh => (replaced.is_some_and(|old| old.fresh), None),
            (Some(Pending { from: Some(earlier), .. }), _) => (false, Some(earlier)),
            _ => (false, Some(from)),
        };
        let from = from.filter(|from| *from != to);
        let due = self.due(first, now);
        self.put(to, Pending { fresh, from, first, due, sequence });
    }

    /// A folder got another name: what is pending below it moves along.
    pub fn folder_renamed(&mut self, from: &RepoPath, to: &RepoPath, sequence: u64, now: Instant) {
        let below: Vec<RepoPath> =
            self.pending.keys().filter(|path| path.is_within(from)).cloned().collect();
        for path in below {
            let Some(mut pending) = self.take(&path) else { continue };
            let rest = path.as_bytes().get(from.as_bytes().len() + 1..);
            let Some(path) = rest.and_then(|rest| to.join(rest)) else { continue };
            // Its old name went with the folder's.
            pending.from = pending.from.filter(|from| !from.is_within(to));
            self.put(path, pending);
        }
        let due = self.due(now, now);
        let from = Some(from.clone());
        self.put(to.clone(), Pending { fresh: false, from, first: now, due, sequence });
    }

    /// When the next path is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.by_due.first().map(|(due, _)| *due)
    }

    /// Takes the paths that are quiet; all of them when they have become too many.
    pub fn take_due(&mut self, now: Instant) -> Vec<Settled> {
        let mut settled = Vec::new();
        let too_many = self.pending.len() > self.bound;
        while let Some((due, _)) = self.by_due.first() {
            if *due > now && !too_many {
                break;
            }
            let Some((_, path)) = self.by_due.pop_first() else { break };
            let Some(Pending { fresh, from, sequence, .. }) = self.pending.remove(&path) else {
                continue;
            };
            settled.push(Settled { path, sequence, fresh, from });
        }
        settled
    }

    /// Takes everything, quiet or not.
    pub fn take_all(&mut self) -> Vec<Settled> {
        let bound = std::mem::take(&mut self.bound);
        let all = self.take_due(Instant::now());
        self.bound = bound;
        all
    }

    fn touch(&mut self, path: RepoPath, sequence: u64, now: Instant, fresh: bool) {
        let pending = match self.take(&path) {
            Some(known) => Pending { due: self.due(known.first, now), sequence, ..known },
            None => Pending { fresh, from: None, first: now, due: self.due(now, now), sequence },
        };
        self.put(path, pending);
    }

    fn due(&self, first: Instant, now: Instant) -> Instant {
        (now + self.settle).min(first + LONGEST_WAIT.max(self.settle))
    }

    fn take(&mut self, path: &RepoPath) -> Option<Pending> {
        let (path, pending) = self.pending.remove_entry(path)?;
        self.by_due.remove(&(pending.due, path));
        Some(pending)
    }

    fn put(&mut self, path: RepoPath, pending: Pending) {
        self.by_due.insert((pending.due, path.clone()));
        self.pending.insert(path, pending);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::path;

    const SETTLE: Duration = Duration::from_millis(100);

    fn outcomes(settled: Vec<Settled>, there: &[&str]) -> Vec<String> {
        let there = |path: &RepoPath| there.contains(&path.to_string().as_str());
        let told = |settled: Settled| {
            let is_there = there(&settled.path);
            let (path, kind, from) = settled.outcome(is_there)?;
            let from = from.map(|from| format!(" from {from}")).unwrap_or_default();
            Some(format!("{kind:?} {path}{from}"))
        };
        settled.into_iter().filter_map(told).collect()
    }

    #[test]
    fn many_writes_are_one_event_once_the_file_is_quiet() {
        let mut settling = Settling::new(SETTLE, 100);
        let start = Instant::now();
        settling.created(path("a"), 2, start);
        for step in 1..10 {
            settling.changed(path("a"), 2, start + SETTLE / 2 * step);
            assert!(settling.take_due(start + SETTLE / 2 * step).is_empty());
        }
        let settled = settling.take_due(start + SETTLE * 6);
        assert_eq!(outcomes(settled, &["a"]), ["Add a"]);
        assert_eq!(settling.next_due(), None);
    }

    #[test]
    fn a_file_that_is_never_quiet_is_reported_all_the_same() {
        let mut settling = Settling::new(SETTLE, 100);
        let start = Instant::now();
        let mut at = start;
        let settled = loop {
            settling.changed(path("log"), 2, at);
            at += SETTLE / 2;
            let settled = settling.take_due(at);
            if !settled.is_empty() {
                break settled;
            }
        };
        assert!(at <= start + LONGEST_WAIT + SETTLE);
        assert_eq!(outcomes(settled, &["log"]), ["Change log"]);
    }

    #[test]
    fn what_happened_is_told_from_the_first_event_to_what_is_there_now() {
        let now = Instant::now();
        let check = |acts: &dyn Fn(&mut Settling), there: &[&str], expected: &[&str]| {
            let mut settling = Settling::new(SETTLE, 100);
            acts(&mut settling);
            let mut told = outcomes(settling.take_all(), there);
            told.sort();
            assert_eq!(told, expected);
        };
        check(&|s| s.created(path("tmp"), 1, now), &[], &[]);
        check(&|s| s.changed(path("a"), 1, now), &[], &["Unlink a"]);
        let save = |s: &mut Settling| {
            s.created(path("a.tmp"), 1, now);
            s.renamed(path("a.tmp"), path("a"), 2, now);
        };
        check(&save, &["a"], &["Change a"]);
        let twice = |s: &mut Settling| {
            s.renamed(path("a"), path("b"), 1, now);
            s.renamed(path("b"), path("c"), 2, now);
        };
        check(&twice, &["c"], &["Rename c from a"]);
        check(&twice, &[], &["Unlink a"]);
        let and_back = |s: &mut Settling| {
            twice(s);
            s.renamed(path("c"), path("a"), 3, now);
        };
        check(&and_back, &["a"], &["Change a"]);
        let folder = |s: &mut Settling| {
            s.created(path("d/new"), 1, now);
            s.folder_renamed(&path("d"), &path("e"), 2, now);
        };
        check(&folder, &["e", "e/new"], &["Add e/new", "Rename e from d"]);
    }

    #[test]
    fn too_many_pending_paths_are_let_go_at_once() {
        let mut settling = Settling::new(SETTLE, 3);
        let now = Instant::now();
        for name in ["a", "b", "c", "d"] {
            settling.created(path(name), 1, now);
        }
        assert_eq!(settling.take_due(now).len(), 4);
    }
}
