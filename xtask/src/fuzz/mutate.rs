//! Makes inputs from seeds: bytes, tokens and lines are changed, pieces spliced and nested.

/// A small generator of numbers (xorshift64*), so that a run can be repeated from its seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Numbers that follow from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`, or zero when there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or_default()
    }

    fn pick<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        list.get(self.below(list.len()))
    }
}

/// Inputs grow to this size, apart from the rare one that tests the caps.
const MAX_BYTES: usize = 8 * 1024;
/// Larger than the gate follows.
const OVER_CAP_BYTES: usize = 80 * 1024;
const OVER_CAP_ONE_IN: usize = 4000;
const MAX_CHANGES: usize = 5;
const MAX_REPEATS: usize = 200;

/// Pairs that nest: what they wrap is run, quoted or grouped.
static PAIRS: &[(&str, &str)] = &[
    ("$(", ")"),
    ("`", "`"),
    ("(", ")"),
    ("{ ", "; }"),
    ("\"", "\""),
    ("'", "'"),
    ("bash -c '", "'"),
    ("${x:-", "}"),
    ("$((", "))"),
    ("<(", ")"),
    ("{a,", "}"),
    ("/*", "*/"),
    ("$$", "$$"),
    ("[", "]"),
    ("if ", "; then :; fi"),
];

/// Makes one input after another.
#[derive(Debug)]
pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    dictionary: &'static [&'static str],
}

impl Mutator {
    /// A mutator that starts from these seeds and knows these words.
    #[must_use]
    pub const fn new(seeds: Vec<Vec<u8>>, dictionary: &'static [&'static str]) -> Self {
        Self { seeds, dictionary }
    }

    /// The input of that number: the seeds as they are first, then changed ones.
    pub fn next(&self, number: u64, random: &mut Random) -> Vec<u8> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(seed) = self.seeds.get(number) {
            return seed.clone();
        }
        let mut data = random.pick(&self.seeds).cloned().unwrap_or_default();
        for _ in 0..=random.below(MAX_CHANGES) {
            self.change(&mut data, random);
        }
        if random.below(OVER_CAP_ONE_IN) == 0 && !data.is_empty() {
            data = data.iter().copied().cycle().take(OVER_CAP_BYTES).collect();
        } else {
            data.truncate(MAX_BYTES);
        }
        data
    }

    fn change(&self, data: &mut Vec<u8>, random: &mut Random) {
        let (from, to) = range(data.len(), random);
        match random.below(11) {
            0 => {
                let byte = u8::try_from(random.below(256)).unwrap_or_default();
                data.splice(from..from, [byte]);
            }
            1 => {
                if let Some(byte) = data.get_mut(from) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => {
                data.drain(from..to);
            }
            3 => {
                let piece = piece(data, from, to);
                data.splice(to..to, piece);
            }
            4 | 5 => self.word(data, from, from, random),
            6 => self.word(data, from, to.min(from + 8), random),
            7 => {
                let other = random.pick(&self.seeds).cloned().unwrap_or_default();
                let (other_from, _) = range(other.len(), random);
                data.truncate(from);
                data.extend(other.get(other_from..).unwrap_or_default());
            }
            8 => lines(data, random),
            9 => nest(data, from, to, random),
            _ => {
                let piece = piece(data, from, to.min(from + 4));
                let times = random.below(MAX_REPEATS);
                data.splice(from..from, piece.repeat(times));
            }
        }
    }

    fn word(&self, data: &mut Vec<u8>, from: usize, to: usize, random: &mut Random) {
        let word = random.pick(self.dictionary).copied().unwrap_or(" ");
        data.splice(from..to, word.bytes());
    }
}

/// A range within `length` bytes.
fn range(length: usize, random: &mut Random) -> (usize, usize) {
    let (one, other) = (random.below(length + 1), random.below(length + 1));
    (one.min(other), one.max(other))
}

fn piece(data: &[u8], from: usize, to: usize) -> Vec<u8> {
    data.get(from..to).unwrap_or_default().to_vec()
}

/// Swaps two lines, or takes one twice.
fn lines(data: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> = data.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    if random.below(2) == 0 {
        lines.swap(one, other);
    } else if let Some(line) = lines.get(one).cloned() {
        lines.insert(other, line);
    }
    *data = lines.join(&b'\n');
}

/// Wraps a range, now and then many times over.
fn nest(data: &mut Vec<u8>, from: usize, to: usize, random: &mut Random) {
    let Some((open, close)) = random.pick(PAIRS) else { return };
    let times = if random.below(10) == 0 { random.below(MAX_REPEATS) } else { 1 };
    data.splice(to..to, close.repeat(times).into_bytes());
    data.splice(from..from, open.repeat(times).into_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let mutator = Mutator::new(vec![b"git push".to_vec(), b"a\nb".to_vec()], &["--force"]);
        let run = |seed| {
            let mut random = Random::new(seed);
            (0..500).map(|number| mutator.next(number, &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert_eq!(run(1)[0], b"git push", "the seeds come first");
        assert!(run(1).iter().any(|input| input.windows(7).any(|part| part == b"--force")));
        assert!(run(1).iter().all(|input| input.len() <= OVER_CAP_BYTES));
    }

    #[test]
    fn no_seeds_at_all_are_no_reason_to_stop() {
        let mutator = Mutator::new(Vec::new(), &[]);
        let mut random = Random::new(0);
        for number in 0..1000 {
            mutator.next(number, &mut random);
        }
    }
}
