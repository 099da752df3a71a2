//! Small runs, and the power goes off at every single step of each.

use crate::faulty::{Fate, MISHAPS, Mishap};
use crate::life::{Story, Sum, in_a_quiet_place};
use crate::tasks;

fn small(seed: u64) -> aurora_model::Brief {
    let mut brief = tasks::brief(3, |number| if number == 2 { vec![0, 1] } else { Vec::new() });
    brief.settings.yes = seed.is_multiple_of(2);
    brief.settings.max_parallel = 1 + u32::try_from(seed % 3).unwrap();
    brief
}

/// A run whose first lives have these fates; everybody there answers.
fn live(seed: u64, fates: Vec<Fate>) -> Sum {
    let mut fates = fates.into_iter();
    in_a_quiet_place(async {
        let mut story = Story::new(seed, small(seed), false);
        story.go_on_until_it_ends(|_| fates.next().unwrap_or_default()).await
    })
}

fn at_append(at: u64, mishap: Mishap) -> Fate {
    Fate { append: Some((at, mishap)), ..Fate::default() }
}

fn at_effect(at: u64, end: bool) -> Fate {
    Fate { effect: Some((at, end)), ..Fate::default() }
}

// EXE-5
#[test]
fn exe_5_a_run_survives_every_mishap_at_every_append_and_at_every_effect() {
    let mut stories = 0;
    for seed in 1..=6 {
        let calm = live(seed, Vec::new());
        for at in 0..calm.appends {
            for mishap in MISHAPS {
                live(seed, vec![at_append(at, mishap)]);
                stories += 1;
            }
        }
        for at in 0..calm.effects {
            live(seed, vec![at_effect(at, false)]);
            live(seed, vec![at_effect(at, true)]);
            stories += 2;
        }
    }
    println!("{stories} stories, each with one mishap at one step");
}

// EXE-5
#[test]
fn exe_5_a_run_survives_every_pair_of_crashes() {
    let mut stories = 0;
    for seed in 1..=2 {
        let calm = live(seed, Vec::new());
        for first in 0..calm.appends {
            for second in 0..calm.appends {
                let one = at_append(first, Mishap::CrashAfter);
                live(seed, vec![one, at_append(second, Mishap::CrashBefore)]);
                live(seed, vec![at_effect(first, true), at_append(second, Mishap::CrashAfter)]);
                stories += 2;
            }
        }
    }
    println!("{stories} stories, each with two crashes");
}
