//! A patch under libFuzzer; what must hold is in `xtask::fuzz::target`.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use xtask::fuzz::target::{Ground, Target};

static GROUND: LazyLock<Ground> = LazyLock::new(Ground::new);

fuzz_target!(|data: &[u8]| {
    let outcome = GROUND.run(Target::Patch, data, false);
    assert_eq!(outcome, Ok(()));
});
