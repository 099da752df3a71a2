//! `aur agents doctor`: tries for real whether agents can work here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use aurora_agents::llm::{Model, Request};
use aurora_agents::{AgentProfile, Launch, ModelProfile, Provider};
use aurora_workspace::process::{self, Ended, Keeper};
use serde_json::{Value, json};

use super::known::KNOWN;
use super::list::problems;
use super::survey::{self, Facts, Survey};
use crate::commands::play;
use crate::exit::{Exit, Failure};
use crate::output::escape;
use crate::output::style::Style;
use crate::output::{print, print_json};
use crate::wiring::input;

/// How long a program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_VERSION_BYTES: u64 = 64 * 1024;

/// What to try.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Ask the model too, which costs a few tokens.
    #[arg(long)]
    online: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur agents doctor
  aur agents doctor --online

Programs that are known are asked for their version, for at most five seconds, under the same
containment as agents. Exit code 1 when something is wrong.";

/// What was tried, with what came of it.
struct Findings {
    agents: Vec<(Facts, Option<String>)>,
    model: Option<(String, Vec<String>, Option<String>)>,
    containment: Vec<(&'static str, Option<String>)>,
}

impl Findings {
    fn are_good(&self) -> bool {
        self.agents.iter().all(|(facts, _)| facts.problems.is_empty())
            && self.model.as_ref().is_none_or(|(_, problems, _)| problems.is_empty())
            && self.containment.iter().any(|(_, why_not)| why_not.is_none())
    }
}

/// Tries everything.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let survey = survey::survey()?;
    let keeper = keeper()?;
    let containment = process::probe(&keeper)
        .into_iter()
        .map(|(way, tried)| (way.name(), tried.err().map(|error| error.to_string())))
        .collect();
    let findings = findings(survey, &keeper, containment, args.online);
    if args.json {
        print_json(&in_json(&findings))?;
    } else {
        print(&in_words(&findings, Style::of_stdout()))?;
    }
    Ok(if findings.are_good() { Exit::Ok } else { Exit::Failure })
}

fn keeper() -> anyhow::Result<Keeper> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find this program: {error}")))?;
    Ok(Keeper { program, args: vec![OsString::from("keep")] })
}

fn findings(
    survey: Survey,
    keeper: &Keeper,
    containment: Vec<(&'static str, Option<String>)>,
    online: bool,
) -> Findings {
    let Survey { loaded, agents, model, environment, .. } = survey;
    let mut examined = Vec::new();
    for mut facts in agents {
        let profile = loaded.profiles.agent(&facts.id);
        let version =
            profile.and_then(|profile| examine(profile, &mut facts, keeper, &environment));
        examined.push((facts, version));
    }
    let model = model.zip(loaded.profiles.model.as_ref()).map(|(facts, profile)| {
        let mut problems = facts.problems;
        let mut answer = None;
        if online && problems.is_empty() {
            match ask(profile, &environment) {
                Ok(said) => answer = Some(said),
                Err(error) => problems.push(error),
            }
        }
        (facts.name, problems, answer)
    });
    Findings { agents: examined, model, containment }
}

/// Tries one agent: its version where it is known, its scenario where it has one.
fn examine(
    profile: &AgentProfile,
    facts: &mut Facts,
    keeper: &Keeper,
    environment: &BTreeMap<String, String>,
) -> Option<String> {
    if let Provider::Scripted { scenario } = &profile.provider
        && facts.problems.is_empty()
        && let Err(error) = play::read(Path::new(scenario))
    {
        facts.problems.push(error.to_string());
    }
    let path = facts.path.as_ref()?;
    // Only a program whose `--version` is known to be harmless is started.
    let name = path.file_name()?.to_str()?;
    if facts.program.is_none() || !KNOWN.iter().any(|known| known.program == name) {
        return None;
    }
    let launch = Launch {
        argv: vec![path.to_string_lossy().into_owned(), "--version".to_owned()],
        env: profile.environment.clone(),
        pass_env: Vec::new(),
    };
    match version(&launch, keeper, environment) {
        Ok(version) => Some(version),
        Err(why) => {
            facts.problems.push(format!("{name} --version: {why}"));
            None
        }
    }
}

/// The first line that a program says about its version.
fn version(
    launch: &Launch,
    keeper: &Keeper,
    ours: &BTreeMap<String, String>,
) -> Result<String, String> {
    let env = aurora_agents::environment(ours, launch);
    let command = process::Command {
        argv: launch.argv.iter().map(OsString::from).collect(),
        cwd: PathBuf::from("/"),
        env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        containment: None,
    };
    let running = process::start(keeper, &command).map_err(|error| error.to_string())?;
    let (pipes, handle) = running.split();
    let (tell, told) = mpsc::channel();
    let stdout = File::from(pipes.stdout);
    let reader = std::thread::spawn(move || {
        let said = input::capped(stdout, MAX_VERSION_BYTES).ok().flatten().unwrap_or_default();
        let _ = tell.send(said);
    });
    drop(pipes.stdin);
    let said = told.recv_timeout(VERSION_TIMEOUT);
    // Everything is gone after this, so that the reader finds its end.
    handle.kill();
    let ended = handle.wait();
    let _ = reader.join();
    let said = said.map_err(|_| format!("no answer in {} s", VERSION_TIMEOUT.as_secs()))?;
    let said = input::text(said);
    match (said.lines().map(str::trim).find(|line| !line.is_empty()), ended) {
        (Some(line), _) => Ok(line.chars().take(100).collect()),
        (None, Ended::NotStarted { why }) => Err(why),
        (None, _) => Err("it says nothing".to_owned()),
    }
}

/// Asks the model for a word.
fn ask(profile: &ModelProfile, environment: &BTreeMap<String, String>) -> Result<String, String> {
    let key = profile.api_key_env.as_ref().and_then(|name| environment.get(name));
    let model = Model::new(profile.clone(), key.cloned()).map_err(|error| error.to_string())?;
    let request = Request {
        prompt: "Answer with the single word: ready".to_owned(),
        max_output_tokens: Some(64),
        ..Request::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let answer = runtime.block_on(model.complete(&request)).map_err(|error| error.to_string())?;
    Ok(answer.text.trim().chars().take(60).collect())
}

fn in_json(findings: &Findings) -> Value {
    let agents: Vec<Value> = findings
        .agents
        .iter()
        .map(|(facts, version)| {
            let mut value = serde_json::to_value(facts).unwrap_or_default();
            if let (Some(map), Some(version)) = (value.as_object_mut(), version) {
                map.insert("version".to_owned(), version.clone().into());
            }
            value
        })
        .collect();
    let ways = findings.containment.iter();
    let containment: Vec<Value> = ways
        .map(|(way, why_not)| json!({"way": way, "works": why_not.is_none(), "why_not": why_not}))
        .collect();
    let model = findings.model.as_ref().map(
        |(name, problems, answer)| json!({"name": name, "problems": problems, "answer": answer}),
    );
    json!({
        "ok": findings.are_good(),
        "agents": agents,
        "model": model,
        "containment": containment,
    })
}

fn in_words(findings: &Findings, style: Style) -> String {
    let mut out = String::new();
    let word = |good: bool| if good { style.good("ok     ") } else { style.bad("problem") };
    if findings.agents.is_empty() {
        out.push_str("no agents are configured; `aur agents init` writes a file to start from\n");
    }
    for (facts, version) in &findings.agents {
        let version = version.as_ref().map(|version| format!(", {}", escape::line(version)));
        let good = word(facts.problems.is_empty());
        let (id, provider) = (&facts.id, facts.provider);
        out.push_str(&format!("{good} {id} ({provider}{})\n", version.unwrap_or_default()));
        for (name, _) in facts.variables.iter().filter(|(_, is_set)| !**is_set) {
            out.push_str(&format!("  {} {name} is not set\n", style.notable("note")));
        }
        for note in &facts.notes {
            out.push_str(&format!("  {} {note}\n", style.notable("note")));
        }
        problems(&mut out, &facts.problems, style);
    }
    if let Some((name, found, answer)) = &findings.model {
        let answer = answer.as_ref().map(|answer| format!(", answers {}", escape::line(answer)));
        let good = word(found.is_empty());
        out.push_str(&format!(
            "{good} model {}{}\n",
            escape::line(name),
            answer.unwrap_or_default()
        ));
        problems(&mut out, found, style);
    }
    let works = findings.containment.iter().find(|(_, why_not)| why_not.is_none());
    match works {
        Some((way, _)) => out.push_str(&format!("{} processes are held by {way}\n", word(true))),
        None => out.push_str(&format!("{} processes cannot be held\n", word(false))),
    }
    for (way, why_not) in &findings.containment {
        if let Some(why_not) = why_not {
            let why_not = escape::line(why_not);
            out.push_str(&format!("  {} {way} does not work: {why_not}\n", style.notable("note")));
        }
    }
    out
}
