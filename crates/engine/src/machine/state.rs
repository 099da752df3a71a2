//! Where a run stands.

use std::collections::BTreeSet;
use std::sync::Arc;

use aurora_model::{
    About, Answerer, ApprovalState, Assignment, Brief, CheckpointId, Choice, Cost, FrozenCall,
    Gaps, GateKind, Planned, Question, QuestionId, Route, RunOutcome, SkipWhy, TaskId, TreeId, Usd,
};

use super::conversation::Conversation;
use super::roll::{Roll, Tags};
use super::tags;
use crate::graph::Graph;

/// The rule that asks about what an attempt made and nobody can take over.
pub const LEFT_OUT: &str = "workspace.left_out";

/// Where a run stands, as its events tell it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// What the run was told; nothing before it began.
    pub brief: Option<Arc<Brief>>,
    /// Whether it goes on.
    pub phase: Phase,
    /// How it was stopped last.
    pub stopped_by: Option<String>,
    /// What is done about gaps.
    pub gaps: Gaps,
    /// Its tasks, in the order of the file.
    pub tasks: Roll<TaskState>,
    /// Everything that was asked, in order.
    pub questions: Roll<Asked>,
    /// The folder into which the plan was written, for runs that are only planned.
    pub plan: Option<String>,
    /// What is not as it was when the run began and no task was let do, in the order of telling.
    pub noticed: Vec<String>,
    /// Desks at which something stands that cannot be taken over: nobody else works there, and they
    /// are not taken away with the others.
    pub kept_desks: BTreeSet<u32>,
    /// How many events led here.
    pub version: u64,
    /// What waits for what; it never changes once the run began.
    pub(super) graph: Arc<Graph>,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// It has not begun.
    #[default]
    New,
    /// It goes on.
    Open,
    /// Somebody stopped it; it can be resumed.
    Interrupted,
    /// Nothing is left to do.
    Finished(RunOutcome),
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The answer, once there is one.
    pub answer: Option<(Choice, Answerer)>,
    /// How and why it was closed without an answer, once it was.
    pub closed: Option<(ApprovalState, String)>,
}

impl Asked {
    /// Whether it waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answer.is_none() && self.closed.is_none()
    }
}

/// A task and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskState {
    /// The task.
    pub planned: Arc<Planned>,
    /// How it stands.
    pub status: TaskStatus,
    /// Every attempt so far, on every way.
    pub attempts: Vec<AttemptState>,
    /// How many attempts failed since the task began or a person said to retry.
    pub failures: u32,
    /// Whether a person said to ask the model directly.
    pub model_only: bool,
    /// How many files and lines its last attempt changed, once that was counted.
    pub touched: Option<(u64, u64)>,
    /// The conversation of the attempt that is parked, or that goes on after it was; kept until the
    /// attempt parks again or ends.
    pub conversation: Option<Arc<Conversation>>,
    /// How many of the tasks that it depends on are not done.
    pub(super) missing: u32,
    /// How many of them will never be done.
    pub(super) lost: u32,
    /// What it is found by.
    pub(super) tags: Tags,
}

/// How a task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStatus {
    /// It was not judged yet.
    Waiting,
    /// It may begin, or begin again.
    Cleared,
    /// It waits for a person before it begins.
    Gated {
        /// What they are asked.
        question: QuestionId,
    },
    /// Something is being done about it.
    Busy {
        /// Which attempt.
        attempt: u32,
        /// At which desk.
        desk: u32,
        /// What.
        doing: Doing,
    },
    /// Its attempt waits for the results of calls that may not be made without a yes; what was said
    /// is kept beside the log, and its place among those at work is free.
    Parked {
        /// Which attempt.
        attempt: u32,
        /// At which desk.
        desk: u32,
    },
    /// What it changed waits for a person.
    Held {
        /// Which attempt.
        attempt: u32,
        /// At which desk.
        desk: u32,
        /// What they are asked.
        question: QuestionId,
    },
    /// All ways failed.
    Failed {
        /// What went wrong.
        error: String,
        /// What a person is asked, once they are.
        question: Option<QuestionId>,
    },
    /// It is done.
    Completed {
        /// By which way.
        route: Route,
        /// What the agent said at the end.
        summary: String,
        /// The checkpoint that was made.
        checkpoint: Option<CheckpointId>,
    },
    /// It was left out.
    Skipped {
        /// Why.
        why: SkipWhy,
    },
    /// The policy forbids it.
    Denied {
        /// Why.
        because: String,
    },
}

/// What is being done about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// An attempt is going on.
    Attempting,
    /// What it changed is being judged.
    Checking,
    /// What it changed is being taken over.
    Adopting,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptState {
    /// Its number.
    pub number: u32,
    /// Its way.
    pub route: Route,
    /// What went wrong, or nothing when it went well; nothing at all while it goes on.
    pub ended: Option<Result<String, String>>,
    /// What it cost.
    pub cost: Cost,
    /// How long it took.
    pub millis: u64,
    /// What its desk held when it began.
    pub base: Option<TreeId>,
    /// What its desk held when it was judged.
    pub result: Option<TreeId>,
}

impl TaskState {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.planned.task.id
    }

    /// Whether what depends on it may begin.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(
            self.status,
            TaskStatus::Completed { .. } | TaskStatus::Skipped { why: SkipWhy::Done {} }
        )
    }

    /// Whether nothing will be done about it any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(
            self.status,
            TaskStatus::Completed { .. } | TaskStatus::Skipped { .. } | TaskStatus::Denied { .. }
        )
    }

    /// Whether it is done, and whether it never will be.
    fn prospect(&self) -> (bool, bool) {
        (self.is_done(), self.is_over() && !self.is_done())
    }

    /// Whether something is being done about it now.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.status, TaskStatus::Busy { .. })
    }

    /// The desk that holds its work.
    #[must_use]
    pub fn desk(&self) -> Option<u32> {
        match self.status {
            TaskStatus::Busy { desk, .. }
            | TaskStatus::Held { desk, .. }
            | TaskStatus::Parked { desk, .. } => Some(desk),
            _ => None,
        }
    }

    /// What all its attempts cost.
    #[must_use]
    pub fn spent(&self) -> Usd {
        self.attempts.iter().fold(Usd::ZERO, |sum, one| sum.plus(one.cost.usd))
    }
}

impl State {
    /// The state after these events.
    #[must_use]
    pub fn of<'a>(events: impl IntoIterator<Item = &'a aurora_model::Event>) -> Self {
        let mut state = Self::default();
        events.into_iter().for_each(|event| super::apply(&mut state, event));
        state
    }

    /// Whether the tasks are only written down.
    #[must_use]
    pub fn is_plan_only(&self) -> bool {
        self.brief.as_ref().is_some_and(|brief| brief.kind == aurora_model::RunKind::Goals)
    }

    /// A task.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&TaskState> {
        self.tasks.get(self.graph.place(id)?)
    }

    /// Changes a task, and what others have to know of it.
    pub(super) fn change(&mut self, id: &TaskId, how: impl FnOnce(&mut TaskState)) {
        let Some(place) = self.graph.place(id) else { return };
        let Some(before) = self.tasks.get(place).map(TaskState::prospect) else { return };
        self.change_at(place, how);
        let after = self.tasks.get(place).map_or(before, TaskState::prospect);
        if before == after {
            return;
        }
        let graph = Arc::clone(&self.graph);
        let moved = |count: u32, from: bool, to: bool| {
            count.saturating_add(u32::from(to)).saturating_sub(u32::from(from))
        };
        for other in graph.after(place) {
            self.change_at(*other, |task| {
                task.missing = moved(task.missing, !before.0, !after.0);
                task.lost = moved(task.lost, before.1, after.1);
            });
        }
    }

    fn change_at(&mut self, place: usize, how: impl FnOnce(&mut TaskState)) {
        let (brief, gaps) = (self.brief.as_deref(), self.gaps);
        self.tasks.change(place, |task| {
            how(task);
            task.tags = tags::of(task, brief, gaps);
        });
    }

    /// Fills the gaps in another way.
    pub(super) fn fill_gaps(&mut self, gaps: Gaps) {
        self.gaps = gaps;
        (0..self.tasks.len()).for_each(|place| self.change_at(place, |_| {}));
    }

    /// The place of a question. Its name ends with its number.
    pub(super) fn place_of_question(&self, id: &QuestionId) -> Option<usize> {
        let is_it = |place: &usize| {
            self.questions.get(*place).is_some_and(|asked| asked.question.id == *id)
        };
        let number = id.as_str().rsplit_once('q').and_then(|(_, number)| number.parse().ok());
        let place = number.and_then(|number: usize| number.checked_sub(1)).filter(is_it);
        // Another version may have given other names.
        place.or_else(|| (0..self.questions.len()).find(is_it))
    }

    /// A question.
    #[must_use]
    pub fn question(&self, id: &QuestionId) -> Option<&Asked> {
        self.questions.get(self.place_of_question(id)?)
    }

    /// The call that a question is about: the one that waits, or the one whose outcome is unknown.
    #[must_use]
    pub fn call_of(&self, id: &QuestionId) -> Option<&FrozenCall> {
        let mut id = id;
        // Each asks about one that was asked before it.
        for _ in 0..=self.questions.len() {
            match &self.question(id)?.question.about {
                About::Operation { call, .. } => return Some(call),
                About::Unknown { question, .. } => id = question,
                _ => return None,
            }
        }
        None
    }

    /// Which gate asks about this.
    #[must_use]
    pub fn gate_of(&self, about: &About) -> GateKind {
        match about {
            About::Preview if self.is_plan_only() => GateKind::Review,
            About::Preview => GateKind::Preview,
            About::Policy { .. } | About::Changes { .. } | About::Operation { .. } => {
                GateKind::Operation
            }
            About::Failure { .. } => GateKind::Failure,
            About::Unknown { .. } => GateKind::Escalation,
        }
    }

    /// The questions that wait for an answer.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.tagged(tags::OPEN).map(|asked| &asked.question)
    }

    /// Whether a person has still to say whether the run may begin.
    #[must_use]
    pub fn is_previewing(&self) -> bool {
        self.questions.count(tags::PREVIEW) > 0
    }

    /// How many tasks may run at once: never fewer than one.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        let most = self.brief.as_ref().map_or(1, |brief| brief.settings.max_parallel.max(1));
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Whether everything that a task depends on is done.
    #[must_use]
    pub fn is_ready(&self, task: &TaskState) -> bool {
        task.planned.task.depends_on.iter().all(|on| self.task(on).is_some_and(TaskState::is_done))
    }

    /// How many tasks that are not over depend on this one, directly or not.
    #[must_use]
    pub fn dependents(&self, id: &TaskId) -> u64 {
        let open = |place| self.tasks.get(place).is_some_and(|task| !task.is_over());
        u64::try_from(self.graph.dependents_among(id, open).len()).unwrap_or(u64::MAX)
    }

    /// Whether a failed task waits for a person, so that nothing new begins.
    #[must_use]
    pub fn has_failure(&self) -> bool {
        self.tasks.count(tags::FAILED) > 0
    }

    /// What all attempts cost so far.
    #[must_use]
    pub fn spent(&self) -> Usd {
        self.tasks.iter().fold(Usd::ZERO, |sum, task| sum.plus(task.spent()))
    }

    /// The way that the next attempt of a task takes; nothing when there is none.
    #[must_use]
    pub fn next_route(&self, task: &TaskState) -> Option<Route> {
        next_route(self.brief.as_ref()?, self.gaps, task)
    }

    /// How many files and lines a task is expected to change: what the plan says, else the median of
    /// the tasks that were completed before it.
    #[must_use]
    pub fn expected(&self, id: &TaskId) -> (Option<u64>, Option<u64>) {
        let scope = self.task(id).map(|task| &task.planned.task.scope);
        let files = scope.and_then(|scope| scope.files).map(u64::from);
        let lines = scope.and_then(|scope| scope.lines).map(u64::from);
        let done = || self.tasks.iter().filter(|task| task.is_done() && task.id() != id);
        let median = |pick: fn(&(u64, u64)) -> u64| {
            let mut counts: Vec<u64> =
                done().filter_map(|task| task.touched.as_ref()).map(pick).collect();
            counts.sort_unstable();
            // Fewer than three are no measure.
            counts.get(counts.len() / 2).copied().filter(|_| counts.len() >= 3)
        };
        (files.or_else(|| median(|one| one.0)), lines.or_else(|| median(|one| one.1)))
    }
}

/// The way that the next attempt of a task takes; nothing when there is none.
pub(super) fn next_route(brief: &Brief, gaps: Gaps, task: &TaskState) -> Option<Route> {
    let settings = &brief.settings;
    let model = settings.model.then_some(Route::Model);
    if task.model_only {
        return model.filter(|_| task.failures == 0);
    }
    let agent = match &task.planned.assignment {
        Assignment::Agent { agent } => Some(Route::Agent { agent: agent.clone() }),
        Assignment::Gap { role, ad_hoc: Some(agent) } if gaps == Gaps::AdHoc => {
            Some(Route::AdHoc { agent: agent.clone(), role: role.clone() })
        }
        Assignment::Gap { .. } => None,
    };
    let tries = agent.as_ref().map_or(0, |_| settings.max_attempts.max(1));
    if task.failures < tries {
        return agent;
    }
    // A gap has nobody but the model; after an agent the policy says whether it is asked.
    let may = settings.fallback || agent.is_none();
    model.filter(|_| may && task.failures == tries)
}
