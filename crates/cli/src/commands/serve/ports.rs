//! What the server needs of the other crates: the same as the commands use.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use aurora_engine::approvals::Queue;
use aurora_engine::driver;
use aurora_model::{Action, Digest, QuestionId};
use aurora_server::ports::{
    Aftermath, Agents, Asked, Checkpoints, Deliveries, Effective, Judge, Judged, Later, Neighbours,
    Policies, Ports, Trouble,
};
use aurora_workspace::Workspace as _;
use serde_json::{Value, json};

use super::{judge, peer};
use crate::exit::Failure;
use crate::output;
use crate::output::history::{self, Whole};
use crate::wiring::approvals::settings;
use crate::wiring::patience::{self, PATIENCE};
use crate::wiring::place::{Given, Place};
use crate::wiring::workspace::{self, Session, diff_files};
use crate::wiring::{judging, layers};

/// All of them.
pub fn all(queue: &Queue, deliveries: Arc<dyn Deliveries>) -> Ports {
    Ports {
        checkpoints: Arc::new(Here),
        policies: Arc::new(Here),
        agents: Arc::new(Here),
        judge: Arc::new(Here),
        aftermath: Arc::new(Carry { queue: queue.clone() }),
        neighbours: Arc::new(Here),
        deliveries,
    }
}

/// The repository around the current directory.
struct Here;

/// Does on a thread of its own what may take a while.
fn later<'a, T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> Later<'a, T> {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(work).await;
        let lost = |_| Trouble::Broken { what: "something of ours ended early".to_owned() };
        done.map_err(lost)?.map_err(|error| trouble(&error))
    })
}

/// What is wrong with what was asked for is a refusal; the rest is ours.
fn trouble(error: &anyhow::Error) -> Trouble {
    let hints = error.downcast_ref::<Failure>().map(Failure::hints).unwrap_or_default();
    let mut what = format!("{error:#}");
    for hint in hints {
        what.push_str(&format!("; {hint}"));
    }
    Trouble::Broken { what }
}

impl Checkpoints for Here {
    fn list(&self, feature: Option<String>) -> Later<'_, Vec<Value>> {
        let found = later(move || {
            let session = Session::open()?;
            let Some(feature) = known(&session, feature)? else { return Ok(None) };
            let all = session.ask(|workspace| match &feature {
                Some(feature) => workspace.checkpoints_of(feature),
                None => workspace.checkpoints(),
            })?;
            Ok(Some(all.iter().map(history::row_json).collect()))
        });
        Box::pin(async move { found.await?.ok_or_else(no_feature) })
    }

    fn show(&self, id: String, feature: Option<String>) -> Later<'_, Value> {
        let found = later(move || {
            let session = Session::open()?;
            let Some(feature) = known(&session, feature)? else { return Ok(None) };
            let found = match &feature {
                Some(feature) => session.workspace.find_of(feature, &id),
                None => session.workspace.find(&id),
            };
            let one = match found {
                Ok(one) => one,
                Err(aurora_workspace::Error::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(workspace::failure(error).into()),
            };
            let (since_last, total) = session.ask(|workspace| {
                let since_last = workspace.changes(&one.previous_tree, &one.tree)?;
                Ok((since_last, workspace.changes(&one.base_tree, &one.tree)?))
            })?;
            let diffs = diff_files(&session.workspace, &one);
            let whole = Whole {
                checkpoint: &one,
                since_last: &since_last,
                total: &total,
                diffs: &diffs,
                staged: None,
            };
            Ok(Some(whole.json()))
        });
        let missing = || Trouble::NotFound { what: "there is no such checkpoint".to_owned() };
        Box::pin(async move { found.await?.ok_or_else(missing) })
    }
}

/// The feature that is meant; nothing when it has no checkpoints.
fn known(session: &Session, feature: Option<String>) -> anyhow::Result<Option<Option<String>>> {
    let Some(name) = feature else { return Ok(Some(None)) };
    let all = session.ask(|workspace| workspace.features())?;
    Ok(all.contains(&name).then_some(Some(name)))
}

fn no_feature() -> Trouble {
    Trouble::NotFound { what: "no feature of that name has checkpoints".to_owned() }
}

impl Policies for Here {
    fn effective(&self) -> Later<'_, Effective> {
        later(|| {
            let policy = layers::load(&Place::look(Given::default()), None)?;
            let setting = |entry: aurora_gate::policy::Entry| {
                json!({
                    "key": entry.key, "value": entry.value, "origin": entry.origin,
                    "locked": entry.locked,
                })
            };
            let settings = policy.entries().into_iter().map(setting).collect();
            Ok(Effective { digest: settings::policy_digest(&policy), settings })
        })
    }

    fn check(&self, action: Action, role: Option<String>) -> Later<'_, Value> {
        later(move || {
            let place = Place::look(Given { role, ..Given::default() });
            let policy = layers::load(&place, None)?;
            let text = judging::judged_text(&action);
            let judged = patience::in_time(PATIENCE, move || {
                let context = place.context(judging::may_run_git(&action));
                Ok(judging::judge(&action, &policy, &context))
            });
            let cannot = |problem| Failure::failed(format!("cannot judge this: {problem}"));
            Ok(output::verdict::json(&judged.map_err(cannot)?, &text))
        })
    }

    fn digest(&self) -> Later<'_, Digest> {
        later(|| {
            let policy = layers::load(&Place::look(Given::default()), None)?;
            Ok(settings::policy_digest(&policy))
        })
    }

    fn roles_of(&self, person: String) -> Later<'_, Vec<String>> {
        later(move || Ok(settings::rules(&Place::look(Given::default()))?.roles_of(&person)))
    }
}

impl Agents for Here {
    fn list(&self) -> Later<'_, Value> {
        later(crate::commands::agents::in_json)
    }
}

impl Judge for Here {
    fn judge(&self, asked: Asked) -> Later<'_, Judged> {
        later(move || judge::judge(asked))
    }
}

impl Neighbours for Here {
    fn may_decide(&self, from: SocketAddr, to: SocketAddr) -> Later<'_, Result<(), String>> {
        later(move || Ok(peer::may_decide(from, to)))
    }

    fn is_agent(&self, from: SocketAddr, to: SocketAddr) -> Later<'_, bool> {
        later(move || Ok(peer::is_agent(from, to)))
    }
}

/// Tells a run what was decided, where nobody drives it who would see it by themselves.
struct Carry {
    queue: Queue,
}

impl Aftermath for Carry {
    fn decided(&self, id: QuestionId) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        // What fails here is done when the run is resumed, so that it is no reason to say anything.
        Box::pin(async move {
            if let Ok(Some(standing)) = self.queue.load(&id).await {
                let _ = driver::carry_over(&self.queue, &standing).await;
            }
        })
    }
}
