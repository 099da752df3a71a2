//! Compound commands: groups, conditionals, loops, cases, tests and functions.

use std::rc::Rc;

use aurora_model::Span;

use super::super::ast::{Command, Part, Simple, Word};
use super::{Parse, Parser};

impl Parser<'_> {
    pub(super) fn group(&mut self) -> Parse<Command> {
        self.pos += 1;
        let body = self.list()?;
        self.keyword("}")?;
        Ok(Command::Group(Box::new(body)))
    }

    pub(super) fn subshell(&mut self) -> Parse<Command> {
        self.pos += 1;
        let body = self.list()?;
        self.blanks_and_newlines()?;
        if self.peek() != Some(b')') {
            return self.fail("expected `)`");
        }
        self.pos += 1;
        Ok(Command::Subshell(Box::new(body)))
    }

    pub(super) fn if_command(&mut self) -> Parse<Command> {
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

    pub(super) fn while_command(&mut self) -> Parse<Command> {
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

    pub(super) fn for_command(&mut self) -> Parse<Command> {
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

    pub(super) fn case_command(&mut self) -> Parse<Command> {
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

    pub(super) fn test_command(&mut self) -> Parse<Command> {
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

    pub(super) fn arith_command(&mut self) -> Parse<Command> {
        let start = self.pos;
        self.pos += 2;
        if let Some(parts) = self.arith_body()? {
            return Ok(Command::Arith(Word { parts, span: Span::new(start, self.pos) }));
        }
        // `((a); b)` is a subshell in a subshell after all.
        self.pos = start;
        self.subshell()
    }

    pub(super) fn function_keyword(&mut self) -> Parse<Command> {
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

    pub(super) fn function_body(&mut self, name: String) -> Parse<Command> {
        self.blanks_and_newlines()?;
        let body = self.command()?;
        Ok(Command::Function(name, Rc::new(body)))
    }

    pub(super) fn coproc(&mut self) -> Parse<Command> {
        let span = Span::new(self.pos, self.pos + 6);
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
        // What it reads comes from elsewhere in the script, through a descriptor.
        let writer = Simple {
            assigns: Vec::new(),
            words: vec![Word { parts: vec![Part::Lit("coproc".to_owned())], span }],
            redirects: Vec::new(),
            span,
        };
        Ok(Command::Pipeline(vec![Command::Simple(writer), self.command()?]))
    }
}
