//! Everything that a run needs, found at the place where the user stands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_agents::Registry;
use aurora_engine::approvals::Queue;
use aurora_engine::approvals::register::people_only;
use aurora_engine::budget::{Budget, Limits, OnLimit};
use aurora_engine::driver::Signal;
use aurora_engine::machine::{Command, State};
use aurora_engine::world::{Asker, Audience, RealWorld, Settings, WritePlan};
use aurora_engine::{Driver, Ended};
use aurora_gate::Policy;
use aurora_gate::approval::Rules;
use aurora_model::run::PolicyLayer;
use aurora_model::{Brief, RunId, Surface, Usd};
use aurora_store::Store;
use aurora_workspace::Silent;
use aurora_workspace::git::worktree::NewWorktree;
use aurora_workspace::process::Keeper;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::place::{Given, Place};
use super::workspace::{Session, now, open_at};
use super::{agents, approvals, layers, migration, notify, person, store};
use crate::exit::Failure;
use crate::output;

/// What every run at a place shares.
pub struct Site {
    /// The root of the user's main checkout.
    pub root: PathBuf,
    /// The log.
    pub store: Arc<dyn Store>,
    /// What is allowed.
    pub policy: Policy,
    /// What was laid over the other policies, for one run.
    pub layer: Option<PolicyLayer>,
    /// Who works.
    pub registry: Registry,
    /// Who may decide what, until when.
    pub rules: Arc<Rules>,
    place: Place,
    session: Session,
}

/// Whoever sits in front of a run.
pub struct Front {
    /// Whoever is put questions to.
    pub asker: Arc<dyn Asker>,
    /// Whoever watches.
    pub audience: Arc<dyn Audience>,
    /// Whether to stay while answers are missing that nobody here can give.
    pub stays: bool,
    /// Writes the plan, for runs that are only planned.
    pub write_plan: Option<WritePlan>,
}

/// How far a run came.
pub struct Driven {
    /// Why it was let go.
    pub ended: Ended,
    /// Where it stands.
    pub state: Arc<State>,
    /// Where its work is, once there is some.
    pub worktree: Option<PathBuf>,
    /// How long it was driven.
    pub seconds: u64,
    /// What happened to git's own data meanwhile, or to the worktree, and no task was let do.
    pub noticed: Vec<String>,
}

impl Site {
    /// Looks around, and makes the log when there is none.
    pub fn open(policy: Option<&Path>) -> anyhow::Result<Self> {
        let root = root()?;
        let settings = Place::look(Given::default()).root().unwrap_or(root);
        if let Some(warning) = migration::migrate_budget(&settings)? {
            output::warn(&warning);
        }
        Self::with(policy, || Ok(store::Log::open()?.store))
    }

    /// Looks around, and makes nothing.
    pub fn look(policy: Option<&Path>) -> anyhow::Result<Self> {
        Self::with(policy, || {
            let log = store::Log::open_existing()?.map(|log| log.store);
            Ok(log.unwrap_or_else(|| Arc::new(aurora_store::MemoryStore::default())))
        })
    }

    fn with(
        policy: Option<&Path>,
        store: impl FnOnce() -> anyhow::Result<Arc<dyn Store>>,
    ) -> anyhow::Result<Self> {
        let session = Session::open()?;
        let root = root()?;
        let place = Place::look(Given::default());
        let layer = policy.map(layers::explicit_layer).transpose()?;
        let policy = layers::load_over(&place, layer.as_ref())?;
        let registry = agents::registry(agents::load(&place)?.profiles)?;
        let rules = Arc::new(approvals::settings::rules(&place)?);
        let store = store()?;
        Ok(Self { root, store, policy, layer, registry, rules, place, session })
    }

    /// The same for a run that is resumed: what was laid over the policies when it began holds again,
    /// unless another was named now.
    pub fn for_resumed(mut self, brief: &Brief) -> anyhow::Result<Self> {
        if self.layer.is_none() && brief.policy.is_some() {
            self.policy = layers::load_over(&self.place, brief.policy.as_ref())?;
            self.layer.clone_from(&brief.policy);
        }
        Ok(self)
    }

    /// A run time for everything that waits.
    pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
        let built =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        built.map_err(|error| Failure::failed(format!("cannot start: {error}")).into())
    }

    /// The folder in which people find what was derived from the log.
    pub fn folder(&self) -> PathBuf {
        self.root.join(store::FOLDER)
    }

    /// Names every path that git tracks in the checkout, in order.
    pub fn each_tracked(&self, name: impl FnMut(&[u8])) {
        self.session.workspace.each_tracked(name);
    }

    /// Takes away the desks that a run did not live to take away.
    pub fn clear_desks(&self, run: &RunId, feature: &str) -> anyhow::Result<()> {
        let workspace = &self.session.workspace;
        let listed = workspace.list_worktrees().map_err(super::workspace::failure)?;
        if listed.iter().any(|one| one.slug == feature && one.whole) {
            let prefix = self.policy.branches().prefix;
            let new = NewWorktree { prefix, ..NewWorktree::named(feature) };
            let opened = workspace.open_or_create_worktree(&new);
            let (_, worktree) = opened.map_err(super::workspace::failure)?;
            let removed = worktree.remove_desks_of_owner(run.as_str());
            removed.map_err(super::workspace::failure)?;
        }
        Ok(())
    }

    /// Whether there is a commit to work from.
    pub fn has_commit(&self) -> bool {
        self.session.workspace.has_commit()
    }

    /// A run that nobody needs to drive any more.
    pub fn finished(&self, state: Arc<State>) -> Driven {
        let feature = state.brief.as_ref().map(|brief| brief.place.feature.as_str());
        let listed = self.session.workspace.list_worktrees().unwrap_or_default();
        let own = listed.into_iter().find(|one| Some(one.slug.as_str()) == feature);
        let worktree = own.map(|one| one.path);
        let noticed = state.noticed.clone();
        Driven { ended: Ended::Finished, state, worktree, seconds: 0, noticed }
    }

    /// How many files of the checkout no commit holds, but for one; a run does not see them.
    pub fn uncommitted(&self, but: Option<&Path>) -> u64 {
        let root = self.session.workspace.root();
        let but = but.and_then(|path| path.strip_prefix(root).ok());
        let found = self.session.ask(aurora_workspace::GitWorkspace::uncommitted);
        // Whoever cannot look says nothing; the run does not depend on it.
        let found = found.unwrap_or_default();
        let count = found.iter().filter(|path| Some(Path::new(&path.to_string())) != but).count();
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Begins or resumes a run, and drives it as far as it goes.
    pub async fn drive(
        self,
        run: &RunId,
        feature: &str,
        mut first: Command,
        front: Front,
    ) -> anyhow::Result<Driven> {
        let begun = std::time::Instant::now();
        // What another process does with the run is not touched.
        let stream = aurora_engine::driver::stream_of(run);
        let claim = self.store.claim(&stream).await.map_err(|error| failure(error.into()))?;
        let budget = Budget::new(Arc::clone(&self.store), limits(&self.policy), now);
        if first == Command::Resume {
            // What the last one began and did not live to settle was spent as it was guessed.
            budget.settle_unknown(run).await.map_err(failure)?;
        }
        drop(claim);
        if let Command::Start(brief) = &mut first {
            brief.settings.people_only = people_only(&self.rules);
        }
        let queue =
            Queue::new(Arc::clone(&self.store), notify::notices(self.rules.channels()), now);
        // A run has screens of its own; a line about hashing would spoil them.
        let workspace = open_at(self.session.workspace.root(), Arc::new(Silent))?;
        let beside = notify::Beside::start(&queue, self.rules.channels());
        let settings = Settings {
            run: run.clone(),
            store: Arc::clone(&self.store),
            context: self.place.context(true),
            branch_prefix: self.policy.branches().prefix,
            policy_digest: approvals::settings::policy_digest(&self.policy),
            policy: self.policy,
            registry: self.registry,
            budget,
            workspace: Arc::new(workspace),
            keeper: keeper()?,
            environment: agents::own_environment(),
            asker: front.asker,
            audience: front.audience,
            write_plan: front.write_plan,
            queue: Some(queue),
            person: Some(person::here(&self.rules, Surface::Terminal)),
            rules: self.rules,
            now,
        };
        let world = Arc::new(RealWorld::new(settings, feature));
        let mut signals = listen()?;
        let driver = Driver::new(self.store, Arc::clone(&world) as Arc<_>).staying(front.stays);
        let (ended, state) = driver.drive(run, first, &mut signals).await.map_err(failure)?;
        let mut noticed = state.noticed.clone();
        let last = world.noticed().await.map_err(failure)?;
        noticed.extend(last.into_iter().filter(|what| !state.noticed.contains(what)));
        if ended == Ended::Finished && state.kept_desks.is_empty() {
            // What is done stays done, also where a desk cannot be taken away.
            if let Err(error) = world.clear_desks().await {
                output::warn(&format!("a desk was not taken away: {error}"));
            }
        }
        beside.stop().await;
        let seconds = begun.elapsed().as_secs();
        Ok(Driven { ended, state, worktree: world.worktree(), seconds, noticed })
    }
}

/// The root of the user's main checkout.
fn root() -> anyhow::Result<PathBuf> {
    let folder = store::folder()?;
    Ok(folder.parent().unwrap_or(&folder).to_owned())
}

/// The budget's limits as the policy has them.
#[must_use]
pub fn limits(policy: &Policy) -> Limits {
    let budget = policy.budget();
    Limits {
        monthly: Usd::from_dollars(budget.monthly_limit_usd),
        warn_at_percent: budget.warn_at_percent,
        on_limit: if budget.rejects { OnLimit::Reject } else { OnLimit::Warn },
    }
}

/// Our own program, as the keeper of processes.
pub fn keeper() -> anyhow::Result<Keeper> {
    Ok(Keeper { program: own_program()?, args: vec![OsString::from("keep")] })
}

/// Where our own program is; also when it was replaced meanwhile.
pub fn own_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find our own program: {error}")).into())
}

/// The first signal stops the run so that it can be resumed, the second at once.
fn listen() -> anyhow::Result<mpsc::Receiver<Signal>> {
    let (sender, receiver) = mpsc::channel(4);
    let kinds = [
        (SignalKind::interrupt(), "SIGINT"),
        (SignalKind::terminate(), "SIGTERM"),
        (SignalKind::hangup(), "SIGHUP"),
    ];
    let asked = Arc::new(std::sync::atomic::AtomicBool::new(false));
    for (kind, name) in kinds {
        let cannot = |error| Failure::failed(format!("cannot listen for {name}: {error}"));
        let mut stream = signal(kind).map_err(cannot)?;
        let (sender, asked) = (sender.clone(), Arc::clone(&asked));
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                let again = asked.swap(true, std::sync::atomic::Ordering::SeqCst);
                let told = match again {
                    true => Signal::Kill,
                    false => Signal::Interrupt { by: name.to_owned() },
                };
                if sender.send(told).await.is_err() {
                    return;
                }
            }
        });
    }
    Ok(receiver)
}

/// An error of the engine, with its exit code.
#[must_use]
pub fn failure(error: aurora_engine::Error) -> Failure {
    use aurora_engine::Error;
    match error {
        Error::Workspace(error) => super::workspace::failure(error),
        Error::Store(aurora_store::Error::Held { what }) => {
            Failure::failed(format!("{what} is being driven by another process"))
                .hint("wait for it, or stop it with Ctrl+C there")
        }
        Error::Store(error @ aurora_store::Error::Full { .. }) => store::failure(error)
            .hint("nothing is lost: `aur spawn --list-checkpoints` shows the run to resume"),
        Error::Store(error) => store::failure(error),
        Error::NoRun { .. } | Error::Refused(_) => Failure::usage(error.to_string())
            .hint("`aur spawn --list-checkpoints` shows what can be resumed"),
        error => Failure::failed(error.to_string()),
    }
}
