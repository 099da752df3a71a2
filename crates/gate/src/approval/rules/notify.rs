//! The `notify` section of `approvals.yaml`: who is told what happened to a request, and over what.

mod address;
mod read;
#[cfg(test)]
mod tests;

use aurora_model::{ApprovalEvent, Tier, Who};

pub use read::read;

/// A way to tell somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its name, which is also the topic of what goes over it.
    pub name: String,
    /// Over what.
    pub kind: ChannelKind,
    /// What is told.
    pub on: Vec<Moment>,
    /// At least so dangerous.
    pub min_tier: Tier,
    /// Only what one of these may decide; nobody named means everything.
    pub only_for: Vec<Who>,
    /// To where: an address of the web, or one or more addresses of e-mail.
    pub to: Vec<String>,
    /// Where its secrets are; several while one takes the place of another. Never the secrets.
    pub secrets: Vec<SecretPlace>,
    /// What the link to a request begins with.
    pub link: Option<String>,
    /// How mail leaves.
    pub mail: Option<Mail>,
}

/// Over what somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelKind {
    /// A bell and a line where somebody sits at a terminal.
    Terminal,
    /// A notice of the desktop.
    Desktop,
    /// A signed call after the Standard Webhooks convention.
    Webhook,
    /// An incoming webhook as Slack has them.
    Slack,
    /// A push by ntfy.
    Ntfy,
    /// A mail.
    Email,
}

impl ChannelKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Terminal, Self::Desktop, Self::Webhook, Self::Slack, Self::Ntfy, Self::Email];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Desktop => "desktop",
            Self::Webhook => "webhook",
            Self::Slack => "slack",
            Self::Ntfy => "ntfy",
            Self::Email => "email",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// Something was asked.
    Asked,
    /// Nobody has decided for a while.
    Reminded,
    /// It will expire soon.
    Warned,
    /// Others may decide too.
    Escalated,
    /// Nobody decided in time.
    TimedOut,
    /// Somebody decided.
    Decided,
    /// Nobody can tell whether it was done.
    OutcomeUnknown,
}

impl Moment {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Asked,
        Self::Reminded,
        Self::Warned,
        Self::Escalated,
        Self::TimedOut,
        Self::Decided,
        Self::OutcomeUnknown,
    ];

    /// What is told where the settings do not say: everything that wants somebody to do something,
    /// or that ended without anybody.
    pub const USUAL: [Self; 6] = [
        Self::Asked,
        Self::Reminded,
        Self::Warned,
        Self::Escalated,
        Self::TimedOut,
        Self::OutcomeUnknown,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Reminded => "reminded",
            Self::Warned => "warned",
            Self::Escalated => "escalated",
            Self::TimedOut => "timed_out",
            Self::Decided => "decided",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }

    /// The moment of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|moment| moment.name() == name)
    }

    /// The moment that an event is; nothing when nobody is told of such.
    #[must_use]
    pub const fn of(event: &ApprovalEvent) -> Option<Self> {
        match event {
            ApprovalEvent::Requested { .. } => Some(Self::Asked),
            ApprovalEvent::Reminded { .. } => Some(Self::Reminded),
            ApprovalEvent::Warned { .. } => Some(Self::Warned),
            ApprovalEvent::Escalated { .. } => Some(Self::Escalated),
            ApprovalEvent::TimedOut { .. } => Some(Self::TimedOut),
            ApprovalEvent::Decided { .. } => Some(Self::Decided),
            ApprovalEvent::OutcomeUnknown { .. } => Some(Self::OutcomeUnknown),
            _ => None,
        }
    }

    /// Whether it asks somebody to decide, so that it is pointless once that happened.
    #[must_use]
    pub const fn asks(self) -> bool {
        matches!(self, Self::Asked | Self::Reminded | Self::Warned | Self::Escalated)
    }
}

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPlace {
    /// A variable of the environment. Its name begins with `AURORA_`, so that the settings of a
    /// project cannot send somebody's other variables away.
    Variable(String),
    /// A file of the user's own folder for secrets.
    File(String),
}

/// How mail leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How it is encrypted.
    pub tls: MailTls,
    /// Whom the mail is from.
    pub from: String,
    /// As whom we sign in; the secret is the password.
    pub user: Option<String>,
}

/// How mail is encrypted on its way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTls {
    /// From the first byte.
    Implicit,
    /// Before anything is said that matters, or the mail does not leave.
    StartTls,
    /// Not at all, since the server is this machine.
    None,
}
