//! A page of the queue: what waits, or what stands otherwise, in the order of asking.

use aurora_gate::approval::Standing;
use aurora_model::{ApprovalState, GateKind, QuestionId, Tier};

use super::{PREFIX, Queue};
use crate::error::Result;

/// Which requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// How they stand; nothing means those that wait.
    pub state: Option<ApprovalState>,
    /// At least so dangerous.
    pub tier: Option<Tier>,
    /// Of this gate.
    pub gate: Option<GateKind>,
    /// Of this run.
    pub run: Option<String>,
    /// Of this agent.
    pub agent: Option<String>,
}

/// Some requests, and where to go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The requests.
    pub requests: Vec<Standing>,
    /// Where the next page begins; nothing when there is none.
    pub next: Option<u64>,
}

impl Filter {
    /// Whether a request is one of these.
    #[must_use]
    pub fn takes(&self, standing: &Standing) -> bool {
        let request = &standing.request;
        let run = request.subject.run.as_ref().map(aurora_model::RunId::as_str);
        let agent = request.requester.agent.as_ref().map(aurora_model::AgentName::as_str);
        standing.state == self.state.unwrap_or(ApprovalState::Pending)
            && self.tier.is_none_or(|tier| request.tier >= tier)
            && self.gate.is_none_or(|gate| request.gate == gate)
            && self.run.as_deref().is_none_or(|wanted| run == Some(wanted))
            && self.agent.as_deref().is_none_or(|wanted| agent == Some(wanted))
    }
}

impl Queue {
    /// Requests after a place, at most so many.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn list(&self, filter: &Filter, after: u64, limit: usize) -> Result<Page> {
        let label = filter.state.unwrap_or(ApprovalState::Pending).name();
        let mut page = Page::default();
        let mut after = after;
        loop {
            let found = self.store.marked(label, after, limit.max(1)).await?;
            let full = found.len() == limit.max(1);
            for marked in found {
                after = marked.place;
                let id = marked.stream.0.strip_prefix(PREFIX).and_then(QuestionId::parse);
                let Some(id) = id else { continue };
                let Some(standing) = self.load(&id).await? else { continue };
                if filter.takes(&standing) {
                    page.requests.push(standing);
                }
                if page.requests.len() == limit {
                    page.next = Some(after);
                    return Ok(page);
                }
            }
            if !full {
                return Ok(page);
            }
        }
    }
}
