//! Bytes as lines, in bounded memory however long a line is.

use std::io::BufRead as _;

/// A longer line is handed on in pieces.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// Gathers bytes until a line is whole.
#[derive(Debug, Default)]
pub struct Lines {
    open: Vec<u8>,
    in_pieces: bool,
}

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'b> {
    /// The bytes.
    pub bytes: &'b [u8],
    /// Whether it is all of the line.
    pub whole: bool,
}

impl Lines {
    /// Takes bytes and hands on every line that they complete.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(piece) = piece(&mut rest) {
            match piece.strip_suffix(b"\n") {
                Some(end) if self.open.is_empty() => {
                    take(Line { bytes: end, whole: !self.in_pieces });
                    self.in_pieces = false;
                }
                Some(end) => {
                    self.open.extend_from_slice(end);
                    self.finish(&mut take);
                }
                None => {
                    self.open.extend_from_slice(piece);
                    if self.open.len() >= MAX_LINE_BYTES {
                        take(Line { bytes: &self.open, whole: false });
                        self.open.clear();
                        self.in_pieces = true;
                    }
                }
            }
        }
    }

    /// Hands on what is left when nothing more will come.
    pub fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        if !self.open.is_empty() {
            take(Line { bytes: &self.open, whole: !self.in_pieces });
        }
        self.open.clear();
        self.in_pieces = false;
    }
}

/// Takes the bytes up to and with the next line end, or all that are left. The standard library
/// looks for it many bytes at a time.
fn piece<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let whole = *rest;
    let count = rest.skip_until(b'\n').ok()?;
    whole.get(..count).filter(|piece| !piece.is_empty())
}

/// A line as people read it: what is no text is replaced, of a line that overwrites itself only the
/// last version counts.
pub fn shown(bytes: &[u8]) -> String {
    let line = String::from_utf8_lossy(bytes);
    let line = line.trim_end();
    if !line.as_bytes().contains(&b'\r') {
        return line.to_owned();
    }
    line.rsplit('\r').next().unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut lines = Lines::default();
        let mut taken = Vec::new();
        for piece in pieces {
            lines.push(piece, |line| taken.push((line.bytes.to_vec(), line.whole)));
        }
        lines.finish(|line| taken.push((line.bytes.to_vec(), line.whole)));
        taken
    }

    #[test]
    fn lines_are_found_wherever_the_bytes_were_cut() {
        let expected =
            vec![(b"one".to_vec(), true), (b"".to_vec(), true), (b"two\xff".to_vec(), true)];
        let text = b"one\n\ntwo\xff";
        assert_eq!(all(&[text]), expected);
        for at in 0..text.len() {
            let (first, second) = text.split_at(at);
            assert_eq!(all(&[first, second]), expected, "{at}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_handed_on_in_pieces_and_never_as_a_whole() {
        let piece = vec![b'x'; 1024 * 1024];
        let many: Vec<&[u8]> = (0..10).map(|_| piece.as_slice()).collect();
        let taken = all(&many);
        assert!(taken.iter().all(|(bytes, whole)| bytes.len() <= MAX_LINE_BYTES && !whole));
        assert_eq!(taken.iter().map(|(bytes, _)| bytes.len()).sum::<usize>(), 10 * 1024 * 1024);
        let mut lines = Lines::default();
        lines.push(&vec![b'x'; MAX_LINE_BYTES], |_| {});
        let mut ends = Vec::new();
        lines.push(b"\nnext\n", |line| ends.push((line.bytes.to_vec(), line.whole)));
        assert_eq!(ends, [(b"".to_vec(), false), (b"next".to_vec(), true)]);
    }

    #[test]
    fn a_line_is_shown_as_a_terminal_would_leave_it() {
        assert_eq!(shown(b"10%\r50%\r100%\r"), "100%");
        assert_eq!(shown(b"caf\xe9"), "caf\u{fffd}");
    }
}
