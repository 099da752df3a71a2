//! Who is told of an event: decided in the moment in which it is recorded, so that each step tells
//! once, whoever's clock took it.

use aurora_gate::approval::Standing;
use aurora_gate::approval::rules::notify::Channel;
use aurora_model::ApprovalEvent;
use aurora_store::Outgoing;

use super::message::Message;
use crate::approvals::Notices;

/// Tells the channels of the settings.
#[derive(Debug, Clone, Default)]
pub struct Announcer {
    channels: Vec<Channel>,
}

impl Announcer {
    /// Tells these channels.
    #[must_use]
    pub fn new(channels: &[Channel]) -> Self {
        Self { channels: channels.to_vec() }
    }
}

impl Notices for Announcer {
    fn notices(&self, standing: &Standing, events: &[ApprovalEvent], first: u64) -> Vec<Outgoing> {
        let mut messages = Vec::new();
        for (version, event) in (first..).zip(events) {
            for channel in &self.channels {
                let message = Message::of(channel, standing, event, version);
                let payload = message.as_ref().and_then(|one| serde_json::to_string(one).ok());
                let (Some(message), Some(payload)) = (message, payload) else { continue };
                let topic = channel.name.clone();
                messages.push(Outgoing { id: message.data.id, topic, payload, tried: 0 });
            }
        }
        messages
    }
}
