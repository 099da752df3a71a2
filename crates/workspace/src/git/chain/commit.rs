//! A checkpoint as a commit: its tree, and a message that ends with all the rest in one line.

use aurora_model::{Checkpoint, CheckpointId};
use gix::hash::ObjectId;
use gix::objs::Kind;
use serde::{Deserialize, Serialize};

use super::{id_for, number_of};
use crate::error::{Error, Result};
use crate::git::objects::Objects;

/// What a commit says: the checkpoint, and the commit of the one before it, so that nobody can
/// change one without all later ones showing it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The checkpoint.
    #[serde(flatten)]
    pub checkpoint: Checkpoint,
    /// The commit of the previous one.
    #[serde(default)]
    pub previous_commit: Option<String>,
}

/// The name that a checkpoint's content gives it; of the name that it has, only the number counts.
pub(crate) fn name_of(stored: &Stored, hash: gix::hash::Kind) -> Result<CheckpointId> {
    let number = number_of(&stored.checkpoint.checkpoint_id.0).unwrap_or_default();
    let mut nameless = stored.clone();
    nameless.checkpoint.checkpoint_id = id_for(number, "");
    let text = serde_json::to_vec(&nameless).map_err(broken)?;
    let digest = gix::objs::compute_hash(hash, Kind::Blob, &text).map_err(broken)?;
    Ok(id_for(number, &digest.to_hex_with_len(8).to_string()))
}

/// The bytes of the commit.
pub(crate) fn encode(stored: &Stored) -> Result<Vec<u8>> {
    let checkpoint = &stored.checkpoint;
    let seconds = checkpoint.timestamp.unix_ms.div_euclid(1000);
    let who = format!("Aurora <aurora@localhost> {seconds} +0000");
    let said = checkpoint.message.replace('\0', " ");
    let said = said.trim();
    let said = if said.is_empty() { checkpoint.checkpoint_id.0.as_str() } else { said };
    let line = serde_json::to_string(stored).map_err(broken)?;
    let tree = &checkpoint.tree;
    let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\n{said}\n\n{line}\n");
    Ok(text.into_bytes())
}

/// Reads a commit; one that is not ours is no checkpoint.
pub(crate) fn read(objects: &Objects, id: &ObjectId) -> Result<Stored> {
    decode(&objects.data(id, Kind::Commit)?)
        .ok_or_else(|| Error::Corrupt { what: format!("commit {id} is no checkpoint") })
}

fn decode(bytes: &[u8]) -> Option<Stored> {
    let text = std::str::from_utf8(bytes).ok()?;
    let line = text.trim_end_matches('\n').rsplit('\n').next()?;
    let stored: Stored = serde_json::from_str(line).ok()?;
    // What the commit holds is what counts, so both must say the same.
    let tree = text.strip_prefix("tree ")?.split('\n').next()?;
    (tree == stored.checkpoint.tree.0).then_some(stored)
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::Corrupt { what: format!("a checkpoint cannot be written: {error}") }
}
