//! Who may write: one at a time in a feature, and nobody while packs are being removed.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::PrivateStore;
use crate::error::{Error, Result};
use crate::git::own;
use crate::git::place::Place;

/// How long somebody else is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The right to write a feature's chain, held until dropped. Released by the kernel when we die.
#[derive(Debug)]
pub(crate) struct FeatureLock {
    _feature: File,
    /// Nobody removes packs as long as somebody may rely on what is in them.
    _store: File,
}

/// The right to write a feature's chain and to remove packs, held until dropped.
pub(crate) struct PruneLock {
    _feature: File,
    _store: File,
}

/// The right to put packs together, held until dropped.
pub(super) struct RepackLock {
    _repack: File,
    _store: File,
}

/// The right to add to git's list of worktrees or to take from it, held until dropped.
pub(crate) struct ListLock {
    _list: File,
}

enum Claim {
    Shared,
    Alone,
}

impl PrivateStore {
    /// Waits for the right to write a feature's chain; says who has it when that takes too long.
    pub fn lock(&self, place: &Place) -> Result<FeatureLock> {
        self.lock_within(place, PATIENCE)
    }

    /// The same, with another limit to how long somebody else is waited for.
    pub fn lock_within(&self, place: &Place, patience: Duration) -> Result<FeatureLock> {
        let feature = lock_feature(place, patience)?;
        let store = claim(&self.aurora_dir.join("lock"), &Claim::Shared, patience)?;
        // Packs that went while we waited must not be taken for ours any more.
        self.owned.forget();
        Ok(FeatureLock { _feature: feature, _store: store })
    }

    /// Waits for the right to write a feature's chain and to remove packs.
    pub fn lock_for_pruning(&self, place: &Place) -> Result<PruneLock> {
        let feature = lock_feature(place, PATIENCE)?;
        let store = claim(&self.aurora_dir.join("lock"), &Claim::Alone, PATIENCE)?;
        self.owned.forget();
        Ok(PruneLock { _feature: feature, _store: store })
    }

    /// Waits for the right to change git's list of worktrees: git itself gives up when it meets an
    /// entry that is half made or half gone.
    pub fn lock_list(&self) -> Result<ListLock> {
        let list = claim(&self.aurora_dir.join("worktrees.lock"), &Claim::Alone, PATIENCE)?;
        Ok(ListLock { _list: list })
    }

    /// The right to put packs together, unless somebody else is at it or prunes.
    pub(super) fn lock_for_repacking(&self) -> Result<Option<RepackLock>> {
        let at_once =
            |name: &str, how: &Claim| match claim(&self.aurora_dir.join(name), how, Duration::ZERO)
            {
                Ok(file) => Ok(Some(file)),
                Err(Error::Busy { .. }) => Ok(None),
                Err(error) => Err(error),
            };
        let Some(repack) = at_once("repack.lock", &Claim::Alone)? else { return Ok(None) };
        let Some(store) = at_once("lock", &Claim::Shared)? else { return Ok(None) };
        Ok(Some(RepackLock { _repack: repack, _store: store }))
    }
}

fn lock_feature(place: &Place, patience: Duration) -> Result<File> {
    claim(&place.feature_dir.join("lock"), &Claim::Alone, patience)
}

/// Takes a lock. Whoever has it alone writes who that is.
fn claim(path: &Path, how: &Claim, patience: Duration) -> Result<File> {
    let mut file = own::open_lock(path)?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        let tried = match how {
            Claim::Shared => file.try_lock_shared(),
            Claim::Alone => file.try_lock(),
        };
        match tried {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if start.elapsed() < patience => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => return Err(busy(&mut file)),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", path)(error)),
        }
    }
    if matches!(how, Claim::Alone) {
        let line = format!("{}\n", std::process::id());
        let written = file.set_len(0).and_then(|()| file.write_all(line.as_bytes()));
        written.map_err(Error::io("write", path))?;
    }
    Ok(file)
}

fn busy(file: &mut File) -> Error {
    let mut text = String::new();
    // Who it is helps, but is not needed to say that somebody is there.
    let _ = file.read_to_string(&mut text);
    let who = text
        .trim()
        .parse::<u32>()
        .map_or_else(|_| "another process".to_owned(), |pid| format!("process {pid}"));
    Error::Busy { what: format!("{who} is at work in this workspace") }
}
