//! One object as a pack holds it: kind and size, then a zlib stream.

use gix::objs::Kind;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};

use crate::error::{Error, Result};

/// Below this size an object is stored as it is: making it smaller takes five times as long as naming
/// it, and putting packs together does it later and better.
const STORED_BELOW: usize = 64 << 10;

/// After so much was stored as it is, space matters more than time.
const STORED_IN_ALL: usize = 32 << 20;

/// What is smaller than this hardly becomes smaller.
const TINY: usize = 128;

/// The largest stored block of a deflate stream.
const BLOCK: usize = 0xffff;

/// Turns objects into entries of a pack. One compressor serves all of them.
#[derive(Default)]
pub(super) struct Encoder {
    compress: Option<Compress>,
    packed: Vec<u8>,
    stored: usize,
}

impl Encoder {
    /// Appends an object.
    pub fn encode(&mut self, kind: Kind, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
        head(kind, data.len() as u64, out);
        let quick = data.len() < STORED_BELOW && self.stored < STORED_IN_ALL;
        if quick || data.len() < TINY {
            self.stored += data.len();
            stored(data, out);
            return Ok(());
        }
        match self.packed(data)? {
            Some(packed) => out.extend_from_slice(packed),
            None => stored(data, out),
        }
        Ok(())
    }

    /// The object made smaller; nothing when it does not become smaller.
    fn packed(&mut self, data: &[u8]) -> Result<Option<&[u8]>> {
        let compress = self.compress.get_or_insert_with(|| Compress::new(Compression::BEST_SPEED));
        compress.reset();
        self.packed.resize(data.len(), 0);
        let status = compress
            .compress(data, &mut self.packed, FlushCompress::Finish)
            .map_err(|error| Error::Corrupt { what: format!("cannot compress: {error}") })?;
        let len = usize::try_from(compress.total_out()).unwrap_or(usize::MAX);
        Ok(self.packed.get(..len).filter(|_| status == Status::StreamEnd))
    }
}

/// Kind and size: four bits of the size in the first byte, seven in each that follows.
fn head(kind: Kind, size: u64, out: &mut Vec<u8>) {
    let kind = match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut byte = (kind << 4) | low_bits(size, 0x0f);
    let mut rest = size >> 4;
    while rest > 0 {
        out.push(byte | 0x80);
        byte = low_bits(rest, 0x7f);
        rest >>= 7;
    }
    out.push(byte);
}

fn low_bits(value: u64, mask: u8) -> u8 {
    let [.., low] = value.to_be_bytes();
    low & mask
}

/// A zlib stream of stored blocks.
fn stored(data: &[u8], out: &mut Vec<u8>) {
    out.reserve(data.len() + 16 + data.len() / BLOCK * 5);
    out.extend_from_slice(&[0x78, 0x01]);
    let mut rest = data;
    loop {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        rest = after;
        out.push(u8::from(rest.is_empty()));
        // A block is at most 0xffff bytes long, so nothing is cut off.
        let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&(!len).to_le_bytes());
        out.extend_from_slice(block);
        if rest.is_empty() {
            break;
        }
    }
    out.extend_from_slice(&adler32(data).to_be_bytes());
}

fn adler32(data: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    // So many bytes can be summed up before 32 bits overflow.
    const RUN: usize = 5552;
    let (mut a, mut b) = (1u32, 0u32);
    for run in data.chunks(RUN) {
        for byte in run {
            a += u32::from(*byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    (b << 16) | a
}
