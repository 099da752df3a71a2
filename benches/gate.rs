//! How fast the gate is, each number as a ratio to a named naive way measured in the same run.

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use aurora_gate::{Policy, judge};
use aurora_model::{Action, Context};
use xtask::bench::{Row, at, program, ratio, timed};
use xtask::corpus::{self, Case};
use xtask::say;

/// How often each line is judged.
const ROUNDS: usize = 100;
/// How often each program is started.
const STARTS: usize = 300;
/// How many lines bash is started for.
const BASH_LINES: usize = 300;
/// How many lines a batch has at least.
const BATCH_LINES: u32 = 20_000;

fn main() -> Result<(), String> {
    // `cargo test --benches` starts this too, and wants it to be over.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let cases = corpus::cases(&xtask::root())?;
    let aur = program()?;
    let mut table = vec![Row::head()];
    table.extend(judging(&cases));
    table.push(parsing(&cases)?);
    table.push(batch(&cases, &aur)?);
    table.extend(starting(&aur)?);
    say::line(&format!("{} lines of the corpus, {ROUNDS} rounds each", cases.len()));
    for row in &table {
        say::line(&row.text());
    }
    Ok(())
}

/// `judge` against a guard that only looks for words, in process, line by line in turn.
fn judging(cases: &[Case]) -> Vec<Row> {
    let policy = Policy::builtin();
    let lines: Vec<(Action, Context, &str)> = cases
        .iter()
        .map(|case| {
            let action = Action::Shell { command: case.run.clone() };
            (action, case.context(), case.run.as_str())
        })
        .collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        for (action, context, text) in &lines {
            let start = Instant::now();
            black_box(judge(black_box(action), &policy, context));
            let judged = start.elapsed();
            let start = Instant::now();
            black_box(looks_dangerous(black_box(text)));
            let looked = start.elapsed();
            // The first round only warms up.
            if round > 0 {
                ours.push(judged);
                theirs.push(looked);
            }
        }
    }
    ours.sort_unstable();
    theirs.sort_unstable();
    let rival = "word list on the text";
    let row = |what: &str, per_mille| {
        Row::times(what, at(&ours, per_mille), rival, at(&theirs, per_mille))
    };
    vec![row("judge, p50", 500), row("judge, p99", 990), row("judge, max", 1000)]
}

/// The naive guard: dangerous words anywhere in the text.
fn looks_dangerous(text: &str) -> bool {
    const WORDS: [&str; 16] = [
        "push --force",
        "push -f",
        "push origin main",
        "rm -rf",
        "rm -r",
        "drop table",
        "drop database",
        "truncate",
        "delete from",
        "reset --hard",
        "clean -f",
        "mkfs",
        "dd if=",
        "terraform destroy",
        "| sh",
        "| bash",
    ];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

/// Judging a line against letting bash parse it.
fn parsing(cases: &[Case]) -> Result<Row, String> {
    let policy = Policy::builtin();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let step = (cases.len() / BASH_LINES).max(1);
    for case in cases.iter().step_by(step) {
        let action = Action::Shell { command: case.run.clone() };
        let context = case.context();
        let start = Instant::now();
        black_box(judge(&action, &policy, &context));
        ours.push(start.elapsed());
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-n", "-c", &case.run]);
        theirs.push(timed(&mut bash)?);
    }
    ours.sort_unstable();
    theirs.sort_unstable();
    Ok(Row::times("judge, once and cold, p50", at(&ours, 500), "bash -n -c LINE", at(&theirs, 500)))
}

/// Lines per second through `--batch`, against `grep` with the naive guard's words.
fn batch(cases: &[Case], aur: &Path) -> Result<Row, String> {
    let mut input = String::new();
    let mut count: u32 = 0;
    while count < BATCH_LINES && !cases.is_empty() {
        for case in cases {
            let command = as_json(&case.run);
            input.push_str(&format!("{{\"id\": \"{count}\", \"command\": {command}}}\n"));
            count += 1;
        }
    }
    let mut ours = Command::new(aur);
    ours.args(["policy", "check", "--batch"]);
    let mut theirs = Command::new("grep");
    let words = "push.*(--force| -f)|rm +-r|drop +(table|database)|truncate|reset +--hard|mkfs";
    theirs.args(["--extended-regexp", "--ignore-case", "--count", words]);
    let ours = fed(&mut ours, &input)?;
    let theirs = fed(&mut theirs, &input)?;
    let per_second = |time: Duration| f64::from(count) / time.as_secs_f64();
    Ok(Row {
        what: format!("--batch, {count} lines"),
        ours: format!("{:.0} lines/s", per_second(ours)),
        rival: "grep -E on the text".to_owned(),
        theirs: format!("{:.0} lines/s", per_second(theirs)),
        ratio: ratio(per_second(ours), per_second(theirs)),
    })
}

/// A JSON string.
fn as_json(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            char if char.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

/// How long a program takes to read everything and answer.
fn fed(command: &mut Command, input: &str) -> Result<Duration, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let refuse = |error: std::io::Error| format!("cannot feed a program: {error}");
    let start = Instant::now();
    let mut child = command.spawn().map_err(refuse)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(refuse)?;
    }
    child.wait().map_err(refuse)?;
    Ok(start.elapsed())
}

/// A whole process, started in turn with one that does nothing.
fn starting(aur: &Path) -> Result<Vec<Row>, String> {
    let (mut ours, mut theirs, mut version) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let mut check = Command::new(aur);
        check.args(["policy", "check", "--", "git", "status"]).current_dir(xtask::root());
        ours.push(timed(&mut check)?);
        theirs.push(timed(&mut Command::new("/bin/true"))?);
        version.push(timed(Command::new("git").arg("--version"))?);
    }
    for samples in [&mut ours, &mut theirs, &mut version] {
        samples.sort_unstable();
    }
    let what = "aur policy check -- git status, p50";
    Ok(vec![
        Row::times(what, at(&ours, 500), "/bin/true", at(&theirs, 500)),
        Row::times(what, at(&ours, 500), "git --version", at(&version, 500)),
    ])
}
