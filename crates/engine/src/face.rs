//! What a face needs of the gate and the log, so that it need not see them.

pub use aurora_gate::approval::lifecycle::{Edit, moments};
pub use aurora_gate::approval::options::{no_of, options_for, yes_of};
pub use aurora_gate::approval::{Command, Refused, Standing, digest_of};
pub use aurora_store::chain::digest as digest_of_bytes;
pub use aurora_store::{
    Error as LogError, Finding, Head, MemoryStore, Record, Store, StreamId, Subscription,
    Verification, verify,
};
