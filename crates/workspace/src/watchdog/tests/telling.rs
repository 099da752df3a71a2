//! What the watchdog tells: callbacks, its log, and other processes.

use std::path::Path;
use std::sync::{Arc, Mutex};

use aurora_model::{CheckpointId, RepoPath};

use super::{mark, missed, paths, place, until};
use crate::error::Error;
use crate::fixture::{Repo, now, path};
use crate::git::Place;
use crate::watchdog::{Dirty, FileChange, Options, Watchdog, Watched, connect};

fn log_lines(place: &Place) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(place.projections_dir.join("logs/file-changes.jsonl"));
    text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn told(repo: &Repo, change: impl FnOnce(&mut Options)) -> (Watchdog, Arc<Mutex<Vec<FileChange>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut options = Options::new(now);
    options.settle_ms = 30;
    let listener = Arc::clone(&told);
    options.on_change = Some(Box::new(move |change| listener.lock().unwrap().push(change.clone())));
    change(&mut options);
    (Watchdog::start(&place(repo), options).unwrap(), told)
}

/// WSP-2: one save is one event; each event is one line, with the checkpoint that captured it.
#[test]
fn every_event_is_logged_once_with_its_checkpoint() {
    let repo = Repo::new();
    repo.write("old", "x");
    let (watch, told) = told(&repo, |_| {});
    let start = mark(&watch);
    repo.write("new", "1");
    repo.write("new", "12");
    std::fs::write(repo.path("a.tmp"), "saved").unwrap();
    std::fs::rename(repo.path("a.tmp"), repo.path("README.md")).unwrap();
    std::fs::remove_file(repo.path("src/a.txt")).unwrap();
    std::fs::rename(repo.path("old"), repo.path("renamed")).unwrap();
    repo.write("dir/sub/.f", "x");
    repo.write("passing", "x");
    std::fs::remove_file(repo.path("passing")).unwrap();
    let (at, _) = paths(&watch, &start);
    watch.captured(&at, &CheckpointId("ckpt-001-aaaaaaaa".to_owned()));
    until("the first events", || told.lock().unwrap().len() >= 5);
    assert_eq!(watch.uncaptured(), 0, "they settled after they were captured");
    repo.write("new", "123");
    until("the last event", || told.lock().unwrap().len() >= 6);
    drop(watch);
    let lines = log_lines(&place(&repo));
    let mut shown: Vec<String> = lines
        .iter()
        .map(|line| {
            let from = line.get("from").map(|from| format!(" < {from}")).unwrap_or_default();
            let get = |key: &str| line[key].to_string().replace('"', "");
            let (kind, path, size) = (get("event_type"), get("file_path"), get("file_size"));
            format!("{kind} {path}{from} {size} {}", get("checkpoint_id"))
        })
        .collect();
    shown.sort();
    assert_eq!(
        shown,
        [
            "add dir/sub/.f 1 ckpt-001-aaaaaaaa",
            "add new 2 ckpt-001-aaaaaaaa",
            "change README.md 5 ckpt-001-aaaaaaaa",
            "change new 3 null",
            "rename renamed < \"old\" 1 ckpt-001-aaaaaaaa",
            "unlink src/a.txt null ckpt-001-aaaaaaaa",
        ]
    );
    assert!(lines.iter().all(|line| line["timestamp"].is_string()));
}

/// WSP-2: a line that a crash cut short is ended, so that the next one can be read.
#[test]
fn a_torn_line_is_mended_and_a_log_in_the_worktree_is_neither_watched_nor_committed() {
    let repo = Repo::new();
    let mut place = place(&repo);
    place.projections_dir = place.root.join(".aurora/features/checkout");
    let logs = place.projections_dir.join("logs");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join("file-changes.jsonl"), "{\"torn\": tr").unwrap();
    let mut options = Options::new(now);
    options.settle_ms = 1;
    let watch = Watchdog::start(&place, options).unwrap();
    let start = mark(&watch);
    repo.write("x", "1");
    until("the event", || watch.uncaptured() == 1);
    let (at, _) = paths(&watch, &start);
    watch.captured(&at, &CheckpointId("ckpt-001-aaaaaaaa".to_owned()));
    let log = || std::fs::read_to_string(logs.join("file-changes.jsonl")).unwrap();
    until("the line", || log().lines().count() == 2);
    assert_eq!(paths(&watch, &at).1, [], "our own log is no change");
    drop(watch);
    let text = log();
    assert!(serde_json::from_str::<serde_json::Value>(text.lines().nth(1).unwrap()).is_ok());
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? x\n");
}

/// WSP-2: `changeThreshold`.
#[test]
fn the_threshold_calls_once_per_checkpoint() {
    let repo = Repo::new();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let called = Arc::clone(&calls);
    let (watch, told) = told(&repo, |options| {
        options.change_threshold = 5;
        options.on_threshold = Some(Box::new(move |count| called.lock().unwrap().push(count)));
    });
    let start = mark(&watch);
    let write = |range: std::ops::Range<u32>| {
        let seen = told.lock().unwrap().len();
        let count = range.len();
        range.for_each(|number| repo.write(format!("f{number}"), "x"));
        until("the events", || told.lock().unwrap().len() >= seen + count);
    };
    write(0..4);
    write(0..4);
    assert_eq!(*calls.lock().unwrap(), [0; 0], "the same files again are no further changes");
    write(4..9);
    until("the call", || !calls.lock().unwrap().is_empty());
    write(9..20);
    let (at, _) = paths(&watch, &start);
    assert_eq!(calls.lock().unwrap().len(), 1);
    watch.captured(&at, &CheckpointId("ckpt-001-aaaaaaaa".to_owned()));
    write(20..24);
    assert_eq!(calls.lock().unwrap().len(), 1);
    write(24..26);
    until("the second call", || calls.lock().unwrap().len() == 2);
}

/// A busy machine may take longer than a hanging watchdog is waited for.
fn connected(place: &Place) -> Arc<dyn Watched> {
    let mut found = None;
    until("the connection", || {
        found = connect(place);
        found.is_some()
    });
    found.unwrap()
}

/// WSP-2: one watchdog per worktree, which other processes can ask.
#[test]
fn another_process_asks_by_the_socket_and_a_second_watchdog_is_refused() {
    let repo = Repo::new();
    let place = place(&repo);
    assert!(connect(&place).is_none());
    let mut options = Options::new(now);
    let sockets = repo.home();
    options.socket_dir = Some(sockets.clone());
    let watch = Watchdog::start(&place, options).unwrap();
    let second = Watchdog::start(&place, Options::new(now));
    assert!(matches!(second, Err(Error::Busy { what }) if what.contains("process")));
    let remote = connected(&place);
    let start = mark(&*remote);
    repo.write(b"caf\xe9", "x");
    repo.write("d/f", "x");
    let (at, dirty) = paths(&*remote, &start);
    assert_eq!(paths(&watch, &start).1, dirty);
    assert_eq!(missed(&dirty, &[RepoPath::new(&b"caf\xe9"[..]).unwrap(), path("d/f")]), []);
    remote.captured(&at, &CheckpointId("ckpt-001-aaaaaaaa".to_owned()));
    drop(watch);
    assert!(connect(&place).is_none());
    assert!(matches!(remote.since(Some(&at)), Dirty::Everything { mark: None, .. }));
    assert_eq!(std::fs::read_dir(&sockets).unwrap().count(), 0, "nothing is left behind");
    let lines = log_lines(&place);
    assert!(lines.iter().all(|line| line["checkpoint_id"] == "ckpt-001-aaaaaaaa"), "{lines:?}");
    assert_eq!(lines.len(), 2);
}

/// WSP-2: whoever pretends to be the watchdog, hangs or talks nonsense is not believed.
#[test]
fn a_watchdog_that_hangs_or_lies_is_none() {
    let repo = Repo::new();
    let place = place(&repo);
    let socket = repo.home().join("aur-watch-x/s");
    std::fs::create_dir(socket.parent().unwrap()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let address = |version: u32, socket: &Path| {
        let text = serde_json::json!({
            "version": version, "pid": 1, "instance": "x", "socket": socket,
        });
        std::fs::write(place.feature_dir.join("watch.json"), text.to_string()).unwrap();
    };
    address(1, &socket);
    assert!(connect(&place).is_none(), "it hangs");
    address(2, &socket);
    assert!(connect(&place).is_none(), "another version");
    address(1, &repo.path("README.md"));
    assert!(connect(&place).is_none(), "no socket");
    address(1, Path::new("/run/docker.sock"));
    assert!(connect(&place).is_none(), "somebody else's socket");
    std::fs::write(place.feature_dir.join("watch.json"), "{").unwrap();
    assert!(connect(&place).is_none(), "no address");
    drop(listener);
    address(1, &socket);
    assert!(connect(&place).is_none(), "nobody listens");
    let mut options = Options::new(now);
    options.socket_dir = Some(repo.home());
    let watch = Watchdog::start(&place, options).unwrap();
    connected(&place);
    drop(watch);
}
