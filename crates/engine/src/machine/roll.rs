//! A long list that is cheap to copy, and that finds its entries by their tags without looking at
//! all of them.
//!
//! A run's state is copied with every decision, and whoever performs something holds a copy of it. A
//! copy shares everything that is the same; what changes is copied leaf by leaf.

use std::sync::Arc;

/// How many entries share a leaf.
const LEAF: usize = 64;
/// How many tags there can be.
const KINDS: usize = 16;

/// What an entry is found by: a bit for each thing that can be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tags(u16);

impl Tags {
    /// The tag with this number.
    pub(super) const fn one(number: u8) -> Self {
        Self(1 << number)
    }

    /// These and those.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This tag, if that is so.
    pub(super) const fn when(self, so: bool) -> Self {
        if so { self } else { Self(0) }
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn each(self) -> impl Iterator<Item = usize> {
        (0..KINDS).filter(move |number| self.0 & (1 << number) != 0)
    }
}

/// Something that has tags.
pub trait Tagged: Clone {
    /// Its tags now.
    fn tags(&self) -> Tags;
}

/// A list of things with tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roll<T> {
    leaves: Arc<Vec<Arc<Leaf<T>>>>,
    len: usize,
    /// How many entries have each tag.
    counts: [usize; KINDS],
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Leaf<T> {
    entries: Vec<Arc<T>>,
    /// Every tag that some entry has.
    tags: Tags,
}

impl<T> Default for Roll<T> {
    fn default() -> Self {
        Self { leaves: Arc::default(), len: 0, counts: [0; KINDS] }
    }
}

impl<T> Roll<T> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry at a place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.leaves.get(place / LEAF)?.entries.get(place % LEAF).map(AsRef::as_ref)
    }

    /// All, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.leaves.iter().flat_map(|leaf| leaf.entries.iter().map(AsRef::as_ref))
    }

    /// How many have a tag.
    pub(super) fn count(&self, tag: Tags) -> usize {
        tag.each().filter_map(|number| self.counts.get(number)).sum()
    }

    fn recount(&mut self, before: Tags, after: Tags) {
        if before == after {
            return;
        }
        for (number, count) in self.counts.iter_mut().enumerate() {
            let has = |tags: Tags| tags.0 & (1 << number) != 0;
            match (has(before), has(after)) {
                (false, true) => *count += 1,
                (true, false) => *count = count.saturating_sub(1),
                _ => {}
            }
        }
    }
}

impl<T: Tagged> Roll<T> {
    /// Those with any of these tags, in order.
    pub(super) fn tagged(&self, tags: Tags) -> impl Iterator<Item = &T> {
        let leaves = if self.count(tags) == 0 { &[] } else { self.leaves.as_slice() };
        let leaves = leaves.iter().filter(move |leaf| leaf.tags.meets(tags));
        let entries = leaves.flat_map(|leaf| leaf.entries.iter().map(AsRef::as_ref));
        entries.filter(move |entry| entry.tags().meets(tags))
    }

    /// The first with any of these tags.
    pub(super) fn first(&self, tags: Tags) -> Option<&T> {
        self.tagged(tags).next()
    }

    /// Adds one at the end.
    pub(super) fn push(&mut self, entry: T) {
        let tags = entry.tags();
        let leaves = Arc::make_mut(&mut self.leaves);
        if self.len.is_multiple_of(LEAF) {
            let entries = Vec::with_capacity(LEAF);
            leaves.push(Arc::new(Leaf { entries, tags: Tags::default() }));
        }
        let Some(leaf) = leaves.last_mut().map(Arc::make_mut) else { return };
        leaf.entries.push(Arc::new(entry));
        leaf.tags = leaf.tags.and(tags);
        self.len += 1;
        self.recount(Tags::default(), tags);
    }

    /// Changes the one at a place.
    pub(super) fn change(&mut self, place: usize, how: impl FnOnce(&mut T)) {
        let Some(leaf) = Arc::make_mut(&mut self.leaves).get_mut(place / LEAF) else { return };
        let leaf = Arc::make_mut(leaf);
        let Some(entry) = leaf.entries.get_mut(place % LEAF).map(Arc::make_mut) else { return };
        let before = entry.tags();
        how(entry);
        let after = entry.tags();
        if before != after {
            let tags = leaf.entries.iter().map(|entry| entry.tags());
            leaf.tags = tags.fold(Tags::default(), Tags::and);
            self.recount(before, after);
        }
    }
}

impl<T: Tagged> FromIterator<T> for Roll<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut roll = Self::default();
        entries.into_iter().for_each(|entry| roll.push(entry));
        roll
    }
}
