//! Bash's words: quoting, parameters, substitutions, patterns and braces.

use std::rc::Rc;

use aurora_model::Span;

use super::ast::{Code, Direction, Param, ParamOp, Part, Word};
use super::brace::{self, Raw};
use super::escape::decode_escapes;
use super::parse::{Parse, Parser};

mod parameter;

/// Where a word stands, which decides what ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An ordinary argument.
    Argument,
    /// The value of an assignment: no braces.
    Value,
    /// Inside `[[ … ]]`: parentheses and `|` may belong to a pattern.
    Test,
}

impl Parser<'_> {
    pub(super) fn word(&mut self) -> Parse<Word> {
        self.word_at(Place::Argument)
    }

    pub(super) fn assigned_word(&mut self) -> Parse<Word> {
        self.word_at(Place::Value)
    }

    pub(super) fn test_word(&mut self) -> Parse<Word> {
        self.word_at(Place::Test)
    }

    fn word_at(&mut self, place: Place) -> Parse<Word> {
        self.deeper(|parser| {
            let start = parser.pos;
            let mut raws: Vec<Raw> = Vec::new();
            while let Some(byte) = parser.peek() {
                match byte {
                    b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b')' => {
                        if place == Place::Test && matches!(byte, b'|' | b')') && parser.pos > start
                        {
                            parser.pos += 1;
                            Raw::lit(&mut raws, "|");
                            continue;
                        }
                        break;
                    }
                    b'<' | b'>' => {
                        if parser.peek_at(1) != Some(b'(') {
                            break;
                        }
                        raws.push(Raw::Part(parser.process()?));
                    }
                    b'(' => {
                        if place == Place::Test {
                            parser.pos += 1;
                            Raw::lit(&mut raws, "(");
                            continue;
                        }
                        break;
                    }
                    b'{' if place == Place::Argument => {
                        parser.pos += 1;
                        raws.push(Raw::Open);
                    }
                    b',' if place == Place::Argument => {
                        parser.pos += 1;
                        raws.push(Raw::Comma);
                    }
                    b'}' if place == Place::Argument => {
                        parser.pos += 1;
                        raws.push(Raw::Close);
                    }
                    b'~' if parser.pos == start => raws.push(Raw::Part(parser.tilde())),
                    _ => parser.unquoted(&mut raws)?,
                }
            }
            // `X=` gives an empty value.
            if parser.pos == start && place != Place::Value {
                return parser.fail("unexpected character");
            }
            let Some(parts) = brace::resolve(raws) else {
                return parser.fail("nested too deeply");
            };
            Ok(Word { parts, span: Span::new(start, parser.pos) })
        })
    }

    /// One unquoted element that means the same in every place.
    fn unquoted(&mut self, raws: &mut Vec<Raw>) -> Parse<()> {
        match self.peek() {
            Some(b'\\') => {
                self.pos += 1;
                match self.rest().chars().next() {
                    None => Raw::lit(raws, "\\"),
                    Some('\n') => self.pos += 1,
                    Some(c) => {
                        raws.push(Raw::Part(Part::Quoted(c.to_string(), None)));
                        self.pos += c.len_utf8();
                    }
                }
            }
            Some(b'\'') => raws.push(Raw::Part(self.single_quoted()?)),
            Some(b'"') => raws.push(Raw::Part(self.double_quoted()?)),
            Some(b'$') => match self.dollar(false)? {
                Some(part) => raws.push(Raw::Part(part)),
                None => Raw::lit(raws, "$"),
            },
            Some(b'`') => raws.push(Raw::Part(self.backquoted()?)),
            Some(byte @ (b'*' | b'?' | b'+' | b'@' | b'!')) if self.peek_at(1) == Some(b'(') => {
                self.extended_glob(byte, raws)?;
            }
            Some(byte @ (b'*' | b'?')) => {
                self.pos += 1;
                raws.push(Raw::Part(Part::Glob(char::from(byte).to_string())));
            }
            Some(b'[') => match self.bracket() {
                Some(pattern) => raws.push(Raw::Part(Part::Glob(pattern))),
                None => {
                    self.pos += 1;
                    Raw::lit(raws, "[");
                }
            },
            _ => {
                if let Some(c) = self.rest().chars().next() {
                    self.pos += c.len_utf8();
                    Raw::lit(raws, c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        Ok(())
    }

    /// `?(…)`, `!(…)` and the like: the whole pattern with balanced parentheses.
    fn extended_glob(&mut self, first: u8, raws: &mut Vec<Raw>) -> Parse<()> {
        let start = self.pos;
        let mut open = 0usize;
        self.pos += 1;
        while let Some(byte) = self.peek() {
            self.pos += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        let text = self.text(start, self.pos).to_owned();
                        raws.push(Raw::Part(Part::Glob(text)));
                        return Ok(());
                    }
                }
                b'\n' | b';' => break,
                _ => {}
            }
        }
        self.pos = start + 1;
        if matches!(first, b'*' | b'?') {
            raws.push(Raw::Part(Part::Glob(char::from(first).to_string())));
        } else {
            Raw::lit(raws, char::from(first).encode_utf8(&mut [0; 4]));
        }
        Ok(())
    }

    /// A bracket pattern, when the bracket closes within the word.
    fn bracket(&mut self) -> Option<String> {
        let rest = self.rest();
        let mut chars = rest.char_indices().skip(1).peekable();
        if chars.peek().is_some_and(|(_, c)| matches!(c, '!' | '^')) {
            chars.next();
        }
        let mut first = true;
        for (at, c) in chars {
            match c {
                ']' if !first => {
                    self.pos += at + 1;
                    return rest.get(..=at).map(str::to_owned);
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '"' | '\'' | '$'
                | '`' | '/' => return None,
                _ => first = false,
            }
        }
        None
    }

    fn tilde(&mut self) -> Part {
        self.pos += 1;
        let start = self.pos;
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+'))
        {
            self.pos += 1;
        }
        let user = self.text(start, self.pos).to_owned();
        match self.peek() {
            None | Some(b'/' | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>') => {
                Part::Tilde(user)
            }
            _ => Part::Lit(format!("~{user}")),
        }
    }

    fn process(&mut self) -> Parse<Part> {
        let direction = if self.peek() == Some(b'<') { Direction::Read } else { Direction::Write };
        self.pos += 1;
        let code = self.parenthesised()?;
        Ok(Part::Process(Rc::new(code), direction))
    }

    /// `( list )` behind `$`, `<` or `>`.
    fn parenthesised(&mut self) -> Parse<Code> {
        let start = self.pos;
        self.pos += 1;
        self.in_substitution += 1;
        let command = self.list();
        self.in_substitution -= 1;
        let command = command?;
        if self.peek() != Some(b')') {
            return self.fail("expected `)`");
        }
        self.pos += 1;
        Ok(Code { command, same_text: true, span: Span::new(start, self.pos) })
    }

    fn single_quoted(&mut self) -> Parse<Part> {
        self.pos += 1;
        let start = self.pos;
        let Some(len) = self.rest().find('\'') else {
            return self.fail("a single quote is not closed");
        };
        let text = self.text(start, start + len).to_owned();
        self.pos = start + len + 1;
        Ok(Part::Quoted(text, Some(start)))
    }

    fn double_quoted(&mut self) -> Parse<Part> {
        self.pos += 1;
        let parts = self.deeper(|parser| parser.quoted_parts(Some(b'"')))?;
        if self.peek() != Some(b'"') {
            return self.fail("a double quote is not closed");
        }
        self.pos += 1;
        Ok(Part::Double(parts))
    }

    pub(super) fn heredoc_parts(&mut self) -> Parse<Vec<Part>> {
        self.deeper(|parser| parser.quoted_parts(None))
    }

    /// Text in which only `$`, backquote and backslash are special, up to `close`.
    fn quoted_parts(&mut self, close: Option<u8>) -> Parse<Vec<Part>> {
        let mut parts = Vec::new();
        let mut run = self.pos;
        let mut text = String::new();
        let mut start = Some(self.pos);
        loop {
            let byte = self.peek();
            let special =
                byte.is_none() || byte == close || matches!(byte, Some(b'$' | b'`' | b'\\'));
            if !special {
                self.pos += 1;
                continue;
            }
            text.push_str(self.text(run, self.pos));
            if byte == Some(b'\\') {
                self.pos += 1;
                match self.peek() {
                    Some(b'\n') => self.pos += 1,
                    Some(next) if matches!(next, b'$' | b'`' | b'\\') || close == Some(next) => {
                        text.push(char::from(next));
                        self.pos += 1;
                    }
                    _ => text.push('\\'),
                }
                if !text.is_empty() {
                    start = None;
                }
                run = self.pos;
                continue;
            }
            if !text.is_empty() {
                parts.push(Part::Quoted(std::mem::take(&mut text), start));
            }
            match byte {
                Some(b'$') => match self.dollar(true)? {
                    Some(part) => parts.push(part),
                    None => text.push('$'),
                },
                Some(b'`') => parts.push(self.backquoted()?),
                _ => return Ok(parts),
            }
            run = self.pos;
            start = if text.is_empty() { Some(self.pos) } else { None };
        }
    }

    /// What follows a `$`; nothing when the dollar is only a dollar (it is taken all the same).
    fn dollar(&mut self, in_double: bool) -> Parse<Option<Part>> {
        let start = self.pos;
        self.pos += 1;
        let part = match self.peek() {
            Some(b'(') if self.peek_at(1) == Some(b'(') => {
                self.pos += 2;
                if let Some(parts) = self.arith_body()? {
                    Part::Arith(parts)
                } else {
                    self.pos = start + 1;
                    Part::Substitution(Rc::new(self.parenthesised()?))
                }
            }
            Some(b'(') => Part::Substitution(Rc::new(self.parenthesised()?)),
            Some(b'[') => {
                self.pos += 1;
                let parts = self.operand(b"]", in_double)?;
                self.pos += 1;
                Part::Arith(parts)
            }
            Some(b'{') => self.braced_param()?,
            Some(b'\'') if !in_double => self.ansi_quoted()?,
            Some(b'"') if !in_double => self.double_quoted()?,
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.name();
                plain_param(name, Span::new(start, self.pos))
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.pos += 1;
                plain_param(char::from(byte).to_string(), Span::new(start, self.pos))
            }
            _ => return Ok(None),
        };
        Ok(Some(part))
    }

    fn name(&mut self) -> String {
        let start = self.pos;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.pos += 1;
        }
        self.text(start, self.pos).to_owned()
    }

    /// `$'…'` with its escapes decoded.
    fn ansi_quoted(&mut self) -> Parse<Part> {
        self.pos += 1;
        let start = self.pos;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.pos += 2,
                b'\'' => {
                    let text = decode_escapes(self.text(start, self.pos));
                    self.pos += 1;
                    return Ok(Part::Quoted(text, None));
                }
                _ => self.pos += 1,
            }
        }
        self.pos = self.end;
        self.fail("a `$'` quote is not closed")
    }

    fn backquoted(&mut self) -> Parse<Part> {
        let start = self.pos;
        self.pos += 1;
        let mut code = String::new();
        loop {
            match self.rest().chars().next() {
                None => return self.fail("a backquote is not closed"),
                Some('`') => break,
                Some('\\') if matches!(self.peek_at(1), Some(b'`' | b'\\' | b'$')) => {
                    code.extend(self.peek_at(1).map(char::from));
                    self.pos += 2;
                }
                Some(c) => {
                    code.push(c);
                    self.pos += c.len_utf8();
                }
            }
        }
        self.pos += 1;
        let command = self.deeper(|parser| {
            let mut inner = Parser::new(&code);
            (inner.depth, inner.steps) = (parser.depth, parser.steps);
            parser.steps /= 2;
            let command = inner.list()?;
            if inner.pos < inner.end { inner.fail("unexpected text") } else { Ok(command) }
        })?;
        let span = Span::new(start, self.pos);
        Ok(Part::Substitution(Rc::new(Code { command, same_text: false, span })))
    }

    /// The inside of `((…))` behind its opening; nothing when it does not close with `))`.
    pub(super) fn arith_body(&mut self) -> Parse<Option<Vec<Part>>> {
        let mut parts = Vec::new();
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => open += 1,
                b')' if open == 0 => {
                    if self.peek_at(1) != Some(b')') {
                        return Ok(None);
                    }
                    self.pos += 2;
                    return Ok(Some(parts));
                }
                b')' => open -= 1,
                b'$' => {
                    if let Some(part) = self.deeper(|parser| parser.dollar(true))? {
                        parts.push(part);
                    }
                    continue;
                }
                b'`' => {
                    parts.push(self.backquoted()?);
                    continue;
                }
                b'\\' | b'"' => {}
                b'\n' if open == 0 && parts.is_empty() => {}
                _ => {
                    let start = self.pos;
                    while self.peek().is_some_and(|b| !b"()$`\\\"".contains(&b)) {
                        self.pos += 1;
                    }
                    parts.push(Part::Lit(self.text(start, self.pos).to_owned()));
                    continue;
                }
            }
            self.pos += 1;
        }
        Ok(None)
    }

    /// Parts up to (not including) one of the bytes in `stops`, as inside `${…}`.
    pub(super) fn operand(&mut self, stops: &[u8], in_double: bool) -> Parse<Vec<Part>> {
        self.deeper(|parser| {
            let mut raws: Vec<Raw> = Vec::new();
            loop {
                match parser.peek() {
                    None => return parser.fail("an expansion is not closed"),
                    Some(byte) if stops.contains(&byte) => break,
                    Some(b'\'') if in_double => {
                        parser.pos += 1;
                        Raw::lit(&mut raws, "'");
                    }
                    Some(b'~') if raws.is_empty() && !in_double => {
                        raws.push(Raw::Part(parser.tilde()));
                    }
                    Some(_) => parser.unquoted(&mut raws)?,
                }
            }
            brace::resolve(raws).map_or_else(|| parser.fail("nested too deeply"), Ok)
        })
    }
}

fn plain_param(name: String, span: Span) -> Part {
    Part::Param(Box::new(Param {
        name,
        index: None,
        indirect: false,
        length: false,
        op: ParamOp::None,
        span,
    }))
}
