//! The index of a pack, version 2: where each object is, by name.

use gix::hash::ObjectId;

use super::finalized;
use crate::error::Result;

/// One object of a pack.
pub(super) struct Indexed {
    pub id: ObjectId,
    pub crc32: u32,
    pub offset: u64,
}

/// Offsets from here on are in a table of their own.
const LARGE: u64 = 1 << 31;

/// The index file of a pack with this checksum. Sorts the entries by name.
pub(super) fn encode(
    hash: gix::hash::Kind,
    entries: &mut [Indexed],
    pack_checksum: &ObjectId,
) -> Result<Vec<u8>> {
    entries.sort_unstable_by_key(|entry| entry.id);
    let mut out = Vec::with_capacity(1100 + entries.len() * (hash.len_in_bytes() + 8));
    out.extend_from_slice(&[0xff, b't', b'O', b'c', 0, 0, 0, 2]);
    let mut at = 0u32;
    let mut rest = entries.iter().peekable();
    for first in 0..=u8::MAX {
        while rest.next_if(|entry| entry.id.first_byte() <= first).is_some() {
            at += 1;
        }
        out.extend_from_slice(&at.to_be_bytes());
    }
    for entry in entries.iter() {
        out.extend_from_slice(entry.id.as_slice());
    }
    for entry in entries.iter() {
        out.extend_from_slice(&entry.crc32.to_be_bytes());
    }
    let mut large = Vec::new();
    for entry in entries.iter() {
        let small = u32::try_from(entry.offset).ok().filter(|_| entry.offset < LARGE);
        let offset = small.unwrap_or_else(|| {
            large.push(entry.offset);
            // A pack holds fewer objects than 31 bits can count.
            (1 << 31) | u32::try_from(large.len() - 1).unwrap_or(u32::MAX)
        });
        out.extend_from_slice(&offset.to_be_bytes());
    }
    for offset in large {
        out.extend_from_slice(&offset.to_be_bytes());
    }
    out.extend_from_slice(pack_checksum.as_slice());
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(&out);
    out.extend_from_slice(finalized(hasher)?.as_slice());
    Ok(out)
}
