//! Files put together at random: reading changes nothing, a tick changes one byte.

use super::*;

/// Numbers that are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

const PIECES: [&str; 44] = [
    "- [ ] a",
    "- [x] b",
    "* [X] c",
    "+ [ ] ",
    "1. [ ] d",
    "2) [ ] e",
    "- [~] f",
    "- [ ]g",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "# h",
    "text",
    "```",
    "~~~",
    "<!--",
    "-->",
    "`",
    "---",
    "<!-- id: x -->",
    "<!-- id: y, depends: x -->",
    "<!-- agent: z -->",
    "漢字",
    "👩‍💻",
    "e\u{301}",
    "[ ]",
    "[x]",
    "> ",
    "<pre>",
    "</pre>",
    "goal: q",
    "tasks:",
    "\u{feff}",
    "\\",
    "\"",
    ": ",
    "- ",
    "[\t] t",
];

/// EXE-2: whatever a file looks like, parsing it and ticking nothing leaves its bytes, and a tick changes one.
#[test]
fn a_tick_changes_one_byte_of_any_file() {
    let mut ticked = 0;
    for seed in 1..4_000 {
        let mut dice = Dice(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let length = 1 + dice.below(40);
        let text: String = (0..length).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        let lines = lines_of(&text);
        for item in boxes(&text, &lines).items {
            let around = text.get(item.box_at - 1..item.box_at + 2).unwrap();
            assert_eq!(item.ticked, matches!(around, "[x]" | "[X]"), "{text:?}");
            assert!(around.starts_with('[') && around.ends_with(']'), "{text:?}");
        }
        // Reading is a function of the text alone, and ends.
        let read = read(&text, "x");
        for task in read.iter().flat_map(|file| &file.tasks) {
            let tasks = &read.as_ref().unwrap().tasks;
            match tick(&text, tasks, &task.id) {
                Ticked::Now(after) => {
                    ticked += 1;
                    assert!(!task.done);
                    assert_eq!(after.len(), text.len());
                    let changed: Vec<usize> = (0..text.len())
                        .filter(|at| text.as_bytes()[*at] != after.as_bytes()[*at])
                        .collect();
                    assert_eq!(changed.len(), 1, "{text:?}");
                    assert_eq!(after.as_bytes()[changed[0]], b'x');
                    assert_eq!(tick(&after, tasks, &task.id), Ticked::Before, "{text:?}");
                    let again = super::read(&after, "x").unwrap();
                    let now = again.tasks.iter().find(|it| it.id == task.id).unwrap();
                    assert_eq!(*now, Task { done: true, ..task.clone() }, "{text:?}");
                }
                Ticked::Before => assert!(task.done, "{text:?}"),
                Ticked::NotFound(why) => panic!("{why:?} {text:?}"),
            }
        }
    }
    assert!(ticked > 500, "{ticked}");
}
