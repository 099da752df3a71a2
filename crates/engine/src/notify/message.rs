//! What is told: one message, as JSON for programs and in words for people.

use aurora_gate::approval::Standing;
use aurora_gate::approval::lifecycle::moments;
use aurora_gate::approval::rules::notify::{Channel, Moment};
use aurora_model::{
    ActionType, AgentName, ApprovalEvent, GateKind, Outcome, QuestionId, RunId, TaskId, Tier,
    Timestamp, Who,
};
use serde::{Deserialize, Serialize};

use super::scrub::clean;

/// Longer titles and reasons are cut.
const MAX_CHARS: usize = 200;
/// More are not named.
const MAX_NAMED: usize = 20;

/// One message. Its shape is that of the Standard Webhooks convention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `approval.asked`, `approval.timed_out` …
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened.
    pub timestamp: Timestamp,
    /// What.
    pub data: Told,
}

/// What happened, with what somebody needs to go and look. What the agent says about itself is not
/// here, and neither are arguments: those are behind the link, for whoever may see them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The message's name, by which a receiver knows that it has it already.
    pub id: String,
    /// What happened, in one word.
    pub event: String,
    /// To which request.
    pub request: QuestionId,
    /// What it is, in one line.
    pub title: String,
    /// Which gate asks.
    pub gate: GateKind,
    /// How dangerous it is.
    pub tier: Tier,
    /// What kinds of action it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionType>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Who may decide; nobody named means every person.
    #[serde(default)]
    pub deciders: Vec<Who>,
    /// Who is meant: those who may decide, or those who may from now on.
    #[serde(default)]
    pub addressed: Vec<Who>,
    /// How many must say yes.
    pub quorum: u32,
    /// When it expires, as things stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it was passed on, ended or is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What to type to look.
    pub command: String,
}

impl Message {
    /// What a channel is told of an event; nothing when it does not want to know. The standing is
    /// that after the event.
    #[must_use]
    pub(super) fn of(
        channel: &Channel,
        standing: &Standing,
        event: &ApprovalEvent,
        version: u64,
    ) -> Option<Self> {
        let moment = Moment::of(event)?;
        let request = &standing.request;
        let addressed = match event {
            ApprovalEvent::Escalated { to, .. } => to,
            _ => &standing.deciders,
        };
        let meant = |who: &Who| *who == Who::Anyone || channel.only_for.contains(who);
        let meant =
            channel.only_for.is_empty() || addressed.is_empty() || addressed.iter().any(meant);
        if !channel.on.contains(&moment) || request.tier < channel.min_tier || !meant {
            return None;
        }
        let decision = match event {
            ApprovalEvent::Decided { decision } => Some(decision),
            _ => None,
        };
        let reason = match event {
            ApprovalEvent::Escalated { reason, .. }
            | ApprovalEvent::TimedOut { reason, .. }
            | ApprovalEvent::OutcomeUnknown { reason } => Some(clean(reason, MAX_CHARS)),
            _ => None,
        };
        let few = |who: &[Who]| who.iter().take(MAX_NAMED).cloned().collect();
        let data = Told {
            id: format!("{}/{version}/{}", request.id, channel.name),
            event: moment.name().to_owned(),
            request: request.id.clone(),
            title: clean(&request.title, MAX_CHARS),
            gate: request.gate,
            tier: request.tier,
            actions: request.actions.iter().take(MAX_NAMED).cloned().collect(),
            run: request.subject.run.clone(),
            task: request.subject.task.clone(),
            agent: request.requester.agent.clone(),
            deciders: few(&standing.deciders),
            addressed: few(addressed),
            quorum: request.ruling.quorum,
            expires_at: moments(standing).expires_at,
            outcome: decision.map(|decision| decision.outcome),
            by: decision.map(|decision| clean(&decision.by.name, MAX_CHARS)),
            reason,
            link: channel.link.as_ref().map(|base| format!("{base}/approvals/{}", request.id)),
            command: format!("aur approvals show {}", request.id),
        };
        let kind = format!("approval.{}", moment.name());
        Some(Self { kind, timestamp: standing.last_at, data })
    }

    /// A message that tells nothing but that the channel works.
    #[must_use]
    pub fn test(channel: &str, now: Timestamp) -> Option<Self> {
        let data = Told {
            id: format!("test/{}/{channel}", now.unix_ms),
            event: "test".to_owned(),
            request: QuestionId::parse("test")?,
            title: format!("the channel {channel} works"),
            gate: GateKind::Escalation,
            tier: Tier::Low,
            actions: Vec::new(),
            run: None,
            task: None,
            agent: None,
            deciders: Vec::new(),
            addressed: Vec::new(),
            quorum: 1,
            expires_at: None,
            outcome: None,
            by: None,
            reason: None,
            link: None,
            command: "aur approvals list".to_owned(),
        };
        Some(Self { kind: "approval.test".to_owned(), timestamp: now, data })
    }

    /// What happened; nothing for a test, or what another version told.
    #[must_use]
    pub fn moment(&self) -> Option<Moment> {
        Moment::from_name(&self.data.event)
    }

    /// What happened, in a few words of ours.
    #[must_use]
    pub(super) fn what(&self) -> String {
        let data = &self.data;
        let tier = data.tier.name();
        match self.moment() {
            None => "test".to_owned(),
            Some(Moment::Asked) => format!("approval needed ({tier})"),
            Some(Moment::Reminded) => format!("still waiting for a decision ({tier})"),
            Some(Moment::Warned) => format!("will expire without a decision ({tier})"),
            Some(Moment::Escalated) => format!("escalated to {} ({tier})", names(&data.addressed)),
            Some(Moment::TimedOut) => format!("nobody decided in time ({tier})"),
            Some(Moment::OutcomeUnknown) => {
                format!("nobody knows whether it was done ({tier})")
            }
            Some(Moment::Decided) => {
                let outcome = match data.outcome {
                    Some(Outcome::Approved) => "approved",
                    Some(Outcome::Denied) => "denied",
                    Some(Outcome::ChangesRequested) => "changes requested",
                    None => "decided",
                };
                format!("{outcome} by {} ({tier})", data.by.as_deref().unwrap_or("somebody"))
            }
        }
    }

    /// What happened and to what, in one line.
    #[must_use]
    pub fn headline(&self) -> String {
        format!("{}: {}", self.what(), self.data.title)
    }

    /// The rest, as pairs of a word and what it is.
    #[must_use]
    pub(super) fn details(&self) -> Vec<(&'static str, String)> {
        let data = &self.data;
        let mut details = Vec::new();
        let mut add = |word, text: Option<String>| {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                details.push((word, text));
            }
        };
        add("agent", data.agent.as_ref().map(ToString::to_string));
        add("run", data.run.as_ref().map(ToString::to_string));
        add("task", data.task.as_ref().map(ToString::to_string));
        let actions: Vec<&str> = data.actions.iter().map(ActionType::as_str).collect();
        add("actions", Some(actions.join(", ")));
        let asks = self.moment().is_some_and(Moment::asks);
        add("who may decide", asks.then(|| names(&data.deciders)));
        let several = (asks && data.quorum > 1).then(|| format!("{} people", data.quorum));
        add("needs", several);
        add("expires", data.expires_at.map(|at| at.to_string()));
        add("why", data.reason.clone());
        details
    }

    /// Where to look: the link, or what to type.
    #[must_use]
    pub(super) fn look(&self) -> &str {
        self.data.link.as_deref().unwrap_or(&self.data.command)
    }

    /// Everything below the headline, as plain text.
    #[must_use]
    pub(super) fn body(&self) -> String {
        let mut body = String::new();
        for (word, text) in self.details() {
            body.push_str(&format!("{word}: {text}\n"));
        }
        body.push_str(&format!("look at it: {}\n", self.look()));
        body
    }
}

fn names(who: &[Who]) -> String {
    if who.is_empty() {
        return "anyone".to_owned();
    }
    who.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
