//! Processes under the real keeper, in both containments: whatever they do, nothing is left of them.

mod ends;
mod starts;
mod survives;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use aurora_workspace::Error;
use aurora_workspace::process::{self, Command, Containment, Ended, Handle, Keeper, Running};

/// Long enough for a machine that does ten other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// The variable by which everything that a test started is found.
const MARK: &str = "AURORA_TEST_MARK";

pub fn keeper() -> Keeper {
    let program = std::env::var_os("AURORA_TEST_AUR");
    let program = program.map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_aur")), PathBuf::from);
    Keeper { program, args: vec!["keep".into()] }
}

/// A name that nothing else on this machine has.
pub fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("mark-{}-{number}-end", std::process::id())
}

pub fn command(containment: Containment, mark: &str, argv: &[&str]) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let env = BTreeMap::from([
        (OsString::from("PATH"), path),
        (OsString::from(MARK), OsString::from(mark)),
    ]);
    Command {
        argv: argv.iter().map(OsString::from).collect(),
        cwd: PathBuf::from("/"),
        env,
        containment: Some(containment),
    }
}

pub fn shell(containment: Containment, mark: &str, script: &str) -> Running {
    process::start(&keeper(), &command(containment, mark, &["sh", "-c", script])).unwrap()
}

/// The containments that work here; one that does not is told.
pub fn containments() -> Vec<Containment> {
    let mut all = Vec::new();
    for (containment, works) in process::probe(&keeper()) {
        match works {
            Ok(()) => all.push(containment),
            Err(Error::Unsupported { what, .. }) => {
                eprintln!("SKIPPED: {}: {what}", containment.name());
            }
            Err(error) => panic!("{containment:?}: {error}"),
        }
    }
    assert!(all.contains(&Containment::Subreaper));
    all
}

/// Everything that a process says until everybody who could say something is gone.
pub fn said(running: Running) -> (String, String, Ended) {
    let (pipes, handle) = running.split();
    drop(pipes.stdin);
    let stderr = std::thread::spawn(move || {
        let mut text = Vec::new();
        File::from(pipes.stderr).read_to_end(&mut text).unwrap();
        text
    });
    let mut text = Vec::new();
    File::from(pipes.stdout).read_to_end(&mut text).unwrap();
    let plain = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (plain(text), plain(stderr.join().unwrap()), handle.wait())
}

/// The processes that carry a mark, in their variables, arguments or program's path.
pub fn marked(mark: &str) -> Vec<u32> {
    let holds = |path: PathBuf| {
        std::fs::read(path)
            .is_ok_and(|bytes| bytes.windows(mark.len()).any(|window| window == mark.as_bytes()))
    };
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let dir = PathBuf::from(format!("/proc/{pid}"));
            let exe = std::fs::read_link(dir.join("exe")).unwrap_or_default();
            let named = exe.to_string_lossy().contains(mark);
            let said = || holds(dir.join("environ")) || holds(dir.join("cmdline"));
            *pid != std::process::id() && (named || said())
        })
        .collect()
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until so many processes carry the mark.
pub fn until_marked(mark: &str, count: usize) {
    until(&format!("{count} processes with {mark}"), || marked(mark).len() >= count);
}

/// Ends it and finds nothing left, at once.
pub fn kill_and_look(handle: &Handle, mark: &str) -> Ended {
    handle.kill();
    let ended = handle.wait();
    assert_eq!(marked(mark), Vec::<u32>::new(), "something is left");
    ended
}

/// The children of a process, by number, whichever thread of it started them.
pub fn children(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).unwrap().flatten();
    let texts = tasks.map(|task| std::fs::read_to_string(task.path().join("children")));
    texts
        .flat_map(|text| {
            let text = text.unwrap_or_default();
            text.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
        })
        .collect()
}

/// This very test program again, playing one test, with the variables that make it play a part.
pub fn again(test: &str, part: &[(&str, &Path)]) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.envs(part.iter().copied()).stdin(Stdio::null());
    command
}
