//! Puts a question to whoever is here, while it can be decided from everywhere else.

use std::sync::Arc;

use aurora_gate::approval::{Refused, Standing};
use aurora_model::{
    Answerer, ApprovalState, Choice, Decider, DeciderKind, Digest, Outcome, Question, QuestionId,
};

use super::Asker;
use crate::approvals::register::{carried, decider_of};
use crate::approvals::{Queue, Saying};
use crate::driver::{Stop, stop_pair};
use crate::error::{Error, Result};
use crate::machine::{Command, State};

/// What came of asking whoever is here.
pub(super) enum Here {
    /// It is closed.
    Closed(Box<Standing>),
    /// They are asked again.
    Again,
    /// Others must decide; whoever is here has had their say.
    Wait,
    /// Nobody is here who could answer.
    Nobody,
}

/// Whoever can be asked here, and where others decide.
pub struct Asking {
    /// Whoever is put questions to.
    pub asker: Arc<dyn Asker>,
    /// The queue; without it, only whoever is here can answer.
    pub queue: Option<Queue>,
    /// Whoever sits here, as the system knows them.
    pub person: Option<Decider>,
    /// The digest of the policy in force.
    pub policy: Digest,
}

impl Asking {
    /// Asks until the question is closed, here or elsewhere; nothing when nobody here can answer.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub async fn ask(
        &self,
        id: QuestionId,
        state: Arc<State>,
        mut stop: Stop,
    ) -> Result<Option<Command>> {
        let Some(asked) = state.question(&id) else { return Ok(None) };
        let question = &asked.question;
        let in_queue = match &self.queue {
            Some(queue) => queue.load(&id).await?.map(|it| (queue, it)),
            None => None,
        };
        let Some((queue, mut standing)) = in_queue else {
            // Asked before there was a queue.
            let answer = self.asker.ask(question, &state, stop).await;
            return Ok(answer.map(|(choice, answerer)| answer_of(&id, choice, answerer)));
        };
        loop {
            if let Some(command) = carried(&standing) {
                return Ok(Some(command));
            }
            match self.ask_here(queue, question, &standing, &state, &mut stop).await? {
                Here::Closed(closed) => return Ok(carried(&closed)),
                Here::Nobody => return Ok(None),
                Here::Wait => {
                    return tokio::select! {
                        biased;
                        () = stop.asked() => Ok(None),
                        closed = queue.closed(&id) => {
                            let closed = closed?;
                            self.asker.told_elsewhere(question, &by_whom(&closed));
                            Ok(carried(&closed))
                        }
                    };
                }
                Here::Again => {
                    let now = queue.load(&id).await?;
                    standing = now.ok_or_else(|| lost(&id))?;
                }
            }
        }
    }

    /// Asks whoever is here once, as long as nobody else decides.
    pub(super) async fn ask_here(
        &self,
        queue: &Queue,
        question: &Question,
        standing: &Standing,
        state: &Arc<State>,
        stop: &mut Stop,
    ) -> Result<Here> {
        let asker = &self.asker;
        let (stopper, stopped) = stop_pair();
        let mut asking = asker.ask(question, state, stopped);
        let answer = tokio::select! {
            biased;
            () = stop.asked() => {
                stopper.stop();
                asking.await;
                return Ok(Here::Nobody);
            }
            closed = queue.closed(&question.id) => {
                let closed = closed?;
                asker.told_elsewhere(question, &by_whom(&closed));
                stopper.stop();
                asking.await;
                return Ok(Here::Closed(Box::new(closed)));
            }
            answer = &mut asking => answer,
        };
        match answer {
            Some((choice, answerer)) => {
                self.decide_here(queue, question, standing, choice, &answerer).await
            }
            None => Ok(Here::Nobody),
        }
    }

    /// Decides in the name of whoever answered here. The queue says whether it counts.
    async fn decide_here(
        &self,
        queue: &Queue,
        question: &Question,
        standing: &Standing,
        choice: Choice,
        answerer: &Answerer,
    ) -> Result<Here> {
        let by = self.decider(answerer);
        let is_rule = by.kind == DeciderKind::Rule;
        if is_rule && question.needs_person {
            return Ok(Here::Nobody);
        }
        let saying = Saying {
            choice,
            by,
            seen: standing.request.digest.clone(),
            policy: self.policy.clone(),
            reason: answerer.reason.clone(),
        };
        let asker = &self.asker;
        let refused = match queue.decide(&question.id, &saying).await {
            Ok(after) if after.state == ApprovalState::Pending => {
                let votes = u32::try_from(after.votes.len()).unwrap_or(u32::MAX);
                let more = after.request.ruling.quorum.saturating_sub(votes);
                asker.told_elsewhere(
                    question,
                    &format!("your yes counts; {more} more must say yes"),
                );
                return Ok(Here::Wait);
            }
            Ok(after) => return Ok(Here::Closed(Box::new(after))),
            Err(Error::Request { refused, .. }) => refused,
            Err(error) => return Err(error),
        };
        match refused {
            Refused::Closed { .. } | Refused::Expired => {
                let closed = queue.closed(&question.id).await?;
                asker.told_elsewhere(question, &by_whom(&closed));
                Ok(Here::Closed(Box::new(closed)))
            }
            Refused::Outdated { .. } | Refused::NeedsReason | Refused::NoSuchChoice { .. } => {
                asker.told_elsewhere(question, &refused.to_string());
                Ok(Here::Again)
            }
            refused => {
                asker.told_elsewhere(question, &refused.to_string());
                Ok(if is_rule { Here::Nobody } else { Here::Wait })
            }
        }
    }

    /// Whoever sits here decides in their own name, whatever a screen calls them.
    fn decider(&self, answerer: &Answerer) -> Decider {
        let said = decider_of(answerer);
        match (said.kind, &self.person) {
            (DeciderKind::Person, Some(person)) => {
                Decider { surface: said.surface, ..person.clone() }
            }
            _ => said,
        }
    }
}

fn answer_of(question: &QuestionId, choice: Choice, answerer: Answerer) -> Command {
    Command::Answer { question: question.clone(), choice, answerer }
}

fn lost(id: &QuestionId) -> Error {
    Error::Lost { what: format!("{id} is not in the queue any more") }
}

/// Who closed a request, and how, in one line.
fn by_whom(standing: &Standing) -> String {
    let Some(decision) = &standing.decision else {
        let how = standing.state.name().replace('_', " ");
        let why = standing.reason.as_deref().unwrap_or_default();
        return if why.is_empty() { how } else { format!("{how}: {why}") };
    };
    let how = match decision.outcome {
        Outcome::Approved => "approved",
        Outcome::Denied => "denied",
        Outcome::ChangesRequested => "sent back",
    };
    let (choice, by) = (decision.choice.name().replace('_', " "), &decision.by);
    let said = decision.reason.as_deref().filter(|said| !said.trim().is_empty());
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    format!("{how} ({choice}) by {} ({}){said}", by.name, by.surface.name())
}
