//! Answers an agent that asks before it uses one of its own tools, while it waits: the gate and the
//! agent's level say yes or no, and where a person must decide the call is a request in the queue.
//!
//! After a yes the agent makes the call itself. It is bound to the arguments that were approved, and
//! to what it would be done to as far as we can tell; that it does just this is its own word.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aurora_agents::{Made, Permission, Wish};
use aurora_gate::approval::{Command as Tell, Standing, digest_of, options_for};
use aurora_model::{
    About, Answer, ApprovalState, FrozenCall, GateKind, Question, QuestionId, TaskId, ToolCall,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Inner;
use super::asking::Here;
use super::conversation::Worker;
use super::tools::args::leaving;
use super::tools::judged::differs;
use super::tools::told::{denied_by_policy, refused};
use crate::approvals::{PREFIX, Queue, Registrar};
use crate::driver::Stop;
use crate::error::{Error, Result};
use crate::machine::State;

/// A process does not wait longer for a person, whatever else is said.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);
/// So many requests of earlier attempts are looked at.
const EARLIER: usize = 200;

/// Answers the agent of one attempt.
pub(super) struct Permitting {
    inner: Arc<Inner>,
    registrar: Arc<Registrar>,
    worker: Worker,
    task: TaskId,
    attempt: u32,
    state: Arc<State>,
    stop: Stop,
    /// How many questions wait for a person.
    waiting: watch::Sender<usize>,
    /// The calls that were allowed and of which nobody has heard what came of them.
    begun: Mutex<BTreeMap<String, QuestionId>>,
    /// What is being written down.
    writing: Mutex<JoinSet<()>>,
}

/// A question that is open as long as this lives.
struct Open<'a> {
    permitting: &'a Permitting,
    id: Option<QuestionId>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.permitting.waiting.send_modify(|count| *count = count.saturating_sub(1));
        if let Some(id) = self.id.take() {
            let reason = "the agent does not wait for an answer any more".to_owned();
            self.permitting.write(id, Tell::Cancel { reason });
        }
    }
}

impl Permitting {
    /// For one attempt; nothing where there is no queue. What earlier attempts of the task left
    /// behind is closed.
    pub async fn new(
        inner: &Arc<Inner>,
        worker: Worker,
        (task, attempt): (TaskId, u32),
        state: Arc<State>,
        stop: Stop,
    ) -> Result<Option<Self>> {
        let Some(registrar) = inner.registrar.clone() else { return Ok(None) };
        let this = Self {
            inner: Arc::clone(inner),
            registrar,
            worker,
            task,
            attempt,
            state,
            stop,
            waiting: watch::Sender::new(0),
            begun: Mutex::default(),
            writing: Mutex::default(),
        };
        this.close_earlier().await?;
        Ok(Some(this))
    }

    /// What the names of this task's requests begin with.
    fn names(&self) -> String {
        format!("{}.{}.c", self.inner.settings.run, self.task)
    }

    /// Whoever asked in an earlier attempt is gone: nobody waits for an answer, and of what it was
    /// doing nobody can tell whether it was done.
    async fn close_earlier(&self) -> Result<()> {
        let prefix = format!("{PREFIX}{}", self.names());
        for head in self.inner.settings.store.heads(&prefix, EARLIER).await? {
            let id = head.stream.0.strip_prefix(PREFIX).and_then(QuestionId::parse);
            let Some(id) = id else { continue };
            let Some(standing) = self.queue().load(&id).await? else { continue };
            let reason = "the agent that asked is gone".to_owned();
            let tell = match standing.state {
                ApprovalState::Pending | ApprovalState::Approved => Tell::Cancel { reason },
                ApprovalState::Reserved => Tell::Lost { reason },
                _ => continue,
            };
            tell_once(self.queue(), &id, &tell).await?;
        }
        Ok(())
    }

    fn queue(&self) -> &Queue {
        &self.registrar.queue
    }

    fn begun(&self) -> MutexGuard<'_, BTreeMap<String, QuestionId>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes something down without waiting for it; `close` does.
    fn write(&self, id: QuestionId, tell: Tell) {
        let queue = self.queue().clone();
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if tokio::runtime::Handle::try_current().is_ok() {
            writing.spawn(async move {
                // What cannot be written now is found by the next attempt.
                let _ = tell_once(&queue, &id, &tell).await;
            });
        }
    }

    /// Whether the agent may make a call.
    pub fn may(&self, wish: Wish) -> Pin<Box<dyn Future<Output = Permission> + Send + '_>> {
        Box::pin(async move {
            let answer = self.answer(&wish).await;
            answer.unwrap_or_else(|error| denied(format!("it could not be asked: {error}")))
        })
    }

    async fn answer(&self, wish: &Wish) -> Result<Permission> {
        let own = ToolCall { name: wish.tool.clone(), args: wish.args.clone() };
        let judged = self.inner.judge_for(&self.worker).await?.judge_call(own.clone());
        if !judged.only_reads()
            && let Some(path) = leaving(&own.args, &self.worker.desk)
        {
            self.inner.left(&self.worker, path).await?;
        }
        match judged.decision {
            Answer::Allow => return Ok(Permission::Allow { args: wish.args.clone() }),
            Answer::Deny => {
                self.inner.denied(&self.worker, 1).await?;
                return Ok(denied(denied_by_policy(judged.reasons.first()).to_string()));
            }
            Answer::Ask => {}
        }
        let call = self.frozen(&wish.call, &own).await?;
        let (id, needs_person) = (self.fresh_id()?, call.needs_person);
        let about = About::Operation { task: self.task.clone(), call: Box::new(call) };
        let options = options_for(GateKind::Operation).to_vec();
        let question = Question { id: id.clone(), about, options, needs_person };
        let request = self.registrar.request(&question, &self.state, self.queue().now());
        self.waiting.send_modify(|count| *count += 1);
        let mut open = Open { permitting: self, id: Some(id) };
        let standing = self.queue().open(&request).await?;
        let closed = self.decided(&question, standing).await?;
        let Some(closed) = closed else {
            let hours = PATIENCE.as_secs() / 3600;
            return Ok(denied(format!("nobody decided about it within {hours} hours")));
        };
        open.id = None;
        self.told(wish, &own, &question, closed).await
    }

    async fn frozen(&self, call: &str, own: &ToolCall) -> Result<FrozenCall> {
        let judge = self.inner.judge_for(&self.worker).await?;
        Ok(judge.freeze_own(call, own, &self.worker))
    }

    /// Waits until somebody decides, here or elsewhere; nothing when nobody does for too long.
    async fn decided(
        &self,
        question: &Question,
        mut standing: Standing,
    ) -> Result<Option<Standing>> {
        let waiting = async {
            let mut stop = self.stop.clone();
            loop {
                if standing.state != ApprovalState::Pending {
                    return Ok(standing);
                }
                let asking = &self.inner.asking;
                let here = asking
                    .ask_here(self.queue(), question, &standing, &self.state, &mut stop)
                    .await?;
                match here {
                    Here::Closed(closed) => return Ok(*closed),
                    Here::Nobody | Here::Wait => return self.queue().closed(&question.id).await,
                    Here::Again => {
                        let gone = || Error::Lost { what: format!("{} is gone", question.id) };
                        standing = self.queue().load(&question.id).await?.ok_or_else(gone)?;
                    }
                }
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(closed) => closed.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// What the agent is told about a request that is closed.
    async fn told(
        &self,
        wish: &Wish,
        own: &ToolCall,
        question: &Question,
        closed: Standing,
    ) -> Result<Permission> {
        let word = match closed.state {
            ApprovalState::Approved => return self.reserve(wish, own, question, &closed).await,
            ApprovalState::Denied => "denied",
            ApprovalState::ChangesRequested => "changes_requested",
            ApprovalState::TimedOut => "timed_out",
            ApprovalState::Stale => "stale",
            _ => "cancelled",
        };
        let by = closed.decision.as_ref().map_or("nobody", |decision| decision.by.name.as_str());
        let said = closed.decision.as_ref().and_then(|decision| decision.reason.as_deref());
        let reason = said.or(closed.reason.as_deref()).unwrap_or("no reason was given");
        Ok(denied(refused(word, by, reason).to_string()))
    }

    /// The agent is about to make the call, unless it is not what was approved any more.
    async fn reserve(
        &self,
        wish: &Wish,
        own: &ToolCall,
        question: &Question,
        closed: &Standing,
    ) -> Result<Permission> {
        // A person may have changed it: then that is what is looked at.
        let approved = &closed.request.subject;
        let own = ToolCall { name: own.name.clone(), args: approved.args.clone() };
        let again = self.frozen("", &own).await?;
        let now = self.registrar.subject_of_call(question, &self.state, &again);
        let digest = digest_of(&now);
        if digest != closed.request.digest {
            let reason = differs(approved, &now);
            let changed = Tell::Changed { found: Some(digest), reason: reason.clone() };
            tell_once(self.queue(), &question.id, &changed).await?;
            return Ok(denied(refused("stale", "nobody", &reason).to_string()));
        }
        let reserve = Tell::Reserve { executor: self.executor(), digest };
        let reserved = match self.queue().tell(&question.id, &reserve).await {
            Ok(reserved) => reserved,
            Err(Error::Request { refused, .. }) => return Ok(denied(refused.to_string())),
            Err(error) => return Err(error),
        };
        if reserved.state != ApprovalState::Reserved {
            let reason = "what it would be done to is not what it was when it was asked";
            return Ok(denied(refused("stale", "nobody", reason).to_string()));
        }
        self.begun().insert(wish.call.clone(), question.id.clone());
        Ok(Permission::Allow { args: own.args })
    }

    fn executor(&self) -> String {
        format!("{}@{}", self.worker.attempt, std::process::id())
    }

    fn fresh_id(&self) -> Result<QuestionId> {
        let mut bytes = [0_u8; 8];
        let lost = |_| Error::Lost { what: "there is no randomness".to_owned() };
        aws_lc_rs::rand::fill(&mut bytes).map_err(lost)?;
        let random: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let id = QuestionId::parse(&format!("{}{}-{random}", self.names(), self.attempt));
        let id = id.or_else(|| QuestionId::parse(&format!("call-{random}")));
        id.ok_or_else(|| Error::Lost { what: "a request has no name".to_owned() })
    }

    /// Hears what came of a call.
    pub fn made(&self, made: Made) {
        let Some(id) = self.begun().remove(&made.call) else { return };
        let executor = self.executor();
        let tell = match made.failed {
            false => Tell::Executed { executor, result: None, summary: made.told },
            true => Tell::Failed { executor, result: None, error: made.told },
        };
        self.write(id, tell);
    }

    /// Uses up a time, of which none passes while a person is asked.
    pub async fn time_over(&self, limit: Duration) {
        let mut waiting = self.waiting.subscribe();
        let mut left = limit;
        loop {
            // The sender is ours: it is there as long as we are.
            drop(waiting.wait_for(|count| *count == 0).await);
            let begun = Instant::now();
            tokio::select! {
                () = tokio::time::sleep(left) => return,
                () = asked(&mut waiting) => left = left.saturating_sub(begun.elapsed()),
            }
        }
    }

    /// Writes down what is left when the agent is gone.
    pub async fn close(&self) {
        let reason = "the agent ended before it said what came of it";
        let begun = std::mem::take(&mut *self.begun());
        for id in begun.into_values() {
            self.write(id, Tell::Lost { reason: reason.to_owned() });
        }
        let writing = {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *writing)
        };
        writing.join_all().await;
    }
}

async fn asked(waiting: &mut watch::Receiver<usize>) {
    drop(waiting.wait_for(|count| *count > 0).await);
}

fn denied(message: String) -> Permission {
    Permission::Deny { message, interrupt: false }
}

/// Tells a request something that somebody else may have told it meanwhile.
async fn tell_once(queue: &Queue, id: &QuestionId, tell: &Tell) -> Result<()> {
    match queue.tell(id, tell).await {
        Ok(_) | Err(Error::Request { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
