//! Crashes at every action, and what healing makes of them.

use super::*;

/// Crashes after so many actions, for all numbers, and heals.
fn crash_everywhere(
    paths: &[(&[u8], Option<Is>, Option<Is>)],
    light: fn(i64) -> Fuse,
    step: usize,
) {
    let mut crashes = 0;
    for actions in (0..3).chain((3..).step_by(step)) {
        let mut scene = Scene::new(paths);
        scene.transition.empty_folders.push(RepoPath::new("hollow").unwrap());
        let before = scene.all();
        let fuse = light(actions);
        let done = scene.try_apply(&fuse);
        let healed = scene.heal();
        if healed.is_none() && done.is_err() && scene.all() == before {
            // The journal was not there yet, so nothing was.
            continue;
        }
        assert_eq!(scene.all(), expected(paths), "after {actions} actions");
        assert!(scene.at(b"hollow").is_dir() && !scene.at(b"old").exists(), "{actions}");
        if let Some(healed) = healed {
            assert!(healed.completed && healed.left_alone.is_empty(), "{actions}: {healed:?}");
            crashes += 1;
        }
        if !fuse.is_out() {
            break;
        }
    }
    assert!(crashes > 8, "only {crashes} crashes were seen");
}

/// WSP-4
#[test]
fn after_a_crash_at_any_action_healing_ends_complete() {
    crash_everywhere(&everything(), Fuse::lasting, 1);
}

/// WSP-4
#[test]
fn a_file_system_that_cannot_swap_does_as_well() {
    let paths = everything();
    let scene = Scene::new(&paths);
    scene.try_apply(&Fuse::default().without_swapping()).unwrap();
    assert_eq!(scene.all(), expected(&paths));
    crash_everywhere(&paths, |actions| Fuse::lasting(actions).without_swapping(), 4);
}

/// WSP-4
#[test]
fn a_crash_while_healing_is_healed_too() {
    let paths = everything();
    for (first, second) in [(8, 3), (20, 5), (30, 11), (40, 2), (45, 20), (60, 7)] {
        let scene = Scene::new(&paths);
        assert!(scene.try_apply(&Fuse::lasting(first)).is_err());
        let dir = scene.feature_dir();
        let root = Root::open(&scene.root(), Fuse::lasting(second)).unwrap();
        let crate::git::journal::Found::Journal(journal) = Journal::read(&dir).unwrap() else {
            panic!("no journal");
        };
        let _crashed = complete(&journal, &scene.ground(&root, &dir));
        scene.heal().unwrap();
        assert_eq!(scene.all(), expected(&paths), "{first} {second}");
    }
}

/// WSP-4
#[test]
fn what_a_crash_left_of_somebodys_work_goes_back_or_is_saved() {
    let scene = Scene::new(&[
        (b"swapped", file("one"), file("two")),
        (b"swapped twice", file("one"), file("two")),
        (b"deleted", file("one"), None),
        (b"deleted twice", file("one"), None),
        (b"half", file("one"), file("two")),
    ]);
    // The journal takes two actions; after these nothing can be done.
    assert!(scene.try_apply(&Fuse::lasting(2)).is_err());
    let dir = scene.feature_dir();
    let crate::git::journal::Found::Journal(journal) = Journal::read(&dir).unwrap() else {
        panic!("no journal");
    };
    let beside =
        |n: usize, end: &str| scene.root().join(format!(".aurora-{}-{n}{end}", journal.op));
    std::fs::write(scene.at(b"swapped"), "two").unwrap();
    std::fs::write(beside(0, ""), "theirs").unwrap();
    std::fs::write(scene.at(b"swapped twice"), "later").unwrap();
    std::fs::write(beside(1, ""), "earlier").unwrap();
    std::fs::remove_file(scene.at(b"deleted")).unwrap();
    std::fs::write(beside(2, "-old"), "theirs").unwrap();
    std::fs::write(scene.at(b"deleted twice"), "later").unwrap();
    std::fs::write(beside(3, "-old"), "earlier").unwrap();
    std::fs::write(beside(4, ""), "tw").unwrap();
    let healed = scene.heal().unwrap();
    let left: Vec<String> = healed.left_alone.iter().map(ToString::to_string).collect();
    assert_eq!(left, ["deleted", "deleted twice", "swapped", "swapped twice"]);
    let is = |text: &str| Is::File(text.as_bytes().to_vec());
    let expected: Scenes = [
        (b"deleted".to_vec(), is("theirs")),
        (b"deleted twice".to_vec(), is("later")),
        (b"half".to_vec(), is("two")),
        (b"swapped".to_vec(), is("theirs")),
        (b"swapped twice".to_vec(), is("later")),
    ]
    .into();
    assert_eq!(scene.all(), expected);
    let rescued = dir.join("rescued").join(&journal.op);
    for path in ["swapped twice", "deleted twice"] {
        assert_eq!(std::fs::read_to_string(rescued.join(path)).unwrap(), "earlier");
        assert!(healed.what.contains(&format!("{path}: ")), "{}", healed.what);
    }
}
