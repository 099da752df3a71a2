//! Branches from checkpoints, as the user sees them.

use std::collections::BTreeMap;

use aurora_model::{CheckpointKind, Head, Severity, Timestamp, TreeId, ValidationStatus};

use super::*;
use crate::fixture::{Repo, path};
use crate::git::objects::Entry;
use crate::git::tree;

fn checkpoint(
    workspace: &GitWorkspace,
    head: Option<String>,
    files: &[(&str, &str)],
) -> Checkpoint {
    let store = &workspace.store;
    let objects = store.objects().unwrap();
    let mut pack = PackWriter::new(store).unwrap();
    let mut edits = BTreeMap::new();
    for (name, text) in files {
        let id = pack.add(Kind::Blob, text.as_bytes()).unwrap();
        edits.insert(path(name), Some(Entry { mode: EntryMode::File, id }));
    }
    let tree = tree::edit(&objects, &objects.empty_tree(), &edits, &mut pack).unwrap();
    pack.finish().unwrap();
    let tree = TreeId(tree.to_string());
    Checkpoint {
        checkpoint_id: CheckpointId("ckpt-001-0000000a".to_owned()),
        timestamp: Timestamp { unix_ms: 1_772_728_099_503 },
        previous_checkpoint_id: None,
        feature: "checkout".to_owned(),
        kind: CheckpointKind::Asked,
        message: "before the change".to_owned(),
        previous_tree: tree.clone(),
        base_tree: tree.clone(),
        tree,
        staged_tree: None,
        head: Head { commit: head, branch: None },
        files_changed_since_last: 0,
        skipped: Vec::new(),
        empty_folders: Vec::new(),
        permissions: std::collections::BTreeMap::new(),
        nested: Vec::new(),
        violations: Vec::new(),
        validation_status: ValidationStatus::default(),
        severity: Severity::default(),
    }
}

#[test]
fn a_branch_holds_the_checkpoint_on_top_of_what_was_checked_out() {
    // WSP-2
    let repo = Repo::new();
    let workspace = repo.workspace();
    let head = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let files = [("README.md", "hello\n"), ("deep/er/b.txt", "new\n"), ("empty", "")];
    let one = checkpoint(&workspace, Some(head.clone()), &files);
    let (index, config) = (repo.read(".git/index"), repo.read(".git/config"));
    let commit = branch_of(&workspace.store, &workspace.place, &one, "saved/one").unwrap();

    assert_eq!(repo.git(&["rev-parse", "saved/one", "saved/one^"]), format!("{commit}\n{head}\n"));
    assert_eq!(repo.git(&["rev-parse", "saved/one^{tree}"]).trim(), one.tree.0);
    assert_eq!(repo.git(&["show", "saved/one:deep/er/b.txt"]), "new\n");
    let shown = repo.git(&["log", "-1", "--format=%an <%ae> %at%n%B", "saved/one"]);
    let expected =
        "Aurora <aurora@localhost> 1772728099\nbefore the change\n\nCheckpoint: ckpt-001";
    assert!(shown.starts_with(expected), "{shown}");
    assert_eq!((repo.read(".git/index"), repo.read(".git/config")), (index, config));
    assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    // It needs nothing of ours.
    std::fs::remove_dir_all(repo.path(".git/aurora")).unwrap();
    repo.git(&["fsck", "--full", "--strict"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(repo.git(&["show", "saved/one:empty"]), "");
}

#[test]
fn names_that_are_taken_or_none_are_refused() {
    // WSP-2
    let repo = Repo::new();
    let workspace = repo.workspace();
    let one = checkpoint(&workspace, None, &[("a", "b")]);
    for name in ["main", "-d", "HEAD", "a..b", "a b", "", "@{-1}", "x.lock"] {
        let error = branch_of(&workspace.store, &workspace.place, &one, name).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{name}: {error}");
    }
    assert_eq!(repo.git(&["for-each-ref"]).lines().count(), 1);
    assert_eq!(repo.git(&["count-objects", "-v"]).lines().nth(3), Some("packs: 0"));
}

#[test]
fn the_branch_that_head_waits_for_is_taken() {
    // WSP-2: in a repository without a commit, all files would seem to be deleted.
    let repo = Repo::empty();
    let workspace = repo.workspace();
    let one = checkpoint(&workspace, None, &[("a", "b")]);
    let error = branch_of(&workspace.store, &workspace.place, &one, "main").unwrap_err();
    assert!(error.to_string().contains("no commit yet"), "{error}");
    let commit = branch_of(&workspace.store, &workspace.place, &one, "saved").unwrap();
    assert_eq!(repo.git(&["log", "--format=%H", "saved"]).trim(), commit);
}

#[test]
fn a_parent_that_is_gone_is_left_out_and_an_empty_tree_is_fine() {
    // WSP-2
    let repo = Repo::new();
    let workspace = repo.workspace();
    let gone = "1234567890123456789012345678901234567890".to_owned();
    let one = checkpoint(&workspace, Some(gone), &[]);
    let commit = branch_of(&workspace.store, &workspace.place, &one, "saved").unwrap();
    assert_eq!(repo.git(&["log", "--format=%H", "saved"]).trim(), commit);
    assert_eq!(repo.git(&["ls-tree", "saved"]), "");
    repo.git(&["fsck", "--strict"]);
}
