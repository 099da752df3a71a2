//! The life of one request as a state machine: what a command leads to, what an event changes, when
//! the clock has a say. Every edge is here, and there is no other.

mod apply;
mod clock;
mod refused;
#[cfg(test)]
mod tests;

use aurora_model::{
    ActionType, Answer, ApprovalEvent, ApprovalState, Choice, Decider, DeciderKind, Decision,
    Digest, Outcome, Reason, Request, Subject, Tier, Timestamp, Who,
};

pub use apply::apply;
pub use clock::{Moments, moments, next_wake};
pub use refused::Refused;

use super::risk::is_for_people;
use super::{digest, options};

/// How a request stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The request; its subject is the one that was edited last.
    pub request: Request,
    /// Its state.
    pub state: ApprovalState,
    /// How often it was edited, counted from 1.
    pub version: u32,
    /// How dangerous it was when it was asked: who may decide, and until when, was chosen for that.
    pub asked_tier: Tier,
    /// Who said yes so far, each once.
    pub votes: Vec<Decision>,
    /// The decision that counted.
    pub decision: Option<Decision>,
    /// Why it ended without a decision.
    pub reason: Option<String>,
    /// Who may decide by now; nobody named means every person.
    pub deciders: Vec<Who>,
    /// How many steps it was escalated.
    pub step: u32,
    /// When the last step was taken; when it was asked, before the first.
    pub step_at: Timestamp,
    /// How often people were reminded.
    pub reminders: u32,
    /// When people heard of it last.
    pub told_at: Timestamp,
    /// For which expiry people were warned last, and when.
    pub warned: Option<(Timestamp, Timestamp)>,
    /// Who is doing it or has done it.
    pub executor: Option<String>,
    /// What came of it, kept beside the log.
    pub result: Option<Digest>,
    /// When it was decided or ended.
    pub closed_at: Option<Timestamp>,
    /// When the last event was recorded. Time never goes back for a request.
    pub last_at: Timestamp,
    /// How many events led here.
    pub records: u64,
}

/// What can be said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Put it into the queue.
    Open(Box<Request>),
    /// Decide it.
    Decide {
        /// The option.
        choice: Choice,
        /// Who.
        by: Decider,
        /// The digest of what they saw.
        seen: Digest,
        /// The digest of the policy in force.
        policy: Digest,
        /// Why.
        reason: Option<String>,
    },
    /// Change what would be done, and say yes to that.
    Edit(Box<Edit>),
    /// The clock may have something to say.
    Wake,
    /// Nobody needs to decide any more.
    Cancel {
        /// Why.
        reason: String,
    },
    /// What it would be done to is not as it was: nothing may be done by this request any more.
    Changed {
        /// The digest of what it would be now, where it could be told.
        found: Option<Digest>,
        /// What differs.
        reason: String,
    },
    /// It is about to be done.
    Reserve {
        /// By whom.
        executor: String,
        /// The digest of what would be done, resolved again just now.
        digest: Digest,
    },
    /// It was done.
    Executed {
        /// By whom.
        executor: String,
        /// What came of it.
        result: Option<Digest>,
        /// In one line.
        summary: String,
    },
    /// It was tried, and failed.
    Failed {
        /// By whom.
        executor: String,
        /// What came of it.
        result: Option<Digest>,
        /// What went wrong.
        error: String,
    },
    /// Whoever was doing it is gone.
    Lost {
        /// What is known.
        reason: String,
    },
}

/// What would be done instead, judged by the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Who.
    pub by: Decider,
    /// The digest of what they saw before.
    pub seen: Digest,
    /// The digest of the policy in force.
    pub policy: Digest,
    /// Why.
    pub reason: Option<String>,
    /// What would be done now.
    pub subject: Subject,
    /// The SHA-256 of its canonical JSON.
    pub digest: Digest,
    /// What the gate says about it.
    pub verdict: Answer,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What would happen now, in words.
    pub effects: Vec<String>,
    /// What kinds of action that is.
    pub actions: Vec<ActionType>,
    /// How dangerous it is.
    pub tier: Tier,
    /// What it is now, in one line; nothing where that stays as it was.
    pub title: Option<String>,
}

/// What a command leads to. Nothing when the clock has nothing to say yet.
///
/// # Errors
/// When the command does not fit, with what whoever said it should be told.
pub fn decide(
    standing: Option<&Standing>,
    command: &Command,
    now: Timestamp,
) -> Result<Vec<ApprovalEvent>, Refused> {
    let standing = match (standing, command) {
        (None, Command::Open(request)) => {
            return Ok(vec![ApprovalEvent::Requested { request: request.clone() }]);
        }
        (None, _) => return Err(Refused::Unknown),
        (Some(standing), Command::Open(_)) => return Err(Refused::closed(standing)),
        (Some(standing), _) => standing,
    };
    match command {
        Command::Open(_) => Err(Refused::closed(standing)),
        Command::Decide { choice, by, seen, policy, reason } => {
            may_decide(standing, by, seen, now)?;
            if !standing.request.options.contains(choice) {
                let options = standing.request.options.iter().map(|one| one.name()).collect();
                return Err(Refused::NoSuchChoice { choice: choice.name(), options });
            }
            let decision = Decision {
                outcome: choice.outcome(),
                choice: *choice,
                by: by.clone(),
                seen: seen.clone(),
                policy: policy.clone(),
                reason: reason.clone(),
            };
            Ok(vec![decided(standing, &standing.votes, decision)?])
        }
        Command::Edit(edit) => edited(standing, edit, now),
        Command::Wake => Ok(clock::wake(standing, now)),
        Command::Cancel { reason } => match standing.state {
            ApprovalState::Pending | ApprovalState::Approved => {
                Ok(vec![ApprovalEvent::Cancelled { reason: reason.clone() }])
            }
            _ => Err(Refused::closed(standing)),
        },
        Command::Changed { found, reason } => changed(standing, found.as_ref(), reason),
        Command::Reserve { executor, digest } => reserve(standing, executor, digest),
        Command::Executed { executor, result, summary } => {
            reserved_by(standing, executor)?;
            let (result, summary) = (result.clone(), summary.clone());
            Ok(vec![ApprovalEvent::Executed { result, summary }])
        }
        Command::Failed { executor, result, error } => {
            reserved_by(standing, executor)?;
            let (result, error) = (result.clone(), error.clone());
            Ok(vec![ApprovalEvent::Failed { result, error }])
        }
        Command::Lost { reason } => match standing.state {
            ApprovalState::Reserved => {
                Ok(vec![ApprovalEvent::OutcomeUnknown { reason: reason.clone() }])
            }
            _ => Err(Refused::closed(standing)),
        },
    }
}

/// Whether somebody may decide this, now, having seen that.
fn may_decide(
    standing: &Standing,
    by: &Decider,
    seen: &Digest,
    now: Timestamp,
) -> Result<(), Refused> {
    let not = |why: String| Err(Refused::NotAllowed { why });
    if by.kind == DeciderKind::Agent {
        return not("an agent can never decide".to_owned());
    }
    if standing.state != ApprovalState::Pending {
        return Err(Refused::closed(standing));
    }
    if clock::ends(standing, now) {
        return Err(Refused::Expired);
    }
    let asks = &standing.request.requester;
    let own = asks.person.as_deref() == Some(by.name.as_str())
        || asks.agent.as_ref().is_some_and(|agent| agent.as_str() == by.name);
    if own {
        return not(format!("{} asked for it and cannot decide it", by.name));
    }
    let open = standing.deciders.is_empty();
    if !open && !standing.deciders.iter().any(|who| who.includes(by)) {
        let who: Vec<String> = standing.deciders.iter().map(ToString::to_string).collect();
        return not(format!("{} may not decide it; {} may", by.name, who.join(", ")));
    }
    let request = &standing.request;
    let for_people = !open || request.ruling.quorum > 1;
    if by.kind == DeciderKind::Rule && (for_people || is_for_people(request.tier, &request.actions))
    {
        return not(format!("people must decide it, and {} is nobody", by.name));
    }
    if *seen != standing.request.digest {
        return Err(Refused::Outdated { current: standing.request.digest.clone() });
    }
    Ok(())
}

/// A yes counts when it is the last that was needed; a no counts at once.
fn decided(
    standing: &Standing,
    votes: &[Decision],
    decision: Decision,
) -> Result<ApprovalEvent, Refused> {
    match decision.outcome {
        Outcome::Denied => return Ok(ApprovalEvent::Decided { decision }),
        Outcome::ChangesRequested => {
            let said = decision.reason.as_deref().is_some_and(|reason| !reason.trim().is_empty());
            return if said {
                Ok(ApprovalEvent::Decided { decision })
            } else {
                Err(Refused::NeedsReason)
            };
        }
        Outcome::Approved => {}
    }
    let own = |vote: &&Decision| vote.by.name == decision.by.name;
    let needed = missing(standing, votes, &decision);
    if votes.iter().find(own).is_some_and(|vote| vote.choice == decision.choice) {
        return Err(Refused::VotedBefore { needed });
    }
    if needed > 1 {
        return Ok(ApprovalEvent::Voted { decision });
    }
    Ok(ApprovalEvent::Decided { decision })
}

/// How many must say this yes, who have not said it yet. Two who want different things have not agreed.
fn missing(standing: &Standing, votes: &[Decision], decision: &Decision) -> u32 {
    let agree = votes.iter().filter(|vote| vote.choice == decision.choice).count();
    let agree = u32::try_from(agree).unwrap_or(u32::MAX);
    standing.request.ruling.quorum.max(1).saturating_sub(agree)
}

fn edited(standing: &Standing, edit: &Edit, now: Timestamp) -> Result<Vec<ApprovalEvent>, Refused> {
    may_decide(standing, &edit.by, &edit.seen, now)?;
    let Some(choice) = options::yes_of(&standing.request) else {
        return Err(Refused::CannotEdit { why: "there is nothing to edit in it".to_owned() });
    };
    if edit.verdict == Answer::Deny {
        return Err(Refused::Forbidden { reasons: edit.reasons.clone() });
    }
    if let Some(why) = not_this_request(standing, edit) {
        return Err(Refused::CannotEdit { why });
    }
    let event = ApprovalEvent::Edited {
        by: edit.by.clone(),
        subject: Box::new(edit.subject.clone()),
        digest: edit.digest.clone(),
        reasons: edit.reasons.clone(),
        effects: edit.effects.clone(),
        actions: edit.actions.clone(),
        tier: edit.tier,
        title: edit.title.clone(),
    };
    let decision = Decision {
        outcome: choice.outcome(),
        choice,
        by: edit.by.clone(),
        seen: edit.digest.clone(),
        policy: edit.policy.clone(),
        reason: edit.reason.clone(),
    };
    Ok(vec![event, decided(standing, &[], decision)?])
}

/// Why what it was edited to is no version of this request: those who may decide this one might not be
/// those who may decide that.
fn not_this_request(standing: &Standing, edit: &Edit) -> Option<String> {
    let (old, new) = (&standing.request.subject, &edit.subject);
    let whose =
        |one: &Subject| (one.project.clone(), one.run.clone(), one.task.clone(), one.agent.clone());
    if whose(old) != whose(new) {
        return Some("it would be done in another place or by somebody else".to_owned());
    }
    if edit.digest != digest::digest_of(new) || edit.tier != new.tier {
        return Some("what was judged is not what would be done".to_owned());
    }
    if edit.digest == standing.request.digest {
        return Some("nothing in it was changed".to_owned());
    }
    let asked = standing.asked_tier;
    if edit.tier > asked {
        let (now, was) = (edit.tier.name(), asked.name());
        return Some(format!("it would be {now} instead of {was}, and must be asked anew"));
    }
    let more = edit.actions.iter().find(|one| !standing.request.actions.contains(one))?;
    let as_dangerous = edit.tier == asked;
    as_dangerous.then(|| format!("it would also be {more}, and must be asked anew"))
}

fn changed(
    standing: &Standing,
    found: Option<&Digest>,
    reason: &str,
) -> Result<Vec<ApprovalEvent>, Refused> {
    match standing.state {
        ApprovalState::Pending | ApprovalState::Approved => {}
        _ => return Err(Refused::closed(standing)),
    }
    if found == Some(&standing.request.digest) {
        return Ok(Vec::new());
    }
    let reason = reason.to_owned();
    Ok(vec![ApprovalEvent::Stale { found: found.cloned(), reason }])
}

fn reserve(
    standing: &Standing,
    executor: &str,
    digest: &Digest,
) -> Result<Vec<ApprovalEvent>, Refused> {
    if standing.state != ApprovalState::Approved {
        return Err(Refused::closed(standing));
    }
    if *digest != standing.request.digest {
        let reason = "what would be done is not what was approved".to_owned();
        return Ok(vec![ApprovalEvent::Stale { found: Some(digest.clone()), reason }]);
    }
    Ok(vec![ApprovalEvent::Reserved { executor: executor.to_owned() }])
}

fn reserved_by(standing: &Standing, executor: &str) -> Result<(), Refused> {
    let is_it = standing.executor.as_deref() == Some(executor);
    if standing.state == ApprovalState::Reserved && is_it {
        return Ok(());
    }
    Err(Refused::closed(standing))
}
