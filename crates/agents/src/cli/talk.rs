//! Speaks with a process over its pipes until it has ended: nobody waits for a reader who waits.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::control::Open;
use super::ear::Ear;
use crate::agent::{Ended, Pipes};

const CHUNK_BYTES: usize = 64 * 1024;
/// How long a pipe may stay open after the process that we know of has ended.
const GRACE: Duration = Duration::from_secs(2);

type Stdin = Box<dyn AsyncWrite + Send + Unpin>;

/// Says what there is to say until nothing more will come; a process that does not listen is not an
/// error.
async fn say(mut stdin: Stdin, mut words: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(words) = words.recv().await {
        let _ = stdin.write_all(&words).await;
        let _ = stdin.flush().await;
    }
    let _ = stdin.shutdown().await;
}

/// Speaks and hears until both pipes are closed and the process has ended; nothing when the ear
/// has heard enough before. Whatever the process asks is answered when there is an answer, and
/// everything else goes on meanwhile.
pub async fn talk(pipes: Pipes, words: Vec<u8>, stays: bool, ear: &mut Ear<'_>) -> Option<Ended> {
    let Pipes { stdin, mut stdout, mut stderr, mut ended } = pipes;
    let (mouth, to_say) = mpsc::unbounded_channel();
    let _ = mouth.send(words);
    // It is kept so that the process does not take the closed pipe for our end.
    let mut mouth = stays.then_some(mouth);
    let saying = say(stdin, to_say);
    tokio::pin!(saying);
    let (listener, mut open) = (ear.listener(), Open::default());
    let (mut said, mut out_open, mut err_open) = (false, true, true);
    let mut out = vec![0; CHUNK_BYTES];
    let mut err = vec![0; CHUNK_BYTES];
    let mut end: Option<(Ended, Instant)> = None;
    while out_open || err_open || end.is_none() {
        if ear.has_enough() {
            return None;
        }
        let answers = ear.incoming().into_iter().filter_map(|one| open.take(one, listener));
        let answers: Vec<Vec<u8>> = answers.collect();
        if let Some(mouth) = &mouth {
            // Each was asked for by the process itself, so there are no more than it reads.
            answers.into_iter().for_each(|words| drop(mouth.send(words)));
        }
        if ear.is_done() {
            open.clear();
            mouth = None;
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
            () = &mut saying, if !said => said = true,
            words = open.next(), if !open.is_empty() => {
                if let Some(mouth) = &mouth {
                    drop(mouth.send(words));
                }
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
