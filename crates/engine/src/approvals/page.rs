//! A page of the queue: what waits, or what stands otherwise, in the order of asking.

use aurora_gate::approval::Standing;
use aurora_model::{ApprovalState, GateKind, QuestionId, Tier};
use aurora_store::{Marked, Record};

use super::{BATCH, PREFIX, Queue, follow};
use crate::error::Result;

/// So many requests are read at once.
const AT_ONCE: usize = 256;

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
        // By its mark a request is found exactly, by everything else it must be read first.
        let exact = *filter == Filter { state: filter.state, ..Filter::default() };
        let most = if exact { limit.clamp(1, AT_ONCE) } else { AT_ONCE };
        let mut page = Page::default();
        let mut after = after;
        loop {
            let found = self.store.marked(label, after, most).await?;
            let mut left = found.len();
            let streams = found.iter().map(|marked| marked.stream.clone()).collect();
            let records = self.store.read_each(streams, BATCH).await?;
            for (marked, records) in found.iter().zip(&records) {
                after = marked.place;
                left -= 1;
                match self.standing(marked, records).await? {
                    Some(standing) if filter.takes(&standing) => page.requests.push(standing),
                    _ => {}
                }
                if page.requests.len() >= limit {
                    page.next = (left > 0 || found.len() == most).then_some(after);
                    return Ok(page);
                }
            }
            if found.len() < most {
                return Ok(page);
            }
        }
    }

    /// How a request stands whose first records these are; nothing when it is none.
    async fn standing(&self, marked: &Marked, records: &[Record]) -> Result<Option<Standing>> {
        let id = marked.stream.0.strip_prefix(PREFIX).and_then(QuestionId::parse);
        match id {
            None => Ok(None),
            Some(_) if records.len() < BATCH => follow(None, records),
            Some(id) => self.load(&id).await,
        }
    }
}
