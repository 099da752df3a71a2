//! Finding out what the worktree holds, as a tree, before anything is recorded.

mod plan;

use std::collections::BTreeMap;
use std::sync::Arc;

use aurora_model::{EntryMode, Head, RepoPath};
use gix::hash::ObjectId;
use gix::objs::Kind;

use self::plan::Plan;
use super::head::{head, head_tree};
use super::state::{State, names, signature};
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::chain::{Link, tree_id};
use crate::git::objects::{Entry, Objects};
use crate::git::pack::PackWriter;
use crate::git::place::Place;
use crate::git::private::FeatureLock;
use crate::git::scan::repository::Repository;
use crate::git::scan::{Looked, Scanner, Watching, largest};
use crate::git::stat_cache::StatCache;
use crate::git::tree;
use crate::request::{CheckpointRequest, Limits, Scanned};
use crate::watchdog::{DirtyPath, Mark, Watched};

/// Saving the listing is worth it when so many files need not be read the next time.
const WORTH_SAVING: usize = 100;

impl State {
    /// Notes from where, how and beside what the worktree was looked at.
    fn remember(&mut self, mark: Option<Mark>, options: String, index: String, head: &ObjectId) {
        self.mark = mark;
        self.options = options;
        self.index = index;
        self.head_tree = head.to_string();
    }
}

/// What the worktree holds, and all that a checkpoint of it needs.
pub(super) struct Survey {
    /// For reading objects.
    pub objects: Objects,
    /// The latest checkpoint.
    pub latest: Option<Link>,
    /// The highest number that was given.
    pub highest: u64,
    /// What will be remembered.
    pub state: State,
    /// Where HEAD stands.
    pub head: Head,
    /// The tree that changes are told against.
    pub previous: ObjectId,
    /// What HEAD held when the chain began.
    pub base: ObjectId,
    /// What the scan found.
    pub looked: Looked,
    /// New objects.
    pub pack: PackWriter,
    /// The tree.
    pub tree: ObjectId,
    /// How many bytes of new content there are.
    pub new_bytes: u64,
    /// What is staged and differs from HEAD.
    pub staged: Vec<(RepoPath, Entry)>,
    /// The outermost repository.
    pub outer: Arc<Repository>,
    /// The watchdog that was asked.
    pub watch: Option<Arc<dyn Watched>>,
    /// Whether the watchdog named anything, or has a new mark.
    pub touched: bool,
}

impl Survey {
    /// Nothing changed: only how far the watchdog had seen is remembered, and what was learnt about
    /// many files.
    pub fn remember_unchanged(&self, place: &Place) -> Result<()> {
        let listing = self.looked.listing.as_ref().filter(|_| self.looked.learnt > WORTH_SAVING);
        if let Some(listing) = listing {
            listing.save(&place.feature_dir.join("index"), &self.tree)?;
        }
        if self.touched || listing.is_some() {
            self.state.save(&place.feature_dir)?;
        }
        Ok(())
    }
}

impl GitWorkspace {
    /// Looks at the worktree and writes its tree into a pack that is not finished yet.
    pub(super) fn survey(&self, request: &CheckpointRequest, lock: &FeatureLock) -> Result<Survey> {
        self.survey_of(request, None, lock)
    }

    /// The same, where the caller may know that only some paths changed since the latest checkpoint.
    pub(super) fn survey_of(
        &self,
        request: &CheckpointRequest,
        only: Option<Vec<DirtyPath>>,
        _: &FeatureLock,
    ) -> Result<Survey> {
        match self.survey_beside(request, only, None) {
            // What was recorded earlier and is damaged by now must not stop what is recorded now.
            Err(Error::Corrupt { what }) => self.survey_beside(request, None, Some(what)),
            surveyed => surveyed,
        }
    }

    /// Looks at the worktree beside the latest checkpoint, or beside nothing when that is broken.
    fn survey_beside(
        &self,
        request: &CheckpointRequest,
        only: Option<Vec<DirtyPath>>,
        broken: Option<String>,
    ) -> Result<Survey> {
        let objects = self.store.objects()?;
        let (latest, highest) = self.latest_link(&objects)?;
        let mut state = State::load(&self.place.feature_dir)?;
        let highest = highest.max(state.highest);
        let known = broken.is_none()
            && latest.as_ref().is_some_and(|link| names(&state.commit, &link.commit));
        if !known {
            state = State { highest, ..State::default() };
        }
        let head = head(&self.place);
        let head_tree = head_tree(&objects, &head);
        let (previous, base) = beside(&objects, latest.as_ref(), head_tree, broken.is_some())?;
        let watch = self.watch();
        let only = only.filter(|_| known);
        let plan = Plan::make(watch.as_deref(), request, latest.is_none(), &state, only);
        let plan = plan.beside(broken.as_deref());
        let place = &self.place;
        let outer = self.outer();
        let scanner = Scanner {
            settings: &self.settings,
            place,
            request,
            objects: &objects,
            outer: &outer,
            tree: previous,
            captured: latest.is_some(),
            permissions: latest.as_ref().map(|link| &link.stored.checkpoint.permissions),
        };
        let mut filling = Filling::new(self, &request.limits)?;
        let index = signature(&place.git_dir.join("index"));
        let same_index = known && state.index == index && names(&state.head_tree, &head_tree);
        let remembered = state.staged().filter(|_| same_index);
        let mark = plan.mark();
        let touched = plan.is_worth_remembering();
        let mut looked =
            self.look(&scanner, plan, latest.as_ref(), &state, same_index, &mut filling)?;
        if let Some(because) = broken {
            looked.notes.scanned = Scanned::Anew { because };
        }
        let staged = remembered.map_or_else(|| outer.tracked().beyond(&objects, &head_tree), Ok)?;
        self.check_count(&looked, &state, request)?;
        filling.borrow(&objects, &looked)?;
        let Filling { mut pack, new_bytes, .. } = filling;
        let tree = write_tree(&objects, &previous, &looked, &mut pack)?;
        state.remember(mark, options(request), index, &head_tree);
        state.set_staged(&staged);
        self.remember_scan(&mut state, &looked, &outer, same_index, watch.is_some());
        Ok(Survey {
            objects,
            latest,
            highest,
            state,
            head,
            previous,
            base,
            looked,
            pack,
            tree,
            new_bytes,
            staged,
            outer,
            watch,
            touched,
        })
    }

    /// The repository whose worktree this is.
    fn outer(&self) -> Arc<Repository> {
        let (git_dir, common_dir) = (self.place.git_dir.clone(), self.place.common_dir.clone());
        Repository::at(&self.settings, git_dir, common_dir, Vec::new(), self.place.hash)
    }

    fn look(
        &self,
        scanner: &Scanner<'_>,
        plan: Plan,
        latest: Option<&Link>,
        state: &State,
        same_index: bool,
        filling: &mut Filling<'_>,
    ) -> Result<Looked> {
        let mut sink = |path: &[u8], id, bytes: &[u8]| filling.add(path, id, bytes);
        let because = match (plan, latest) {
            (Plan::Named { paths, .. }, Some(latest)) => {
                let mut paths = paths;
                match state.absent.as_ref().filter(|_| same_index) {
                    Some(absent) => {
                        let absent = absent.iter().map(|path| path.as_bytes().to_vec());
                        scanner.outer.ask_only_about(absent);
                    }
                    None => paths.extend(newly_tracked(scanner)?),
                }
                let previous = &latest.stored.checkpoint;
                match scanner.named(&paths, previous, &mut sink)? {
                    Watching::Looked(looked) => return Ok(*looked),
                    Watching::Everything(because) => because.to_owned(),
                }
            }
            (Plan::Everything { because, .. }, _) => because,
            (Plan::Named { .. }, None) => "there is no checkpoint to build on".to_owned(),
        };
        let old = self.listing_of(scanner.objects, &scanner.tree)?;
        scanner.everything(&old, &because, &mut sink)
    }

    /// The listing of the previous tree, with what is known about its files.
    fn listing_of(&self, objects: &Objects, tree: &ObjectId) -> Result<StatCache> {
        let path = self.place.feature_dir.join("index");
        if let Some((listed, mut cache)) = StatCache::load(&path, self.place.hash)? {
            if listed == *tree {
                return Ok(cache);
            }
            if let Ok(deltas) = tree::compare(objects, &listed, tree) {
                cache.apply(&deltas);
                return Ok(cache);
            }
        }
        Ok(StatCache::of_listing(&tree::list(objects, tree)?))
    }

    /// Refuses more files than allowed.
    fn check_count(
        &self,
        looked: &Looked,
        state: &State,
        request: &CheckpointRequest,
    ) -> Result<()> {
        let files = count(looked, state);
        let most = request.limits.max_files;
        if files <= most {
            return Ok(());
        }
        let paths = looked.deltas.iter().filter(|delta| delta.after.is_some());
        let weights = paths.map(|delta| (delta.path.as_bytes(), 1));
        let largest = largest(weights, &|count| format!("{count} new files"));
        Err(Error::TooLarge {
            what: format!("the worktree has {files} files, and {most} are allowed: {largest}"),
            hint: "ignore what need not be kept, or allow more files".to_owned(),
        })
    }

    /// What the next scan may rely on.
    fn remember_scan(
        &self,
        state: &mut State,
        looked: &Looked,
        outer: &Arc<Repository>,
        same_index: bool,
        watched: bool,
    ) {
        state.files = count(looked, state);
        let deleted = looked.deltas.iter().filter(|delta| delta.after.is_none());
        let deleted = deleted.map(|delta| delta.path.clone());
        let Some(listing) = &looked.listing else {
            // Only the changes are known: what was deleted may still be tracked.
            state.absent = match (state.absent.take(), same_index) {
                (Some(mut absent), true) => {
                    absent.extend(deleted);
                    Some(absent)
                }
                _ => None,
            };
            let absent = state.absent.take();
            if let Some(absent) = absent {
                state.set_absent(absent);
            }
            return;
        };
        let tracked = outer.tracked();
        state.sparse = tracked.is_sparse();
        state.absent = None;
        if watched {
            let absent = tracked.entries().filter(|(path, entry)| {
                entry.mode == gix::index::entry::Mode::COMMIT || listing.at(path).is_none()
            });
            state.set_absent(absent.filter_map(|(path, _)| RepoPath::new(path)).collect());
        }
        let mut inputs = outer.config.sources.clone();
        for nested in &looked.notes.nested {
            let folder = self.place.root.join(as_path(nested.path.as_bytes()));
            inputs.extend(Repository::sources_inside(&folder));
        }
        state.inputs = inputs.into_iter().map(|path| (path.clone(), signature(&path))).collect();
    }
}

/// Tracked paths that the previous tree does not have: the index changed, so they are looked at.
fn newly_tracked(scanner: &Scanner<'_>) -> Result<Vec<DirtyPath>> {
    let mut paths = Vec::new();
    for (path, entry) in scanner.outer.tracked().beyond(scanner.objects, &scanner.tree)? {
        let whole = entry.mode == EntryMode::Submodule;
        if whole || tree::find(scanner.objects, &scanner.tree, &path)?.is_none() {
            paths.push(DirtyPath { path, whole });
        }
    }
    Ok(paths)
}

/// How many files there are.
fn count(looked: &Looked, state: &State) -> u64 {
    if let Some(listing) = &looked.listing {
        return listing.len() as u64;
    }
    let added = looked.deltas.iter().filter(|delta| delta.before.is_none()).count() as u64;
    let gone = looked.deltas.iter().filter(|delta| delta.after.is_none()).count() as u64;
    (state.files + added).saturating_sub(gone)
}

fn write_tree(
    objects: &Objects,
    previous: &ObjectId,
    looked: &Looked,
    pack: &mut PackWriter,
) -> Result<ObjectId> {
    if looked.deltas.is_empty() {
        return Ok(*previous);
    }
    let deltas = looked.deltas.iter();
    let edits: BTreeMap<_, _> = deltas.map(|delta| (delta.path.clone(), delta.after)).collect();
    tree::edit(objects, previous, &edits, pack)
}

/// The tree that changes are told against, and the one that the chain began with. Where something is
/// broken, that is nothing; and where what the chain began with is gone too, it begins anew with what
/// HEAD holds, because a tree that is not there cannot be kept.
fn beside(
    objects: &Objects,
    latest: Option<&Link>,
    head: ObjectId,
    broken: bool,
) -> Result<(ObjectId, ObjectId)> {
    let Some(latest) = latest else {
        let head = readable(objects, head);
        return Ok((head, head));
    };
    let base = tree_id(&latest.stored.checkpoint.base_tree)?;
    if !broken {
        return Ok((tree_id(&latest.stored.checkpoint.tree)?, base));
    }
    let is_gone = readable(objects, base) != base;
    Ok((objects.empty_tree(), if is_gone { readable(objects, head) } else { base }))
}

/// A tree that can be read whole; otherwise (a partial clone) nothing is known.
fn readable(objects: &Objects, tree: ObjectId) -> ObjectId {
    if tree::list(objects, &tree).is_ok() { tree } else { objects.empty_tree() }
}

/// How files are taken; with other options, other files would be.
fn options(request: &CheckpointRequest) -> String {
    format!("{:?} {}", request.ignored, request.limits.max_file_bytes)
}

/// A number of bytes in the largest unit that it fills.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) if bytes.is_multiple_of(1 << shift) => {
            format!("{} {unit}", bytes >> shift)
        }
        Some((shift, unit)) => {
            let tenths = u128::from(bytes) * 10 / (1 << shift);
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

fn as_path(bytes: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt as _;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// A pack that is being filled, and what goes into it.
struct Filling<'a> {
    workspace: &'a GitWorkspace,
    limits: &'a Limits,
    pack: PackWriter,
    new_bytes: u64,
    added: Vec<(Vec<u8>, u64)>,
}

impl<'a> Filling<'a> {
    fn new(workspace: &'a GitWorkspace, limits: &'a Limits) -> Result<Self> {
        let pack = PackWriter::new(&workspace.store)?;
        Ok(Self { workspace, limits, pack, new_bytes: 0, added: Vec::new() })
    }

    /// Adds a content, unless we have it; too much of it is refused.
    fn add(&mut self, path: &[u8], id: ObjectId, bytes: &[u8]) -> Result<()> {
        if self.pack.has(&id) || self.workspace.store.owns(&id)? {
            return Ok(());
        }
        self.new_bytes += bytes.len() as u64;
        self.added.push((path.to_vec(), bytes.len() as u64));
        let most = self.limits.max_new_bytes;
        if self.new_bytes > most {
            let weights = self.added.iter().map(|(path, bytes)| (path.as_slice(), *bytes));
            let largest = largest(weights, &size);
            return Err(Error::TooLarge {
                what: format!("more than {} are new in this checkpoint: {largest}", size(most)),
                hint: "ignore what need not be kept, or allow more, as in \
                       `aur checkpoint --max-total 8G`"
                    .to_owned(),
            });
        }
        self.pack.add_named(id, Kind::Blob, bytes)
    }

    /// Copies what only the user's repository has and nothing there keeps. What a partial clone
    /// lacks cannot be copied.
    fn borrow(&mut self, objects: &Objects, looked: &Looked) -> Result<()> {
        for delta in &looked.deltas {
            let Some(after) = delta.after.filter(|after| after.mode != EntryMode::Submodule) else {
                continue;
            };
            let kept = delta.before.is_some_and(|before| before.id == after.id);
            if kept || self.pack.has(&after.id) || self.workspace.store.owns(&after.id)? {
                continue;
            }
            if let Ok(bytes) = objects.blob(&after.id) {
                self.add(delta.path.as_bytes(), after.id, &bytes)?;
            }
        }
        Ok(())
    }
}
