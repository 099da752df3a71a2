//! Journals that are whole, torn or changed.

use super::*;
use crate::fixture::{now, path};

fn journal() -> Journal {
    let id = |digit: &str| ObjectId::from_hex(digit.repeat(40).as_bytes()).unwrap();
    let entry = |mode, digit| Some(Entry { mode, id: id(digit) });
    let steps = vec![
        Step {
            path: path("a"),
            from: None,
            to: entry(EntryMode::File, "1"),
            permissions: Some(0o600),
        },
        Step {
            path: RepoPath::new(&b"caf\xe9\n/b"[..]).unwrap(),
            from: entry(EntryMode::Symlink, "2"),
            to: entry(EntryMode::Executable, "3"),
            permissions: None,
        },
        Step {
            path: path("c"),
            from: entry(EntryMode::Submodule, "4"),
            to: None,
            permissions: None,
        },
    ];
    let empty_folders = vec![path("hollow")];
    let transition = Transition { what: "rollback to x".to_owned(), steps, empty_folders };
    let due = Due {
        kind: aurora_model::CheckpointKind::Restored,
        message: "rollback to x".to_owned(),
        safety: aurora_model::CheckpointId("ckpt-002-bbbbbbbb".to_owned()),
    };
    Journal::of(&transition, Some(due), now())
}

/// WSP-4
#[test]
fn a_journal_is_read_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal();
    assert!(matches!(Journal::read(dir.path()).unwrap(), Found::None));
    journal.write(dir.path(), &Fuse::default()).unwrap();
    let Found::Journal(read) = Journal::read(dir.path()).unwrap() else { panic!("no journal") };
    assert_eq!(*read, journal);
    Journal::end(dir.path(), &Fuse::default()).unwrap();
    assert!(matches!(Journal::read(dir.path()).unwrap(), Found::None));
}

/// WSP-4
#[test]
fn no_bit_of_a_journal_can_flip_unseen() {
    let bytes = journal().to_bytes().unwrap();
    assert!(Journal::from_bytes(&bytes).is_ok());
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(Journal::from_bytes(&flipped).is_err(), "byte {at}");
        assert!(Journal::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
}

/// WSP-4
#[test]
fn a_journal_that_cannot_be_read_is_kept_aside() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..2 {
        std::fs::write(dir.path().join(NAME), format!("nonsense {n}")).unwrap();
        assert!(matches!(Journal::read(dir.path()).unwrap(), Found::Corrupt { .. }));
        let aside = Journal::move_aside(dir.path()).unwrap();
        assert_eq!(std::fs::read_to_string(aside).unwrap(), format!("nonsense {n}"));
    }
}
