//! The shape of `runtime:`, which says how agents are supervised; it is checked now and used later.

use aurora_gate::settings::{Node, Pair, Problems, Shape};

/// What a key of `runtime` holds.
enum Kind {
    Flag,
    Whole(u64, u64),
    Choice(&'static [&'static str]),
    Group(&'static [(&'static str, Kind)]),
}

const HOUR_MS: u64 = 3_600_000;

static SHADOW: [(&str, Kind); 4] = [
    ("enabled", Kind::Flag),
    ("promotion_strategy", Kind::Choice(&["atomic", "incremental"])),
    ("cleanup_on_failure", Kind::Flag),
    ("max_shadow_size_mb", Kind::Whole(1, 1_048_576)),
];

static INTERACTIVE: [(&str, Kind); 8] = [
    ("strategy", Kind::Choice(&["direct_worktree", "shadow_workspace"])),
    ("watchdog_poll_interval_ms", Kind::Whole(1, HOUR_MS)),
    ("checkpoint_interval_ms", Kind::Whole(1, 24 * HOUR_MS)),
    ("max_uncommitted_changes", Kind::Whole(1, 1_000_000)),
    ("validation_on_checkpoint", Kind::Flag),
    ("revert_on_violation", Kind::Flag),
    ("violation_severity", Kind::Choice(&["info", "warning", "error", "critical"])),
    ("shadow_workspace", Kind::Group(&SHADOW)),
];

static RUNTIME: [(&str, Kind); 2] = [
    ("execution_mode", Kind::Choice(&["deterministic", "interactive"])),
    ("interactive", Kind::Group(&INTERACTIVE)),
];

/// Notes what is wrong with the shape.
pub fn check(pair: &Pair, problems: &mut Problems) {
    group(&pair.value, "runtime", &RUNTIME, problems);
}

fn group(node: &Node, path: &str, keys: &[(&'static str, Kind)], problems: &mut Problems) {
    let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
    let Shape::Map(pairs) = &node.shape else {
        let expected = format!("a mapping with the keys {}", names.join(", "));
        return problems.mistyped(node, path, &expected);
    };
    for pair in pairs {
        let full = format!("{path}.{}", pair.name);
        match keys.iter().find(|(name, _)| *name == pair.name) {
            Some((_, kind)) => value(&pair.value, &full, kind, problems),
            None => problems.unknown_key(pair, &full, &names),
        }
    }
}

/// The depth is bounded by the tables.
fn value(node: &Node, path: &str, kind: &Kind, problems: &mut Problems) {
    match kind {
        Kind::Flag => drop(problems.flag(node, path)),
        Kind::Whole(min, max) => drop(problems.whole(node, path, *min, *max)),
        Kind::Choice(words) => drop(problems.choice(node, path, words)),
        Kind::Group(keys) => group(node, path, keys, problems),
    }
}
