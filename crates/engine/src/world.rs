//! The real world of a run: agents as processes, the gate, the run's worktree and its desks.

pub mod asking;
mod attempt;
mod changes;
pub mod consult;
mod conversation;
mod incidents;
mod judging;
mod listening;
mod permitting;
mod processes;
mod prompt;
pub mod reading;
mod site;
pub mod tools;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use aurora_agents::{Heard, Registry};
use aurora_gate::Policy;
use aurora_gate::approval::Rules;
use aurora_model::{
    About, Answerer, Choice, Context, Decider, Digest, Question, RunId, TaskId, Timestamp,
};
use aurora_store::Store;
use aurora_workspace::GitWorkspace;
use aurora_workspace::process::Keeper;

use crate::approvals::{Queue, Registrar};
use crate::budget::Budget;
use crate::driver::{Performed, Stop, Told, World};
use crate::error::{Error, Result};
use crate::machine::{Command, Effect, State};
use asking::Asking;
use conversation::Turns;
use incidents::Denials;
use site::Site;

/// An answer that may never come; nothing when nobody is there to give it.
pub type MaybeAnswer = Pin<Box<dyn Future<Output = Option<(Choice, Answerer)>> + Send>>;

/// Writes the tasks of a run down as a plan, and says where.
pub type WritePlan = Box<dyn Fn(&State) -> Result<String> + Send + Sync>;

/// Whoever is put questions to.
pub trait Asker: Send + Sync {
    /// Asks; when `stop` says so, the question was answered elsewhere.
    fn ask(&self, question: &Question, state: &Arc<State>, stop: Stop) -> MaybeAnswer;

    /// Says what whoever was asked should know: who decided elsewhere, or why their answer does not
    /// count or is not enough.
    fn told_elsewhere(&self, question: &Question, text: &str) {
        let _ = (question, text);
    }
}

/// Whoever watches a run. It must not block for long.
pub trait Audience: Send + Sync {
    /// Something was recorded.
    fn told(&self, told: &Told, state: &Arc<State>);

    /// Something that a person should know: about money, or that an agent may do less from now on.
    fn warned(&self, warning: &str);

    /// An agent said something.
    fn heard(&self, task: &TaskId, attempt: u32, heard: &Heard);
}

/// Everything that a run's world is made of.
pub struct Settings {
    /// The run.
    pub run: RunId,
    /// The log, and what is beside it.
    pub store: Arc<dyn Store>,
    /// What is allowed.
    pub policy: Policy,
    /// Where it would happen.
    pub context: Context,
    /// Who works.
    pub registry: Registry,
    /// What may be spent.
    pub budget: Budget,
    /// The user's checkout.
    pub workspace: Arc<GitWorkspace>,
    /// What the name of the run's branch begins with.
    pub branch_prefix: String,
    /// The program that keeps processes.
    pub keeper: Keeper,
    /// Our own variables, of which agents get an allow-list.
    pub environment: BTreeMap<String, String>,
    /// Whoever is put questions to.
    pub asker: Arc<dyn Asker>,
    /// Whoever watches.
    pub audience: Arc<dyn Audience>,
    /// Writes the tasks down as a plan and says where; for runs that are only planned.
    pub write_plan: Option<WritePlan>,
    /// The queue in which questions can be decided from everywhere; without it, only here.
    pub queue: Option<Queue>,
    /// How much agents may do by themselves, and who decides about the rest, until when.
    pub rules: Arc<Rules>,
    /// The digest of the policy in force.
    pub policy_digest: Digest,
    /// Whoever sits here, as the system knows them.
    pub person: Option<Decider>,
    /// The clock.
    pub now: fn() -> Timestamp,
}

/// The real world of one run.
pub struct RealWorld(Arc<Inner>);

struct Inner {
    settings: Settings,
    site: Arc<Site>,
    /// One call after the other is made at a desk after a yes.
    turns: Turns,
    /// Puts the questions of the run into the queue.
    registrar: Option<Arc<Registrar>>,
    asking: Asking,
    denials: Denials,
}

impl RealWorld {
    /// A world for a run that has begun or is about to; nothing is touched yet.
    #[must_use]
    pub fn new(settings: Settings, feature: &str) -> Self {
        let checkout = Arc::clone(&settings.workspace);
        let site = Arc::new(Site::new(checkout, &settings.run, feature, &settings.branch_prefix));
        let registrar = settings.queue.clone().map(|queue| Registrar {
            queue,
            rules: Arc::clone(&settings.rules),
            policy: settings.policy_digest.clone(),
            project: settings.workspace.root().display().to_string(),
        });
        let asking = Asking {
            asker: Arc::clone(&settings.asker),
            queue: settings.queue.clone(),
            person: settings.person.clone(),
            policy: settings.policy_digest.clone(),
        };
        let (registrar, turns) = (registrar.map(Arc::new), Turns::default());
        Self(Arc::new(Inner {
            settings,
            site,
            turns,
            registrar,
            asking,
            denials: Denials::default(),
        }))
    }

    /// Where the run's work is gathered, once it is.
    #[must_use]
    pub fn worktree(&self) -> Option<PathBuf> {
        self.0.site.path()
    }

    /// What is not as it was when the run began, and no task was let do.
    ///
    /// # Errors
    /// When a thread ends early.
    pub async fn noticed(&self) -> Result<Vec<String>> {
        let site = Arc::clone(&self.0.site);
        // Where nothing was begun, nothing is made to look at it.
        let look = move || match site.path() {
            Some(_) => Ok(site.noticed(true).into_iter().map(|one| one.what).collect()),
            None => Ok(Vec::new()),
        };
        blocking(look).await
    }

    /// Takes the desks away; what was adopted stays.
    ///
    /// # Errors
    /// When git or the file system refuses.
    pub async fn clear_desks(&self) -> Result<()> {
        let site = Arc::clone(&self.0.site);
        blocking(move || site.clear()).await
    }
}

/// Work that would hold up others, on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::Lost { what: format!("a thread ended early: {error}") }))
}

impl World for RealWorld {
    fn now(&self) -> Timestamp {
        (self.0.settings.now)()
    }

    fn perform(&self, effect: &Effect, state: &Arc<State>, stop: Stop) -> Performed {
        let inner = Arc::clone(&self.0);
        let state = Arc::clone(state);
        let effect = effect.clone();
        Box::pin(async move { inner.perform(effect, state, stop).await })
    }

    fn registrar(&self) -> Option<Arc<Registrar>> {
        self.0.registrar.clone()
    }

    fn recorded(&self, told: &Told, state: &Arc<State>) {
        self.0.settings.audience.told(told, state);
    }
}

impl Inner {
    async fn perform(
        self: Arc<Self>,
        effect: Effect,
        state: Arc<State>,
        stop: Stop,
    ) -> Result<Option<Command>> {
        match effect {
            Effect::Ask { question } => self.asking.ask(question, state, stop).await,
            Effect::WritePlan => {
                blocking(move || {
                    let write = self.settings.write_plan.as_ref();
                    let path = write.map(|write| write(&state)).transpose()?;
                    Ok(path.map(|path| Command::PlanWritten { path }))
                })
                .await
            }
            Effect::Judge { task } => Ok(Some(self.judge_task(&task, &state)?)),
            Effect::Attempt { task, attempt, desk } => {
                self.attempt(&task, attempt, desk, &state, stop).await.map(Some)
            }
            Effect::Settle { task, question, desk } => {
                self.settle(task, question, desk, &state, stop).await
            }
            Effect::Check { task, attempt, desk } => {
                self.check(task, attempt, desk, &state).await.map(Some)
            }
            Effect::Adopt { task, attempt, desk } => {
                self.adopt(task, attempt, desk, &state).await.map(Some)
            }
        }
    }
}

impl Inner {
    /// Whether only people can answer a question about this.
    fn needs_person(&self, about: &About, state: &State) -> bool {
        self.registrar.as_ref().is_some_and(|registrar| registrar.needs_person(about, state))
    }
}

/// The task of that name, which the machine has named itself.
fn task_of<'a>(state: &'a State, id: &TaskId) -> Result<&'a crate::machine::TaskState> {
    let what = || Error::Lost { what: format!("the run has no task {id}") };
    state.task(id).ok_or_else(what)
}
