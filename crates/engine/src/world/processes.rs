//! An agent's process: started under a keeper, spoken with over pipes, gone with all its children.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aurora_agents::{Ended, Launch, Pipes, environment};
use aurora_workspace::process::{self, Handle, Keeper};
use tokio::net::unix::pipe;
use tokio::sync::watch;

use super::blocking;
use crate::error::{Error, Result};

/// How long a process that was asked to end may take before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// A running agent.
pub(super) struct Process {
    handle: Arc<Handle>,
    ended: watch::Receiver<Option<Ended>>,
}

impl Process {
    /// Starts it; the pipes are for whoever speaks its protocol.
    pub async fn start(
        keeper: &Keeper,
        launch: &Launch,
        ours: &BTreeMap<String, String>,
        cwd: &Path,
    ) -> Result<(Self, Pipes)> {
        let env = environment(ours, launch);
        let command = process::Command {
            argv: launch.argv.iter().map(OsString::from).collect(),
            cwd: cwd.to_owned(),
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            containment: None,
        };
        let keeper = keeper.clone();
        let running = blocking(move || Ok(process::start(&keeper, &command)?)).await?;
        let (pipes, handle) = running.split();
        let handle = Arc::new(handle);
        let (tell, ended) = watch::channel(None);
        let waiting = Arc::clone(&handle);
        // It waits for as long as the agent works, so that it is no work for a shared pool.
        let waiter = std::thread::Builder::new().name("wait-for-agent".to_owned());
        let spawned = waiter.spawn(move || tell.send_replace(Some(ended_of(waiting.wait()))));
        spawned
            .map_err(|error| Error::Lost { what: format!("no thread could be had: {error}") })?;
        let pipes = Pipes {
            stdin: Box::new(sender(pipes.stdin)?),
            stdout: Box::new(receiver(pipes.stdout)?),
            stderr: Box::new(receiver(pipes.stderr)?),
            ended: Box::pin(wait(ended.clone())),
        };
        Ok((Self { handle, ended }, pipes))
    }

    /// Asks it to end, ends it when it does not, and returns when everything is gone.
    pub async fn end(&self) {
        self.handle.terminate();
        if tokio::time::timeout(GRACE, wait(self.ended.clone())).await.is_err() {
            self.kill().await;
        }
    }

    /// Ends everything, and returns when it is gone.
    pub async fn kill(&self) {
        self.handle.kill();
        wait(self.ended.clone()).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Whoever was speaking with it is gone.
        self.handle.kill();
    }
}

async fn wait(mut ended: watch::Receiver<Option<Ended>>) -> Ended {
    match ended.wait_for(Option::is_some).await {
        Ok(ended) => ended.clone().unwrap_or(Ended::Lost),
        Err(_) => Ended::Lost,
    }
}

fn ended_of(ended: process::Ended) -> Ended {
    match ended {
        process::Ended::Code(code) => Ended::Code(code),
        process::Ended::Signal(signal) => Ended::Signal(signal),
        process::Ended::NotStarted { why } => Ended::NotStarted { why },
        process::Ended::Lost => Ended::Lost,
    }
}

fn broken(error: std::io::Error) -> Error {
    Error::Lost { what: format!("a pipe to an agent could not be used: {error}") }
}

fn sender(fd: OwnedFd) -> Result<pipe::Sender> {
    pipe::Sender::from_owned_fd(fd).map_err(broken)
}

fn receiver(fd: OwnedFd) -> Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(fd).map_err(broken)
}
