//! Our diffs against git's own: `git apply` turns one tree into the other, and the text is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use aurora_model::{EntryMode, RepoPath, TreeId};
use gix::hash::ObjectId;

use super::name::quoted;
use super::patch::{Side, patch_of, stat_of};
use crate::fixture::Repo;

type Tree = BTreeMap<RepoPath, (EntryMode, Vec<u8>)>;

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

const LINES: [&str; 22] = [
    "",
    "}",
    "    }",
    "{",
    "fn one(a: u32) -> u32 {",
    "    let x = 1;",
    "    return x;",
    "\t\tindented();",
    "static void two(struct a_very_long_name_of_a_type *argument, int another_argument_here, char last)",
    "$dollar",
    "_under",
    "// comment",
    "    // comment",
    "        deeper",
    " ",
    "\t",
    "class Müßiggang extends Größe {",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaüüüü",
    "end",
    "Label:   ",
    "-- minus",
    "+++ plus",
];

fn line(dice: &mut Dice) -> Vec<u8> {
    match dice.below(5) {
        0 => format!("{}unique {}", "  ".repeat(dice.below(5)), dice.below(1000)).into_bytes(),
        1 if dice.one_in(20) => b"caf\xe9 \xff in latin".to_vec(),
        _ => dice.pick(&LINES).as_bytes().to_vec(),
    }
}

fn joined(lines: &[Vec<u8>], ending: &[u8], last: bool) -> Vec<u8> {
    let mut text = lines.join(ending);
    if last && !lines.is_empty() {
        text.extend_from_slice(ending);
    }
    text
}

/// Two texts, of which the second is the first with edits.
fn texts(dice: &mut Dice) -> (Vec<u8>, Vec<u8>) {
    let count = *dice.pick(&[0, 1, 2, 5, 12, 40, 40, 150, 400]);
    let edits = *dice.pick(&[0, 1, 1, 2, 3, 8, 30]);
    edited(dice, count, edits)
}

/// A text of so many lines, and the same after so many edits.
fn edited(dice: &mut Dice, count: usize, edits: usize) -> (Vec<u8>, Vec<u8>) {
    let old: Vec<Vec<u8>> = (0..count).map(|_| line(dice)).collect();
    let mut new = old.clone();
    for _ in 0..edits {
        let at = dice.below(new.len() + 1);
        let end = (at + dice.below(6)).min(new.len());
        match dice.below(5) {
            0 => drop(new.drain(at..end)),
            1 => {
                let added: Vec<_> = (0..dice.below(6)).map(|_| line(dice)).collect();
                new.splice(at..at, added);
            }
            2 => {
                let block = new[at..end].to_vec();
                new.splice(at..at, block);
            }
            3 => {
                let block: Vec<_> = new.drain(at..end).collect();
                let to = dice.below(new.len() + 1);
                new.splice(to..to, block);
            }
            _ => {
                let changed: Vec<_> = (at..end).map(|_| line(dice)).collect();
                new.splice(at..end, changed);
            }
        }
    }
    let ending: &[u8] = if dice.one_in(6) { b"\r\n" } else { b"\n" };
    let (one, two) = (dice.below(4) != 0, dice.below(4) != 0);
    (joined(&old, ending, one), joined(&new, ending, two))
}

const NAMES: [&[u8]; 16] = [
    b"plain.rs",
    b"with space.txt",
    b"d/inner",
    b"d/e/deep",
    b"quo\"te",
    b"back\\slash",
    b"new\nline",
    b"tab\tname",
    "grün".as_bytes(),
    b"latin\xe9",
    b"d.x",
    b"d-y",
    b"del\x7f",
    b"d/ lead",
    b"\x01\x0b",
    b"trail ",
];

fn entry(dice: &mut Dice, bytes: Vec<u8>, binary: bool) -> (EntryMode, Vec<u8>) {
    match dice.below(12) {
        0 => {
            (EntryMode::Symlink, dice.pick(&["target", "../x y", "ä", "a\nb"]).as_bytes().to_vec())
        }
        1 => (EntryMode::Submodule, format!("{:040x}", dice.below(9) + 1).into_bytes()),
        2 | 3 => (EntryMode::Executable, bytes),
        4 if binary => (EntryMode::File, {
            let size = *dice.pick(&[1, 60, 1000, 50_000]);
            (0..size).map(|_| dice.below(3) as u8 * 7).chain([0]).collect()
        }),
        _ => (EntryMode::File, bytes),
    }
}

/// Two trees; some paths differ in kind, mode or content, some are only in one.
fn trees(dice: &mut Dice, binary: bool) -> (Tree, Tree) {
    let (mut before, mut after) = (Tree::new(), Tree::new());
    for _ in 0..1 + dice.below(8) {
        let path = RepoPath::new(*dice.pick(&NAMES)).unwrap();
        let (old, new) = texts(dice);
        match dice.below(8) {
            0 => drop(before.insert(path, entry(dice, old, binary))),
            1 => drop(after.insert(path, entry(dice, new, binary))),
            2 => {
                before.insert(path.clone(), (EntryMode::File, old.clone()));
                after.insert(path, (EntryMode::Executable, if dice.one_in(2) { old } else { new }));
            }
            3 => {
                before.insert(path.clone(), entry(dice, old, binary));
                after.insert(path, entry(dice, new, binary));
            }
            _ => {
                before.insert(path.clone(), (EntryMode::File, old));
                after.insert(path, (EntryMode::File, new));
            }
        }
    }
    if dice.one_in(6) {
        // A file becomes a folder, or the other way round.
        let (file, below) = (RepoPath::new("d").unwrap(), RepoPath::new("d/inner").unwrap());
        let (with, without) =
            if dice.one_in(2) { (&mut before, &mut after) } else { (&mut after, &mut before) };
        with.retain(|path, _| !path.is_within(&file));
        with.insert(file, (EntryMode::File, b"a file\n".to_vec()));
        without.insert(below, (EntryMode::File, b"a file\nand more\n".to_vec()));
    }
    (before, after)
}

fn id_of((mode, bytes): &(EntryMode, Vec<u8>)) -> ObjectId {
    match mode {
        EntryMode::Submodule => ObjectId::from_hex(bytes).unwrap(),
        _ => gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes).unwrap(),
    }
}

fn side(entry: &(EntryMode, Vec<u8>)) -> Side<'_> {
    Side { mode: entry.0, id: id_of(entry), bytes: &entry.1 }
}

fn our_diff(before: &Tree, after: &Tree) -> Vec<u8> {
    let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    let sides = |path| (before.get(path).map(side), after.get(path).map(side));
    let patch = |path| patch_of(path, sides(path).0, sides(path).1).unwrap();
    paths.into_iter().flat_map(patch).collect()
}

fn our_numstat(before: &Tree, after: &Tree) -> String {
    let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    let mut out = String::new();
    for path in paths {
        if before.get(path) == after.get(path) {
            continue;
        }
        let stat = stat_of(path, before.get(path).map(side), after.get(path).map(side));
        let name = String::from_utf8(quoted("", path.as_bytes())).unwrap();
        let (added, removed) = (stat.added, stat.removed);
        out += &match stat.binary {
            true => format!("-\t-\t{name}\n"),
            false => format!("{added}\t{removed}\t{name}\n"),
        };
    }
    out
}

/// Puts trees into a repository, each as a branch.
fn import(repo: &Repo, trees: &[(String, &Tree)]) {
    let mut stream = Vec::new();
    for (branch, tree) in trees {
        write!(
            stream,
            "commit refs/heads/{branch}\ncommitter T <t@example.org> 0 +0000\ndata 0\n\n"
        )
        .unwrap();
        for (path, entry) in *tree {
            let name = quoted("", path.as_bytes());
            match entry {
                (EntryMode::Submodule, id) => {
                    write!(stream, "M 160000 {} ", String::from_utf8_lossy(id)).unwrap();
                    stream.extend_from_slice(&name);
                    stream.push(b'\n');
                }
                (mode, bytes) => {
                    let digits = match mode {
                        EntryMode::Executable => "100755",
                        EntryMode::Symlink => "120000",
                        _ => "100644",
                    };
                    write!(stream, "M {digits} inline ").unwrap();
                    stream.extend_from_slice(&name);
                    write!(stream, "\ndata {}\n", bytes.len()).unwrap();
                    stream.extend_from_slice(bytes);
                    stream.push(b'\n');
                }
            }
        }
    }
    let mut git = Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(repo.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", repo.home())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(&stream).unwrap();
    assert!(git.wait().unwrap().success());
}

const DIFF: [&str; 6] =
    ["diff", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv"];

/// Runs cases by seed, and says how many they were and for which the text was not git's own.
fn check(
    seeds: std::ops::Range<u64>,
    make: impl Fn(&mut Dice) -> (Tree, Tree),
) -> (usize, Vec<u64>) {
    let repo = Repo::empty();
    let cases: Vec<(u64, (Tree, Tree))> =
        seeds.map(|seed| (seed, make(&mut Dice::new(seed)))).collect();
    let named = cases.iter().flat_map(|(seed, (before, after))| {
        [(format!("before-{seed}"), before), (format!("after-{seed}"), after)]
    });
    import(&repo, &named.collect::<Vec<_>>());
    let heads = repo.git(&["for-each-ref", "--format=%(refname:short) %(tree)"]);
    let wanted: BTreeMap<String, &str> = heads
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, id)| (name.to_owned(), id))
        .collect();
    let mut unlike = Vec::new();
    for (seed, (before, after)) in &cases {
        let patch = our_diff(before, after);
        let (from, to) = (format!("before-{seed}"), format!("after-{seed}"));
        let file = repo.home().join("patch");
        std::fs::write(&file, &patch).unwrap();
        repo.git(&["read-tree", &from]);
        let applied = repo.try_git(
            &repo.root(),
            &["apply", "--cached", "--allow-empty", "--whitespace=nowarn", file.to_str().unwrap()],
        );
        let said = String::from_utf8_lossy(&applied.stderr);
        let shown = String::from_utf8_lossy(&patch);
        assert!(applied.status.success(), "seed {seed}: git apply: {said}\n{shown}");
        let result = repo.git(&["write-tree"]);
        assert_eq!(result.trim(), wanted[&to], "seed {seed}: another tree came out of\n{shown}");
        let theirs = repo.try_git(&repo.root(), &[&DIFF[..], &[&from, &to]].concat()).stdout;
        if theirs != patch {
            unlike.push(*seed);
        }
        if seed % 4 != 0 {
            continue;
        }
        let counted = repo.git(&["diff", "--numstat", "--no-renames", &from, &to]);
        assert_eq!(our_numstat(before, after), counted, "seed {seed}: other counts");
    }
    (cases.len(), unlike)
}

// WSP-3
#[test]
fn git_apply_turns_one_tree_into_the_other_by_our_diff() {
    let (count, unlike) = check(0..150, |dice| trees(dice, true));
    eprintln!("{} of {count} diffs with binary content are git's own", count - unlike.len());
}

// WSP-3
#[test]
fn diffs_of_text_are_what_git_writes_byte_for_byte() {
    let (count, unlike) = check(1000..1200, |dice| trees(dice, false));
    eprintln!("{} of {count} diffs of text are git's own", count - unlike.len());
    assert!(unlike.is_empty(), "seeds that differ: {unlike:?}");
}

// WSP-3
#[test]
fn diffs_of_long_texts_are_what_git_writes_too() {
    let long = |dice: &mut Dice| {
        let (count, edits) = (2000 + dice.below(4000), *dice.pick(&[20, 200, 1500]));
        let (old, new) = edited(dice, count, edits);
        let tree = |text| Tree::from([(RepoPath::new("long").unwrap(), (EntryMode::File, text))]);
        (tree(old), tree(new))
    };
    let (count, unlike) = check(5000..5020, long);
    eprintln!("{} of {count} diffs of long texts are git's own", count - unlike.len());
    assert!(unlike.is_empty(), "seeds that differ: {unlike:?}");
}

/// The tree of a commit.
fn tree(repo: &Repo, name: &str) -> TreeId {
    TreeId(repo.git(&["rev-parse", &format!("{name}^{{tree}}")]).trim().to_owned())
}

// WSP-3
#[test]
fn many_files_come_in_order_and_only_those_that_were_asked_for() {
    let repo = Repo::new();
    for number in 0..600 {
        repo.write(format!("d{}/f {number}", number % 7), format!("{number}\nsame\n").repeat(5));
    }
    repo.commit("many");
    for number in 0..600 {
        let text =
            if number % 50 == 0 { "x\0y".repeat(20_000) } else { format!("{number}\nnew\n") };
        repo.write(format!("d{}/f {number}", number % 7), text);
    }
    repo.commit("changed");
    let workspace = repo.workspace();
    let (from, to) = (tree(&repo, "HEAD~"), tree(&repo, "HEAD"));
    let mut ours = Vec::new();
    workspace.write_diff(&from, &to, &[], &mut ours).unwrap();
    let heads = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(text).into_owned();
        text.lines().filter(|line| line.starts_with("diff --git")).map(str::to_owned).collect()
    };
    let theirs = repo.try_git(&repo.root(), &[&DIFF[..], &[&from.0, &to.0]].concat()).stdout;
    assert_eq!(heads(&ours), heads(&theirs));
    assert_eq!(heads(&ours).len(), 600);

    let only = [RepoPath::new("d3").unwrap(), RepoPath::new("d4/f 4").unwrap()];
    let mut ours = Vec::new();
    workspace.write_diff(&from, &to, &only, &mut ours).unwrap();
    let some = [&DIFF[..], &[&from.0, &to.0, "--", "d3", "d4/f 4"]].concat();
    let theirs = repo.try_git(&repo.root(), &some).stdout;
    assert_eq!(heads(&ours), heads(&theirs));

    let stats = workspace.stat(&from, &to, &only).unwrap();
    assert_eq!(stats.len(), heads(&ours).len());
    assert!(stats.iter().any(|stat| stat.binary));
    assert!(stats.iter().any(|stat| (stat.added, stat.removed) == (1, 9)), "{stats:?}");
}

/// Takes nothing.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

// WSP-3
#[test]
fn a_reader_that_goes_away_ends_the_diff() {
    let repo = Repo::empty();
    for number in 0..100 {
        repo.write(format!("{number}"), "text\n".repeat(100));
    }
    repo.commit("many");
    let empty = TreeId(repo.git(&["hash-object", "-t", "tree", "/dev/null"]).trim().to_owned());
    let to = tree(&repo, "HEAD");
    let result = repo.workspace().write_diff(&empty, &to, &[], &mut Full);
    assert!(matches!(result, Err(crate::Error::Io { .. })));
}
