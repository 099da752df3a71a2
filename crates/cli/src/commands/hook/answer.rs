//! Answers a pre-tool hook: always, in time, and with a denial when anything goes wrong.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aurora_model::{Action, Answer, ToolCall};
use serde::Deserialize;
use serde_json::Value;

use super::agent::{Agent, Moment};
use super::reach;
use crate::exit::{Exit, Failure};
use crate::output::escape;
use crate::output::verdict;
use crate::wiring::input;
use crate::wiring::judging;
use crate::wiring::layers;
use crate::wiring::patience::{self, PATIENCE};
use crate::wiring::place::{Given, Place};

/// How to answer.
#[derive(clap::Args)]
pub struct Args {
    /// Never answer `allow`: the agent's own permissions decide about what the policy allows.
    #[arg(long)]
    defer: bool,
    /// Add a policy file on top of the user's and the project's.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

/// What an agent says before it uses a tool; it says more, which does not matter here.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    cwd: Option<PathBuf>,
    tool_name: Option<String>,
    tool_input: Option<Value>,
}

/// Answers on stdout. Exit code 2 is what remains when even that fails: agents take it for no.
pub fn run(agent: &'static Agent, args: Args) -> anyhow::Result<Exit> {
    let moment = Arc::new(OnceLock::new());
    let known = Arc::clone(&moment);
    let reply = patience::in_time(PATIENCE, move || reply(agent, &args, &known)).unwrap_or_else(
        |problem| refusal(agent, moment.get().copied().unwrap_or_default(), &problem),
    );
    if stdout_is_closed() {
        return Err(Failure::usage("cannot answer the agent: stdout is closed").into());
    }
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{reply}").and_then(|()| stdout.flush());
    written.map_err(|error| Failure::usage(format!("cannot answer the agent: {error}")))?;
    Ok(Exit::Ok)
}

/// Whether nobody handed us a stdout. Rust's runtime puts the null device in place of a closed one,
/// open for reading too, which a `>/dev/null` is not; what is written there would seem to arrive.
fn stdout_is_closed() -> bool {
    let Ok(stdout) = std::io::stdout().as_fd().try_clone_to_owned() else { return true };
    let mut stdout = std::fs::File::from(stdout);
    let Ok(null) = std::fs::metadata("/dev/null") else { return false };
    let is_null = stdout.metadata().is_ok_and(|kind| kind.rdev() == null.rdev());
    is_null && stdout.read(&mut [0]).is_ok()
}

/// The answer when there is no verdict.
fn refusal(agent: &Agent, moment: Moment, problem: &str) -> Value {
    let reason = format!(
        "Aurora: denied, because the gate could not judge this call: {}\n  Instead: tell the person \
         who runs you; this is theirs to correct.",
        escape::lines(problem)
    );
    agent.reply(moment, Answer::Deny, &reason, false)
}

/// The answer to what stands on stdin; `known` gets what it is about as soon as that is clear, so
/// that a failure is told in the right format too.
fn reply(agent: &Agent, args: &Args, known: &OnceLock<Moment>) -> anyhow::Result<Value> {
    let bytes = input::stdin()?;
    if bytes.is_empty() {
        return Err(Failure::failed("stdin is empty; the hook's JSON was expected there").into());
    }
    // A list with a value for each field would be read as well.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        let problem = "the hook's JSON cannot be read: expected a JSON object";
        return Err(Failure::failed(problem).into());
    }
    let payload: Payload = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::failed(format!("the hook's JSON cannot be read: {error}")))?;
    let event = payload.hook_event_name.as_deref();
    let moment = *known.get_or_init(|| agent.moment(event));
    let Some(name) = payload.tool_name else {
        return match event {
            // Other events ask nothing.
            Some(event) if !agent.needs_tool(event) => Ok(serde_json::json!({})),
            Some(_) => Err(Failure::failed("the hook names no tool").into()),
            None => Err(Failure::failed("the hook names no tool and no hook_event_name").into()),
        };
    };
    let tool_args = payload.tool_input.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let project = std::env::var_os(agent.project_variable).map(PathBuf::from);
    let (place, home_of_policy) = places(payload.cwd, project.as_deref());
    let policy = layers::load(&home_of_policy, args.policy.as_deref())?;
    let action = Action::Tool(ToolCall { name, args: tool_args });
    let verdict = judging::judge(&action, &policy, &place.context(true));
    // A yes skips the agent's own prompts, which know about more than the gate judges.
    let defer = args.defer || !reach::stays_inside(&verdict.effects);
    Ok(agent.reply(moment, verdict.decision, &verdict::for_agent(&verdict), defer))
}

/// Where the call would happen, and the place whose policy holds: that is where the agent was
/// started, so that an agent cannot walk into a folder with a looser policy.
fn places(cwd: Option<PathBuf>, project: Option<&Path>) -> (Place, Place) {
    let here = Place::look(Given { cwd: cwd.clone(), ..Given::default() });
    let Some(project) = project.filter(|folder| folder.is_absolute() && folder.is_dir()) else {
        return (here.clone(), here);
    };
    let started = Place::look(Given { cwd: Some(project.to_owned()), ..Given::default() });
    if here.repo.is_some() {
        return (here, started);
    }
    // Outside any repository the agent's own worktree is still the one to keep safe.
    let here = Place::look(Given { cwd, root: started.root(), ..Given::default() });
    (here, started)
}
