//! What runs beside the server: the clock of requests, and the delivery of notifications.

use std::sync::Arc;
use std::time::Duration;

use aurora_engine::approvals::{PREFIX, Queue, Silence};
use aurora_gate::approval::Command;
use aurora_model::QuestionId;
use aurora_store::Store;
use tokio::task::JoinSet;

use crate::wiring::workspace::now;

/// So many that are due are looked at in one go.
const DUE: usize = 1000;
/// The clock may be set meanwhile, so that it is looked at from time to time.
const LONGEST: Duration = Duration::from_secs(60);
/// After a failure of the log it is tried again so much later.
const AGAIN: Duration = Duration::from_secs(5);

/// What runs beside the server.
pub struct Background {
    tasks: JoinSet<()>,
}

/// Starts it.
pub fn start(store: &Arc<dyn Store>) -> anyhow::Result<(Queue, Background)> {
    let queue = Queue::new(Arc::clone(store), Arc::new(Silence), now);
    let mut tasks = JoinSet::new();
    tasks.spawn(keep_time(queue.clone()));
    Ok((queue, Background { tasks }))
}

impl Background {
    /// Ends it.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Does what becomes due, and sleeps until the next moment or until something is recorded.
async fn keep_time(queue: Queue) {
    let mut news = queue.store().subscribe();
    loop {
        let seen = news.position();
        let next = match wake_due(&queue).await {
            Ok(()) => queue.store().next_wake().await.ok().flatten(),
            Err(_) => {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        };
        let left = next.map(|at| at.unix_ms.saturating_sub(now().unix_ms).max(0));
        let left = left.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        let left = left.map_or(LONGEST, |left| left.min(LONGEST)) + Duration::from_millis(1);
        if let Ok(false) = tokio::time::timeout(left, news.past(seen)).await {
            return;
        }
    }
}

async fn wake_due(queue: &Queue) -> aurora_engine::Result<()> {
    for marked in queue.store().due(now(), DUE).await? {
        let id = marked.stream.0.strip_prefix(PREFIX).and_then(QuestionId::parse);
        let Some(id) = id else { continue };
        match queue.tell(&id, &Command::Wake).await {
            Ok(_) | Err(aurora_engine::Error::Request { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
