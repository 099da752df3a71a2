//! The part of git's configuration that changes what a command means, from the files git would read.

use std::path::{Path, PathBuf};

use aurora_model::GitFacts;

use super::git_config::{self, Setting};
use super::input;
use super::repo::Repo;

const MAX_FILE_BYTES: u64 = 1024 * 1024;
const MAX_INCLUDE_DEPTH: usize = 10;
const MAX_FILES: usize = 64;
/// More settings than this in `GIT_CONFIG_COUNT` are not looked at.
const MAX_FROM_ENVIRONMENT: usize = 256;

/// Where configuration is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The repository, when there is one.
    pub repo: Option<&'a Repo>,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// The checked-out branch, for conditional includes.
    pub branch: Option<&'a str>,
}

/// Everything that matters, later files winning as they do for git.
#[must_use]
pub fn read(sources: Sources<'_>) -> GitFacts {
    let mut reader = Reader { sources, files: 0, settings: Vec::new(), incomplete: false };
    if std::env::var_os("GIT_CONFIG_NOSYSTEM").is_none_or(|value| value == "0") {
        reader.file(Path::new("/etc/gitconfig"), 0);
    }
    for path in global_files(sources.home) {
        reader.file(&path, 0);
    }
    if let Some(repo) = sources.repo {
        reader.file(&repo.common_dir.join("config"), 0);
        let own = reader.settings.iter().rev().find(|s| s.key() == "extensions.worktreeconfig");
        if own.is_some_and(|setting| is_true(&setting.value)) {
            reader.file(&repo.git_dir.join("config.worktree"), 0);
        }
    }
    let (settings, whole) = from_environment();
    reader.settings.extend(settings);
    GitFacts { incomplete: reader.incomplete || !whole, ..facts(reader.settings) }
}

/// The remote branch that a branch follows (`origin/main`).
#[must_use]
pub fn upstream(facts: &GitFacts, branch: &str) -> Option<String> {
    let remote = facts.config.get(&format!("branch.{branch}.remote"))?;
    let merge = facts.config.get(&format!("branch.{branch}.merge"))?;
    let merge = merge.strip_prefix("refs/heads/").unwrap_or(merge);
    // A dot as remote means a branch of this same repository.
    (remote != ".").then(|| format!("{remote}/{merge}"))
}

fn is_true(value: &str) -> bool {
    ["true", "yes", "on", "1"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn global_files(home: Option<&Path>) -> Vec<PathBuf> {
    if let Some(only) = std::env::var_os("GIT_CONFIG_GLOBAL") {
        return vec![PathBuf::from(only)];
    }
    let xdg = std::env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty());
    let xdg = xdg.map(PathBuf::from).or_else(|| home.map(|home| home.join(".config")));
    let xdg = xdg.map(|folder| folder.join("git/config"));
    xdg.into_iter().chain(home.map(|home| home.join(".gitconfig"))).collect()
}

/// Settings that `GIT_CONFIG_COUNT` and its companions hand to every git below this process, and
/// whether that is all of them.
fn from_environment() -> (Vec<Setting>, bool) {
    let count = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|text| text.parse::<usize>().ok());
    let count = count.unwrap_or_default();
    let settings = (0..count.min(MAX_FROM_ENVIRONMENT))
        .filter_map(|n| {
            let key = std::env::var(format!("GIT_CONFIG_KEY_{n}")).ok()?;
            let value = std::env::var(format!("GIT_CONFIG_VALUE_{n}")).ok()?;
            Setting::from_key(&key, value)
        })
        .collect();
    (settings, count <= MAX_FROM_ENVIRONMENT)
}

struct Reader<'a> {
    sources: Sources<'a>,
    files: usize,
    settings: Vec<Setting>,
    /// Whether a file is there that was not read.
    incomplete: bool,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, depth: usize) {
        if depth > MAX_INCLUDE_DEPTH || self.files >= MAX_FILES {
            self.incomplete = true;
            return;
        }
        self.files += 1;
        let Some(text) = input::small_text(path, MAX_FILE_BYTES) else {
            self.incomplete |= !is_nothing(path);
            return;
        };
        for setting in git_config::parse(&text) {
            let included = match (setting.section.as_str(), setting.subsection.as_deref()) {
                _ if setting.name != "path" => false,
                ("include", None) => true,
                ("includeif", Some(condition)) => self.holds(condition, path),
                _ => false,
            };
            if included {
                let target = expand_home(&setting.value, self.sources.home);
                let folder = path.parent().unwrap_or(Path::new("/"));
                self.file(&folder.join(target), depth + 1);
            } else {
                self.settings.push(setting);
            }
        }
    }

    /// Whether a conditional include applies here.
    fn holds(&self, condition: &str, file: &Path) -> bool {
        let Some((kind, pattern)) = condition.split_once(':') else { return false };
        match kind {
            "gitdir" | "gitdir/i" => {
                let Some(repo) = self.sources.repo else { return false };
                let mut pattern = match pattern.strip_prefix("./") {
                    Some(rest) => file.parent().unwrap_or(Path::new("/")).join(rest),
                    None => expand_home(pattern, self.sources.home),
                }
                .to_string_lossy()
                .into_owned();
                if !pattern.starts_with('/') {
                    pattern.insert_str(0, "**/");
                }
                if pattern.ends_with('/') {
                    pattern.push_str("**");
                }
                let folder = repo.git_dir.to_string_lossy().into_owned();
                if kind == "gitdir/i" {
                    matches(&pattern.to_lowercase(), &folder.to_lowercase())
                } else {
                    matches(&pattern, &folder)
                }
            }
            "onbranch" => {
                let more = if pattern.ends_with('/') { "**" } else { "" };
                self.sources.branch.is_some_and(|b| matches(&format!("{pattern}{more}"), b))
            }
            _ => false,
        }
    }
}

/// Whether there is no configuration at a path: no file, or the null device, which stands for none.
fn is_nothing(path: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match std::fs::metadata(path) {
        Ok(_) => path == Path::new("/dev/null"),
        Err(error) => matches!(error.kind(), NotFound | NotADirectory),
    }
}

fn expand_home(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        // Joining with an empty tail keeps a slash at the end, which carries meaning here.
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

/// Whether a path matches a pattern with `?`, `*` (not across `/`) and `**`.
fn matches(pattern: &str, path: &str) -> bool {
    let mut rest = pattern.chars();
    let Some(first) = rest.next() else { return path.is_empty() };
    let tail = rest.as_str();
    if first == '*' {
        let (deep, tail) = match tail.strip_prefix('*') {
            Some(tail) => (true, tail),
            None => (false, tail),
        };
        // `**/x` is also `x` itself.
        if deep && tail.strip_prefix('/').is_some_and(|tail| matches(tail, path)) {
            return true;
        }
        let mut from = path;
        loop {
            if matches(tail, from) {
                return true;
            }
            let mut chars = from.chars();
            match chars.next() {
                Some('/') if !deep => return false,
                Some(_) => from = chars.as_str(),
                None => return false,
            }
        }
    }
    let mut chars = path.chars();
    let same = |c: char| c == first || (first == '?' && c != '/');
    chars.next().is_some_and(same) && matches(tail, chars.as_str())
}

fn facts(settings: Vec<Setting>) -> GitFacts {
    let mut facts = GitFacts::default();
    for setting in settings {
        match (setting.section.as_str(), setting.subsection.as_deref(), setting.name.as_str()) {
            ("alias", None, name) => {
                facts.aliases.insert(name.to_owned(), setting.value);
            }
            // `[alias "name"] command = …` is the newer way, and there case matters.
            ("alias", Some(name), "command") => {
                facts.aliases.insert(name.to_owned(), setting.value.clone());
                facts.config.insert(setting.key(), setting.value);
            }
            // Refspecs add up over all files, and an empty one starts again.
            ("remote", Some(_), "push") => {
                if setting.value.is_empty() {
                    facts.config.remove(&setting.key());
                } else {
                    let all = facts.config.entry(setting.key()).or_default();
                    if !all.is_empty() {
                        all.push(' ');
                    }
                    all.push_str(&setting.value);
                }
            }
            ("push", None, _)
            | ("remote", None, "pushdefault")
            | ("remote", Some(_), "mirror")
            | ("branch", Some(_), "remote" | "merge" | "pushremote")
            | ("clean", None, "requireforce") => {
                facts.config.insert(setting.key(), setting.value);
            }
            _ => {}
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> GitFacts {
        facts(git_config::parse(text))
    }

    #[test]
    fn only_what_changes_a_commands_meaning_is_kept() {
        let facts = of("[user]\nname = x\n[alias]\nPF = push --force\n[push]\ndefault = current\n\
             [remote \"origin\"]\nurl = u\nfetch = f\npush = +a:b\npush = c\nmirror = true\n\
             [branch \"x\"]\nremote = origin\nmerge = refs/heads/main\n");
        assert_eq!(facts.aliases.get("pf").map(String::as_str), Some("push --force"));
        let keys: Vec<_> = facts.config.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(
            keys,
            [
                "branch.x.merge=refs/heads/main",
                "branch.x.remote=origin",
                "push.default=current",
                "remote.origin.mirror=true",
                "remote.origin.push=+a:b c",
            ]
        );
        assert_eq!(upstream(&facts, "x").as_deref(), Some("origin/main"));
        assert_eq!(upstream(&facts, "y"), None);
    }

    #[test]
    fn conditional_includes_match_as_git_matches() {
        for (pattern, path, expected) in [
            ("/home/u/work/**", "/home/u/work/app/.git", true),
            ("/home/u/work/**", "/home/u/worker/.git", false),
            ("**/app/.git", "/home/u/app/.git", true),
            ("**/app/.git", "app/.git", true),
            ("/home/*/app/.git", "/home/u/app/.git", true),
            ("/home/*/.git", "/home/u/app/.git", false),
            ("feature/?", "feature/a", true),
            ("feature/?", "feature/", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}
