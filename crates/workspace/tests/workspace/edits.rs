//! Random edits of a worktree, as people, agents and git make them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::harness::{Chance, World};

const FOLDERS: &[&[u8]] =
    &[b"", b"", b"a", b"a/b", b"d e", b"new\nline", b"\xff\xfe", b"-n", b"deep/er/and", b"build"];

const NAMES: &[&[u8]] = &[
    b"f",
    b"g.txt",
    b"x.log",
    b".env",
    b"-n",
    b"sp ace",
    b"nl\nx",
    b"caf\xe9",
    b"data.bin",
    b"a",
    b"b",
    b"\"quoted\"",
    b"tab\t",
    b"run.sh",
    b"*",
    b"[x]",
];

const RULES: &[&str] = &[
    "*.log\n",
    "build/\n",
    "/a\n",
    "*.log\n!x.log\n",
    "data.bin\n",
    "*\n",
    "",
    "b\n.env\n",
    "d e/\n",
    "!*\n",
    "\\*\n",
];

const ATTRIBUTES: &[&str] = &[
    "* text=auto eol=crlf\n",
    "*.txt ident\n",
    "*.bin filter=evil\n* -text\n",
    "*.txt working-tree-encoding=UTF-16\n",
    "* filter=evil\n",
    "",
];

const TARGETS: &[&str] =
    &["f", "missing", "/etc/hostname", "..", "a", ".", "../../outside", "deep/er", ".git/config"];

fn random_path(chance: &mut Chance) -> Vec<u8> {
    let folder = *chance.pick(FOLDERS);
    let name = *chance.pick(NAMES);
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

fn random_bytes(chance: &mut Chance) -> Vec<u8> {
    match chance.below(9) {
        0 => Vec::new(),
        1 => b"a\n".to_vec(),
        2 => b"b\n".to_vec(),
        3 => b"windows\r\nlines\r\n".to_vec(),
        4 => b"$Id$ no newline at the end".to_vec(),
        5 => b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n".to_vec(),
        6 => (0..chance.below(3000)).map(|_| u8::try_from(chance.below(256)).unwrap()).collect(),
        7 => vec![0; chance.below(20_000)],
        _ => {
            let lines = (0..chance.below(40)).map(|n| format!("line {n} {}\n", chance.below(3)));
            lines.collect::<String>().into_bytes()
        }
    }
}

/// Removes whatever stands at a path.
fn clear(at: &Path) {
    match at.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(at).unwrap(),
        Ok(_) => std::fs::remove_file(at).unwrap(),
        Err(_) => {}
    }
}

/// Makes the folder of a path be a real folder inside the worktree.
fn make_way(world: &World, path: &[u8]) -> PathBuf {
    let mut at = world.root.clone();
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    for part in &parts[..parts.len() - 1] {
        at = at.join(OsStr::from_bytes(part));
        if !at.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            clear(&at);
            std::fs::create_dir(&at).unwrap();
        }
    }
    world.path(path)
}

/// Some path that is there and is no folder, apart from git's data.
fn existing(world: &World, chance: &mut Chance) -> Option<PathBuf> {
    let listing = crate::listing::Listing::of(&world.root);
    let paths: Vec<_> = listing.nodes.keys().collect();
    (!paths.is_empty()).then(|| world.path(chance.pick(&paths).as_bytes()))
}

/// One random edit of files.
fn edit_files(world: &World, chance: &mut Chance) {
    let path = random_path(chance);
    match chance.below(15) {
        0..=3 => {
            let at = make_way(world, &path);
            clear(&at);
            std::fs::write(at, random_bytes(chance)).unwrap();
        }
        4 => {
            if let Some(at) = existing(world, chance).filter(|at| is_file(at)) {
                let mut bytes = std::fs::read(&at).unwrap();
                bytes.extend(b"appended\n");
                std::fs::write(at, bytes).unwrap();
            }
        }
        5 | 6 => {
            // Of the same size and in place: only the clock can tell, and it may not have ticked.
            if let Some(at) = existing(world, chance).filter(|at| is_file(at)) {
                let mut bytes = std::fs::read(&at).unwrap();
                bytes.iter_mut().take(5).for_each(|byte| *byte = byte.wrapping_add(1));
                std::fs::write(at, bytes).unwrap();
            }
        }
        7 => {
            if let Some(at) = existing(world, chance) {
                std::fs::remove_file(at).unwrap();
            }
        }
        8 => {
            let folder = *chance.pick(&FOLDERS[2..]);
            clear(&world.path(folder));
        }
        9 => {
            if let Some(from) = existing(world, chance) {
                let to = make_way(world, &path);
                if from.symlink_metadata().is_ok() && !to.starts_with(&from) {
                    clear(&to);
                    std::fs::rename(from, to).ok();
                }
            }
        }
        10 => {
            if let Some(at) = existing(world, chance).filter(|at| is_file(at)) {
                let mode = at.metadata().unwrap().permissions().mode();
                let mode = std::fs::Permissions::from_mode(mode ^ 0o111);
                std::fs::set_permissions(at, mode).unwrap();
            }
        }
        11 => {
            let at = make_way(world, &path);
            clear(&at);
            symlink(chance.pick(TARGETS), at).unwrap();
        }
        12 => {
            let at = make_way(world, &path);
            clear(&at);
            std::fs::create_dir(&at).unwrap();
            if chance.one_in(2) {
                std::fs::write(at.join("f"), random_bytes(chance)).unwrap();
            }
        }
        13 => {
            let folder = *chance.pick(FOLDERS);
            let rules = if folder.is_empty() {
                b".gitignore".to_vec()
            } else {
                [folder, b"/.gitignore"].concat()
            };
            let at = make_way(world, &rules);
            clear(&at);
            std::fs::write(at, chance.pick(RULES)).unwrap();
        }
        _ => {
            let at = make_way(world, b".gitattributes");
            clear(&at);
            std::fs::write(at, chance.pick(ATTRIBUTES)).unwrap();
        }
    }
}

fn is_file(at: &Path) -> bool {
    at.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// One random thing that a user does with git.
fn use_git(world: &World, chance: &mut Chance) {
    let path = random_path(chance);
    let path = OsStr::from_bytes(&path);
    let run = |args: &[&str]| {
        let mut args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        args.push(path);
        world.try_git(&world.root, &args);
    };
    match chance.below(12) {
        0 | 1 => drop(world.try_git(&world.root, &["add", "-A"])),
        2 | 3 => run(&["--literal-pathspecs", "add", "-f", "--"]),
        4 => run(&["--literal-pathspecs", "rm", "--cached", "--quiet", "-r", "--"]),
        5 | 6 => {
            world.try_git(&world.root, &["add", "-A"]);
            world.try_git(&world.root, &["commit", "--quiet", "--no-verify", "-m", "work"]);
        }
        7 => {
            let branch = format!("b{}", chance.below(1000));
            world.try_git(&world.root, &["checkout", "--quiet", "-b", &branch]);
        }
        8 => drop(world.try_git(&world.root, &["stash", "--quiet"])),
        9 => drop(world.try_git(&world.root, &["gc", "--quiet", "--prune=now"])),
        10 => nested_repository(world, chance),
        _ => {
            drop(world.try_git(&world.root, &["commit", "--quiet", "--allow-empty", "-m", "empty"]))
        }
    }
}

/// A repository inside, sometimes known to git as a submodule.
fn nested_repository(world: &World, chance: &mut Chance) {
    let at = world.path("nested");
    if at.join(".git").exists() {
        std::fs::write(at.join("more.txt"), random_bytes(chance)).unwrap();
        return;
    }
    clear(&at);
    std::fs::create_dir_all(&at).unwrap();
    world.try_git(&at, &["init", "--quiet", "--template="]);
    std::fs::write(at.join("inner.txt"), random_bytes(chance)).unwrap();
    std::fs::write(at.join(".gitignore"), "*.log\n").unwrap();
    std::fs::write(at.join("inner.log"), "ignored inside\n").unwrap();
    if chance.one_in(2) {
        world.try_git(&at, &["add", "-A"]);
        world.try_git(&at, &["commit", "--quiet", "-m", "inner"]);
        if chance.one_in(2) {
            world.try_git(&world.root, &["add", "nested"]);
        }
    }
}

/// A few random edits; says whether git was used.
pub fn edit(world: &World, chance: &mut Chance) -> bool {
    let mut used_git = false;
    for _ in 0..=chance.below(6) {
        if chance.one_in(9) {
            use_git(world, chance);
            used_git = true;
        } else {
            edit_files(world, chance);
        }
    }
    used_git
}

/// A repository to begin with: hostile settings, some commits, something staged, something not.
pub fn begin(chance: &mut Chance) -> World {
    let world = World::in_memory();
    let pwned = world.home().join("pwned");
    let evil = format!("sh -c 'touch {}; cat'", pwned.display());
    for key in ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor"] {
        let config = world.root.join(".git/config");
        let (section, name) = key.rsplit_once('.').unwrap();
        let section = match section.split_once('.') {
            Some((section, sub)) => format!("[{section} \"{sub}\"]"),
            None => format!("[{section}]"),
        };
        let mut text = std::fs::read_to_string(&config).unwrap();
        // Git itself must not run them either when the test plays the user.
        if key != "core.fsmonitor" || chance.one_in(2) {
            text.push_str(&format!("{section}\n\t{name} = {evil}\n"));
        }
        std::fs::write(&config, text).unwrap();
    }
    for _ in 0..chance.below(12) {
        edit_files(&world, chance);
    }
    if !chance.one_in(8) {
        world.try_git(&world.root, &["add", "-A"]);
        world.try_git(&world.root, &["commit", "--quiet", "-m", "first"]);
    }
    world
}
