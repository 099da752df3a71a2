//! Escapes as they are made, and how they are told.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use aurora_model::{Change, ChangeKind, Constraint, EntryMode, Severity, SkipReason, Skipped};

use super::*;
use crate::fixture::{Repo, path};

fn added(name: &str, mode: EntryMode) -> Change {
    Change { path: path(name), kind: ChangeKind::Added, before: None, after: Some(mode) }
}

fn target_on_disk(root: &Path, path: &RepoPath) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    let target = std::fs::read_link(root.join(as_os_path(path.as_bytes()))).ok()?;
    Some(target.as_os_str().as_bytes().to_vec())
}

/// Checks changes of a repository on the disk.
fn check_in(repo: &Repo, changes: &[Change], others: &[&str]) -> Vec<Violation> {
    let root = repo.root().canonicalize().unwrap();
    let git_dirs = [root.join(".git")];
    let link = |path: &RepoPath| target_on_disk(&root, path);
    let facts = |path: &RepoPath| Facts::of(&root, path);
    let others = || others.iter().map(|name| path(name)).collect();
    let ground = Ground {
        root: &root,
        git_dirs: &git_dirs,
        link: &link,
        other_links: &others,
        facts: &facts,
        used_bytes: Some(10),
        quota_bytes: 100,
    };
    check(changes, &[], &ground)
}

fn link_is(repo: &Repo, name: &str, target: &str, expected: Option<Constraint>) {
    let at = repo.path(name);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&at);
    symlink(target, &at).unwrap();
    let found = check_in(repo, &[added(name, EntryMode::Symlink)], &[]);
    let constraints: Vec<Constraint> = found.iter().map(|one| one.constraint).collect();
    assert_eq!(constraints, expected.into_iter().collect::<Vec<_>>(), "{name} -> {target}");
    assert!(found.iter().all(|one| one.file == Some(path(name))), "{found:?}");
    assert!(at.symlink_metadata().is_ok(), "the link is still there: {name}");
}

/// WSP-6: the attack works, so the report is no false alarm; and nothing is unlinked.
#[test]
fn a_link_through_which_a_file_outside_can_be_read_is_told() {
    let repo = Repo::new();
    std::fs::write(repo.home().join("secret"), "top secret").unwrap();
    symlink(repo.home().join("secret"), repo.path("innocent.txt")).unwrap();
    assert_eq!(repo.read("innocent.txt").unwrap(), b"top secret", "the attack works");
    let found = check_in(&repo, &[added("innocent.txt", EntryMode::Symlink)], &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].constraint, Constraint::SymlinkEscape);
    assert_eq!(found[0].severity, Severity::Error);
    assert_eq!(repo.read("innocent.txt").unwrap(), b"top secret", "nothing was unlinked");
}

// WSP-6
#[test]
fn links_are_followed_from_their_own_folder_and_through_other_links() {
    let repo = Repo::new();
    let outside = Some(Constraint::SymlinkEscape);
    let git = Some(Constraint::SymlinkIntoGit);
    let root = repo.root().canonicalize().unwrap();
    let inside = root.join("src/a.txt");
    link_is(&repo, "l", "src/a.txt", None);
    link_is(&repo, "l", "dangling", None);
    link_is(&repo, "l", "l", None);
    link_is(&repo, "l", inside.to_str().unwrap(), None);
    link_is(&repo, "l", "/etc/passwd", outside);
    link_is(&repo, "l", "/", outside);
    link_is(&repo, "l", "..", outside);
    link_is(&repo, "l", ".", None);
    link_is(&repo, "d/e/l", "../../src/a.txt", None);
    link_is(&repo, "d/e/l", "../../../home", outside);
    link_is(&repo, "l", "src/../../home/x", outside);
    // Up and down again into the same root.
    link_is(&repo, "l", "../repo/src/a.txt", None);
    // The parent's other folders are outside, and what they lead to is not known.
    link_is(&repo, "l", "../home/../repo/src/a.txt", outside);
    link_is(&repo, "l", ".git", git);
    link_is(&repo, "l", ".git/hooks/pre-commit", git);
    link_is(&repo, "l", "src/../.GIT/config", git);
    link_is(&repo, "d/l", "../.git/config", git);
    link_is(&repo, "l", root.join(".git/config").to_str().unwrap(), git);
    link_is(&repo, "l", "../other/.git/hooks", git);
    // Through another link: neither of the names says it.
    symlink("..", repo.path("up")).unwrap();
    link_is(&repo, "through", "up/home", outside);
    symlink(".git", repo.path("g")).unwrap();
    link_is(&repo, "through", "g/hooks", git);
    symlink("r2", repo.path("r1")).unwrap();
    symlink("r1", repo.path("r2")).unwrap();
    link_is(&repo, "through", "r1/x", None);
    // As in the git folder of a linked worktree, which has no `.git` in its name.
    let ground_dir = root.parent().unwrap().join("bare-like");
    let dirs = [ground_dir.clone()];
    let target = ground_dir.join("hooks");
    let link = |_: &RepoPath| None;
    let ground = Ground {
        root: &root,
        git_dirs: &dirs,
        link: &link,
        other_links: &Vec::new,
        facts: &|_| None,
        used_bytes: None,
        quota_bytes: 0,
    };
    let found = link::follow(&path("x"), target.to_str().unwrap().as_bytes(), &ground);
    assert!(matches!(found, Destination::GitData(_)), "{found:?}");
}

// WSP-6
#[test]
fn an_old_link_that_a_new_one_turns_outside_is_told() {
    let repo = Repo::new();
    std::fs::create_dir_all(repo.path("sub/b")).unwrap();
    std::fs::write(repo.home().join("x"), "outside").unwrap();
    symlink("b/../home/x", repo.path("sub/a")).unwrap();
    let quiet = check_in(&repo, &[added("src/a.txt", EntryMode::File)], &["sub/a"]);
    assert_eq!(quiet, [], "with `b` a folder it leads inside");
    std::fs::remove_dir(repo.path("sub/b")).unwrap();
    symlink("..", repo.path("sub/b")).unwrap();
    assert_eq!(repo.read("sub/a").unwrap(), b"outside", "the attack works");
    let found = check_in(&repo, &[added("sub/b", EntryMode::Symlink)], &["sub/a", "sub/b"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].file, Some(path("sub/a")));
}

// WSP-6
#[test]
fn hard_links_executables_special_files_and_the_quota_are_told() {
    let repo = Repo::new();
    std::fs::write(repo.home().join("shared"), "one content").unwrap();
    std::fs::hard_link(repo.home().join("shared"), repo.path("linked")).unwrap();
    std::fs::write(repo.path("linked"), "changed").unwrap();
    let outside = std::fs::read(repo.home().join("shared")).unwrap();
    assert_eq!(outside, b"changed", "the attack works");
    let found = check_in(&repo, &[added("linked", EntryMode::File)], &[]);
    assert_eq!((found.len(), found[0].constraint), (1, Constraint::HardLink));
    assert_eq!(found[0].severity, Severity::Warning);
    // Both names among the changes: nothing is shared with anybody outside.
    repo.write("p", "x");
    std::fs::hard_link(repo.path("p"), repo.path("q")).unwrap();
    let both = [added("p", EntryMode::File), added("q", EntryMode::File)];
    assert_eq!(check_in(&repo, &both, &[]), []);
    assert_eq!(check_in(&repo, &both[..1], &[]).len(), 1);

    let now_runs = Change {
        path: path("run.sh"),
        kind: ChangeKind::ModeChanged,
        before: Some(EntryMode::File),
        after: Some(EntryMode::Executable),
    };
    let still_runs = Change { before: Some(EntryMode::Executable), ..now_runs.clone() };
    for (change, count) in
        [(&now_runs, 1), (&still_runs, 0), (&added("n", EntryMode::Executable), 1)]
    {
        let found = check_in(&repo, std::slice::from_ref(change), &[]);
        assert_eq!(found.len(), count, "{change:?}");
        assert!(found.iter().all(|one| one.constraint == Constraint::NewExecutable));
    }

    let root = repo.root();
    let ground = Ground {
        root: &root,
        git_dirs: &[],
        link: &|_| None,
        other_links: &Vec::new,
        facts: &|_| None,
        used_bytes: Some(101),
        quota_bytes: 100,
    };
    let pipe =
        Skipped { path: path("pipe"), reason: SkipReason::SpecialFile, folder: false, bytes: None };
    let ignored =
        Skipped { path: path("i"), reason: SkipReason::Ignored, folder: false, bytes: None };
    let found = check(&[], &[pipe, ignored], &ground);
    let constraints: Vec<_> = found.iter().map(|one| (one.constraint, one.severity)).collect();
    let error = Severity::Error;
    assert_eq!(constraints, [(Constraint::Quota, error), (Constraint::SpecialFile, error)]);
}

// WSP-6
#[test]
fn paths_that_lead_out_are_told_and_others_are_not() {
    for text in
        ["/etc/passwd", "..", "a/../../b", "../x", "~/.ssh/id", "C:\\x", "a\\..\\..\\b", "a\0b"]
    {
        let found = path_escapes(text).unwrap_or_else(|| panic!("{text:?} is told"));
        assert_eq!(found.constraint, Constraint::PathEscape);
    }
    for text in ["a", "a/b", "a/../b", "./a", "..a", "a..", "a~b", "...", "-n"] {
        assert_eq!(path_escapes(text), None, "{text:?}");
    }
}

fn place_of(repo: &Repo) -> crate::git::Place {
    crate::git::Place::find(&repo.settings()).unwrap()
}

/// What a change of git's data is told as, looking before and after.
fn told(repo: &Repo, nested: &[RepoPath], change: impl FnOnce()) -> Vec<(String, Severity)> {
    let place = place_of(repo);
    let before = git_data::fingerprint(&place, nested, None);
    assert_eq!(
        git_data::compare(&before, &git_data::fingerprint(&place, nested, Some(&before))),
        []
    );
    before.store(&place).unwrap();
    let before = GitFingerprint::load(&place).unwrap().unwrap();
    change();
    let after = git_data::fingerprint(&place, nested, Some(&before));
    let found = git_data::compare(&before, &after);
    assert!(found.iter().all(|one| one.constraint == Constraint::GitData));
    found
        .into_iter()
        .map(|one| (one.file.map(|file| file.to_string()).unwrap_or_default(), one.severity))
        .collect()
}

fn make_hook(at: &Path) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, "#!/bin/sh\ntouch ../pwned\n").unwrap();
    std::fs::set_permissions(at, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// WSP-6: a hook that somebody slipped in really runs, and it is told before it does.
#[test]
fn a_hook_that_appears_is_critical() {
    let repo = Repo::new();
    let hook = repo.path(".git/hooks/pre-commit");
    let found = told(&repo, &[], || make_hook(&hook));
    assert_eq!(found, [(".git/hooks/pre-commit".to_owned(), Severity::Critical)]);
    repo.commit("runs the hook");
    assert!(repo.root().parent().unwrap().join("pwned").exists(), "the attack works");
    let sleeping = told(&repo, &[], || {
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o644)).unwrap();
    });
    assert_eq!(sleeping, [(".git/hooks/pre-commit".to_owned(), Severity::Error)]);
    let gone = told(&repo, &[], || std::fs::remove_file(&hook).unwrap());
    assert_eq!(gone, [(".git/hooks/pre-commit".to_owned(), Severity::Error)]);
    let sample = told(&repo, &[], || make_hook(&repo.path(".git/hooks/x.sample")));
    assert_eq!(sample, [], "git never runs samples");
}

// WSP-6
#[test]
fn settings_that_execute_are_critical_and_bookkeeping_is_not() {
    let repo = Repo::new();
    let config = || ".git/config".to_owned();
    let critical = [
        "core.hooksPath",
        "core.fsmonitor",
        "core.sshCommand",
        "filter.lfs.smudge",
        "alias.st",
        "diff.external",
        "diff.x.textconv",
        "merge.x.driver",
        "include.path",
        "includeIf.onbranch:main.path",
        "url.https://evil/.insteadOf",
        "remote.origin.url",
        "credential.helper",
        "gpg.ssh.program",
        "core.worktree",
    ];
    for key in critical {
        let found = told(&repo, &[], || drop(repo.git(&["config", key, "/evil"])));
        assert_eq!(found, [(config(), Severity::Critical)], "{key}");
        repo.git(&["config", "--unset", key]);
    }
    let found = told(&repo, &[], || drop(repo.git(&["config", "core.autocrlf", "true"])));
    assert_eq!(found, [(config(), Severity::Error)]);
    let found = told(&repo, &[], || drop(repo.git(&["config", "branch.main.remote", "origin"])));
    assert_eq!(found, [(config(), Severity::Info)]);
    let before = repo.read(".git/config").unwrap();
    let found = told(&repo, &[], || {
        repo.write(".git/config", [b"# a comment\n", before.as_slice()].concat());
    });
    assert_eq!(found, [], "git reads the same");
    let found = told(&repo, &[], || repo.write(".git/config", "[[[ broken"));
    assert_eq!(found, [(config(), Severity::Critical)]);
}

// WSP-6
#[test]
fn git_data_of_submodules_worktrees_and_nested_repositories_is_watched() {
    let repo = Repo::new();
    let other = Repo::new();
    let url = other.root();
    repo.git(&["submodule", "--quiet", "add", "--name", "deep/name", url.to_str().unwrap(), "sub"]);
    repo.git(&["worktree", "add", "--quiet", "-b", "w", "../linked"]);
    repo.git(&["init", "--quiet", "nested"]);
    let nested = [path("nested"), path("sub")];
    let check = |change: &dyn Fn(), file: &str| {
        let found = told(&repo, &nested, change);
        assert_eq!(found, [(file.to_owned(), Severity::Critical)], "{file}");
    };
    let hook = |at: &'static str| move |repo: &Repo| make_hook(&repo.path(at));
    let in_module = ".git/modules/deep/name/hooks/post-checkout";
    check(&|| hook(in_module)(&repo), in_module);
    check(&|| hook("nested/.git/hooks/pre-push")(&repo), "nested/.git/hooks/pre-push");
    let fsmonitor = || drop(repo.git(&["-C", "nested", "config", "core.fsmonitor", "/evil"]));
    check(&fsmonitor, "nested/.git/config");
    let elsewhere = || repo.write("sub/.git", "gitdir: /evil\n");
    check(&elsewhere, "sub/.git");
    let gitdir = ".git/worktrees/linked/gitdir";
    check(&|| repo.write(gitdir, "/evil/.git\n"), gitdir);
    let alternates = ".git/objects/info/alternates";
    check(&|| repo.write(alternates, "/evil/objects\n"), alternates);
    let found = told(&repo, &nested, || repo.write(".git/info/attributes", "* filter=x\n"));
    assert_eq!(found, [(".git/info/attributes".to_owned(), Severity::Error)]);
    let found = told(&repo, &nested, || {
        repo.git(&["checkout", "--quiet", "-b", "elsewhere"]);
        repo.git(&["commit", "--quiet", "--allow-empty", "-m", "own work"]);
        repo.git(&["tag", "t"]);
    });
    assert_eq!(found, [], "the user's own work is no violation");
}

// WSP-6
#[test]
fn a_change_within_one_tick_of_the_clock_is_seen() {
    let repo = Repo::new();
    repo.git(&["config", "core.abbrev", "10"]);
    let place = place_of(&repo);
    for round in 0..20 {
        let before = git_data::fingerprint(&place, &[], None);
        let text = String::from_utf8(repo.read(".git/config").unwrap()).unwrap();
        let (from, to) = if round % 2 == 0 { ("= 10", "= 11") } else { ("= 11", "= 10") };
        // In place and of the same size: only the times could tell, and they may be the same.
        std::fs::write(repo.path(".git/config"), text.replace(from, to)).unwrap();
        let after = git_data::fingerprint(&place, &[], Some(&before));
        assert_eq!(git_data::compare(&before, &after).len(), 1, "round {round}");
    }
}
