//! A look at git's own data.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_model::Head;

use super::{Index, Seen};
use crate::error::Result;
use crate::escape::git_data;
use crate::git::GitWorkspace;
use crate::git::place::Place;
use crate::git::process::Git;
use crate::git::scan::tracked::Tracked;
use crate::git::snapshot::head::head;
use crate::git::snapshot::state::signature;

/// Refs that are ours.
const OURS: &str = "refs/aurora/";

impl GitWorkspace {
    /// Git's own data as it is now; files that are what they were before are not read again.
    pub(super) fn seen(&self, before: Option<&Seen>) -> Result<Seen> {
        let place = &self.place;
        let refs = refs(place);
        Ok(Seen {
            git: git_data::fingerprint(place, &[], before.map(|before| &before.git)),
            // What is noted at the beginning must be sound; afterwards it is told that it is not.
            refs: if before.is_some() { refs.ok() } else { Some(refs?) },
            heads: heads(place),
            index: index(place, &place.common_dir, before.map(|before| &before.index)),
            home_index: index(place, &place.git_dir, before.map(|before| &before.home_index)),
        })
    }
}

fn refs(place: &Place) -> Result<BTreeMap<String, String>> {
    let listed = Git::new(&place.program, &place.common_dir, "list the refs")
        .args(["for-each-ref", "--format=%(objectname) %(refname)"])
        .run()?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let each = listed.lines().filter_map(|line| line.split_once(' '));
    let theirs = each.filter(|(_, name)| !name.starts_with(OURS));
    Ok(theirs.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
}

/// What is checked out where. Desks are ours, and attempts may do there what they like.
fn heads(place: &Place) -> BTreeMap<String, String> {
    let at = |git_dir: &Path| shown(&head(&Place { git_dir: git_dir.to_owned(), ..place.clone() }));
    let mut found = BTreeMap::from([(String::new(), at(&place.common_dir))]);
    let linked = std::fs::read_dir(place.common_dir.join("worktrees"));
    for entry in linked.into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.contains(".desk-") {
            found.insert(name, at(&entry.path()));
        }
    }
    found
}

fn shown(head: &Head) -> String {
    match (&head.branch, &head.commit) {
        (Some(branch), _) => branch.clone(),
        (None, Some(commit)) => format!("commit {commit}"),
        (None, None) => "nothing".to_owned(),
    }
}

fn index(place: &Place, git_dir: &Path, before: Option<&Index>) -> Index {
    let signature = signature(&git_dir.join("index"));
    if let Some(before) = before.filter(|before| before.signature == signature) {
        return before.clone();
    }
    let mut text = Vec::new();
    for (path, entry) in Tracked::read(git_dir, place.hash).entries() {
        text.extend_from_slice(path);
        text.extend(format!("\0{} {:?} {}\n", entry.id, entry.mode, entry.stage_raw()).bytes());
    }
    let digest = gix::objs::compute_hash(place.hash, gix::objs::Kind::Blob, &text);
    Index { signature, digest: digest.map(|id| id.to_string()).unwrap_or_default() }
}
