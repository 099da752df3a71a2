//! The watchdog on a real kernel: what it must see, and what it must say when it cannot.

mod telling;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_model::RepoPath;

use super::{Dirty, DirtyPath, Mark, Options, Watchdog, Watched};
use crate::fixture::{Repo, now, path};
use crate::git::Place;

/// How long a test waits for something that takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

fn place(repo: &Repo) -> Place {
    let place = Place::find(&repo.settings()).unwrap();
    std::fs::create_dir_all(&place.feature_dir).unwrap();
    place
}

fn watch(repo: &Repo) -> Watchdog {
    Watchdog::start(&place(repo), Options::new(now)).unwrap()
}

fn mark(watch: &dyn Watched) -> Mark {
    match watch.since(None) {
        Dirty::Everything { mark: Some(mark), .. } => mark,
        other => panic!("{other:?}"),
    }
}

fn paths(watch: &dyn Watched, since: &Mark) -> (Mark, Vec<DirtyPath>) {
    match watch.since(Some(since)) {
        Dirty::Paths { mark, paths } => (mark, paths),
        other => panic!("{other:?}"),
    }
}

fn shown(paths: &[DirtyPath]) -> BTreeSet<String> {
    paths
        .iter()
        .map(|dirty| format!("{}{}", dirty.path, ["", "/"][usize::from(dirty.whole)]))
        .collect()
}

/// Those of some paths that no dirty path covers.
fn missed(dirty: &[DirtyPath], paths: &[RepoPath]) -> Vec<RepoPath> {
    let exact: BTreeSet<&RepoPath> = dirty.iter().map(|dirty| &dirty.path).collect();
    let whole: BTreeSet<&RepoPath> =
        dirty.iter().filter(|dirty| dirty.whole).map(|dirty| &dirty.path).collect();
    let covered = |path: &RepoPath| {
        exact.contains(path) || path.parents().any(|parent| whole.contains(&parent))
    };
    paths.iter().filter(|path| !covered(path)).cloned().collect()
}

/// Everything below a root apart from git's data: what a full scan would compare.
fn listing(root: &Path) -> BTreeMap<RepoPath, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut rest = vec![root.to_owned()];
    while let Some(folder) = rest.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() == ".git" {
                continue;
            }
            let name = entry.path();
            let bytes = name.strip_prefix(root).unwrap().as_os_str().as_bytes();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                rest.push(name);
                continue;
            }
            let mut content = if kind.is_symlink() {
                std::fs::read_link(&name).unwrap().as_os_str().as_bytes().to_vec()
            } else {
                std::fs::read(&name).unwrap()
            };
            content.extend(entry.metadata().unwrap().permissions().mode().to_le_bytes());
            found.insert(RepoPath::new(bytes).unwrap(), content);
        }
    }
    found
}

fn differing(
    before: &BTreeMap<RepoPath, Vec<u8>>,
    after: &BTreeMap<RepoPath, Vec<u8>>,
) -> Vec<RepoPath> {
    let all: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what} took too long");
        std::thread::yield_now();
    }
}

/// WSP-2: creations, changes, deletions and renames, of dotfiles too.
#[test]
fn everything_that_happened_before_the_question_is_in_the_answer() {
    let repo = Repo::new();
    repo.write("old/name", "x");
    repo.write("gone", "x");
    repo.write("mode", "x");
    let watch = watch(&repo);
    let start = mark(&watch);
    assert_eq!(paths(&watch, &start).1, []);
    repo.write(".env", "A=1");
    repo.write("src/a.txt", "other");
    std::fs::remove_file(repo.path("gone")).unwrap();
    std::fs::rename(repo.path("old/name"), repo.path("old/.new")).unwrap();
    std::os::unix::fs::symlink("nowhere", repo.path("link")).unwrap();
    std::fs::set_permissions(repo.path("mode"), std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.write(b"caf\xe9\nx", "y");
    let (next, dirty) = paths(&watch, &start);
    let expected =
        [".env", "src/a.txt", "gone", "old/name", "old/.new", "link", "mode", r#""caf\351\nx""#];
    assert_eq!(shown(&dirty), expected.map(ToOwned::to_owned).into());
    assert_eq!(paths(&watch, &next).1, [], "each change is told once");
    assert_eq!(paths(&watch, &start).1.len(), expected.len(), "an older mark gets it all again");
}

/// WSP-2: what git keeps for itself is not watched; that a folder becomes a repository is noted.
#[test]
fn git_data_is_left_alone_and_new_repositories_inside_are_noticed() {
    let repo = Repo::new();
    repo.write("inner/file", "x");
    let watch = watch(&repo);
    let start = mark(&watch);
    repo.git(&["commit", "--allow-empty", "-qm", "second"]);
    assert_eq!(paths(&watch, &start).1, []);
    repo.try_git(&repo.path("inner"), &["init", "-q"]);
    assert_eq!(shown(&paths(&watch, &start).1), ["inner/".to_owned()].into());
}

/// WSP-2: files that are written before their new folder can be watched are not missed.
#[test]
fn a_burst_of_new_folders_is_covered_whole() {
    let repo = Repo::new();
    let watch = watch(&repo);
    let start = mark(&watch);
    let before = listing(&repo.root());
    let tree = repo.home().join("b");
    for (folder, file) in (0..250).flat_map(|folder| (0..20).map(move |file| (folder, file))) {
        let below = ["", "c/", "c/d/", "c/."][file % 4];
        let file = tree.join(format!("{folder}/{below}{file}"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "x").unwrap();
    }
    let mut child = Command::new("cp").arg("-r").args([tree, repo.root()]).spawn().unwrap();
    // Questions while it writes must lose nothing either: every answer is put together.
    let mut at = start;
    let mut dirty = Vec::new();
    while child.try_wait().unwrap().is_none() {
        let (next, more) = paths(&watch, &at);
        dirty.extend(more);
        at = next;
    }
    dirty.extend(paths(&watch, &at).1);
    let changed = differing(&before, &listing(&repo.root()));
    assert_eq!(changed.len(), 5000);
    let missed = missed(&dirty, &changed);
    assert!(missed.is_empty(), "{} missed, such as {:?}", missed.len(), missed.first());
    // And what happens in them from now on is told by name.
    let (at, _) = paths(&watch, &at);
    repo.write("b/249/c/d/later", "x");
    assert_eq!(shown(&paths(&watch, &at).1), ["b/249/c/d/later".to_owned()].into());
}

/// WSP-2: a folder that moves takes what is below it along, in and out of the worktree.
#[test]
fn moved_folders_are_dirty_on_both_sides_and_followed() {
    let repo = Repo::new();
    repo.write("a/deep/file", "x");
    let watch = watch(&repo);
    let watches = watch.watches();
    let start = mark(&watch);
    std::fs::rename(repo.path("a"), repo.path("z")).unwrap();
    let (at, dirty) = paths(&watch, &start);
    assert_eq!(shown(&dirty), ["a/".to_owned(), "z/".to_owned()].into());
    repo.write("z/deep/file", "y");
    let (at, dirty) = paths(&watch, &at);
    assert_eq!(shown(&dirty), ["z/deep/file".to_owned()].into());
    let outside = repo.home().join("z");
    std::fs::rename(repo.path("z"), &outside).unwrap();
    let (at, dirty) = paths(&watch, &at);
    assert_eq!(shown(&dirty), ["z/".to_owned()].into());
    std::fs::write(outside.join("deep/file"), "z").unwrap();
    let (at, dirty) = paths(&watch, &at);
    assert_eq!(dirty, [], "what left is nobody's business");
    assert_eq!(watch.watches(), watches - 2);
    std::fs::rename(&outside, repo.path("back")).unwrap();
    let (at, dirty) = paths(&watch, &at);
    assert_eq!(shown(&dirty), ["back/".to_owned()].into());
    repo.write("back/deep/.file", "x");
    assert_eq!(shown(&paths(&watch, &at).1), ["back/deep/.file".to_owned()].into());
    assert_eq!(watch.watches(), watches);
}

/// WSP-2: a name that changes hands between folders never leaves a watch on the wrong one.
#[test]
fn folders_that_swap_names_are_told_apart() {
    let repo = Repo::new();
    repo.write("a/in/f", "1");
    repo.write("b/in/f", "2");
    let watch = watch(&repo);
    let mut at = mark(&watch);
    for round in 0..20 {
        std::fs::rename(repo.path("a"), repo.path("t")).unwrap();
        std::fs::rename(repo.path("b"), repo.path("a")).unwrap();
        std::fs::rename(repo.path("t"), repo.path("b")).unwrap();
        std::fs::create_dir_all(repo.path(format!("a/n{round}/m"))).unwrap();
        (at, _) = paths(&watch, &at);
        let name = format!("a/n{round}/m/f");
        repo.write(&name, "x");
        repo.write("b/in/f", round.to_string());
        let (next, dirty) = paths(&watch, &at);
        assert_eq!(shown(&dirty), [name, "b/in/f".to_owned()].into());
        at = next;
    }
}

/// A small generator: the same seed gives the same run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn name(&mut self) -> String {
        let depth = 1 + self.roll(3);
        let parts = ["a", "b", ".c", "d e", "f"];
        let parts: Vec<&str> = (0..depth).map(|_| parts[self.roll(parts.len())]).collect();
        parts.join("/")
    }
}

fn act(dice: &mut Dice, repo: &Repo) {
    let (first, second) = (repo.path(dice.name()), repo.path(dice.name()));
    // Half of these cannot be done, because something stands in the way: that is part of the game.
    let _ = match dice.roll(10) {
        0..=3 => std::fs::create_dir_all(first.parent().unwrap())
            .and_then(|()| std::fs::write(&first, dice.0.to_string())),
        4 => std::fs::remove_file(&first),
        5 => std::fs::remove_dir_all(&first),
        6 | 7 => std::fs::rename(&first, &second),
        8 => std::fs::create_dir_all(&first),
        _ => std::os::unix::fs::symlink(dice.name(), &first),
    };
}

/// WSP-2: after any operations, what a full scan finds changed is a part of what the watchdog names.
#[test]
fn whatever_happens_the_watchdog_covers_what_a_full_scan_finds() {
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut dice = Dice(seed);
    for run in 0..6 {
        let repo = Repo::new();
        let watch = watch(&repo);
        let mut at = mark(&watch);
        let mut before = listing(&repo.root());
        for round in 0..40 {
            for _ in 0..=dice.roll(25) {
                act(&mut dice, &repo);
            }
            let (next, dirty) = paths(&watch, &at);
            let after = listing(&repo.root());
            let missed = missed(&dirty, &differing(&before, &after));
            assert_eq!(missed, [], "seed {seed} run {run} round {round}");
            (at, before) = (next, after);
        }
    }
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    let mut at = 0;
    while let Some(folder) = found.get(at).cloned() {
        let below = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let below = below.filter(|entry| entry.file_type().unwrap().is_dir());
        found.extend(below.map(|entry| entry.path()).filter(|path| !path.ends_with(".git")));
        at += 1;
    }
    found
}

/// WSP-2: while others move and remove folders under its eyes, no watch ends up at the wrong place.
#[test]
fn after_a_race_every_folder_is_watched_under_its_own_name() {
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    for run in 0..15 {
        let repo = Repo::new();
        let watch = watch(&repo);
        let mut at = mark(&watch);
        let before = listing(&repo.root());
        let mut dirty = Vec::new();
        std::thread::scope(|scope| {
            let racers: Vec<_> = (0..2)
                .map(|racer| {
                    let repo = &repo;
                    scope.spawn(move || {
                        let mut dice = Dice(seed + run * 2 + racer);
                        (0..400).for_each(|_| act(&mut dice, repo));
                    })
                })
                .collect();
            while racers.iter().any(|racer| !racer.is_finished()) {
                let (next, more) = paths(&watch, &at);
                dirty.extend(more);
                at = next;
            }
        });
        let (mut at, more) = paths(&watch, &at);
        dirty.extend(more);
        let missed = missed(&dirty, &differing(&before, &listing(&repo.root())));
        assert_eq!(missed, [], "seed {seed} run {run}");
        for folder in folders(&repo.root()) {
            let probe = folder.join("probe");
            std::fs::write(&probe, "x").unwrap();
            let (next, dirty) = paths(&watch, &at);
            let probe = probe.strip_prefix(repo.root()).unwrap().display().to_string();
            assert_eq!(shown(&dirty), [probe].into(), "seed {seed} run {run}");
            at = next;
        }
    }
}

/// WSP-2: when events were lost everything is looked at once, and then it goes on as before.
#[test]
fn an_overflow_means_everything_until_the_next_mark() {
    let repo = Repo::new();
    let watch = watch(&repo);
    let start = mark(&watch);
    watch.lose_events();
    let Dirty::Everything { mark: Some(next), because } = watch.since(Some(&start)) else {
        panic!("events were lost")
    };
    assert!(because.contains("overflowed"), "{because}");
    repo.write("later", "x");
    assert_eq!(shown(&paths(&watch, &next).1), ["later".to_owned()].into());
}

/// WSP-2: the kernel's own queue, really full.
#[test]
fn a_flood_that_the_kernel_drops_is_noticed_and_new_folders_are_found() {
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    if limit > 100_000 {
        eprintln!("SKIPPED: the kernel's queue holds {limit} events, too many to fill here");
        return;
    }
    let repo = Repo::new();
    let mut follower = super::follow::Follower::start(
        Arc::new(super::kernel::Kernel::open(&repo.root()).unwrap()),
        Arc::new(|_: &RepoPath| false),
        &Options::new(now),
    );
    let before = follower.dirty.hand_out();
    // Nobody takes events meanwhile, so that the queue fills; a folder is made when it is full.
    for number in 0..limit {
        std::fs::write(repo.path(format!("f{}", number % 500)), "x").unwrap();
    }
    repo.write("late/folder/file", "x");
    follower.catch_up();
    assert!(follower.dirty.since(before).unwrap_err().contains("overflowed"));
    let at = follower.dirty.hand_out();
    repo.write("late/folder/file", "y");
    follower.catch_up();
    assert_eq!(shown(&follower.dirty.since(at).unwrap()), ["late/folder/file".to_owned()].into());
}

/// WSP-2: without enough watches it says which setting would help, and sees again once it can.
#[test]
fn the_limit_of_watches_is_told_with_the_setting_that_raises_it() {
    let repo = Repo::new();
    let watch = watch(&repo);
    let start = mark(&watch);
    watch.reach_watch_limit(Some(watch.watches()));
    repo.write("new/file", "x");
    let Dirty::Everything { mark: Some(at), because } = watch.since(Some(&start)) else {
        panic!("a folder cannot be watched")
    };
    assert!(because.contains("fs.inotify.max_user_watches"), "{because}");
    assert!(watch.trouble().is_some());
    assert!(matches!(watch.since(Some(&at)), Dirty::Everything { .. }), "still blind");
    watch.reach_watch_limit(None);
    let Dirty::Everything { mark: Some(at), .. } = watch.since(Some(&at)) else {
        panic!("what happened meanwhile is not known")
    };
    repo.write("new/file", "y");
    assert_eq!(shown(&paths(&watch, &at).1), ["new/file".to_owned()].into());
    assert_eq!(watch.trouble(), None);
}

/// WSP-2: a worktree that is no longer where it was cannot be vouched for.
#[test]
fn a_worktree_that_moved_away_is_looked_at_whole() {
    let repo = Repo::new();
    let watch = watch(&repo);
    let start = mark(&watch);
    std::fs::rename(repo.root(), repo.home().join("moved")).unwrap();
    std::fs::create_dir(repo.root()).unwrap();
    let answer = watch.since(Some(&start));
    assert!(matches!(answer, Dirty::Everything { mark: None, .. }), "{answer:?}");
}

/// WSP-2: folders that need not be watched are not, and are again once the rules change.
#[test]
fn folders_left_out_are_not_watched_until_the_rules_change() {
    let repo = Repo::new();
    repo.write("target/deep/x", "x");
    repo.write(".gitignore", "target\n");
    let rules = repo.path(".gitignore");
    let mut options = Options::new(now);
    options.unwatched = Some(Arc::new(move |path: &RepoPath| {
        path.as_bytes() == b"target" && std::fs::read(&rules).is_ok_and(|text| text == b"target\n")
    }));
    let watch = Watchdog::start(&place(&repo), options).unwrap();
    let start = mark(&watch);
    repo.write("target/deep/x", "y");
    assert_eq!(paths(&watch, &start).1, []);
    repo.write(".gitignore", "");
    let Dirty::Everything { mark: Some(at), .. } = watch.since(Some(&start)) else {
        panic!("what happened in there is not known")
    };
    repo.write("target/deep/x", "z");
    assert_eq!(shown(&paths(&watch, &at).1), ["target/deep/x".to_owned()].into());
}

/// WSP-2: set-up and answers stay cheap with many folders.
#[test]
fn a_thousand_folders_are_watched_and_only_changes_are_answered() {
    let repo = Repo::new();
    for number in 0..1000 {
        repo.write(format!("d{}/e{number}/f", number % 20), "x");
    }
    let watch = watch(&repo);
    assert_eq!(watch.watches(), 1000 + 20 + 2);
    let start = mark(&watch);
    repo.write("d7/e7/f", "y");
    assert_eq!(paths(&watch, &start).1, [DirtyPath { path: path("d7/e7/f"), whole: false }]);
}
