//! Brace expansion: `{a,b}` and `{1..9}` told apart from braces that are only text.

use super::ast::Part;

/// How deep braces may nest in one word.
const MAX_NESTING: usize = 64;
/// Up to how many elements of a sequence are counted out.
const MAX_SEQUENCE: i64 = 256;

/// A part of a word, or an unquoted character that may belong to a brace expansion.
#[derive(Debug)]
pub(super) enum Raw {
    Part(Part),
    Open,
    Comma,
    Close,
}

impl Raw {
    /// Adds literal text, joined to literal text before it.
    pub(super) fn lit(raws: &mut Vec<Raw>, text: &str) {
        if let Some(Raw::Part(Part::Lit(last))) = raws.last_mut() {
            last.push_str(text);
        } else {
            raws.push(Raw::Part(Part::Lit(text.to_owned())));
        }
    }
}

#[derive(Debug, Default)]
struct Frame {
    alternatives: Vec<Vec<Part>>,
    current: Vec<Part>,
}

fn push(parts: &mut Vec<Part>, part: Part) {
    if let Part::Lit(text) = &part
        && let Some(Part::Lit(last)) = parts.last_mut()
    {
        last.push_str(text);
        return;
    }
    parts.push(part);
}

/// Turns the marks into brace expansions; nothing when they nest too deeply.
pub(super) fn resolve(raws: Vec<Raw>) -> Option<Vec<Part>> {
    let mut frames = vec![Frame::default()];
    for raw in raws {
        match raw {
            Raw::Part(part) => push(&mut frames.last_mut()?.current, part),
            Raw::Open => {
                if frames.len() > MAX_NESTING {
                    return None;
                }
                frames.push(Frame::default());
            }
            Raw::Comma if frames.len() > 1 => {
                let frame = frames.last_mut()?;
                let done = std::mem::take(&mut frame.current);
                frame.alternatives.push(done);
            }
            Raw::Comma => push(&mut frames.last_mut()?.current, Part::Lit(",".to_owned())),
            Raw::Close if frames.len() > 1 => {
                let frame = frames.pop()?;
                close(frame, &mut frames.last_mut()?.current);
            }
            Raw::Close => push(&mut frames.last_mut()?.current, Part::Lit("}".to_owned())),
        }
    }
    // What was never closed is text.
    while frames.len() > 1 {
        let frame = frames.pop()?;
        flatten(frame, &mut frames.last_mut()?.current);
    }
    frames.pop().map(|frame| frame.current)
}

fn flatten(frame: Frame, into: &mut Vec<Part>) {
    push(into, Part::Lit("{".to_owned()));
    for alternative in frame.alternatives {
        for part in alternative {
            push(into, part);
        }
        push(into, Part::Lit(",".to_owned()));
    }
    for part in frame.current {
        push(into, part);
    }
}

fn close(mut frame: Frame, into: &mut Vec<Part>) {
    if !frame.alternatives.is_empty() {
        frame.alternatives.push(frame.current);
        into.push(Part::Brace(frame.alternatives));
        return;
    }
    if let [Part::Lit(text)] = frame.current.as_slice()
        && let Some(sequence) = sequence(text)
    {
        into.push(sequence);
        return;
    }
    flatten(frame, into);
    push(into, Part::Lit("}".to_owned()));
}

/// `1..10`, `01..10..2`, `a..f`.
fn sequence(text: &str) -> Option<Part> {
    let mut ends = text.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() {
        return None;
    }
    let step = match step {
        Some(step) => step.parse::<i64>().ok()?.abs().max(1),
        None => 1,
    };
    let lit = |text: String| vec![Part::Lit(text)];
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let count = from.abs_diff(to) / step.unsigned_abs() + 1;
        if count > MAX_SEQUENCE.unsigned_abs() {
            return Some(Part::ManyBraces);
        }
        let padded = |end: &str| end.trim_start_matches('-').starts_with('0') && end.len() > 1;
        let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
        let step = if from <= to { step } else { -step };
        let values = (0..i64::try_from(count).ok()?).map(|index| from + index * step);
        return Some(Part::Brace(values.map(|value| lit(format!("{value:0width$}"))).collect()));
    }
    let mut first = first.chars();
    let mut last = last.chars();
    let (from, to) = (first.next()?, last.next()?);
    if first.next().is_some() || last.next().is_some() || !from.is_ascii() || !to.is_ascii() {
        return None;
    }
    if !from.is_ascii_alphabetic() || !to.is_ascii_alphabetic() {
        return None;
    }
    let step = usize::try_from(step).ok()?;
    let range = if from <= to { from..=to } else { to..=from };
    let mut values: Vec<_> = range.map(|c| lit(c.to_string())).collect();
    if from > to {
        values.reverse();
    }
    Some(Part::Brace(values.into_iter().step_by(step).collect()))
}
