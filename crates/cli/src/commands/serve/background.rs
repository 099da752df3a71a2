//! What runs beside the server: the clock of requests, and the delivery of notifications.

use std::sync::Arc;

use aurora_engine::approvals::{Queue, SystemClock, Timekeeper};
use aurora_engine::notify::Delivery;
use aurora_server::ports::{Delivered, Deliveries};
use aurora_store::Store;

use crate::output;
use crate::wiring::place::{Given, Place};
use crate::wiring::workspace::now;
use crate::wiring::{approvals, notify};

/// What runs beside the server, as long as it lives.
pub struct Background {
    _timekeeper: Timekeeper,
    delivery: Option<Arc<Delivery>>,
}

/// Starts it, where a runtime is.
pub fn start(store: &Arc<dyn Store>) -> anyhow::Result<(Queue, Background)> {
    let rules = approvals::settings::rules(&Place::look(Given::default()))?;
    let queue = Queue::new(Arc::clone(store), notify::notices(rules.channels()), now);
    let told = Arc::new(|error: &aurora_engine::Error| output::warn(&error.to_string()));
    let timekeeper = Timekeeper::start_with(queue.clone(), Arc::new(SystemClock), told);
    let delivery = notify::deliver(store, rules.channels()).map(Arc::new);
    Ok((queue, Background { _timekeeper: timekeeper, delivery }))
}

impl Background {
    /// What became of messages.
    pub fn deliveries(&self) -> Arc<dyn Deliveries> {
        Arc::new(Counted(self.delivery.clone()))
    }

    /// Ends it after what is on its way.
    pub async fn stop(self) {
        if let Some(delivery) = self.delivery.and_then(Arc::into_inner) {
            delivery.stop().await;
        }
    }
}

struct Counted(Option<Arc<Delivery>>);

impl Deliveries for Counted {
    fn counted(&self) -> Vec<Delivered> {
        let counted = self.0.as_ref().map(|delivery| delivery.counts()).unwrap_or_default();
        let one = |(channel, counts): (String, aurora_engine::notify::Counts)| Delivered {
            channel,
            delivered: counts.delivered,
            failed: counts.failed,
            given_up: counts.given_up,
            dropped: counts.dropped,
        };
        counted.into_iter().map(one).collect()
    }
}
