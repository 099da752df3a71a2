//! What happened: an append-only log of events, hash-chained, with what is large beside it. The only
//! crate that knows SQL.

pub mod error;
pub mod record;
pub mod store;

pub use error::{Error, Result};
pub use record::{Append, Appended, Expected, Head, NewRecord, Outgoing, Record, StreamId};
pub use store::{Answer, Claim, Store, Subscription};
