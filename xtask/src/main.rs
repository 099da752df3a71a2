//! Chores of the repository, as code.

fn main() {}
