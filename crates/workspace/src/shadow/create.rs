//! Making a shadow.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use aurora_model::{Checkpoint, CheckpointKind};

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::snapshot::head;
use crate::request::CheckpointRequest;
use crate::shadow::meta::{
    Layer, Meta, Shadow, ShadowLock, Status, digest, folders, make_private, number_of, try_lock,
};
use crate::shadow::{Base, ShadowRequest, Strategy, copy, copy_git, own_git, removal};

impl GitWorkspace {
    /// Makes a shadow of the worktree as it is now.
    pub fn create_shadow(&self, request: &ShadowRequest) -> Result<Shadow> {
        self.refuse_unfit_state_dir()?;
        let (strategy, why) = self.choose_strategy(request)?;
        let base = match (request.base, strategy) {
            (Base::None, Strategy::Overlay) => None,
            _ => Some(self.base_checkpoint(request)?),
        };
        let (dir, _lock) = self.reserve()?;
        let made = self.fill(&dir, strategy, why, base.as_ref(), request);
        if made.is_err() {
            // The error that is returned matters more than what tidying up says.
            let _ = removal::remove(&dir);
        }
        made
    }

    fn fill(
        &self,
        dir: &Path,
        strategy: Strategy,
        why: String,
        base: Option<&Checkpoint>,
        request: &ShadowRequest,
    ) -> Result<Shadow> {
        let id = dir.file_name().map(|name| name.to_string_lossy().into_owned());
        let lock = dir.join("lock");
        let about = std::fs::metadata(&lock).map_err(Error::io("look at", &lock))?;
        let mut shadow = Shadow {
            dir: dir.to_owned(),
            meta: Meta {
                id: id.unwrap_or_default(),
                created: (self.settings.now)(),
                epoch_ns: about.ctime().saturating_mul(1_000_000_000) + about.ctime_nsec(),
                root: self.place.root.clone(),
                feature: self.place.feature.clone(),
                strategy,
                why,
                base_checkpoint: base.map(|base| base.checkpoint_id.clone()),
                base_tree: base.map(|base| base.tree.clone()),
                head: match base {
                    Some(base) => base.head.clone(),
                    None => head::head(&self.place),
                },
                max_bytes: request.max_bytes,
                status: Status::Open,
                layers: Vec::new(),
                notes: Vec::new(),
                promotions: Vec::new(),
                settled: BTreeMap::new(),
            },
        };
        match strategy {
            Strategy::Overlay => self.make_layers(&mut shadow, base)?,
            Strategy::Reflink | Strategy::Copy => {
                let tree = dir.join("tree");
                make_private(&tree)?;
                let progress = &*self.settings.progress;
                let notes = copy::copy_worktree(&self.place.root, dir, strategy, progress)?;
                shadow.meta.notes.extend(notes);
                copy_git::make(&self.place, &tree.join(".git"))?;
                if self.place.reftable {
                    own_git::note_tables(dir, &tree.join(".git"))?;
                }
                if self.place.reftable && self.place.git_dir != self.place.common_dir {
                    shadow.meta.notes.push(
                        "git in the copy stands where the main worktree does, because the \
                         repository keeps its refs in tables"
                            .to_owned(),
                    );
                }
            }
        }
        self.hold_base(&shadow)?;
        shadow.save()?;
        Ok(shadow)
    }

    /// The folders that an overlay covers: the worktree, and every git folder that a git inside it
    /// would write to and that lies elsewhere.
    fn make_layers(&self, shadow: &mut Shadow, base: Option<&Checkpoint>) -> Result<()> {
        let root = &self.place.root;
        let mut lowers = vec![root.clone()];
        let mut add = |folder: PathBuf| {
            if !lowers.iter().any(|lower| folder.starts_with(lower)) {
                lowers.push(folder);
            }
        };
        add(self.place.common_dir.clone());
        add(self.place.git_dir.clone());
        for nested in base.map(|base| base.nested.as_slice()).unwrap_or_default() {
            nested_git_folders(root, &nested.path).into_iter().for_each(&mut add);
        }
        for (number, lower) in lowers.into_iter().enumerate() {
            let (upper, work) = match number {
                0 => ("upper".to_owned(), "work".to_owned()),
                1 => ("git-upper".to_owned(), "git-work".to_owned()),
                more => (format!("git-upper-{more}"), format!("git-work-{more}")),
            };
            for name in [&upper, &work] {
                make_private(&shadow.dir.join(name))?;
            }
            like(&lower, &shadow.dir.join(&upper))?;
            shadow.meta.layers.push(Layer { lower, upper, work });
        }
        if base.is_none() {
            shadow.meta.notes.push(
                "no checkpoint was made: what the real worktree changes meanwhile is told by \
                 times, and repositories inside it whose git folder lies elsewhere are not covered"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn choose_strategy(&self, request: &ShadowRequest) -> Result<(Strategy, String)> {
        let helper = request.helper.as_ref();
        if let Some(wanted) = request.strategy {
            let probed = self.probe_shadow(wanted, helper, request.namespace);
            if !probed.works {
                return Err(Error::Unsupported {
                    what: format!(
                        "a shadow by {} does not work here: {}",
                        wanted.name(),
                        probed.because
                    ),
                    hint: "leave `--strategy` out: the best that works is taken".to_owned(),
                });
            }
            return Ok((wanted, format!("{}, as asked for", probed.because)));
        }
        let mut refused = Vec::new();
        for strategy in Strategy::ALL {
            let probed = self.probe_shadow(strategy, helper, request.namespace);
            if probed.works {
                let mut why = probed.because;
                if !refused.is_empty() {
                    why.push_str(&format!(", because: {}", refused.join("; ")));
                }
                return Ok((strategy, why));
            }
            refused.push(format!("no {}: {}", strategy.name(), probed.because));
        }
        Err(Error::Unsupported { what: refused.join("; "), hint: String::new() })
    }

    fn base_checkpoint(&self, request: &ShadowRequest) -> Result<Checkpoint> {
        let request = CheckpointRequest {
            // Nobody asked for it by itself, so a rollback that names none does not mean it.
            kind: CheckpointKind::Shadow,
            message: "before a shadow".to_owned(),
            limits: request.limits,
            ..CheckpointRequest::default()
        };
        Ok(self.create_checkpoint(&request)?.checkpoint)
    }

    /// A folder with a new name, held by us until the caller lets go.
    fn reserve(&self) -> Result<(PathBuf, ShadowLock)> {
        let all = self.shadows_dir()?;
        make_private(&all)?;
        let taken = folders(&all)?;
        let names = taken.iter().filter_map(|dir| dir.file_name()?.to_str());
        let used = self.place.aurora_dir.join("shadow-number");
        let highest = std::fs::read_to_string(&used).ok().and_then(|text| text.trim().parse().ok());
        let mut number = names.map(number_of).max().unwrap_or(0).max(highest.unwrap_or(0)) + 1;
        loop {
            let seed = format!("{:?} {number} {}", (self.settings.now)(), std::process::id());
            let dir = all.join(format!("shadow-{number:03}-{}", digest(seed.as_bytes())?));
            match std::fs::create_dir(&dir) {
                Ok(()) => {
                    restrict(&dir)?;
                    // A number that is not noted may be given again, which only people mind.
                    let _ = std::fs::write(&used, format!("{number}\n"));
                    if let Some(lock) = try_lock(&dir)? {
                        return Ok((dir, lock));
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("create", dir)(error)),
            }
            number += 1;
        }
    }

    /// The kernel refuses an upper layer inside the lower one, and a copy would copy itself.
    fn refuse_unfit_state_dir(&self) -> Result<()> {
        let state = &self.settings.state_dir;
        // The nearest folder above that is there tells where it would be made.
        let there = state.ancestors().find_map(|folder| {
            let real = folder.canonicalize().ok()?;
            Some(real.join(state.strip_prefix(folder).ok()?))
        });
        let real = there.unwrap_or_else(|| state.clone());
        let inside = [&self.place.root, &self.place.common_dir];
        if let Some(folder) = inside.into_iter().find(|folder| real.starts_with(folder)) {
            return Err(Error::Unsupported {
                what: format!(
                    "shadows would be kept in {}, which is inside {}",
                    real.display(),
                    folder.display()
                ),
                hint: "set XDG_STATE_HOME to a folder outside every repository".to_owned(),
            });
        }
        Ok(())
    }
}

fn restrict(dir: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))
        .map_err(Error::io("restrict", dir))
}

/// Gives an upper layer the mode of the folder that it covers, because that is what is seen.
fn like(lower: &Path, upper: &Path) -> Result<()> {
    let mode = std::fs::metadata(lower).map_err(Error::io("look at", lower))?.permissions();
    std::fs::set_permissions(upper, mode).map_err(Error::io("change", upper))
}

/// The git folders of a repository inside the worktree that a file (`gitdir: …`) leads to.
fn nested_git_folders(root: &Path, nested: &aurora_model::RepoPath) -> Vec<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = root.join(std::ffi::OsStr::from_bytes(nested.as_bytes()));
    let Some(git_dir) = pointed_to(&folder.join(".git"), b"gitdir: ", &folder) else {
        return Vec::new();
    };
    let common = pointed_to(&git_dir.join("commondir"), b"", &git_dir);
    common.into_iter().chain([git_dir]).collect()
}

/// The folder that a file names in its first line.
fn pointed_to(file: &Path, prefix: &[u8], from: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?.strip_prefix(prefix)?;
    from.join(std::ffi::OsStr::from_bytes(line)).canonicalize().ok()
}
