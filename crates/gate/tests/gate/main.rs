//! The gate as a whole: corpus, metamorphic tests, and real programs as oracles.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test stops at the first thing that is wrong"
)]

mod bash_oracle;
mod corpus;
mod metamorphic;
mod patch_oracle;
mod sql_oracle;
