//! What the benches share: a table of ratios to named rivals, measured in the same run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The optimised `aur`, beside this bench.
pub fn program() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    let aur = here.ancestors().nth(2).unwrap_or(Path::new(".")).join("aur");
    if aur.is_file() {
        return Ok(aur);
    }
    Err(format!("{} is not there; run `cargo xtask bench`", aur.display()))
}

/// One measured thing beside its rival.
pub struct Row {
    /// What was measured.
    pub what: String,
    /// Our figure.
    pub ours: String,
    /// Who was measured beside it.
    pub rival: String,
    /// Its figure.
    pub theirs: String,
    /// The one over the other.
    pub ratio: String,
}

impl Row {
    /// The table's head.
    #[must_use]
    pub fn head() -> Self {
        let [what, ours, rival, theirs, ratio] =
            ["what", "ours", "rival", "theirs", "ours / theirs"].map(str::to_owned);
        Self { what, ours, rival, theirs, ratio }
    }

    /// Two durations.
    #[must_use]
    pub fn times(what: &str, ours: Duration, rival: &str, theirs: Duration) -> Self {
        Self {
            what: what.to_owned(),
            ours: micros(ours),
            rival: rival.to_owned(),
            theirs: micros(theirs),
            ratio: ratio(ours.as_secs_f64(), theirs.as_secs_f64()),
        }
    }

    /// One line of the table.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { what, ours, rival, theirs, ratio } = self;
        format!("{what:<36} {ours:>16}  {rival:<28} {theirs:>16}  {ratio:>13}")
    }
}

/// A duration in words.
#[must_use]
pub fn micros(duration: Duration) -> String {
    format!("{:.2} µs", duration.as_secs_f64() * 1e6)
}

/// One figure over another.
#[must_use]
pub fn ratio(ours: f64, theirs: f64) -> String {
    format!("{:.3}×", ours / theirs.max(f64::MIN_POSITIVE))
}

/// The sample below which this many of a thousand lie.
#[must_use]
pub fn at(sorted: &[Duration], per_mille: usize) -> Duration {
    let index = (sorted.len() * per_mille / 1000).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or_default()
}

/// How long a program takes from start to end.
pub fn timed(command: &mut Command) -> Result<Duration, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    Ok(start.elapsed())
}
