//! Passes on what an agent says, and remembers what it has cost so far.

use std::sync::{Arc, Mutex, PoisonError};

use aurora_agents::{Heard, Listener};
use aurora_model::{Cost, TaskId};

use super::Audience;

/// Hears one attempt.
pub(super) struct Listening {
    pub audience: Arc<dyn Audience>,
    pub task: TaskId,
    pub attempt: u32,
    spent: Mutex<Option<Cost>>,
}

impl Listening {
    pub fn new(audience: Arc<dyn Audience>, task: TaskId, attempt: u32) -> Self {
        Self { audience, task, attempt, spent: Mutex::new(None) }
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
}
