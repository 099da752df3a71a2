//! How a stat cache is written: numbers in little endian, one checksum over everything.

use aurora_model::EntryMode;
use gix::hash::ObjectId;

use super::{FileStat, Folder, StatCache};
use crate::git::objects::Entry;

const MAGIC: &[u8; 8] = b"AURSTAT2";

/// The bytes of a cache that lists a tree.
pub(super) fn encode(tree: &ObjectId, cache: &StatCache) -> Vec<u8> {
    let mut out = Vec::with_capacity(cache.len() * 96 + 64);
    out.extend_from_slice(MAGIC);
    out.push(u8::try_from(tree.as_bytes().len()).unwrap_or_default());
    out.extend_from_slice(tree.as_bytes());
    put(&mut out, cache.folders.len() as u64);
    for folder in &cache.folders {
        put(&mut out, folder.path.len() as u64);
        out.extend_from_slice(&folder.path);
        put(&mut out, folder.records.len() as u64);
        for record in &folder.records {
            let name = cache.name(record);
            out.extend_from_slice(&u16::try_from(name.len()).unwrap_or_default().to_le_bytes());
            out.extend_from_slice(name);
            out.push(mode_number(record.entry.mode) | u8::from(record.stat.is_some()) << 7);
            out.extend_from_slice(record.entry.id.as_bytes());
            if let Some(stat) = &record.stat {
                put(&mut out, stat.mtime_ns.cast_unsigned());
                put(&mut out, stat.ctime_ns.cast_unsigned());
                put(&mut out, stat.ino);
                put(&mut out, stat.dev);
                put(&mut out, stat.size);
                out.extend_from_slice(&stat.mode.to_le_bytes());
                out.extend_from_slice(&stat.uid.to_le_bytes());
            }
        }
    }
    let sum = checksum(&out);
    put(&mut out, sum);
    out
}

/// The cache, and the tree that it lists; nothing when a single byte is not as it was written.
pub(super) fn decode(bytes: &[u8], hash: gix::hash::Kind) -> Option<(ObjectId, StatCache)> {
    let (content, sum) = bytes.split_last_chunk::<8>()?;
    if checksum(content) != u64::from_le_bytes(*sum) {
        return None;
    }
    let mut input = Input { rest: content };
    if input.take(8)? != MAGIC || usize::from(input.byte()?) != hash.len_in_bytes() {
        return None;
    }
    let tree = input.id(hash)?;
    let mut cache = StatCache::default();
    for _ in 0..input.number()? {
        let length = usize::try_from(input.number()?).ok()?;
        let path = input.take(length)?.to_vec();
        let count = usize::try_from(input.number()?).ok()?;
        let mut folder =
            Folder { path, records: Vec::with_capacity(count.min(content.len() / 24)) };
        for _ in 0..count {
            let length = u16::from_le_bytes(*input.rest.first_chunk()?);
            input.take(2)?;
            let name = input.take(usize::from(length))?;
            let kind = input.byte()?;
            let entry = Entry { mode: mode_of(kind & 0x7f)?, id: input.id(hash)? };
            let stat = if kind & 0x80 != 0 { Some(input.stat()?) } else { None };
            let record = cache.record(name, entry, stat);
            folder.records.push(record);
        }
        cache.folders.push(folder);
    }
    input.rest.is_empty().then_some((tree, cache))
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn short(&mut self) -> Option<u32> {
        let (number, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn id(&mut self, hash: gix::hash::Kind) -> Option<ObjectId> {
        ObjectId::try_from(self.take(hash.len_in_bytes())?).ok()
    }

    fn stat(&mut self) -> Option<FileStat> {
        Some(FileStat {
            mtime_ns: self.number()?.cast_signed(),
            ctime_ns: self.number()?.cast_signed(),
            ino: self.number()?,
            dev: self.number()?,
            size: self.number()?,
            mode: self.short()?,
            uid: self.short()?,
        })
    }
}

fn mode_number(mode: EntryMode) -> u8 {
    match mode {
        EntryMode::File => 0,
        EntryMode::Executable => 1,
        EntryMode::Symlink => 2,
        EntryMode::Submodule => 3,
    }
}

fn mode_of(number: u8) -> Option<EntryMode> {
    Some(match number {
        0 => EntryMode::File,
        1 => EntryMode::Executable,
        2 => EntryMode::Symlink,
        3 => EntryMode::Submodule,
        _ => return None,
    })
}

/// A quick sum against torn writes and bad disks, not against people: whoever can write here can
/// write the objects too.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [1_u64, 2, 3, 4];
    let (chunks, rest) = bytes.as_chunks::<32>();
    for chunk in chunks {
        let (words, _) = chunk.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR).rotate_left(29);
        }
    }
    let mut sum = bytes.len() as u64;
    for lane in lanes {
        sum = (sum ^ lane).wrapping_mul(FACTOR).rotate_left(31);
    }
    for byte in rest {
        sum = (sum ^ u64::from(*byte)).wrapping_mul(FACTOR).rotate_left(17);
    }
    sum
}
