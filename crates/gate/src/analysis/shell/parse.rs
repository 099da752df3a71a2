//! Bash's grammar down to simple commands: lists, pipelines, compound commands, redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use super::ast::{Command, Connector, ListItem, Part};

mod compound;
mod simple;

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

/// Parses a text up to where it stops being shell, and says why it stops there.
#[must_use]
pub fn parse_as_far_as_it_goes(text: &str) -> (Command, Option<Refusal>) {
    let mut parser = Parser::new(text);
    let mut items = Vec::new();
    let mut refusal = parser.list_into(&mut items).err();
    if refusal.is_none() && parser.pos < parser.end {
        refusal = Some(Refusal { what: "unexpected text".to_owned(), at: parser.pos });
    }
    parser.finish_heredocs();
    (Command::List(items), refusal)
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
    /// What may still be read: going back and reading again is paid for too.
    pub(super) steps: usize,
    pub(super) in_substitution: usize,
    pending: Vec<Pending>,
}

const CLOSERS: [&str; 9] = ["then", "elif", "else", "fi", "do", "done", "esac", "}", "in"];

impl<'s> Parser<'s> {
    pub(super) fn new(src: &'s str) -> Self {
        Self {
            src,
            pos: 0,
            end: src.len(),
            depth: 0,
            steps: 4 * src.len() + 4_096,
            in_substitution: 0,
            pending: Vec::new(),
        }
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
        if self.steps == 0 {
            return self.fail("too tangled to be read");
        }
        self.steps -= 1;
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
                (inner.depth, inner.steps) = (self.depth, self.steps);
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
        let mut items = Vec::new();
        self.list_into(&mut items)?;
        Ok(Command::List(items))
    }

    /// The same; what was read stays read when it fails.
    fn list_into(&mut self, items: &mut Vec<ListItem>) -> Parse<()> {
        self.deeper(|parser| {
            let mut after = Connector::Always;
            loop {
                parser.blanks_and_newlines()?;
                if parser.at_closer() {
                    return Ok(());
                }
                let command = parser.pipeline()?;
                parser.blanks();
                let mut background = false;
                let mut next = Connector::Always;
                match (parser.peek(), parser.peek_at(1)) {
                    (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => {
                        next = if parser.peek() == Some(b'&') {
                            Connector::And
                        } else {
                            Connector::Or
                        };
                        parser.pos += 2;
                        parser.blanks_and_newlines()?;
                        if parser.at_closer() {
                            items.push(ListItem { command, background, after });
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
                    _ => {
                        items.push(ListItem { command, background, after });
                        return parser.fail("unexpected text");
                    }
                }
                items.push(ListItem { command, background, after });
                after = next;
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
}
