//! Everything that an agent said, as it was, in bounded memory: the beginning and the end are kept.

use std::collections::VecDeque;

/// How much is kept of the beginning.
const HEAD_BYTES: usize = 1024 * 1024;
/// How much is kept of the end.
const TAIL_BYTES: usize = 7 * 1024 * 1024;

/// What was said so far.
#[derive(Debug, Default)]
pub struct Transcript {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Transcript {
    /// Adds what was said.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        // Only the end of something that is larger than the tail can stay in it.
        let skipped = rest.len().saturating_sub(TAIL_BYTES);
        let rest = rest.get(skipped..).unwrap_or_default();
        let overflow = (self.tail.len() + rest.len()).saturating_sub(TAIL_BYTES);
        self.tail.drain(..overflow.min(self.tail.len()));
        self.tail.extend(rest);
        self.left_out = self.left_out.saturating_add((skipped + overflow) as u64);
    }

    /// The bytes that are kept, with a line that says how many are not.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let mut all = self.head;
        if self.left_out > 0 {
            let line = format!("\n[aur: {} bytes were left out here]\n", self.left_out);
            all.extend_from_slice(line.as_bytes());
        }
        let (first, second) = self.tail.as_slices();
        all.extend_from_slice(first);
        all.extend_from_slice(second);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_kept_whole_and_byte_for_byte() {
        let mut transcript = Transcript::default();
        transcript.push(b"caf\xe9 ");
        transcript.push(b"");
        transcript.push(&[0, 255, b'\n']);
        assert_eq!(transcript.finish(), b"caf\xe9 \x00\xff\n");
    }

    #[test]
    fn of_much_the_beginning_and_the_end_are_kept_and_the_rest_is_counted() {
        for piece in [1000, 64 * 1024, 20 * 1024 * 1024] {
            let mut transcript = Transcript::default();
            let total = 40_000_000_usize;
            let mut said = 0;
            while said < total {
                let bytes: Vec<u8> =
                    (said..(said + piece).min(total)).map(|at| b'a' + (at % 26) as u8).collect();
                said += bytes.len();
                transcript.push(&bytes);
            }
            let kept = transcript.finish();
            let left_out = total - HEAD_BYTES - TAIL_BYTES;
            let line = format!("\n[aur: {left_out} bytes were left out here]\n");
            assert_eq!(kept.len(), HEAD_BYTES + TAIL_BYTES + line.len(), "{piece}");
            assert_eq!(&kept[HEAD_BYTES..HEAD_BYTES + line.len()], line.as_bytes());
            assert_eq!(kept.first(), Some(&b'a'));
            assert_eq!(kept.last(), Some(&(b'a' + ((total - 1) % 26) as u8)));
        }
    }
}
