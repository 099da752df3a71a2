//! Looking only at what a watchdog names gives the tree that looking at everything gives.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use aurora_model::{CheckpointId, RepoPath};

use super::*;
use crate::request::{Scan, Scanned};
use crate::watchdog::{Dirty, DirtyPath, Mark, Watched};

/// A watchdog that knows what it is told.
#[derive(Default)]
struct Told {
    events: Mutex<Vec<DirtyPath>>,
    captured: Mutex<Vec<(u64, CheckpointId)>>,
}

impl Told {
    fn tell(&self, path: &[u8], whole: bool) {
        let path = RepoPath::new(path).unwrap();
        self.events.lock().unwrap().push(DirtyPath { path, whole });
    }
}

impl Watched for Told {
    fn since(&self, mark: Option<&Mark>) -> Dirty {
        let events = self.events.lock().unwrap();
        let now = Mark { watch: "told".to_owned(), sequence: events.len() as u64 };
        match mark {
            Some(mark) if mark.watch == "told" => {
                let from = usize::try_from(mark.sequence).unwrap();
                Dirty::Paths { mark: now, paths: events[from..].to_vec() }
            }
            _ => Dirty::Everything { mark: Some(now), because: "it is new".to_owned() },
        }
    }

    fn captured(&self, mark: &Mark, checkpoint: &CheckpointId) {
        self.captured.lock().unwrap().push((mark.sequence, checkpoint.clone()));
    }
}

fn watched(repo: &Repo) -> (Arc<Told>, GitWorkspace) {
    let told = Arc::new(Told::default());
    (Arc::clone(&told), repo.workspace().watched_by(told))
}

#[test]
fn only_what_the_watchdog_named_is_looked_at() {
    // WSP-2, WSP-3
    let repo = Repo::new();
    let (told, workspace) = watched(&repo);
    assert!(matches!(take(&workspace).scanned, Scanned::Everything { .. }));
    repo.write("src/a.txt", "named");
    repo.write("README.md", "not named");
    told.tell(b"src/a.txt", false);
    let created = take(&workspace);
    assert_eq!(created.scanned, Scanned::Watched { paths: 1 });
    let found = files(&workspace, &created.checkpoint);
    assert_eq!(found["src/a.txt"].1, b"named");
    assert_eq!(found["README.md"].1, b"hello\n");
    assert_eq!(told.captured.lock().unwrap().last().unwrap().0, 1);
    // A full scan knows better, also after watched ones.
    let request = CheckpointRequest { scan: Scan::Full, ..CheckpointRequest::default() };
    let full = workspace.checkpoint(&request).unwrap();
    assert_eq!(files(&workspace, &full.checkpoint)["README.md"].1, b"not named");
    assert_eq!(full.checkpoint.tree.0, plain_tree(&repo));
}

#[test]
fn a_folder_that_is_named_and_was_there_takes_nothing_away() {
    // WSP-2, WSP-3: the files beside it were once taken for deleted.
    let repo = Repo::new();
    let (told, workspace) = watched(&repo);
    take(&workspace);
    repo.write("src/b.txt", "new\n");
    told.tell(b"src", false);
    told.tell(b"src/b.txt", false);
    let found = take(&workspace);
    let changed: Vec<String> = found.changes.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(changed, ["src/b.txt"]);
}

#[test]
fn permissions_of_what_was_not_named_are_carried_over() {
    // WSP-2, WSP-3
    use std::os::unix::fs::PermissionsExt;
    let repo = Repo::new();
    let (told, workspace) = watched(&repo);
    let set = |path: &str, mode| {
        std::fs::set_permissions(repo.path(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    for path in ["src/stays", "src/opened", "src/gone", "also/stays"] {
        repo.write(path, path);
        set(path, 0o600);
    }
    assert_eq!(take(&workspace).checkpoint.permissions.len(), 4);
    set("src/opened", 0o644);
    std::fs::remove_file(repo.path("src/gone")).unwrap();
    repo.write("src/new", "new");
    set("src/new", 0o640);
    for path in ["src/opened", "src/gone", "src/new"] {
        told.tell(path.as_bytes(), false);
    }
    let seen = take(&workspace);
    assert!(matches!(seen.scanned, Scanned::Watched { .. }));
    let named: Vec<_> =
        seen.checkpoint.permissions.iter().map(|(path, bits)| (path.to_string(), *bits)).collect();
    let expected = [("also/stays", 0o600), ("src/new", 0o640), ("src/stays", 0o600)];
    assert_eq!(named, expected.map(|(path, bits)| (path.to_owned(), bits)));
}

#[test]
fn nothing_named_costs_nothing_and_writes_nothing() {
    // WSP-3
    let repo = Repo::new();
    let (_told, workspace) = watched(&repo);
    take(&workspace);
    let state = workspace.place.feature_dir.join("state.json");
    let before = std::fs::metadata(&state).unwrap().modified().unwrap();
    let again = take(&workspace);
    assert!(again.unchanged);
    assert_eq!(again.scanned, Scanned::Watched { paths: 0 });
    assert_eq!(std::fs::metadata(&state).unwrap().modified().unwrap(), before);
}

#[test]
fn another_watchdog_other_rules_or_other_options_mean_everything() {
    // WSP-2
    let repo = Repo::new();
    let (_told, workspace) = watched(&repo);
    take(&workspace);
    repo.write(".git/info/exclude", "*.o\n");
    assert!(matches!(take(&workspace).scanned, Scanned::Everything { .. }));
    assert_eq!(take(&workspace).scanned, Scanned::Watched { paths: 0 });
    repo.write("x", "1");
    let (_told, workspace) = watched(&repo);
    // The mark of the first watchdog is the second one's too, so it must be told apart by name; a
    // full scan is asked for instead.
    let request = CheckpointRequest { scan: Scan::Full, ..CheckpointRequest::default() };
    assert!(!workspace.checkpoint(&request).unwrap().unchanged);
    let limits = crate::request::Limits { max_file_bytes: 7, ..Default::default() };
    let request = CheckpointRequest { limits, ..CheckpointRequest::default() };
    assert!(matches!(workspace.checkpoint(&request).unwrap().scanned, Scanned::Everything { .. }));
}

#[test]
fn what_becomes_tracked_is_taken_though_ignored() {
    // WSP-3
    let repo = Repo::new();
    repo.write(".gitignore", "*.gen\nbuild/\n");
    repo.write("a.gen", "1");
    repo.write("build/b.txt", "1");
    repo.commit("rules");
    let (told, workspace) = watched(&repo);
    take(&workspace);
    repo.git(&["add", "-f", "a.gen", "build/b.txt"]);
    let created = take(&workspace);
    assert!(matches!(created.scanned, Scanned::Watched { .. }));
    assert_eq!(created.checkpoint.tree.0, plain_tree_forced(&repo));
    // Tracked, deleted, and made again while ignored.
    std::fs::remove_file(repo.path("a.gen")).unwrap();
    told.tell(b"a.gen", false);
    assert!(!files(&workspace, &take(&workspace).checkpoint).contains_key("a.gen"));
    repo.write("a.gen", "2");
    told.tell(b"a.gen", false);
    let created = take(&workspace);
    assert_eq!(files(&workspace, &created.checkpoint)["a.gen"].1, b"2");
    assert!(matches!(created.scanned, Scanned::Watched { .. }));
}

/// What plain git makes of the worktree when it starts from the user's index.
fn plain_tree_forced(repo: &Repo) -> String {
    let index = repo.home().join("plain-index");
    std::fs::copy(repo.root().join(".git/index"), &index).unwrap();
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .current_dir(repo.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", repo.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_INDEX_FILE", &index)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["add", "-A"]);
    git(&["write-tree"])
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

const NAMES: &[&[u8]] = &[b"a", b"b", b"c d", b"caf\xe9", b"n\nl", b"x.o", b"a-b", b"build"];

fn some_path(dice: &mut Dice) -> Vec<u8> {
    let depth = 1 + dice.roll(3);
    let parts: Vec<&[u8]> = (0..depth).map(|_| NAMES[dice.roll(NAMES.len())]).collect();
    parts.join(&b'/')
}

/// Does something to the worktree, and says which paths a watchdog would name.
fn edit(repo: &Repo, dice: &mut Dice) -> Vec<(Vec<u8>, bool)> {
    let path = some_path(dice);
    let disk = repo.path(&path);
    let parent = disk.parent().unwrap().to_owned();
    // Through a link, another path would change than the one that is named.
    if disk.ancestors().skip(1).take_while(|up| **up != repo.root()).any(|up| up.is_symlink()) {
        return Vec::new();
    }
    let mut named = Vec::new();
    let make_parents = |named: &mut Vec<(Vec<u8>, bool)>| {
        let mut at = Vec::new();
        for part in path.split(|byte| *byte == b'/') {
            if at.len() + part.len() + usize::from(!at.is_empty()) == path.len() {
                break;
            }
            if !at.is_empty() {
                at.push(b'/');
            }
            at.extend_from_slice(part);
            if repo.path(&at).symlink_metadata().is_err() {
                named.push((at.clone(), true));
            }
        }
        std::fs::create_dir_all(&parent).is_ok()
    };
    match dice.roll(10) {
        0..=4 => {
            if make_parents(&mut named) && !disk.is_dir() {
                let _ = std::fs::remove_file(&disk);
                std::fs::write(&disk, format!("{}", dice.roll(1000))).unwrap();
                if dice.roll(4) == 0 {
                    set_mode(&disk, 0o755);
                }
                named.push((path, false));
            }
        }
        5 | 6 => {
            if disk.is_dir() && !disk.is_symlink() {
                std::fs::remove_dir_all(&disk).unwrap();
                named.push((path, true));
            } else if disk.symlink_metadata().is_ok() {
                std::fs::remove_file(&disk).unwrap();
                named.push((path, false));
            }
        }
        7 => {
            if disk.symlink_metadata().is_err() && make_parents(&mut named) {
                std::fs::create_dir(&disk).unwrap();
                named.push((path, true));
            }
        }
        8 => {
            let to = some_path(dice);
            let target = repo.path(&to);
            let inside = [path.as_slice(), b"/"].concat();
            let mut above = target.ancestors().skip(1).take_while(|up| **up != repo.root());
            let linked = above.any(|up| up.is_symlink());
            let free =
                !linked && target.symlink_metadata().is_err() && target.parent().unwrap().is_dir();
            if disk.symlink_metadata().is_ok() && free && !to.starts_with(&inside) {
                std::fs::rename(&disk, &target).unwrap();
                named.extend([(path, true), (to, true)]);
            }
        }
        _ => {
            if disk.symlink_metadata().is_err() && make_parents(&mut named) {
                std::os::unix::fs::symlink("../a", &disk).unwrap();
                named.push((path, false));
            }
        }
    }
    named
}

fn case(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let repo = Repo::new();
    if dice.roll(2) == 0 {
        repo.write(".gitignore", "*.o\nbuild\n");
    }
    for _ in 0..10 {
        edit(&repo, &mut dice);
    }
    if dice.roll(2) == 0 {
        repo.commit("some");
    }
    let (told, workspace) = watched(&repo);
    take(&workspace);
    for round in 0..5 {
        for _ in 0..=dice.roll(8) {
            for (path, whole) in edit(&repo, &mut dice) {
                told.tell(&path, whole);
            }
        }
        if dice.roll(6) == 0 {
            repo.write("a-folder/.gitignore", "b\n");
            told.tell(b"a-folder", true);
        }
        if dice.roll(5) == 0 {
            repo.git(&["add", "-A"]);
        }
        let seen = take(&workspace);
        assert!(matches!(seen.scanned, Scanned::Watched { .. }), "{:?}", seen.scanned);
        let request = CheckpointRequest {
            scan: Scan::Full,
            on_unchanged: OnUnchanged::Record,
            ..CheckpointRequest::default()
        };
        let full = workspace.checkpoint(&request).unwrap();
        let context = format!("seed {seed}, round {round}: {:?}", full.changes);
        assert_eq!(seen.checkpoint.tree, full.checkpoint.tree, "{context}");
        if !seen.unchanged {
            let (seen, full) = (&seen.checkpoint, &full.checkpoint);
            assert_eq!(seen.empty_folders, full.empty_folders, "{context}");
            assert_eq!(seen.skipped, full.skipped, "{context}");
            assert_eq!(seen.permissions, full.permissions, "{context}");
            assert_eq!(seen.staged_tree, full.staged_tree, "{context}");
        }
        let distinct: BTreeSet<_> = full.checkpoint.skipped.iter().collect();
        assert_eq!(distinct.len(), full.checkpoint.skipped.len());
    }
}

#[test]
fn watched_scans_find_what_full_scans_find() {
    // WSP-2, WSP-3
    let from = std::env::var("AURORA_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let count =
        std::env::var("AURORA_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(25);
    for seed in from..from + count {
        case(seed);
    }
}
