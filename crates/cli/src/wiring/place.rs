//! Facts about the place where an action would happen, as the judge's context.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aurora_model::Context;

use super::git_facts::{self, Sources};
use super::repo::Repo;

/// What the caller already says about the place; everything else is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Given {
    /// Current directory.
    pub cwd: Option<PathBuf>,
    /// Root of the worktree.
    pub root: Option<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The checked-out branch.
    pub branch: Option<String>,
    /// The remote branch that it follows.
    pub upstream: Option<String>,
    /// Git aliases that win over configured ones.
    pub aliases: BTreeMap<String, String>,
    /// The role of whoever acts.
    pub role: Option<String>,
}

impl Given {
    /// The same, done by another's role when it names none.
    #[must_use]
    pub fn with_role_of(mut self, other: &Self) -> Self {
        self.role = self.role.or_else(|| other.role.clone());
        self
    }
}

/// The home folder of whoever runs this.
#[must_use]
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The current directory of this process.
#[must_use]
pub fn cwd() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// A place on disk, with the repository around it.
#[derive(Debug, Clone)]
pub struct Place {
    /// Current directory, absolute.
    pub cwd: Option<PathBuf>,
    /// The worktree around it.
    pub repo: Option<Repo>,
    given: Given,
}

impl Place {
    /// Looks up what was not given.
    #[must_use]
    pub fn look(given: Given) -> Self {
        let own = cwd();
        let cwd = match (&given.cwd, &given.root, own) {
            (Some(cwd), _, Some(own)) => Some(own.join(cwd)),
            (Some(cwd), _, None) => Some(cwd.clone()),
            (None, Some(root), _) => Some(root.clone()),
            (None, None, own) => own,
        };
        let cwd = cwd.map(|cwd| normal(&cwd));
        let repo = cwd.as_deref().and_then(Repo::find);
        Self { cwd, repo, given }
    }

    /// The worktree's root; without a repository the current directory stands for it.
    #[must_use]
    pub fn root(&self) -> Option<PathBuf> {
        let found = self.repo.as_ref().map(|repo| repo.root.clone());
        self.given.root.clone().or(found).or_else(|| self.cwd.clone())
    }

    /// The home folder of whoever acts.
    #[must_use]
    pub fn home(&self) -> Option<PathBuf> {
        self.given.home.clone().or_else(home)
    }

    /// The judge's context; git's configuration is read only when it can matter.
    #[must_use]
    pub fn context(&self, with_git: bool) -> Context {
        let branch =
            self.given.branch.clone().or_else(|| self.repo.as_ref().and_then(Repo::branch));
        let home = self.home();
        let mut context = Context {
            cwd: self.cwd.as_deref().map(text),
            root: self.root().as_deref().map(text),
            home: home.as_deref().map(text),
            upstream: self.given.upstream.clone(),
            role: self.given.role.clone(),
            now: Some(super::workspace::now()),
            ..Context::default()
        };
        if with_git {
            let repo = self.repo.as_ref();
            let sources = Sources { repo, home: home.as_deref(), branch: branch.as_deref() };
            context.git = git_facts::read(sources);
            if context.upstream.is_none() {
                context.upstream =
                    branch.as_deref().and_then(|b| git_facts::upstream(&context.git, b));
            }
        }
        context.git.aliases.extend(self.given.aliases.clone());
        context.branch = branch;
        context
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The path without `.` and `..`, by its words alone: the folder may not exist.
#[must_use]
pub fn normal(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_does_not_exist_is_its_own_root_and_has_no_branch() {
        let given = Given {
            cwd: Some("/nowhere/./a/../app".into()),
            home: Some("/nowhere".into()),
            ..Given::default()
        };
        let context = Place::look(given).context(false);
        assert_eq!(context.cwd.as_deref(), Some("/nowhere/app"));
        assert_eq!(context.root.as_deref(), Some("/nowhere/app"));
        assert_eq!((context.branch, context.upstream), (None, None));
    }
}
