//! `aur play`: the process of an agent with `provider: scripted`, which plays a scenario.

use std::io::{BufReader, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use aurora_agents::scripted::{Away, End, Scenario, Stage, play};
use aurora_gate::settings::{self, Problems, SettingsErrors};
use rustix::process::{Signal, getpid, kill_process, setsid};

use crate::exit::{Exit, Failure};
use crate::wiring::input;

/// What to play.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The scenario, as YAML or JSON.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["away", "linger"])]
    scenario: Option<PathBuf>,
    /// Leave the family of processes and start one that lives for so many seconds.
    #[arg(long, value_name = "SECONDS", hide = true)]
    away: Option<u64>,
    /// Live for so many seconds.
    #[arg(long, value_name = "SECONDS", hide = true)]
    linger: Option<u64>,
    /// A word by which such a process is found.
    #[arg(long, hide = true, default_value = "")]
    mark: String,
}

const EXAMPLES: &str = "Examples:
  echo '{\"type\":\"task\", ...}' | aur play --scenario demo.yaml

The task is the first line of stdin, as the line-JSON protocol has it; files are those of the
current folder.";

/// Plays it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    if let Some(seconds) = args.linger {
        std::thread::sleep(Duration::from_secs(seconds));
        return Ok(Exit::Ok);
    }
    if let Some(seconds) = args.away {
        return leave(seconds, &args.mark);
    }
    let path = args.scenario.as_deref().unwrap_or(Path::new("-"));
    let scenario = read(path)?;
    let (mut err, mut out) = (std::io::stderr(), BufWriter::new(std::io::stdout()));
    let mut stage = Stage {
        input: &mut BufReader::new(std::io::stdin()),
        out: &mut out,
        err: &mut err,
        fork_away: &fork_away,
    };
    match play(&scenario, &mut stage) {
        Ok(End::Code(code)) => Ok(Exit::Command(code)),
        Ok(End::Crash) => {
            let _ = kill_process(getpid(), Signal::KILL);
            Ok(Exit::Failure)
        }
        // Nobody listens any more: whoever asked for the play has gone.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Failure),
        Err(error) => Err(Failure::failed(format!("cannot play the scenario: {error}")).into()),
    }
}

/// Reads a scenario's file.
pub fn read(path: &Path) -> anyhow::Result<Scenario> {
    let shown = path.display();
    let file = std::fs::File::open(path)
        .map_err(|error| Failure::usage(format!("cannot read scenario {shown}: {error}")))?;
    let bytes = input::capped(file, input::MAX_INPUT_BYTES)
        .map_err(|error| Failure::usage(format!("cannot read scenario {shown}: {error}")))?
        .ok_or_else(|| Failure::usage(format!("scenario {shown} is too large")))?;
    let text = input::text(bytes);
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let value = if is_json {
        serde_json::from_str(&text)
            .map_err(|error| Failure::usage(format!("scenario {shown}: {error}")))?
    } else {
        let mut problems = Problems::new(&shown.to_string());
        let node = settings::read(&text, &mut problems);
        let errors = problems.finish();
        if !errors.is_empty() {
            return Err(Failure::usage(SettingsErrors(errors).to_string()).into());
        }
        node.map(|node| node.to_json()).unwrap_or_default()
    };
    Scenario::from_json(&value)
        .map_err(|error| Failure::usage(format!("scenario {shown}: {error}")).into())
}

/// This program again, to do something else; its pipes stay open in it, as a careless agent's would.
fn again(option: &str, seconds: u64, mark: &str) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["play", option, &seconds.to_string(), "--mark", mark]).stdin(Stdio::null());
    Ok(command)
}

fn fork_away(away: &Away) -> std::io::Result<()> {
    again("--away", away.seconds, &away.mark)?.status().map(drop)
}

/// The second half of forking away: a session of its own, and a child whose parent is gone.
fn leave(seconds: u64, mark: &str) -> anyhow::Result<Exit> {
    // It fails only for the leader of a group, who has one of its own already.
    let _ = setsid();
    again("--linger", seconds, mark)?.spawn()?;
    Ok(Exit::Ok)
}
