//! Passes on what an agent says, and remembers what it has cost so far.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aurora_agents::{Heard, Listener, Made, Permission, Wish};
use aurora_model::{Cost, TaskId};

use super::Audience;
use super::permitting::Permitting;

/// Hears one attempt.
pub(super) struct Listening {
    pub audience: Arc<dyn Audience>,
    pub task: TaskId,
    pub attempt: u32,
    spent: Mutex<Option<Cost>>,
    /// Answers an agent that asks.
    permitting: Option<Permitting>,
}

impl Listening {
    pub fn new(audience: Arc<dyn Audience>, task: TaskId, attempt: u32) -> Self {
        Self { audience, task, attempt, spent: Mutex::new(None), permitting: None }
    }

    /// The same, for an agent that asks.
    pub fn permitting(self, permitting: Option<Permitting>) -> Self {
        Self { permitting, ..self }
    }

    /// Waits until the time is over; none passes while a person is asked.
    pub async fn time_over(&self, limit: Duration) {
        match &self.permitting {
            Some(permitting) => permitting.time_over(limit).await,
            None => tokio::time::sleep(limit).await,
        }
    }

    /// Writes down what is left when the agent is gone.
    pub async fn close(&self) {
        if let Some(permitting) = &self.permitting {
            permitting.close().await;
        }
    }

    /// What the agent said last that it has cost; an attempt that is ended early has no report.
    pub fn spent(&self) -> Option<Cost> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Listener for Listening {
    fn hear(&self, heard: Heard) {
        if let Heard::Spent(cost) = &heard {
            *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = Some(cost.clone());
        }
        self.audience.heard(&self.task, self.attempt, &heard);
    }

    fn may<'a>(&'a self, wish: Wish) -> Pin<Box<dyn Future<Output = Permission> + Send + 'a>> {
        match &self.permitting {
            Some(permitting) => permitting.may(wish),
            None => {
                let message = "nobody can be asked: this run has no queue".to_owned();
                Box::pin(async { Permission::Deny { message, interrupt: false } })
            }
        }
    }

    fn made(&self, made: Made) {
        if let Some(permitting) = &self.permitting {
            permitting.made(made);
        }
    }
}
