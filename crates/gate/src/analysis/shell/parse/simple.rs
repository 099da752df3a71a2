//! Simple commands: assignments, words and redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use aurora_model::Span;

use super::super::ast::{Assign, AssignValue, Command, Part, Redirect, RedirectKind, Simple, Word};
use super::{Parse, Parser, Pending};

/// Builtins whose arguments may be assignments.
const DECLARERS: [&str; 6] = ["declare", "typeset", "local", "export", "readonly", "alias"];

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Parse<Command> {
        let start = self.pos;
        let mut simple =
            Simple { assigns: vec![], words: vec![], redirects: vec![], span: Span::default() };
        let mut declares = false;
        let mut last = start;
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                last = self.pos;
                simple.redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'(') => return self.after_name(&simple),
                _ => {}
            }
            if (simple.words.is_empty() || declares)
                && let Some(assign) = self.assignment()?
            {
                last = self.pos;
                simple.assigns.push(assign);
                continue;
            }
            let word = self.word()?;
            if simple.words.is_empty()
                && let [Part::Lit(name)] = word.parts.as_slice()
            {
                declares = DECLARERS.contains(&name.as_str());
            }
            last = self.pos;
            simple.words.push(word);
        }
        if simple.words.is_empty() && simple.assigns.is_empty() && simple.redirects.is_empty() {
            return self.fail("a command is missing");
        }
        simple.span = Span::new(start, last);
        Ok(Command::Simple(simple))
    }

    /// A `(` behind a single plain word makes it a function definition.
    fn after_name(&mut self, simple: &Simple) -> Parse<Command> {
        let [word] = simple.words.as_slice() else { return self.fail("unexpected `(`") };
        if !simple.assigns.is_empty() || !simple.redirects.is_empty() {
            return self.fail("unexpected `(`");
        }
        let name = self.text(word.span.start, word.span.end).to_owned();
        self.pos += 1;
        self.blanks();
        if self.peek() != Some(b')') {
            return self.fail("unexpected `(`");
        }
        self.pos += 1;
        self.function_body(name)
    }

    fn assignment(&mut self) -> Parse<Option<Assign>> {
        let start = self.pos;
        let bytes = self.rest().as_bytes();
        let len = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        if len == 0 || bytes.first().is_some_and(u8::is_ascii_digit) {
            return Ok(None);
        }
        let name = self.text(start, start + len).to_owned();
        self.pos += len;
        let mut index = None;
        if self.peek() == Some(b'[') {
            self.pos += 1;
            let Ok(parts) = self.operand(b"]", false) else {
                self.pos = start;
                return Ok(None);
            };
            self.pos += 1;
            index = Some(parts);
        }
        let append = self.starts("+=");
        if append {
            self.pos += 1;
        }
        if self.peek() != Some(b'=') {
            self.pos = start;
            return Ok(None);
        }
        self.pos += 1;
        let value = if self.peek() == Some(b'(') {
            self.pos += 1;
            AssignValue::Array(self.array()?)
        } else {
            AssignValue::Scalar(self.assigned_word()?)
        };
        Ok(Some(Assign { name, index, append, value }))
    }

    fn array(&mut self) -> Parse<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks_and_newlines()?;
            match self.peek() {
                Some(b')') => {
                    self.pos += 1;
                    return Ok(words);
                }
                None | Some(b';' | b'&' | b'|' | b'(') => {
                    return self.fail("expected `)` after an array");
                }
                _ => words.push(self.word()?),
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Parse<Option<Redirect>> {
        let start = self.pos;
        let rest = self.rest();
        let mut fd = None;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && matches!(rest.as_bytes().get(digits), Some(b'<' | b'>')) {
            fd = rest.get(..digits).and_then(|text| text.parse().ok());
            self.pos += digits;
        } else if rest.starts_with('{') {
            // `{fd}>file` lets the shell choose a descriptor.
            let close = rest.find('}');
            let named = close.filter(|end| {
                rest.get(1..*end).is_some_and(|name| {
                    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                }) && matches!(rest.as_bytes().get(end + 1), Some(b'<' | b'>'))
            });
            let Some(end) = named else { return Ok(None) };
            fd = Some(10);
            self.pos += end + 1;
        }
        const OPERATORS: [(&str, RedirectKind); 12] = [
            ("&>>", RedirectKind::BothAppend),
            ("&>", RedirectKind::Both),
            ("<<<", RedirectKind::HereText),
            ("<<-", RedirectKind::HereText),
            ("<<", RedirectKind::HereText),
            ("<>", RedirectKind::ReadWrite),
            ("<&", RedirectKind::Duplicate),
            (">>", RedirectKind::Append),
            (">&", RedirectKind::Duplicate),
            (">|", RedirectKind::Write),
            ("<", RedirectKind::Read),
            (">", RedirectKind::Write),
        ];
        let found = OPERATORS.iter().find(|(text, _)| self.starts(text));
        let Some(&(operator, mut kind)) = found else {
            self.pos = start;
            return Ok(None);
        };
        if matches!(operator, "<" | ">") && self.peek_at(1) == Some(b'(') {
            self.pos = start;
            return Ok(None);
        }
        self.pos += operator.len();
        self.blanks();
        let target = if matches!(operator, "<<" | "<<-") {
            self.heredoc_start(operator == "<<-")?
        } else {
            self.word()?
        };
        if operator == ">&" {
            let text = self.text(target.span.start, target.span.end);
            let duplicates = text.starts_with('$')
                || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
            if !duplicates {
                kind = RedirectKind::Both;
            }
        }
        Ok(Some(Redirect {
            fd,
            kind,
            reads: operator.starts_with('<'),
            target,
            span: Span::new(start, self.pos),
        }))
    }

    fn heredoc_start(&mut self, strip_tabs: bool) -> Parse<Word> {
        let start = self.pos;
        let word = self.word()?;
        let raw = self.text(start, self.pos);
        let quoted = raw.contains(['\'', '"', '\\']);
        let delimiter: String = raw.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending { delimiter, strip_tabs, quoted, body: Rc::clone(&body) });
        Ok(Word { parts: vec![Part::HereDoc(body)], span: word.span })
    }
}
