//! The workspace in memory and the one on disk, told the same things at random: they stay alike.

use aurora_model::{Checkpoint, RepoPath};

use super::super::{Subject, path, to};
use super::{MemoryWorkspace, OnDisk};
use crate::request::{
    CheckpointRequest, Edits, MovedHead, OnUnchanged, Outcome, PathOutcome, PlannedStep,
    RollbackReport, RollbackRequest, Scope, StepAction, UndoRequest,
};

/// Names that get into each other's way as files and folders.
const NAMES: [&str; 8] = ["a", "a/b", "a/b/c", "a.d", "e f", "g/h", "g/\u{fc}", "i"];

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn name(&mut self) -> RepoPath {
        path(NAMES[self.below(NAMES.len())])
    }

    fn text(&mut self) -> String {
        let lines = self.below(12);
        let odd = self.below(12);
        let line = |at| if at == odd { format!("odd {odd}\n") } else { format!("line {at}\n") };
        (0..lines).map(line).collect()
    }
}

/// One thing to do.
#[derive(Debug)]
enum Act {
    Write(RepoPath, String),
    Executable(RepoPath, bool),
    Symlink(RepoPath),
    Remove(RepoPath),
    Ignore(RepoPath),
    StopIgnoring,
    MoveHead,
    Checkpoint(OnUnchanged),
    Rollback { back: usize, scope: Scope, edits: Edits },
    Undo,
}

fn act(dice: &mut Dice, edits: Edits) -> Act {
    match dice.below(40) {
        0..16 => Act::Write(dice.name(), dice.text()),
        16..18 => Act::Executable(dice.name(), dice.below(2) == 0),
        18..20 => Act::Symlink(dice.name()),
        20..24 => Act::Remove(dice.name()),
        24 => Act::Ignore(path(["i", "g"][dice.below(2)])),
        25 => Act::StopIgnoring,
        26 => Act::MoveHead,
        27..31 => Act::Checkpoint(OnUnchanged::Reuse),
        31 => Act::Checkpoint(OnUnchanged::Record),
        32..37 => {
            let some = Scope::Paths(vec![dice.name(), dice.name()]);
            let scope = if dice.below(3) == 0 { some } else { Scope::Everything };
            Act::Rollback { back: dice.below(4), scope, edits }
        }
        _ => Act::Undo,
    }
}

fn told(report: &RollbackReport) -> Vec<String> {
    let tell = |one: &PathOutcome| {
        let outcome = format!("{:?}", one.outcome);
        // How a file that stays is explained may differ.
        let kind = outcome.split([' ', '{']).next().unwrap_or_default().to_owned();
        format!("{} {kind}", one.path)
    };
    report.paths.iter().map(tell).collect()
}

/// Does one thing, and says what can be seen of it.
fn perform(subject: &dyn Subject, act: &Act) -> String {
    match act {
        Act::Write(at, text) => subject.write(at, text.as_bytes()),
        Act::Executable(at, executable) => {
            if subject.read(at).is_some_and(|found| found.mode != aurora_model::EntryMode::Symlink)
            {
                subject.set_executable(at, *executable);
            }
        }
        Act::Symlink(at) => subject.symlink(at, b"some/where"),
        Act::Remove(at) => subject.remove(at),
        Act::Ignore(at) => subject.ignore(at),
        Act::StopIgnoring => ["i", "g"].iter().for_each(|at| subject.stop_ignoring(&path(at))),
        Act::MoveHead => subject.move_head(),
        Act::Checkpoint(on_unchanged) => {
            let on_unchanged = *on_unchanged;
            let request = CheckpointRequest { on_unchanged, ..CheckpointRequest::default() };
            let made = subject.create(&request);
            return format!("{} {} {:?}", made.checkpoint.tree, made.unchanged, made.changes);
        }
        Act::Rollback { back, scope, edits } => {
            let chain = subject.workspace().checkpoints().expect("the chain");
            let Some(target) = chain.iter().rev().nth(*back) else { return String::new() };
            return roll_back(subject, target, scope, *edits);
        }
        Act::Undo => {
            let request = UndoRequest { moved_head: MovedHead::Accept, ..UndoRequest::default() };
            return match subject.workspace().undo(&request) {
                Ok(report) => format!("{:?}", told(&report)),
                Err(error) => format!("nothing to undo: {}", error.hint().is_some()),
            };
        }
    }
    String::new()
}

fn roll_back(subject: &dyn Subject, target: &Checkpoint, scope: &Scope, edits: Edits) -> String {
    let moved_head = MovedHead::Accept;
    let request = RollbackRequest { scope: scope.clone(), edits, moved_head, ..to(target) };
    let plan = match subject.workspace().plan_rollback(&request) {
        Ok(plan) => plan,
        Err(crate::Error::NotFound { .. }) => return "not found".to_owned(),
        Err(error) => panic!("a plan: {error:?}"),
    };
    let report = subject.go_back(&request);
    let show =
        |step: &PlannedStep| format!("{} {:?} {}", step.path, step.action, step.edited_since_last);
    let steps: Vec<String> = plan.steps.iter().map(show).collect();
    let kept = |path: &RepoPath| {
        let of = report.paths.iter().find(|one| one.path == *path);
        of.is_some_and(|one| matches!(one.outcome, Outcome::Kept { .. }))
    };
    for step in &plan.steps {
        assert_eq!(step.action == StepAction::Keep, kept(&step.path), "{step:?} {report:?}");
    }
    format!("{} {steps:?} {:?}", plan.now, told(&report))
}

fn check(seed: u64, edits: Edits) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (memory, disk) = (MemoryWorkspace::new(), OnDisk::new());
    memory.commit();
    let mut done = Vec::new();
    for _ in 0..40 {
        let act = act(&mut dice, edits);
        let seen = [perform(&memory, &act), perform(&disk, &act)];
        done.push(act);
        let story = || format!("seed {seed}: {done:?}");
        assert_eq!(seen[0], seen[1], "memory and disk say otherwise: {}", story());
        assert_eq!(memory.listing(), disk.listing(), "memory and disk differ: {}", story());
    }
}

// WSP-3, WSP-4
#[test]
fn memory_and_disk_stay_alike_whatever_happens() {
    (1..=8).for_each(|seed| check(seed, Edits::Replace));
}

// WSP-4
#[test]
fn memory_and_disk_merge_alike() {
    (1001..=1008).for_each(|seed| check(seed, Edits::Merge));
}
