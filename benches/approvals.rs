//! What a queue of many requests costs: opening it, deciding, going on after a decision, and timers
//! that are due all at once; beside the naive way in the same run. `cargo xtask bench approvals` starts
//! it.

#[path = "approvals/log.rs"]
mod log;
#[path = "approvals/naive.rs"]
mod naive;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use aurora_engine::approvals::{Filter, Queue};
use aurora_gate::approval::Command as Say;
use aurora_model::{ApprovalState, QuestionId};
use aurora_store::StreamId;
use tokio::sync::Mutex;

use self::log::Size;

/// How many requests wait, unless the command line says otherwise.
const REQUESTS: u64 = 100_000;
/// How long each is measured.
const SPAN: Duration = Duration::from_secs(3);
/// How many decide at once.
const CROWD: usize = 64;
/// How often the log is opened; the middle one counts.
const OPENINGS: usize = 7;
/// How many decisions somebody waits for in another process.
const WAITED: usize = 400;
/// How often the naive way is waited for: it takes a second each time.
const POLLED: usize = 6;

type Outcome<T> = Result<T, String>;

fn main() -> Outcome<()> {
    let started = Instant::now();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--start", folder] => wait(first_page(started, Path::new(folder)))?,
        ["--wait", folder] => wait(go_on(Path::new(folder)))?,
        // `cargo test --benches` starts this too, and wants it to be over.
        words if !words.contains(&"--bench") => Ok(()),
        words => {
            let requests = words.iter().find_map(|word| word.parse().ok()).unwrap_or(REQUESTS);
            measure(requests)
        }
    }
}

fn measure(requests: u64) -> Outcome<()> {
    let folder = tempfile::tempdir().map_err(told("make a folder"))?;
    let (many, few) = (folder.path().join("many"), folder.path().join("few"));
    let start = Instant::now();
    wait(async { log::fill(&log::open(&many)?, requests).await })??;
    line(&format!("{requests} requests were put into the queue in {}", millis(start.elapsed())));
    wait(async { log::fill(&log::open(&few)?, requests.div_ceil(100)).await })??;
    line(&row(["what", "ours", "rival", "theirs", "ours / theirs"].map(str::to_owned)));
    starting(&many, &few, requests)?;
    let mut pending = Pending::new(requests);
    deciding(&many, folder.path(), &mut pending)?;
    going_on(&many, folder.path(), &mut pending)?;
    timers(&many, folder.path())
}

fn told(doing: &'static str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("cannot {doing}: {error}")
}

fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn row([what, ours, rival, theirs, ratio]: [String; 5]) -> String {
    format!("{what:<44} {ours:>14}  {rival:<34} {theirs:>14}  {ratio:>13}")
}

fn ratio(ours: f64, theirs: f64) -> String {
    format!("{:.4}×", ours / theirs.max(f64::MIN_POSITIVE))
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn times(what: &str, ours: Duration, rival: &str, theirs: Duration) {
    let ratio = ratio(ours.as_secs_f64(), theirs.as_secs_f64());
    line(&row([what.to_owned(), millis(ours), rival.to_owned(), millis(theirs), ratio]));
}

fn rates(what: &str, ours: f64, rival: &str, theirs: f64) {
    let rate = |rate: f64| format!("{rate:.0}/s");
    line(&row([what.into(), rate(ours), rival.into(), rate(theirs), ratio(ours, theirs)]));
}

fn wait<F: Future>(future: F) -> Outcome<F::Output> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().build().map_err(told("start the run time"))?;
    Ok(runtime.block_on(future))
}

/// How long each took, sorted, and how many there were in a second.
pub struct Sample {
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

/// What was measured with a small context and with a large one, in turn: whatever else the machine does
/// meanwhile, it does to both.
struct Both {
    small: Sample,
    large: Sample,
}

impl Both {
    fn new(waits: Vec<(Size, Duration)>, took: Duration) -> Self {
        let of = |size| {
            let of_size = waits.iter().filter(|(one, _)| *one == size);
            Sample::new(of_size.map(|(_, wait)| *wait).collect(), took)
        };
        Self { small: of(Size::Small), large: of(Size::Large) }
    }

    const fn of(&self, size: Size) -> &Sample {
        match size {
            Size::Large => &self.large,
            _ => &self.small,
        }
    }
}

/// The requests that still wait and have a conversation.
struct Pending {
    left: Vec<u64>,
}

impl Pending {
    fn new(requests: u64) -> Self {
        // One small and one large of each four, in turn.
        Self { left: (0..requests).filter(|n| n % 4 < 2).collect() }
    }

    /// Takes some out, at most half of what is left, in pairs from everywhere in the log.
    fn take(&mut self, most: usize) -> Vec<u64> {
        let pairs = self.left.len() / 2;
        let step = (pairs * 2 / most.max(1)).max(2);
        let taken = self.left.chunks(2).step_by(step).take(most.div_ceil(2)).flatten();
        let taken: Vec<u64> = taken.copied().collect();
        self.left.retain(|n| taken.binary_search(n).is_err());
        taken
    }
}

/// What a child says that starts: until the next timer was known, until the first page was there, and
/// how much memory it needed.
struct Started {
    timer: Duration,
    page: Duration,
    memory: u64,
}

fn starting(many: &Path, few: &Path, requests: u64) -> Outcome<()> {
    let (ours, theirs) = (started(many)?, started(few)?);
    let rival = format!("the same with {} waiting", requests.div_ceil(100));
    times("start, until the next timer is known", ours.timer, &rival, theirs.timer);
    times("start, until the first page is there", ours.page, &rival, theirs.page);
    let queue = log::open(many)?;
    let rare = Filter { run: Some("nobody's".to_owned()), ..Filter::default() };
    for (what, filter) in [("a page of 50", Filter::default()), ("a filter that takes none", rare)]
    {
        let start = Instant::now();
        let page = wait(queue.list(&filter, 0, 50))?.map_err(|error| error.to_string())?;
        let took = start.elapsed();
        let start = Instant::now();
        let count = wait(queue.store().count_marked(ApprovalState::Pending.name()))?;
        count.map_err(|error| error.to_string())?;
        let what = format!("{what}, {} found", page.requests.len());
        times(&what, took, "counting all that wait", start.elapsed());
    }
    let memory = |started: &Started| format!("{} KiB", started.memory);
    let ratio = ratio(ours.memory as f64, theirs.memory as f64);
    line(&row(["memory then".into(), memory(&ours), rival, memory(&theirs), ratio]));
    Ok(())
}

fn started(folder: &Path) -> Outcome<Started> {
    let mut all = Vec::new();
    for _ in 0..OPENINGS {
        let output = myself()?.arg("--start").arg(folder).output();
        let output = output.map_err(told("start myself"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let words: Vec<u64> =
            said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [timer, page, memory] = words.as_slice() else {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        };
        let (timer, page) = (Duration::from_nanos(*timer), Duration::from_nanos(*page));
        all.push(Started { timer, page, memory: *memory });
    }
    all.sort_by_key(|started| started.page);
    let middle = all.len() / 2;
    all.into_iter().nth(middle).ok_or_else(|| "nothing was measured".to_owned())
}

fn myself() -> Outcome<Command> {
    std::env::current_exe().map(Command::new).map_err(told("find myself"))
}

/// What such a child does.
async fn first_page(started: Instant, folder: &Path) -> Outcome<()> {
    let queue = log::open(folder)?;
    let next = queue.store().next_wake().await.map_err(|error| error.to_string())?;
    let timer = started.elapsed();
    let page = queue.list(&Filter::default(), 0, 50).await.map_err(|error| error.to_string())?;
    let took = started.elapsed();
    if next.is_none() || page.requests.is_empty() {
        return Err("nothing waits".to_owned());
    }
    line(&format!("{} {} {}", timer.as_nanos(), took.as_nanos(), memory()?));
    Ok(())
}

/// The most memory that this process has had, in KiB.
fn memory() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(told("look at myself"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let number = line.trim().trim_end_matches(" kB").trim().parse();
    number.map_err(|error| format!("cannot read {line:?}: {error}"))
}

fn deciding(many: &Path, folder: &Path, pending: &mut Pending) -> Outcome<()> {
    let queue = log::open(many)?;
    for crowd in [1, CROWD] {
        let requests = pending.take(500 * crowd + 2_000);
        let ours = wait(decisions(&queue, requests, crowd))??;
        let all = ours.small.per_second + ours.large.per_second;
        for size in [Size::Small, Size::Large] {
            // The naive way with 64 conversations of 10 MB at once would only measure the disk.
            let rivals = if size == Size::Large { 1 } else { crowd };
            let theirs = naive::decisions(folder, size.bytes(), rivals, SPAN)?;
            let rival = format!("a JSON file of {}, {rivals} at once", size.name());
            rates(&format!("decisions, {crowd} at once"), all, &rival, theirs.per_second);
            for (name, per_mille) in [("p50", 500), ("p99", 990)] {
                let what = format!("one, {} context, {crowd} at once, {name}", size.name());
                times(&what, ours.of(size).at(per_mille), &rival, theirs.at(per_mille));
            }
        }
        let what = format!("one, 10 MB context, {crowd} at once, p50");
        times(&what, ours.large.at(500), "ours, 1 KB context", ours.small.at(500));
    }
    Ok(())
}

/// Decides requests, some at once, until the time is over.
async fn decisions(queue: &Queue, requests: Vec<u64>, crowd: usize) -> Outcome<Both> {
    let left = Arc::new(Mutex::new(requests));
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..crowd {
        let (queue, left) = (queue.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            let mut waits = Vec::new();
            while start.elapsed() < SPAN {
                let Some(n) = left.lock().await.pop() else { break };
                let (id, saying) = (log::id(n)?, log::yes(n)?);
                let asked = Instant::now();
                let standing = queue.decide(&id, &saying).await.map_err(|e| e.to_string())?;
                waits.push((Size::of(n), asked.elapsed()));
                if standing.state != ApprovalState::Approved {
                    return Err(format!("{id} is {}", standing.state.name()));
                }
            }
            Ok::<_, String>(waits)
        });
    }
    let all = tasks.join_all().await.into_iter().collect::<Outcome<Vec<_>>>()?;
    Ok(Both::new(all.into_iter().flatten().collect(), start.elapsed()))
}

/// From a person's decision in this process until a driver in another has reserved the call, made it
/// and recorded that.
fn going_on(many: &Path, folder: &Path, pending: &mut Pending) -> Outcome<()> {
    let queue = log::open(many)?;
    let mut driver = Driver::start(many)?;
    let (mut waits, mut reads) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for n in pending.take(WAITED) {
        let (waited, read) = wait(driver.one(&queue, n))??;
        waits.push((Size::of(n), waited));
        reads.push((Size::of(n), read));
    }
    driver.end()?;
    let took = start.elapsed();
    let (ours, reads) = (Both::new(waits, took), Both::new(reads, took));
    for size in [Size::Small, Size::Large] {
        let theirs = naive::going_on(folder, size.bytes(), POLLED)?;
        let rival = format!("a JSON file of {}, polled", size.name());
        for (name, per_mille) in [("p50", 500), ("p99", 990)] {
            let what = format!("decision to done, {} context, {name}", size.name());
            times(&what, ours.of(size).at(per_mille), &rival, theirs.at(per_mille));
        }
        let what = format!("then the conversation is read, {}", size.name());
        times(&what, reads.of(size).at(500), &rival, theirs.at(500));
    }
    let what = "decision to done, 10 MB context, p50";
    times(what, ours.large.at(500), "ours, 1 KB context", ours.small.at(500));
    Ok(())
}

/// A process that waits for decisions and goes on after them.
struct Driver {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Driver {
    fn start(folder: &Path) -> Outcome<Self> {
        let mut command = myself()?;
        command.arg("--wait").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(told("start myself"))?;
        let said = child.stdout.take().ok_or_else(|| "it says nothing".to_owned())?;
        Ok(Self { child, said: BufReader::new(said) })
    }

    /// Lets it wait for a request, decides that, and says how long it took until it was done, and
    /// until the conversation was read then.
    async fn one(&mut self, queue: &Queue, n: u64) -> Outcome<(Duration, Duration)> {
        let (id, saying) = (log::id(n)?, log::yes(n)?);
        let input = self.child.stdin.as_mut().ok_or_else(|| "it hears nothing".to_owned())?;
        writeln!(input, "{id}").map_err(told("say what to wait for"))?;
        self.hear()?;
        // It says so just before it begins to wait.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let asked = since_1970();
        queue.decide(&id, &saying).await.map_err(|error| error.to_string())?;
        let said = self.hear()?;
        let words: Vec<u64> =
            said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [done, read] = words.as_slice() else { return Err(format!("it says {said:?}")) };
        Ok((Duration::from_nanos(*done).saturating_sub(asked), Duration::from_nanos(*read)))
    }

    fn hear(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.said.read_line(&mut line).map_err(told("hear what it says"))?;
        Ok(line)
    }

    fn end(mut self) -> Outcome<()> {
        drop(self.child.stdin.take());
        self.child.wait().map_err(told("wait for the end"))?;
        Ok(())
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// What such a process does: it holds the claim on a run, waits, reserves, makes the call, records it,
/// and reads the conversation that goes on.
async fn go_on(folder: &Path) -> Outcome<()> {
    let queue = log::open(folder)?;
    let run = StreamId("run/of-the-bench".to_owned());
    let _claim = queue.store().claim(&run).await.map_err(|error| error.to_string())?;
    for id in std::io::stdin().lines() {
        let id = id.map_err(told("hear what to wait for"))?;
        let id = QuestionId::parse(&id).ok_or_else(|| format!("{id} is no name"))?;
        line("waiting");
        let standing = queue.closed(&id).await.map_err(|error| error.to_string())?;
        let executor = "driver".to_owned();
        let reserve = Say::Reserve { executor, digest: standing.request.digest.clone() };
        queue.tell(&id, &reserve).await.map_err(|error| error.to_string())?;
        let (executor, summary) = ("driver".to_owned(), "exit code 0".to_owned());
        let executed = Say::Executed { executor, result: None, summary };
        queue.tell(&id, &executed).await.map_err(|error| error.to_string())?;
        let done = since_1970();
        let reading = Instant::now();
        if let Some(parked) = &standing.request.parked {
            log::read(&queue, parked).await?;
        }
        line(&format!("{} {}", done.as_nanos(), reading.elapsed().as_nanos()));
    }
    Ok(())
}

/// Everything that still waits is due at once.
fn timers(many: &Path, folder: &Path) -> Outcome<()> {
    let queue = log::open(many)?;
    let waiting = || wait(queue.store().count_marked(ApprovalState::Pending.name()));
    let before = waiting()?.map_err(|error| error.to_string())?;
    log::days_pass(30);
    let start = Instant::now();
    wait(queue.catch_up_clock())?.map_err(|error| error.to_string())?;
    let took = start.elapsed();
    let after = waiting()?.map_err(|error| error.to_string())?;
    if after > 0 {
        return Err(format!("{after} of {before} still wait"));
    }
    let naive = naive::decisions(folder, Size::Small.bytes(), 1, SPAN)?;
    let rate = f64::from(u32::try_from(before).unwrap_or(u32::MAX)) / took.as_secs_f64();
    line(&format!("{before} timers that were due at once were told in {}", millis(took)));
    rates("timers due at once", rate, "a JSON file of 1 KB, one by one", naive.per_second);
    Ok(())
}
