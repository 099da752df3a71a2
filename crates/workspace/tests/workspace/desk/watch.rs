//! What somebody does to git's own data or to the run's worktree is noticed, whoever it was.

use std::os::unix::fs::PermissionsExt as _;

use aurora_workspace::Desk;
use aurora_workspace::desk::Notice;

use super::{Run, read, write};

impl Run {
    fn owned(&self, number: u32) -> (Desk, aurora_model::TreeId) {
        let desk = self.home.desk_of("r1", number).unwrap();
        let base = desk.prepare().unwrap().base;
        (desk, base)
    }

    fn noticed(&self) -> Vec<Notice> {
        self.home.noticed("r1").unwrap()
    }

    fn told(&self, critical: bool) -> String {
        let noticed = self.noticed().into_iter().filter(|one| one.critical == critical);
        noticed.map(|one| one.what).collect::<Vec<_>>().join("\n")
    }
}

// EXE-6
#[test]
fn what_a_run_and_its_attempts_do_themselves_is_nothing_to_notice() {
    let run = Run::new();
    assert_eq!(run.noticed(), [], "nothing is watched before the first desk");
    for round in 0..3 {
        let (desk, base) = run.owned(1);
        let (_other, _) = run.owned(2);
        write(desk.path(), "a.txt", format!("round {round}\n"));
        write(desk.path(), &format!("new-{round}"), "new\n");
        run.world.try_git(desk.path(), &["add", "-A"]);
        run.world.try_git(desk.path(), &["commit", "-qm", "at the desk"]);
        let found = desk.changes(&base).unwrap();
        let adopted = desk.adopt(&base, &found.result, "work").unwrap();
        assert!(adopted.is_done() && adopted.foreign.is_empty(), "{adopted:?}");
        run.home.look_for_foreign("r1").unwrap();
        assert_eq!(run.noticed(), [], "round {round}");
    }
    super::open(&run.world.workspace(), "another");
    assert_eq!(run.noticed(), [], "worktrees of ours have branches of ours");
}

// EXE-6
#[test]
fn what_git_would_execute_is_noticed_until_it_is_undone_also_by_the_next_process() {
    let run = Run::new();
    run.owned(1);
    let hook = run.world.path(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    run.world.git(&["config", "core.fsmonitor", "false"]);
    run.world.git(&["config", "user.name", "somebody"]);
    // The next attempt begins; what stands is not forgotten.
    run.owned(1);
    let told = run.told(true);
    assert!(told.contains("hooks/pre-commit") && told.contains("core.fsmonitor"), "{told}");
    let again = super::open(&run.world.workspace(), "login");
    assert_eq!(again.noticed("r1").unwrap(), run.noticed());
    let before = run.noticed();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    assert_ne!(run.noticed(), before, "another content is another thing to tell");
    std::fs::remove_file(&hook).unwrap();
    run.world.git(&["config", "--unset", "core.fsmonitor"]);
    assert_eq!(run.told(true), "");
    run.home.remove_desks_of_owner("r1").unwrap();
    assert_eq!(run.noticed(), [], "what is over is forgotten");
}

// EXE-6
#[test]
fn moved_refs_heads_and_indexes_are_noticed() {
    let run = Run::new();
    run.world.git(&["branch", "other"]);
    let (desk, _) = run.owned(1);
    write(desk.path(), ".env", "secret\n");
    run.world.try_git(desk.path(), &["add", "-f", ".env"]);
    run.world.try_git(desk.path(), &["commit", "-qm", "hidden"]);
    run.world.try_git(desk.path(), &["update-ref", "refs/heads/aurora/login", "HEAD"]);
    run.world.try_git(desk.path(), &["update-ref", "refs/heads/other", "HEAD"]);
    run.world.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let (head, old) =
        (run.world.git(&["rev-parse", "HEAD"]), run.world.git(&["rev-parse", "other"]));
    run.world.git(&["replace", head.trim(), old.trim()]);
    let (critical, other) = (run.told(true), run.told(false));
    assert!(critical.contains("the run's branch was moved"), "{critical}");
    assert!(critical.contains("refs/replace/"), "{critical}");
    assert!(other.contains("the branch other is at"), "{other}");
    assert!(other.contains("refs/remotes/origin/main"), "{other}");
    run.world.git(&["checkout", "-q", "other"]);
    assert!(run.told(false).contains("your checkout has other checked out"), "{}", run.told(false));
    run.world.git(&["rm", "-q", "--cached", "data.bin"]);
    assert!(run.told(false).contains("staged in your checkout"), "{}", run.told(false));
    std::fs::remove_file(run.world.path(".git/index")).unwrap();
    assert!(run.told(true).contains("the index of your checkout is gone"), "{}", run.told(true));
    run.world.try_git(run.root(), &["checkout", "-q", "--detach"]);
    assert!(run.told(true).contains("the run's worktree has commit"), "{}", run.told(true));
    std::fs::write(run.world.path(".git/HEAD"), "nonsense\n").unwrap();
    let told = run.told(true);
    assert!(told.contains("your checkout has nothing checked out"), "{told}");
}

// EXE-6
#[test]
fn what_is_written_into_the_runs_worktree_by_others_is_noticed_and_kept() {
    let run = Run::new();
    let (desk, base) = run.owned(1);
    write(desk.path(), "b.txt", "work\n");
    write(run.root(), "planted.txt", "planted\n");
    let found = desk.changes(&base).unwrap();
    let adopted = desk.adopt(&base, &found.result, "work").unwrap();
    let foreign: Vec<String> = adopted.foreign.iter().map(ToString::to_string).collect();
    assert_eq!(foreign, ["planted.txt"]);
    assert!(run.told(true).contains("+ planted.txt"), "{}", run.told(true));
    assert_eq!(read(run.root(), "planted.txt"), "planted\n");
    // The next preparation does not absorb it unseen either, and neither does the end.
    write(run.root(), "a.txt", "planted\n");
    run.owned(1);
    assert!(run.told(true).contains("~ a.txt"), "{}", run.told(true));
    std::fs::remove_file(run.root().join("data.bin")).unwrap();
    run.home.look_for_foreign("r1").unwrap();
    assert!(run.told(true).contains("- data.bin"), "{}", run.told(true));
    assert_eq!(run.noticed().len(), 3, "{:?}", run.noticed());
    // What git ignores is in no checkpoint, and yet it would be committed.
    write(run.root(), "secret.log", "planted\n");
    run.world.try_git(run.root(), &["add", "-f", "secret.log"]);
    assert!(run.told(true).contains("what is staged in the run's worktree"), "{}", run.told(true));
}

// EXE-6
#[test]
fn a_baseline_that_is_taken_away_is_noticed() {
    let run = Run::new();
    run.owned(1);
    let notes = run.world.path(".git/aurora/features");
    let find = |begin: &str| {
        let folders = std::fs::read_dir(&notes).unwrap().flatten();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
        files
            .map(|file| file.path())
            .find(|path| path.file_name().unwrap().to_string_lossy().starts_with(begin))
    };
    std::fs::remove_file(find("watch-r1").unwrap()).unwrap();
    assert!(run.told(true).contains("is gone"), "{}", run.told(true));
    run.owned(1);
    assert!(run.told(true).contains("is gone"), "{}", run.told(true));
}
