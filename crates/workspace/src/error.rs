//! What can go wrong with a workspace, sorted by what the caller can do about it.

use std::io;
use std::path::PathBuf;

/// What a function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a workspace could not do its job. What the user can do about it is apart, in [`Error::hint`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no repository, or it is of a kind that is not supported.
    #[error("{what}")]
    NoRepository {
        /// What was looked for and where.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// It could be done and would do harm; the caller may insist where the hint says how.
    #[error("{what}")]
    Refused {
        /// What would happen.
        what: String,
        /// What to do instead, or how to insist.
        hint: String,
    },
    /// A name that nothing has, or several have.
    #[error("{what}")]
    NotFound {
        /// What was looked for.
        what: String,
        /// What to do.
        hint: String,
    },
    /// Somebody else is at work in the same place.
    #[error("{what}")]
    Busy {
        /// Who.
        what: String,
    },
    /// A limit was reached; nothing was recorded.
    #[error("{what}")]
    TooLarge {
        /// Which limit, and what is largest.
        what: String,
        /// How to go on.
        hint: String,
    },
    /// What was stored is not what is there; nothing was changed.
    #[error("{what}")]
    Corrupt {
        /// What is missing or broken.
        what: String,
    },
    /// The kernel or file system lacks something.
    #[error("{what}")]
    Unsupported {
        /// What is lacking.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The git program failed.
    #[error("git could not {doing}: {detail}")]
    Git {
        /// What it was asked to do.
        doing: String,
        /// What it said.
        detail: String,
    },
    /// The file system failed.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// What was attempted, such as `read`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Error {
    /// What the user can do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NoRepository { hint, .. } => Some(hint),
            Self::Refused { hint, .. }
            | Self::NotFound { hint, .. }
            | Self::TooLarge { hint, .. }
            | Self::Unsupported { hint, .. } => Some(hint),
            Self::Busy { .. } => Some("wait until it is done, then try again"),
            Self::Corrupt { .. } => Some(
                "`aur checkpoints verify` says what is not whole; `aur checkpoint` records what is there",
            ),
            Self::Git { .. } => None,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some space and try again; nothing was lost")
            }
            Self::Io { .. } => None,
        }
    }

    /// An error of the file system, for `map_err`.
    pub(crate) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}
