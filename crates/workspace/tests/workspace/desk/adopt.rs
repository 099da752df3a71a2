//! What attempts did reaches the run's worktree: all of it, merged where that is possible, or nothing.

use std::os::unix::fs::{PermissionsExt, symlink};

use aurora_model::{ChangeKind, CheckpointKind, Constraint};
use aurora_workspace::desk::{Adopted, Desk};
use aurora_workspace::git::worktree::RemoveWorktree;
use aurora_workspace::{UndoRequest, Workspace as _};

use super::{Run, kept, read, said, same_state, write};
use crate::listing::Listing;

/// Lets a desk's attempt be adopted.
fn adopt(desk: &Desk, base: &aurora_model::TreeId) -> Adopted {
    let changes = desk.changes(base).unwrap();
    desk.adopt(base, &changes.result, "a task").unwrap()
}

/// Both desks begin with the same, each does its part, the first is adopted, then the second.
fn two(one: impl FnOnce(&std::path::Path), other: impl FnOnce(&std::path::Path)) -> (Run, Adopted) {
    let run = Run::new();
    write(run.root(), "untracked.txt", "1\n2\n3\n4\n5\n6\n7\n");
    let ((first, base), (second, same)) = (run.prepared(1), run.prepared(2));
    assert_eq!(base, same);
    one(first.path());
    other(second.path());
    assert!(adopt(&first, &base).is_done());
    let before = Listing::of(run.root());
    let adopted = adopt(&second, &base);
    if !adopted.is_done() {
        assert_eq!(Listing::of(run.root()), before, "nothing was changed");
        assert!(adopted.checkpoint.is_none() && adopted.changed.is_empty());
    }
    // And once more, as after a crash.
    let again = adopt(&second, &base);
    assert_eq!(again.conflicts, adopted.conflicts);
    assert_eq!((&again.changed, &again.merged), (&adopted.changed, &adopted.merged));
    assert_eq!(again.checkpoint, adopted.checkpoint);
    (run, adopted)
}

// EXE-4
#[test]
fn disjoint_work_of_two_desks_is_adopted_and_both_begin_with_it_next() {
    let (run, adopted) = two(
        |at| {
            write(at, "one.txt", "one\n");
            write(at, "src/lib.rs", "fn changed() {}\n");
        },
        |at| {
            write(at, "two/two.txt", "two\n");
            std::fs::remove_file(at.join("data.bin")).unwrap();
            std::fs::create_dir_all(at.join("empty")).unwrap();
        },
    );
    assert!(adopted.is_done() && adopted.merged.is_empty());
    let checkpoint = adopted.checkpoint.unwrap();
    assert_eq!((checkpoint.kind, checkpoint.message.as_str()), (CheckpointKind::Adopted, "a task"));
    let kinds: Vec<ChangeKind> = adopted.changed.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [ChangeKind::Deleted, ChangeKind::Added]);
    assert_eq!(read(run.root(), "one.txt"), "one\n");
    assert_eq!(read(run.root(), "two/two.txt"), "two\n");
    assert!(!run.root().join("data.bin").exists() && run.root().join("empty").is_dir());
    for number in [1, 2] {
        let (desk, _) = run.prepared(number);
        same_state(&run, &desk, "both have all of it");
    }
    assert_eq!(run.home.verify_chain().unwrap(), [] as [String; 0]);
    run.home.undo(&UndoRequest::default()).unwrap();
    assert!(run.root().join("data.bin").exists(), "an adoption can be undone");
    assert_eq!(read(run.root(), "one.txt"), "one\n", "and only the latest is");
}

// EXE-4
#[test]
fn different_lines_of_one_file_are_merged() {
    let (run, adopted) = two(
        |at| {
            write(at, "a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n");
            write(at, "untracked.txt", "1\n2\n3\n4\n5\n6\nseven\n");
        },
        |at| {
            write(at, "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
            write(at, "untracked.txt", "one\n2\n3\n4\n5\n6\n7\n");
        },
    );
    let merged: Vec<String> = adopted.merged.iter().map(ToString::to_string).collect();
    assert_eq!(merged, ["a.txt", "untracked.txt"]);
    assert_eq!(read(run.root(), "a.txt"), "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    assert_eq!(read(run.root(), "untracked.txt"), "one\n2\n3\n4\n5\n6\nseven\n");
}

// EXE-4
#[test]
fn the_same_lines_are_a_conflict_that_shows_both_sides() {
    let (run, adopted) = two(
        |at| write(at, "a.txt", "first\n"),
        |at| {
            write(at, "a.txt", "second\n");
            write(at, "fine.txt", "would have been fine\n");
        },
    );
    let [conflict] = adopted.conflicts.as_slice() else { panic!("{:?}", adopted.conflicts) };
    let (path, text) = said(conflict);
    assert_eq!(path, "a.txt");
    for part in ["<<<<<<< worktree\nfirst\n", "||||||| base\none\n", "second\n>>>>>>> desk\n"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!run.root().join("fine.txt").exists(), "all or nothing");
}

// EXE-4
#[test]
fn what_cannot_be_merged_is_a_conflict_in_words() {
    type Part = fn(&std::path::Path);
    let remove: Part = |at| std::fs::remove_file(at.join("a.txt")).unwrap();
    let change: Part = |at| write(at, "a.txt", "changed\n");
    let cases: [(&str, Part, Part, &str); 9] = [
        ("a.txt", remove, change, "the worktree deleted it"),
        ("a.txt", change, remove, "the desk deleted it"),
        ("new", |at| write(at, "new", "x\n"), |at| write(at, "new", "y\n"), "<<<<<<< worktree"),
        ("new", |at| write(at, "new", ""), |at| write(at, "new", "y\n"), "both sides made it"),
        (
            "data.bin",
            |at| write(at, "data.bin", b"\0\x03"),
            |at| write(at, "data.bin", b"\0\x04"),
            "binary",
        ),
        (
            "link",
            |at| {
                std::fs::remove_file(at.join("link")).unwrap();
                symlink("run.sh", at.join("link")).unwrap();
            },
            |at| {
                std::fs::remove_file(at.join("link")).unwrap();
                symlink("data.bin", at.join("link")).unwrap();
            },
            "link",
        ),
        (
            "a.txt/now",
            change,
            |at| {
                std::fs::remove_file(at.join("a.txt")).unwrap();
                write(at, "a.txt/now", "a folder\n");
            },
            "no folder",
        ),
        (
            "src",
            |at| write(at, "src/more.rs", "more\n"),
            |at| {
                std::fs::remove_dir_all(at.join("src")).unwrap();
                write(at, "src", "a file\n");
            },
            "src/more.rs",
        ),
        ("new", |at| write(at, "new/a", "x\n"), |at| write(at, "new", "y\n"), "new/a"),
    ];
    for (path, one, other, words) in cases {
        let (_, adopted) = two(one, other);
        let found: Vec<_> = adopted.conflicts.iter().map(said).collect();
        assert!(
            found.iter().any(|(at, text)| at == path && text.contains(words)),
            "{path}, {words}: {found:?}"
        );
    }
}

// EXE-4
#[test]
fn the_same_done_twice_is_no_conflict() {
    let same = |at: &std::path::Path| {
        write(at, "new.txt", "the same\n");
        write(at, "a.txt", "the same\n");
        std::fs::remove_file(at.join("data.bin")).unwrap();
    };
    let (_, adopted) = two(same, same);
    assert!(adopted.is_done() && adopted.checkpoint.is_some());
    assert_eq!(adopted.changed.len(), 3);
}

// EXE-4
#[test]
fn modes_links_and_kinds_are_adopted() {
    let (run, adopted) = two(
        |at| {
            std::fs::set_permissions(at.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
        },
        |at| {
            write(at, "run.sh", "#!/bin/sh\necho more\n");
            std::fs::remove_file(at.join("link")).unwrap();
            write(at, "link", "a file now\n");
            std::fs::remove_file(at.join("data.bin")).unwrap();
            symlink("a.txt", at.join("data.bin")).unwrap();
            std::fs::remove_dir_all(at.join("src/deep")).unwrap();
            write(at, "src/deep", "a file now\n");
            write(at, "private", "secret\n");
            std::fs::set_permissions(at.join("private"), PermissionsExt::from_mode(0o600)).unwrap();
        },
    );
    assert!(adopted.is_done(), "{:?}", adopted.conflicts);
    let mode = |path: &str| {
        std::fs::symlink_metadata(run.root().join(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("run.sh") & 0o100, 0o100, "the mode of one and the content of the other");
    assert_eq!(read(run.root(), "run.sh"), "#!/bin/sh\necho more\n");
    assert_eq!(mode("private"), 0o600);
    assert_eq!(read(run.root(), "link"), "a file now\n");
    assert_eq!(std::fs::read_link(run.root().join("data.bin")).unwrap().to_str(), Some("a.txt"));
    assert_eq!(read(run.root(), "src/deep"), "a file now\n");
}

// EXE-4
#[test]
fn what_somebody_does_by_hand_meanwhile_is_never_lost() {
    let run = Run::new();
    let (desk, base) = run.prepared(1);
    write(desk.path(), "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nby the desk\n");
    write(desk.path(), "note.log", "never captured\n");
    write(desk.path(), "taken", "by the desk\n");
    write(run.root(), "a.txt", "by hand\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    write(run.root(), "by-hand.txt", "new\n");
    let adopted = adopt(&desk, &base);
    assert!(adopted.is_done());
    assert_eq!(read(run.root(), "a.txt"), "by hand\ntwo\nthree\nfour\nfive\nsix\nby the desk\n");
    assert_eq!(read(run.root(), "by-hand.txt"), "new\n");
    assert!(!run.root().join("note.log").exists());
    // An ignored file of the worktree in the way is seen, too.
    let (desk, base) = run.prepared(1);
    write(run.root(), "x.log", "ignored, by hand\n");
    write(desk.path(), ".gitignore", "\n");
    write(desk.path(), "x.log", "by the desk\n");
    let before = Listing::of(run.root());
    let adopted = adopt(&desk, &base);
    assert_eq!(adopted.conflicts.len(), 1, "{:?}", adopted.conflicts);
    assert_eq!(Listing::of(run.root()), before);
}

// EXE-4
#[test]
fn changes_are_told_with_their_lines_patch_and_violations() {
    let run = Run::new();
    let (desk, base) = run.prepared(1);
    let nothing = desk.changes(&base).unwrap();
    assert!(nothing.is_empty() && nothing.patch.is_empty());
    write(desk.path(), "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n7\n8\n");
    write(desk.path(), "hook", "x\n");
    std::fs::hard_link(desk.path().join("hook"), desk.path().join("build.log")).unwrap();
    symlink("/etc/passwd", desk.path().join("out")).unwrap();
    write(&run.world.root, ".git/hooks/post-commit", "#!/bin/sh\n");
    for _ in 0..2 {
        let found = desk.changes(&base).unwrap();
        assert_eq!((found.files(), found.lines_added, found.lines_removed), (3, 4, 1));
        let patch = String::from_utf8(found.patch.clone()).unwrap();
        assert!(found.patch_is_whole && patch.contains("-seven\n+7\n+8\n"), "{patch}");
        let has = |constraint| found.violations.iter().any(|one| one.constraint == constraint);
        assert!(has(Constraint::SymlinkEscape) && has(Constraint::HardLink), "{found:?}");
        let told = format!("{:?}", found.violations);
        assert!(told.contains("post-commit"), "what was done to git's data: {told}");
    }
    let (desk, base) = run.prepared(1);
    let found = desk.changes(&base).unwrap();
    assert_eq!(found.violations, [], "the next attempt is not blamed for it");
}

// EXE-4
#[test]
fn exactly_what_was_judged_is_adopted_also_when_the_desk_is_lost() {
    let run = Run::new();
    let (desk, base) = run.prepared(1);
    write(desk.path(), "a.txt", "judged\n");
    let judged = desk.changes(&base).unwrap();
    write(desk.path(), "a.txt", "written after that\n");
    std::fs::remove_dir_all(desk.path()).unwrap();
    run.home.prune(&aurora_workspace::Retention::default()).unwrap();
    let desk = run.home.desk(1).unwrap();
    assert!(desk.adopt(&base, &judged.result, "a task").unwrap().is_done());
    assert_eq!(read(run.root(), "a.txt"), "judged\n");
    assert!(desk.changes(&base).is_err(), "it was not prepared since it was made anew");
}

// EXE-4
#[test]
fn many_desks_adopt_at_once_one_after_another() {
    let run = Run::new();
    let desks: Vec<_> = (1..=4).map(|number| run.prepared(number)).collect();
    std::thread::scope(|scope| {
        for (desk, base) in &desks {
            scope.spawn(move || {
                write(desk.path(), &format!("by-{}.txt", desk.number()), "x\n");
                assert!(adopt(desk, base).is_done());
                desk.prepare().unwrap();
            });
        }
    });
    let all = kept(run.root());
    assert_eq!((1..=4).filter(|n| run.root().join(format!("by-{n}.txt")).exists()).count(), 4);
    let (desk, _) = run.prepared(2);
    crate::listing::same(&all, &kept(desk.path()), "after all");
    assert_eq!(run.home.verify_chain().unwrap(), [] as [String; 0]);
}

// EXE-4
#[test]
fn hostile_names_are_only_names() {
    let run = Run::new();
    let (desk, base) = run.prepared(1);
    let names = ["-n", "sp ace", "new\nline", "\"quoted\"", "*", "[x]", "tab\t", "$(touch x)", "ü"];
    for name in names {
        write(desk.path(), &format!("{name}/{name}"), name);
    }
    use std::os::unix::ffi::OsStrExt as _;
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    std::fs::write(desk.path().join(odd), "odd").unwrap();
    let adopted = adopt(&desk, &base);
    assert_eq!(adopted.changed.len(), names.len() + 1);
    same_state(&run, &desk, "after the adoption");
    let (other, _) = run.prepared(2);
    same_state(&run, &other, "at another desk");
}

// EXE-4
#[test]
fn removed_desks_leave_nothing() {
    let run = Run::new();
    let refs = run.world.git(&["for-each-ref"]);
    let (desk, base) = run.prepared(1);
    run.prepared(2);
    write(desk.path(), "new", "x\n");
    adopt(&desk, &base);
    let path = desk.path().to_owned();
    std::fs::write(path.join("left"), "x").unwrap();
    assert_eq!(run.home.desk_numbers().unwrap(), [1, 2]);
    run.home.remove_desks().unwrap();
    assert_eq!(run.home.desk_numbers().unwrap(), [] as [u32; 0]);
    assert!(!path.exists());
    let listed = run.world.git(&["worktree", "list"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert_eq!(run.home.features().unwrap(), ["login"]);
    let now = run.world.git(&["for-each-ref"]);
    let now: Vec<&str> = now.lines().filter(|line| !line.contains("keep/login")).collect();
    let then: Vec<&str> = refs.lines().filter(|line| !line.contains("keep/login")).collect();
    assert_eq!(now, then);
    assert_eq!(read(run.root(), "new"), "x\n");
    // They go with the worktree that they belong to.
    let (desk, _) = run.prepared(3);
    let request = RemoveWorktree { slug: "login".to_owned(), force: true };
    run.world.workspace().remove_worktree(&request).unwrap();
    assert!(!desk.path().exists());
}
