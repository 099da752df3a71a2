//! The gate as a whole: corpus, metamorphic tests, and real programs as oracles.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test stops at the first thing that is wrong"
)]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "oracles are real programs with real files; only the crate itself is pure"
)]

mod bash_oracle;
mod corpus;
mod metamorphic;
mod patch_oracle;
mod scripts;
mod sql_oracle;
