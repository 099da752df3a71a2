//! How fast the log is: durable events per second, the wait for one, opening a long log; each beside
//! plain SQLite in the same run. It stands with the crate that may know SQL; `cargo xtask bench engine`
//! starts it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aurora_model::Timestamp;
use aurora_store::{
    Append, Expected, NewRecord, Settings, SqliteStore, Store as _, StreamId, verify,
};
use rusqlite::{Connection, params};

/// How many events the long log has, unless the command line says otherwise.
const EVENTS: u64 = 100_000;
/// How long each is measured.
const SPAN: Duration = Duration::from_secs(3);
/// How many write at once.
const CROWD: usize = 64;
/// How often each log is opened; the middle one counts.
const OPENINGS: usize = 11;
/// Says to a child what it is to measure.
const OPEN: &str = "--open";

type Outcome<T> = Result<T, String>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|arg| arg == OPEN) {
        return opened(args.get(at + 1..).unwrap_or_default());
    }
    // `cargo test --benches` starts this too, and wants it to be over.
    if !args.iter().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let events = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(EVENTS);
    let folder = tempfile::tempdir().map_err(told("make a folder"))?;
    line(&row(["what", "ours", "rival", "theirs", "ours / theirs"].map(str::to_owned)));
    for writers in [1, CROWD] {
        for row in appending(folder.path(), writers)? {
            line(&row);
        }
    }
    for row in long(folder.path(), events)? {
        line(&row);
    }
    Ok(())
}

fn told(doing: &'static str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("cannot {doing}: {error}")
}

fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn row([what, ours, rival, theirs, ratio]: [String; 5]) -> String {
    format!("{what:<36} {ours:>16}  {rival:<28} {theirs:>16}  {ratio:>13}")
}

fn ratio(ours: f64, theirs: f64) -> String {
    format!("{:.3}×", ours / theirs.max(f64::MIN_POSITIVE))
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

fn wait<F: Future>(future: F) -> Outcome<F::Output> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.build().map_err(told("start the run time"))?.block_on(future))
}

/// An event as a run has many of.
fn event(n: u64) -> NewRecord {
    let payload = format!(
        "{{\"type\":\"attempt_ended\",\"task\":\"sg-{n}\",\"attempt\":1,\"end\":{{\"how\":\
         \"succeeded\",\"summary\":\"what an agent says at the end of its work\"}},\"cost\":\
         {{\"usd\":12345,\"known\":\"reported\"}},\"millis\":43210}}"
    );
    NewRecord { kind: "attempt_ended".to_owned(), schema: 1, payload }
}

fn append(stream: u64, records: Vec<NewRecord>) -> Append {
    Append {
        stream: StreamId(format!("run/{stream}")),
        expected: Expected::Any,
        at: Timestamp { unix_ms: 1_700_000_000_000 },
        records,
        outgoing: Vec::new(),
        mark: None,
    }
}

/// How long each append of all writers took, sorted, and how many there were in a second.
struct Sample {
    waits: Vec<Duration>,
    per_second: f64,
}

impl Sample {
    fn new(mut waits: Vec<Duration>, took: Duration) -> Self {
        waits.sort_unstable();
        let count = u32::try_from(waits.len()).unwrap_or(u32::MAX);
        Self { per_second: f64::from(count) / took.as_secs_f64(), waits }
    }

    fn at(&self, per_mille: usize) -> Duration {
        let index = self.waits.len() * per_mille / 1000;
        self.waits.get(index).or(self.waits.last()).copied().unwrap_or_default()
    }
}

fn appending(folder: &Path, writers: usize) -> Outcome<Vec<String>> {
    let ours = ours(&folder.join(format!("ours-{writers}")), writers)?;
    let theirs = theirs(&folder.join(format!("plain-{writers}.db")), writers)?;
    let rival = "SQLite, one transaction each";
    let rate = |rate: f64| format!("{rate:.0}/s");
    let mut rows = vec![row([
        format!("durable events, {writers} at once"),
        rate(ours.per_second),
        rival.to_owned(),
        rate(theirs.per_second),
        ratio(ours.per_second, theirs.per_second),
    ])];
    for (name, per_mille) in [("p50", 500), ("p99", 990)] {
        let (ours, theirs) = (ours.at(per_mille), theirs.at(per_mille));
        rows.push(row([
            format!("one append, {writers} at once, {name}"),
            micros(ours),
            rival.to_owned(),
            micros(theirs),
            ratio(ours.as_secs_f64(), theirs.as_secs_f64()),
        ]));
    }
    Ok(rows)
}

fn ours(folder: &Path, writers: usize) -> Outcome<Sample> {
    let store = SqliteStore::open(Settings::within(folder)).map_err(|e| e.to_string())?;
    let store = Arc::new(store);
    let start = Instant::now();
    let all = wait(async {
        let mut tasks = tokio::task::JoinSet::new();
        for writer in 0..writers as u64 {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                let mut waits = Vec::new();
                while start.elapsed() < SPAN {
                    let asked = Instant::now();
                    let one = append(writer, vec![event(waits.len() as u64)]);
                    store.append(one).await.map_err(|error| error.to_string())?;
                    waits.push(asked.elapsed());
                }
                Ok::<_, String>(waits)
            });
        }
        tasks.join_all().await
    })?;
    let took = start.elapsed();
    let waits: Vec<Vec<Duration>> = all.into_iter().collect::<Outcome<_>>()?;
    Ok(Sample::new(waits.into_iter().flatten().collect(), took))
}

/// The same columns and the same care, without hashes, versions and a thread of its own.
fn plain(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS records (
             position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, version INTEGER NOT NULL,
             at INTEGER NOT NULL, kind TEXT NOT NULL, schema INTEGER NOT NULL,
             payload TEXT NOT NULL, hash BLOB NOT NULL, chain BLOB NOT NULL,
             UNIQUE (stream, version)) STRICT",
    )?;
    Ok(connection)
}

fn insert(connection: &Connection, stream: u64, version: u64) -> rusqlite::Result<()> {
    let words = "INSERT INTO records (stream, version, at, kind, schema, payload, hash, chain)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)";
    let NewRecord { kind, schema, payload } = event(version);
    let (stream, version) = (stream.cast_signed(), version.cast_signed());
    let row = params![stream, version, 1_700_000_000_000_i64, kind, schema, payload, [7_u8; 32]];
    connection.prepare_cached(words)?.execute(row).map(|_| ())
}

fn theirs(path: &Path, writers: usize) -> Outcome<Sample> {
    let connection = Mutex::new(plain(path).map_err(|error| error.to_string())?);
    let start = Instant::now();
    let write = |writer: usize| {
        let mut waits = Vec::new();
        while start.elapsed() < SPAN {
            let asked = Instant::now();
            let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            insert(&connection, writer as u64, waits.len() as u64)?;
            drop(connection);
            waits.push(asked.elapsed());
        }
        Ok::<_, rusqlite::Error>(waits)
    };
    let all: rusqlite::Result<Vec<Vec<Duration>>> = thread::scope(|scope| {
        let write = &write;
        let threads: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let took = start.elapsed();
    let waits = all.map_err(|error| error.to_string())?;
    Ok(Sample::new(waits.into_iter().flatten().collect(), took))
}

/// Opening a long log and looking at one run of it, in a process of its own each time.
fn long(folder: &Path, events: u64) -> Outcome<Vec<String>> {
    let (ours, theirs) = (folder.join("long"), folder.join("long.db"));
    fill(&ours, events)?;
    fill_plain(&theirs, events).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    let (mine, its) = (child("ours", &ours, OPENINGS)?, child("plain", &theirs, OPENINGS)?);
    let empty = child("ours", &folder.join("empty"), OPENINGS)?;
    rows.push(row([
        format!("open {events} events, read one run"),
        micros(mine.took),
        "SQLite, the same rows".to_owned(),
        micros(its.took),
        ratio(mine.took.as_secs_f64(), its.took.as_secs_f64()),
    ]));
    let memory = |what: &str, ours: &Opened, rival: &str, theirs: &Opened| {
        row([
            what.to_owned(),
            format!("{} KiB", ours.memory),
            rival.to_owned(),
            format!("{} KiB", theirs.memory),
            ratio(ours.memory as f64, theirs.memory as f64),
        ])
    };
    rows.push(memory("memory then", &mine, "SQLite, the same rows", &its));
    rows.push(memory("memory then", &mine, "an empty log", &empty));
    let checked = child("verify", &ours, 1)?;
    let scanned = child("scan", &theirs, 1)?;
    rows.push(row([
        format!("verify {events} events"),
        micros(checked.took),
        "SQLite, read every row".to_owned(),
        micros(scanned.took),
        ratio(checked.took.as_secs_f64(), scanned.took.as_secs_f64()),
    ]));
    rows.push(memory("memory then", &checked, "SQLite, read every row", &scanned));
    Ok(rows)
}

/// A hundred events to a run, many runs at once.
fn fill(folder: &Path, events: u64) -> Outcome<()> {
    let store = SqliteStore::open(Settings::within(folder)).map_err(|e| e.to_string())?;
    let store = Arc::new(store);
    let runs: Vec<u64> = (0..events.div_ceil(100)).collect();
    wait(async {
        for some in runs.chunks(100) {
            let mut tasks = tokio::task::JoinSet::new();
            for run in some.iter().copied() {
                let store = Arc::clone(&store);
                let records = (0..100.min(events - run * 100)).map(event).collect();
                tasks.spawn(async move { store.append(append(run, records)).await.map(|_| ()) });
            }
            for done in tasks.join_all().await {
                done.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    })?
}

fn fill_plain(path: &Path, events: u64) -> rusqlite::Result<()> {
    let connection = plain(path)?;
    let transaction = connection.unchecked_transaction()?;
    for n in 0..events {
        insert(&transaction, n / 100, n % 100)?;
    }
    transaction.commit()
}

/// What a child measured.
struct Opened {
    took: Duration,
    memory: u64,
}

fn child(what: &str, path: &Path, times: usize) -> Outcome<Opened> {
    let me = std::env::current_exe().map_err(told("find myself"))?;
    let mut all = Vec::new();
    for _ in 0..times {
        let output = Command::new(&me).args([OPEN, what]).arg(path).output();
        let output = output.map_err(told("start myself"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = said.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(nanos)), Some(Ok(memory))) = (words.next(), words.next()) else {
            return Err(format!("{what}: {}", String::from_utf8_lossy(&output.stderr)));
        };
        all.push(Opened { took: Duration::from_nanos(nanos), memory });
    }
    all.sort_by_key(|opened| opened.took);
    let middle = all.len() / 2;
    all.into_iter().nth(middle).ok_or_else(|| "nothing was measured".to_owned())
}

/// What the child does: opens it, and says how long it took and how much memory it needed.
fn opened(args: &[String]) -> Outcome<()> {
    let [what, path] = args else { return Err("what, and where?".to_owned()) };
    let path = PathBuf::from(path);
    let start = Instant::now();
    // Both stay open until the memory was looked at.
    let (mut store, mut connection) = (None, None);
    match what.as_str() {
        "ours" | "verify" => {
            let open = SqliteStore::open(Settings::within(&path)).map_err(|e| e.to_string())?;
            let open = store.insert(open);
            if what == "verify" {
                let seen = wait(verify(open, None))?.map_err(|error| error.to_string())?;
                if !seen.is_whole() {
                    return Err(format!("{:?}", seen.findings));
                }
            } else {
                let run = StreamId("run/7".to_owned());
                wait(open.read(&run, 0, 1000))?.map_err(|error| error.to_string())?;
            }
        }
        _ => {
            let open = connection.insert(plain(&path).map_err(|error| error.to_string())?);
            let words = if what == "scan" {
                "SELECT * FROM records ORDER BY position"
            } else {
                "SELECT * FROM records WHERE stream = 7 ORDER BY version"
            };
            read(open, words).map_err(|error| error.to_string())?;
        }
    }
    let took = start.elapsed();
    line(&format!("{} {}", took.as_nanos(), memory()?));
    drop((store, connection));
    Ok(())
}

fn read(connection: &Connection, words: &str) -> rusqlite::Result<usize> {
    let mut statement = connection.prepare(words)?;
    let mut rows = statement.query([])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        bytes += row.get::<_, String>("payload")?.len();
    }
    Ok(bytes)
}

/// The most memory that this process has had, in KiB.
fn memory() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(told("look at myself"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let number = line.trim().trim_end_matches(" kB").trim().parse();
    number.map_err(|error| format!("cannot read {line:?}: {error}"))
}
