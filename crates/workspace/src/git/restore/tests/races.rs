//! Others who write at the same time.

use super::*;

/// WSP-4
#[test]
fn what_somebody_changed_meanwhile_stays_and_is_said() {
    let scene = Scene::new(&[
        (b"edited", file("one"), file("two")),
        (b"deleted", file("one"), None),
        (b"appeared", None, file("ours")),
        (b"vanished", file("one"), file("two")),
        (b"other mode", file("one"), file("two")),
        (b"done", file("one"), file("two")),
        (b"way/is/shut", None, file("ours")),
    ]);
    for path in [&b"edited"[..], b"deleted", b"appeared"] {
        std::fs::write(scene.at(path), "theirs").unwrap();
    }
    std::fs::remove_file(scene.at(b"vanished")).unwrap();
    std::fs::write(scene.at(b"done"), "two").unwrap();
    std::fs::write(scene.at(b"way"), "a file").unwrap();
    std::fs::set_permissions(scene.at(b"other mode"), PermissionsExt::from_mode(0o755)).unwrap();
    let mut expected = scene.all();
    let outcomes = scene.apply();
    // Where nothing stands, there is nothing to lose.
    expected.insert(b"vanished".to_vec(), file("two").unwrap());
    assert_eq!(scene.all(), expected);
    assert_eq!(outcomes["vanished"], Outcome::Created);
    for path in ["edited", "deleted", "other mode"] {
        assert!(is_kept(&outcomes[path], "changed meanwhile"), "{path}: {:?}", outcomes[path]);
    }
    assert!(is_kept(&outcomes["appeared"], "something else"));
    assert!(is_kept(&outcomes["done"], "so already"));
    assert!(is_kept(&outcomes["way/is/shut"], "no folder"));
}

/// Does something at a certain point of the work.
struct At<F: Fn() + Send + Sync>(u64, F);

impl<F: Fn() + Send + Sync> Progress for At<F> {
    fn at(&self, _stage: &'static str, done: u64, total: Option<u64>) {
        if Some(done) == total.map(|total| total * self.0 / 4) {
            (self.1)();
        }
    }
}

impl Scene {
    /// Takes the steps while something happens at a certain point.
    fn apply_while(&self, quarter: u64, happens: impl Fn() + Send + Sync) -> Vec<Outcome> {
        let dir = self.feature_dir();
        let root = Root::open(&self.root(), Fuse::default()).unwrap();
        let journal = Journal::of(&self.transition, None, now());
        let at = At(quarter, happens);
        let ground = Ground { progress: &at, ..self.ground(&root, &dir) };
        let ended = ground.perform(&journal).unwrap();
        Journal::end(&dir, &Fuse::default()).unwrap();
        ended.into_iter().map(|ended| ended.outcome).collect()
    }
}

/// Four steps, so that each quarter is a point of its own; the last three are of no interest.
fn with_company(first: (&'static [u8], Option<Is>, Option<Is>)) -> Scene {
    Scene::new(&[
        first,
        (b"p", file("p"), file("P")),
        (b"q", file("q"), file("Q")),
        (b"r", file("r"), file("R")),
    ])
}

/// WSP-4
#[test]
fn an_edit_after_staging_is_swapped_back() {
    for late in ["theirs", "ones"] {
        let scene = with_company((b"a", file("once"), file("restored")));
        let outcomes = scene.apply_while(2, || std::fs::write(scene.at(b"a"), late).unwrap());
        assert!(is_kept(&outcomes[0], "changed meanwhile"), "{outcomes:?}");
        assert_eq!(scene.all()[&b"a"[..]], Is::File(late.as_bytes().to_vec()));
        assert_eq!(scene.all().len(), 4);
    }
}

/// WSP-4
#[test]
fn a_folder_that_takes_the_place_after_staging_stays() {
    let scene = with_company((b"a", file("once"), file("restored")));
    let outcomes = scene.apply_while(2, || {
        std::fs::remove_file(scene.at(b"a")).unwrap();
        std::fs::create_dir(scene.at(b"a")).unwrap();
        std::fs::write(scene.at(b"a/inside"), "theirs").unwrap();
    });
    assert!(is_kept(&outcomes[0], "changed meanwhile"), "{outcomes:?}");
    assert_eq!(scene.all()[&b"a/inside"[..]], Is::File(b"theirs".to_vec()));
    assert_eq!(scene.all().len(), 4);
}

/// WSP-4
#[test]
fn a_link_that_takes_the_folders_place_after_staging_is_not_followed() {
    let scene = with_company((b"d/a", file("once"), file("restored")));
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a"), "once").unwrap();
    let outcomes = scene.apply_while(2, || {
        std::fs::rename(scene.at(b"d"), scene.at(b"e")).unwrap();
        symlink(outside.path(), scene.at(b"d")).unwrap();
    });
    assert!(is_kept(&outcomes[0], "symbolic link"), "{outcomes:?}");
    assert_eq!(std::fs::read_to_string(outside.path().join("a")).unwrap(), "once");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

/// WSP-4
#[test]
fn somebody_who_had_the_file_open_all_along_loses_nothing() {
    use std::io::{Seek as _, Write as _};
    let scene = with_company((b"a", file("once"), file("restored")));
    let open = std::fs::File::options().write(true).open(scene.at(b"a")).unwrap();
    let outcomes = scene.apply_while(3, || {
        (&open).rewind().unwrap();
        (&open).write_all(b"late").unwrap();
    });
    assert!(is_kept(&outcomes[0], "changed meanwhile"), "{outcomes:?}");
    assert_eq!(scene.all()[&b"a"[..]], Is::File(b"late".to_vec()));
    assert_eq!(scene.all().len(), 4);
}

/// WSP-4: whatever the moment, the editor's last words are in the file or ours replaced a state that
/// was known.
#[test]
fn an_editor_that_writes_all_the_time_loses_nothing() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    let (mut ours, mut theirs) = (0, 0);
    for round in 0..60 {
        let scene = Scene::new(&[(b"busy", file("known"), file("restored"))]);
        let (stop, writes) = (AtomicBool::new(false), AtomicU64::new(0));
        let path = scene.at(b"busy");
        let outcomes = std::thread::scope(|scope| {
            let editor = scope.spawn(|| {
                // As editors do: a new file that is renamed over the old one, or writing in place.
                for n in 0..u64::MAX {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    if round % 2 == 0 {
                        let temp = path.with_extension("swp");
                        std::fs::write(&temp, format!("edit {n}")).unwrap();
                        std::fs::rename(&temp, &path).unwrap();
                    } else {
                        std::fs::write(&path, format!("edit {n}")).unwrap();
                    }
                    writes.store(n + 1, Ordering::SeqCst);
                }
            });
            while round % 3 == 0 && writes.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            let outcomes = scene.apply();
            stop.store(true, Ordering::SeqCst);
            editor.join().unwrap();
            outcomes
        });
        let count = writes.load(Ordering::SeqCst);
        let now = std::fs::read_to_string(&path).unwrap();
        let rescued = scene.feature_dir().join("rescued");
        let is_last = count > 0 && now == format!("edit {}", count - 1);
        match &outcomes["busy"] {
            Outcome::Overwritten => ours += 1,
            Outcome::Kept { .. } => theirs += 1,
            other => panic!("{other:?}"),
        }
        let restored = now == "restored" && count == 0;
        assert!(is_last || restored || rescued.exists(), "{now:?} after {count}: {outcomes:?}");
        let beside: Vec<_> =
            scene.all().into_keys().filter(|path| path.starts_with(b".aur")).collect();
        assert!(beside.is_empty(), "{beside:?}");
    }
    eprintln!("ours {ours}, theirs {theirs}");
    assert!(theirs > 0);
}
