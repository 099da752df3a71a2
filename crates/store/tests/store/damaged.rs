//! A file that is damaged itself: reading ends, and what is found is told with what is known.

use std::fs;

use aurora_store::chain::verify_beside;
use aurora_store::{SqliteStore, Store as _, What};

use crate::yard::{Yard, add, stream, verified, wait};

// OBS-1: a file that was cut anywhere is found, and looking at it comes to an end.
#[test]
fn a_file_that_was_cut_anywhere_is_read_to_an_end_and_found() {
    let yard = Yard::new();
    {
        let store = yard.open();
        for n in 0..120 {
            let payload = format!("\"{}\"", "x".repeat(n * 20));
            add(&store, ["run/a", "run/b"][n % 2], &payload).unwrap();
        }
        // The file ends with the pages of one that is not the last: such a log opens without them.
        add(&store, "run/a", &format!("\"{}\"", "x".repeat(60_000))).unwrap();
        add(&store, "run/a", "{}").unwrap();
    }
    let whole = fs::read(yard.path()).unwrap();
    let mut located = 0;
    for keep in (1..whole.len()).step_by(2000) {
        let cut = yard.copy();
        fs::write(cut.path(), &whole[..keep]).unwrap();
        // Some are refused when they are opened, which is as well.
        let Ok(store) = SqliteStore::open(cut.settings()) else { continue };
        let seen = verified(&store);
        assert!(!seen.is_whole(), "{keep} of {} bytes", whole.len());
        let broken = |what: &What| matches!(what, What::Unreadable { .. });
        located += usize::from(seen.findings.iter().any(|finding| broken(&finding.what)));
        let mut after = 0;
        while let Ok(page) = wait(store.read_all(after, 10)) {
            let Some(last) = page.last() else { break };
            assert!(last.position > after);
            after = last.position;
        }
    }
    assert!(located > 0);
}

// OBS-1: bytes that were overwritten in the middle of a page.
#[test]
fn pages_that_were_overwritten_are_found_with_what_sqlite_says() {
    let yard = Yard::new();
    {
        let store = yard.open();
        for _ in 0..120 {
            add(&store, "run/a", &format!("\"{}\"", "x".repeat(900))).unwrap();
        }
    }
    let whole = fs::read(yard.path()).unwrap();
    let mut told = 0;
    for page in 1..whole.len() / 4096 {
        for fill in [0_u8, 0xff, 0x0d] {
            let damaged = yard.copy();
            let mut bytes = whole.clone();
            bytes[page * 4096..(page + 1) * 4096].fill(fill);
            fs::write(damaged.path(), &bytes).unwrap();
            let Ok(store) = SqliteStore::open(damaged.settings()) else { continue };
            for finding in verified(&store).findings {
                if let What::Unreadable { why } = &finding.what {
                    told += 1;
                    assert!(finding.to_string().contains(why), "{finding}");
                    assert!(!why.contains("aur audit"), "{why}");
                }
            }
        }
    }
    assert!(told > 0);
}

// OBS-1: what was said is a part of what happened.
#[test]
fn what_a_record_refers_to_is_missed_when_it_is_gone_or_changed() {
    let yard = Yard::new();
    let store = yard.open();
    let mut digests = Vec::new();
    for text in ["kept", "changed", "gone"] {
        let digest = wait(store.put(text.as_bytes().to_vec())).unwrap();
        let payload = format!("{{\"deep\":{{\"transcript\":\"{digest}\"}}}}");
        add(&store, "run/a", &payload).unwrap();
        digests.push(digest);
    }
    let file = |index: usize| {
        let (room, name) = digests[index].as_str().split_at(2);
        yard.settings().blobs.join(room).join(name)
    };
    let look = || {
        let mut seen = verified(&store);
        wait(verify_beside(&store, &mut seen, &mut |_| ())).unwrap();
        seen
    };
    let seen = look();
    assert!(seen.is_whole() && seen.beside == 3, "{seen:?}");
    fs::write(file(1), "chanGed").unwrap();
    fs::remove_file(file(2)).unwrap();
    let seen = look();
    let found: Vec<(u64, &str)> =
        seen.findings.iter().map(|one| (one.version, one.stream.0.as_str())).collect();
    assert_eq!(found, [(2, "run/a"), (3, "run/a")]);
    assert_eq!(seen.findings[0].stream, stream("run/a"));
    let said: Vec<String> = seen.findings.iter().map(ToString::to_string).collect();
    assert!(said[0].ends_with("is not what was kept there"), "{said:?}");
    assert!(said[1].starts_with("position 3, run/a version 3: "), "{said:?}");
    assert!(said[1].ends_with(&format!("{} is gone", digests[2])), "{said:?}");
}

// EXE-5: what is answered is recorded, so what cannot be recorded is not answered well.
#[test]
fn a_file_that_was_deleted_or_replaced_while_it_was_open_takes_no_record() {
    let yard = Yard::new();
    let store = yard.open();
    add(&store, "run/a", "{}").unwrap();
    let aside = yard.path().with_extension("aside");
    fs::rename(yard.path(), &aside).unwrap();
    let refused = add(&store, "run/a", "{}").unwrap_err().to_string();
    assert!(refused.ends_with("it was deleted while it was open"), "{refused}");
    fs::copy(&aside, yard.path()).unwrap();
    let refused = add(&store, "run/a", "{}").unwrap_err().to_string();
    assert!(refused.ends_with("another file took its place while it was open"), "{refused}");
    fs::rename(&aside, yard.path()).unwrap();
    assert_eq!(add(&store, "run/a", "{}").unwrap().version, 2);
}
