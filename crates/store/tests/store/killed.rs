//! Processes that write, side by side, and that are killed while they do.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use aurora_model::{Digest, Timestamp};
use aurora_store::{Append, Mark, Outgoing, Settings, SqliteStore, Store as _};

use crate::yard::{Yard, add, again, all, assert_whole, one, stream, wait};

/// Says to a child where the log is.
const WRITE: &str = "AURORA_STORE_WRITE";
/// How often a child is killed.
const ROUNDS: u64 = 50;
/// How many threads of a child write.
const WRITERS: usize = 6;

/// Writes until it is killed, and says what it was told is safe.
fn write(folder: &Path, most: usize) {
    let store = Arc::new(SqliteStore::open(Settings::within(folder)).unwrap());
    let _claim = wait(store.claim(&stream("run/claimed"))).unwrap();
    let threads: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                for n in 0..most {
                    let digest = wait(store.put(format!("{writer} {n}").into_bytes())).unwrap();
                    let name = format!("run/{}", writer % 4);
                    let appended = add(&store, &name, &format!("\"{digest}\"")).unwrap();
                    println!("safe {name} {} {digest}", appended.version);
                }
            })
        })
        .collect();
    for n in 0..most {
        let appended = wait(store.append_all(together(n))).unwrap();
        println!("safe {} {} {}", TOGETHER[0], appended[0].version, "0".repeat(64));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Streams that are only ever appended to at once, marked with how often, with a message.
const TOGETHER: [&str; 3] = ["many/a", "many/b", "many/c"];

fn together(n: usize) -> Vec<Append> {
    let id = format!("{n}-{}", std::process::id());
    let mut appends = TOGETHER.map(|name| one(name, &format!("\"{id}\""))).to_vec();
    for append in &mut appends {
        let at = i64::try_from(n).unwrap();
        let wake_at = Some(Timestamp { unix_ms: at });
        append.mark = Some(Mark { label: "together".to_owned(), wake_at });
    }
    let payload = "{}".to_owned();
    appends[1].outgoing = vec![Outgoing { id, topic: "t".to_owned(), payload, tried: 0 }];
    appends
}

/// All of what was appended at once is there, or nothing of it: records, marks and messages.
fn assert_all_or_nothing(store: &SqliteStore) {
    let read = |name| wait(store.read(&stream(name), 0, usize::MAX)).unwrap();
    let payloads = TOGETHER.map(|name| {
        read(name).into_iter().map(|record| record.payload.replace('"', "")).collect::<Vec<_>>()
    });
    assert!(payloads[0] == payloads[1] && payloads[1] == payloads[2]);
    let never = Timestamp { unix_ms: i64::MIN };
    let messages = wait(store.outgoing(never, never, usize::MAX)).unwrap();
    let ids: Vec<String> = messages.into_iter().map(|message| message.id).collect();
    assert_eq!(ids, payloads[0]);
    let marks = wait(store.marked("together", 0, 9)).unwrap();
    let last = payloads[0].last().map(|id| id.split('-').next().unwrap().parse().unwrap());
    let wakes: Vec<_> = marks.iter().map(|one| one.mark.wake_at.unwrap().unix_ms).collect();
    assert_eq!(wakes, last.map_or(Vec::new(), |last: i64| vec![last; 3]));
}

/// What a child said: stream, version, digest.
type Said = (String, u64, String);

fn said(line: &str) -> Option<Said> {
    let mut words = line.split(' ');
    let (safe, name, version) = (words.next()?, words.next()?, words.next()?);
    let digest = words.next()?;
    // A line that the kill cut in two says nothing.
    let whole = safe.ends_with("safe") && Digest::parse(digest).is_some();
    whole.then(|| (name.to_owned(), version.parse().unwrap(), digest.to_owned()))
}

fn start(command: &mut Command) -> (Child, impl Iterator<Item = Said> + use<>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map_while(Result::ok).filter_map(|line| said(&line)))
}

// EXE-5: what a run has recorded is there after a kill -9 at any moment.
// APR-6: what was appended to several streams at once is there as a whole, or not at all.
#[test]
fn everything_acknowledged_survives_kill_9() {
    if let Some(folder) = std::env::var_os(WRITE) {
        return write(&PathBuf::from(folder), usize::MAX);
    }
    let yard = Yard::new();
    let folder = yard.path().parent().unwrap().to_owned();
    let mut safe: BTreeMap<(String, u64), String> = BTreeMap::new();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..ROUNDS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let this = "killed::everything_acknowledged_survives_kill_9";
        let (mut child, mut lines) = start(&mut again(this, WRITE, &folder));
        let after = usize::try_from(random % 60).unwrap() + 1;
        let mut heard: Vec<Said> = lines.by_ref().take(after).collect();
        assert_eq!(heard.len(), after, "round {round}: the child died by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        heard.extend(lines);
        for (name, version, digest) in heard {
            assert!(safe.insert((name, version), digest).is_none(), "a version was given twice");
        }
        let store = yard.open();
        drop(wait(store.claim(&stream("run/claimed"))).unwrap());
        assert_all_or_nothing(&store);
        if round % 10 == 9 {
            assert_whole(&store);
        }
    }
    let store = yard.open();
    let mut left = safe.len();
    for record in all(&store) {
        if record.stream.0 == TOGETHER[0] {
            left -= usize::from(safe.contains_key(&(record.stream.0, record.version)));
        } else if let Some(digest) = safe.get(&(record.stream.0, record.version)) {
            assert_eq!(record.payload, format!("\"{digest}\""));
            wait(store.get(&Digest::parse(digest).unwrap())).unwrap();
            left -= 1;
        }
    }
    assert_eq!(left, 0, "so many of {} were lost", safe.len());
    assert_whole(&store);
}

#[test]
fn several_processes_write_to_one_log() {
    if let Some(folder) = std::env::var_os(WRITE) {
        let store = SqliteStore::open(Settings::within(folder.as_ref())).unwrap();
        for _ in 0..100 {
            let version = add(&store, "run/shared", "{}").unwrap().version;
            println!("safe run/shared {version} {}", "0".repeat(64));
        }
        return;
    }
    let yard = Yard::new();
    let folder = yard.path().parent().unwrap().to_owned();
    let this = "killed::several_processes_write_to_one_log";
    // They make the log at the same time, too.
    let children: Vec<_> = (0..4).map(|_| start(&mut again(this, WRITE, &folder))).collect();
    let mut versions = Vec::new();
    for (mut child, lines) in children {
        versions.extend(lines.map(|(_, version, _)| version));
        assert!(child.wait().unwrap().success());
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=400).collect::<Vec<_>>());
    assert_whole(&yard.open());
}
