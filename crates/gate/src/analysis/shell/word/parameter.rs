//! The inside of `${…}`.

use aurora_model::Span;

use super::super::ast::{Index, Param, ParamOp, Part};
use super::super::parse::{Parse, Parser};

impl Parser<'_> {
    pub(super) fn braced_param(&mut self) -> Parse<Part> {
        let start = self.pos - 1;
        self.pos += 1;
        let indirect = self.peek() == Some(b'!')
            && self.peek_at(1).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
        if indirect {
            self.pos += 1;
        }
        let length = self.peek() == Some(b'#')
            && self.peek_at(1).is_some_and(|b| b.is_ascii_alphanumeric() || b"_@*".contains(&b));
        if length {
            self.pos += 1;
        }
        let name = match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => self.name(),
            Some(byte) if b"@*#?-$!".contains(&byte) => {
                self.pos += 1;
                char::from(byte).to_string()
            }
            _ => return self.fail("an expansion that is not understood"),
        };
        let mut index = None;
        if self.peek() == Some(b'[') {
            self.pos += 1;
            let parts = self.operand(b"]", true)?;
            self.pos += 1;
            let all = matches!(parts.as_slice(), [Part::Lit(text)] if text == "@")
                || matches!(parts.as_slice(), [Part::Glob(text)] if text == "*");
            index = Some(if all { Index::All } else { Index::One(parts) });
        }
        let op = self.param_op()?;
        if self.peek() != Some(b'}') {
            return self.fail("expected `}`");
        }
        self.pos += 1;
        let span = Span::new(start, self.pos);
        Ok(Part::Param(Box::new(Param { name, index, indirect, length, op, span })))
    }

    fn param_op(&mut self) -> Parse<ParamOp> {
        let colon = self.peek() == Some(b':');
        let operator = if colon { self.peek_at(1) } else { self.peek() };
        let constructor: fn(Vec<Part>) -> ParamOp = match operator {
            Some(b'-') => ParamOp::Default,
            Some(b'=') => ParamOp::Assign,
            Some(b'+') => ParamOp::Alternative,
            Some(b'?') => ParamOp::Error,
            _ if colon => return self.slice(),
            Some(b'}') | None => return Ok(ParamOp::None),
            Some(b'#' | b'%') => return self.trim(),
            Some(b'/') => return self.replace(),
            Some(b'^' | b',') => {
                let start = self.pos;
                let parts = self.operand(b"}", true)?;
                return Ok(ParamOp::Case(self.text(start, self.pos).to_owned(), parts));
            }
            Some(_) => {
                let start = self.pos;
                self.operand(b"}", true)?;
                return Ok(ParamOp::Other(self.text(start, self.pos).to_owned()));
            }
        };
        self.pos += if colon { 2 } else { 1 };
        Ok(constructor(self.operand(b"}", false)?))
    }

    fn slice(&mut self) -> Parse<ParamOp> {
        self.pos += 1;
        let offset = self.operand(b":}", true)?;
        if self.peek() != Some(b':') {
            return Ok(ParamOp::Slice(offset, None));
        }
        self.pos += 1;
        Ok(ParamOp::Slice(offset, Some(self.operand(b"}", true)?)))
    }

    fn trim(&mut self) -> Parse<ParamOp> {
        let first = self.peek();
        let longest = self.peek_at(1) == first;
        self.pos += if longest { 2 } else { 1 };
        let pattern = self.operand(b"}", false)?;
        Ok(if first == Some(b'#') {
            ParamOp::TrimStart(pattern, longest)
        } else {
            ParamOp::TrimEnd(pattern, longest)
        })
    }

    fn replace(&mut self) -> Parse<ParamOp> {
        let all = self.peek_at(1) == Some(b'/');
        self.pos += if all { 2 } else { 1 };
        let pattern = self.operand(b"/}", false)?;
        if self.peek() != Some(b'/') {
            return Ok(ParamOp::Replace(pattern, Vec::new(), all));
        }
        self.pos += 1;
        Ok(ParamOp::Replace(pattern, self.operand(b"}", false)?, all))
    }
}
