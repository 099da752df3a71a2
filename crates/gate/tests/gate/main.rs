//! The gate as a whole: corpus, metamorphic tests, and real programs as oracles.

mod bash_oracle;
mod corpus;
mod metamorphic;
