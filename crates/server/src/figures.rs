//! Figures about the queue, gathered from the log as it grows: nothing is counted twice, and a restart
//! goes on from the last picture.

mod people;
mod prometheus;

use std::collections::BTreeMap;

use aurora_engine::face::{Record, Standing};
use aurora_model::{ApprovalEvent, ApprovalState, Decision, GateKind, Outcome, Request, Tier};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::server::Server;

pub use people::{BUCKETS_S, People, Took};
pub use prometheus::text;

/// The picture's name in the log.
const PICTURE: &str = "server/figures/2";
/// So many records are read at once.
const BATCH: usize = 1000;
/// After so many records the picture is kept.
const KEEP_EVERY: u64 = 20_000;

/// How often the like was decided, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precedent {
    /// Yes.
    pub approved: u64,
    /// No.
    pub denied: u64,
    /// Not like this.
    pub changes_requested: u64,
    /// Nobody decided in time.
    pub timed_out: u64,
}

/// Figures up to a position of the log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    position: u64,
    kept: u64,
    /// Requests that may still change, by their stream.
    open: BTreeMap<String, Open>,
    /// How many requests stand how, by state and tier.
    pub(crate) standing: BTreeMap<String, u64>,
    /// How many decisions there were, by outcome and surface.
    pub(crate) decisions: BTreeMap<String, u64>,
    /// What the clock did, by kind.
    pub(crate) timers: BTreeMap<String, u64>,
    /// How long it took until it was decided.
    pub(crate) took: Took,
    /// What each person said, and how long they took.
    pub(crate) people: People,
    /// What came of requests of one shape.
    precedents: BTreeMap<String, Precedent>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Open {
    state: ApprovalState,
    tier: Tier,
    gate: GateKind,
    shape: String,
    asked_ms: i64,
}

/// What came of requests like this one.
///
/// # Errors
/// When the log cannot be read.
pub async fn precedent(server: &Server, standing: &Standing) -> Result<Precedent, Problem> {
    let mut figures = server.figures.lock().await;
    figures.catch_up(server).await?;
    Ok(figures.precedents.get(&shape_of(&standing.request)).copied().unwrap_or_default())
}

/// Requests are alike when the same tool would do the same kinds of things.
fn shape_of(request: &Request) -> String {
    let mut actions: Vec<&str> = request.actions.iter().map(|one| one.as_str()).collect();
    actions.sort_unstable();
    format!("{} {} {}", request.gate.name(), request.subject.tool, actions.join(" "))
}

impl Figures {
    /// Reads what was recorded meanwhile.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn catch_up(&mut self, server: &Server) -> Result<(), Problem> {
        let store = server.store();
        if self.position == 0
            && let Some((position, picture)) = store.projection(PICTURE).await?
            && let Ok(kept) = serde_json::from_str::<Self>(&picture)
            && kept.position == position
        {
            *self = kept;
        }
        loop {
            let records = store.read_all(self.position, BATCH).await?;
            let full = records.len() == BATCH;
            for record in &records {
                self.take(record);
                self.position = record.position;
            }
            if self.position >= self.kept + KEEP_EVERY {
                self.kept = self.position;
                // Losing it costs time only.
                if let Ok(picture) = serde_json::to_string(self) {
                    let _ = store.keep_projection(PICTURE, self.position, &picture).await;
                }
            }
            if !full {
                return Ok(());
            }
        }
    }

    fn take(&mut self, record: &Record) {
        let stream = record.stream.0.as_str();
        if !stream.starts_with(aurora_engine::approvals::PREFIX) {
            return;
        }
        let Ok(event) = serde_json::from_str::<ApprovalEvent>(&record.payload) else { return };
        if let ApprovalEvent::Requested { request } = &event {
            let open = Open {
                state: ApprovalState::Pending,
                tier: request.tier,
                gate: request.gate,
                shape: shape_of(request),
                asked_ms: request.asked_at.unix_ms,
            };
            self.count_standing(open.state, open.tier, true);
            self.open.insert(stream.to_owned(), open);
            return;
        }
        let Some(mut open) = self.open.remove(stream) else { return };
        let (before, tier_before) = (open.state, open.tier);
        self.note(&mut open, &event, record.at.unix_ms);
        if (before, tier_before) != (open.state, open.tier) {
            self.count_standing(before, tier_before, false);
            self.count_standing(open.state, open.tier, true);
        }
        if !is_final(&open) {
            self.open.insert(stream.to_owned(), open);
        }
    }

    /// What one event changes.
    fn note(&mut self, open: &mut Open, event: &ApprovalEvent, at_ms: i64) {
        open.state = match event {
            ApprovalEvent::Decided { decision } => {
                self.decided(open, decision, at_ms);
                match decision.outcome {
                    Outcome::Approved => ApprovalState::Approved,
                    Outcome::Denied => ApprovalState::Denied,
                    Outcome::ChangesRequested => ApprovalState::ChangesRequested,
                }
            }
            ApprovalEvent::Edited { tier, .. } => {
                open.tier = *tier;
                open.state
            }
            ApprovalEvent::TimedOut { .. } => {
                add(&mut self.timers, "timed_out");
                self.precedents.entry(open.shape.clone()).or_default().timed_out += 1;
                ApprovalState::TimedOut
            }
            ApprovalEvent::Reminded { .. }
            | ApprovalEvent::Warned { .. }
            | ApprovalEvent::Escalated { .. } => {
                add(&mut self.timers, event.kind());
                open.state
            }
            ApprovalEvent::Voted { decision } => {
                self.people.said(decision, at_ms.saturating_sub(open.asked_ms));
                open.state
            }
            ApprovalEvent::Requested { .. } => open.state,
            ApprovalEvent::Cancelled { .. } => ApprovalState::Cancelled,
            ApprovalEvent::Stale { .. } => ApprovalState::Stale,
            ApprovalEvent::Reserved { .. } => ApprovalState::Reserved,
            ApprovalEvent::Executed { .. } => ApprovalState::Executed,
            ApprovalEvent::Failed { .. } => ApprovalState::Failed,
            ApprovalEvent::OutcomeUnknown { .. } => ApprovalState::OutcomeUnknown,
        };
    }

    fn decided(&mut self, open: &Open, decision: &Decision, at_ms: i64) {
        let outcome = people::word(decision.outcome);
        add(&mut self.decisions, &format!("{outcome} {}", decision.by.surface.name()));
        let took_ms = at_ms.saturating_sub(open.asked_ms);
        self.took.add(took_ms);
        self.people.said(decision, took_ms);
        let precedent = self.precedents.entry(open.shape.clone()).or_default();
        match decision.outcome {
            Outcome::Approved => precedent.approved += 1,
            Outcome::Denied => precedent.denied += 1,
            Outcome::ChangesRequested => precedent.changes_requested += 1,
        }
    }

    fn count_standing(&mut self, state: ApprovalState, tier: Tier, up: bool) {
        let count = self.standing.entry(format!("{} {}", state.name(), tier.name())).or_default();
        *count = if up { *count + 1 } else { count.saturating_sub(1) };
    }
}

fn add(counts: &mut BTreeMap<String, u64>, key: &str) {
    *counts.entry(key.to_owned()).or_default() += 1;
}

/// Whether nothing can happen to it any more. What was approved at other gates than `operation` is
/// not executed by anybody.
fn is_final(open: &Open) -> bool {
    match open.state {
        ApprovalState::Pending | ApprovalState::Reserved => false,
        ApprovalState::Approved => open.gate != GateKind::Operation,
        _ => true,
    }
}
