//! What happened to git's own data in a shadow: commits, configuration, hooks. It is told, and never
//! promoted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use aurora_model::{Constraint, Head, RepoPath, Severity, Violation};

use crate::error::Result;
use crate::git::GitWorkspace;
use crate::git::process::Git;
use crate::shadow::Strategy;
use crate::shadow::layers::Walked;
use crate::shadow::meta::Shadow;

/// A git folder that may lie in several layers, the upper first.
pub(crate) struct View {
    /// The worktree's own.
    own: Vec<PathBuf>,
    /// The one that worktrees share.
    pub common: Vec<PathBuf>,
}

/// What became of git's own data in a shadow.
#[derive(Debug, Default)]
pub(crate) struct GitData {
    /// In words.
    pub notes: Vec<String>,
    /// What only the shadow has.
    pub lost: Vec<String>,
    /// What of it is a violation.
    pub violations: Vec<Violation>,
}

/// The content of a file in the first layer that says anything about it.
fn read_first(layers: &[PathBuf], name: &Path) -> Option<Vec<u8>> {
    for layer in layers {
        let path = layer.join(name);
        match path.symlink_metadata() {
            Ok(meta) if meta.is_file() => return std::fs::read(&path).ok(),
            // A whiteout, or something that git would not read either.
            Ok(_) => return None,
            Err(_) => {}
        }
    }
    None
}

impl View {
    /// Where HEAD stands.
    fn head(&self) -> Head {
        let Some(text) = read_first(&self.own, Path::new("HEAD")) else { return Head::default() };
        let text = text.trim_ascii();
        match text.strip_prefix(b"ref:") {
            Some(name) => {
                let name = name.trim_ascii();
                let branch = name.strip_prefix(b"refs/heads/").unwrap_or(name);
                Head {
                    commit: self.resolve(name),
                    branch: Some(String::from_utf8_lossy(branch).into_owned()),
                }
            }
            None => Head { commit: digits(text), branch: None },
        }
    }

    fn resolve(&self, name: &[u8]) -> Option<String> {
        // A name that climbs is none of git's.
        RepoPath::new(name)?;
        let path = Path::new(OsStr::from_bytes(name));
        if let Some(text) = read_first(&self.common, path) {
            return digits(text.trim_ascii());
        }
        let packed = read_first(&self.common, Path::new("packed-refs"))?;
        packed.split(|byte| *byte == b'\n').find_map(|line| {
            let at = line.iter().position(|byte| *byte == b' ')?;
            let (id, rest) = line.split_at_checked(at)?;
            (rest.get(1..)? == name).then(|| digits(id)).flatten()
        })
    }
}

fn digits(text: &[u8]) -> Option<String> {
    let sound = matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    sound.then(|| String::from_utf8_lossy(text).into_owned())
}

impl GitWorkspace {
    fn shadow_view(&self, shadow: &Shadow) -> View {
        let (own, common) = (&self.place.git_dir, &self.place.common_dir);
        if shadow.meta.strategy != Strategy::Overlay {
            let git = shadow.dir.join("tree/.git");
            return View { own: vec![git.clone()], common: vec![git] };
        }
        let layers = |folder: &PathBuf| {
            let mut found: Vec<PathBuf> = upper_of(shadow, folder).into_iter().collect();
            found.push(folder.clone());
            found
        };
        View { own: layers(own), common: layers(common) }
    }

    /// What became of git's own data.
    pub(crate) fn shadow_git_data(&self, shadow: &Shadow, walked: &Walked) -> Result<GitData> {
        let mut notes = shadow.meta.notes.clone();
        let view = self.shadow_view(shadow);
        // Where refs are in tables, the files that HEAD would be read from do not say where it is.
        let head = (!self.place.reftable).then(|| view.head());
        if let Some(mine) = &head {
            self.note_head(mine, &shadow.meta.head, &view, &mut notes);
        }
        let lost = self.only_in_shadow(shadow, &view, head.as_ref(), walked)?;
        if !lost.is_empty() {
            let few: Vec<&str> = lost.iter().take(10).map(String::as_str).collect();
            let more = lost.len().saturating_sub(few.len());
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!(
                "only the shadow has {}{rest}; promotion takes files, so they stay there",
                few.join(", ")
            ));
        }
        let nested = walked.git.iter().filter(|path| path.parent().is_some());
        if shadow.meta.strategy == Strategy::Overlay {
            notes.extend(nested.map(|path| {
                format!("{path} was changed in the shadow, and git's own data is not promoted")
            }));
        }
        let mut violations = Vec::new();
        if let [layer, _, ..] = view.common.as_slice() {
            for name in ["config", "config.worktree", "hooks", "info/attributes", "commondir"] {
                if layer.join(name).symlink_metadata().is_ok() {
                    violations.push(changed_git_data(name));
                }
            }
        }
        Ok(GitData { notes, lost, violations })
    }

    fn note_head(&self, mine: &Head, then: &Head, view: &View, notes: &mut Vec<String>) {
        if mine.commit.is_some() && mine.commit != then.commit {
            let stays = "promotion takes files, not commits";
            notes.push(match self.count_commits(mine, then, view) {
                Some(1) => format!("1 commit was made in the shadow; {stays}"),
                Some(0) | None => format!("HEAD of the shadow is another than it was; {stays}"),
                Some(many) => format!("{many} commits were made in the shadow; {stays}"),
            });
        }
        if mine.branch != then.branch {
            let branch = mine.branch.as_deref().unwrap_or("no branch");
            notes.push(format!("the shadow is on {branch}; the worktree's branch stays"));
        }
    }

    fn count_commits(&self, mine: &Head, then: &Head, view: &View) -> Option<u64> {
        let objects = view.common.first()?.join("objects");
        if objects.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b':' | b'"' | b'\n')) {
            return None;
        }
        let mut git =
            Git::new(&self.place.program, &self.place.git_dir, "count the commits of a shadow")
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects)
                .args(["rev-list", "--count", "--max-count=100000", mine.commit.as_deref()?]);
        if let Some(then) = &then.commit {
            git = git.args(["--not", then]);
        }
        let said = git.arg("--").run().ok()?;
        std::str::from_utf8(&said).ok()?.trim().parse().ok()
    }
}

fn upper_of(shadow: &Shadow, folder: &Path) -> Option<PathBuf> {
    shadow.meta.layers.iter().find_map(|layer| {
        let below = folder.strip_prefix(&layer.lower).ok()?;
        Some(shadow.dir.join(&layer.upper).join(below))
    })
}

fn changed_git_data(name: &str) -> Violation {
    Violation {
        file: RepoPath::new(format!(".git/{name}")),
        constraint: Constraint::GitData,
        severity: Severity::Warning,
        message: format!("git's `{name}` was changed in the shadow"),
        suggestion: "nothing of it is promoted; change it in the worktree if it is wanted"
            .to_owned(),
    }
}
