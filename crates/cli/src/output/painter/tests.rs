//! The painter on a small terminal of our own.

use super::*;

/// As much of a terminal as the painter uses; anything else fails the test.
struct Screen {
    size: Size,
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    scrolled: Vec<String>,
}

impl Screen {
    fn new(columns: usize, rows: usize) -> Self {
        let size = Size { columns, rows };
        Self { size, rows: vec![Vec::new(); rows], row: 0, column: 0, scrolled: Vec::new() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\r' => self.column = 0,
                '\n' => self.down(),
                '\x1b' => {
                    assert_eq!(chars.next(), Some('['));
                    let mut number = String::new();
                    let end = loop {
                        match chars.next().unwrap() {
                            c if c.is_ascii_digit() || c == ';' => number.push(c),
                            c => break c,
                        }
                    };
                    self.control(&number, end);
                }
                c => self.put(c),
            }
        }
    }

    fn control(&mut self, number: &str, end: char) {
        match end {
            'A' => self.row -= number.parse::<usize>().unwrap(),
            'K' => self.rows[self.row].truncate(self.column),
            'J' => {
                self.rows[self.row].truncate(self.column);
                self.rows[self.row + 1..].iter_mut().for_each(Vec::clear);
            }
            'm' => {}
            other => panic!("the painter may not use {other:?}"),
        }
    }

    fn down(&mut self) {
        if self.row + 1 == self.size.rows {
            self.scrolled.push(self.rows.remove(0).into_iter().collect());
            self.rows.push(Vec::new());
        } else {
            self.row += 1;
        }
    }

    fn put(&mut self, c: char) {
        let wide = c.width().unwrap_or(0);
        if self.column + wide > self.size.columns {
            self.column = 0;
            self.down();
        }
        let row = &mut self.rows[self.row];
        // The second half of a wide character is held by a sign that nobody writes.
        let cells = [c, '\0'].into_iter().take(wide);
        for cell in cells {
            if self.column < row.len() {
                row[self.column] = cell;
            } else {
                row.push(cell);
            }
            self.column += 1;
        }
    }

    fn shown(&self) -> Vec<String> {
        let text = |row: &Vec<char>| row.iter().filter(|c| **c != '\0').collect::<String>();
        let mut shown: Vec<String> = self.rows.iter().map(text).collect();
        while shown.last().is_some_and(String::is_empty) {
            shown.pop();
        }
        shown
    }
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// Feeds what was written since the last time.
fn flush(painter: &mut Painter<Vec<u8>>, screen: &mut Screen) {
    let bytes = std::mem::take(&mut painter.out);
    screen.feed(&bytes);
}

/// EXE-3: the panel is updated in place, and what is printed stays above it.
#[test]
fn a_panel_stands_in_one_place_below_what_is_printed() {
    let mut screen = Screen::new(20, 8);
    let mut painter = Painter::new(Vec::new(), screen.size);
    screen.feed(b"$ aur spawn\r\n");
    painter.draw(&lines(&["one 漢字", "two long", "three"])).unwrap();
    flush(&mut painter, &mut screen);
    assert_eq!(screen.shown(), ["$ aur spawn", "one 漢字", "two long", "three"]);
    painter.draw(&lines(&["one", "\x1b[1mtwo\x1b[0m"])).unwrap();
    flush(&mut painter, &mut screen);
    assert_eq!(screen.shown(), ["$ aur spawn", "one", "two"]);
    painter.print("note a\nnote b\n").unwrap();
    painter.draw(&lines(&["1", "2", "3"])).unwrap();
    flush(&mut painter, &mut screen);
    assert_eq!(screen.shown(), ["$ aur spawn", "note a", "note b", "1", "2", "3"]);
    assert_eq!((screen.row, screen.column), (6, 0));
    painter.clear().unwrap();
    flush(&mut painter, &mut screen);
    assert_eq!(screen.shown(), ["$ aur spawn", "note a", "note b"]);
}

#[test]
fn printing_and_drawing_scroll_without_losing_a_line() {
    let mut screen = Screen::new(20, 5);
    let mut painter = Painter::new(Vec::new(), screen.size);
    for n in 0..30 {
        painter.draw(&lines(&["top", &format!("at {n}"), "end"])).unwrap();
        painter.print(&format!("line {n}")).unwrap();
        flush(&mut painter, &mut screen);
    }
    let mut all = screen.scrolled.clone();
    all.extend(screen.shown());
    let printed: Vec<String> = (0..30).map(|n| format!("line {n}")).collect();
    assert_eq!(all[..30], printed);
    assert_eq!(all[30..], ["top", "at 29", "end"]);
}

#[test]
fn a_panel_taller_or_wider_than_the_terminal_is_cut() {
    let mut screen = Screen::new(5, 4);
    let mut painter = Painter::new(Vec::new(), screen.size);
    let tall =
        lines(&["╭───╮", "│ 1 │ and more", "\x1b[1m漢字漢\x1b[0m", "│ 3 │", "│ 4 │", "╰───╯"]);
    for _ in 0..3 {
        painter.draw(&tall).unwrap();
        painter.drawn.clear();
        painter.draw(&tall).unwrap();
        flush(&mut painter, &mut screen);
        assert_eq!(screen.shown(), ["╭───╮", "│ 1 │", "╰───╯"]);
    }
    assert_eq!(cut("\x1b[1m漢字漢\x1b[0m", 5), "\x1b[1m漢字\x1b[0m");
}

#[test]
fn nothing_is_written_where_nothing_changed_and_no_state_is_left() {
    let size = Size { columns: 20, rows: 10 };
    let mut painter = Painter::new(Vec::new(), size);
    painter.draw(&lines(&["a"])).unwrap();
    let before = painter.out.len();
    painter.draw(&lines(&["a"])).unwrap();
    assert_eq!(painter.out.len(), before);
    painter.print("x").unwrap();
    painter.clear().unwrap();
    painter.clear().unwrap();
    let text = String::from_utf8(painter.out).unwrap();
    // Neither the cursor is hidden nor another screen taken.
    assert!(!text.contains("\x1b[?"), "{text:?}");
}

/// A terminal that became narrower breaks what stands there into more rows.
#[test]
fn a_narrower_terminal_is_painted_over_whole() {
    let mut painter = Painter::new(Vec::new(), Size { columns: 10, rows: 10 });
    painter.draw(&lines(&["0123456789", "abc"])).unwrap();
    painter.out.clear();
    painter.resize(Size { columns: 5, rows: 10 });
    painter.draw(&lines(&["0123", "abc"])).unwrap();
    let text = String::from_utf8(painter.out).unwrap();
    assert!(text.starts_with("\r\x1b[3A0123\x1b[K\r\n"), "{text:?}");
}
