//! Binary content in a diff: `GIT binary patch`, which `git apply` can read in both directions.

use std::io::{self, Write as _};

use gix::zlib::Compression;
use gix::zlib::stream::deflate;

/// How many bytes are looked at to tell whether a content is text.
const LOOKED_AT_BYTES: usize = 8000;
/// Content that is larger is never compared by lines.
const BIG_FILE_BYTES: usize = 512 << 20;

const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// Whether git takes a content for binary.
pub(super) fn is_binary(content: &[u8]) -> bool {
    let head = content.get(..LOOKED_AT_BYTES).unwrap_or(content);
    content.len() > BIG_FILE_BYTES || head.contains(&0)
}

/// Writes the patch, forward and then backward, each as the whole content.
pub(super) fn write_binary(before: &[u8], after: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    out.extend_from_slice(b"GIT binary patch\n");
    write_literal(after, out)?;
    write_literal(before, out)
}

fn write_literal(content: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, "literal {}", content.len())?;
    let mut packed = deflate::Write::new(Vec::new(), Compression::DEFAULT);
    packed.write_all(content)?;
    packed.flush()?;
    for line in packed.into_inner().chunks(52) {
        // A line begins with how many bytes it holds: `A` is 1, `Z` 26, `a` 27, `z` 52.
        let count = line.len() as u8;
        out.push(if count <= 26 { b'A' + count - 1 } else { b'a' + count - 27 });
        write_base85(line, out);
        out.push(b'\n');
    }
    out.push(b'\n');
    Ok(())
}

fn write_base85(bytes: &[u8], out: &mut Vec<u8>) {
    for four in bytes.chunks(4) {
        let byte = |at: usize| u32::from(four.get(at).copied().unwrap_or(0));
        let mut rest = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
        let mut digits = [0; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS.get((rest % 85) as usize).copied().unwrap_or_default();
            rest /= 85;
        }
        out.extend_from_slice(&digits);
    }
}
