//! The clock by which requests are reminded, passed on and ended: the wall's, and no other.

use std::future::Future;
use std::pin::Pin;
use std::time::{SystemTime, UNIX_EPOCH};

use aurora_model::Timestamp;

/// Something that is over at a moment.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Says what time it is, and waits.
pub trait Clock: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// Waits until a moment. It may return earlier, as when somebody sets the clock: whoever waits
    /// looks at the time again.
    fn sleep_until(&self, at: Timestamp) -> Sleep<'_>;
}

/// The clock of the system. It waits on the wall's time, so that a machine that was asleep wakes up to
/// what is due, and a clock that is set is noticed. Needs a runtime that can wait for files.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        Box::pin(async move {
            if wall::sleep_until(at).await.is_err() {
                in_pieces(self.now(), at).await;
            }
        })
    }
}

/// Waits for a part of the time only, because this kind of waiting does not notice when the machine
/// sleeps or the clock is set.
async fn in_pieces(now: Timestamp, until: Timestamp) {
    const MOST_MS: i64 = 15_000;
    let left = until.unix_ms.saturating_sub(now.unix_ms).clamp(1, MOST_MS);
    tokio::time::sleep(std::time::Duration::from_millis(left.unsigned_abs())).await;
}

/// Waiting on the wall's time: a timer of the kernel on the settable clock, which ends when it is set.
#[cfg(target_os = "linux")]
mod wall {
    use std::io;

    use aurora_model::Timestamp;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    pub(super) async fn sleep_until(at: Timestamp) -> io::Result<()> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(&timer, flags, &once(at))?;
        #[expect(
            deprecated,
            reason = "unsound only for what may change its descriptor, which an OwnedFd cannot; what \
                      takes its place is unsafe"
        )]
        let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
        loop {
            let mut ready = timer.readable().await?;
            let mut count = [0; 8];
            match ready.try_io(|timer| Ok(rustix::io::read(timer, &mut count)?)) {
                Ok(Ok(_)) => return Ok(()),
                // The clock was set: whoever waits looks at it again.
                Ok(Err(error)) if is_cancelled(&error) => return Ok(()),
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
        }
    }

    fn is_cancelled(error: &io::Error) -> bool {
        error.raw_os_error() == Some(rustix::io::Errno::CANCELED.raw_os_error())
    }

    /// A moment for the kernel. None at all would mean never, so the beginning of time is a bit later.
    fn once(at: Timestamp) -> Itimerspec {
        let ms = at.unix_ms.max(1);
        let at = Timespec { tv_sec: ms / 1000, tv_nsec: (ms % 1000) * 1_000_000 };
        Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at }
    }
}

/// Where there is no such timer.
#[cfg(not(target_os = "linux"))]
mod wall {
    use std::io;

    use aurora_model::Timestamp;

    pub(super) async fn sleep_until(_: Timestamp) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn on_real_time(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(test);
    }

    fn in_ms(ms: i64) -> Timestamp {
        Timestamp { unix_ms: SystemClock.now().unix_ms + ms }
    }

    // APR-6: a timer of the kernel on the wall's clock, and what takes its place elsewhere.
    #[test]
    fn apr_6_the_system_clock_wakes_at_the_moment_and_not_before() {
        on_real_time(async {
            let begun = Instant::now();
            let at = in_ms(80);
            SystemClock.sleep_until(at).await;
            assert!(SystemClock.now() >= at);
            assert!(begun.elapsed() < Duration::from_secs(20));

            let at = in_ms(80);
            while SystemClock.now() < at {
                in_pieces(SystemClock.now(), at).await;
            }
        });
    }

    // APR-6: what is over is over at once, however long ago it was.
    #[test]
    fn apr_6_a_moment_in_the_past_is_not_waited_for() {
        on_real_time(async {
            for at in [in_ms(-1), in_ms(-1_000_000), Timestamp { unix_ms: 0 }] {
                SystemClock.sleep_until(at).await;
            }
            SystemClock.sleep_until(Timestamp { unix_ms: i64::MIN }).await;
        });
    }

    // APR-6: whoever waits for a day hears at once when there is something else to do.
    #[test]
    fn apr_6_waiting_can_be_given_up() {
        on_real_time(async {
            for at in [in_ms(86_400_000), Timestamp { unix_ms: i64::MAX }] {
                let waits = SystemClock.sleep_until(at);
                let given_up = tokio::time::timeout(Duration::from_millis(20), waits).await;
                assert!(given_up.is_err());
            }
        });
    }
}
