//! What runs beside the server: the clock of requests, and the delivery of notifications.

use std::sync::Arc;

use aurora_engine::approvals::{Queue, Timekeeper};
use aurora_engine::notify::Delivery;
use aurora_server::ports::{Delivered, Deliveries};
use aurora_store::Store;

use crate::wiring::approvals::settings;
use crate::wiring::notify;
use crate::wiring::place::{Given, Place};
use crate::wiring::workspace::now;

/// What runs beside the server.
pub struct Background {
    _timekeeper: Timekeeper,
    delivery: Arc<Delivery>,
}

/// Starts it, where a runtime is.
pub fn start(store: &Arc<dyn Store>) -> anyhow::Result<(Queue, Background)> {
    let rules = settings::rules(&Place::look(Given::default()))?;
    let notices = notify::notices(rules.channels());
    let queue = Queue::new(Arc::clone(store), notices, now);
    let routes = notify::routes(rules.channels(), notify::bell());
    let delivery = Arc::new(Delivery::start(Arc::clone(store), routes, now));
    let timekeeper = Timekeeper::start(queue.clone());
    Ok((queue, Background { _timekeeper: timekeeper, delivery }))
}

impl Background {
    /// What became of messages.
    pub fn deliveries(&self) -> Arc<dyn Deliveries> {
        Arc::new(Counted(Arc::clone(&self.delivery)))
    }

    /// Ends it after what is on its way.
    pub async fn stop(self) {
        if let Some(delivery) = Arc::into_inner(self.delivery) {
            delivery.stop().await;
        }
    }
}

struct Counted(Arc<Delivery>);

impl Deliveries for Counted {
    fn counted(&self) -> Vec<Delivered> {
        let counted = self.0.counts().into_iter();
        counted
            .map(|(channel, counts)| Delivered {
                channel,
                delivered: counts.delivered,
                failed: counts.failed,
                given_up: counts.given_up,
                dropped: counts.dropped,
            })
            .collect()
    }
}
