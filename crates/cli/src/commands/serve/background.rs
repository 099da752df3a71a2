//! What runs beside the server: the clock of requests, and the delivery of notifications.

use std::sync::Arc;

use aurora_engine::approvals::{Queue, SystemClock, Timekeeper};
use aurora_engine::notify::Delivery;
use aurora_store::Store;

use crate::output;
use crate::wiring::place::{Given, Place};
use crate::wiring::workspace::now;
use crate::wiring::{approvals, notify};

/// What runs beside the server, as long as it lives.
pub struct Background {
    _timekeeper: Timekeeper,
    _delivery: Option<Delivery>,
}

/// Starts it.
pub fn start(store: &Arc<dyn Store>) -> anyhow::Result<(Queue, Background)> {
    let rules = approvals::settings::rules(&Place::look(Given::default()))?;
    let queue = Queue::new(Arc::clone(store), notify::notices(rules.channels()), now);
    let told = Arc::new(|error: &aurora_engine::Error| output::warn(&error.to_string()));
    let timekeeper = Timekeeper::start_with(queue.clone(), Arc::new(SystemClock), told);
    let delivery = notify::deliver(store, rules.channels());
    Ok((queue, Background { _timekeeper: timekeeper, _delivery: delivery }))
}
