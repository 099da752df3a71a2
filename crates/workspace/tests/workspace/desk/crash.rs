//! Killed at any moment of preparing and adopting: nothing is half-done and nothing is done twice.

use std::io::Write as _;
use std::path::Path;

use aurora_model::{CheckpointKind, TreeId};
use aurora_workspace::{GitWorkspace, Workspace as _};

use super::{Run, open, read, same_state, write};
use crate::crash::{chain_is_whole, delay, fsck, kill_after, one_turn, start};
use crate::harness::{Chance, World, number_from_environment};

/// How many times a child is killed; `AURORA_DESK_KILLS` says another number.
const KILLS: u64 = 30;

/// How many files an attempt changes.
const FILES: u64 = 12;

/// What the child wrote down: attempts that are about to be adopted, and those that were.
#[derive(Default)]
struct Log {
    done: u64,
    pending: Option<(u32, TreeId, TreeId)>,
}

impl Log {
    fn read(dir: &Path) -> Self {
        let mut log = Self::default();
        for line in std::fs::read_to_string(dir.join("log")).unwrap_or_default().lines() {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["done"] => log = Self { done: log.done + 1, pending: None },
                [desk, base, result] => {
                    let tree = |digits: &str| TreeId(digits.to_owned());
                    log.pending = Some((desk.parse().unwrap(), tree(base), tree(result)));
                }
                other => panic!("{other:?}"),
            }
        }
        log
    }

    fn append(dir: &Path, line: &str) {
        let log = dir.join("log");
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

/// What an attempt does: the same to every file, one that comes and goes, one more for each.
fn attempt(root: &Path, number: u64) {
    for file in 0..FILES {
        let text = format!("attempt {number} file {file}\n");
        write(root, &format!("d{}/f{file}", file % 5), text.repeat(50));
    }
    if number.is_multiple_of(2) {
        write(root, "flip/flop", "even\n");
    } else {
        std::fs::remove_dir_all(root.join("flip")).ok();
    }
    write(root, &format!("done/{number}"), "x\n");
}

/// One turn of the child, as a driver would take it: what is pending is adopted first.
pub fn take_a_turn(workspace: &GitWorkspace, dir: &Path) {
    let home = open(workspace, "login");
    let log = Log::read(dir);
    let (desk, base, result) = log.pending.unwrap_or_else(|| {
        let number = u32::try_from(log.done % 2).unwrap() + 1;
        let desk = home.desk(number).unwrap();
        let base = desk.prepare().unwrap().base;
        write(desk.path(), "half/done", "left by a killed attempt\n");
        attempt(desk.path(), log.done + 1);
        std::fs::remove_dir_all(desk.path().join("half")).unwrap();
        let result = desk.changes(&base).unwrap().result;
        Log::append(dir, &format!("{number} {base} {result}"));
        (number, base, result)
    });
    let adopted = home.desk(desk).unwrap().adopt(&base, &result, "a task").unwrap();
    assert!(adopted.is_done(), "{:?}", adopted.conflicts);
    Log::append(dir, "done");
}

/// Which attempt the worktree holds; fails when it is a mixture.
fn attempt_at(root: &Path, when: &str) -> u64 {
    let done = std::fs::read_dir(root.join("done")).map_or(0, |entries| entries.count() as u64);
    for file in 0..FILES {
        let path = format!("d{}/f{file}", file % 5);
        if done == 0 {
            assert!(!root.join(&path).exists(), "{when}: {path}");
        } else {
            let text = format!("attempt {done} file {file}\n").repeat(50);
            assert_eq!(read(root, &path), text, "{when}: {path}");
        }
    }
    let flips = done > 0 && done.is_multiple_of(2);
    assert_eq!(root.join("flip/flop").exists(), flips, "{when}");
    done
}

// EXE-5
#[test]
fn an_adoption_that_is_killed_is_completed_or_never_happened_and_is_never_done_twice() {
    let kills = number_from_environment("AURORA_DESK_KILLS", KILLS);
    let run = Run::within(World::on_disk());
    let mut chance = Chance::new(number_from_environment("AURORA_CRASH_SEED", 17));
    let turn = one_turn(&run.world, "desk");
    let mut killed_between = 0;
    for kill in 0..kills {
        let when = format!("kill {kill}");
        let child = start(&run.world, "desk", chance.next(), 1_000);
        kill_after(&run.world, child, delay(&mut chance, turn));
        let home = open(&run.world.workspace(), "login");
        home.heal().unwrap();
        let log = Log::read(run.world.dir());
        let found = attempt_at(home.root(), &when);
        let pending = u64::from(log.pending.is_some());
        assert!((log.done..=log.done + pending).contains(&found), "{when}: {found}");
        if log.pending.is_some() {
            killed_between += 1;
            take_a_turn(&run.world.workspace(), run.world.dir());
            assert_eq!(attempt_at(home.root(), &when), log.done + 1, "{when}");
        }
        let all = home.checkpoints().unwrap();
        let adopted = all.iter().filter(|one| one.kind == CheckpointKind::Adopted).count() as u64;
        assert_eq!(adopted, log.done + pending, "{when}: once each");
        let desk = home.desk(1 + u32::try_from(kill % 2).unwrap()).unwrap();
        desk.prepare().unwrap();
        same_state(&run, &desk, &when);
        chain_is_whole(&home, &mut chance);
    }
    println!("{killed_between} of {kills} kills were between the decision and its record");
    fsck(&run.world);
}
