//! Small seeded damage to patches: lines moved, names edited, counts changed.

/// Lines that mean something to git, wherever they end up.
const LINES: [&[u8]; 24] = [
    b"rename from plain.txt\n",
    b"rename to other\n",
    b"copy from plain.txt\n",
    b"copy to other\n",
    b"new file mode 100644\n",
    b"new file mode 120000\n",
    b"deleted file mode 100644\n",
    b"old mode 100644\n",
    b"new mode 100755\n",
    b"index 1234567..89abcde 100644\n",
    b"similarity index 90%\n",
    b"--- /dev/null\n",
    b"+++ /dev/null\n",
    b"--- a/plain.txt\n",
    b"+++ b/plain.txt\n",
    b"--- plain.txt\n",
    b"+++ plain.txt\n",
    b"diff --git a/plain.txt b/plain.txt\n",
    b"diff --git plain.txt plain.txt\n",
    b"@@ -1 +1 @@\n",
    b"-one\n",
    b"+one\n",
    b"\\ No newline at end of file\n",
    b"\n",
];

/// Texts that change what a name means.
const NAME_PARTS: [&[u8]; 14] = [
    b"../",
    b".git/",
    b"/",
    b"//",
    b" ",
    b"\t",
    b"\"",
    b"\\",
    b"\\057",
    b"\r",
    b"b/",
    b"x",
    b"./",
    b"\t2020-01-01 10:00:00",
];

/// A seeded source of damage.
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// Starts from a seed that is not zero.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// xorshift64: enough to spread the damage.
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    /// One of the patches, or two of them joined, with one to three mistakes.
    pub fn mutate(&mut self, patches: &[Vec<u8>]) -> Vec<u8> {
        let mut patch = patches[self.below(patches.len())].clone();
        if self.below(4) == 0 {
            patch.extend_from_slice(&patches[self.below(patches.len())]);
        }
        for _ in 0..=self.below(3) {
            patch = self.damage(&patch);
        }
        patch
    }

    fn damage(&mut self, patch: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> =
            patch.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            return LINES[self.below(LINES.len())].to_vec();
        }
        let at = self.below(lines.len());
        match self.below(9) {
            0 => {
                let other = self.below(lines.len());
                lines.swap(at, other);
            }
            1 => {
                let line = lines[at].clone();
                lines.insert(at, line);
            }
            2 => {
                lines.remove(at);
            }
            3 => {
                let line = LINES[self.below(LINES.len())].to_vec();
                lines.insert(at, line);
            }
            4 => lines[at] = LINES[self.below(LINES.len())].to_vec(),
            5 | 6 => self.edit_name(&mut lines),
            7 => self.edit_count(&mut lines),
            _ => self.edit_byte(&mut lines[at]),
        }
        lines.concat()
    }

    /// The index of some line that starts like this.
    fn line_like(&mut self, lines: &[Vec<u8>], like: &dyn Fn(&[u8]) -> bool) -> Option<usize> {
        let found: Vec<usize> = (0..lines.len()).filter(|index| like(&lines[*index])).collect();
        if found.is_empty() { None } else { Some(found[self.below(found.len())]) }
    }

    fn edit_name(&mut self, lines: &mut [Vec<u8>]) {
        let header = |line: &[u8]| {
            [&b"diff --git"[..], b"--- ", b"+++ ", b"rename", b"copy"]
                .iter()
                .any(|start| line.starts_with(start))
        };
        let Some(at) = self.line_like(lines, &header) else { return };
        let part = NAME_PARTS[self.below(NAME_PARTS.len())];
        let line = &mut lines[at];
        let from = line.iter().position(|byte| *byte == b' ').map_or(0, |blank| blank + 1);
        let place = from + self.below(line.len().saturating_sub(from));
        line.splice(place..place, part.iter().copied());
    }

    fn edit_count(&mut self, lines: &mut [Vec<u8>]) {
        let Some(at) = self.line_like(lines, &|line| line.starts_with(b"@@ -")) else { return };
        let line = &mut lines[at];
        let digits: Vec<usize> =
            (0..line.len()).filter(|index| line[*index].is_ascii_digit()).collect();
        if !digits.is_empty() {
            let place = digits[self.below(digits.len())];
            line[place] = b"0123456789"[self.below(10)];
        }
    }

    fn edit_byte(&mut self, line: &mut Vec<u8>) {
        let place = self.below(line.len());
        match self.below(3) {
            0 => line[place] = b" +-\\@\"/\tab\r\0"[self.below(12)],
            1 => {
                line.remove(place);
            }
            _ => line.insert(place, b" +-\\@\"/\tab\r\0"[self.below(12)]),
        }
    }
}
