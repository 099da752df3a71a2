//! Trees compared with what git makes of the same entries.

use std::collections::BTreeMap;

use super::*;
use crate::fixture::{Repo, path};
use crate::git::GitWorkspace;

/// A small generator of numbers, so that a failure can be repeated by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

fn blob(pack: &mut PackWriter, content: &str) -> Entry {
    let id = pack.add(Kind::Blob, content.as_bytes()).unwrap();
    Entry { mode: EntryMode::File, id }
}

/// Names that sort differently with and without a slash behind them.
const NAMES: &[&[u8]] =
    &[b"a", b"a-b", b"a.b", b"a0", b"ab", b"A", b"a\nb", b"\xff", b"a b", b"-", b"b", b"a.", b"a!"];

fn random_listing(dice: &mut Dice, entries: &[Entry]) -> BTreeMap<RepoPath, Entry> {
    let mut listing: BTreeMap<RepoPath, Entry> = BTreeMap::new();
    for _ in 0..dice.below(30) {
        let parts: Vec<&[u8]> = (0..=dice.below(3)).map(|_| *dice.pick(NAMES)).collect();
        let path = RepoPath::new(parts.join(&b'/')).unwrap();
        let in_the_way =
            listing.keys().any(|other| other.is_within(&path) || path.is_within(other));
        if !in_the_way {
            listing.insert(path, *dice.pick(entries));
        }
    }
    listing
}

/// What git's own index makes of the entries.
fn git_tree(repo: &Repo, workspace: &GitWorkspace, listing: &BTreeMap<RepoPath, Entry>) -> String {
    let mut input = Vec::new();
    for (path, entry) in listing {
        let mode = match entry.mode {
            EntryMode::File => "100644",
            EntryMode::Executable => "100755",
            EntryMode::Symlink => "120000",
            EntryMode::Submodule => "160000",
        };
        input.extend_from_slice(format!("{mode} {}\t", entry.id).as_bytes());
        input.extend_from_slice(path.as_bytes());
        input.push(0);
    }
    let index = repo.home().join("index");
    let _ = std::fs::remove_file(&index);
    let program = &workspace.place.program;
    let git = |args: &[&str]| {
        crate::git::process::Git::new(program, &workspace.store.dir, "make a tree")
            .env("GIT_INDEX_FILE", &index)
            .args(args)
    };
    git(&["update-index", "-z", "--index-info"]).input(input).run().unwrap();
    let tree = git(&["write-tree", "--missing-ok"]).run().unwrap();
    String::from_utf8(tree).unwrap().trim().to_owned()
}

fn entries(workspace: &GitWorkspace) -> Vec<Entry> {
    let mut pack = PackWriter::new(&workspace.store).unwrap();
    let mut entries: Vec<Entry> =
        ["one", "two", "three"].iter().map(|text| blob(&mut pack, text)).collect();
    pack.finish().unwrap();
    entries.push(Entry { mode: EntryMode::Executable, ..entries[0] });
    entries.push(Entry { mode: EntryMode::Symlink, ..entries[0] });
    entries.push(Entry { mode: EntryMode::Submodule, ..entries[1] });
    entries
}

fn built(workspace: &GitWorkspace, listing: &BTreeMap<RepoPath, Entry>) -> ObjectId {
    let listing: Vec<_> = listing.iter().map(|(path, entry)| (path.clone(), *entry)).collect();
    let mut pack = PackWriter::new(&workspace.store).unwrap();
    let tree = build(workspace.store.hash, &listing, &|_| false, &mut pack).unwrap();
    pack.finish().unwrap();
    tree
}

#[test]
fn built_edited_listed_and_compared_trees_are_those_of_git() {
    // WSP-1: random trees, against `git write-tree`.
    let repo = Repo::new();
    let workspace = repo.workspace();
    let objects = workspace.store.objects().unwrap();
    let entries = entries(&workspace);
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let before = random_listing(&mut dice, &entries);
        let after = random_listing(&mut dice, &entries);
        let tree = built(&workspace, &before);
        assert_eq!(tree.to_string(), git_tree(&repo, &workspace, &before), "seed {seed}");
        let listed: BTreeMap<_, _> = list(&objects, &tree).unwrap().into_iter().collect();
        assert_eq!(listed, before, "seed {seed}");
        let ordered = list(&objects, &tree).unwrap();
        assert!(ordered.is_sorted_by(|a, b| a.0 < b.0), "seed {seed}");
        for (path, entry) in &before {
            assert_eq!(find(&objects, &tree, path).unwrap(), Some(*entry), "seed {seed}: {path}");
        }

        let deltas = compare(&objects, &tree, &built(&workspace, &after)).unwrap();
        let mut expected: Vec<Delta> = Vec::new();
        let all: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        for path in all {
            let (was, is) = (before.get(path).copied(), after.get(path).copied());
            if was != is {
                expected.push(Delta { path: path.clone(), before: was, after: is });
            }
        }
        assert_eq!(deltas, expected, "seed {seed}");

        let edits = deltas.into_iter().map(|delta| (delta.path, delta.after)).collect();
        let mut pack = PackWriter::new(&workspace.store).unwrap();
        let edited = edit(&objects, &tree, &edits, &mut pack).unwrap();
        pack.finish().unwrap();
        assert_eq!(edited.to_string(), git_tree(&repo, &workspace, &after), "seed {seed}");
    }
}

#[test]
fn files_and_folders_replace_each_other_and_empty_folders_go() {
    // WSP-1
    let repo = Repo::new();
    let workspace = repo.workspace();
    let objects = workspace.store.objects().unwrap();
    let one = entries(&workspace)[0];
    let listing = |paths: &[&str]| paths.iter().map(|text| (path(text), one)).collect();
    let check = |before: &[&str], edits: &[(&str, bool)], after: &[&str]| {
        let tree = built(&workspace, &listing(before));
        let edits = edits.iter().map(|(text, set)| (path(text), set.then_some(one))).collect();
        let mut pack = PackWriter::new(&workspace.store).unwrap();
        let edited = edit(&objects, &tree, &edits, &mut pack).unwrap();
        pack.finish().unwrap();
        assert_eq!(edited, built(&workspace, &listing(after)), "{before:?} {edits:?}");
    };
    check(&["a", "b"], &[("a/x", true)], &["a/x", "b"]);
    check(&["a/x", "a/y", "b"], &[("a", true)], &["a", "b"]);
    check(&["a/x", "a/y", "b"], &[("a", true), ("a/x", false), ("a/y", false)], &["a", "b"]);
    check(&["a", "b"], &[("a", false), ("a/x/y", true)], &["a/x/y", "b"]);
    check(&["a/x", "b"], &[("a", false)], &["b"]);
    check(&["a/b/c/d", "b"], &[("a/b/c/d", false)], &["b"]);
    check(&["a"], &[("a/x", false)], &["a"]);
    check(&["a"], &[("z/x", false), ("y", false)], &["a"]);
    check(&["a", "b/c"], &[("a", false), ("b", false)], &[]);
    check(&[], &[("a/b", true)], &["a/b"]);

    let tree = built(&workspace, &listing(&["a"]));
    let both = [(path("b"), Some(one)), (path("b/c"), Some(one))].into();
    let mut pack = PackWriter::new(&workspace.store).unwrap();
    assert!(edit(&objects, &tree, &both, &mut pack).is_err());
    let twice = [(path("b"), one), (path("b-c"), one), (path("b/c"), one)];
    assert!(build(workspace.store.hash, &twice, &|_| false, &mut pack).is_err());
    let late = [(path("b"), one), (path("a"), one)];
    assert!(build(workspace.store.hash, &late, &|_| false, &mut pack).is_err());
}
