//! Where a run stands, in the words of its screens.

use std::collections::BTreeMap;
use std::time::Instant;

use aurora_engine::machine::{Doing, State, TaskState, TaskStatus};
use aurora_model::{
    About, ApprovalState, Assignment, Brief, Planned, Question, Route, SkipWhy, TaskId,
};

use crate::output::changes::count;
use crate::output::failure::{Failed, Gated};
use crate::output::operation::Operation;
use crate::output::progress_panel::{Progress, Running};
use crate::output::request::{self, Item};
use crate::output::review::{Decomposition, Preview, TaskLine};
use crate::output::summary;
use crate::wiring::repo::Repo;
use crate::wiring::workspace::now;
use crate::wiring::{place, words};

/// What is known besides the state: when attempts began here, and what agents say.
#[derive(Default)]
pub struct Moving {
    /// When the attempt of each running task began.
    pub begun: BTreeMap<TaskId, Instant>,
    /// The last lines of what each task's agent said.
    pub said: BTreeMap<TaskId, Vec<String>>,
}

/// The tasks that are about to be run.
pub fn preview(brief: &Brief, uncommitted: u64, notes: Vec<String>) -> Preview {
    Preview {
        goal: brief.goal.clone(),
        tasks: brief.tasks.iter().map(task_line).collect(),
        max_parallel: brief.settings.max_parallel,
        place: brief.place.branch.clone().unwrap_or_else(|| brief.place.feature.clone()),
        uncommitted,
        notes,
    }
}

/// The parts of a goal that are about to be written down.
pub fn decomposition(brief: &Brief) -> Decomposition {
    let subgoals: Vec<TaskLine> = brief.tasks.iter().map(task_line).collect();
    let gaps = subgoals.iter().any(|task| task.gap);
    let lacks = gaps && !brief.settings.model;
    let note = "no model is configured: a gap has only an ad-hoc agent to try".to_owned();
    let notes = if lacks { vec![note] } else { Vec::new() };
    let subgoals = subgoals.into_iter().map(|task| TaskLine { apart_from: Vec::new(), ..task });
    Decomposition { goal: brief.goal.clone(), subgoals: subgoals.collect(), notes }
}

/// One task of a review or a preview.
pub fn task_line(planned: &Planned) -> TaskLine {
    let (agent, gap) = assigned(planned);
    let task = &planned.task;
    TaskLine {
        id: task.id.to_string(),
        title: task.title.clone(),
        agent,
        gap,
        done: task.done,
        after: task.depends_on.iter().map(ToString::to_string).collect(),
        apart_from: planned.apart_from.iter().map(ToString::to_string).collect(),
        paths: task.scope.paths.clone(),
        files: task.scope.files,
        lines: task.scope.lines,
    }
}

/// Who is asked for, and whether nobody has that name.
pub fn assigned(planned: &Planned) -> (String, bool) {
    match &planned.assignment {
        Assignment::Agent { agent } => (agent.to_string(), false),
        Assignment::Gap { role, .. } => (role.to_string(), true),
    }
}

/// Who works on a route.
pub fn worker(route: &Route) -> String {
    match route {
        Route::Agent { agent } => agent.to_string(),
        Route::AdHoc { agent, role } => format!("{agent} as {role}"),
        Route::Model => "model".to_owned(),
    }
}

/// How many tasks are done, of how many.
pub fn done_of(state: &State) -> (usize, usize) {
    (state.tasks.iter().filter(|task| task.is_done()).count(), state.tasks.len())
}

/// The panel of a run that is going on.
pub fn progress(state: &State, moving: &Moving, note: &str) -> Progress {
    let (completed, total) = done_of(state);
    let count =
        |is: fn(&TaskStatus) -> bool| state.tasks.iter().filter(|task| is(&task.status)).count();
    let most = state.brief.as_ref().map_or(1, |brief| brief.settings.max_attempts);
    let cost = Some(state.spent()).filter(|spent| spent.micros > 0);
    Progress {
        parent: state.brief.as_ref().map(|brief| brief.goal.clone()).unwrap_or_default(),
        completed,
        total,
        failed: count(|status| matches!(status, TaskStatus::Failed { .. })),
        skipped: state.tasks.iter().filter(|task| task.is_over() && !task.is_done()).count(),
        parked: count(|status| {
            matches!(
                status,
                TaskStatus::Gated { .. } | TaskStatus::Parked { .. } | TaskStatus::Held { .. }
            )
        }),
        running: state.tasks.iter().filter_map(|task| running(task, moving, most)).collect(),
        cost: cost.map(|cost| cost.to_string()).unwrap_or_default(),
        note: note.to_owned(),
    }
}

fn running(task: &TaskState, moving: &Moving, most: u32) -> Option<Running> {
    let TaskStatus::Busy { doing, .. } = task.status else { return None };
    let attempt = task.attempts.last()?;
    let last = match doing {
        Doing::Attempting => {
            moving.said.get(task.id()).and_then(|lines| lines.last()).cloned().unwrap_or_default()
        }
        Doing::Checking => "looking at what it changed".to_owned(),
        Doing::Adopting => "taking over what it changed".to_owned(),
    };
    let seconds = moving.begun.get(task.id()).map_or(0, |begun| begun.elapsed().as_secs());
    Some(Running {
        title: task.planned.task.title.clone(),
        agent: worker(&attempt.route),
        gap: matches!(attempt.route, Route::AdHoc { .. }),
        fallback: attempt.route.is_fallback(),
        attempt: (task.failures.saturating_add(1), most),
        seconds,
        last,
    })
}

/// A failure as it is put to a person.
pub fn failed(state: &State, question: &Question, moving: &Moving) -> Option<Failed> {
    let About::Failure { task, error, dependents } = &question.about else { return None };
    let said = moving.said.get(task).cloned().unwrap_or_default();
    let task = state.task(task)?;
    let (agent, gap) = assigned(&task.planned);
    let (completed, total) = done_of(state);
    let remaining = state.tasks.iter().filter(|other| !other.is_over() && other.id() != task.id());
    Some(Failed {
        parent: state.brief.as_ref().map(|brief| brief.goal.clone()).unwrap_or_default(),
        title: task.planned.task.title.clone(),
        agent,
        gap,
        error: first_line(error),
        attempt: None,
        output: said,
        completed,
        total,
        remaining: remaining.count(),
        dependents: usize::try_from(*dependents).unwrap_or(usize::MAX),
    })
}

/// What the policy asks about, as it is put to a person.
pub fn gated(state: &State, question: &Question) -> Option<Gated> {
    let shown = match &question.about {
        About::Policy { reasons, .. } => Gated { reasons: reasons.clone(), ..Gated::default() },
        About::Changes { reasons, files, lines, paths, place, .. } => Gated {
            reasons: reasons.clone(),
            changed: Some((*files, *lines)),
            paths: paths.clone(),
            place: place.clone(),
            look: look(state, question),
            ..Gated::default()
        },
        About::Preview
        | About::Failure { .. }
        | About::Operation { .. }
        | About::Unknown { .. } => return None,
    };
    let id = question.about.task()?;
    let task = state.task(id)?;
    let (agent, gap) = assigned(&task.planned);
    Some(Gated {
        parent: state.brief.as_ref().map(|brief| brief.goal.clone()).unwrap_or_default(),
        title: task.planned.task.title.clone(),
        agent,
        gap,
        dependents: usize::try_from(state.dependents(id)).unwrap_or(usize::MAX),
        ..shown
    })
}

/// A call that needs a yes, or of which nobody knows whether it was made, as it is put to a person.
pub fn operation(state: &State, question: &Question, item: Option<&Item>) -> Option<Operation> {
    let (call, unknown) = match &question.about {
        About::Operation { call, .. } => (call.as_ref(), None),
        About::Unknown { question, what, .. } => (state.call_of(question)?, Some(what.clone())),
        _ => return None,
    };
    let task = state.task(question.about.task()?)?;
    let kinds: Vec<&str> = call.actions.iter().map(aurora_model::ActionType::as_str).collect();
    let risk = format!("{} ({})", call.tier.name(), kinds.join(", "));
    let narrow = |item: &&Item| !item.deciders.is_empty() || item.request.ruling.quorum > 1;
    Some(Operation {
        parent: state.brief.as_ref().map(|brief| brief.goal.clone()).unwrap_or_default(),
        title: task.planned.task.title.clone(),
        agent: call.agent.to_string(),
        autonomy: call.autonomy.name().to_owned(),
        risk: risk.trim_end_matches(" ()").to_owned(),
        call: call.title.clone(),
        tool: call.tool.clone(),
        args: call.args.clone(),
        effects: call.effects.clone(),
        reasons: call.reasons.clone(),
        on_no: item.map(|item| item.request.on_no.clone()).unwrap_or_default(),
        deciders: item.filter(narrow).map(request::deciders),
        no_reply: item.map(|item| request::when_nobody_decides(item, now())),
        claimed: call.claimed.clone(),
        unknown,
    })
}

/// The command that shows exactly what would be taken over, new files too and whatever became of
/// the files since.
pub fn look(state: &State, question: &Question) -> Option<String> {
    let About::Changes { task, .. } = &question.about else { return None };
    let attempt = state.task(task)?.attempts.last()?;
    let (base, result) = (attempt.base.as_ref()?, attempt.result.as_ref()?);
    let kept = Repo::find(&place::cwd()?)?.kept_objects();
    let kept = words::quote(&kept.to_string_lossy());
    Some(format!("git --git-dir={kept} diff {base} {result}"))
}

/// A question in one line.
pub fn sentence(state: &State, question: &Question) -> String {
    let title = question.about.task().and_then(|task| state.task(task));
    let title = title.map(|task| format!(" ({})", task.planned.task.title)).unwrap_or_default();
    let many = |number: u64, what| count(usize::try_from(number).unwrap_or(usize::MAX), what);
    match &question.about {
        About::Preview if state.is_plan_only() => {
            let subgoals = count(state.tasks.len(), "subgoal");
            format!("may this goal be written down as a plan, with {subgoals}?")
        }
        About::Preview => {
            format!("may this run begin, with {}?", count(state.tasks.len(), "task"))
        }
        About::Policy { task, .. } => format!("may {task}{title} begin?"),
        About::Operation { task, call } => {
            format!("may {} in {task}{title}: {}?", call.agent, call.title)
        }
        About::Unknown { task, what, .. } => {
            format!("what became of this in {task}{title}: {what}")
        }
        About::Changes { task, files, lines, .. } => {
            let (files, lines) = (many(*files, "file"), many(*lines, "line"));
            format!("may what {task}{title} changed be taken over: {files}, {lines}?")
        }
        About::Failure { task, error, dependents, .. } => {
            let depend = match dependents {
                0 => String::new(),
                1 => "; 1 task depends on it".to_owned(),
                more => format!("; {more} tasks depend on it"),
            };
            format!("{task}{title} failed: {}{depend}", first_line(error))
        }
    }
}

/// How a question is answered from elsewhere.
pub fn how_to_answer(question: &Question) -> String {
    let options: Vec<&str> = question.options.iter().map(|choice| choice.name()).collect();
    format!("aur approvals answer {} {}", question.id, options.join("|"))
}

/// What became of a task.
pub fn ended(task: &TaskState) -> summary::Ended {
    use summary::Status;
    let last = task.attempts.last();
    let (status, why) = match &task.status {
        TaskStatus::Completed { .. } => (Status::Completed, String::new()),
        TaskStatus::Skipped { why: SkipWhy::Done {} } => (Status::Before, String::new()),
        TaskStatus::Skipped { why } => (Status::Skipped, first_line(&skipped_why(why))),
        TaskStatus::Denied { because } => (Status::Denied, first_line(because)),
        TaskStatus::Failed { error, .. } => (Status::Failed, first_line(error)),
        TaskStatus::Gated { .. } => (Status::Asked, "whether it may begin".to_owned()),
        TaskStatus::Parked { .. } => (Status::Asked, "whether its calls may be made".to_owned()),
        TaskStatus::Held { .. } => (Status::Asked, "whether its changes are taken over".to_owned()),
        TaskStatus::Busy { .. } => (Status::Interrupted, String::new()),
        TaskStatus::Waiting | TaskStatus::Cleared if last.is_some() => {
            (Status::Interrupted, String::new())
        }
        TaskStatus::Waiting | TaskStatus::Cleared => (Status::Pending, String::new()),
    };
    let checkpoint = match &task.status {
        TaskStatus::Completed { checkpoint, .. } => checkpoint.as_ref().map(ToString::to_string),
        _ => None,
    };
    let millis: u64 = task.attempts.iter().map(|attempt| attempt.millis).sum();
    let spent = Some(task.spent()).filter(|spent| spent.micros > 0);
    // Once somebody took the role, they are named with it.
    let (agent, gap) =
        last.map_or_else(|| assigned(&task.planned), |last| (worker(&last.route), false));
    summary::Ended {
        title: task.planned.task.title.clone(),
        status,
        agent,
        gap,
        fallback: last.is_some_and(|last| last.route.is_fallback()),
        seconds: last.map(|_| millis / 1000),
        checkpoint,
        cost: spent.map(|spent| spent.to_string()).unwrap_or_default(),
        why,
    }
}

/// Why a task was left out, in words.
pub fn skipped_why(why: &SkipWhy) -> String {
    match why {
        SkipWhy::Answered { error } => error.clone(),
        SkipWhy::Dependency { on } => format!("depends on {on}, which was not done"),
        SkipWhy::Done {} => "done before".to_owned(),
        SkipWhy::Unanswered { how, reason } => match how {
            ApprovalState::TimedOut => format!("nobody decided in time: {reason}"),
            how => format!("the question was closed ({}): {reason}", how.name()),
        },
    }
}

/// The first line of a text that may have more.
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() { format!("{first} …") } else { first }
}
