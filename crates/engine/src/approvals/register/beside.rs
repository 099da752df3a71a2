//! What is appended to requests together with what a run records.

use aurora_gate::approval::{Command as Say, Refused, Standing, apply as apply_to, decide};
use aurora_model::{
    Answerer, ApprovalEvent, ApprovalState, Choice, Decider, DeciderKind, Digest, Event,
    QuestionId, Request, Surface, Timestamp,
};
use aurora_store::Append;

use super::super::{Queue, refusal};
use super::Registrar;
use crate::error::Result;
use crate::machine::{Command, State, apply};

/// How often it is tried to cancel what others write to.
const CANCEL_RETRIES: usize = 100;

/// What goes beside a run's events.
pub(crate) enum Beside {
    /// These appends, in the same moment.
    Appends(Vec<Append>),
    /// A question was decided elsewhere in another way: that must be told first.
    First(Command),
}

/// What a batch of a run's events says about its requests.
#[derive(Default)]
struct Said {
    opened: Vec<(Request, Option<(Choice, Answerer)>)>,
    answered: Vec<(QuestionId, Choice, Answerer)>,
    closed: Vec<(QuestionId, String)>,
}

/// Finds what goes beside a run's events. Without a registrar nothing is put into the queue, but what
/// is there already is decided there as well.
pub(crate) struct Besides<'a> {
    pub queue: &'a Queue,
    pub registrar: Option<&'a Registrar>,
}

impl Besides<'_> {
    /// What goes beside these events, which follow this state.
    pub(crate) async fn of(
        &self,
        state: &State,
        events: &[Event],
        now: Timestamp,
    ) -> Result<Beside> {
        let said = self.said(state, events, now);
        let mut appends = Vec::new();
        for (request, answer) in said.opened {
            appends.push(self.opening(request, answer.as_ref(), now)?);
        }
        for (id, choice, answerer) in said.answered {
            let Some(standing) = self.queue.load(&id).await? else { continue };
            if standing.state == ApprovalState::Pending {
                let by = self.decider(&answerer);
                let events = closing(&standing, choice, by, answerer.reason, now)
                    .map_err(|refused| refusal(&id, refused))?;
                appends.push(self.queue.following(&id, Some(&standing), &events, now)?);
                continue;
            }
            match carried(&standing) {
                Some(Command::Answer { choice: other, .. }) if other == choice => {}
                Some(first) => return Ok(Beside::First(first)),
                None => {}
            }
        }
        for (id, reason) in said.closed {
            let Some(standing) = self.queue.load(&id).await? else { continue };
            match carried(&standing) {
                Some(Command::Closed { .. }) => {}
                Some(first) => return Ok(Beside::First(first)),
                None => {
                    let cancelled = [ApprovalEvent::Cancelled { reason }];
                    appends.push(self.queue.following(&id, Some(&standing), &cancelled, now)?);
                }
            }
        }
        Ok(Beside::Appends(appends))
    }

    fn said(&self, state: &State, events: &[Event], now: Timestamp) -> Said {
        let mut said = Said::default();
        let mut next = state.clone();
        for event in events {
            apply(&mut next, event);
            match event {
                Event::QuestionAsked { question } => {
                    let request = self.registrar.map(|one| one.request(question, &next, now));
                    said.opened.extend(request.map(|request| (request, None)));
                }
                Event::QuestionAnswered { question, choice, answerer } => {
                    let opened = said.opened.iter_mut().find(|(one, _)| one.id == *question);
                    match opened {
                        Some((_, answer)) => *answer = Some((*choice, answerer.clone())),
                        None => said.answered.push((question.clone(), *choice, answerer.clone())),
                    }
                }
                Event::QuestionClosed { question, reason, .. } => {
                    said.closed.push((question.clone(), reason.clone()));
                }
                _ => {}
            }
        }
        said
    }

    /// The opening of a request, and its decision where a rule decided it in the same moment.
    fn opening(
        &self,
        request: Request,
        answer: Option<&(Choice, Answerer)>,
        now: Timestamp,
    ) -> Result<Append> {
        let Some((choice, answerer)) = answer else { return self.queue.opening(&request) };
        let id = request.id.clone();
        let by = self.decider(answerer);
        let opened = ApprovalEvent::Requested { request: Box::new(request) };
        let standing = apply_to(None, &opened, now).ok_or(Refused::Unknown);
        // What the rules do not take from a flag is refused, whoever let the flag answer: nothing
        // relaxes them, and nothing is recorded.
        let reason = answerer.reason.clone();
        let closing = standing.and_then(|standing| closing(&standing, *choice, by, reason, now));
        let closing = closing.map_err(|refused| refusal(&id, refused))?;
        let events: Vec<_> = std::iter::once(opened).chain(closing).collect();
        self.queue.following(&id, None, &events, now)
    }

    fn decider(&self, answerer: &Answerer) -> Decider {
        let mut by = decider_of(answerer);
        if let Some(registrar) = self.registrar {
            by.roles = registrar.rules.roles_of(&by.name);
        }
        by
    }
}

impl Queue {
    /// Says that nobody needs to decide a request any more, as far as that can still be said.
    pub(crate) async fn cancel(&self, id: &QuestionId, reason: &str, now: Timestamp) -> Result<()> {
        for _ in 0..CANCEL_RETRIES {
            let Some(standing) = self.load(id).await? else { return Ok(()) };
            let cancel = Say::Cancel { reason: reason.to_owned() };
            let Ok(events) = decide(Some(&standing), &cancel, now) else { return Ok(()) };
            let append = self.following(id, Some(&standing), &events, now)?;
            match self.store.append(append).await {
                Ok(_) => return Ok(()),
                Err(aurora_store::Error::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// What decides a request with one answer. A yes that is not enough decides nothing.
fn closing(
    standing: &Standing,
    choice: Choice,
    by: Decider,
    reason: Option<String>,
    now: Timestamp,
) -> std::result::Result<Vec<ApprovalEvent>, Refused> {
    let seen = standing.request.digest.clone();
    let policy: Digest = standing.request.subject.policy.clone();
    let say = Say::Decide { choice, by, seen, policy, reason };
    let events = decide(Some(standing), &say, now)?;
    if events.iter().any(|event| matches!(event, ApprovalEvent::Decided { .. })) {
        return Ok(events);
    }
    let needed = standing.request.ruling.quorum;
    Err(Refused::NotAllowed { why: format!("{needed} people must say yes to it") })
}

/// What the run is told of a request that is not pending any more.
#[must_use]
pub fn carried(standing: &Standing) -> Option<Command> {
    let question = standing.request.id.clone();
    match standing.state {
        ApprovalState::Pending => None,
        how @ (ApprovalState::TimedOut | ApprovalState::Cancelled | ApprovalState::Stale) => {
            let reason = standing.reason.clone().unwrap_or_default();
            Some(Command::Closed { question, how, reason })
        }
        _ => standing.decision.as_ref().map(|decision| {
            let answerer = Answerer {
                by: decision.by.name.clone(),
                surface: decision.by.surface.name().to_owned(),
                reason: decision.reason.clone(),
            };
            Command::Answer { question, choice: decision.choice, answerer }
        }),
    }
}

/// Whoever answered, as one who decides.
#[must_use]
pub fn decider_of(answerer: &Answerer) -> Decider {
    let all = [
        Surface::Terminal,
        Surface::Command,
        Surface::Http,
        Surface::Page,
        Surface::Flag,
        Surface::Environment,
        Surface::Timeout,
    ];
    let named = all.into_iter().find(|surface| surface.name() == answerer.surface);
    let surface = named.unwrap_or(Surface::Command);
    let kind = match surface {
        Surface::Flag | Surface::Environment | Surface::Timeout => DeciderKind::Rule,
        _ => DeciderKind::Person,
    };
    Decider { name: answerer.by.clone(), kind, roles: Vec::new(), surface }
}
