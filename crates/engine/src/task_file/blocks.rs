//! What a line of Markdown begins: an item, a box, a fence, a heading, a rule.

use super::lines::columns;

/// A list item's marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marker {
    /// Bytes up to the content.
    pub bytes: usize,
    /// Columns from the marker up to the content.
    pub columns: usize,
}

/// The marker at the start of a text that stands in `column`.
pub(super) fn marker(text: &str, column: usize) -> Option<Marker> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = text.as_bytes().get(digits)?;
    let long = match (digits, sign) {
        (0, b'-' | b'*' | b'+') => 1,
        (1..=9, b'.' | b')') => digits + 1,
        _ => return None,
    };
    let rest = text.get(long..)?;
    if rest.trim().is_empty() {
        return Some(Marker { bytes: text.len(), columns: long + 1 });
    }
    let space = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    // A tab's width depends on where it stands.
    let mut at = column + long;
    for byte in rest.bytes().take(space) {
        at += if byte == b'\t' { 4 - at % 4 } else { 1 };
    }
    match at - column - long {
        0 => None,
        // What stands further off is code inside the item.
        wide if wide > 4 => Some(Marker { bytes: long + 1, columns: long + 1 }),
        wide => Some(Marker { bytes: long + space, columns: long + wide }),
    }
}

/// What stands where a box can stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boxed {
    /// A box: whether it is ticked.
    Whole(bool),
    /// Something that is meant as one and is none: what is wrong with it.
    Almost(&'static str),
    /// Something else.
    None,
}

/// The box at the start of an item's content. `[-]` and its like are none.
pub(super) fn task_box(content: &str) -> Boxed {
    let Some(inside) = content.strip_prefix('[') else { return Boxed::None };
    if let Some(rest) = inside.strip_prefix(']') {
        let alone = rest.is_empty() || rest.starts_with([' ', '\t']);
        return if alone { Boxed::Almost("`[]` is no box; write `[ ]`") } else { Boxed::None };
    }
    let mut chars = inside.chars();
    let ticked = match chars.next() {
        Some(' ' | '\t') => false,
        Some('x' | 'X') => true,
        _ => return Boxed::None,
    };
    let Some(rest) = chars.as_str().strip_prefix(']') else { return Boxed::None };
    match rest.chars().next() {
        None | Some(' ' | '\t') => Boxed::Whole(ticked),
        // `[x](…)` and `[x][…]` are links, `[x]:` says where one goes.
        Some('(' | '[' | ':') => Boxed::None,
        Some(_) if !ticked => Boxed::Almost("a space is missing behind the box"),
        Some(_) => Boxed::None,
    }
}

/// What has begun and swallows lines until it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    /// Code between lines of so many of these characters.
    Code(char, usize),
    /// HTML that shows its content as it is, up to this tag.
    Raw(&'static str),
}

const RAW: [(&str, &str); 4] = [
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];

impl Fence {
    /// What a line without its white space opens.
    pub fn opened(text: &str) -> Option<Self> {
        for sign in ['`', '~'] {
            let long = text.chars().take_while(|c| *c == sign).count();
            let info = text.get(long..).unwrap_or_default();
            if long >= 3 && !(sign == '`' && info.contains('`')) {
                return Some(Self::Code(sign, long));
            }
        }
        let lower = text.get(..12.min(text.len())).unwrap_or(text).to_ascii_lowercase();
        let (_, close) = RAW.into_iter().find(|(open, _)| {
            let rest = lower.strip_prefix(open);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '>']))
        })?;
        let fence = Self::Raw(close);
        (!fence.is_closed_by(text)).then_some(fence)
    }

    /// Whether a line ends it.
    pub fn is_closed_by(self, line: &str) -> bool {
        match self {
            Self::Code(sign, long) => {
                let line = line.trim();
                line.chars().all(|c| c == sign) && line.len() >= long
            }
            Self::Raw(close) => line.to_ascii_lowercase().contains(close),
        }
    }
}

/// The text of a heading that is marked by `#`.
pub(super) fn heading(text: &str) -> Option<&str> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = text.get(level..)?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim();
    let bare = rest.trim_end_matches('#');
    // Closing marks count only behind a space.
    let closed = bare.len() < rest.len() && (bare.is_empty() || bare.ends_with([' ', '\t']));
    Some(if closed { bare.trim_end() } else { rest })
}

/// Whether a line is a rule: three or more of one sign, and nothing else.
pub(super) fn is_rule(text: &str) -> bool {
    let mut signs = text.chars().filter(|c| !matches!(c, ' ' | '\t'));
    let Some(first) = signs.next() else { return false };
    matches!(first, '-' | '*' | '_') && {
        let rest: Vec<char> = signs.collect();
        rest.len() >= 2 && rest.iter().all(|c| *c == first)
    }
}

/// Whether a line makes the one above it a heading.
pub(super) fn is_underline(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && (text.chars().all(|c| c == '=') || text.chars().all(|c| c == '-'))
}

/// A line without up to so many columns of white space.
pub(super) fn dedented(text: &str, by: usize) -> &str {
    let (wide, bytes) = columns(text);
    if wide <= by {
        return text.get(bytes..).unwrap_or_default();
    }
    let mut column = 0;
    for (byte, c) in text.char_indices() {
        if column >= by {
            return text.get(byte..).unwrap_or_default();
        }
        column += if c == '\t' { 4 - column % 4 } else { 1 };
    }
    ""
}
