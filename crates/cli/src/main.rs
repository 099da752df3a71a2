//! The `aur` program.

fn main() {}
