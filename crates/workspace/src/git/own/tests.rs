//! Links, pipes and forgeries where our own files are.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use aurora_model::Timestamp;

use super::*;
use crate::fixture::{Repo, now, path};
use crate::git::beneath::Fuse;
use crate::git::journal::Journal;
use crate::git::restore::Transition;
use crate::git::{GitWorkspace, Settings};
use crate::request::{CheckpointRequest, RollbackRequest};
use crate::watchdog::{Options, Watchdog};
use crate::workspace::Workspace as _;

const PRECIOUS: &str = "somebody's own work\n";

/// A repository, and beside it what must stay as it is: a file, and a folder with a file.
fn scene() -> (Repo, PathBuf, PathBuf) {
    let repo = Repo::new();
    let (file, folder) = (repo.home().join("bashrc"), repo.home().join("precious"));
    fs::write(&file, PRECIOUS).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("file"), PRECIOUS).unwrap();
    (repo, file, folder)
}

fn assert_untouched(file: &Path, folder: &Path, context: &str) {
    assert_eq!(fs::read_to_string(file).unwrap(), PRECIOUS, "{context}");
    assert_eq!(fs::metadata(file).unwrap().nlink(), 1, "{context}");
    let inside: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(inside, [folder.join("file")], "{context}");
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), PRECIOUS, "{context}");
}

fn mkfifo(path: &Path) {
    let kind = FileType::Fifo;
    rustix::fs::mknodat(CWD, path, kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Opens the workspace, makes a checkpoint, changes something, makes another and rolls back.
fn work(settings: Settings) -> Result<()> {
    let root = settings.from.clone();
    let workspace = GitWorkspace::open(settings)?;
    let first = workspace.checkpoint(&CheckpointRequest::default())?.checkpoint;
    fs::write(root.join("src/a.txt"), format!("{:?}\n", now())).unwrap();
    workspace.checkpoint(&CheckpointRequest::default())?;
    let request = RollbackRequest::to(first.checkpoint_id);
    workspace.rollback(&request)?;
    Ok(())
}

/// WSP-6
#[test]
fn what_a_clone_brings_along_never_leads_our_files_elsewhere() {
    let below = ".aurora/features/checkout";
    for (at, to_folder) in [
        ("checkpoints/diff.new", false),
        ("checkpoints", true),
        ("logs", true),
        ("logs/file-changes.jsonl", false),
        ("logs/.gitignore", false),
    ] {
        let (repo, file, folder) = scene();
        let link = repo.path(format!("{below}/{at}"));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(if to_folder { &folder } else { &file }, &link).unwrap();
        repo.commit("a trap");
        let clone = repo.home().join("clone");
        repo.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
        assert!(fs::symlink_metadata(clone.join(below).join(at)).unwrap().is_symlink());

        let settings = Settings { from: clone.clone(), ..repo.settings() };
        work(settings.clone()).unwrap();
        let place = crate::git::Place::find(&settings).unwrap();
        let watched = Watchdog::start(&place, Options::new(now));
        if at.starts_with("logs") && !at.ends_with(".gitignore") {
            let error = watched.err().unwrap();
            assert!(matches!(error, Error::Refused { .. }), "{at}: {error}");
        }
        assert_untouched(&file, &folder, at);
    }
}

/// WSP-6
#[test]
fn links_between_our_own_files_are_never_written_through() {
    for at in [
        "lock",
        "repack.lock",
        "features/checkout/lock",
        "features/checkout/journal",
        "features/checkout/journal.new",
        "features/checkout/state.json",
        "features/checkout/state.json.new",
        "features/checkout/index",
        "features/checkout/index.new",
        "features/checkout/keep",
        "features/checkout/git-fingerprint.json",
        "features/checkout/git-fingerprint.json.part",
        "features/checkout/checkpoints/diff.new",
        "git/packed-refs",
        "git/objects/info/alternates",
    ] {
        for dangling in [false, true] {
            let (repo, file, folder) = scene();
            work(repo.settings()).unwrap();
            let (link, nowhere) = (repo.path(format!(".git/aurora/{at}")), repo.home().join("new"));
            let _ = fs::remove_file(&link);
            symlink(if dangling { &nowhere } else { &file }, &link).unwrap();
            let ended = work(repo.settings());
            let unused = at.ends_with(".new") || at.ends_with(".part") || at == "repack.lock";
            match ended {
                Ok(()) => assert!(unused, "{at} was not refused"),
                Err(error) => {
                    assert!(matches!(error, Error::Refused { .. }), "{at}: {error}");
                    assert!(error.to_string().contains(at), "{at}: {error}");
                    assert!(error.hint().unwrap().contains("remove it"), "{at}: {error}");
                }
            }
            assert!(fs::symlink_metadata(&nowhere).is_err(), "{at}");
            assert_untouched(&file, &folder, at);
        }
    }
}

/// WSP-6
#[test]
fn folders_of_ours_that_are_links_are_refused() {
    for at in [
        "",
        "features",
        "features/checkout",
        "git",
        "git/objects",
        "git/objects/pack",
        "git/objects/info",
        "git/refs",
        "git/refs/aurora",
        "git/refs/aurora/checkpoints",
    ] {
        for before in [false, true] {
            let (repo, file, folder) = scene();
            let link = repo.root().join(".git/aurora").join(at);
            let link = PathBuf::from(link.to_str().unwrap().trim_end_matches('/'));
            if before {
                fs::create_dir_all(link.parent().unwrap()).unwrap();
            } else {
                work(repo.settings()).unwrap();
                fs::rename(&link, repo.home().join("moved")).unwrap();
            }
            symlink(&folder, &link).unwrap();
            let error = work(repo.settings()).unwrap_err();
            assert!(matches!(error, Error::Refused { .. }), "{at}: {error}");
            assert_untouched(&file, &folder, at);
        }
    }
}

/// WSP-6: a checkpoint does without what is only for people.
#[test]
fn a_checkpoint_succeeds_where_its_diff_cannot_be_written() {
    let (repo, file, folder) = scene();
    work(repo.settings()).unwrap();
    let link = repo.path(".git/aurora/features/checkout/checkpoints");
    fs::remove_dir_all(&link).unwrap();
    symlink(&folder, &link).unwrap();
    work(repo.settings()).unwrap();
    assert_untouched(&file, &folder, "checkpoints");
}

/// WSP-3
#[test]
fn cleaning_up_does_not_follow_links() {
    let (repo, _, folder) = scene();
    let workspace = repo.workspace();
    let old = folder.join("old.new");
    fs::write(&old, PRECIOUS).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    symlink(&folder, workspace.place.aurora_dir.join("features/evil")).unwrap();
    symlink(&folder, workspace.place.feature_dir.join("checkpoints")).unwrap();
    workspace.store.remove_leftovers();
    assert!(old.exists());
}

/// WSP-6
#[test]
fn a_lock_that_is_somebody_elses_file_by_another_name_is_not_emptied() {
    let (repo, file, _) = scene();
    work(repo.settings()).unwrap();
    let lock = repo.path(".git/aurora/features/checkout/lock");
    fs::remove_file(&lock).unwrap();
    fs::hard_link(&file, &lock).unwrap();
    let error = work(repo.settings()).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), PRECIOUS);
}

/// WSP-6: would it wait, this test would never end.
#[test]
fn nobody_waits_at_a_pipe() {
    for at in [
        "lock",
        "features/checkout/lock",
        "features/checkout/journal",
        "features/checkout/index",
        "features/checkout/state.json",
        "features/checkout/keep",
        "features/checkout/git-fingerprint.json",
        "git/packed-refs",
        "git/objects/info/alternates",
        "git/objects/pack/pack-1.idx",
        "git/refs/aurora/checkpoints/checkout/ckpt-009-aaaaaaaa",
    ] {
        let (repo, ..) = scene();
        work(repo.settings()).unwrap();
        let pipe = repo.path(format!(".git/aurora/{at}"));
        let _ = fs::remove_file(&pipe);
        mkfifo(&pipe);
        let error = work(repo.settings()).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{at}: {error}");
        assert!(error.to_string().contains(at), "{at}: {error}");
    }
}

/// WSP-5
#[test]
fn the_watchdog_refuses_links_and_pipes_for_its_lock() {
    let (repo, file, folder) = scene();
    let place = repo.workspace().place;
    let lock = place.feature_dir.join("watch.lock");
    symlink(&file, &lock).unwrap();
    let refused = |error: Error| assert!(matches!(error, Error::Refused { .. }), "{error}");
    refused(Watchdog::start(&place, Options::new(now)).err().unwrap());
    fs::remove_file(&lock).unwrap();
    mkfifo(&lock);
    refused(Watchdog::start(&place, Options::new(now)).err().unwrap());
    assert_untouched(&file, &folder, "watch.lock");
}

/// WSP-4
#[test]
fn a_forged_journal_makes_no_folder_in_gits_data() {
    let (repo, ..) = scene();
    let workspace = repo.workspace();
    let empty_folders = vec![path(".git/evil"), path("sub/.GIT/evil"), path("hollow")];
    let transition = Transition { what: "a forgery".to_owned(), steps: Vec::new(), empty_folders };
    let journal = Journal::of(&transition, None, Timestamp { unix_ms: 1 });
    journal.write(&workspace.place.feature_dir, &Fuse::default()).unwrap();
    workspace.heal().unwrap();
    assert!(repo.path("hollow").is_dir());
    assert!(!repo.path(".git/evil").exists());
    assert!(!repo.path("sub").exists());
}

/// WSP-4
#[test]
fn a_journal_whose_operation_leads_elsewhere_is_none() {
    let (repo, file, folder) = scene();
    let workspace = repo.workspace();
    let transition =
        Transition { what: "a forgery".to_owned(), steps: Vec::new(), empty_folders: Vec::new() };
    let mut journal = Journal::of(&transition, None, Timestamp { unix_ms: 1 });
    journal.op = "../../../../home/precious".to_owned();
    journal.write(&workspace.place.feature_dir, &Fuse::default()).unwrap();
    assert!(!workspace.heal().unwrap()[0].completed);
    assert_untouched(&file, &folder, "journal");
}

/// WSP-4
#[test]
fn what_is_not_published_goes() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    drop(Prepared::new(&root.join("a/journal"), b"half", true).unwrap());
    assert_eq!(fs::read_dir(root.join("a")).unwrap().count(), 0);
    replace(&root.join("a/journal"), b"whole", true).unwrap();
    assert_eq!(read(&root.join("a/journal"), 5).unwrap().unwrap(), b"whole");
    assert!(matches!(read(&root.join("a/journal"), 4), Err(Error::Corrupt { .. })));
    assert_eq!(fs::metadata(root.join("a")).unwrap().mode() & 0o777, 0o700);
    assert!(replace(&root.join("a/../b"), b"", false).is_err());
}
