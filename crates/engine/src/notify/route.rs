//! From a channel of the settings to something that can send.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use aurora_gate::approval::rules::notify::{Channel, ChannelKind, SecretPlace};

use super::desk::{AtDesktop, AtTerminal, Desktop, Terminal};
use super::mail::Mailer;
use super::message::Message;
use super::ntfy::Ntfy;
use super::slack::Slack;
use super::webhook::Webhook;

/// An answer that comes later.
pub(super) type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>>;

/// Sends a message over one channel.
pub(super) trait Sender: Send + Sync {
    /// Sends it; when it returns, whoever is next on the way has it.
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a>;
}

/// Why a message did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// What that means for the next try.
    pub kind: FaultKind,
    /// In words, without an address and without a secret.
    pub why: String,
}

/// What a failure means for the next try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// It may go away by itself; perhaps it was said after how long.
    Passing(Option<Duration>),
    /// The receiver does not want this message.
    Refused,
    /// There is no receiver any more.
    Gone,
}

impl Fault {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self { kind: FaultKind::Passing(None), why: why.into() }
    }

    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self { kind: FaultKind::Refused, why: why.into() }
    }
}

/// A secret, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a secret; what stands around it is no part of it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The secret, for the one place that needs it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

/// What channels need of the world.
pub struct Means<'m> {
    /// Reads a secret, or says why it cannot.
    pub secret: &'m dyn Fn(&SecretPlace) -> Result<Secret, String>,
    /// The terminal at which somebody sits.
    pub terminal: Option<Arc<dyn Terminal>>,
    /// The desktop in front of which somebody sits.
    pub desktop: Option<Arc<dyn Desktop>>,
}

/// A channel, and what sends over it from here.
#[derive(Clone)]
pub struct Route {
    pub(super) name: String,
    pub(super) kind: ChannelKind,
    pub(super) sender: Result<Arc<dyn Sender>, String>,
}

/// The channels of the settings, as they can be reached from here.
pub type Routes = Vec<Route>;

impl Route {
    /// The way over a channel. One that cannot be used from here stays known: another process may be
    /// able to use it.
    #[must_use]
    pub fn new(channel: &Channel, means: &Means<'_>) -> Self {
        let secrets: Result<Vec<Secret>, String> =
            channel.secrets.iter().map(means.secret).collect();
        let sender = secrets.and_then(|secrets| sender(channel, &secrets, means));
        Self { name: channel.name.clone(), kind: channel.kind, sender }
    }

    /// The channel's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why nothing can be sent over it from here.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.sender.as_ref().err().map(String::as_str)
    }

    /// Sends a message now, once, past the outbox: to try a channel out.
    ///
    /// # Errors
    /// When it does not arrive, with why.
    pub async fn send_now(&self, message: &Message) -> Result<(), String> {
        let sender = self.sender.as_ref().map_err(Clone::clone)?;
        sender.send(message).await.map_err(|fault| fault.why)
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trouble = self.trouble();
        let mut shown = f.debug_struct("Route");
        shown.field("name", &self.name).field("kind", &self.kind).field("trouble", &trouble);
        shown.finish()
    }
}

fn sender(
    channel: &Channel,
    secrets: &[Secret],
    means: &Means<'_>,
) -> Result<Arc<dyn Sender>, String> {
    let to = channel.to.first().map_or("", String::as_str);
    match channel.kind {
        ChannelKind::Terminal => match &means.terminal {
            Some(terminal) => Ok(Arc::new(AtTerminal(Arc::clone(terminal)))),
            None => Err("nobody sits at a terminal of this process".to_owned()),
        },
        ChannelKind::Desktop => match &means.desktop {
            Some(desktop) => Ok(Arc::new(AtDesktop(Arc::clone(desktop)))),
            None => Err("this process has no desktop".to_owned()),
        },
        ChannelKind::Webhook => Ok(Arc::new(Webhook::new(to, secrets)?)),
        ChannelKind::Slack => {
            let address = secrets.first().map_or(to, Secret::reveal);
            Ok(Arc::new(Slack::new(address)?))
        }
        ChannelKind::Ntfy => Ok(Arc::new(Ntfy::new(to, secrets.first())?)),
        ChannelKind::Email => {
            let mail = channel.mail.as_ref().ok_or("it does not say how mail leaves")?;
            Ok(Arc::new(Mailer::new(mail, &channel.to, secrets.first())?))
        }
    }
}
