//! Whether a call may be made, and what is recorded about it: pure decisions on a ledger.

use aurora_model::{Cost, Known, Usd};

use super::event::{BudgetEvent, Reservation};
use super::ledger::Ledger;
use super::month::Month;

/// The whole of a limit, in percent.
const FULL: u64 = 100;

/// What may be spent in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// In all.
    pub monthly: Usd,
    /// At how many percent of it somebody is warned.
    pub warn_at_percent: u64,
    /// What happens there.
    pub on_limit: OnLimit,
}

/// What happens at the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLimit {
    /// Further calls are refused.
    Reject,
    /// They are made, with a warning.
    Warn,
}

/// Whether a call may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserve {
    /// It may; what it may cost is set aside.
    Granted {
        /// What somebody should be told.
        warning: Option<String>,
    },
    /// It may not; nothing is set aside.
    Refused {
        /// Why not.
        why: String,
    },
}

/// An answer, and what must be recorded for it to be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided<T> {
    /// The answer.
    pub answer: T,
    /// What is recorded.
    pub events: Vec<BudgetEvent>,
}

impl<T> Decided<T> {
    fn nothing(answer: T) -> Self {
        Self { answer, events: Vec::new() }
    }
}

/// Decides whether a call may be made. A call that is set aside already may; one that is over may
/// not be made again under its name. A call whose cost nobody can tell beforehand is taken to cost
/// what the agent's most expensive one of this month did; one that costs nothing, or of which nothing
/// is known at all, may be made while anything is left.
#[must_use]
pub fn decide_reserve(
    ledger: &Ledger,
    month: &Month,
    reservation: &Reservation,
    limits: Limits,
) -> Decided<Reserve> {
    let id = &reservation.id;
    if ledger.open.contains_key(id) {
        return Decided::nothing(Reserve::Granted { warning: None });
    }
    if ledger.settled.contains(id) {
        let why = format!("the call {id} was made and settled before");
        return Decided::nothing(Reserve::Refused { why });
    }
    let reservation = &guessed(ledger, reservation);
    let committed = ledger.total.committed();
    let after = committed.plus(reservation.estimate.usd);
    let fits = after <= limits.monthly
        && (reservation.estimate.usd > Usd::ZERO || committed < limits.monthly);
    if !fits && limits.on_limit == OnLimit::Reject {
        let why = over(ledger, month, reservation.estimate.usd, limits);
        return Decided::nothing(Reserve::Refused { why });
    }
    let mut events = vec![BudgetEvent::CostReserved { reservation: reservation.clone() }];
    let near = warning(ledger, month, after, limits);
    events.extend(near.as_ref().map(|(event, _)| event.clone()));
    let warning = match fits {
        true => near.map(|(_, text)| text),
        false => Some(over(ledger, month, reservation.estimate.usd, limits)),
    };
    Decided { answer: Reserve::Granted { warning }, events }
}

/// The reservation, with the agent's most expensive call of this month where nobody can tell.
fn guessed(ledger: &Ledger, reservation: &Reservation) -> Reservation {
    let mut guessed = reservation.clone();
    if guessed.estimate.known == Known::Unknown {
        let largest = ledger.largest.get(&guessed.agent).copied().unwrap_or_default();
        guessed.estimate.usd = guessed.estimate.usd.max(largest);
    }
    guessed
}

/// Decides what is recorded when a call is over. Only the first time counts.
#[must_use]
pub fn decide_settle(
    ledger: &Ledger,
    month: &Month,
    id: &str,
    cost: &Cost,
    limits: Limits,
) -> Decided<Option<String>> {
    let Some(reservation) = ledger.open.get(id) else { return Decided::nothing(None) };
    let mut cost = cost.clone();
    if cost.known == Known::Unknown {
        // What was believed of it before something was not is the least.
        cost.usd = cost.usd.max(reservation.estimate.usd);
        cost.known = Known::Estimated;
        cost.model = cost.model.or_else(|| reservation.estimate.model.clone());
    }
    let rest = ledger.total.committed().minus(reservation.estimate.usd);
    let near = warning(ledger, month, rest.plus(cost.usd), limits);
    let mut events = vec![BudgetEvent::CostSettled { id: id.to_owned(), cost }];
    events.extend(near.as_ref().map(|(event, _)| event.clone()));
    Decided { answer: near.map(|(_, text)| text), events }
}

/// Decides what is recorded when a call is not made after all.
#[must_use]
pub fn decide_release(ledger: &Ledger, id: &str, why: &str) -> Decided<()> {
    if !ledger.open.contains_key(id) {
        return Decided::nothing(());
    }
    let (id, why) = (id.to_owned(), why.to_owned());
    Decided { answer: (), events: vec![BudgetEvent::CostReleased { id, why }] }
}

/// The warning that is due when so much is spent or set aside: once for each limit, and once more
/// where the limit itself is passed.
fn warning(
    ledger: &Ledger,
    month: &Month,
    committed: Usd,
    limits: Limits,
) -> Option<(BudgetEvent, String)> {
    let limit = limits.monthly;
    let near = limits.warn_at_percent;
    let reached = |percent: u64| {
        let (committed, limit) = (u128::from(committed.micros), u128::from(limit.micros));
        committed > 0 && committed * 100 >= limit * u128::from(percent)
    };
    // At the limit itself nothing is wrong yet; beyond it, calls cost more than was reserved.
    let passed = committed > limit;
    let percent = if passed { near.max(FULL) } else { near };
    let before = ledger.warned.filter(|(_, of)| *of == limit).map(|(percent, _)| percent);
    if !(passed || reached(near)) || before.is_some_and(|before| before >= percent) {
        return None;
    }
    let text = if passed {
        let over = committed.minus(limit);
        format!(
            "{committed} are spent or reserved for {month}: {over} more than the limit of {limit}"
        )
    } else {
        format!(
            "{committed} of the {limit} for {month} are spent or reserved, which is {percent}% or \
             more"
        )
    };
    Some((BudgetEvent::BudgetWarned { percent, limit }, text))
}

fn over(ledger: &Ledger, month: &Month, estimate: Usd, limits: Limits) -> String {
    let spent = ledger.total.spent;
    let mut parts = vec![format!("{spent} spent")];
    if ledger.total.reserved > Usd::ZERO {
        parts.push(format!("{} reserved by calls under way", ledger.total.reserved));
    }
    if estimate > Usd::ZERO {
        parts.push(format!("{estimate} needed"));
    }
    format!("the limit of {} for {month} is reached: {}", limits.monthly, parts.join(", "))
}
