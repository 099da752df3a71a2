//! Work with an end: on a thread of its own, with a known stack and a limit of time.

use std::sync::mpsc;
use std::time::Duration;

/// How long one judgement may take. An agent stops waiting after the timeout in its settings and then
/// goes on without us: this is well below the one that `aur hook install` writes.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// Far more than the judge's own limits on nesting need.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Starts a thread with a stack on which anything can be judged.
pub fn start(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map(drop)
}

/// Does the work on a thread of its own: that gives a known stack, turns a panic into a value, and
/// lets the answer come in time when reading or judging does not end.
pub fn in_time<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = mpsc::channel();
    let started = start(move || {
        // When nobody waits any more, the denial has been said already.
        let _ = sender.send(work());
    });
    started.map_err(|error| format!("cannot start: {error}"))?;
    match receiver.recv_timeout(patience) {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(format!("{error:#}")),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(too_late(patience)),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("internal failure".to_owned()),
    }
}

/// What is said when time is up.
#[must_use]
pub fn too_late(patience: Duration) -> String {
    format!("no verdict within {} s", patience.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Failure;

    #[test]
    fn work_that_panics_fails_or_does_not_end_is_a_problem_in_words() {
        let soon = Duration::from_millis(20);
        let later = Duration::from_secs(20);
        assert_eq!(in_time(later, || Ok(7)), Ok(7));
        assert_eq!(in_time::<()>(later, || panic!("x")), Err("internal failure".to_owned()));
        let failed = in_time::<()>(later, || Err(Failure::failed("no").into()));
        assert_eq!(failed, Err("no".to_owned()));
        let (open, never) = mpsc::channel::<()>();
        let stuck = in_time(soon, move || Ok(never.recv()?));
        assert_eq!(stuck, Err("no verdict within 0 s".to_owned()));
        drop(open);
    }
}
