//! Speaks with a process over its pipes until it has ended: nobody waits for a reader who waits.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::Instant;

use super::ear::Ear;
use crate::agent::{Ended, Pipes};

const CHUNK_BYTES: usize = 64 * 1024;
/// How long a pipe may stay open after the process that we know of has ended.
const GRACE: Duration = Duration::from_secs(2);

type Stdin = Box<dyn AsyncWrite + Send + Unpin>;

/// Says the first words; a process that does not listen is not an error. The pipe is given back
/// where it stays open.
async fn say(mut stdin: Stdin, words: Vec<u8>, stays: bool) -> Option<Stdin> {
    let _ = stdin.write_all(&words).await;
    let _ = stdin.flush().await;
    if stays {
        return Some(stdin);
    }
    let _ = stdin.shutdown().await;
    None
}

/// Speaks and hears until both pipes are closed and the process has ended; nothing when the ear
/// has heard enough before.
pub async fn talk(pipes: Pipes, words: Vec<u8>, stays: bool, ear: &mut Ear<'_>) -> Option<Ended> {
    let Pipes { stdin, mut stdout, mut stderr, mut ended } = pipes;
    let saying = say(stdin, words, stays);
    tokio::pin!(saying);
    // It is kept so that the process does not take the closed pipe for our end.
    let mut _kept: Option<Stdin> = None;
    let (mut said, mut out_open, mut err_open) = (false, true, true);
    let mut out = vec![0; CHUNK_BYTES];
    let mut err = vec![0; CHUNK_BYTES];
    let mut end: Option<(Ended, Instant)> = None;
    while out_open || err_open || end.is_none() {
        if ear.has_enough() {
            return None;
        }
        let until = end.as_ref().map(|(_, until)| *until);
        tokio::select! {
            read = stdout.read(&mut out), if out_open => {
                let count = read.unwrap_or(0);
                out_open = count > 0;
                ear.hear_stdout(out.get(..count).unwrap_or_default());
            }
            read = stderr.read(&mut err), if err_open => {
                let count = read.unwrap_or(0);
                err_open = count > 0;
                ear.hear_stderr(err.get(..count).unwrap_or_default());
            }
            kept = &mut saying, if !said => {
                said = true;
                _kept = kept;
            }
            how = &mut ended, if end.is_none() => end = Some((how, Instant::now() + GRACE)),
            () = patience(until), if until.is_some() => break,
        }
    }
    end.map(|(how, _)| how)
}

/// Waits until then; it looks at the clock only when it is asked.
async fn patience(until: Option<Instant>) {
    if let Some(until) = until {
        tokio::time::sleep_until(until).await;
    }
}
