//! Frames that stay straight, whatever is in them.

use super::*;

/// A canvas for tests.
pub fn canvas(width: usize) -> Canvas {
    Canvas { style: Style::plain().columns(width), unicode: true, framed: true }
}

fn sample(canvas: Canvas) -> Panel {
    let mut panel = Panel::new(canvas, "Title");
    panel.field(
        "Goal",
        "漢字 and 👍 and e\u{301} and ⚠️ and an_incomprehensibly_long_word_that_must_be_broken",
    );
    panel.gap();
    panel.line(
        2,
        4,
        vec![canvas.mark(Paint::Good, Sign::Good), canvas.piece(Paint::Bad, " 5 done  twice")],
    );
    panel
}

/// REV-1: drawn to the terminal's width, aligned whatever the characters.
#[test]
fn every_line_is_as_wide_as_the_frame() {
    for width in 40..=220 {
        for unicode in [true, false] {
            let canvas = Canvas { unicode, ..canvas(width) };
            let lines = sample(canvas).lines();
            for line in &lines {
                assert_eq!(line.width(), canvas.columns(), "{line}");
                assert!(unicode || line.is_ascii(), "{line}");
            }
        }
    }
    // A terminal that is too narrow to draw on gets the narrowest panel.
    assert_eq!(sample(canvas(3)).lines()[0].width(), 39);
}

#[test]
fn a_panel_looks_like_this() {
    insta::assert_snapshot!(sample(canvas(46)).text(), @r"
    ╭────────────────── Title ──────────────────╮
    │ Goal: 漢字 and 👍 and é and ⚠️ and        │
    │       an_incomprehensibly_long_word_that_ │
    │       must_be_broken                      │
    │                                           │
    │   ✓ 5 done  twice                         │
    ╰───────────────────────────────────────────╯
    ");
    let ascii = Canvas { unicode: false, ..canvas(46) };
    insta::assert_snapshot!(sample(ascii).text(), @r"
    +------------------ Title ------------------+
    | Goal: ?? and ? and e? and ?? and          |
    |       an_incomprehensibly_long_word_that_ |
    |       must_be_broken                      |
    |                                           |
    |   + 5 done  twice                         |
    +-------------------------------------------+
    ");
    let plain = Canvas { framed: false, ..canvas(46) };
    insta::assert_snapshot!(sample(plain).text(), @r"
    Title
    Goal: 漢字 and 👍 and é and ⚠️ and
          an_incomprehensibly_long_word_that_must
          _be_broken

      ✓ 5 done  twice
    ");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let plain = sample(canvas(60)).text();
    let painted = Canvas { style: Style::plain().columns(60).coloured(), ..canvas(60) };
    let painted = sample(painted).text();
    assert!(painted.contains("\x1b[32m✓\x1b[0m"), "{painted}");
    let mut bare = String::new();
    let mut rest = painted.as_str();
    while let Some((head, tail)) = rest.split_once('\x1b') {
        bare.push_str(head);
        rest = tail.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_eq!(bare, plain);
}

#[test]
fn hostile_text_is_written_out() {
    let canvas = canvas(60);
    assert_eq!(canvas.safe("\x1b[2J\n\u{202e}x\u{200d}"), "\\x1b[2J\\n\\u{202e}x\\u{200d}");
    let ascii = Canvas { unicode: false, ..canvas };
    assert_eq!(ascii.safe("日本 e\u{301}té … “x”\x1b\u{202e}"), "?? e?t? ... \"x\"\\x1b\\u{202e}");
    assert_eq!(canvas.cut("漢字漢字", 5), "漢字…");
    assert_eq!(canvas.cut("abc", 3), "abc");
    assert_eq!(canvas.output(" \x1b[1;31mred\x1b[0m\tx\x1b]0;t\x07 "), "red x\x1b]0;t\x07");
    let many = canvas.safe(&"e\u{301}".repeat(100_000));
    assert!(many.chars().count() < 1_100);
}

#[test]
fn the_locale_says_whether_more_than_ascii_can_be_shown() {
    assert!(speaks_utf8([None, None, Some("en_US.UTF-8")]));
    assert!(speaks_utf8([Some(""), Some("C.utf8"), Some("C")]));
    assert!(!speaks_utf8([Some("C"), Some("C.utf8"), None]));
    assert!(!speaks_utf8([None, None, None]));
}
