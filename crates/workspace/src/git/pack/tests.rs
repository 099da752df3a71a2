//! Packs as the real git sees them.

use std::fs;

use super::*;
use crate::fixture::Repo;
use crate::git::GitWorkspace;

fn packs(workspace: &GitWorkspace) -> Vec<PathBuf> {
    let dir = workspace.store.dir.join("objects/pack");
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

/// Bytes that do not become smaller, always the same ones.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

fn sha256_repo() -> Repo {
    let repo = Repo::empty();
    fs::remove_dir_all(repo.path(".git")).unwrap();
    repo.git(&["init", "--quiet", "--object-format=sha256", "--initial-branch=main"]);
    repo
}

#[test]
fn git_accepts_a_pack_of_all_kinds_and_sizes() {
    // WSP-1: what we write is what git reads, for both hashes.
    for repo in [Repo::new(), sha256_repo()] {
        let workspace = repo.workspace();
        let mut pack = PackWriter::new(&workspace.store).unwrap();
        let mut contents = vec![Vec::new(), noise(70_000), vec![b'a'; 200_000], noise(65_535)];
        for size in [1, 15, 16, 511, 512, 2047, 2048, 16_384, 65_535, 65_536, 131_070] {
            contents.push(noise(size));
            contents.push(b"some text\n".repeat(size / 10 + 1));
        }
        let mut named = Vec::new();
        for content in &contents {
            named.push((pack.add(Kind::Blob, content).unwrap(), content));
        }
        let tree = pack.add(Kind::Tree, b"").unwrap();
        let commit = format!("tree {tree}\nauthor A <a> 0 +0000\ncommitter A <a> 0 +0000\n\nhi\n");
        let commit = pack.add(Kind::Commit, commit.as_bytes()).unwrap();
        // Once is enough.
        assert!(pack.has(&commit));
        let before = pack.buffer.len();
        pack.add(Kind::Blob, &contents[1]).unwrap();
        assert_eq!(pack.buffer.len(), before);
        pack.finish().unwrap();

        let files = packs(&workspace);
        assert_eq!(files.len(), 2, "{files:?}");
        let git_dir = format!("--git-dir={}", workspace.store.dir.display());
        for file in &files {
            repo.git(&[&git_dir, "verify-pack", "-v", file.to_str().unwrap()]);
        }
        repo.git(&[&git_dir, "fsck", "--full", "--strict"]);
        // Another reader makes the same index of it.
        let again = repo.home().join("again.idx");
        let pack_file = files.iter().find(|file| file.extension().unwrap() == "pack").unwrap();
        let format = format!("--object-format={}", workspace.store.hash);
        repo.git(&[
            "index-pack",
            "-o",
            again.to_str().unwrap(),
            &format,
            pack_file.to_str().unwrap(),
        ]);
        assert_eq!(fs::read(again).unwrap(), fs::read(pack_file.with_extension("idx")).unwrap());

        let objects = workspace.store.objects().unwrap();
        for (id, content) in named {
            assert_eq!(&objects.blob(&id).unwrap(), content);
            let listed = repo.git(&[&git_dir, "cat-file", "-s", &id.to_string()]);
            assert_eq!(listed.trim(), content.len().to_string());
        }
    }
}

#[test]
fn a_pack_larger_than_memory_allows_goes_to_its_file_in_pieces() {
    // WSP-1
    let repo = Repo::new();
    let workspace = repo.workspace();
    let mut pack = PackWriter::new(&workspace.store).unwrap();
    let mut names = Vec::new();
    for number in 0..5u8 {
        let mut content = noise(1 << 20);
        content[0] = number;
        names.push(pack.add(Kind::Blob, &content).unwrap());
        pack.spill().unwrap();
    }
    names.push(pack.add(Kind::Blob, b"the last").unwrap());
    pack.finish().unwrap();
    let git_dir = format!("--git-dir={}", workspace.store.dir.display());
    for file in packs(&workspace) {
        repo.git(&[&git_dir, "verify-pack", file.to_str().unwrap()]);
    }
    for name in names {
        repo.git(&[&git_dir, "cat-file", "-e", &name.to_string()]);
    }
}

#[test]
fn a_pack_that_is_dropped_or_empty_leaves_nothing() {
    // WSP-1
    let repo = Repo::new();
    let workspace = repo.workspace();
    let mut pack = PackWriter::new(&workspace.store).unwrap();
    pack.add(Kind::Blob, b"gone").unwrap();
    pack.spill().unwrap();
    assert_eq!(packs(&workspace).len(), 1);
    drop(pack);
    PackWriter::new(&workspace.store).unwrap().finish().unwrap();
    assert_eq!(packs(&workspace), Vec::<PathBuf>::new());
}

#[test]
fn a_reader_that_was_there_before_finds_what_is_new() {
    // WSP-1
    let repo = Repo::new();
    let workspace = repo.workspace();
    let objects = workspace.store.objects().unwrap();
    let mut names = Vec::new();
    // So many that a new reader gets more room.
    for number in 0..140 {
        let mut pack = PackWriter::new(&workspace.store).unwrap();
        names.push(pack.add(Kind::Blob, format!("blob {number}").as_bytes()).unwrap());
        pack.finish().unwrap();
        if number == 3 {
            assert!(names.iter().all(|name| objects.contains(name)));
            assert!(names.iter().all(|name| workspace.store.owns(name).unwrap()));
        }
    }
    let objects = workspace.store.objects().unwrap();
    assert!(names.iter().all(|name| objects.contains(name)));
    assert!(names.iter().all(|name| workspace.store.owns(name).unwrap()));
    assert!(!workspace.store.owns(&ObjectId::empty_blob(workspace.store.hash)).unwrap());
}
