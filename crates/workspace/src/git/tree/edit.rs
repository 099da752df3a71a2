//! Setting and removing entries of a tree, where only the folders on the way are touched.

use std::collections::BTreeMap;

use aurora_model::RepoPath;
use gix::hash::ObjectId;
use gix::objs::Kind;

use super::{check_depth, encode, order};
use crate::error::{Error, Result};
use crate::git::objects::{Entry, Node, Objects};
use crate::git::pack::PackWriter;

/// One edit, with what is left of its path below the folder where we are.
type Edit<'a> = (&'a [u8], Option<Entry>);

/// The tree that results from setting (`Some`) and removing (`None`) entries. Setting a path removes
/// whatever stood in its way (a file where a folder must be, or a folder where the file must be);
/// removing one removes also what is below it. Folders that become empty go. Only folders on the way
/// to a change are read and written; new trees go into the pack. All trees on the way must be visible
/// already: one that is only in an unfinished pack cannot be read.
pub(crate) fn edit(
    objects: &Objects,
    base: &ObjectId,
    edits: &BTreeMap<RepoPath, Option<Entry>>,
    pack: &mut PackWriter,
) -> Result<ObjectId> {
    let edits: Vec<Edit<'_>> =
        edits.iter().map(|(path, entry)| (path.as_bytes(), *entry)).collect();
    let mut editor = Editor { objects, pack };
    match editor.folder(Some(base), &edits, 0)? {
        Some(id) => Ok(id),
        None => editor.pack.add(Kind::Tree, b""),
    }
}

/// What happens to one name of a folder.
#[derive(Default)]
struct Fate<'a> {
    /// The name itself is set or removed.
    own: Option<Option<Entry>>,
    /// Edits below it.
    below: Vec<Edit<'a>>,
}

impl Fate<'_> {
    fn sets_below(&self) -> bool {
        self.below.iter().any(|(_, entry)| entry.is_some())
    }
}

struct Editor<'a> {
    objects: &'a Objects,
    pack: &'a mut PackWriter,
}

impl Editor<'_> {
    /// The edited folder; nothing when nothing is left in it.
    fn folder(
        &mut self,
        base: Option<&ObjectId>,
        edits: &[Edit<'_>],
        depth: usize,
    ) -> Result<Option<ObjectId>> {
        check_depth(depth)?;
        let mut fates: BTreeMap<&[u8], Fate<'_>> = BTreeMap::new();
        for (path, entry) in edits {
            match path.iter().position(|byte| *byte == b'/') {
                None => fates.entry(path).or_default().own = Some(*entry),
                Some(slash) => {
                    let (name, rest) = path.split_at(slash);
                    let rest = rest.get(1..).unwrap_or_default();
                    fates.entry(name).or_default().below.push((rest, *entry));
                }
            }
        }
        let old = base.map_or_else(|| Ok(Vec::new()), |base| self.objects.tree(base))?;
        let mut changed = false;
        let mut nodes = Vec::with_capacity(old.len() + fates.len());
        for (name, node) in old {
            let Some(fate) = fates.remove(name.as_slice()) else {
                nodes.push((name, node));
                continue;
            };
            let new = self.node(Some(&node), &fate, &name, depth)?;
            changed |= new.as_ref() != Some(&node);
            nodes.extend(new.map(|new| (name, new)));
        }
        for (name, fate) in fates {
            let new = self.node(None, &fate, name, depth)?;
            changed |= new.is_some();
            nodes.extend(new.map(|new| (name.to_owned(), new)));
        }
        if nodes.is_empty() {
            return Ok(None);
        }
        if let (false, Some(base)) = (changed, base) {
            return Ok(Some(*base));
        }
        nodes.sort_by(|(a, a_node), (b, b_node)| order(a, a_node, b, b_node));
        let bytes = encode(nodes.iter().map(|(name, node)| (name.as_slice(), node)));
        self.pack.add(Kind::Tree, &bytes).map(Some)
    }

    /// What a name becomes.
    fn node(
        &mut self,
        old: Option<&Node>,
        fate: &Fate<'_>,
        name: &[u8],
        depth: usize,
    ) -> Result<Option<Node>> {
        let base = match (&fate.own, old) {
            (Some(Some(entry)), _) if !fate.sets_below() => return Ok(Some(Node::Entry(*entry))),
            (Some(Some(_)), _) => {
                let name = String::from_utf8_lossy(name);
                return Err(Error::Corrupt {
                    what: format!("`{name}` cannot be both a file and a folder"),
                });
            }
            (Some(None), _) => None,
            // Removing something below a file removes nothing; setting it replaces the file.
            (None, Some(Node::Entry(entry))) if !fate.sets_below() => {
                return Ok(Some(Node::Entry(*entry)));
            }
            (None, Some(Node::Folder(id))) => Some(id),
            (None, _) => None,
        };
        if base.is_none() && !fate.sets_below() {
            return Ok(None);
        }
        Ok(self.folder(base, &fate.below, depth + 1)?.map(Node::Folder))
    }
}
