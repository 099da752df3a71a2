//! Everything that requests share.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use aurora_engine::approvals::Queue;
use aurora_engine::face::Store;
use aurora_engine::people::TokenBook;
use aurora_model::{Digest, Timestamp};
use tokio::sync::{Mutex, Semaphore, watch};

use crate::figures::Figures;
use crate::limits::{Buckets, Limits};
use crate::ports::Ports;

/// What a server is made of.
pub struct Settings {
    /// The queue, with the log under it.
    pub queue: Queue,
    /// What it needs of others.
    pub ports: Ports,
    /// The secret of this start, for whoever started it.
    pub local: Option<Local>,
    /// Names of this server, besides those of the machine for itself.
    pub hosts: Vec<String>,
    /// What one may ask of it.
    pub limits: Limits,
}

/// A secret that holds until the server ends, for the person who started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// The hash of the secret.
    pub hash: Digest,
    /// Whose name it speaks in.
    pub person: String,
}

/// Everything that requests share.
pub struct Server {
    pub(crate) queue: Queue,
    pub(crate) tokens: TokenBook,
    pub(crate) ports: Ports,
    pub(crate) local: Option<Local>,
    pub(crate) hosts: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) by_address: Buckets<IpAddr>,
    pub(crate) by_token: Buckets<String>,
    pub(crate) figures: Mutex<Figures>,
    pub(crate) answered: Answered,
    /// Streams of events that may still be opened.
    pub(crate) streams: Arc<Semaphore>,
    /// One verification at a time: it reads the whole log.
    pub(crate) verifying: Semaphore,
    pub(crate) stopping: watch::Sender<bool>,
}

/// How many requests were answered, by the first digit of the status.
#[derive(Debug, Default)]
pub struct Answered {
    pub(crate) by_class: [AtomicU64; 6],
}

impl Server {
    /// A server of these.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Self> {
        let Settings { queue, ports, local, hosts, limits } = settings;
        let hosts = hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect();
        Arc::new(Self {
            tokens: TokenBook::new(Arc::clone(queue.store())),
            queue,
            ports,
            local,
            hosts,
            limits,
            by_address: Buckets::new(limits.rate_per_s * 4.0),
            by_token: Buckets::new(limits.rate_per_s),
            figures: Mutex::default(),
            answered: Answered::default(),
            streams: Arc::new(Semaphore::new(limits.streams)),
            verifying: Semaphore::new(1),
            stopping: watch::Sender::new(false),
        })
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.queue.store()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.queue.now()
    }
}
