//! Ignore rules against `git status --ignored`, on many made-up cases.

use std::collections::BTreeSet;

use aurora_model::{RepoPath, SkipReason};

use crate::fixture::Repo;
use crate::request::CheckpointRequest;
use crate::workspace::Workspace as _;

/// A small generator, so that a case can be made again from its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const NAMES: &[&str] = &["a", "b", "ab", "a.o", "B", "x y", "[z]", "!n", "#h", "a\\b", "é", "t "];

fn pattern(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.roll(4) == 0 {
        text.push('!');
    }
    if dice.roll(4) == 0 {
        text.push('/');
    }
    for part in 0..=dice.roll(3) {
        if part > 0 {
            text.push('/');
        }
        text.push_str(dice.pick(&[
            "a",
            "b",
            "ab",
            "*",
            "**",
            "*.o",
            "?",
            "a*",
            "[ab]",
            "[!a]",
            "B",
            "x y",
            "\\[z]",
            "\\!n",
            "\\#h",
            "a\\\\b",
            "é",
            "t\\ ",
            "t ",
            "[[:alpha:]]",
            "[a-",
            "a**",
            "**b",
            "*b*",
            "\\a",
            "#h",
            "[]a]",
            "[^b]",
            "\\",
            "a?",
        ]));
    }
    if dice.roll(4) == 0 {
        text.push('/');
    }
    text.push_str(dice.pick(&["", "", "", "", "", " ", "\r", "\t", "/**"]));
    text
}

fn rules(dice: &mut Dice) -> String {
    (0..=dice.roll(4)).map(|_| pattern(dice) + "\n").collect()
}

/// What git leaves out, folders without their slash.
fn by_git(repo: &Repo) -> BTreeSet<RepoPath> {
    let said = repo.try_git(
        &repo.root(),
        &["status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all"],
    );
    assert!(said.status.success());
    let lines = said.stdout.split(|byte| *byte == 0);
    let ignored = lines.filter_map(|line| line.strip_prefix(b"!! "));
    ignored.map(|path| RepoPath::new(path.strip_suffix(b"/").unwrap_or(path)).unwrap()).collect()
}

fn by_us(repo: &Repo) -> BTreeSet<RepoPath> {
    let created = repo.workspace().checkpoint(&CheckpointRequest::default()).unwrap();
    let skipped = created.checkpoint.skipped.into_iter();
    skipped.filter(|one| one.reason == SkipReason::Ignored).map(|one| one.path).collect()
}

fn case(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let repo = Repo::empty();
    for _ in 0..6 + dice.roll(14) {
        let depth = 1 + dice.roll(4);
        let parts: Vec<&str> = (0..depth).map(|_| dice.pick(NAMES)).collect();
        let path = repo.path(parts.join("/"));
        // A name may be taken by a file already; then there is one file less.
        if std::fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.exists() {
            std::fs::write(path, "x").unwrap();
        }
    }
    if dice.roll(3) == 0 {
        let some: Vec<&str> =
            ["a", "b", "ab"].into_iter().filter(|name| repo.path(name).exists()).collect();
        for name in some {
            repo.git(&["add", "-f", name]);
        }
    }
    repo.write(".gitignore", rules(&mut dice));
    for folder in ["a", "b", "a/b", "a/a"] {
        if repo.path(folder).is_dir() && dice.roll(2) == 0 {
            repo.write(format!("{folder}/.gitignore"), rules(&mut dice));
        }
    }
    if dice.roll(3) == 0 {
        repo.write(".git/info/exclude", rules(&mut dice));
    }
    if dice.roll(3) == 0 {
        std::fs::create_dir_all(repo.home().join(".config/git")).unwrap();
        std::fs::write(repo.home().join(".config/git/ignore"), rules(&mut dice)).unwrap();
    }
    // Git compares tracked names so too, which makes no sense where both cases can exist.
    if dice.roll(4) == 0 && repo.git(&["ls-files"]).is_empty() {
        repo.git(&["config", "core.ignoreCase", "true"]);
    }
    let (git, us) = (by_git(&repo), by_us(&repo));
    let shown = || {
        let files = repo.try_git(&repo.root(), &["ls-files", "-o", "-c"]).stdout;
        let rules = std::process::Command::new("sh")
            .args(["-c", "find . -name .gitignore -not -path './.git/*' | xargs -d '\\n' head -50 -v | cat -A; cat -A .git/info/exclude ../home/.config/git/ignore"])
            .current_dir(repo.root())
            .output()
            .unwrap();
        format!("{}\n{}", String::from_utf8_lossy(&files), String::from_utf8_lossy(&rules.stdout))
    };
    assert_eq!(git, us, "seed {seed}\n{}", shown());
}

#[test]
fn rules_are_read_as_git_reads_them() {
    // WSP-3
    let from = std::env::var("AURORA_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let count =
        std::env::var("AURORA_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    for seed in from..from + count {
        case(seed);
    }
}

#[test]
fn the_users_own_rules_are_found_through_settings_and_includes() {
    // WSP-3
    let repo = Repo::new();
    let home = repo.home();
    std::fs::write(home.join("mine"), "*.bak\n").unwrap();
    std::fs::write(home.join("more"), "[core]\n\texcludesFile = ~/mine\n").unwrap();
    std::fs::write(home.join(".gitconfig"), "[include]\n\tpath = more\n").unwrap();
    repo.write("a.bak", "x");
    assert_eq!(by_us(&repo), by_git(&repo));
    assert_eq!(by_us(&repo).len(), 1);
}

#[test]
fn a_linked_file_of_rules_does_not_count() {
    // WSP-6
    let repo = Repo::new();
    repo.write("a.o", "x");
    std::fs::write(repo.home().join("rules"), "*.o\n").unwrap();
    std::os::unix::fs::symlink(repo.home().join("rules"), repo.path(".gitignore")).unwrap();
    assert_eq!(by_us(&repo), BTreeSet::new());
}
