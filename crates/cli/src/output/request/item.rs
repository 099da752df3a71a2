//! One request as the commands see it, whether it was read from the log or told by a server.

use aurora_gate::approval::Standing;
use aurora_gate::approval::lifecycle::moments;
use aurora_gate::approval::timeout::{self, Due, View};
use aurora_model::{
    About, ApprovalEvent, ApprovalState, Decision, QuestionId, Request, Timestamp, Who,
};
use serde_json::{Value, json};

/// One request, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The request.
    pub request: Request,
    /// Its state.
    pub state: ApprovalState,
    /// How often it was edited, counted from 1.
    pub version: u32,
    /// Who said yes so far.
    pub votes: Vec<Decision>,
    /// The decision that counted.
    pub decision: Option<Decision>,
    /// Why it ended without a decision, or what came of it.
    pub reason: Option<String>,
    /// Who may decide by now; nobody named means every person.
    pub deciders: Vec<Who>,
    /// How many steps it was escalated.
    pub step: u32,
    /// When the last step was taken, or when it was asked.
    pub step_at: Timestamp,
    /// When people were warned of its end.
    pub warned_at: Option<Timestamp>,
    /// When it ends if nobody decides, as things stand.
    pub expires_at: Option<Timestamp>,
    /// When it was decided or ended.
    pub closed_at: Option<Timestamp>,
    /// Whether all of it is known, and not only what a list tells.
    pub whole: bool,
}

/// What happens when nobody decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// It waits for as long as it takes.
    Waits,
    /// It ends.
    Ends(Timestamp),
    /// It is done all the same.
    Approves(Timestamp),
    /// Others may decide too.
    Passes(Timestamp, Vec<Who>),
}

impl From<Standing> for Item {
    fn from(standing: Standing) -> Self {
        let expires_at = moments(&standing).expires_at;
        Self {
            state: standing.state,
            version: standing.version,
            votes: standing.votes,
            decision: standing.decision,
            reason: standing.reason,
            deciders: standing.deciders,
            step: standing.step,
            step_at: standing.step_at,
            warned_at: standing.warned.map(|(_, at)| at),
            expires_at,
            closed_at: standing.closed_at,
            whole: true,
            request: standing.request,
        }
    }
}

impl Item {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> &QuestionId {
        &self.request.id
    }

    /// Whether it waits for a person.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == ApprovalState::Pending
    }

    /// How many more must say yes.
    #[must_use]
    pub fn missing(&self) -> u32 {
        let votes = u32::try_from(self.votes.len()).unwrap_or(u32::MAX);
        self.request.ruling.quorum.max(1).saturating_sub(votes)
    }

    /// What two requests have in common that ask for the same thing.
    #[must_use]
    pub fn shape(&self) -> String {
        let request = &self.request;
        let actions: Vec<&str> = request.actions.iter().map(|action| action.as_str()).collect();
        let agent = request.requester.agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let (gate, tier) = (request.gate.name(), request.tier.name());
        format!("{gate}/{}/{tier}/{agent}/{}", request.subject.tool, actions.join(","))
    }

    /// What happens when nobody decides.
    #[must_use]
    pub fn next(&self) -> Next {
        let request = &self.request;
        let view = View {
            tier: request.tier,
            autonomy: request.autonomy,
            actions: &request.actions,
            asked_at: request.asked_at,
            step: self.step,
            step_at: self.step_at,
            warned_at: self.warned_at,
        };
        match timeout::of(&request.ruling.timeout).apply_policy(&view) {
            None => Next::Waits,
            Some((at, Due::Escalate { to, .. })) => Next::Passes(at, to),
            Some((at, Due::Approve { .. })) => Next::Approves(at),
            Some((at, Due::Deny { .. })) => Next::Ends(at),
        }
    }

    /// Everything, for programs. `question`, `run` and `open` are there under the names that
    /// questions of runs always had.
    #[must_use]
    pub fn json(&self) -> Value {
        let request = &self.request;
        let mut told = json!({
            "id": request.id,
            "run": request.subject.run,
            "task": request.subject.task,
            "agent": request.requester.agent,
            "question": request.title,
            "title": request.title,
            "gate": request.gate,
            "state": self.state,
            "open": self.is_open(),
            "tier": request.tier,
            "autonomy": request.autonomy,
            "digest": request.digest,
            "version": self.version,
            "options": request.options,
            "asked_at": request.asked_at,
            "expires_at": self.expires_at,
            "closed_at": self.closed_at,
            "reasons": request.reasons,
            "effects": request.effects,
            "actions": request.actions,
            "on_no": request.on_no,
            "claimed": request.claimed,
            "subject": request.subject,
            "requester": request.requester,
            "deciders": self.deciders,
            "quorum": request.ruling.quorum,
            "missing": self.missing(),
            "votes": self.votes,
            "timeout": request.ruling.timeout,
            "step": self.step,
            "decision": self.decision,
            "reason": self.reason,
            "shape": self.shape(),
        });
        let parts =
            ["subject", "reasons", "effects", "on_no", "claimed", "timeout", "votes", "shape"];
        if let (false, Some(told)) = (self.whole, told.as_object_mut()) {
            told.retain(|key, _| !parts.contains(&key.as_str()));
        }
        told
    }
}

/// What else there is to know about a request.
#[derive(Debug, Clone, Default)]
pub struct Detail {
    /// Everything that happened to it.
    pub history: Vec<(Timestamp, ApprovalEvent)>,
    /// How requests of the same shape were decided, and how many.
    pub precedent: Vec<(ApprovalState, u64)>,
    /// What was kept beside the log to look at: a diff, a transcript.
    pub kept: Option<String>,
    /// More facts, each with a label.
    pub facts: Vec<(String, String)>,
    /// What it is about, as the run that asks tells it.
    pub about: Option<About>,
}

/// Something that happened to a request.
#[derive(Debug, Clone)]
pub struct Happened {
    /// To which.
    pub id: QuestionId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: ApprovalEvent,
    /// How the request stands, where it could be told.
    pub item: Option<Item>,
}
