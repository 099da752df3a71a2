//! Random mess on both sides: a prepared desk is the worktree's state, and what is adopted arrives.

use aurora_model::{EntryMode, RepoPath};
use aurora_workspace::Workspace as _;

use super::open;
use crate::edits;
use crate::harness::{Chance, World, number_from_environment};
use crate::listing::{Listing, captured};

/// How many repositories, and how often each is messed up.
const SEEDS: u64 = 12;
const TURNS: u64 = 5;

/// What git does not ignore in a desk and does not know either.
fn untracked(world: &World) -> Vec<RepoPath> {
    let said = world.try_git(&world.root, &["ls-files", "--others", "--exclude-standard", "-z"]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let names = said.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| RepoPath::new(name.to_vec())).collect()
}

fn run_seed(seed: u64) {
    let mut chance = Chance::new(seed);
    let world = edits::begin(&mut chance);
    world.commit();
    let home = open(&world.workspace(), "run");
    let (at_home, desk) = (world.seen_from(home.root()), home.desk(1).unwrap());
    let at_desk = world.seen_from(desk.path());
    for turn in 0..TURNS {
        let when = format!("turn {turn} of seed {seed}");
        edits::edit(&at_home, &mut chance);
        edits::edit(&at_desk, &mut chance);
        let prepared = desk.prepare().unwrap_or_else(|error| panic!("{when}: {error}"));
        let wanted = captured(&home, &prepared.base);
        let found = Listing::of(desk.path());
        for (path, content) in wanted.iter().filter(|(_, one)| one.mode != EntryMode::Submodule) {
            let node = found.nodes.get(path);
            assert!(node.is_some_and(|node| node.is(content)), "{when}: {path} is {node:?}");
        }
        for path in untracked(&at_desk) {
            assert!(wanted.contains_key(&path), "{when}: {path} was left");
        }
        let checkpoint = home.find(&prepared.checkpoint.0).unwrap();
        for folder in &checkpoint.empty_folders {
            assert!(found.empty_folders.contains(folder), "{when}: {folder} is missing");
        }
        let nothing = desk.changes(&prepared.base).unwrap();
        assert!(nothing.is_empty(), "{when}: {:?}", nothing.changes);
        edits::edit(&at_desk, &mut chance);
        let changes = desk.changes(&prepared.base).unwrap();
        let before = Listing::of(home.root());
        let adopted = desk.adopt(&prepared.base, &changes.result, "a task").unwrap();
        let after = Listing::of(home.root());
        if !adopted.is_done() {
            assert_eq!(before, after, "{when}: {:?}", adopted.conflicts);
            continue;
        }
        for change in &adopted.changed {
            let content = home.read(&changes.result, &change.path).unwrap();
            let node = after.nodes.get(&change.path);
            let same = content.as_ref().map(|one| node.is_some_and(|node| node.is(one)));
            assert!(same.unwrap_or(node.is_none()), "{when}: {} is {node:?}", change.path);
        }
        let again = desk.adopt(&prepared.base, &changes.result, "a task").unwrap();
        assert_eq!((again.changed, again.checkpoint), (adopted.changed, adopted.checkpoint));
    }
    assert!(!world.home().join("pwned").exists(), "seed {seed}: something of the repository's ran");
    assert_eq!(home.verify_chain().unwrap(), [] as [String; 0], "seed {seed}");
}

// EXE-2, EXE-4
#[test]
fn whatever_is_left_at_a_desk_the_next_attempt_begins_with_the_worktrees_state() {
    if std::env::var_os("AURORA_DESK_SEED").is_some() {
        return run_seed(number_from_environment("AURORA_DESK_SEED", 0));
    }
    let seeds = number_from_environment("AURORA_DESK_SEEDS", SEEDS);
    println!("seeds 1..={seeds}; repeat one with AURORA_DESK_SEED");
    (1..=seeds).for_each(run_seed);
}
