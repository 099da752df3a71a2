//! `git apply` as oracle: whenever git accepts a patch, we refuse it or report the same paths.

mod mutation;
mod repository;

use std::collections::BTreeSet;

use aurora_gate::analysis::patch::{Change, PatchAnalysis, analyse};

use mutation::Mutator;
use repository::Repository;

/// How many mutated patches are compared.
const MUTATIONS: usize = 800;

/// What git says about a patch: lines added and removed, and the name, sorted.
type Stat = Vec<(String, String, Vec<u8>)>;

/// The same from our reading.
fn our_stat(analysis: &PatchAnalysis) -> Stat {
    let mut stat: Stat = analysis
        .files
        .iter()
        .map(|file| {
            let name = file.new.clone().or_else(|| file.old.clone()).unwrap();
            if file.binary {
                ("-".to_owned(), "-".to_owned(), name)
            } else {
                (file.added_lines.to_string(), file.removed_lines.to_string(), name)
            }
        })
        .collect();
    stat.sort();
    stat
}

/// Every path that we say is touched, and those that we say go away.
fn our_paths(analysis: &PatchAnalysis) -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>) {
    let mut touched = BTreeSet::new();
    let mut gone = BTreeSet::new();
    for file in &analysis.files {
        let old = file.old.clone().filter(|_| file.change != Change::Copied);
        touched.extend(old.clone());
        touched.extend(file.new.clone());
        if matches!(file.change, Change::Deleted | Change::Renamed) {
            gone.extend(old);
        }
    }
    (touched, gone)
}

/// Compares our reading with git's; says whether both accepted.
fn compare(repository: &Repository, patch: &[u8]) -> bool {
    let ours = analyse(patch);
    let shown = || String::from_utf8_lossy(patch).into_owned();
    if ours.refusal.is_some() {
        return false;
    }
    let Some((stat, cut_short)) = repository.numstat(patch) else { return false };
    let own = our_stat(&ours);
    let same = if cut_short { stat.iter().all(|row| own.contains(row)) } else { own == stat };
    assert!(same, "git reads {stat:?}\nwe read {own:?}\nin {}", shown());
    let Some(changes) = repository.apply(patch) else { return false };
    let (touched, gone) = our_paths(&ours);
    for (status, path) in changes {
        assert!(touched.contains(&path), "git touched {path:?} with\n{}", shown());
        if status == b'D' {
            assert!(gone.contains(&path), "git deleted {path:?} with\n{}", shown());
        }
    }
    true
}

#[test]
fn real_patches_with_hostile_names_are_read_as_git_reads_them() {
    let repository = Repository::new();
    for patch in repository.patches() {
        let ours = analyse(&patch);
        let shown = String::from_utf8_lossy(&patch);
        assert_eq!(ours.refusal, None, "refused:\n{shown}");
        // One half of a change of type does not apply without the other, but it is read.
        let read = compare(&repository, &patch) || repository.numstat(&patch).is_some();
        assert!(read, "git refuses:\n{shown}");
    }
}

#[test]
fn mutated_patches_never_touch_more_than_we_say() {
    let repository = Repository::new();
    let patches = repository.patches();
    let mut mutator = Mutator::new(0x5eed_cafe_f00d_d00d);
    let mut both = 0;
    for _ in 0..MUTATIONS {
        let patch = mutator.mutate(&patches);
        both += usize::from(compare(&repository, &patch));
    }
    // Otherwise the mutations are so wild that nothing is compared.
    assert!(both > MUTATIONS / 20, "only {both} mutated patches were accepted by both");
}

#[test]
fn traditional_patches_are_read_as_git_reads_them() {
    let repository = Repository::new();
    for patch in [
        "--- plain.txt\n+++ plain.txt\n@@ -1 +1 @@\n-one\n+1\n",
        "--- a/plain.txt\n+++ b/plain.txt\n@@ -1 +1 @@\n-one\n+1\n",
        "Index: plain.txt\n====\n--- a/plain.txt\t2020-01-01 10:00:00\n+++ b/plain.txt\t2020-01-01 10:00:01.5 +0100\n@@ -1 +1 @@\n-one\n+1\n",
        "--- a/plain.txt.orig\n+++ b/plain.txt\n@@ -1 +1 @@\n-one\n+1\n",
        "--- a/plain.txt\n+++ b/plain.txt.new\n@@ -1 +1 @@\n-one\n+1\n",
        "--- /dev/null\n+++ b/fresh.txt\n@@ -0,0 +1 @@\n+1\n",
        "--- /dev/null\t1970-01-01 00:00:00.000000000 +0000\n+++ b/fresh.txt\t2020-01-01 10:00:00 +0000\n@@ -0,0 +1 @@\n+1\n",
        "--- a/fresh.txt\t1970-01-01 00:00:00.000000000 +0000\n+++ b/fresh.txt\t2020-01-01 10:00:00 +0000\n@@ -0,0 +1 @@\n+1\n",
        "--- a/plain.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
        "--- a/plain.txt\n+++ b/plain.txt\n@@ -1 +0,0 @@\n-one\n",
        "--- a/fresh.txt\n+++ b/fresh.txt\n@@ -0,0 +1 @@\n+1\n",
        "--- a/with space.txt\n+++ b/with space.txt\n@@ -1 +1 @@\n-one\n+1\n",
        "--- \"a/tab\\tname\"\n+++ \"b/tab\\tname\"\n@@ -1 +1 @@\n-one\n+1\n",
        "--- /dev/null\n+++ fresh.txt\n@@ -0,0 +1 @@\n+1\n--- plain.txt\n+++ plain.txt\n@@ -1 +1 @@\n-one\n+1\n",
    ] {
        assert_eq!(analyse(patch.as_bytes()).refusal, None, "refused:\n{patch}");
        assert!(compare(&repository, patch.as_bytes()), "git refuses:\n{patch}");
    }
}
