//! Which strategies work here, found out by trying them.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::ioctl_ficlone;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::shadow::meta::make_private;
use crate::shadow::{Helper, Namespace, Strategy, enter, removal};

/// A strategy, and whether it works here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probed {
    /// The strategy.
    pub strategy: Strategy,
    /// Whether it works.
    pub works: bool,
    /// How it works, or why it does not.
    pub because: String,
}

/// A folder for trying, gone when it is dropped.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind is found by the next tidying up.
        let _ = removal::remove(&self.0);
    }
}

impl GitWorkspace {
    /// Tries every strategy, the best first. Nothing is remembered, because a kernel's settings and a
    /// folder's file system may change at any time.
    pub fn probe_shadows(&self, helper: Option<&Helper>, namespace: Namespace) -> Vec<Probed> {
        Strategy::ALL.iter().map(|one| self.probe_shadow(*one, helper, namespace)).collect()
    }

    /// Tries one strategy.
    pub(crate) fn probe_shadow(
        &self,
        strategy: Strategy,
        helper: Option<&Helper>,
        namespace: Namespace,
    ) -> Probed {
        let tried = match strategy {
            Strategy::Overlay => self.probe_overlay(helper, namespace),
            Strategy::Reflink => self.probe_reflink(),
            Strategy::Copy => Ok("a copy with a git folder of its own".to_owned()),
        };
        let works = tried.is_ok();
        Probed { strategy, works, because: tried.unwrap_or_else(|why| why) }
    }

    fn probe_overlay(
        &self,
        helper: Option<&Helper>,
        namespace: Namespace,
    ) -> std::result::Result<String, String> {
        let helper = helper.ok_or("nobody can enter one from here")?;
        if let Some(below) = enter::mounted_below(&self.place.root) {
            return Err(format!(
                "a file system is mounted inside the worktree, at {}, which an overlay would hide",
                below.display()
            ));
        }
        let scratch = self.scratch().map_err(|error| error.to_string())?;
        for name in ["upper", "work"] {
            make_private(&scratch.0.join(name)).map_err(|error| error.to_string())?;
        }
        let args = probe_args(&scratch.0, &self.place.root, namespace);
        let output = Command::new(&helper.program)
            .args(&helper.args)
            .args(args)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{}: {error}", helper.program.display()))?;
        let (said, complaint) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            return Ok(said.trim().to_owned());
        }
        let complaint = complaint.lines().next().unwrap_or("it failed without a word");
        Err(complaint.trim_start_matches("error: ").to_owned())
    }

    fn probe_reflink(&self) -> std::result::Result<String, String> {
        let try_it = || -> Result<()> {
            let scratch = self.scratch()?;
            let (from, to) = (self.place.git_dir.join("HEAD"), scratch.0.join("clone"));
            let source = File::open(&from).map_err(Error::io("open", &from))?;
            let target = File::create(&to).map_err(Error::io("create", &to))?;
            ioctl_ficlone(&target, &source)
                .map_err(|errno| Error::io("share the blocks of", &from)(errno.into()))
        };
        match try_it() {
            Ok(()) => Ok("a copy that shares its blocks, with a git folder of its own".to_owned()),
            Err(error) => Err(format!("this file system cannot share blocks ({error})")),
        }
    }

    fn scratch(&self) -> Result<Scratch> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".probe-{}-{number}", std::process::id());
        let dir = self.shadows_dir()?.join(name);
        let scratch = Scratch(dir);
        make_private(&scratch.0)?;
        Ok(scratch)
    }
}

/// What the helper is told, so that it calls [`enter::try_overlay`].
fn probe_args(dir: &Path, lower: &Path, namespace: Namespace) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["--dir".into(), dir.into(), "--probe".into(), lower.into()];
    if namespace == Namespace::User {
        args.push("--user-namespace".into());
    }
    args
}
