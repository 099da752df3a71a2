//! A fuse that tests light to stop all work at a certain action, as a crash would.

use std::io;

#[cfg(test)]
use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::{AtomicI64, Ordering};

/// Asked before every action that changes a file. In shipped code it has no content and never burns
/// out; in tests it does after so many actions, and then nothing can be done any more.
#[derive(Clone, Default)]
pub(crate) struct Fuse {
    #[cfg(test)]
    left: Option<Arc<AtomicI64>>,
    #[cfg(test)]
    cannot_swap: bool,
}

impl Fuse {
    /// The fuse that this thread's test has lit; one that never burns out otherwise.
    pub fn lit() -> Self {
        #[cfg(test)]
        return LIT.with(|lit| lit.borrow().clone());
        #[cfg(not(test))]
        Self::default()
    }

    /// Whether this is to be taken for a file system that cannot swap two names.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests have such a wish"))]
    pub fn cannot_swap(&self) -> bool {
        #[cfg(test)]
        return self.cannot_swap;
        #[cfg(not(test))]
        false
    }

    /// Counts one action.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests have a count"))]
    pub fn burn(&self) -> io::Result<()> {
        #[cfg(test)]
        if let Some(left) = &self.left
            && left.fetch_sub(1, Ordering::SeqCst) <= 0
        {
            return Err(io::Error::other("the fuse has burnt out"));
        }
        Ok(())
    }
}

#[cfg(test)]
thread_local! {
    static LIT: std::cell::RefCell<Fuse> = std::cell::RefCell::default();
}

#[cfg(test)]
impl Fuse {
    /// Lights a fuse for what this thread does from now on.
    pub fn light(&self) {
        LIT.with(|lit| *lit.borrow_mut() = self.clone());
    }

    /// A fuse that lets so many actions pass.
    pub fn lasting(actions: i64) -> Self {
        Self { left: Some(Arc::new(AtomicI64::new(actions))), cannot_swap: false }
    }

    /// The same on a file system that cannot swap two names.
    pub fn without_swapping(self) -> Self {
        Self { cannot_swap: true, ..self }
    }

    /// Whether it has burnt out.
    pub fn is_out(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.load(Ordering::SeqCst) < 0)
    }
}
