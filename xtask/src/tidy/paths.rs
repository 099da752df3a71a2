//! The paths that Rust code names, with imports taken apart: `use std::{fs, io::Read}` names both.

use super::rust::is_word;

/// One path that code names.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// The line, from one, of its last part.
    pub line: usize,
    /// Its parts: `std`, `fs`, `read`; a macro's last part ends with `!`.
    pub parts: Vec<String>,
    /// Whether an import gives it another name.
    pub renamed: bool,
    /// Whether it is a method that is called: `.exists()`.
    pub method: bool,
}

impl Named {
    /// Whether the path starts with these parts.
    pub fn starts_with(&self, parts: &[&str]) -> bool {
        let same = |(part, own): (&&str, &String)| part == own;
        parts.len() <= self.parts.len() && parts.iter().zip(&self.parts).all(same)
    }

    /// Whether the path ends with these parts.
    pub fn ends_with(&self, parts: &[&str]) -> bool {
        let same = |(part, own): (&&str, &String)| part == own;
        parts.len() <= self.parts.len() && parts.iter().rev().zip(self.parts.iter().rev()).all(same)
    }

    /// As it would be written on one line.
    pub fn text(&self) -> String {
        self.parts.join("::")
    }
}

/// Every path in code whose comments and literals are blanked out.
pub fn named(code: &str) -> Vec<Named> {
    let tokens = tokens(code);
    let mut reader = Reader { tokens: &tokens, at: 0, found: Vec::new() };
    reader.all();
    reader.found
}

#[derive(Clone, Copy)]
struct Token<'c> {
    text: &'c str,
    line: usize,
}

/// Words, `::`, and every other character by itself.
fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (index, text) in code.lines().enumerate() {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = if is_word(first) {
                rest.find(|char| !is_word(char)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (text, after) = rest.split_at(length);
            if !first.is_whitespace() {
                tokens.push(Token { text, line: index + 1 });
            }
            rest = after;
        }
    }
    tokens
}

struct Reader<'t, 'c> {
    tokens: &'t [Token<'c>],
    at: usize,
    found: Vec<Named>,
}

impl<'c> Reader<'_, 'c> {
    fn peek(&self) -> Option<Token<'c>> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self, text: &str) -> bool {
        let is = self.peek().is_some_and(|token| token.text == text);
        self.at += usize::from(is);
        is
    }

    fn word(&mut self) -> Option<Token<'c>> {
        let token = self.peek().filter(|token| token.text.starts_with(is_word))?;
        self.at += 1;
        Some(token)
    }

    fn all(&mut self) {
        let mut dotted = false;
        while let Some(token) = self.peek() {
            match token.text {
                "use" => {
                    self.at += 1;
                    self.take("::");
                    self.tree(&[]);
                }
                // `extern crate std as x;` names a crate as an import does.
                "crate" if self.follows("extern") => {
                    self.at += 1;
                    self.tree(&[]);
                }
                text if text.starts_with(is_word) => self.path(dotted),
                _ => self.at += 1,
            }
            dotted = token.text == ".";
        }
    }

    fn follows(&self, text: &str) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| token.text == text)
    }

    /// A path outside imports.
    fn path(&mut self, dotted: bool) {
        let mut parts = Vec::new();
        let mut line = 1;
        while let Some(token) = self.word() {
            parts.push(token.text.to_owned());
            line = token.line;
            if !self.take("::") {
                break;
            }
        }
        if self.peek().is_some_and(|token| token.text == "!")
            && let Some(last) = parts.last_mut()
        {
            last.push('!');
        }
        let method = dotted && self.peek().is_some_and(|token| token.text == "(");
        self.found.push(Named { line, parts, renamed: false, method });
    }

    /// A tree of imports below what was already read.
    fn tree(&mut self, above: &[String]) {
        let mut parts = above.to_vec();
        let mut line = self.peek().map_or(1, |token| token.line);
        loop {
            if self.take("{") {
                while self.peek().is_some_and(|token| token.text != "}" && token.text != ";") {
                    let before = self.at;
                    self.tree(&parts);
                    self.take(",");
                    // Whatever is no import is passed over, or reading would never end.
                    self.at += usize::from(self.at == before);
                }
                self.take("}");
                return;
            }
            if self.take("*") {
                parts.push("*".to_owned());
            } else if let Some(token) = self.word() {
                line = token.line;
                let itself = token.text == "self" && !parts.is_empty();
                if !itself {
                    parts.push(token.text.to_owned());
                }
            }
            if !self.take("::") {
                break;
            }
        }
        let renamed = self.take("as");
        if renamed {
            self.word();
        }
        if !parts.is_empty() {
            self.found.push(Named { line, parts, renamed, method: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_taken_apart_and_calls_are_seen() {
        let check = |code: &str, expected: &[(usize, &str)]| {
            let found = named(code);
            let mut said: Vec<_> = found
                .iter()
                .map(|one| {
                    let text = one.text();
                    let text = if one.method { format!(".{text}") } else { text };
                    (one.line, if one.renamed { format!("{text} as") } else { text })
                })
                .collect();
            said.retain(|(_, text)| text.contains(':') || text.contains([' ', '.', '!']));
            let said: Vec<_> = said.iter().map(|(line, text)| (*line, text.as_str())).collect();
            assert_eq!(said, expected, "{code}");
        };
        check("use std::fs;", &[(1, "std::fs")]);
        check("use ::std::fs;", &[(1, "std::fs")]);
        check("use std::{\n    cmp,\n    fs,\n};", &[(2, "std::cmp"), (3, "std::fs")]);
        check("pub use a::{b::{c, d as e}, self};", &[(1, "a::b::c"), (1, "a::b::d as")]);
        check("use std as x;", &[(1, "std as")]);
        check("use std::{self as x};", &[(1, "std as")]);
        check("extern crate std as x;", &[(1, "std as")]);
        check("use super::*;\nuse a::b;", &[(1, "super::*"), (2, "a::b")]);
        check("let x = std\n    ::fs::read(y)", &[(2, "std::fs::read")]);
        check("if path.exists() { println!(z) }", &[(1, ".exists"), (1, "println!")]);
        check("path.exists", &[]);
        check("use {a::b, };", &[(1, "a::b")]);
        check("use a::{ ? };", &[]);
    }
}
