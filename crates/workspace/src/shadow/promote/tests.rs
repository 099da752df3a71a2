//! Promotions that somebody gets in the way of.

use super::*;
use crate::fixture::Repo;
use crate::request::UndoRequest;
use crate::shadow::ShadowRequest;
use crate::workspace::Workspace as _;

// WSP-5
#[test]
fn a_promotion_that_somebody_got_in_the_way_of_is_recorded_as_it_is_and_can_be_undone() {
    let repo = Repo::new();
    repo.write("one", "1\n");
    repo.write("two", "2\n");
    let workspace = repo.workspace();
    let request = ShadowRequest { strategy: Some(Strategy::Copy), ..ShadowRequest::default() };
    let shadow = workspace.create_shadow(&request).unwrap();
    std::fs::write(shadow.files().join("one"), "mine\n").unwrap();
    std::fs::write(shadow.files().join("two"), "mine\n").unwrap();
    let asked = PromotionRequest::default();
    let lock = workspace.store.lock(&workspace.place).unwrap();
    let compared = workspace.compare_shadow(&shadow, u64::MAX).unwrap();
    let mut pack = PackWriter::new(&workspace.store).unwrap();
    let plan = workspace.plan_promotion(&shadow, &compared, &asked, &mut pack).unwrap();
    workspace.store_shadow_blobs(&shadow, &compared.changes, &mut pack).unwrap();
    pack.finish().unwrap();
    let safety = workspace.safety_checkpoint(&shadow, &plan, &asked, &lock).unwrap();
    // Between the look and the step.
    repo.write("two", "theirs\n");
    let (outcomes, promoted) =
        workspace.carry_over(&shadow, &plan, &asked, &safety, &lock).unwrap();
    let checkpoints = Some((safety, promoted.clone()));
    let report = workspace.end_promotion(&shadow, &asked, &plan, checkpoints, outcomes).unwrap();
    drop(lock);
    assert_eq!((report.left, report.open), (1, true));
    assert!(report.notes.iter().any(|note| note.contains("--undo")), "{:?}", report.notes);
    let stayed: Vec<_> = report.paths.iter().filter(|one| did_not_go(one)).collect();
    assert_eq!(stayed.len(), 1, "{stayed:?}");
    assert_eq!(repo.read("one").unwrap(), b"mine\n");
    assert_eq!(repo.read("two").unwrap(), b"theirs\n");
    let chain = workspace.checkpoints().unwrap();
    let last = chain.last().unwrap();
    assert_eq!((last.kind, &last.checkpoint_id), (CheckpointKind::Promoted, &promoted));
    workspace.undo(&UndoRequest::default()).unwrap();
    assert_eq!(repo.read("one").unwrap(), b"1\n");
    // What came in between went with it, and is in the checkpoint that undoing made first.
    workspace.undo(&UndoRequest::default()).unwrap();
    assert_eq!(repo.read("one").unwrap(), b"mine\n");
    assert_eq!(repo.read("two").unwrap(), b"theirs\n");
}
