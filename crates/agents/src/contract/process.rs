//! A process that is played over pipes in memory.

use std::future::Future;
use std::pin::Pin;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::oneshot;

use crate::agent::{Ended, Pipes};

/// As much as a real pipe holds.
const PIPE_BYTES: usize = 64 * 1024;

/// One thing that the process does.
#[derive(Clone)]
pub enum Act {
    /// Writes to stdout.
    Out(Vec<u8>),
    /// Writes to stderr.
    Err(Vec<u8>),
    /// Writes the same bytes to stdout again and again.
    Flood(Vec<u8>, usize),
    /// Reads a line, or all that comes before the end of stdin.
    Listen,
    /// Leaves its pipes open when it ends.
    StayOpen,
}

/// Pipes for an agent, and the process at their other end.
pub struct Played {
    /// For the agent.
    pub pipes: Pipes,
    /// Acts, and says what it heard; it must be waited for together with the agent.
    pub acting: Pin<Box<dyn Future<Output = Vec<u8>>>>,
}

/// A process that acts so and ends so.
pub fn played(acts: Vec<Act>, ended: Ended) -> Played {
    let (stdin, our_stdin) = duplex(PIPE_BYTES);
    let (our_stdout, stdout) = duplex(PIPE_BYTES);
    let (our_stderr, stderr) = duplex(PIPE_BYTES);
    let (tell, told) = oneshot::channel();
    let pipes = Pipes {
        stdin: Box::new(stdin),
        stdout: Box::new(stdout),
        stderr: Box::new(stderr),
        ended: Box::pin(async { told.await.unwrap_or(Ended::Lost) }),
    };
    let acting = Box::pin(act(acts, ended, [our_stdin, our_stdout, our_stderr], tell));
    Played { pipes, acting }
}

async fn act(
    acts: Vec<Act>,
    ended: Ended,
    [mut stdin, mut stdout, mut stderr]: [DuplexStream; 3],
    tell: oneshot::Sender<Ended>,
) -> Vec<u8> {
    let mut heard = Vec::new();
    let mut stays = false;
    for act in acts {
        // An agent that has heard enough hangs up: the process does not mind.
        let _ = match act {
            Act::Out(bytes) => stdout.write_all(&bytes).await,
            Act::Err(bytes) => stderr.write_all(&bytes).await,
            Act::Flood(bytes, times) => flood(&mut stdout, &bytes, times).await,
            Act::Listen => listen(&mut stdin, &mut heard).await,
            Act::StayOpen => {
                stays = true;
                Ok(())
            }
        };
    }
    let _ = tell.send(ended);
    if stays {
        // Somebody holds the other ends for as long as the agent could wait.
        std::mem::forget((stdin, stdout, stderr));
    }
    heard
}

async fn flood(stdout: &mut DuplexStream, bytes: &[u8], times: usize) -> std::io::Result<()> {
    for _ in 0..times {
        stdout.write_all(bytes).await?;
    }
    Ok(())
}

async fn listen(stdin: &mut DuplexStream, heard: &mut Vec<u8>) -> std::io::Result<()> {
    let mut byte = [0];
    while stdin.read(&mut byte).await? > 0 {
        heard.push(byte[0]);
        if byte[0] == b'\n' {
            break;
        }
    }
    Ok(())
}
