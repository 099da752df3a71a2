//! Bash's grammar down to simple commands: lists, pipelines, compound commands, redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use aurora_model::Span;

use super::ast::{
    Assign, AssignValue, Command, ListItem, Part, Redirect, RedirectKind, Simple, Word,
};

/// How deep anything may nest; bash scripts of people stay far below.
pub const MAX_DEPTH: usize = 64;

/// Why a text could not be read as shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was wrong.
    pub what: String,
    /// At which byte.
    pub at: usize,
}

pub(super) type Parse<T> = Result<T, Refusal>;

/// Parses a whole text.
///
/// # Errors
/// When the text is not shell, or nests deeper than anybody writes.
pub fn parse(text: &str) -> Parse<Command> {
    let mut parser = Parser::new(text);
    let command = parser.list()?;
    parser.blanks_and_newlines()?;
    if parser.pos < parser.end {
        return parser.fail("unexpected text");
    }
    parser.finish_heredocs();
    Ok(command)
}

/// A here-document whose body has not been reached yet.
#[derive(Debug)]
pub(super) struct Pending {
    delimiter: String,
    strip_tabs: bool,
    quoted: bool,
    body: Rc<OnceCell<Vec<Part>>>,
}

/// Reads shell text by recursive descent with a bounded depth.
#[derive(Debug)]
pub(super) struct Parser<'s> {
    pub(super) src: &'s str,
    pub(super) pos: usize,
    pub(super) end: usize,
    pub(super) depth: usize,
    pub(super) in_substitution: usize,
    pending: Vec<Pending>,
}

const CLOSERS: [&str; 9] = ["then", "elif", "else", "fi", "do", "done", "esac", "}", "in"];
const DECLARERS: [&str; 6] = ["declare", "typeset", "local", "export", "readonly", "alias"];

impl<'s> Parser<'s> {
    pub(super) fn new(src: &'s str) -> Self {
        Self { src, pos: 0, end: src.len(), depth: 0, in_substitution: 0, pending: Vec::new() }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let at = self.pos + ahead;
        if at < self.end { self.src.as_bytes().get(at).copied() } else { None }
    }

    pub(super) fn rest(&self) -> &'s str {
        self.src.get(self.pos..self.end).unwrap_or("")
    }

    pub(super) fn starts(&self, text: &str) -> bool {
        self.rest().as_bytes().starts_with(text.as_bytes())
    }

    pub(super) fn text(&self, from: usize, to: usize) -> &'s str {
        self.src.get(from..to).unwrap_or("")
    }

    pub(super) fn fail<T>(&self, what: &str) -> Parse<T> {
        Err(Refusal { what: what.to_owned(), at: self.pos })
    }

    /// Runs `inside` one level deeper, or refuses.
    pub(super) fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks, line continuations and comments, but no newline.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.pos += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.pos += 2,
                Some(b'#') => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.pos += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Takes a newline, and with it the bodies of here-documents that this line opened.
    fn newline(&mut self) -> Parse<()> {
        self.pos += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.heredoc_body(pending)?;
        }
        Ok(())
    }

    fn blanks_and_newlines(&mut self) -> Parse<()> {
        loop {
            self.blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn heredoc_body(&mut self, pending: Pending) -> Parse<()> {
        let start = self.pos;
        let mut body_end = self.end;
        let mut next = self.end;
        let mut line_start = start;
        while line_start < self.end {
            let line_end = self
                .text(line_start, self.end)
                .find('\n')
                .map_or(self.end, |offset| line_start + offset);
            let mut line = self.text(line_start, line_end);
            let mut indent = 0;
            if pending.strip_tabs {
                indent = line.len() - line.trim_start_matches('\t').len();
                line = line.trim_start_matches('\t');
            }
            if line == pending.delimiter || line.strip_suffix('\r') == Some(&pending.delimiter) {
                body_end = line_start;
                next = (line_end + 1).min(self.end);
                break;
            }
            // Inside a command substitution bash also takes `EOF)` as the end.
            let closes = line.strip_prefix(pending.delimiter.as_str());
            if self.in_substitution > 0 && closes.is_some_and(|rest| rest.starts_with(')')) {
                body_end = line_start;
                next = line_start + indent + pending.delimiter.len();
                break;
            }
            line_start = line_end + 1;
        }
        let raw = self.text(start, body_end);
        let parts = if pending.strip_tabs {
            let stripped: String =
                raw.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect();
            if pending.quoted {
                vec![Part::Quoted(stripped, None)]
            } else {
                let mut inner = Parser::new(&stripped);
                inner.depth = self.depth;
                inner.heredoc_parts()?
            }
        } else if pending.quoted {
            vec![Part::Quoted(raw.to_owned(), Some(start))]
        } else {
            let whole = std::mem::replace(&mut self.end, body_end);
            let parts = self.heredoc_parts();
            self.end = whole;
            parts?
        };
        self.pos = next;
        // A cell is filled once: each pending here-document has its own.
        let _ = pending.body.set(parts);
        Ok(())
    }

    fn finish_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let _ = pending.body.set(Vec::new());
        }
    }

    /// The run of plain characters at this place, for keywords.
    fn raw_word(&self) -> &'s str {
        let rest = self.rest();
        let len = rest
            .bytes()
            .position(|byte| {
                matches!(
                    byte,
                    b' ' | b'\t'
                        | b'\n'
                        | b'\r'
                        | b';'
                        | b'&'
                        | b'|'
                        | b'<'
                        | b'>'
                        | b'('
                        | b')'
                        | b'"'
                        | b'\''
                        | b'\\'
                        | b'$'
                        | b'`'
                )
            })
            .unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or("");
        // `do"x"` is a word of its own, not a keyword.
        match rest.as_bytes().get(len) {
            Some(b'"' | b'\'' | b'\\' | b'$' | b'`') => "",
            _ => word,
        }
    }

    fn at_closer(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            _ => {
                let word = self.raw_word();
                word != "in" && CLOSERS.contains(&word)
            }
        }
    }

    fn keyword(&mut self, word: &str) -> Parse<()> {
        self.blanks_and_newlines()?;
        if self.raw_word() != word {
            return self.fail(&format!("expected `{word}`"));
        }
        self.pos += word.len();
        Ok(())
    }

    /// Commands up to something that closes the surrounding construct.
    pub(super) fn list(&mut self) -> Parse<Command> {
        self.deeper(|parser| {
            let mut items = Vec::new();
            loop {
                parser.blanks_and_newlines()?;
                if parser.at_closer() {
                    return Ok(Command::List(items));
                }
                let command = parser.pipeline()?;
                parser.blanks();
                let mut background = false;
                match (parser.peek(), parser.peek_at(1)) {
                    (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => {
                        parser.pos += 2;
                        parser.blanks_and_newlines()?;
                        if parser.at_closer() {
                            return parser.fail("a command is missing after `&&` or `||`");
                        }
                    }
                    (Some(b'&'), _) => {
                        parser.pos += 1;
                        background = true;
                    }
                    (Some(b';'), Some(b';' | b'&')) => {}
                    (Some(b';'), _) => parser.pos += 1,
                    (Some(b'\n' | b')') | None, _) => {}
                    _ if parser.at_closer() => {}
                    _ => return parser.fail("unexpected text"),
                }
                items.push(ListItem { command, background });
            }
        })
    }

    fn pipeline(&mut self) -> Parse<Command> {
        loop {
            self.blanks();
            match self.raw_word() {
                "!" => self.pos += 1,
                "time" => {
                    self.pos += 4;
                    self.blanks();
                    if self.raw_word() == "-p" {
                        self.pos += 2;
                    }
                }
                _ => break,
            }
        }
        if matches!(self.peek(), None | Some(b'\n' | b';' | b')')) {
            return Ok(Command::List(Vec::new()));
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                break;
            }
            self.pos += if self.peek_at(1) == Some(b'&') { 2 } else { 1 };
            self.blanks_and_newlines()?;
            commands.push(self.command()?);
        }
        if commands.len() == 1
            && let Some(only) = commands.pop()
        {
            return Ok(only);
        }
        Ok(Command::Pipeline(commands))
    }

    fn command(&mut self) -> Parse<Command> {
        self.deeper(|parser| {
            parser.blanks();
            let compound = match parser.raw_word() {
                "{" => Some(parser.group()?),
                "if" => Some(parser.if_command()?),
                "while" | "until" => Some(parser.while_command()?),
                "for" | "select" => Some(parser.for_command()?),
                "case" => Some(parser.case_command()?),
                "[[" => Some(parser.test_command()?),
                "function" => return parser.function_keyword(),
                "coproc" => return parser.coproc(),
                _ if parser.starts("((") => Some(parser.arith_command()?),
                _ if parser.peek() == Some(b'(') => Some(parser.subshell()?),
                _ => None,
            };
            let Some(compound) = compound else { return parser.simple() };
            parser.redirected(compound)
        })
    }

    fn redirected(&mut self, command: Command) -> Parse<Command> {
        let mut redirects = Vec::new();
        self.blanks();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
            self.blanks();
        }
        if redirects.is_empty() {
            return Ok(command);
        }
        Ok(Command::Redirected(Box::new(command), redirects))
    }

    fn group(&mut self) -> Parse<Command> {
        self.pos += 1;
        let body = self.list()?;
        self.keyword("}")?;
        Ok(Command::Group(Box::new(body)))
    }

    fn subshell(&mut self) -> Parse<Command> {
        self.pos += 1;
        let body = self.list()?;
        self.blanks_and_newlines()?;
        if self.peek() != Some(b')') {
            return self.fail("expected `)`");
        }
        self.pos += 1;
        Ok(Command::Subshell(Box::new(body)))
    }

    fn if_command(&mut self) -> Parse<Command> {
        self.keyword("if")?;
        let mut parts = vec![self.list()?];
        loop {
            self.keyword("then")?;
            parts.push(self.list()?);
            match self.raw_word() {
                "elif" => {
                    self.pos += 4;
                    parts.push(self.list()?);
                }
                "else" => {
                    self.pos += 4;
                    parts.push(self.list()?);
                    break;
                }
                _ => break,
            }
        }
        self.keyword("fi")?;
        Ok(Command::If(parts))
    }

    fn while_command(&mut self) -> Parse<Command> {
        self.pos += 5;
        let condition = self.list()?;
        let body = self.do_group()?;
        Ok(Command::While(Box::new(condition), Box::new(body)))
    }

    fn do_group(&mut self) -> Parse<Command> {
        self.blanks_and_newlines()?;
        if self.raw_word() == "{" {
            return self.group();
        }
        self.keyword("do")?;
        let body = self.list()?;
        self.keyword("done")?;
        Ok(body)
    }

    fn for_command(&mut self) -> Parse<Command> {
        self.pos += self.raw_word().len();
        self.blanks();
        if self.starts("((") {
            let Command::Arith(header) = self.arith_command()? else {
                return self.fail("expected `((`");
            };
            self.blanks_and_newlines()?;
            if self.peek() == Some(b';') {
                self.pos += 1;
            }
            let body = self.do_group()?;
            return Ok(Command::ForArith(header, Box::new(body)));
        }
        let name = self.raw_word().to_owned();
        if name.is_empty() {
            return self.fail("expected a variable after `for`");
        }
        self.pos += name.len();
        self.blanks_and_newlines()?;
        let mut words = None;
        if self.raw_word() == "in" {
            self.pos += 2;
            let mut list = Vec::new();
            loop {
                self.blanks();
                match self.peek() {
                    None | Some(b';' | b'\n') => break,
                    _ => list.push(self.word()?),
                }
            }
            words = Some(list);
        }
        self.blanks();
        if self.peek() == Some(b';') {
            self.pos += 1;
        }
        let body = self.do_group()?;
        Ok(Command::For(name, words, Box::new(body)))
    }

    fn case_command(&mut self) -> Parse<Command> {
        self.keyword("case")?;
        self.blanks();
        let subject = self.word()?;
        self.keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.blanks_and_newlines()?;
            if self.raw_word() == "esac" {
                self.pos += 4;
                return Ok(Command::Case(subject, arms));
            }
            if self.peek() == Some(b'(') {
                self.pos += 1;
            }
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                patterns.push(self.word()?);
                self.blanks();
                match self.peek() {
                    Some(b'|') => self.pos += 1,
                    Some(b')') => break,
                    _ => return self.fail("expected `)` after a case pattern"),
                }
            }
            self.pos += 1;
            let body = self.list()?;
            arms.push((patterns, body));
            for ending in [";;&", ";;", ";&"] {
                if self.starts(ending) {
                    self.pos += ending.len();
                    break;
                }
            }
        }
    }

    fn test_command(&mut self) -> Parse<Command> {
        self.pos += 2;
        let mut words = Vec::new();
        loop {
            self.blanks_and_newlines()?;
            if self.raw_word() == "]]" {
                self.pos += 2;
                return Ok(Command::Test(words));
            }
            match self.peek() {
                None => return self.fail("expected `]]`"),
                Some(b'(' | b')' | b'<' | b'>' | b'&' | b'|' | b';') => self.pos += 1,
                _ => words.push(self.test_word()?),
            }
        }
    }

    fn arith_command(&mut self) -> Parse<Command> {
        let start = self.pos;
        self.pos += 2;
        if let Some(parts) = self.arith_body()? {
            return Ok(Command::Arith(Word { parts, span: Span::new(start, self.pos) }));
        }
        // `((a); b)` is a subshell in a subshell after all.
        self.pos = start;
        self.subshell()
    }

    fn function_keyword(&mut self) -> Parse<Command> {
        self.pos += 8;
        self.blanks();
        let name = self.raw_word().to_owned();
        self.pos += name.len();
        self.blanks();
        if self.peek() == Some(b'(') {
            self.pos += 1;
            self.blanks();
            if self.peek() != Some(b')') {
                return self.fail("expected `()`");
            }
            self.pos += 1;
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Parse<Command> {
        self.blanks_and_newlines()?;
        let body = self.command()?;
        Ok(Command::Function(name, Rc::new(body)))
    }

    fn coproc(&mut self) -> Parse<Command> {
        self.pos += 6;
        self.blanks();
        let start = self.pos;
        let name = self.raw_word();
        // `coproc NAME { … }` names it; anything else is the command itself.
        if !name.is_empty() {
            self.pos += name.len();
            self.blanks();
            if !matches!(self.raw_word(), "{" | "while" | "until" | "for" | "if" | "case")
                && self.peek() != Some(b'(')
            {
                self.pos = start;
            }
        }
        self.command()
    }

    fn simple(&mut self) -> Parse<Command> {
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
        let mut indexed = false;
        if self.peek() == Some(b'[') {
            self.pos += 1;
            if self.operand(b"]", false).is_err() || self.peek() != Some(b']') {
                self.pos = start;
                return Ok(None);
            }
            self.pos += 1;
            indexed = true;
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
        Ok(Some(Assign { name, indexed, append, value }))
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

    fn redirect(&mut self) -> Parse<Option<Redirect>> {
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
        Ok(Some(Redirect { fd, kind, target, span: Span::new(start, self.pos) }))
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
