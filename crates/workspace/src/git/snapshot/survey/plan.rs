//! Which paths are looked at: those that somebody names, or everything.

use super::options;
use crate::git::snapshot::state::State;
use crate::request::{CheckpointRequest, Scan};
use crate::watchdog::{Dirty, DirtyPath, Mark, Watched};

/// Which paths are looked at.
pub(super) enum Plan {
    /// Only these.
    Named {
        /// Where the watchdog is.
        mark: Option<Mark>,
        /// The paths.
        paths: Vec<DirtyPath>,
    },
    /// All of them.
    Everything {
        /// Where the watchdog is.
        mark: Option<Mark>,
        /// Why.
        because: String,
    },
}

impl Plan {
    /// Takes the paths that the caller knows, or asks the watchdog, and decides whether that is enough.
    pub fn make(
        watch: Option<&dyn Watched>,
        request: &CheckpointRequest,
        is_first: bool,
        state: &State,
        only: Option<Vec<DirtyPath>>,
    ) -> Self {
        let everything =
            |mark, because: &str| Self::Everything { mark, because: because.to_owned() };
        let Some(watch) = watch else {
            return match only.filter(|_| hindrance(request, state).is_none()) {
                Some(paths) => Self::Named { mark: state.mark.clone(), paths },
                None => everything(None, "no watchdog is running"),
            };
        };
        let (mark, paths) = match watch.since(state.mark.as_ref()) {
            Dirty::Everything { mark, because } => return Self::Everything { mark, because },
            Dirty::Paths { mark, paths } => (mark, paths),
        };
        if request.scan == Scan::Full {
            return everything(Some(mark), "a full scan was asked for");
        }
        if is_first || state.mark.is_none() {
            return everything(Some(mark), "there is no checkpoint to build on");
        }
        match hindrance(request, state) {
            Some(because) => everything(Some(mark), because),
            None => Self::Named { mark: Some(mark), paths },
        }
    }

    /// The same; everything, where what it builds on is broken.
    pub fn beside(self, broken: Option<&str>) -> Self {
        let Some(what) = broken else { return self };
        Self::Everything { mark: self.mark(), because: what.to_owned() }
    }

    /// Whether the next look starts better from here. A new mark is worth keeping also where nothing
    /// changed.
    pub fn is_worth_remembering(&self) -> bool {
        match self {
            Self::Named { paths, .. } => !paths.is_empty(),
            Self::Everything { mark, .. } => mark.is_some(),
        }
    }

    /// Where the watchdog is.
    pub fn mark(&self) -> Option<Mark> {
        match self {
            Self::Named { mark, .. } | Self::Everything { mark, .. } => mark.clone(),
        }
    }
}

/// Why looking at a few paths does not make the next checkpoint of the latest one.
fn hindrance(request: &CheckpointRequest, state: &State) -> Option<&'static str> {
    if state.options != options(request) {
        return Some("it is asked for with other limits or options");
    }
    if state.sparse {
        return Some("the checkout is sparse");
    }
    (!state.same_rules()).then_some("git's settings or ignore rules changed")
}
