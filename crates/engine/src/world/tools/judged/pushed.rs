//! What a push would send, and where: the commits of what it names, or all branches and tags where that
//! cannot be told, and what git's settings say about the other side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aurora_model::Target;

use super::super::files;

/// Options that change neither what is sent nor where to.
const PLAIN: [&str; 12] = [
    "-u",
    "--set-upstream",
    "-f",
    "--force",
    "--force-with-lease",
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "--no-verify",
    "-n",
    "--dry-run",
];
/// Sections of git's settings that say what is pushed, and where.
const SECTIONS: [&str; 6] = ["remote", "url", "push", "include", "includeif", "branch"];
/// A longer chain of names is followed no further.
const MAX_HOPS: usize = 5;
/// Deeper folders of branches are not looked into.
const MAX_DEPTH: usize = 16;

/// Where git keeps what it knows of a worktree.
struct Git {
    /// What is the worktree's own.
    own: PathBuf,
    /// What it shares with others.
    shared: PathBuf,
}

/// What a push names.
enum Sent<'c> {
    /// Just this, to the remote of that name.
    Named { remote: Option<&'c str>, sources: Vec<&'c str> },
    /// Anything.
    Anything,
}

/// What a command that pushes would send from a desk, and where to, as it is now.
pub(super) fn targets(command: &str, desk: &Path, home: Option<&str>) -> Vec<Target> {
    let mut targets = Vec::new();
    let words: Vec<&str> = command.split_whitespace().collect();
    let sent = sent(command, &words);
    if let Some(git) = Git::of(desk) {
        git.push(&sent, home, "", &mut targets);
    }
    if matches!(sent, Sent::Anything) {
        // It may push from somewhere else.
        let apart = |c: char| c.is_whitespace() || "'\"`;|&<>(){}$=".contains(c);
        for word in command.split(apart).filter(|word| !word.is_empty()) {
            let folder = desk.join(word);
            let elsewhere = (folder != desk).then(|| above(&folder)).flatten();
            if let Some(git) =
                elsewhere.filter(|git| Git::of(desk).is_none_or(|at| at.own != git.own))
            {
                git.push(&Sent::Anything, None, &format!("{word}: "), &mut targets);
            }
        }
    }
    targets.sort();
    targets.dedup();
    targets
}

/// What a command sends, where that is plain to see.
fn sent<'c>(command: &str, words: &[&'c str]) -> Sent<'c> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " ._/:+@-".contains(c);
    let ["git", "push", rest @ ..] = words else { return Sent::Anything };
    if !command.chars().all(plain) {
        return Sent::Anything;
    }
    let mut named = Vec::new();
    for word in rest {
        match word.starts_with('-') {
            true if PLAIN.contains(word) => {}
            true => return Sent::Anything,
            false => named.push(*word),
        }
    }
    let remote = named.first().copied();
    let mut sources = Vec::new();
    for spec in named.iter().skip(1) {
        let spec = spec.strip_prefix('+').unwrap_or(spec);
        let source = spec.split_once(':').map_or(spec, |(source, _)| source);
        match (source.is_empty(), spec == ":") {
            (_, true) => return Sent::Anything,
            // That takes away what is there, and sends nothing.
            (true, false) => {}
            (false, false) => sources.push(source),
        }
    }
    if named.len() < 2 {
        sources.push("HEAD");
    }
    Sent::Named { remote, sources }
}

/// The repository that a folder is in.
fn above(folder: &Path) -> Option<Git> {
    folder.is_dir().then(|| folder.ancestors().find_map(Git::of)).flatten()
}

impl Git {
    fn of(folder: &Path) -> Option<Self> {
        let dot = folder.join(".git");
        let own = match dot.is_dir() {
            true => dot,
            false => {
                let pointer = std::fs::read_to_string(dot).ok()?;
                folder.join(pointer.strip_prefix("gitdir:")?.trim())
            }
        };
        let shared = std::fs::read_to_string(own.join("commondir"));
        let shared = shared.map_or_else(|_| own.clone(), |path| own.join(path.trim()));
        Some(Self { own, shared })
    }

    /// Adds what is sent and where to.
    fn push(&self, sent: &Sent<'_>, home: Option<&str>, at: &str, targets: &mut Vec<Target>) {
        let settings = self.settings(home);
        let steered = settings.iter().any(|line| steers(line));
        let mut all = steered;
        match sent {
            Sent::Named { sources, .. } => {
                for source in sources {
                    let commit = self.resolve(source);
                    all |= commit.is_none();
                    targets.push(Target::Ref { name: format!("{at}{source}"), commit });
                }
            }
            Sent::Anything => {
                let commit = self.resolve("HEAD");
                targets.push(Target::Ref { name: format!("{at}HEAD"), commit });
                all = true;
            }
        }
        if all {
            let name = format!("{at}all branches and tags");
            targets.push(Target::Ref { name, commit: Some(self.everything()) });
        }
        let remote = match sent {
            Sent::Named { remote, .. } => remote.unwrap_or("origin"),
            Sent::Anything => "origin",
        };
        let shown = match url(&settings, remote) {
            Some(url) => format!("{at}remote {remote} at {}", without_secret(&url)),
            None => format!("{at}remote {remote}"),
        };
        let digest = files::hash(settings.join("\n").as_bytes()).to_string();
        targets.push(Target::Ref { name: shown, commit: Some(digest) });
    }

    /// The commit of a name, as git would find it.
    fn resolve(&self, name: &str) -> Option<String> {
        if is_id(name) {
            return Some(name.to_owned());
        }
        if name == "HEAD" || name == "@" {
            return self.follow("HEAD");
        }
        let full = [
            name.starts_with("refs/").then(|| name.to_owned()),
            Some(format!("refs/{name}")),
            Some(format!("refs/tags/{name}")),
            Some(format!("refs/heads/{name}")),
            Some(format!("refs/remotes/{name}")),
        ];
        full.into_iter().flatten().find_map(|name| self.follow(&name))
    }

    fn follow(&self, name: &str) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..MAX_HOPS {
            if name.split('/').any(|part| part == "..") {
                return None;
            }
            let found = self.loose(&name).or_else(|| self.packed().remove(&name))?;
            match found.strip_prefix("ref:") {
                Some(next) => name = next.trim().to_owned(),
                None => return is_id(&found).then_some(found),
            }
        }
        None
    }

    fn loose(&self, name: &str) -> Option<String> {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(name)).ok();
        let text = match name.starts_with("refs/") {
            true => read(&self.shared)?,
            false => read(&self.own)?,
        };
        Some(text.trim().to_owned())
    }

    fn packed(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(self.shared.join("packed-refs")).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        pairs
            .filter(|(id, _)| is_id(id))
            .map(|(id, name)| (name.to_owned(), id.to_owned()))
            .collect()
    }

    /// One digest of all branches and tags.
    fn everything(&self) -> String {
        let mut all = self.packed();
        all.retain(|name, _| name.starts_with("refs/heads/") || name.starts_with("refs/tags/"));
        for kind in ["refs/heads", "refs/tags"] {
            gather(&self.shared.join(kind), kind, MAX_DEPTH, &mut all);
        }
        // Where they are kept in tables instead, the tables stand for them.
        gather(&self.shared.join("reftable"), "reftable", 1, &mut all);
        let lines: Vec<String> = all.iter().map(|(name, id)| format!("{name} {id}")).collect();
        files::hash(lines.join("\n").as_bytes()).to_string()
    }

    /// The lines of git's settings that say what is pushed and where, with their sections.
    fn settings(&self, home: Option<&str>) -> Vec<String> {
        let of_person = home.map(|home| {
            [Path::new(home).join(".gitconfig"), Path::new(home).join(".config/git/config")]
        });
        let own = [self.shared.join("config"), self.own.join("config.worktree")];
        let mut kept = Vec::new();
        for path in of_person.into_iter().flatten().chain(own) {
            let Ok(bytes) = std::fs::read(path) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            let mut section = None;
            for line in text.lines().map(str::trim) {
                if let Some(inside) = line.strip_prefix('[') {
                    let word: String =
                        inside.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
                    let known = SECTIONS.contains(&word.to_ascii_lowercase().as_str());
                    section = known.then(|| line.to_owned());
                }
                if let Some(section) = &section {
                    kept.push(format!("{section} {line}"));
                }
            }
        }
        kept
    }
}

/// Whether a line of git's settings can make a push send more than it names.
fn steers(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let key = line.rsplit(']').next().unwrap_or_default().trim_start();
    line.starts_with("[push")
        || key.starts_with("push ")
        || key.starts_with("push=")
        || key.starts_with("mirror")
}

fn url(settings: &[String], remote: &str) -> Option<String> {
    let begin = format!("[remote \"{remote}\"] ");
    let value = |key: &str| {
        settings.iter().find_map(|line| {
            let (name, value) = line.strip_prefix(&begin)?.split_once('=')?;
            (name.trim().eq_ignore_ascii_case(key)).then(|| value.trim().to_owned())
        })
    };
    value("pushurl").or_else(|| value("url"))
}

/// An address without the name and the password in it.
fn without_secret(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}/{path}")
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn gather(folder: &Path, name: &str, depth: usize, all: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if path.is_dir() {
            if depth > 0 {
                gather(&path, &name, depth.saturating_sub(1), all);
            }
        } else if let Ok(bytes) = std::fs::read(&path) {
            // A branch is the same wherever git keeps it.
            let id = String::from_utf8_lossy(&bytes).trim().to_owned();
            let id = if is_id(&id) { id } else { files::hash(&bytes).to_string() };
            all.insert(name, id);
        }
    }
}
