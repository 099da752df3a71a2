//! What a model is told of files, and how much of it.

use super::*;

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn made() -> (tempfile::TempDir, Files) {
    let dir = tempfile::tempdir().unwrap();
    let files = Files::beneath(dir.path()).unwrap();
    (dir, files)
}

// MOD-2
#[test]
fn a_file_is_read_whole_or_in_parts_and_a_large_one_says_where_to_go_on() {
    let (_dir, files) = made();
    files.write(&path("a.txt"), b"one\ntwo\nthree\n", None).unwrap();
    assert_eq!(read(&files, &path("a.txt"), 1, None).content, "one\ntwo\nthree\n");
    assert_eq!(read(&files, &path("a.txt"), 2, Some(1)).content, "two\n");
    assert_eq!(read(&files, &path("a.txt"), 9, None).content, "");
    let large: String = (1..=20_000).map(|n| format!("line {n}\n")).collect();
    files.write(&path("large"), large.as_bytes(), None).unwrap();
    let told = read(&files, &path("large"), 1, None).content;
    assert!(
        told.len() < MAX_TOLD_BYTES + 100 && told.contains("go on with first_line "),
        "{}",
        told.len()
    );
    files.write(&path("bin"), b"\xff\xfe", None).unwrap();
    for (bad, kind) in [("none", "not_found"), ("bin", "not_text"), (".git/x", "not_allowed")] {
        let told = read(&files, &path(bad), 1, None);
        assert!(told.is_error && told.content.contains(kind), "{bad}: {}", told.content);
    }
}

// MOD-2
#[test]
fn a_text_is_found_with_its_place_and_git_is_not_searched() {
    let (dir, files) = made();
    files.write(&path("src/a.rs"), b"fn a() {}\nfn b() {}\n", None).unwrap();
    std::fs::create_dir(dir.path().join(".git")).unwrap();
    std::fs::write(dir.path().join(".git/x"), "fn b").unwrap();
    assert_eq!(search(&files, "fn b", None).content, "src/a.rs:2: fn b() {}\n");
    assert!(search(&files, "nowhere to be seen", None).content.contains("it is nowhere"));
    let listed = list(&files, None).content;
    assert_eq!(listed, "src/\n");
    assert_eq!(list(&files, Some(&path("src"))).content, "a.rs (20 bytes)\n");
    assert!(list(&files, Some(&path("no"))).is_error);
}

// APR-3: a target is what a path holds when it is asked about.
#[test]
fn a_target_has_the_hash_of_what_is_there() {
    let (_dir, files) = made();
    let none = target(&files, &path("a")).unwrap();
    assert_eq!(none, Target::Path { path: "a".to_owned(), content: None });
    files.write(&path("a"), b"x", None).unwrap();
    let one = target(&files, &path("a")).unwrap();
    files.write(&path("a"), b"y", None).unwrap();
    assert!(one != none && one != target(&files, &path("a")).unwrap());
}
