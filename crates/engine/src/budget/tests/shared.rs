//! POL-6: the ledger in a log that many write at once.
