//! Killed at any moment: nothing is lost, and the next command heals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aurora_model::{CheckpointId, RepoPath};
use aurora_workspace::shadow::{PromotionRequest, Shadow, ShadowRequest, Status, Strategy};
use aurora_workspace::{
    CheckpointRequest, GitWorkspace, MovedHead, OnUnchanged, Retention, RollbackRequest,
    UndoRequest, Workspace as _,
};

use crate::harness::{
    Chance, World, git_state, number_from_environment, same_git_state, settings_of,
    settled_git_state,
};
use crate::listing::{Listing, Node, captured, same};

/// How many times a child is killed in the middle of rollbacks; half as often in that of checkpoints.
/// `AURORA_CRASH_ROUNDS` says another number.
const ROUNDS: u64 = 100;

/// How many of them share a world; a longer chain only makes each slower.
const ROUNDS_A_WORLD: u64 = 20;

/// What the child does, said by its parent in the environment.
const WORK: &str = "AURORA_CRASH_WORK";
const WORLD: &str = "AURORA_CRASH_WORLD";
const SEED: &str = "AURORA_CRASH_SEED";
const TIMES: &str = "AURORA_CRASH_TIMES";

/// A file that says that the child is at work.
const READY: &str = "ready";

/// Not a test of its own: the others start it as a process, and kill it.
#[test]
fn a_child_at_work() {
    let (Ok(work), Some(dir)) = (std::env::var(WORK), std::env::var_os(WORLD)) else { return };
    let mut chance = Chance::new(number_from_environment(SEED, 0));
    let times = number_from_environment(TIMES, 1_000);
    let dir = PathBuf::from(dir);
    let workspace = GitWorkspace::open(settings_of(&dir)).unwrap();
    std::fs::write(dir.join(READY), "").unwrap();
    let states: Vec<CheckpointId> = std::fs::read_to_string(workspace.root().join("../states"))
        .map_or_else(
            |_| Vec::new(),
            |text| text.lines().map(|line| CheckpointId(line.to_owned())).collect(),
        );
    for turn in 0..times {
        let done = match work.as_str() {
            "checkpoint" => {
                let text = format!("{turn} {}\n", chance.next());
                let name = format!("made-{}", chance.below(8));
                std::fs::write(workspace.root().join(name), text.repeat(200)).unwrap();
                workspace.checkpoint(&CheckpointRequest::default()).map(drop)
            }
            "rollback" => {
                let mut request = RollbackRequest::to(chance.pick(&states).clone());
                request.moved_head = MovedHead::Accept;
                let done = if chance.one_in(4) {
                    let moved_head = MovedHead::Accept;
                    let undo = UndoRequest { moved_head, ..UndoRequest::default() };
                    workspace.undo(&undo).map(drop)
                } else {
                    workspace.rollback(&request).map(drop)
                };
                match done {
                    Err(aurora_workspace::Error::NotFound { .. }) => Ok(()),
                    done => done,
                }
            }
            "both" => {
                let request = CheckpointRequest {
                    on_unchanged: OnUnchanged::Record,
                    ..CheckpointRequest::default()
                };
                let to = RollbackRequest::to(chance.pick(&states).clone());
                if chance.one_in(2) {
                    workspace.checkpoint(&request).map(drop)
                } else {
                    workspace.rollback(&to).map(drop)
                }
            }
            "promote" => {
                let open = workspace.shadows().unwrap().into_iter();
                let mut open = open.filter(|shadow| shadow.meta.status == Status::Open);
                let promote = |shadow| {
                    workspace.promote_shadow(&shadow, &PromotionRequest::default()).map(drop)
                };
                open.try_for_each(promote)
            }
            "desk" => {
                crate::desk::crash::take_a_turn(&workspace, &dir);
                Ok(())
            }
            other => panic!("nobody asked for {other}"),
        };
        match done {
            Ok(()) | Err(aurora_workspace::Error::Busy { .. }) => {}
            Err(error) => panic!("{work}: {error}"),
        }
    }
}

pub fn start(world: &World, work: &str, seed: u64, times: u64) -> Child {
    std::fs::remove_file(world.dir().join(READY)).ok();
    Command::new(std::env::current_exe().unwrap())
        .args(["crash::a_child_at_work", "--exact", "--nocapture", "--test-threads=1"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env(WORK, work)
        .env(WORLD, world.dir())
        .env(SEED, seed.to_string())
        .env(TIMES, times.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets a child work for a moment and kills it. A child that ended by itself must not have failed.
pub fn kill_after(world: &World, mut child: Child, delay: Duration) {
    let ready = world.dir().join(READY);
    let give_up = Instant::now() + Duration::from_secs(60);
    let mut deadline = None;
    while deadline.is_none_or(|deadline| Instant::now() < deadline) {
        if let Some(status) = child.try_wait().unwrap() {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(status.success(), "the child failed: {said}");
            return;
        }
        assert!(Instant::now() < give_up, "the child does not come to work");
        if deadline.is_none() && ready.exists() {
            deadline = Some(Instant::now() + delay);
        }
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Four states of one worktree, each with a checkpoint; their names are where the child looks.
fn world_with_states(seed: u64) -> (World, Vec<Listing>) {
    let world = World::on_disk();
    let mut chance = Chance::new(seed);
    world.write(".gitignore", "*.log\n");
    world.write("kept.log", "ignored and never touched\n");
    world.commit();
    let workspace = world.workspace();
    let mut ids = String::new();
    let mut listings = Vec::new();
    for state in 0..4 {
        for file in 0..24 {
            let path = format!("d{}/f{file}", file % 5);
            std::fs::remove_file(world.path(&path)).ok();
            match chance.below(5) {
                0 => {}
                1 => {
                    std::fs::create_dir_all(world.path(&path).parent().unwrap()).unwrap();
                    std::os::unix::fs::symlink(format!("target-{state}"), world.path(&path))
                        .unwrap();
                }
                _ => world.write(
                    &path,
                    format!("state {state} file {file}\n").repeat(1 + chance.below(400)),
                ),
            }
        }
        let made = workspace.checkpoint(&CheckpointRequest::default()).unwrap();
        ids.push_str(&format!("{}\n", made.checkpoint.checkpoint_id));
        listings.push(Listing::of(&world.root));
    }
    std::fs::write(world.dir().join("states"), ids).unwrap();
    (world, listings)
}

pub fn fsck(world: &World) {
    let private = world.root.join(".git/aurora/git");
    let said = world.try_git(&private, &["--git-dir=.", "fsck", "--no-dangling", "--no-progress"]);
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.success(), "fsck of the private store: {text}");
    let said = world.try_git(&world.root, &["fsck", "--no-dangling", "--no-progress"]);
    assert!(said.status.success(), "fsck: {}", String::from_utf8_lossy(&said.stderr));
}

/// The chain is unbroken and the newest checkpoints can be read whole.
pub fn chain_is_whole(workspace: &GitWorkspace, chance: &mut Chance) {
    let all = workspace.checkpoints().unwrap();
    for pair in all.windows(2) {
        let previous = pair[1].previous_checkpoint_id.as_ref();
        assert_eq!(previous, Some(&pair[0].checkpoint_id), "the chain is broken");
    }
    for checkpoint in all.iter().rev().take(3) {
        captured(workspace, &checkpoint.tree);
    }
    if !all.is_empty() {
        let any = chance.below(all.len());
        captured(workspace, &all[any].tree);
    }
}

/// How long a child is at work for one turn, on this machine and with what else it has to do now.
pub fn one_turn(world: &World, work: &str) -> Duration {
    let child = start(world, work, 1, 1);
    let ready = world.dir().join(READY);
    let give_up = Instant::now() + Duration::from_secs(60);
    while !ready.exists() {
        assert!(Instant::now() < give_up, "the child does not come to work");
        std::thread::yield_now();
    }
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    began.elapsed()
}

/// A moment between a child's first at work and its third turn.
pub fn delay(chance: &mut Chance, turn: Duration) -> Duration {
    turn * u32::try_from(chance.below(2_500)).unwrap() / 1_000
}

/// Whether content is on the disk or in one of the newest checkpoints.
fn is_somewhere(workspace: &GitWorkspace, disk: &Listing, path: &RepoPath, node: &Node) -> bool {
    if disk.nodes.get(path) == Some(node) {
        return true;
    }
    let Node::File { bytes, .. } = node else { return false };
    let all = workspace.checkpoints().unwrap();
    let mut newest = all.iter().rev().take(200);
    newest.any(|checkpoint| {
        let content = workspace.read(&checkpoint.tree, path).unwrap();
        content.is_some_and(|content| content.bytes == *bytes)
    })
}

/// A listing without what the user writes meanwhile: undoing leaves that alone where the rollback did
/// not touch it, so that any of it may stand beside any state.
fn without_users(listing: &Listing) -> BTreeMap<&RepoPath, &Node> {
    let ours = |path: &RepoPath| !path.name().starts_with(b"user-");
    listing.nodes.iter().filter(|(path, _)| ours(path)).collect()
}

fn rounds() -> u64 {
    number_from_environment("AURORA_CRASH_ROUNDS", ROUNDS)
}

// WSP-4
#[test]
fn a_rollback_that_is_killed_is_completed_or_never_happened() {
    let first = number_from_environment(SEED, 7);
    print!("seeds {first}, {} …: ", first + 1);
    let mut healed = 0;
    for block in 0..rounds().div_ceil(ROUNDS_A_WORLD) {
        healed += kill_rollbacks(first + block);
    }
    println!("{healed} rollbacks were healed");
}

/// Kills rollbacks in a world of their own; says how many had to be healed.
fn kill_rollbacks(seed: u64) -> usize {
    let (world, states) = world_with_states(seed);
    let mut chance = Chance::new(seed);
    let mut healed = 0;
    let turn = one_turn(&world, "rollback");
    for round in 0..ROUNDS_A_WORLD {
        if chance.one_in(2) {
            let work = format!("what the user wrote in round {round}\n");
            world.write(format!("user-{}.txt", round % 3), work);
        }
        let before = Listing::of(&world.root);
        let git = git_state(&world.root.join(".git"));
        let child = start(&world, "rollback", chance.next(), 1_000);
        kill_after(&world, child, delay(&mut chance, turn));
        let workspace = world.workspace();
        healed += workspace.heal().unwrap().len();
        let after = Listing::of(&world.root);
        let found = without_users(&after);
        let sound = found == without_users(&before)
            || states.iter().any(|state| without_users(state) == found);
        assert!(
            sound,
            "round {round} of seed {seed}: half a rollback is left: {:?}, {:?}",
            after.differences(&before),
            states.iter().map(|state| after.differences(state)).collect::<Vec<_>>()
        );
        // All else is in the checkpoints of the four states.
        for (path, node) in &before.nodes {
            let users = path.name().starts_with(b"user-");
            let safe = !users || is_somewhere(&workspace, &after, path, node);
            assert!(safe, "round {round} of seed {seed}: {path} is lost");
        }
        same_git_state(
            &git,
            &settled_git_state(&world.root.join(".git")),
            "after a killed rollback",
        );
        chain_is_whole(&workspace, &mut chance);
    }
    fsck(&world);
    healed
}

// WSP-3
#[test]
fn a_checkpoint_that_is_killed_leaves_a_whole_chain() {
    let first = number_from_environment(SEED, 11);
    print!("seed {first}: ");
    let world = World::on_disk();
    world.write("a", "a\n");
    world.commit();
    let mut chance = Chance::new(first);
    let mut known = 0;
    let turn = one_turn(&world, "checkpoint");
    for round in 0..rounds() / 2 {
        kill_after(
            &world,
            start(&world, "checkpoint", chance.next(), 1_000),
            delay(&mut chance, turn),
        );
        let workspace = world.workspace();
        let disk = Listing::of(&world.root);
        let all = workspace.checkpoints().unwrap().len();
        assert!(all >= known, "round {round} of seed {first}: checkpoints are gone");
        let made = workspace.checkpoint(&CheckpointRequest::default()).unwrap();
        crate::listing::holds_exactly(&workspace, &made.checkpoint, &disk);
        chain_is_whole(&workspace, &mut chance);
        known = workspace.checkpoints().unwrap().len();
        if round % 20 == 0 {
            fsck(&world);
        }
    }
    fsck(&world);
    // Somebody could still be writing what is young; what is old goes.
    let left = leftovers(&world.root.join(".git/aurora"));
    println!("{known} checkpoints, {} files left unfinished", left.len());
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(7_200);
    for path in left {
        std::fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
    }
    world.workspace().prune(&Retention::default()).unwrap();
    assert_eq!(leftovers(&world.root.join(".git/aurora")), [] as [PathBuf; 0]);
}

// WSP-5
#[test]
fn a_promotion_that_is_killed_is_completed_or_never_happened() {
    let first = number_from_environment(SEED, 13);
    println!("seeds {first}, {} …", first + 1);
    let mut healed = 0;
    for block in 0..(rounds() / 2).div_ceil(ROUNDS_A_WORLD) {
        healed += kill_promotions(first + block);
    }
    println!("{healed} promotions were healed");
}

/// A shadow of the worktree in which something was changed, made and removed.
fn changed_shadow(workspace: &GitWorkspace, chance: &mut Chance) -> Shadow {
    let request = ShadowRequest { strategy: Some(Strategy::Copy), ..ShadowRequest::default() };
    let shadow = workspace.create_shadow(&request).unwrap();
    for file in 0..24 {
        let at = shadow.files().join(format!("d{}/f{file}", file % 5));
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        match chance.below(4) {
            0 => {}
            1 => drop(std::fs::remove_file(at)),
            _ => {
                std::fs::remove_file(&at).ok();
                let text = format!("promoted {}\n", chance.next());
                std::fs::write(at, text.repeat(1 + chance.below(300))).unwrap();
            }
        }
    }
    shadow
}

/// Kills promotions in a world of their own; says how many had to be healed.
fn kill_promotions(seed: u64) -> usize {
    let (world, _) = world_with_states(seed);
    let mut chance = Chance::new(seed);
    let mut healed = 0;
    changed_shadow(&world.workspace(), &mut chance);
    let turn = one_turn(&world, "promote");
    for round in 0..ROUNDS_A_WORLD {
        let shadow = changed_shadow(&world.workspace(), &mut chance);
        let before = Listing::of(&world.root);
        let wanted = Listing::of(&shadow.files());
        let git = git_state(&world.root.join(".git"));
        let child = start(&world, "promote", chance.next(), 1);
        kill_after(&world, child, delay(&mut chance, turn) / 2);
        let workspace = world.workspace();
        healed += workspace.heal().unwrap().len();
        let after = Listing::of(&world.root);
        assert!(
            after.nodes == before.nodes || after.nodes == wanted.nodes,
            "round {round} of seed {seed}: half a promotion is left: {:?}, {:?}",
            after.differences(&before),
            after.differences(&wanted)
        );
        same_git_state(
            &git,
            &settled_git_state(&world.root.join(".git")),
            "after a killed promotion",
        );
        // Whatever happened, the shadow's work can still be had.
        let shadow = workspace.find_shadow(&shadow.meta.id).unwrap();
        if shadow.meta.status == Status::Open {
            workspace.promote_shadow(&shadow, &PromotionRequest::default()).unwrap();
        }
        same(&wanted, &Listing::of(&world.root), "after the promotion in the end");
        chain_is_whole(&workspace, &mut chance);
    }
    fsck(&world);
    healed
}

/// Temporary files that nobody will ever use.
fn leftovers(at: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![at.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if name.contains("tmp_") {
                found.push(entry.path());
            }
        }
    }
    found
}

// WSP-3, WSP-4
#[test]
fn two_processes_at_once_do_not_disturb_each_other() {
    let (world, states) = world_with_states(3);
    let children: Vec<Child> = (0..2).map(|seed| start(&world, "both", seed, 15)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
    let workspace = world.workspace();
    assert_eq!(workspace.heal().unwrap(), []);
    let after = Listing::of(&world.root);
    assert!(states.iter().any(|state| state.nodes == after.nodes), "a mixture is left");
    chain_is_whole(&workspace, &mut Chance::new(1));
    fsck(&world);
}
