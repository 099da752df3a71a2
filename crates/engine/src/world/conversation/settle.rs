//! Makes a call that a person allowed, once and exactly as it was asked about; or puts into words why
//! it is not made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_gate::approval::{Command as Tell, Standing, digest_of};
use aurora_model::{
    About, Answer, ApprovalState, Choice, Digest, FrozenCall, HowSettled, QuestionId, Subject,
    TaskId,
};
use serde_json::{Value, json};

use super::super::tools::args::Args;
use super::super::tools::judged::{Judge, differs};
use super::super::tools::told::{Made, refused};
use super::super::tools::{SCHEMA, Tool, files};
use super::super::{Inner, blocking, task_of};
use super::Worker;
use crate::approvals::Queue;
use crate::driver::Stop;
use crate::error::{Error, Result};
use crate::machine::{Command, State};

/// How often a request is looked at again because somebody else wrote first.
const MAX_LOOKS: usize = 100;

/// Whose turn it is at each desk.
#[derive(Debug, Default)]
pub(in crate::world) struct Turns(Mutex<BTreeMap<u32, Arc<tokio::sync::Mutex<()>>>>);

impl Turns {
    fn at(&self, desk: u32) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(desk).or_default())
    }
}

/// A call that a person decided about.
pub(super) struct Asked<'a> {
    pub question: &'a QuestionId,
    pub call: &'a FrozenCall,
    pub worker: Worker,
    /// Whether it was asked about again, because nobody could tell what had become of it.
    pub again: bool,
    /// What it is made with: as it was frozen, or as a person changed it.
    pub args: Value,
}

/// What came of it, and what the model is told.
pub(super) type Settled = (HowSettled, Digest);

impl Inner {
    /// Settles a call that was decided.
    pub(in crate::world) async fn settle(
        self: Arc<Self>,
        task: TaskId,
        question: QuestionId,
        desk: u32,
        state: &State,
        stop: Stop,
    ) -> Result<Option<Command>> {
        let Some(call) = state.call_of(&question) else { return Ok(None) };
        let turn = self.turns.at(desk);
        let _turn = turn.lock().await;
        let asked = self.asked(&task, &question, desk, call, state).await?;
        let settled = self.settled(&asked, &stop).await?;
        Ok(settled.map(|(how, result)| Command::Settled { task, question, how, result }))
    }

    /// The queue, without which no call can be reserved.
    pub(super) fn queue(&self) -> Result<&Queue> {
        let none = || Error::Lost { what: "there is no queue to settle calls with".to_owned() };
        self.settings.queue.as_ref().ok_or_else(none)
    }

    /// Everything that must be known to make a call.
    async fn asked<'a>(
        &self,
        task: &TaskId,
        question: &'a QuestionId,
        desk: u32,
        call: &'a FrozenCall,
        state: &State,
    ) -> Result<Asked<'a>> {
        let first = first_asked(state, question);
        let again = first != *question;
        // A person may have changed it before they allowed it.
        let standing = self.queue()?.load(&first).await?;
        let args = standing.map_or_else(|| call.args.clone(), |one| one.request.subject.args);
        let of = task_of(state, task)?;
        let number = of.conversation.as_ref().map_or(0, |one| one.attempt);
        let route = of.attempts.iter().find(|one| one.number == number).map(|one| &one.route);
        let role = match route {
            Some(aurora_model::Route::AdHoc { role, .. }) => Some(role.to_string()),
            _ => None,
        };
        let site = Arc::clone(&self.site);
        let path: PathBuf = blocking(move || Ok(site.desk(desk)?.path().to_owned())).await?;
        let attempt = format!("{}/{task}/{number}", self.settings.run);
        let worker = Worker { agent: call.agent.clone(), role, desk: path, attempt };
        Ok(Asked { question, call, worker, again, args })
    }

    /// What came of a call; nothing when it was stopped before anything did.
    async fn settled(&self, asked: &Asked<'_>, stop: &Stop) -> Result<Option<Settled>> {
        let queue = self.queue()?;
        for _ in 0..MAX_LOOKS {
            let mut waiting = stop.clone();
            let standing = tokio::select! {
                biased;
                standing = queue.closed(asked.question) => standing?,
                () = waiting.asked() => return Ok(None),
            };
            let settled = match standing.state {
                ApprovalState::Pending => continue,
                ApprovalState::Approved => match self.allowed(asked, &standing, stop).await? {
                    Some(settled) => settled,
                    // Somebody was faster: it is looked at again.
                    None => continue,
                },
                ApprovalState::Reserved => self.recover(asked, &standing, stop).await?,
                ApprovalState::Executed => self.found(HowSettled::Executed, &standing).await?,
                ApprovalState::Failed => self.found(HowSettled::Failed, &standing).await?,
                ApprovalState::OutcomeUnknown => {
                    self.refusal(HowSettled::Unknown, "outcome_unknown", &standing).await?
                }
                ApprovalState::Denied => {
                    self.refusal(HowSettled::Refused, "denied", &standing).await?
                }
                ApprovalState::ChangesRequested => {
                    self.refusal(HowSettled::Refused, "changes_requested", &standing).await?
                }
                ApprovalState::TimedOut => {
                    self.refusal(HowSettled::TimedOut, "timed_out", &standing).await?
                }
                ApprovalState::Cancelled => {
                    self.refusal(HowSettled::Refused, "cancelled", &standing).await?
                }
                ApprovalState::Stale => self.refusal(HowSettled::Stale, "stale", &standing).await?,
            };
            return Ok(Some(settled));
        }
        Err(Error::Lost { what: format!("{} is written by others all the time", asked.question) })
    }

    /// Reserves a call that was allowed and makes it; nothing when the request is no longer so.
    async fn allowed(
        &self,
        asked: &Asked<'_>,
        standing: &Standing,
        stop: &Stop,
    ) -> Result<Option<Settled>> {
        let executor = format!("{}@{}", self.settings.run, std::process::id());
        let done = chosen(standing) == Some(Choice::Done);
        let now = match done {
            true => {
                let (digest, why) = (standing.request.digest.clone(), String::new());
                Now { args: None, digest, why }
            }
            false => resolved_now(&self.judge_for(&asked.worker).await?, asked, standing),
        };
        let Now { args, digest, why } = now;
        let reserve = match digest == standing.request.digest {
            true => Tell::Reserve { executor: executor.clone(), digest },
            false => Tell::Changed { found: Some(digest), reason: why },
        };
        let reserved = match self.queue()?.tell(asked.question, &reserve).await {
            Ok(reserved) => reserved,
            Err(Error::Request { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if reserved.state != ApprovalState::Reserved {
            return Ok(None);
        }
        let made = match args {
            _ if done => said_to_be_done(standing),
            Some(args) => {
                edited(standing, asked, self.make(&asked.worker, &args, stop.clone()).await?)
            }
            None => Made::failed("failed", "its arguments cannot be read any more"),
        };
        self.record(asked, &executor, made).await.map(Some)
    }

    /// Writes down what came of a call: first with its request, so that it is never made again.
    pub(super) async fn record(
        &self,
        asked: &Asked<'_>,
        executor: &str,
        made: Made,
    ) -> Result<Settled> {
        let result = self.settings.store.put(made.content.into_bytes()).await?;
        let (executor, kept) = (executor.to_owned(), Some(result.clone()));
        let (how, tell) = match made.is_error {
            false => {
                let summary = made.summary;
                (HowSettled::Executed, Tell::Executed { executor, result: kept, summary })
            }
            true => {
                let error = made.summary;
                (HowSettled::Failed, Tell::Failed { executor, result: kept, error })
            }
        };
        self.queue()?.tell(asked.question, &tell).await?;
        Ok((how, result))
    }

    /// What was written down with the request before.
    async fn found(&self, how: HowSettled, standing: &Standing) -> Result<Settled> {
        match &standing.result {
            Some(result) => Ok((how, result.clone())),
            None => {
                let told = r#"{"message":"what it said was not kept"}"#.to_owned();
                Ok((how, self.settings.store.put(told.into_bytes()).await?))
            }
        }
    }

    /// Puts into words why a call is not made.
    pub(super) async fn refusal(
        &self,
        how: HowSettled,
        error: &str,
        standing: &Standing,
    ) -> Result<Settled> {
        let decision = standing.decision.as_ref();
        let by = decision.map_or("nobody", |one| one.by.name.as_str());
        let said = decision.and_then(|one| one.reason.as_deref());
        let reason = match how {
            // Whoever said yes did not say why it came to nothing.
            HowSettled::Stale => standing.reason.as_deref(),
            _ => said.or(standing.reason.as_deref()),
        };
        let usual = match how {
            HowSettled::Stale => "what it would be done to has changed since it was asked about",
            HowSettled::TimedOut => "nobody decided in time",
            HowSettled::Unknown => "it was cut off, and nobody can tell whether it was done",
            _ => "no reason was given",
        };
        let told = refused(error, by, reason.unwrap_or(usual));
        Ok((how, self.settings.store.put(told.to_string().into_bytes()).await?))
    }
}

/// What would be done now: it is what was approved only when nothing differs.
struct Now {
    args: Option<Args>,
    digest: Digest,
    /// What differs, where anything does.
    why: String,
}

impl Now {
    fn cannot(args: Option<Args>, why: &str) -> Self {
        Self { args, digest: files::hash(why.as_bytes()), why: why.to_owned() }
    }
}

fn resolved_now(judge: &Judge<'_>, asked: &Asked<'_>, standing: &Standing) -> Now {
    let approved = &standing.request.subject;
    let unknown = "what would be done cannot be told any more";
    let tool = Tool::from_name(&asked.call.tool).filter(|_| asked.call.schema == SCHEMA);
    let Some(tool) = tool else { return Now::cannot(None, unknown) };
    let Ok(args) = Args::read(tool, &asked.args, &asked.worker.desk) else {
        return Now::cannot(None, unknown);
    };
    let found = judge.judge(tool, &args);
    if found.decision == Answer::Deny {
        return Now::cannot(Some(args), "the policy forbids it");
    }
    let Ok(now) = found.targets(&args, &asked.worker.desk) else {
        return Now::cannot(Some(args), unknown);
    };
    if asked.again {
        // It is made again as it was shown, or not at all: what it would run may have changed since.
        let subject = Subject { targets: now, ..approved.clone() };
        let why = differs(approved, &subject);
        return Now { args: Some(args), digest: digest_of(&subject), why };
    }
    let subject = Subject {
        args: asked.args.clone(),
        targets: now,
        policy: judge.policy_digest.clone(),
        tier: found.tier,
        autonomy: judge.autonomy,
        ..approved.clone()
    };
    let why = differs(approved, &subject);
    Now { args: Some(args), digest: digest_of(&subject), why }
}

/// What a person chose.
fn chosen(standing: &Standing) -> Option<Choice> {
    standing.decision.as_ref().map(|decision| decision.choice)
}

/// What a person says about a call of which nobody else can tell.
fn said_to_be_done(standing: &Standing) -> Made {
    let by = standing.decision.as_ref().map_or("a person", |one| one.by.name.as_str());
    let message = format!("{by} says that it was done; what it said is not known");
    Made::told(&json!({"done": true, "message": message}), message.clone())
}

/// The question by which a call was asked about first.
fn first_asked(state: &State, question: &QuestionId) -> QuestionId {
    let mut first = question.clone();
    // Each asks about one that was asked before it.
    for _ in 0..=state.questions.len() {
        let about = state.question(&first).map(|asked| &asked.question.about);
        let Some(About::Unknown { question, .. }) = about else { break };
        first = question.clone();
    }
    first
}

/// Tells the model where a person changed its call.
fn edited(standing: &Standing, asked: &Asked<'_>, made: Made) -> Made {
    if standing.version <= 1 {
        return made;
    }
    let by = standing.decision.as_ref().map_or("a person", |one| one.by.name.as_str());
    let content =
        format!("[{by} changed this call, and it was made with {}]\n{}", asked.args, made.content);
    Made { content, ..made }
}
