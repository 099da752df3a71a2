//! Walks through the lines of a tasks file and finds its boxes, with what belongs to each.

use super::Problem;
use super::blocks::{self, Boxed, Fence};
use super::comments::{Comment, Finder};
use super::lines::{Line, columns, position};
use super::metadata::{self, Metadata};

/// Boxes may be nested so deep.
const MAX_DEPTH: usize = 16;

/// One box with its text.
#[derive(Debug, Default)]
pub(super) struct Item<'t> {
    /// The byte of the character between the brackets.
    pub box_at: usize,
    /// Whether it is ticked.
    pub ticked: bool,
    /// The text behind the box, without comments.
    pub title: String,
    /// The box that it stands below.
    pub parent: Option<usize>,
    /// Whether boxes stand below it.
    pub is_group: bool,
    /// The column in which its content stands.
    pub column: usize,
    /// The lines below that belong to it.
    pub details: Vec<&'t str>,
    /// What its comments say.
    pub metadata: Metadata,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(super) struct Scan<'t> {
    /// The boxes, in order.
    pub items: Vec<Item<'t>>,
    /// The first heading.
    pub heading: Option<String>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// An open list item.
struct Open {
    /// The column of its marker.
    marker: usize,
    /// The column of its content.
    content: usize,
    /// The box that lines below it belong to.
    owner: Option<usize>,
    /// How many boxes it stands in, itself included.
    depth: usize,
}

impl Open {
    /// The column from which on a line belongs to it. Below `10. [ ]`, two columns are enough,
    /// although Markdown asks for four: that is how people write it.
    fn reach(&self) -> usize {
        self.marker + 2
    }
}

pub(super) struct Scanner<'t, 'l> {
    text: &'t str,
    lines: &'l [Line<'t>],
    finder: Finder<'t>,
    found: Scan<'t>,
    open: Vec<Open>,
    fence: Option<(Fence, usize)>,
    /// Whether the line before is text that the next line can continue.
    paragraph: bool,
    /// The box whose comments may still follow.
    commented: Option<usize>,
}

impl<'t, 'l> Scanner<'t, 'l> {
    pub fn new(text: &'t str, lines: &'l [Line<'t>]) -> Self {
        Self {
            text,
            lines,
            finder: Finder::new(text, lines),
            found: Scan::default(),
            open: Vec::new(),
            fence: None,
            paragraph: false,
            commented: None,
        }
    }

    /// Finds everything from a line on.
    pub fn scan(mut self, from: usize) -> Scan<'t> {
        let mut index = from;
        while let Some(line) = self.lines.get(index) {
            index = self.line(index, *line) + 1;
        }
        self.found
    }

    /// Takes one line, and those that its comments reach; says which was the last.
    fn line(&mut self, index: usize, line: Line<'t>) -> usize {
        if line.is_blank() {
            self.commented = None;
            self.paragraph = false;
            self.keep(line);
            return index;
        }
        let indent = line.indent();
        if self.in_fence(line, indent) {
            return index;
        }
        let inside = self.open.iter().rev().find(|open| indent >= open.reach());
        let column = inside.map_or(0, |open| open.content);
        if !self.paragraph && indent >= column + 4 {
            self.leave(indent);
            self.commented = None;
            self.keep(line);
            return index;
        }
        let text = line.text.trim_start();
        if text.starts_with("<!--") {
            return self.comment_line(index, line, indent);
        }
        if self.block(index, line, text, indent) {
            return index;
        }
        if let Some(marker) = blocks::marker(text, indent) {
            self.leave(indent);
            return self.item(index, line, indent, marker);
        }
        if !self.paragraph || text.starts_with('>') {
            self.leave(indent);
        }
        self.commented = None;
        self.paragraph = !text.starts_with('>');
        let (_, last) = self.finder.of_line(self.lines, index);
        self.keep_all(index, last);
        last
    }

    /// Whether the line is inside something that swallows it.
    fn in_fence(&mut self, line: Line<'t>, indent: usize) -> bool {
        let Some((fence, column)) = self.fence else { return false };
        if indent < column {
            // The item that it stands in is over, and so is what stands in it.
            self.fence = None;
            return false;
        }
        if fence.is_closed_by(line.text) {
            self.fence = None;
        }
        self.keep(line);
        true
    }

    /// Fences, headings and rules; whether the line was one.
    fn block(&mut self, index: usize, line: Line<'t>, text: &'t str, indent: usize) -> bool {
        let alone = self.open.is_empty();
        let heading = if self.paragraph && alone && blocks::is_underline(text) {
            let above = index.checked_sub(1).and_then(|above| self.lines.get(above));
            above.map(|above| above.text.trim())
        } else {
            blocks::heading(text)
        };
        if let Some(fence) = Fence::opened(text) {
            self.leave(indent);
            self.fence = Some((fence, self.open.last().map_or(0, Open::reach)));
        } else if let Some(heading) = heading {
            self.leave(indent);
            if self.open.is_empty() && self.found.heading.is_none() && !heading.is_empty() {
                self.found.heading = Some(heading.to_owned());
            }
        } else if blocks::is_rule(text) {
            self.leave(indent);
        } else {
            return false;
        }
        self.paragraph = false;
        self.commented = None;
        self.keep(line);
        true
    }

    /// A line that begins with a comment: metadata of the box above where nothing else is in it.
    fn comment_line(&mut self, index: usize, line: Line<'t>, indent: usize) -> usize {
        let (comments, last) = self.finder.of_line(self.lines, index);
        let end = self.lines.get(last).map_or(line.end(), Line::end);
        let bare = visible(self.text, line.start, end, &comments).trim().is_empty();
        let item = self.commented.filter(|_| bare);
        if item.is_some_and(|item| self.annotate(item, &comments)) {
            return last;
        }
        self.leave(indent);
        self.paragraph = false;
        self.keep_all(index, last);
        last
    }

    /// A list item, with or without a box.
    fn item(
        &mut self,
        index: usize,
        line: Line<'t>,
        indent: usize,
        marker: blocks::Marker,
    ) -> usize {
        let (mut marker, mut column) = (marker, indent);
        let mut at = columns(line.text).1;
        // `- 1. [ ] x` is an item in an item.
        for _ in 0..MAX_DEPTH {
            at += marker.bytes;
            let content = line.text.get(at..).unwrap_or_default();
            match blocks::task_box(content) {
                Boxed::Whole(ticked) => {
                    return self.task(index, line, at, ticked, (column, column + marker.columns));
                }
                Boxed::Almost(what) => {
                    self.problem(line.start + at, what, "or take the brackets away");
                }
                Boxed::None => {}
            }
            let owner = self.open.last().and_then(|open| open.owner);
            let depth = self.open.last().map_or(0, |open| open.depth);
            let content_column = column + marker.columns;
            self.open.push(Open { marker: column, content: content_column, owner, depth });
            column = content_column;
            let Some(inner) = blocks::marker(content, column) else { break };
            marker = inner;
        }
        self.commented = None;
        let content = line.text.get(at..).unwrap_or_default();
        if let Some(fence) = Fence::opened(content) {
            self.fence = Some((fence, self.open.last().map_or(0, Open::reach)));
            self.paragraph = false;
            self.keep(line);
            return index;
        }
        self.paragraph = !content.trim().is_empty();
        let (_, last) = self.finder.of_line(self.lines, index);
        self.keep_all(index, last);
        last
    }

    /// An item with a box.
    fn task(
        &mut self,
        index: usize,
        line: Line<'t>,
        at: usize,
        ticked: bool,
        (marker, content): (usize, usize),
    ) -> usize {
        let (comments, last) = self.finder.of_line(self.lines, index);
        let end = self.lines.get(last).map_or(line.end(), Line::end);
        let title = visible(self.text, line.start + at + 3, end, &comments);
        let parent = self.open.last().and_then(|open| open.owner);
        let depth = self.open.last().map_or(0, |open| open.depth) + 1;
        if depth > MAX_DEPTH {
            let what = format!("a box inside more than {} others", MAX_DEPTH - 1);
            self.problem(line.start + at, &what, "nest less deeply");
        }
        if let Some(parent) = parent.and_then(|parent| self.found.items.get_mut(parent)) {
            parent.is_group = true;
        }
        let item = self.found.items.len();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            self.problem(line.start + at, "a box without a text", "say what is to be done");
        }
        self.found.items.push(Item {
            box_at: line.start + at + 1,
            ticked,
            title,
            parent,
            column: content,
            ..Item::default()
        });
        self.annotate(item, &comments);
        self.open.push(Open { marker, content, owner: Some(item), depth });
        self.commented = Some(item);
        self.paragraph = true;
        last
    }

    /// Reads comments as metadata of a box; whether all of them are.
    fn annotate(&mut self, item: usize, comments: &[Comment]) -> bool {
        let mut all = true;
        for comment in comments {
            let (at, inside) = comment.inside(self.text);
            let Some(pairs) = metadata::pairs(inside, at).filter(|_| comment.closed) else {
                all = false;
                continue;
            };
            let Some(item) = self.found.items.get_mut(item) else { continue };
            for problem in item.metadata.take(pairs) {
                self.problem(problem.at, &problem.what, &problem.hint);
            }
        }
        all
    }

    /// Closes the items that a line in this column does not belong to.
    fn leave(&mut self, indent: usize) {
        while self.open.last().is_some_and(|open| indent < open.reach()) {
            self.open.pop();
        }
    }

    /// A line that belongs to the box that is open.
    fn keep(&mut self, line: Line<'t>) {
        let owner = self.open.last().and_then(|open| open.owner);
        if let Some(item) = owner.and_then(|owner| self.found.items.get_mut(owner)) {
            item.details.push(line.text);
        }
    }

    fn keep_all(&mut self, first: usize, last: usize) {
        for line in self.lines.get(first..=last).unwrap_or_default() {
            self.keep(*line);
        }
    }

    fn problem(&mut self, at: usize, what: &str, hint: &str) {
        if self.found.problems.len() < super::MAX_PROBLEMS {
            let (line, column) = position(self.lines, at);
            self.found.problems.push(Problem::new(line, column, what, hint));
        }
    }
}

/// What is left of a stretch of text without comments.
fn visible(text: &str, start: usize, end: usize, comments: &[Comment]) -> String {
    let mut out = String::new();
    let mut at = start;
    for comment in comments {
        out.push_str(text.get(at..comment.start).unwrap_or_default());
        at = at.max(comment.end);
    }
    out.push_str(text.get(at..end).unwrap_or_default());
    out
}
