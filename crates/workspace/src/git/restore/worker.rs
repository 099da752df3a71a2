//! What is done to one path: look, swap, look again at what came out, and only then let it go.

use std::fs::File;
use std::io;
use std::sync::{Mutex, PoisonError};

use aurora_model::{EntryMode, RepoPath};

use super::rescue::rescue;
use super::run::{Run, State, Work};
use super::{Blobs, Step, is_file};
use crate::git::beneath::{Folder, Found, Hand, Item, NoWay, Stamp, name_of};
use crate::git::objects::Entry;
use crate::request::Outcome;

/// Blobs from this size on are held in memory one at a time.
const LARGE_BYTES: u64 = 8 << 20;
/// Said where somebody else was quicker.
const MEANWHILE: &str = "it was changed meanwhile";
const IN_THE_WAY: &str = "something else stands there";

/// What a phase made of a step: how far it is now, or how it ended.
pub(super) type Did<T = State> = Result<T, Outcome>;

/// One thread's share of a run.
pub(super) struct Worker<'w, B> {
    pub(super) run: &'w Run<'w>,
    pub(super) hand: Hand<'w>,
    pub(super) blobs: B,
    pub(super) few: bool,
    pub(super) large: &'w Mutex<()>,
}

pub(super) fn kept(because: &str) -> Outcome {
    Outcome::Kept { because: because.to_owned() }
}

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> Outcome {
    move |error| Outcome::Failed { because: format!("could not {doing} it: {error}") }
}

fn no_way(no: NoWay) -> Outcome {
    match no {
        NoWay::Missing => kept("its folder is gone"),
        NoWay::Link(path) => {
            kept(&format!("{path} on its way is a symbolic link, which is not followed"))
        }
        NoWay::NoFolder(path) => kept(&format!("{path} on its way is no folder")),
        NoWay::Failed(error) => failed("reach")(error),
    }
}

/// Whether a path names a repository's own data, in any spelling that some file system takes for it.
pub(super) fn is_git_data(path: &RepoPath) -> bool {
    path.parts().any(|part| part.eq_ignore_ascii_case(b".git"))
}

/// What is done to all steps before the next thing is done to any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// What is to be deleted gets another name.
    MakeWay,
    /// It is removed.
    RemoveAside,
    /// What shall be there is written beside.
    Stage,
    /// It takes its place.
    PutInPlace,
    /// What it replaced is removed.
    RemoveReplaced,
}

impl<B: Blobs> Worker<'_, B> {
    /// Takes a step through a phase; nothing when that phase is not for it.
    pub(super) fn take(&mut self, phase: Phase, work: &Work<'_>) -> Option<Did> {
        match phase {
            Phase::MakeWay => self.make_way(work),
            Phase::RemoveAside => self.remove_aside(work),
            Phase::Stage => self.stage(work),
            Phase::PutInPlace => self.put_in_place(work),
            Phase::RemoveReplaced => self.remove_replaced(work),
        }
    }

    /// Gives what is to be deleted another name, and looks at it again.
    fn make_way(&mut self, work: &Work<'_>) -> Option<Did> {
        let step = work.step;
        if step.has_submodule() {
            return Some(Err(kept("submodules are not touched")));
        }
        if is_git_data(&step.path) {
            return Some(Err(kept("git's own data is not touched")));
        }
        (step.to.is_none() && matches!(work.state, State::Waiting)).then(|| self.set_aside(work))
    }

    fn set_aside(&mut self, work: &Work<'_>) -> Did {
        let path = &work.step.path;
        let folder = match self.hand.parent_of(path, false) {
            Err(NoWay::Missing | NoWay::NoFolder(_)) => return Err(kept("it was gone already")),
            other => other.map_err(no_way)?,
        };
        let item = self.expected(&folder, work.step)?;
        let Some(item) = item else { return Err(kept("it was gone already")) };
        let aside = self.run.aside_name(work.number);
        folder.rename_new(path.name(), &aside).map_err(failed("remove"))?;
        if self.is_still(&folder, &aside, &item) {
            return Ok(State::Aside(item));
        }
        Err(self.put_back(&folder, &aside, path))
    }

    /// Removes what was set aside, unless somebody wrote to it meanwhile.
    fn remove_aside(&mut self, work: &Work<'_>) -> Option<Did> {
        let State::Aside(item) = &work.state else { return None };
        let path = &work.step.path;
        let folder = match self.hand.parent_of(path, false) {
            Ok(folder) => folder,
            Err(no) => return Some(Err(no_way(no))),
        };
        let aside = self.run.aside_name(work.number);
        if !self.is_still(&folder, &aside, item) {
            return Some(Err(self.put_back(&folder, &aside, path)));
        }
        Some(match folder.unlink(&aside) {
            Ok(()) => Ok(State::Over(Outcome::Deleted)),
            Err(error) => {
                let _stays_beside = folder.rename_new(&aside, path.name());
                Err(failed("remove")(error))
            }
        })
    }

    /// Writes what shall be there beside it.
    fn stage(&mut self, work: &Work<'_>) -> Option<Did> {
        let to = work.step.to.filter(|_| matches!(work.state, State::Waiting))?;
        if work.step.is_mode_only() && !self.is_absent(&work.step.path) {
            return None;
        }
        Some(self.write_beside(work, &to))
    }

    /// Whether nothing stands at a path.
    fn is_absent(&mut self, path: &RepoPath) -> bool {
        match self.hand.parent_of(path, false) {
            Ok(folder) => matches!(folder.stat(path.name()), Ok(None)),
            Err(no) => matches!(no, NoWay::Missing),
        }
    }

    fn write_beside(&mut self, work: &Work<'_>, to: &Entry) -> Did {
        let path = &work.step.path;
        let folder = self.hand.parent_of(path, true).map_err(no_way)?;
        let before = self.expected(&folder, work.step)?;
        let because = |error: crate::Error| Outcome::Failed { because: error.to_string() };
        let size = self.blobs.size(&to.id).map_err(because)?.unwrap_or_default();
        let one_at_a_time = (size >= LARGE_BYTES)
            .then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
        let bytes = self.blobs.bytes(&to.id).map_err(because)?;
        if name_of(&bytes, self.run.hash).map_err(failed("read"))? != to.id {
            return Err(Outcome::Failed { because: "its stored content is damaged".to_owned() });
        }
        let temp = self.run.temp_name(work.number);
        let written = self.write_temp(&folder, &temp, work.step, &bytes, before.as_ref());
        drop(one_at_a_time);
        match written {
            Ok(ours) => Ok(State::Staged { before, ours }),
            Err(error) => {
                let _not_made = folder.unlink(&temp);
                Err(failed("write")(error))
            }
        }
    }

    fn write_temp(
        &self,
        folder: &Folder,
        temp: &[u8],
        step: &Step,
        bytes: &[u8],
        before: Option<&Item>,
    ) -> io::Result<Stamp> {
        if step.to.is_some_and(|to| to.mode == EntryMode::Symlink) {
            folder.link(bytes, temp)?;
            let stat = folder.stat(temp)?.ok_or(io::ErrorKind::NotFound)?;
            return Ok(Stamp::of(&stat));
        }
        let before = before.filter(|item| is_file(item.entry.mode));
        let file = match permissions_for(step, before) {
            None => {
                let executable = step.to.is_some_and(|to| to.mode == EntryMode::Executable);
                let mut file = folder.create(temp, if executable { 0o777 } else { 0o666 })?;
                folder.write(&mut file, bytes)?;
                file
            }
            Some(permissions) => {
                // What was readable for few must not be readable for many, not even for a moment.
                let mut file = folder.create(temp, 0o600)?;
                folder.write(&mut file, bytes)?;
                if let Some(item) = before {
                    keep_owner(&file, item.owner);
                }
                folder.set_permissions(&file, permissions)?;
                file
            }
        };
        if self.few {
            file.sync_data()?;
        }
        Ok(Stamp::of(&rustix::fs::fstat(&file)?))
    }

    /// Swaps the staged file with what is there and looks at what came out.
    fn put_in_place(&mut self, work: &Work<'_>) -> Option<Did> {
        match &work.state {
            State::Waiting if work.step.is_mode_only() => Some(self.change_mode(work.step)),
            State::Staged { before, ours } => Some(self.swap(work, before.as_ref(), *ours)),
            _ => None,
        }
    }

    fn swap(&mut self, work: &Work<'_>, before: Option<&Item>, ours: Stamp) -> Did {
        let path = &work.step.path;
        let folder = self.hand.parent_of(path, false).map_err(no_way)?;
        let temp = self.run.temp_name(work.number);
        let Some(before) = before else {
            return self.place_new(&folder, &temp, path, ours);
        };
        match folder.exchange(&temp, path.name()) {
            Ok(()) if self.is_still(&folder, &temp, before) => {
                Ok(State::Replaced { before: *before, at: temp, ours })
            }
            Ok(()) => Err(self.take_back(&folder, &temp, path, ours)),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                self.swap_in_two(&folder, work, before, ours)
            }
            Err(error) => {
                let rescued = self.discard(&folder, &temp, path, ours);
                let gone = error.kind() == io::ErrorKind::NotFound;
                let outcome = if gone { kept(MEANWHILE) } else { failed("replace")(error) };
                Err(rescued.unwrap_or(outcome))
            }
        }
    }

    fn place_new(&self, folder: &Folder, temp: &[u8], path: &RepoPath, ours: Stamp) -> Did {
        let mut placed = folder.rename_new(temp, path.name());
        if placed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
            // Folders without content are noted in the safety checkpoint, so one may make way.
            if folder.remove_hollow_folder(path).unwrap_or(false) {
                placed = folder.rename_new(temp, path.name());
            }
        }
        let Err(error) = placed else { return Ok(State::Over(Outcome::Created)) };
        let rescued = self.discard(folder, temp, path, ours);
        let there = error.kind() == io::ErrorKind::AlreadyExists;
        let outcome = if there { kept(IN_THE_WAY) } else { failed("create")(error) };
        Err(rescued.unwrap_or(outcome))
    }

    /// Where a file system cannot swap: what is there is set aside first, so that for a moment
    /// nothing has the name.
    fn swap_in_two(&self, folder: &Folder, work: &Work<'_>, before: &Item, ours: Stamp) -> Did {
        let path = &work.step.path;
        let (temp, aside) = (self.run.temp_name(work.number), self.run.aside_name(work.number));
        let outcome = match folder.rename_new(path.name(), &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => kept(MEANWHILE),
            Err(error) => failed("replace")(error),
            Ok(()) if !self.is_still(folder, &aside, before) => self.put_back(folder, &aside, path),
            Ok(()) => match folder.rename_new(&temp, path.name()) {
                Ok(()) => return Ok(State::Replaced { before: *before, at: aside, ours }),
                Err(_) => self.put_back(folder, &aside, path),
            },
        };
        Err(self.discard(folder, &temp, path, ours).unwrap_or(outcome))
    }

    /// Removes what was replaced, unless somebody who still had it open wrote to it meanwhile.
    fn remove_replaced(&mut self, work: &Work<'_>) -> Option<Did> {
        let State::Replaced { before, at, ours } = &work.state else { return None };
        let path = &work.step.path;
        let folder = match self.hand.parent_of(path, false) {
            Ok(folder) => folder,
            Err(no) => return Some(Err(no_way(no))),
        };
        if self.is_still(&folder, at, before) {
            // Left behind, it is only a copy of what the safety checkpoint has.
            let _stays_beside = folder.unlink(at);
            return Some(Ok(State::Over(Outcome::Overwritten)));
        }
        let swapped = *at == self.run.temp_name(work.number);
        Some(Err(if swapped {
            self.take_back(&folder, at, path, *ours)
        } else {
            self.save(&folder, at, path)
        }))
    }

    fn change_mode(&mut self, step: &Step) -> Did {
        let folder = self.hand.parent_of(&step.path, false).map_err(no_way)?;
        let Some(item) = self.expected(&folder, step)? else { return Err(kept(MEANWHILE)) };
        let file = folder.open_file(step.path.name()).map_err(failed("open"))?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| failed("open")(errno.into()))?;
        if Stamp::of(&stat) != item.stamp {
            return Err(kept(MEANWHILE));
        }
        let permissions = permissions_for(step, Some(&item)).unwrap_or(item.stamp.permissions());
        folder.set_permissions(&file, permissions).map_err(failed("change the mode of"))?;
        Ok(State::Over(Outcome::ModeChanged))
    }

    /// What stands there, when that is what the step expects. A folder where nothing is expected may
    /// turn out to have nothing in it, so it is not yet a reason to stop. Neither is nothing where
    /// something is expected: a tree has what the index says of files that git is told to leave out
    /// of the worktree, and making one loses nothing.
    fn expected(&self, folder: &Folder, step: &Step) -> Did<Option<Item>> {
        let name = step.path.name();
        if step.from.is_none() {
            let there = folder.stat(name).map_err(failed("read"))?;
            let stands = there.is_some_and(|stat| {
                crate::git::beneath::kind_of(&stat) != rustix::fs::FileType::Directory
            });
            if !stands {
                return Ok(None);
            }
        }
        let found = folder.look(name, self.run.hash).map_err(failed("read"))?;
        match found {
            Found::Item(item) if Some(item.entry) == step.from => Ok(Some(item)),
            Found::Nothing => Ok(None),
            Found::Item(item) if Some(item.entry) == step.to => Err(kept("it is so already")),
            _ if step.from.is_none() => Err(kept(IN_THE_WAY)),
            _ => Err(kept(MEANWHILE)),
        }
    }

    /// Whether a name has what was seen before under another one.
    fn is_still(&self, folder: &Folder, name: &[u8], seen: &Item) -> bool {
        let Ok(Some(stat)) = folder.stat(name) else { return false };
        if Stamp::of(&stat) != seen.stamp {
            return false;
        }
        if !seen.stamp.is_fresh() {
            return true;
        }
        folder.look(name, self.run.hash).is_ok_and(|found| found.is(Some(&seen.entry)))
    }

    /// Gives what was set aside its name back.
    fn put_back(&self, folder: &Folder, aside: &[u8], path: &RepoPath) -> Outcome {
        match folder.rename_new(aside, path.name()) {
            Ok(()) => kept(MEANWHILE),
            Err(_) => self.save(folder, aside, path),
        }
    }

    /// Swaps back what came out. What then comes out is ours, unless a third one was there first.
    fn take_back(&self, folder: &Folder, temp: &[u8], path: &RepoPath, ours: Stamp) -> Outcome {
        match folder.exchange(temp, path.name()) {
            Ok(()) => self.discard(folder, temp, path, ours).unwrap_or_else(|| kept(MEANWHILE)),
            Err(_) => self.put_back(folder, temp, path),
        }
    }

    /// Removes a file that we staged; when it is not that any more, it is saved and that is said.
    fn discard(
        &self,
        folder: &Folder,
        temp: &[u8],
        path: &RepoPath,
        ours: Stamp,
    ) -> Option<Outcome> {
        match folder.stat(temp) {
            Ok(None) => None,
            Ok(Some(stat)) if Stamp::of(&stat) == ours => {
                let _stays_beside = folder.unlink(temp);
                None
            }
            _ => Some(self.save(folder, temp, path)),
        }
    }

    /// Puts somebody's work where it can be found, because its own place is taken.
    pub(super) fn save(&self, folder: &Folder, name: &[u8], path: &RepoPath) -> Outcome {
        let place = match rescue(folder, name, path, &self.run.rescue_dir()) {
            Ok(place) => place.display().to_string(),
            Err(_) => format!("its folder as {}", String::from_utf8_lossy(name)),
        };
        kept(&format!("{MEANWHILE}, twice; one version is in {place}"))
    }
}

/// The permissions that a step gives a file: those that were recorded for it, else those of the file
/// that it replaces, else whatever the process's mask leaves. To run as somebody else is not given
/// back, because the content may be another than the one that was trusted with it.
fn permissions_for(step: &Step, before: Option<&Item>) -> Option<u32> {
    let executable = step.to.is_some_and(|to| to.mode == EntryMode::Executable);
    match step.permissions.map(|recorded| recorded & 0o777) {
        Some(recorded) if (recorded & 0o100 != 0) == executable => Some(recorded),
        Some(recorded) => Some(with_execution(recorded, executable)),
        None => before.map(|item| with_execution(item.stamp.permissions(), executable)),
    }
}

/// The permissions with or without that to execute, which goes to whoever may read.
fn with_execution(permissions: u32, executable: bool) -> u32 {
    if executable { permissions | ((permissions & 0o444) >> 2) } else { permissions & !0o111 }
}

/// Only root can give files away; anybody else's stay their own.
fn keep_owner(file: &File, owner: (u32, u32)) {
    let Ok(stat) = rustix::fs::fstat(file) else { return };
    if (stat.st_uid, stat.st_gid) != owner {
        let (uid, gid) = (rustix::fs::Uid::from_raw(owner.0), rustix::fs::Gid::from_raw(owner.1));
        let _stays_ours = rustix::fs::fchown(file, Some(uid), Some(gid));
    }
}
