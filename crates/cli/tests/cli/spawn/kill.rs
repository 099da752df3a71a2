//! `kill -9` of `aur` at random moments, again and again: every run is finished all the same.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::{Scratch, Started, of};

const TASKS: usize = 20;

/// Small, seeded, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Twenty tasks: each adds a line to a file of its own; every fourth counts one up in a file that they
/// share, after the one before it; one leaves a process behind.
fn scratch() -> Scratch {
    let mut tasks = "# Twenty things\n\nAs people write them.\n\n".to_owned();
    let mut scenario = "tasks:\n".to_owned();
    for number in 1..=TASKS {
        let after = match number {
            number if number % 4 == 1 && number > 1 => format!(", depends-on: t{}", number - 4),
            number if number % 5 == 0 => format!(", depends-on: t{}", number - 1),
            _ => String::new(),
        };
        writeln!(tasks, "- [ ] Do thing {number} <!-- id: t{number}{after} -->").unwrap();
        let more = match number {
            number if number % 4 == 1 => {
                "{run: [bash, -c, 'echo $(($(cat count || echo 0) + 1)) > count.new && mv count.new count']}"
            }
            7 => "{fork_away: {mark: forked}}",
            _ => "{say: at it}",
        };
        writeln!(
            scenario,
            "  t{number}: [{{append: {{path: out/{number}.txt, text: \"{number}\\n\"}}}}, \
             {more}, {{wait_ms: {}}}]",
            number * 3
        )
        .unwrap();
    }
    Scratch::new(&scenario, &tasks)
}

/// The program under a name of its own, so that keepers are found among the processes, too.
struct Named(std::path::PathBuf);

impl Named {
    fn new(mark: &str) -> Self {
        let program = std::path::PathBuf::from(env!("CARGO_BIN_EXE_aur"));
        let named = program.with_file_name(format!("aur-{mark}"));
        std::fs::hard_link(&program, &named).unwrap();
        Self(named)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One life: it is killed after so many events, or after a moment; whether it came to its end.
fn live(scratch: &Scratch, run: Option<&str>, random: &mut Random) -> (Started, bool) {
    let args = match run {
        Some(run) => vec!["spawn", "--resume", run, "--yes", "--json", "--max-parallel", "5"],
        None => vec!["spawn", "../tasks.md", "--yes", "--json", "--max-parallel", "5"],
    };
    let mut life = scratch.start(&args);
    let mut events = match random.below(8) {
        // Before anything was told.
        0 => 0,
        _ => 1 + random.below(14),
    };
    let mut ended = false;
    while events > 0 && !ended {
        ended = life.line().is_none();
        events -= 1;
    }
    let moment = if life.told.is_empty() { random.below(120_000) } else { random.below(25_000) };
    std::thread::sleep(Duration::from_micros(moment));
    let _ = life.child.kill();
    let status = life.child.wait().unwrap();
    let by_itself = status.code().is_some();
    (life, by_itself)
}

fn finishes(seed: u64) -> u32 {
    let mut scratch = scratch();
    let named = Named::new(&scratch.mark);
    scratch.world = scratch.world.by(named.0.clone());
    let before = scratch.checkout();
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut run: Option<String> = None;
    let mut kills = 0;
    loop {
        let (life, by_itself) = live(&scratch, run.as_deref(), &mut random);
        run = run.or_else(|| life.run());
        scratch.nothing_is_left();
        if by_itself {
            break;
        }
        kills += 1;
        if run.is_none() {
            // It may have been killed between recording its beginning and telling it.
            let list = scratch.world.run(&["spawn", "--list-checkpoints", "--json"]).json();
            run = list["runs"][0]["execution_id"].as_str().map(str::to_owned);
        }
    }
    let run = run.unwrap();
    let last = scratch.world.run(&["spawn", "--resume", &run]);
    assert!(last.shown().contains("is finished"), "seed {seed}: {last:?}");
    let desks = scratch.world.path("state/aurora/desks");
    for of_repository in std::fs::read_dir(desks).unwrap().flatten() {
        let left = std::fs::read_dir(of_repository.path()).unwrap().flatten();
        let left: Vec<_> = left.map(|desk| desk.file_name()).collect();
        assert!(left.is_empty(), "seed {seed}: {left:?}");
    }
    check(&scratch, &run, &format!("seed {seed}, {kills} kills"));
    assert_eq!(scratch.checkout(), before, "seed {seed}");
    kills
}

fn check(scratch: &Scratch, run: &str, what: &str) {
    let records = scratch.records(run);
    let finished: Vec<&Value> = of(&records, "run_finished").collect();
    assert_eq!(finished.len(), 1, "{what}");
    assert_eq!(finished[0]["outcome"], "completed", "{what}");
    for number in 1..=TASKS {
        let id = format!("t{number}");
        let mut own = records.iter().filter(|record| record["task"] == id.as_str());
        let completed = own.by_ref().find(|record| record["type"] == "task_completed");
        assert!(completed.is_some(), "{what}: {id}");
        assert_eq!(own.next(), None, "{what}: something happened to {id} after it was done");
        let text = scratch.work("twenty-things", &format!("out/{number}.txt"));
        assert_eq!(text, format!("{number}\n"), "{what}: what {id} left");
    }
    assert_eq!(scratch.work("twenty-things", "count"), "5\n", "{what}");
    let status = std::process::Command::new("git")
        .args(["status", "--porcelain", "--untracked-files=all"])
        .current_dir(scratch.worktree("twenty-things"))
        .output()
        .unwrap();
    let changed = String::from_utf8(status.stdout).unwrap();
    assert_eq!(changed.lines().count(), TASKS + 1, "{what}: {changed}");
    let list = scratch.world.read("tasks.md");
    assert_eq!(list.matches("- [x] Do thing").count(), TASKS, "{what}: {list}");
    assert!(list.starts_with("# Twenty things\n\nAs people write them.\n\n"), "{list}");
    scratch.the_log_is_whole();
}

/// EXE-5: what was killed after its last task was recorded and before its box was ticked is not done
/// again, neither by resuming nor by beginning anew.
#[test]
fn a_run_that_dies_at_its_very_end_still_ticks_its_boxes() {
    for again in [false, true] {
        let scratch = Scratch::new("default: [{append: {path: a.txt, text: a}}]\n", ONE_TASK);
        let mut started = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
        assert!(started.until("attempt_started"));
        let run = started.run().unwrap();
        let file = format!("repo/.aurora/checkpoints/{run}.json");
        let deadline = std::time::Instant::now() + super::PATIENCE;
        while !scratch.world.path(&file).exists() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        let before = scratch.world.read(&file);
        assert_eq!(started.end().1, Some(0));
        // As it stands when the log has the end and nothing else has.
        scratch.world.write(&file, &before);
        scratch.world.write("tasks.md", ONE_TASK);
        let told = match again {
            false => scratch.resume(&run),
            true => scratch.spawn(),
        };
        assert_eq!((told.run.code, told.outcome()), (Some(0), "completed"), "{told:#?}");
        assert_eq!(told.of("attempt_started").count(), 0, "{told:#?}");
        assert_eq!(scratch.world.read("tasks.md"), ONE_TASK.replace("[ ]", "[x]"));
        assert_eq!(scratch.work("one", "a.txt"), "a");
        // Whoever opens a box again wants it done again.
        scratch.world.write("tasks.md", ONE_TASK);
        assert_eq!(scratch.resume(&run).run.code, Some(0));
        assert_eq!(scratch.world.read("tasks.md"), ONE_TASK);
        assert_eq!(scratch.spawn().of("task_completed").count(), 1);
    }
}

const ONE_TASK: &str = "# One\n- [ ] Add <!-- id: a -->\n";

fn some(seeds: std::ops::Range<u64>) {
    let mut kills = 0;
    for seed in seeds {
        eprintln!("seed {seed}");
        kills += finishes(seed);
    }
    eprintln!("killed {kills} times");
}

/// How many runs each test does; `AURORA_KILL_RUNS` says more.
fn runs() -> u64 {
    let given = std::env::var("AURORA_KILL_RUNS").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(1)
}

/// EXE-5: nothing is lost, nothing is done twice, and no process is left.
#[test]
fn a_run_that_is_killed_again_and_again_is_finished() {
    some(1..1 + runs());
}

/// EXE-5: the same with other seeds, so that two cores have something to do.
#[test]
fn a_run_that_is_killed_at_other_moments_is_finished() {
    some(1000..1000 + runs());
}

/// EXE-5: the same.
#[test]
fn a_run_that_is_killed_at_still_other_moments_is_finished() {
    some(2000..2000 + runs());
}

/// EXE-5: the same.
#[test]
fn a_run_that_is_killed_whenever_it_hurts_is_finished() {
    some(3000..3000 + runs());
}
