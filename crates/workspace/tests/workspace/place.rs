//! Unfriendly places: full disks, read-only ones, clocks that jump, names that mean harm.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};

use aurora_model::{RepoPath, Timestamp};
use aurora_workspace::{
    CheckpointRequest, GitWorkspace, OnUnchanged, RollbackRequest, Workspace as _,
};

use crate::harness::World;
use crate::listing::{Listing, holds_exactly, same};

/// A small file system of its own, gone when dropped.
struct Small {
    at: PathBuf,
}

impl Small {
    /// Nothing where the kernel does not let us; that is said aloud.
    fn mount(at: &Path, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let size = format!("size={bytes}");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(at)
            .output()
            .is_ok_and(|output| output.status.success());
        if !done {
            eprintln!("SKIPPED: no file system can be mounted here (not root?): full disks");
        }
        done.then(|| Self { at: at.to_owned() })
    }

    fn make_read_only(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.at).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.at).status().ok();
    }
}

/// A world whose worktree, or git folder, is on a small file system.
fn small_world(part: &str, bytes: u64) -> Option<(World, Small)> {
    let world = World::on_disk();
    let moved = world.dir().join("moved");
    let (mounted, data) = match part {
        "repository" => (world.root.clone(), None),
        "git folder" => (world.dir().join("git"), Some(world.dir().join("git/dir"))),
        _ => (world.root.clone(), Some(world.dir().join("git-dir"))),
    };
    std::fs::rename(&world.root, &moved).unwrap();
    let small = Small::mount(&mounted, bytes)?;
    std::fs::create_dir_all(&world.root).unwrap();
    let mut args = vec!["init".to_owned(), "--quiet".to_owned(), "--template=".to_owned()];
    if let Some(data) = data {
        args.push(format!("--separate-git-dir={}", data.display()));
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    world.git(&args);
    Some((world, small))
}

/// Fills what is left of a file system and gives the name of the file that does it.
fn fill(folder: &Path) -> PathBuf {
    let at = folder.join("filler");
    let mut file = std::fs::File::create(&at).unwrap();
    while std::io::Write::write_all(&mut file, &[b'x'; 4096]).is_ok() {}
    while std::io::Write::write_all(&mut file, b"x").is_ok() {}
    at
}

// WSP-3
#[test]
fn a_checkpoint_on_a_full_disk_fails_cleanly_and_works_again_with_space() {
    let Some((world, small)) = small_world("git folder", 3 << 20) else { return };
    world.write("a", "a\n");
    world.commit();
    let workspace = world.workspace();
    let first = workspace.checkpoint(&CheckpointRequest::default()).unwrap().checkpoint;
    let filler = fill(&small.at);
    let noise: Vec<u8> =
        (0..400_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    world.write("large", &noise);
    let disk = Listing::of(&world.root);
    let error = workspace.checkpoint(&CheckpointRequest::default()).unwrap_err();
    println!("on a full disk: {error}");
    same(&disk, &Listing::of(&world.root), "a checkpoint on a full disk");
    assert_eq!(world.workspace().checkpoints().unwrap().len(), 1);
    std::fs::remove_file(filler).unwrap();
    let made = workspace.checkpoint(&CheckpointRequest::default()).unwrap();
    holds_exactly(&workspace, &made.checkpoint, &disk);
    let back = workspace.rollback(&RollbackRequest::to(first.checkpoint_id)).unwrap();
    assert!(!world.path("large").exists(), "{back:?}");
}

// WSP-4
#[test]
fn a_rollback_onto_a_full_disk_loses_nothing() {
    let Some((world, _small)) = small_world("worktree", 3 << 20) else { return };
    let noise: Vec<u8> =
        (0..900_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    world.write("large", &noise);
    world.write("small", "small\n");
    world.write("gone-later", &noise);
    world.commit();
    let workspace = world.workspace();
    let full = workspace.checkpoint(&CheckpointRequest::default()).unwrap().checkpoint;
    let wanted = Listing::of(&world.root);
    std::fs::remove_file(world.path("gone-later")).unwrap();
    std::fs::remove_file(world.path("large")).unwrap();
    world.write("small", "changed\n");
    world.write(".gitignore", "filler\n");
    let filler = fill(&world.root);
    let before = Listing::of(&world.root);
    let tried = workspace.rollback(&RollbackRequest::to(full.checkpoint_id.clone()));
    println!("on a full disk: {:?}", tried.as_ref().map(|report| &report.paths));
    let after = Listing::of(&world.root);
    let small = RepoPath::new("small").unwrap();
    let states = [before.nodes.get(&small), wanted.nodes.get(&small)];
    assert!(states.contains(&after.nodes.get(&small)), "half of a file is left");
    let odd = after.nodes.keys().filter(|path| path.name().starts_with(b".aurora"));
    let odd: Vec<_> = odd.collect();
    assert!(odd.is_empty(), "temporary files are left: {odd:?}");
    std::fs::remove_file(filler).unwrap();
    let workspace = world.workspace();
    workspace.heal().unwrap();
    let again = workspace.rollback(&RollbackRequest::to(full.checkpoint_id)).unwrap();
    let now = Listing::of(&world.root);
    assert_eq!(now.nodes.get(&small), wanted.nodes.get(&small), "{:?}", again.paths);
    same(&wanted, &now, "with space again");
}

// WSP-3
#[test]
fn a_read_only_repository_is_refused_with_words() {
    let Some((world, small)) = small_world("repository", 3 << 20) else { return };
    world.write("a", "a\n");
    world.commit();
    let workspace = world.workspace();
    workspace.checkpoint(&CheckpointRequest::default()).unwrap();
    world.write("a", "b\n");
    small.make_read_only();
    let error = workspace.checkpoint(&CheckpointRequest::default()).unwrap_err();
    assert!(!error.to_string().is_empty());
    println!("on a read-only disk: {error}");
    // Reading still works.
    let reader = GitWorkspace::open(world.settings());
    if let Ok(reader) = reader {
        assert_eq!(reader.checkpoints().unwrap().len(), 1);
    }
}

static CLOCK: AtomicI64 = AtomicI64::new(1_700_000_000_000);

fn jumping_clock() -> Timestamp {
    Timestamp { unix_ms: CLOCK.load(Ordering::SeqCst) }
}

// WSP-3
#[test]
fn a_clock_that_jumps_back_does_not_reorder_the_chain() {
    let world = World::on_disk();
    world.write("a", "0\n");
    world.commit();
    let mut settings = world.settings();
    settings.now = jumping_clock;
    let workspace = GitWorkspace::open(settings).unwrap();
    let mut made = Vec::new();
    for (turn, jump) in
        [0, -86_400_000, 5, -1_700_000_000_000, 0, 86_400_000].into_iter().enumerate()
    {
        CLOCK.fetch_add(jump, Ordering::SeqCst);
        world.write("a", format!("{turn}\n"));
        let created = workspace.checkpoint(&CheckpointRequest::default()).unwrap();
        made.push(created.checkpoint.checkpoint_id);
    }
    let listed: Vec<_> =
        workspace.checkpoints().unwrap().into_iter().map(|one| one.checkpoint_id).collect();
    assert_eq!(listed, made);
    assert_eq!(workspace.find("latest").unwrap().checkpoint_id, made[5]);
    workspace.rollback(&RollbackRequest::to(made[1].clone())).unwrap();
    assert_eq!(std::fs::read(world.path("a")).unwrap(), b"1\n");
}

// WSP-3, WSP-4
#[test]
fn names_that_mean_harm_are_only_names() {
    let world = World::on_disk();
    let names: &[&[u8]] = &[
        b"-rf",
        b"--exec=touch pwned",
        b"$(touch pwned)",
        b"`touch pwned`",
        b"a;touch pwned",
        b":(top)x",
        b"!x",
        b"#x",
        b"* *",
        b"\xff\xff",
        b"nl\n",
        b"\"",
        b"\\",
        b" lead",
        b"trail ",
        b"...",
        b"HEAD",
        b"refs/heads/x",
        b"con",
        b"a:b",
        b".gitmodules2",
        b"\x01\x02",
        b"%s%n",
        b".git2/x",
        b".aurora-x",
    ];
    for name in names {
        world.write(name, [*name, b"\n"].concat());
    }
    let long = "l".repeat(255);
    world.write(&long, "long\n");
    let workspace = world.workspace();
    let disk = Listing::of(&world.root);
    let first = workspace.checkpoint(&CheckpointRequest::default()).unwrap().checkpoint;
    let held = holds_exactly(&workspace, &first, &disk);
    assert_eq!(held.len(), names.len() + 1);
    for name in names {
        std::fs::remove_file(world.path(name)).unwrap();
    }
    world.write(&long, "changed\n");
    let request =
        CheckpointRequest { on_unchanged: OnUnchanged::Record, ..CheckpointRequest::default() };
    workspace.checkpoint(&request).unwrap();
    workspace.rollback(&RollbackRequest::to(first.checkpoint_id)).unwrap();
    same(&disk, &Listing::of(&world.root), "after the rollback");
    assert!(!world.path("pwned").exists() && !world.home().join("pwned").exists());
}
