//! The lexer's reading of literals: quotes of every kind, here-documents, regular expressions.

use aurora_model::Span;

use super::super::shell::machine::ScriptLang;
use super::lexer::{Kind, Lexer, Part};
use super::quote::{Escape, Interpolate, closing};

impl Lexer<'_> {
    /// Reads a literal if one starts here.
    pub(super) fn literal(&mut self) -> bool {
        match self.lang {
            ScriptLang::Python => self.python(),
            ScriptLang::JavaScript => self.javascript(),
            ScriptLang::Perl => self.perl(),
            ScriptLang::Ruby => self.ruby(),
            ScriptLang::Php => self.php(),
            ScriptLang::Lua => self.lua_long(false) || self.plain_quotes(Interpolate::No),
            ScriptLang::Awk => match self.byte(0) {
                b'"' => self.plain_quotes(Interpolate::No),
                b'/' => self.slash_regex(),
                _ => false,
            },
            ScriptLang::PowerShell => false,
        }
    }

    fn plain_quotes(&mut self, interpolate: Interpolate) -> bool {
        let start = self.at;
        let quote = self.byte(0);
        if quote != b'"' && quote != b'\'' {
            return false;
        }
        self.at += 1;
        let parts = match (quote, self.lang) {
            (b'\'', ScriptLang::Perl | ScriptLang::Ruby | ScriptLang::Php) => {
                self.quoted(quote, Escape::Quote, Interpolate::No)
            }
            _ => self.quoted(quote, Escape::Full, interpolate),
        };
        self.push(Kind::Str(parts), start);
        true
    }

    fn python(&mut self) -> bool {
        let mut at = 0;
        while at < 3 && b"rRbBuUfFtT".contains(&self.byte(at)) {
            at += 1;
        }
        let quote = self.byte(at);
        if quote != b'"' && quote != b'\'' {
            return false;
        }
        let start = self.at;
        let prefix = self.rest().get(..at).unwrap_or("").to_ascii_lowercase();
        let escape = if prefix.contains('r') { Escape::Raw } else { Escape::Full };
        let interpolate =
            if prefix.contains(['f', 't']) { Interpolate::Braces } else { Interpolate::No };
        self.at += at;
        let parts = if self.byte(1) == quote && self.byte(2) == quote {
            self.at += 3;
            self.delimited(&[quote; 3], 0, escape, interpolate)
        } else {
            self.at += 1;
            self.quoted(quote, escape, interpolate)
        };
        self.push(Kind::Str(parts), start);
        true
    }

    fn javascript(&mut self) -> bool {
        let start = self.at;
        match self.byte(0) {
            b'`' => {
                self.at += 1;
                let parts = self.quoted(b'`', Escape::Full, Interpolate::DollarBraces);
                self.push(Kind::Template(parts), start);
                true
            }
            b'/' => self.slash_regex(),
            _ => self.plain_quotes(Interpolate::No),
        }
    }

    fn php(&mut self) -> bool {
        let start = self.at;
        match self.byte(0) {
            b'`' => {
                self.at += 1;
                let parts = self.quoted(b'`', Escape::Full, Interpolate::Variables);
                self.push(Kind::Shell(parts), start);
                true
            }
            b'<' if self.rest().starts_with("<<<") => self.heredoc(3, Interpolate::Variables),
            _ => self.plain_quotes(Interpolate::Variables),
        }
    }

    fn perl(&mut self) -> bool {
        let start = self.at;
        match self.byte(0) {
            b'`' => {
                self.at += 1;
                let parts = self.quoted(b'`', Escape::Full, Interpolate::Variables);
                self.push(Kind::Shell(parts), start);
                true
            }
            b'/' => self.slash_regex(),
            b'<' if self.after_operand() && !self.after_bare_word() => false,
            b'<' if self.byte(1) == b'<' => self.heredoc(2, Interpolate::Variables),
            b'<' => self.perl_angle(),
            b'q' | b'm' | b's' | b't' | b'y' => self.perl_quote_like(),
            _ => self.plain_quotes(Interpolate::Variables),
        }
    }

    /// Whether the token before is a name without sigil: in Perl and Ruby an operand may follow.
    fn after_bare_word(&self) -> bool {
        self.tokens.last().is_some_and(|token| {
            token.kind == Kind::Ident
                && self.bytes.get(token.span.start).is_some_and(u8::is_ascii_alphabetic)
        })
    }

    /// `<*.c>` is a pattern, `<STDIN>` and `<$fh>` read a line.
    fn perl_angle(&mut self) -> bool {
        let line = self.rest().split('\n').next().unwrap_or("");
        let Some(close) = line.find('>') else { return false };
        let inner = line.get(1..close).unwrap_or("");
        if inner.is_empty() || inner.contains([';', '=', '(']) {
            return false;
        }
        let start = self.at;
        let handle = inner.trim_start_matches('$').chars().all(|c| c.is_alphanumeric() || c == '_');
        self.at += 1;
        let parts = self.quoted(b'>', Escape::Full, Interpolate::Variables);
        self.push(if handle { Kind::Regex(None) } else { Kind::Glob(parts) }, start);
        true
    }

    fn perl_quote_like(&mut self) -> bool {
        const OPERATORS: [&str; 9] = ["qq", "qw", "qx", "qr", "q", "tr", "m", "s", "y"];
        let Some(name) = OPERATORS.iter().find(|name| self.rest().starts_with(**name)) else {
            return false;
        };
        let mut len = name.len();
        if self
            .tokens
            .last()
            .is_some_and(|token| self.src.get(token.span.start..token.span.end) == Some("->"))
        {
            return false;
        }
        if self.byte(len) == b' ' && matches!(self.byte(len + 1), b'{' | b'(' | b'[' | b'<') {
            len += 1;
        }
        let open = self.byte(len);
        let delimiter = open.is_ascii_punctuation() && !b",;)_".contains(&open);
        let fat_comma = open == b'=' && self.byte(len + 1) == b'>';
        let subscript = open == b'}' || (open == b'=' && self.byte(len + 1) == b'=');
        if !delimiter || fat_comma || subscript {
            return false;
        }
        let start = self.at;
        self.at += len + 1;
        let interpolate = if open == b'\'' { Interpolate::No } else { Interpolate::Variables };
        let close = closing(open);
        let nest = if close == open { 0 } else { open };
        let kind = match *name {
            "q" => Kind::Str(self.delimited(&[close], nest, Escape::Quote, Interpolate::No)),
            "qq" => Kind::Str(self.delimited(&[close], nest, Escape::Full, interpolate)),
            "qx" => Kind::Shell(self.delimited(&[close], nest, Escape::Full, interpolate)),
            "qw" => {
                let parts = self.delimited(&[close], nest, Escape::Quote, Interpolate::No);
                Kind::Words(words(&parts))
            }
            name => self.perl_regex(name, open, close, nest),
        };
        self.push(kind, start);
        true
    }

    fn perl_regex(&mut self, name: &str, open: u8, close: u8, nest: u8) -> Kind {
        self.delimited(&[close], nest, Escape::Raw, Interpolate::No);
        if matches!(name, "m" | "qr") {
            self.flags();
            return Kind::Regex(None);
        }
        let mut close = close;
        let mut nest = nest;
        if open != close {
            while matches!(self.byte(0), b' ' | b'\n' | b'\t') {
                self.at += 1;
            }
            nest = self.byte(0);
            close = closing(nest);
            self.at += 1;
        }
        let start = self.at;
        self.delimited(
            &[close],
            if close == nest { 0 } else { nest },
            Escape::Raw,
            Interpolate::No,
        );
        let end = self.at.saturating_sub(1).max(start);
        let flags = self.flags();
        let code = name == "s" && flags.contains('e');
        Kind::Regex(code.then_some(Span::new(start, end)))
    }

    fn flags(&mut self) -> String {
        let start = self.at;
        while self.byte(0).is_ascii_alphabetic() {
            self.at += 1;
        }
        self.src.get(start..self.at).unwrap_or("").to_owned()
    }

    /// A regular expression between slashes, on one line.
    fn slash_regex(&mut self) -> bool {
        let bare = matches!(self.lang, ScriptLang::Perl | ScriptLang::Ruby)
            && self.after_bare_word()
            && !matches!(self.byte(1), b' ' | b'=');
        if self.after_operand() && !bare {
            return false;
        }
        let mut in_class = false;
        let mut at = 1;
        loop {
            match self.byte(at) {
                0 | b'\n' => return false,
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class || self.lang == ScriptLang::Perl => break,
                _ => {}
            }
            at += 1;
        }
        let start = self.at;
        self.at += at + 1;
        self.flags();
        self.push(Kind::Regex(None), start);
        true
    }

    fn ruby(&mut self) -> bool {
        let start = self.at;
        match self.byte(0) {
            b'`' => {
                self.at += 1;
                let parts = self.quoted(b'`', Escape::Full, Interpolate::HashBraces);
                self.push(Kind::Shell(parts), start);
                true
            }
            b'/' => self.slash_regex(),
            b'<' if self.rest().starts_with("<<")
                && (!self.after_operand() || self.after_bare_word())
                && matches!(self.byte(2), b'~' | b'-' | b'"' | b'\'' | b'A'..=b'Z') =>
            {
                self.heredoc(2, Interpolate::HashBraces)
            }
            b'%' if !self.after_operand() || self.after_bare_word() => self.ruby_percent(),
            b':' if self.byte(1) == b'"' => {
                self.at += 1;
                self.plain_quotes(Interpolate::HashBraces)
            }
            b':' if (self.byte(1).is_ascii_alphabetic() || self.byte(1) == b'_')
                && (!self.after_operand() || self.after_bare_word()) =>
            {
                self.at += 1;
                let from = self.at;
                while self.byte(0).is_ascii_alphanumeric()
                    || matches!(self.byte(0), b'_' | b'!' | b'?')
                {
                    self.at += 1;
                }
                let name = self.src.get(from..self.at).unwrap_or("").to_owned();
                self.push(Kind::Str(vec![Part::Lit(name)]), start);
                true
            }
            _ => self.plain_quotes(Interpolate::HashBraces),
        }
    }

    fn ruby_percent(&mut self) -> bool {
        let letter = self.byte(1);
        let (skip, kind) = if b"qQwWiIxrs".contains(&letter) { (2, letter) } else { (1, b'Q') };
        let open = self.byte(skip);
        let bracket = matches!(open, b'(' | b'[' | b'{' | b'<');
        if !(bracket || (skip == 2 && matches!(open, b'|' | b'!' | b'/' | b'~' | b'-'))) {
            return false;
        }
        let start = self.at;
        self.at += skip + 1;
        let close = closing(open);
        let nest = if close == open { 0 } else { open };
        let escape =
            if matches!(kind, b'q' | b'w' | b'i' | b's') { Escape::Quote } else { Escape::Full };
        let interpolate =
            if escape == Escape::Full { Interpolate::HashBraces } else { Interpolate::No };
        let parts = self.delimited(&[close], nest, escape, interpolate);
        let kind = match kind {
            b'w' | b'W' | b'i' | b'I' => Kind::Words(words(&parts)),
            b'x' => Kind::Shell(parts),
            b'r' => {
                self.flags();
                Kind::Regex(None)
            }
            _ => Kind::Str(parts),
        };
        self.push(kind, start);
        true
    }

    /// Lua's `[[ … ]]` and `[=[ … ]=]`; as a comment nothing is noted.
    pub(super) fn lua_long(&mut self, comment: bool) -> bool {
        if self.byte(0) != b'[' {
            return false;
        }
        let level = self.rest().bytes().skip(1).take_while(|byte| *byte == b'=').count();
        if self.byte(level + 1) != b'[' {
            return false;
        }
        let start = self.at;
        self.at += level + 2;
        let close = format!("]{}]", "=".repeat(level));
        let body = self.rest().split(&close).next().unwrap_or("").to_owned();
        self.at = (self.at + body.len() + close.len()).min(self.end);
        if !comment {
            self.push(Kind::Str(vec![Part::Lit(body)]), start);
        }
        true
    }

    /// A here-document whose marker stands after `skip` bytes; its body starts on the next line.
    fn heredoc(&mut self, skip: usize, interpolate: Interpolate) -> bool {
        let start = self.at;
        let mut at = skip;
        let indented = matches!(self.byte(at), b'~' | b'-') || self.lang == ScriptLang::Php;
        if matches!(self.byte(at), b'~' | b'-') {
            at += 1;
        }
        let quote = self.byte(at);
        let quoted = matches!(quote, b'"' | b'\'');
        at += usize::from(quoted);
        let marker: String = self
            .rest()
            .get(at..)
            .unwrap_or("")
            .chars()
            .take_while(|c| {
                if quoted { *c != char::from(quote) } else { c.is_alphanumeric() || *c == '_' }
            })
            .collect();
        if marker.is_empty() || marker.contains('\n') {
            return false;
        }
        let marker_end = self.at + at + marker.len() + usize::from(quoted);
        let body_start = self.heredoc_end.or_else(|| {
            self.src.get(marker_end..self.end)?.find('\n').map(|offset| marker_end + offset + 1)
        });
        let Some(body_start) = body_start else { return false };
        let mut body_end = self.end;
        let mut next = self.end;
        let mut line_start = body_start;
        for line in self.src.get(body_start..self.end).unwrap_or("").split_inclusive('\n') {
            let shown = if indented { line.trim_start() } else { line };
            let shown = shown.trim_end();
            let ends = shown == marker
                || (self.lang == ScriptLang::Php
                    && shown
                        .strip_prefix(marker.as_str())
                        .is_some_and(|rest| rest.starts_with([';', ')', ','])));
            if ends {
                body_end = line_start;
                next = line_start + (line.len() - line.trim_start().len()) + marker.len();
                break;
            }
            line_start += line.len();
        }
        let (escape, interpolate) = if quote == b'\'' {
            (Escape::Raw, Interpolate::No)
        } else {
            (Escape::Full, interpolate)
        };
        let (at_before, end_before) = (self.at, self.end);
        self.at = body_start;
        self.end = body_end;
        let parts = self.delimited(&[], 0, escape, interpolate);
        (self.at, self.end) = (at_before, end_before);
        self.heredoc_end = Some(next);
        self.at = marker_end;
        self.push(Kind::Str(parts), start);
        true
    }
}

fn words(parts: &[Part]) -> Vec<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Lit(lit) => text.push_str(lit),
            Part::Var(_) | Part::Code(_) => text.push(super::UNKNOWN),
        }
    }
    text.split_whitespace().map(str::to_owned).collect()
}
