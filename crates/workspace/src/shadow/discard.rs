//! Giving up a shadow or some of its changes, and tidying up what crashes left.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use aurora_model::{EntryMode, RepoPath};

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::request::Limits;
use crate::shadow::changes::ShadowChange;
use crate::shadow::layers::{self, Trace};
use crate::shadow::meta::{Shadow, ShadowLock, Status, folders, try_lock};
use crate::shadow::reading::{Beneath, Seen};
use crate::shadow::{Cleaned, CleanupRequest, Discarded, Strategy, removal, users};

impl GitWorkspace {
    /// Takes the right to change a shadow, or says who has it.
    pub(crate) fn lock_shadow(&self, shadow: &Shadow) -> Result<ShadowLock> {
        shadow.try_lock()?.ok_or_else(|| Error::Busy {
            what: format!("{} is in use{}", shadow.meta.id, users::shown(&users::pids(shadow))),
        })
    }

    /// Gives up a whole shadow, or its changes at these paths and below them.
    pub fn discard_shadow(&self, shadow: &Shadow, only: &[RepoPath]) -> Result<Discarded> {
        let lock = self.lock_shadow(shadow)?;
        let id = shadow.meta.id.clone();
        if only.is_empty() {
            // First it is said to be gone, so that a crash leaves nothing that looks usable.
            let mut gone = shadow.clone();
            gone.meta.status = Status::Discarded;
            gone.save()?;
            self.let_base_go(&shadow.meta.id)?;
            removal::remove(&shadow.dir)?;
            drop(lock);
            self.forget_empty_folder();
            return Ok(Discarded { shadow: id, paths: Vec::new(), whole: true });
        }
        let compared = self.compare_shadow(shadow, Limits::default().max_file_bytes)?;
        let chosen: Vec<&ShadowChange> = compared
            .changes
            .iter()
            .filter(|change| only.iter().any(|path| change.change.path.is_within(path)))
            .collect();
        let left_over = compared.problems.iter().map(|problem| &problem.path);
        let left_over: Vec<&RepoPath> =
            left_over.filter(|path| only.iter().any(|only| path.is_within(only))).collect();
        let folders: Vec<&RepoPath> = compared
            .empty_folders
            .iter()
            .filter(|path| only.iter().any(|only| path.is_within(only)))
            .collect();
        if chosen.is_empty() && left_over.is_empty() && folders.is_empty() {
            return Err(Error::NotFound {
                what: format!("{id} changes nothing at these paths"),
                hint: format!("`aur shadow inspect {id}` lists what it changes"),
            });
        }
        for path in left_over.iter().chain(&folders) {
            removal::remove(&below(&shadow.files(), path))?;
        }
        self.drop_changes(shadow, &chosen)?;
        let paths = chosen.iter().map(|change| &change.change.path);
        let paths = paths.chain(left_over).chain(folders).cloned().collect();
        Ok(Discarded { shadow: id, paths, whole: false })
    }

    /// Makes a shadow hold, at these paths, what the worktree holds.
    pub(crate) fn drop_changes(&self, shadow: &Shadow, changes: &[&ShadowChange]) -> Result<()> {
        let walked = layers::walk(shadow)?;
        let chosen: BTreeSet<&RepoPath> =
            changes.iter().map(|change| &change.change.path).collect();
        let hiding: HashMap<&RepoPath, Trace> = walked
            .traces
            .iter()
            .filter(|(_, trace)| {
                matches!(trace, Trace::Gone | Trace::Written | Trace::Folder { opaque: true, .. })
            })
            .map(|(path, trace)| (path, *trace))
            .collect();
        let files = shadow.files();
        let real = Beneath::open(&self.place.root)?;
        for change in changes {
            let path = &change.change.path;
            let covers: Vec<(RepoPath, Trace)> = path
                .parents()
                .filter(|over| !chosen.contains(over))
                .filter_map(|over| hiding.get(&over).map(|trace| (over.clone(), *trace)))
                .collect();
            if let Some((over, _)) = covers.iter().find(|(_, trace)| *trace == Trace::Written) {
                return Err(Error::Refused {
                    what: format!("{path} cannot come back while {over} is a file in the shadow"),
                    hint: format!("discard {over} too"),
                });
            }
            let full = below(&files, path);
            let shines_through = covers.is_empty() && shadow.meta.strategy == Strategy::Overlay;
            let is_there = !matches!(real.look(path, 0)?, Seen::Nothing | Seen::Folder);
            if !is_there || shines_through {
                remove_with_parents_kept(&files, path, &walked.traces)?;
                continue;
            }
            for (over, trace) in &covers {
                if *trace == Trace::Gone && shadow.meta.strategy == Strategy::Overlay {
                    make_opaque(&below(&files, over))?;
                }
            }
            put_back(&real, path, &full)?;
        }
        Ok(())
    }

    /// Takes promoted changes out of an overlay's or a copy's files, and nothing else: what stands
    /// in a folder that took a file's place may have been left behind.
    pub(crate) fn drop_promoted(&self, shadow: &Shadow, changes: &[&ShadowChange]) -> Result<()> {
        let walked = layers::walk(shadow)?;
        let files = shadow.files();
        let real = Beneath::open(&self.place.root)?;
        let mut rest = Vec::new();
        for change in changes {
            let path = &change.change.path;
            let full = below(&files, path);
            let is_content = !matches!(real.look(path, 0)?, Seen::Nothing | Seen::Folder);
            if full.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                make_see_through(&full)?;
            } else if is_content {
                rest.push(*change);
            } else {
                remove_with_parents_kept(&files, path, &walked.traces)?;
                // What hid a folder hides nothing any more when that is gone in the worktree too.
                for over in path.parents() {
                    let hides = has_trace(&walked.traces, &over, Trace::Gone);
                    if hides && real.look(&over, 0)? == Seen::Nothing {
                        removal::remove(&below(&files, &over))?;
                    }
                }
            }
        }
        self.drop_changes(shadow, &rest)
    }

    /// Removes what crashes left and what is over, and says what was kept and why.
    pub fn cleanup_shadows(&self, request: &CleanupRequest) -> Result<Vec<Cleaned>> {
        let mut cleaned = Vec::new();
        for dir in folders(&self.shadows_dir()?)? {
            let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(".probe-") {
                if !is_alive(&name) {
                    cleaned.push(clean(&dir, name, "a crash left it".to_owned(), request)?);
                }
                continue;
            }
            let Some(lock) = try_lock(&dir)? else {
                let because = "it is in use".to_owned();
                cleaned.push(Cleaned { shadow: name, removed: false, because });
                continue;
            };
            let (remove, because) = match Shadow::read(&dir) {
                Ok(Some(shadow)) => self.is_over(&shadow, request)?,
                Ok(None) => (true, "a crash left it half-made".to_owned()),
                Err(error) => (request.also_open, format!("it cannot be read: {error}")),
            };
            // Held until it is gone, so that nothing begins to work in it meanwhile.
            let _held = lock;
            if remove && !request.dry_run && name.starts_with("shadow-") {
                self.let_base_go(&name)?;
            }
            if remove {
                cleaned.push(clean(&dir, name, because, request)?);
            } else {
                cleaned.push(Cleaned { shadow: name, removed: false, because });
            }
        }
        if !request.dry_run {
            self.forget_empty_folder();
        }
        Ok(cleaned)
    }

    /// Whether nobody needs a shadow any more, and why.
    fn is_over(&self, shadow: &Shadow, request: &CleanupRequest) -> Result<(bool, String)> {
        let age_ms = (self.settings.now)().unix_ms.saturating_sub(shadow.meta.created.unix_ms);
        let is_old = age_ms >= request.older_than_ms;
        let days = age_ms / 86_400_000;
        Ok(match shadow.meta.status {
            Status::Discarded => (true, "it was discarded".to_owned()),
            Status::Promoted if is_old => (true, format!("it was promoted, {days} days ago")),
            Status::Promoted => (false, "it was promoted, and its history is young".to_owned()),
            Status::Open if shadow.meta.root != self.place.root => {
                let root = shadow.meta.root.display();
                (false, format!("it is open, and of another worktree ({root})"))
            }
            Status::Open if request.also_open => (true, "open shadows go too".to_owned()),
            Status::Open if !is_old => (false, "it is open".to_owned()),
            Status::Open => {
                let unused = self.holds_nothing(shadow)?;
                let because = if unused { "it is old and changes nothing" } else { "it is open" };
                (unused, because.to_owned())
            }
        })
    }

    /// The folder of a repository without shadows is of no use; one with some stays by itself.
    fn forget_empty_folder(&self) {
        if let Ok(dir) = self.shadows_dir() {
            let _ = std::fs::remove_dir(dir);
        }
    }
}

fn clean(dir: &Path, shadow: String, because: String, request: &CleanupRequest) -> Result<Cleaned> {
    if !request.dry_run {
        removal::remove(dir)?;
    }
    Ok(Cleaned { shadow, removed: true, because })
}

/// Whether the process that a probe's folder is named after still runs.
fn is_alive(name: &str) -> bool {
    let pid = name.trim_start_matches(".probe-").split('-').next().unwrap_or_default();
    Path::new("/proc").join(pid).exists()
}

fn below(files: &Path, path: &RepoPath) -> PathBuf {
    files.join(OsStr::from_bytes(path.as_bytes()))
}

/// Removes a path from a shadow's files, and folders above it that only it had made.
fn remove_with_parents_kept(
    files: &Path,
    path: &RepoPath,
    traces: &[(RepoPath, Trace)],
) -> Result<()> {
    removal::remove(&below(files, path))?;
    let has_trace = |path: &RepoPath| traces.binary_search_by(|(at, _)| at.cmp(path)).is_ok();
    for parent in path.parents().take_while(has_trace) {
        // One that still holds something stays.
        if std::fs::remove_dir(below(files, &parent)).is_err() {
            break;
        }
    }
    Ok(())
}

fn has_trace(traces: &[(RepoPath, Trace)], path: &RepoPath, trace: Trace) -> bool {
    let at = traces.binary_search_by(|(at, _)| at.cmp(path)).ok();
    at.and_then(|at| traces.get(at)).is_some_and(|(_, found)| *found == trace)
}

/// Makes a folder of a whiteout: what it hid stays hidden, but something can be put into it.
fn make_opaque(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    removal::remove(path)?;
    std::fs::create_dir(path).map_err(Error::io("create", path))?;
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::lsetxattr(path, "user.overlay.opaque", b"y", flags)
        .map_err(|errno| Error::io("mark", path)(errno.into()))
}

/// Lets what the worktree holds in a folder be seen beside what the shadow holds there.
fn make_see_through(path: &Path) -> Result<()> {
    for name in ["user.overlay.opaque", "trusted.overlay.opaque"] {
        use rustix::io::Errno;
        match rustix::fs::lremovexattr(path, name) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::PERM) => {}
            Err(errno) => return Err(Error::io("mark", path)(errno.into())),
        }
    }
    Ok(())
}

/// Writes what the worktree holds into a shadow's own files.
fn put_back(real: &Beneath, path: &RepoPath, to: &Path) -> Result<()> {
    let Seen::Content { mode, bytes, .. } = real.look(path, u64::MAX)? else {
        return Err(Error::Busy { what: format!("{path} was changed while it was read") });
    };
    removal::remove(to)?;
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    if mode == EntryMode::Symlink {
        let target = OsStr::from_bytes(&bytes);
        return std::os::unix::fs::symlink(target, to).map_err(Error::io("create", to));
    }
    std::fs::write(to, &bytes).map_err(Error::io("write", to))?;
    let mode = if mode == EntryMode::Executable { 0o755 } else { 0o644 };
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode))
        .map_err(Error::io("change", to))
}
