//! Work on many items by two threads, whose results come out in order and never pile up.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::git::objects::Objects;

/// So few items are not worth a second thread.
const FEW: usize = 8;
/// How many items may be done ahead of the one that is written.
const AHEAD_ITEMS: usize = 256;
/// How many bytes of results may wait to be written.
const AHEAD_BYTES: usize = 16 << 20;

/// Does `work` on each item and hands the results, in the items' order, to `take` on this thread.
/// Stops at the first error.
pub(super) fn for_each<I: Sync, R: Send>(
    items: &[I],
    objects: &Objects,
    work: impl Fn(&Objects, &I) -> Result<R> + Sync,
    size: impl Fn(&R) -> usize + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    if items.len() < FEW {
        return items.iter().try_for_each(|item| take(work(objects, item)?));
    }
    let queue = Queue::new(items.len());
    std::thread::scope(|scope| {
        let second = objects.clone();
        let (queue, work, size) = (&queue, &work, &size);
        scope.spawn(move || {
            // However this thread ends, the other one must not wait for what it will not deliver.
            let _stop = StopOnDrop(queue);
            while let Some(at) = queue.claim_when_there_is_room() {
                let Some(item) = items.get(at) else { return };
                let result = work(&second, item);
                let bytes = result.as_ref().map_or(0, size);
                queue.deliver(at, result, bytes);
            }
        });
        let _stop = StopOnDrop(queue);
        for at in 0..items.len() {
            loop {
                match queue.next_for_writer(at) {
                    Next::Ready(result) => {
                        take(result?)?;
                        break;
                    }
                    Next::DoYourself(claimed) => {
                        let Some(item) = items.get(claimed) else { break };
                        let result = work(objects, item);
                        let bytes = result.as_ref().map_or(0, size);
                        queue.deliver(claimed, result, bytes);
                    }
                    // The other thread died; its panic comes out at the end of the scope.
                    Next::Never => return Ok(()),
                }
            }
        }
        Ok(())
    })
}

/// What the writing thread does next.
enum Next<R> {
    Ready(Result<R>),
    DoYourself(usize),
    Never,
}

struct Queue<R> {
    count: usize,
    state: Mutex<State<R>>,
    changed: Condvar,
}

struct State<R> {
    /// The first item that nobody began.
    unclaimed: usize,
    /// The item that is written next.
    writing: usize,
    /// Results that wait to be written.
    done: BTreeMap<usize, (Result<R>, usize)>,
    waiting_bytes: usize,
    stopped: bool,
}

impl<R> Queue<R> {
    fn new(count: usize) -> Self {
        let state = State {
            unclaimed: 0,
            writing: 0,
            done: BTreeMap::new(),
            waiting_bytes: 0,
            stopped: false,
        };
        Self { count, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// An item for the second thread; nothing when all are begun or the work was stopped.
    fn claim_when_there_is_room(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.stopped || state.unclaimed >= self.count {
                return None;
            }
            if state.has_room() {
                return Some(state.claim());
            }
            state = self.wait(state);
        }
    }

    /// The result that is to be written, or else something to do until it is there.
    fn next_for_writer(&self, at: usize) -> Next<R> {
        let mut state = self.lock();
        state.writing = at;
        self.changed.notify_all();
        loop {
            if let Some((result, bytes)) = state.done.remove(&at) {
                state.waiting_bytes = state.waiting_bytes.saturating_sub(bytes);
                return Next::Ready(result);
            }
            if state.unclaimed <= at || (state.unclaimed < self.count && state.has_room()) {
                return Next::DoYourself(state.claim());
            }
            if state.stopped {
                return Next::Never;
            }
            state = self.wait(state);
        }
    }

    fn deliver(&self, at: usize, result: Result<R>, bytes: usize) {
        let mut state = self.lock();
        state.waiting_bytes += bytes;
        state.done.insert(at, (result, bytes));
        self.changed.notify_all();
    }
}

impl<R> State<R> {
    fn has_room(&self) -> bool {
        self.unclaimed < self.writing + AHEAD_ITEMS && self.waiting_bytes < AHEAD_BYTES
    }

    fn claim(&mut self) -> usize {
        let at = self.unclaimed;
        self.unclaimed += 1;
        at
    }
}

struct StopOnDrop<'a, R>(&'a Queue<R>);

impl<R> Drop for StopOnDrop<'_, R> {
    fn drop(&mut self) {
        self.0.lock().stopped = true;
        self.0.changed.notify_all();
    }
}
