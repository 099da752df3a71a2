//! A seeded mutation fuzzer that runs on the stable compiler: no crash, bounded time, same verdict.

pub mod mutate;
mod seeds;
pub mod target;

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use self::mutate::{Mutator, Random};
use self::target::{Ground, Target};
use crate::say;

/// One input may take this long; the limit is generous because nothing here is optimised.
const LIMIT: Duration = Duration::from_secs(2);
/// After this long on one input it is taken for an endless loop.
const HANG: Duration = Duration::from_secs(20);
/// Different failures of one target after which it is not tried further.
const MAX_FAILURES: usize = 5;
/// Every so many inputs are judged twice.
const TWICE_EVERY: u64 = 8;
/// What a program's main thread has.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// What to fuzz and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    targets: Vec<Target>,
    time_each: Duration,
    seed: u64,
    input: Option<PathBuf>,
}

impl Plan {
    /// Reads the command line.
    ///
    /// # Errors
    /// When an argument is not understood.
    pub fn read(args: &[&str]) -> Result<Self, String> {
        let mut plan =
            Self { targets: Vec::new(), time_each: Duration::from_secs(60), seed: 1, input: None };
        let mut args = args.iter();
        let number = |name: &str, value: Option<&&str>| {
            let value = value.ok_or_else(|| format!("{name} needs a number"))?;
            value.parse::<u64>().map_err(|_| format!("{name} {value}: not a whole number"))
        };
        while let Some(arg) = args.next() {
            match *arg {
                "--smoke" => plan.time_each = Duration::from_millis(2500),
                "--seconds" => {
                    plan.time_each = Duration::from_secs(number("--seconds", args.next())?);
                }
                "--seed" => plan.seed = number("--seed", args.next())?,
                "--input" => {
                    let file = args.next().ok_or("--input needs a file")?;
                    plan.input = Some(PathBuf::from(file));
                }
                name => plan.targets.push(Target::from_name(name)?),
            }
        }
        if plan.input.is_some() && plan.targets.len() != 1 {
            return Err("--input needs exactly one target".to_owned());
        }
        if plan.targets.is_empty() {
            plan.targets.extend(Target::ALL);
        }
        Ok(plan)
    }
}

/// Fuzzes one target after the other.
///
/// # Errors
/// When an input crashed, took too long, or was judged in two ways.
pub fn run(plan: &Plan) -> Result<(), String> {
    if let (Some(input), Some(target)) = (&plan.input, plan.targets.first()) {
        return again(input, *target);
    }
    let root = crate::root();
    let folder = root.join("target/fuzz");
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make folder {}: {error}", folder.display()))?;
    let mut failures = 0;
    for target in &plan.targets {
        let report = watch(*target, plan, &root, &folder)?;
        say::line(&report.to_string());
        failures += report.failures.len();
    }
    if failures == 0 { Ok(()) } else { Err(format!("fuzz: {failures} inputs failed")) }
}

/// Runs a saved input once more.
fn again(input: &Path, target: Target) -> Result<(), String> {
    let data = std::fs::read(input)
        .map_err(|error| format!("cannot read {}: {error}", input.display()))?;
    let start = Instant::now();
    Ground::new().run(target, &data, true)?;
    say::line(&format!("fuzz: {} holds in {:?}", input.display(), start.elapsed()));
    Ok(())
}

/// What became of one target.
struct Report {
    target: Target,
    inputs: u64,
    slowest: Duration,
    failures: Vec<String>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { target, inputs, slowest, failures } = self;
        let name = target.name();
        write!(f, "fuzz {name:<6} {inputs:>8} inputs, slowest {:.1} ms", millis(*slowest))?;
        for failure in failures {
            write!(f, "\n  {failure}")?;
        }
        Ok(())
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Runs a target on a thread of its own and notices when it stops getting on.
fn watch(target: Target, plan: &Plan, root: &Path, folder: &Path) -> Result<Report, String> {
    let mutator = Mutator::new(seeds::seeds(target, root)?, seeds::dictionary(target));
    let current = folder.join(format!("{}.current", target.name()));
    let mut worker = Worker {
        target,
        mutator,
        random: Random::new(plan.seed),
        until: Instant::now() + plan.time_each,
        done: Arc::new(AtomicU64::new(0)),
        folder: folder.to_owned(),
        current: File::create(&current)
            .map_err(|error| format!("cannot write {}: {error}", current.display()))?,
    };
    let done = Arc::clone(&worker.done);
    let stuck = |inputs: u64, how: &str| {
        let name = target.name();
        let path = current.display();
        let told = format!("{how}\n    again: cargo xtask fuzz --input {path} {name}");
        Report { target, inputs, slowest: HANG, failures: vec![told] }
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || sender.send(worker.run()))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let mut seen = 0;
    loop {
        match receiver.recv_timeout(HANG) {
            Ok(report) => return report,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let now = done.load(Ordering::Relaxed);
                if now == seen {
                    return Ok(stuck(now, "does not end"));
                }
                seen = now;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Ok(stuck(done.load(Ordering::Relaxed), "ended the thread"));
            }
        }
    }
}

/// The thread that judges one input after another.
struct Worker {
    target: Target,
    mutator: Mutator,
    random: Random,
    until: Instant,
    done: Arc<AtomicU64>,
    folder: PathBuf,
    /// Holds the input at hand, so that even an overflown stack leaves it behind.
    current: File,
}

impl Worker {
    fn run(&mut self) -> Result<Report, String> {
        let ground = Ground::new();
        let mut report = Report {
            target: self.target,
            inputs: 0,
            slowest: Duration::ZERO,
            failures: Vec::new(),
        };
        let (mut known, mut slowest) = (Vec::new(), Vec::new());
        while Instant::now() < self.until && report.failures.len() < MAX_FAILURES {
            let data = self.mutator.next(report.inputs, &mut self.random);
            self.remember(&data).map_err(|error| format!("cannot save the input: {error}"))?;
            let twice = report.inputs.is_multiple_of(TWICE_EVERY);
            let start = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| ground.run(self.target, &data, twice)));
            let took = start.elapsed() / if twice { 2 } else { 1 };
            if took > report.slowest {
                report.slowest = took;
                slowest.clone_from(&data);
            }
            let failure = match outcome {
                Err(panic) => Some(format!("panicked: {}", message(panic.as_ref()))),
                Ok(Err(broken)) => Some(broken),
                Ok(Ok(())) if took > LIMIT => Some(format!("took {:.0} ms", millis(took))),
                Ok(Ok(())) => None,
            };
            if let Some(failure) = failure.filter(|failure| !known.contains(failure)) {
                let told = self.keep(&data, report.inputs, &failure)?;
                known.push(failure);
                report.failures.push(told);
            }
            report.inputs += 1;
            self.done.store(report.inputs, Ordering::Relaxed);
        }
        let path = self.folder.join(format!("{}.slowest", self.target.name()));
        std::fs::write(&path, slowest)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(report)
    }

    fn remember(&mut self, data: &[u8]) -> std::io::Result<()> {
        self.current.rewind()?;
        self.current.write_all(data)?;
        self.current.set_len(u64::try_from(data.len()).unwrap_or(u64::MAX))
    }

    /// Keeps an input that failed, and says how to run it again.
    fn keep(&self, data: &[u8], number: u64, failure: &str) -> Result<String, String> {
        let name = self.target.name();
        let path = self.folder.join(format!("{name}-{number}.input"));
        std::fs::write(&path, data)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let path = path.display();
        Ok(format!("{failure}\n    again: cargo xtask fuzz --input {path} {name}"))
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_names_targets_time_and_seed() {
        let plan = Plan::read(&["--seconds", "3", "--seed", "7", "sql"]).unwrap();
        assert_eq!(plan.targets, [Target::Sql]);
        assert_eq!((plan.time_each, plan.seed), (Duration::from_secs(3), 7));
        assert_eq!(Plan::read(&["--smoke"]).unwrap().targets, Target::ALL);
        for wrong in [
            ["--seconds", "soon"].as_slice(),
            &["--seconds"],
            &["weather"],
            &["--input", "a"],
            &["--input", "a", "sql", "patch"],
        ] {
            assert!(Plan::read(wrong).is_err(), "{wrong:?}");
        }
    }
}
