//! Where the queue is: in the log of this repository, or behind a server.

use std::path::PathBuf;

use crate::exit::Failure;
use crate::output::request::Item;
use crate::wiring::approvals::{Embedded, Remote, Requests};
use crate::wiring::store::Log;

use super::question::{self, Found};

/// Where to look.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Source {
    /// Ask a running `aur serve` instead of the log here; `AURORA_SERVER` says the same.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// What opens the server; without it `AURORA_TOKEN`, or the token of a server started here.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// The queue.
pub enum Queue {
    /// In the log beside us.
    Here(Box<Embedded>),
    /// Behind a server.
    There(Box<Remote>),
    /// Nothing was recorded yet.
    Nowhere,
}

/// Something that was asked.
pub enum Asked {
    /// A request.
    Item(Box<Item>),
    /// A question that is in no queue.
    Old(Box<Found>),
}

impl Source {
    /// Opens the queue.
    pub fn open(&self) -> anyhow::Result<Queue> {
        let set = || std::env::var("AURORA_SERVER").ok().filter(|url| !url.trim().is_empty());
        if let Some(url) = self.server.clone().or_else(set) {
            let remote = Remote::open(url.trim(), self.token_file.as_ref())?;
            return Ok(Queue::There(Box::new(remote)));
        }
        Ok(Embedded::open()?.map_or(Queue::Nowhere, |queue| Queue::Here(Box::new(queue))))
    }
}

impl Queue {
    /// The requests.
    #[must_use]
    pub fn requests(&self) -> Option<&dyn Requests> {
        match self {
            Self::Here(queue) => Some(queue.as_ref()),
            Self::There(queue) => Some(queue.as_ref()),
            Self::Nowhere => None,
        }
    }

    /// The log, where it is beside us.
    #[must_use]
    pub fn log(&self) -> Option<&Log> {
        match self {
            Self::Here(queue) => Some(&queue.log),
            Self::There(_) | Self::Nowhere => None,
        }
    }

    /// The requests, for a command that needs one.
    pub fn of(&self, id: &str) -> anyhow::Result<&dyn Requests> {
        Ok(self.requests().ok_or_else(|| unknown(id).hint("nothing recorded yet"))?)
    }

    /// What has that name.
    pub fn find(&self, id: &str) -> anyhow::Result<Asked> {
        if let Some(item) = self.of(id)?.find(id)? {
            return Ok(Asked::Item(Box::new(item)));
        }
        let old = match self.log() {
            Some(log) => question::find(log, id)?,
            None => None,
        };
        let hint = "`aur approvals list` shows those that wait for an answer";
        let old = old.ok_or_else(|| unknown(id).hint(hint))?;
        Ok(Asked::Old(Box::new(old)))
    }
}

fn unknown(id: &str) -> Failure {
    Failure::usage(format!("there is no question `{id}`"))
}
