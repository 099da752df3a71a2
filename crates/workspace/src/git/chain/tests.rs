//! Chains of checkpoints: named, found, linked, broken.

use super::*;

fn named(ids: &[&str]) -> Vec<Named> {
    let commit = ObjectId::null(gix::hash::Kind::Sha1);
    ids.iter()
        .map(|id| Named { number: number_of(id).unwrap(), id: (*id).to_owned(), commit })
        .collect()
}

#[test]
fn a_checkpoint_is_found_by_all_its_names() {
    // WSP-3
    let all = named(&["ckpt-001-a3f2b9c4", "ckpt-002-a3f21111", "ckpt-010-12345678"]);
    for (name, expected) in [
        ("latest", "ckpt-010-12345678"),
        ("ckpt-001-a3f2b9c4", "ckpt-001-a3f2b9c4"),
        ("2", "ckpt-002-a3f21111"),
        ("#10", "ckpt-010-12345678"),
        ("010", "ckpt-010-12345678"),
        ("ckpt-002", "ckpt-002-a3f21111"),
        ("a3f2b", "ckpt-001-a3f2b9c4"),
        ("12345678", "ckpt-010-12345678"),
    ] {
        assert_eq!(pick(&all, name).unwrap().id, expected, "{name}");
    }
}

#[test]
fn a_name_that_nothing_or_several_have_is_refused_with_a_hint() {
    // WSP-3
    let all = named(&["ckpt-001-a3f2b9c4", "ckpt-002-a3f21111"]);
    for name in ["", "3", "#3", "ckpt-00", "a3f2", "zzzz", "ckpt-001-ffff"] {
        let error = pick(&all, name).unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{name}");
        assert!(error.hint().unwrap().contains("ckpt-00"), "{name}: {:?}", error.hint());
    }
    assert!(pick(&[], "latest").unwrap_err().hint().unwrap().contains("aur checkpoint"));
}

mod damage {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use crate::fixture::Repo;
    use crate::request::{CheckpointRequest, Created, Scanned};
    use crate::workspace::Workspace as _;

    fn checkpoint(repo: &Repo) -> Created {
        repo.workspace().checkpoint(&CheckpointRequest::default()).unwrap()
    }

    fn files(repo: &Repo, extension: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(repo.path(".git/aurora/git/objects/pack")).unwrap();
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|end| end == extension)).collect()
    }

    /// The pack that came since, without its ending.
    fn newest(repo: &Repo, before: &[PathBuf]) -> PathBuf {
        files(repo, "pack").into_iter().find(|pack| !before.contains(pack)).unwrap()
    }

    /// WSP-3: a damaged pack is found, and the checkpoints that need it are named.
    #[test]
    fn a_damaged_pack_is_found_with_the_checkpoints_that_need_it() {
        let repo = Repo::new();
        repo.write("src/new.txt", "some content that is only in our own pack\n".repeat(40));
        let first = checkpoint(&repo).checkpoint.checkpoint_id;
        let before = files(&repo, "pack");
        repo.write("other.txt", (0..900_u32).map(|n| format!("{}\n", n * n)).collect::<String>());
        let second = checkpoint(&repo).checkpoint.checkpoint_id;
        assert_eq!(repo.workspace().verify_chain().unwrap(), Vec::<String>::new());
        let pack = newest(&repo, &before);
        let mut bytes = std::fs::read(&pack).unwrap();
        let at = bytes.windows(2).position(|pair| pair == [0x78, 0x01] || pair == [0x78, 0x9c]);
        for byte in bytes.iter_mut().skip(at.unwrap_or(12) + 40).take(8) {
            *byte ^= 0xff;
        }
        std::fs::set_permissions(&pack, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::write(&pack, bytes).unwrap();
        let problems = repo.workspace().verify_chain().unwrap();
        assert!(problems.iter().any(|one| one.contains("is damaged")), "{problems:?}");
        assert!(problems.iter().any(|one| one.starts_with(&second.0)), "{problems:?}");
        assert!(!problems.iter().any(|one| one.starts_with(&first.0)), "{problems:?}");
    }

    /// WSP-3: objects that are missing are found, and the next checkpoint is whole all the same.
    #[test]
    fn a_missing_tree_is_found_and_stops_no_new_checkpoint() {
        let repo = Repo::new();
        repo.write("src/new.txt", "new\n");
        checkpoint(&repo);
        // The second commit stays, and the trees and contents that only the first pack has go.
        let first = newest(&repo, &[]);
        repo.write("top.txt", "top\n");
        let second = checkpoint(&repo).checkpoint.checkpoint_id;
        std::fs::remove_file(first.with_extension("idx")).unwrap();
        std::fs::remove_file(&first).unwrap();
        let problems = repo.workspace().verify_chain().unwrap();
        assert!(
            problems.iter().any(|one| one.starts_with(&second.0) && one.contains("is missing")),
            "{problems:?}"
        );
        repo.write("src/late.txt", "late\n");
        let third = checkpoint(&repo);
        let Scanned::Anew { because } = &third.scanned else { panic!("{third:?}") };
        assert!(because.contains("is missing"), "{because}");
        let id = &third.checkpoint.checkpoint_id;
        let problems = repo.workspace().verify_chain().unwrap();
        assert!(!problems.iter().any(|one| one.starts_with(&id.0)), "{problems:?}");
        let read =
            |path| repo.workspace().read(&third.checkpoint.tree, &crate::fixture::path(path));
        assert_eq!(read("src/new.txt").unwrap().unwrap().bytes, b"new\n");
        repo.write("src/late.txt", "later\n");
        let fourth = checkpoint(&repo);
        assert_eq!(fourth.changes.len(), 1, "the next one builds on the whole one");
    }

    /// WSP-3: where somebody removed the ref that keeps it and git took the tree that a chain began
    /// with, the next checkpoint begins anew and is whole.
    #[test]
    fn a_base_that_is_gone_stops_no_new_checkpoint() {
        let repo = Repo::new();
        repo.git(&["checkout", "--quiet", "-b", "gone"]);
        repo.write("only-there", "x\n");
        repo.commit("only there");
        checkpoint(&repo);
        repo.git(&["checkout", "--quiet", "main"]);
        repo.git(&["branch", "--quiet", "-D", "gone"]);
        repo.git(&["update-ref", "-d", "refs/aurora/keep/checkout"]);
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        repo.git(&["gc", "--quiet", "--prune=now"]);
        assert_eq!(repo.workspace().verify_chain().unwrap().len(), 1);
        repo.write("late", "late\n");
        let second = checkpoint(&repo);
        let id = &second.checkpoint.checkpoint_id;
        let problems = repo.workspace().verify_chain().unwrap();
        assert!(!problems.iter().any(|one| one.starts_with(&id.0)), "{problems:?}");
        repo.git(&["gc", "--quiet", "--prune=now"]);
        repo.write("late", "changed\n");
        repo.workspace().rollback(&crate::request::RollbackRequest::to(id.clone())).unwrap();
        assert_eq!(repo.read("late").unwrap(), b"late\n");
    }
}
