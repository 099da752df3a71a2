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
