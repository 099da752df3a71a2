//! Random repositories, random edits, checkpoints, rollbacks and undoing: bytes, modes and links are
//! what they were, and the user's git state does not change by a byte.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use aurora_model::{Checkpoint, RepoPath};
use aurora_workspace::{
    CheckpointRequest, Content, Created, Edits, Error, GitWorkspace, IgnoredFiles, MovedHead,
    Outcome, RollbackReport, RollbackRequest, Scope, UndoRequest, Workspace as _,
};

use crate::edits;
use crate::harness::{Chance, World, git_state, number_from_environment, same_git_state};
use crate::listing::{Listing, holds_exactly, is_skipped, same};

/// How many cases of one seed share a repository.
const CASES_A_REPOSITORY: u64 = 8;

/// A checkpoint, what it captured, and what was on the disk then.
struct Point {
    checkpoint: Checkpoint,
    captured: BTreeMap<RepoPath, Content>,
    disk: Listing,
}

/// One repository and the chance that drives it.
struct Case {
    world: World,
    workspace: GitWorkspace,
    chance: Chance,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let world = edits::begin(&mut chance);
        let workspace = world.workspace();
        Self { world, workspace, chance }
    }

    /// Does something of ours: git's own data must not change, and nothing of it may be executed.
    fn ours<T>(&mut self, when: &str, work: impl FnOnce(&GitWorkspace) -> T) -> T {
        let git_dir = self.world.root.join(".git");
        let pwned = self.world.home().join("pwned");
        std::fs::remove_file(&pwned).ok();
        let before: BTreeMap<PathBuf, Vec<u8>> = git_state(&git_dir);
        let nested = git_state(&self.world.root.join("nested/.git"));
        let history = self.chance.one_in(40).then(|| self.history());
        let result = work(&self.workspace);
        same_git_state(&before, &git_state(&git_dir), when);
        same_git_state(&nested, &git_state(&self.world.root.join("nested/.git")), when);
        if let Some(history) = history {
            assert_eq!(history, self.history(), "{when}: the history looks different");
        }
        assert!(!pwned.exists(), "{when}: a program of the repository's was executed");
        result
    }

    fn history(&self) -> String {
        let said = self.world.try_git(&self.world.root, &["log", "--all", "--format=%H %D"]);
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    fn checkpoint(&mut self, when: &str) -> Point {
        let disk = Listing::of(&self.world.root);
        let ignored =
            if self.chance.one_in(4) { IgnoredFiles::SecretsLike } else { IgnoredFiles::Leave };
        let request = CheckpointRequest { ignored, ..CheckpointRequest::default() };
        let made = self.ours(when, |workspace| workspace.checkpoint(&request).unwrap());
        same(&disk, &Listing::of(&self.world.root), when);
        let captured = holds_exactly(&self.workspace, &made.checkpoint, &disk);
        if self.chance.one_in(6) {
            self.git_agrees(&made, &captured, ignored);
        }
        Point { checkpoint: made.checkpoint, captured, disk }
    }

    /// Git's own listing has what was captured, and nothing else, apart from what is captured because
    /// it once was, or on purpose.
    fn git_agrees(
        &self,
        made: &Created,
        captured: &BTreeMap<RepoPath, Content>,
        ignored: IgnoredFiles,
    ) {
        let Created { checkpoint, unchanged, .. } = made;
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let said = self.world.try_git(&self.world.root, &args).stdout;
        let inner = RepoPath::new("nested").unwrap();
        let theirs: BTreeSet<RepoPath> = said
            .split(|byte| *byte == 0)
            .filter_map(RepoPath::new)
            .filter(|path| !path.is_within(&inner))
            .collect();
        for path in &theirs {
            let at = self.world.path(path.as_bytes());
            let there = at.symlink_metadata().is_ok_and(|found| !found.is_dir());
            let through_link = path.parents().any(|folder| {
                let folder = self.world.path(folder.as_bytes()).symlink_metadata();
                folder.is_ok_and(|found| found.is_symlink())
            });
            let expected = there && !through_link;
            assert!(!expected || captured.contains_key(path), "{path} is known to git alone");
        }
        // A checkpoint that was there already holds what was captured when it was made.
        let previous = if *unchanged { &checkpoint.tree } else { &checkpoint.previous_tree };
        let before = crate::listing::captured(&self.workspace, previous);
        for path in captured.keys().filter(|path| !path.is_within(&inner)) {
            let expected = theirs.contains(path)
                || before.contains_key(path)
                || ignored == IgnoredFiles::SecretsLike;
            assert!(expected, "{path} is ignored by git and was captured all the same");
        }
    }

    /// Two checkpoints with edits after each, a rollback to one of them, and its undoing.
    fn run(&mut self) {
        let first = self.checkpoint("the first checkpoint");
        edits::edit(&self.world, &mut self.chance);
        let second = self.checkpoint("the second checkpoint");
        if !self.chance.one_in(3) {
            edits::edit(&self.world, &mut self.chance);
        }
        let target = if self.chance.one_in(2) { first } else { second };
        let before = Listing::of(&self.world.root);
        let mut request = RollbackRequest::to(target.checkpoint.checkpoint_id.clone());
        request.moved_head = MovedHead::Accept;
        match self.chance.below(6) {
            0 => request.edits = Edits::Merge,
            1 => {
                let paths: Vec<_> = before.nodes.keys().chain(target.captured.keys()).collect();
                if !paths.is_empty() {
                    request.scope = Scope::Paths(vec![(*self.chance.pick(&paths)).clone()]);
                }
            }
            _ => {}
        }
        let report = match self.ours("the rollback", |workspace| workspace.rollback(&request)) {
            // An ignored path was asked for, of which no checkpoint knows.
            Err(Error::NotFound { .. }) if request.scope != Scope::Everything => return,
            report => report.unwrap(),
        };
        let after = Listing::of(&self.world.root);
        self.check_rollback(&request, &target, &report, &before, &after);
        if report.restored == report.safety {
            return same(&before, &after, "a rollback that had nothing to do");
        }
        let undo = UndoRequest { moved_head: MovedHead::Accept, ..UndoRequest::default() };
        let undoing = self.ours("the undoing", |workspace| workspace.undo(&undo).unwrap());
        let undone = Listing::of(&self.world.root);
        same(&before, &undone, "after the undoing");
        let left = self.workspace.find(&undoing.restored.0).unwrap();
        holds_exactly(&self.workspace, &left, &undone);
        let lost: Vec<_> = before.empty_folders.difference(&undone.empty_folders).collect();
        let lost: Vec<_> = lost
            .into_iter()
            .filter(|folder| !undone.holds_something_at(folder) && !self.is_ignored(folder))
            .collect();
        assert!(lost.is_empty(), "after the undoing: folders are gone: {lost:?}");
    }

    /// Whether git ignores a folder, or would if it were there.
    fn is_ignored(&self, folder: &RepoPath) -> bool {
        let mut path = folder.as_bytes().to_vec();
        path.push(b'/');
        let path = OsStr::from_bytes(&path);
        let args = ["check-ignore", "--quiet", "--no-index", "--"].map(OsStr::new);
        let args: Vec<&OsStr> = args.into_iter().chain([path]).collect();
        self.world.try_git(&self.world.root, &args).status.success()
    }

    fn check_rollback(
        &self,
        request: &RollbackRequest,
        target: &Point,
        report: &RollbackReport,
        before: &Listing,
        after: &Listing,
    ) {
        let safety = self.workspace.find(&report.safety.0).unwrap();
        let held = holds_exactly(&self.workspace, &safety, before);
        holds_exactly(&self.workspace, &self.workspace.find(&report.restored.0).unwrap(), after);
        let outcome: BTreeMap<&RepoPath, &Outcome> =
            report.paths.iter().map(|one| (&one.path, &one.outcome)).collect();
        for path in before.nodes.keys().chain(target.captured.keys()) {
            let (was, is) = (before.nodes.get(path), after.nodes.get(path));
            let unasked = match &request.scope {
                Scope::Paths(paths) => !paths.iter().any(|folder| path.is_within(folder)),
                _ => false,
            };
            if unasked || outcome.get(path).is_some_and(|outcome| stayed(outcome)) {
                assert_eq!(was, is, "{path} was to stay: {:?}", outcome.get(path));
                continue;
            }
            if request.edits == Edits::Merge {
                continue;
            }
            if target.captured.contains_key(path) {
                assert_eq!(is, target.disk.nodes.get(path), "{path} as the checkpoint has it");
            } else if held.contains_key(path) && !is_skipped(&target.checkpoint, path) {
                assert_eq!(is, None, "{path} was not there at the checkpoint");
            } else {
                assert_eq!(was, is, "{path} is in no checkpoint and must stay");
            }
        }
    }
}

impl Listing {
    fn holds_something_at(&self, folder: &RepoPath) -> bool {
        self.nodes.keys().any(|path| path.is_within(folder))
            || self.empty_folders.iter().any(|path| path.is_within(folder))
    }
}

fn stayed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Kept { .. } | Outcome::Failed { .. } | Outcome::Conflict { .. })
}

/// Runs all cases of one seed; says at which case it failed.
fn run_seed(seed: u64, cases: u64) {
    let done = AtomicU64::new(0);
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut case = Case::new(seed);
        for _ in 0..cases {
            case.run();
            done.fetch_add(1, Ordering::Relaxed);
            edits::edit(&case.world, &mut case.chance);
        }
    }));
    if let Err(panic) = result {
        let at = done.load(Ordering::Relaxed);
        eprintln!(
            "FAILED in case {at} of seed {seed}; repeat with AURORA_PROPERTY_SEED={seed} \
             AURORA_PROPERTY_CASES={}",
            at + 1
        );
        std::panic::resume_unwind(panic);
    }
}

/// Cases in all; `AURORA_PROPERTY_CASES` says another number.
const CASES: u64 = 2_000;

/// Runs a half of the cases, so that each half has a process of its own.
fn run_half(half: u64) {
    let cases = number_from_environment("AURORA_PROPERTY_CASES", CASES);
    if std::env::var_os("AURORA_PROPERTY_SEED").is_some() {
        let seed = number_from_environment("AURORA_PROPERTY_SEED", 0);
        println!("seed {seed}, {cases} cases");
        return if seed % 2 == half {
            run_seed(seed, cases)
        };
    }
    let seeds = cases.div_ceil(CASES_A_REPOSITORY);
    let first = number_from_environment("AURORA_PROPERTY_FIRST_SEED", 1);
    println!("seeds {first}..{}, {CASES_A_REPOSITORY} cases each", first + seeds);
    for seed in (first..first + seeds).filter(|seed| seed % 2 == half) {
        run_seed(seed, CASES_A_REPOSITORY);
    }
}

// WSP-3, WSP-4
#[test]
fn whatever_happens_between_a_rollback_restores_exactly_and_can_be_undone() {
    run_half(0);
}

// WSP-3, WSP-4
#[test]
fn whatever_else_happens_between_a_rollback_restores_exactly_and_can_be_undone() {
    run_half(1);
}
