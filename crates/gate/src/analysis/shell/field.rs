//! One argument after abstract expansion: literal text, glob characters, and parts nobody can know.

use aurora_model::Span;

/// A part of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seg {
    /// Text that is known.
    Lit(String),
    /// An active pattern (`*`, `?`, `[a-z]`) that the shell matches against files.
    Glob(String),
    /// Text that is not known (an unset variable, a program's output …).
    Any,
}

/// One element of an argv after abstract expansion.
///
/// INVARIANT: no two neighbouring segments are `Lit`, and no `Lit` is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    segs: Vec<Seg>,
    /// How many bytes the segments hold.
    size: usize,
    /// Something was left out because there was too much.
    cut: bool,
    /// It may become none or several arguments (an unquoted unknown, `"$@"`, a glob).
    pub many: bool,
    /// Where it stands in the judged text.
    pub span: Span,
    /// Where its text starts in the judged text, when it stands there verbatim (so that places
    /// inside it can be pointed at).
    pub verbatim: Option<usize>,
}

/// More of an argument is not kept: no program that is modelled looks further.
const MAX_BYTES: usize = 64 * 1024;
/// More parts of an argument are not told apart.
const MAX_SEGS: usize = 4_096;

fn seg_size(seg: &Seg) -> usize {
    match seg {
        Seg::Lit(text) | Seg::Glob(text) => text.len(),
        Seg::Any => 1,
    }
}

impl Field {
    /// A literal argument.
    #[must_use]
    pub fn lit(text: impl Into<String>, span: Span) -> Self {
        let text = text.into();
        let segs = if text.is_empty() { Vec::new() } else { vec![Seg::Lit(text)] };
        let size = segs.iter().map(seg_size).sum();
        Self { segs, size, cut: false, many: false, span, verbatim: None }
    }

    /// An argument of which nothing is known; `many` when it may be none or several.
    #[must_use]
    pub fn unknown(many: bool, span: Span) -> Self {
        Self { segs: vec![Seg::Any], size: 1, cut: false, many, span, verbatim: None }
    }

    /// The segments in order.
    #[must_use]
    pub fn segs(&self) -> &[Seg] {
        &self.segs
    }

    /// Adds literal text at the end.
    pub fn push_lit(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        // A variable that is put together from itself doubles with each step.
        if self.is_full(text.len()) {
            self.cut = true;
            self.push_any(false);
            return;
        }
        self.size += text.len();
        if let Some(Seg::Lit(last)) = self.segs.last_mut() {
            last.push_str(text);
        } else {
            self.segs.push(Seg::Lit(text.to_owned()));
        }
    }

    /// Whether so much more would be more than is kept.
    fn is_full(&self, more: usize) -> bool {
        self.segs.len() >= MAX_SEGS || self.size + more > MAX_BYTES
    }

    /// Whether something was left out because there was too much: it is not the whole text.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Takes over that something was left out.
    pub fn cut_as(&mut self, other: &Self) {
        self.cut |= other.cut;
    }

    /// Adds an active pattern at the end.
    pub fn push_glob(&mut self, pattern: &str) {
        if self.is_full(pattern.len()) {
            self.cut = true;
            self.push_any(true);
            return;
        }
        self.size += pattern.len();
        self.segs.push(Seg::Glob(pattern.to_owned()));
        self.many = true;
    }

    /// Adds something unknown at the end.
    pub fn push_any(&mut self, many: bool) {
        if self.segs.last() != Some(&Seg::Any) {
            self.segs.push(Seg::Any);
        }
        self.many |= many;
    }

    /// Adds every segment of another field at the end.
    pub fn push_field(&mut self, other: &Self) {
        self.cut |= other.cut;
        for seg in &other.segs {
            match seg {
                Seg::Lit(text) => self.push_lit(text),
                Seg::Glob(pattern) => self.push_glob(pattern),
                Seg::Any => self.push_any(other.many),
            }
        }
    }

    /// The whole text, when all of it is known.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.segs.as_slice() {
            [] if !self.many => Some(""),
            [Seg::Lit(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether the whole text is this.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.text() == Some(text)
    }

    /// The text that it certainly starts with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match self.segs.first() {
            Some(Seg::Lit(text)) => text,
            _ => "",
        }
    }

    /// The text that it certainly ends with.
    #[must_use]
    pub fn suffix(&self) -> &str {
        match self.segs.last() {
            Some(Seg::Lit(text)) => text,
            _ => "",
        }
    }

    /// Whether some part of it is not known (a glob is known to be a glob).
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.segs.contains(&Seg::Any)
    }

    /// Whether it holds an active pattern.
    #[must_use]
    pub fn has_glob(&self) -> bool {
        self.segs.iter().any(|seg| matches!(seg, Seg::Glob(_)))
    }

    /// What remains after a literal prefix, keeping what is unknown.
    #[must_use]
    pub fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        let rest = self.prefix().strip_prefix(prefix)?.to_owned();
        let mut out = Self { cut: self.cut, many: self.many, span: self.span, ..Self::default() };
        if self.verbatim.is_some() && self.text().is_some() {
            out.verbatim = self.verbatim.map(|start| start + prefix.len());
        }
        out.push_lit(&rest);
        out.segs.extend(self.segs.iter().skip(1).cloned());
        out.size = out.segs.iter().map(seg_size).sum();
        Some(out)
    }

    /// Splits at the first occurrence of a character in known text, keeping what is unknown.
    #[must_use]
    pub fn split_once(&self, at: char) -> Option<(Self, Self)> {
        for (index, seg) in self.segs.iter().enumerate() {
            let Seg::Lit(text) = seg else { continue };
            let Some((left, right)) = text.split_once(at) else { continue };
            let mut before = Self { span: self.span, ..Self::default() };
            before.segs.extend(self.segs.iter().take(index).cloned());
            before.push_lit(left);
            let mut after = Self { span: self.span, ..Self::default() };
            after.push_lit(right);
            after.segs.extend(self.segs.iter().skip(index + 1).cloned());
            before.size = before.segs.iter().map(seg_size).sum();
            after.size = after.segs.iter().map(seg_size).sum();
            after.cut = self.cut;
            before.many = self.many && before.text().is_none();
            after.many = self.many && after.text().is_none();
            if let (Some(start), true) = (self.verbatim, self.segs.len() == 1) {
                before.verbatim = Some(start);
                after.verbatim = Some(start + left.len() + at.len_utf8());
            }
            return Some((before, after));
        }
        None
    }

    /// How it looks to a person: unknown parts as `…`.
    #[must_use]
    pub fn display(&self) -> String {
        let mut out = String::new();
        for seg in &self.segs {
            match seg {
                Seg::Lit(text) | Seg::Glob(text) => out.push_str(text),
                Seg::Any => out.push('…'),
            }
        }
        out
    }
}
