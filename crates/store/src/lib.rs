//! What happened: an append-only log of events, hash-chained, with what is large beside it. The only
//! crate that knows SQL.

mod admission;
pub mod chain;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
pub mod error;
pub mod memory;
pub mod record;
pub mod sqlite;
pub mod store;

pub use chain::{Finding, Verification, What, verify};
pub use error::{Error, Result};
pub use memory::MemoryStore;
pub use record::{
    Append, Appended, Expected, Head, Mark, Marked, NewRecord, Outgoing, Record, StreamId,
};
pub use sqlite::{Settings, SqliteStore};
pub use store::{Answer, Claim, Store, Subscription};
