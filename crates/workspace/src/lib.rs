//! Where work happens: checkpoints that cost what changed, rollback that never loses work, shadows
//! that are not copies. The only crate that touches git and the user's files.

#[cfg(any(test, feature = "contract"))]
pub mod contract;
pub mod desk;
pub mod error;
pub mod escape;
#[cfg(test)]
pub(crate) mod fixture;
pub mod git;
pub mod memory;
pub mod process;
pub mod progress;
pub mod request;
pub mod shadow;
pub mod watchdog;
pub mod workspace;

pub use desk::Desk;
pub use error::{Error, Result};
pub use git::{GitWorkspace, Settings};
pub use memory::MemoryWorkspace;
pub use progress::{Progress, Silent};
pub use request::{
    CheckpointRequest, Content, Created, Edits, Healed, IgnoredFiles, Limits, MovedHead,
    OnUnchanged, Outcome, PathOutcome, PlannedStep, Pruned, Retention, RollbackPlan,
    RollbackReport, RollbackRequest, Scan, Scanned, Scope, StepAction, UndoRequest,
};
pub use workspace::Workspace;
