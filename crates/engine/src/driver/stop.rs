//! Telling something that is being performed to end early.

use tokio::sync::watch;

/// Says when to end early.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

/// Tells whoever holds the other end to end early. Dropping it tells nothing.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// The two ends.
#[must_use]
pub fn pair() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// Tells it to end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether it should end now.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        // Whoever could ask and is gone has no use for an outcome either.
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until it should end.
    pub async fn asked(&mut self) {
        if self.0.wait_for(|stop| *stop).await.is_err() {
            // Nobody is left who could ask.
            std::future::pending::<()>().await;
        }
    }
}
