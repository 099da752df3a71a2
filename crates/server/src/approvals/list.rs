//! Pages of the queue: a filter that takes little makes a page short, never slow.

use std::collections::BTreeMap;

use aurora_engine::approvals::Filter;
use aurora_engine::face::Standing;
use aurora_model::{ApprovalState, GateKind, Tier};
use serde_json::{Value, json};

use super::shape;
use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::cursor::List;
use crate::problem::Problem;

/// So many requests are looked at for one page.
const MAX_LOOKED_AT: usize = 2000;

/// `GET /approvals`.
pub async fn list(call: Call) -> Outcome {
    let filter = Filter {
        state: call.text("state").and_then(ApprovalState::from_name),
        tier: call.text("tier").and_then(Tier::from_name),
        gate: call.text("gate").and_then(GateKind::from_name),
        run: call.text("run").map(str::to_owned),
        agent: call.text("agent").map(str::to_owned),
    };
    let (found, next) = page(&call, &filter, List::Approvals, |_| true).await?;
    let approvals: Vec<Value> = found.iter().map(shape::summary).collect();
    Ok(Reply::ok(json!({"approvals": approvals, "next": next})))
}

/// `GET /parked`.
pub async fn parked(call: Call) -> Outcome {
    let agent = call.text("agent").map(str::to_owned);
    let filter = Filter { gate: Some(GateKind::Operation), agent, ..Filter::default() };
    let is_parked = |standing: &Standing| {
        standing.request.parked.is_some() || standing.request.subject.run.is_some()
    };
    let (found, next) = page(&call, &filter, List::Parked, is_parked).await?;
    let mut by_agent: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for standing in &found {
        let asks = &standing.request.requester;
        let agent = asks.agent.as_ref().map_or("", |agent| agent.as_str());
        by_agent.entry(agent.to_owned()).or_default().push(shape::summary(standing));
    }
    let agents: Vec<Value> = by_agent
        .into_iter()
        .map(|(agent, parked)| json!({"agent": agent, "count": parked.len(), "parked": parked}))
        .collect();
    Ok(Reply::ok(json!({"agents": agents, "next": next})))
}

async fn page(
    call: &Call,
    filter: &Filter,
    list: List,
    wanted: impl Fn(&Standing) -> bool,
) -> Result<(Vec<Standing>, Option<String>), Problem> {
    let limit = call.limit();
    let mut after = list.place(call.text("after"))?;
    let mut found = Vec::new();
    // The state alone is what the queue finds by itself; the rest is looked at one by one.
    let wide = Filter { state: filter.state, ..Filter::default() };
    let mut looked_at = 0;
    while looked_at < MAX_LOOKED_AT {
        let step = limit - found.len();
        let page = call.server.queue.list(&wide, after, step).await?;
        looked_at += step;
        let more = page.next;
        found.extend(page.requests.into_iter().filter(|one| filter.takes(one) && wanted(one)));
        match more {
            None => return Ok((found, None)),
            Some(place) => after = place,
        }
        if found.len() >= limit {
            break;
        }
    }
    Ok((found, Some(list.at(after))))
}
