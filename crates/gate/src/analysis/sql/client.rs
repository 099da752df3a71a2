//! Finding the commands that a client keeps to itself: psql, mysql, sqlite3, sqlcmd, sqlplus.

use std::borrow::Cow;

use super::lex::Lexer;
use super::token::{Client, Kind};

/// The psql commands that send the statement so far.
const SENDING: [&str; 9] =
    ["g", "gx", "gset", "gexec", "gdesc", "crosstabview", "watch", "r", "reset"];

/// The psql commands whose `|cmd` argument reaches to the end of the line.
const PIPING: [&str; 8] = ["g", "gx", "o", "out", "w", "write", "gset", "watch"];

/// How many client commands are followed by a second look at the rest of their line.
const MANY: usize = 32;

impl<'a> Lexer<'a> {
    /// Reads a command to the client, if one stands here.
    pub(super) fn client_command(&mut self) -> bool {
        let c = self.peek(0);
        if c == b'\\' {
            return if self.flavour.psql {
                self.psql_command()
            } else {
                self.flavour.mysql && self.mysql_escape()
            };
        }
        if !self.between_statements() {
            return self.fresh_line && self.flavour.sqlcmd && self.batch_end();
        }
        match c {
            b'.' => self.flavour.dots && self.fresh_line && self.line_command(Client::Dot),
            b':' => {
                let name = self.peek(1);
                self.flavour.sqlcmd
                    && self.fresh_line
                    && (matches!(name, b'r' | b'R') && self.peek(2) <= b' ' || name == b'!')
                    && self.line_command(Client::Sqlcmd)
            }
            b'!' if self.flavour.sqlcmd && self.peek(1) == b'!' => {
                self.line_command(Client::Sqlcmd)
            }
            b'!' | b'@' => {
                self.flavour.sqlplus && self.fresh_line && self.line_command(Client::Sqlplus)
            }
            b'/' => self.flavour.sqlplus && self.fresh_line && self.slash_line(),
            b'g' | b'G' if self.fresh_line && self.flavour.sqlcmd => self.batch_end(),
            _ if c.is_ascii_alphabetic() => self.named_command(),
            _ => false,
        }
    }

    /// The rest of the line belongs to the client.
    fn line_command(&mut self, client: Client) -> bool {
        let start = self.pos;
        self.take_line();
        self.meta(client, start);
        true
    }

    /// The rest of the line if it is short: a long one is never looked through just in case.
    fn short_line(&self) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.bytes().take(64).position(|byte| byte == b'\n');
        match length {
            Some(length) => rest.get(..length),
            None => (rest.len() < 64).then_some(rest),
        }
    }

    /// A line with nothing but `GO` and perhaps a number.
    fn batch_end(&mut self) -> bool {
        let Some(line) = self.short_line() else { return false };
        let mut words = line.split_ascii_whitespace();
        let go = words.next().is_some_and(|word| {
            word.eq_ignore_ascii_case("go") || word.eq_ignore_ascii_case("go;")
        });
        let number = words.next().is_none_or(|word| word.bytes().all(|b| b.is_ascii_digit()));
        if !go || !number || words.next().is_some() {
            return false;
        }
        self.end_statement_at_line_end()
    }

    /// sqlplus runs the statement at a line with nothing but `/`.
    fn slash_line(&mut self) -> bool {
        self.short_line().is_some_and(|line| line.trim() == "/") && self.end_statement_at_line_end()
    }

    fn end_statement_at_line_end(&mut self) -> bool {
        let start = self.pos;
        let text = self.take_line();
        self.push(Kind::Break, Cow::Borrowed(text), start, None);
        true
    }

    /// mysql's `source file`, `system cmd`, `delimiter x` and sqlplus's `host cmd`.
    fn named_command(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.bytes().take(12).take_while(u8::is_ascii_alphabetic).count();
        let name = rest.get(..length).unwrap_or("");
        let argument = matches!(self.peek(length), b' ' | b'\t');
        let is = |word: &str| argument && name.eq_ignore_ascii_case(word);
        if self.flavour.mysql && is("delimiter") {
            return self.set_delimiter(name.len());
        }
        if self.flavour.mysql && is("source") {
            return self.line_command(Client::Mysql);
        }
        // ClickHouse has a statement SYSTEM, so the word alone is not enough elsewhere.
        if self.flavour.mysql && !self.flavour.psql && (is("system") || is("pager")) {
            return self.line_command(Client::Mysql);
        }
        if self.flavour.sqlplus && is("host") {
            return self.line_command(Client::Sqlplus);
        }
        false
    }

    /// From here on something else than `;` ends a statement.
    fn set_delimiter(&mut self, skip: usize) -> bool {
        self.pos += skip;
        let line = self.take_line();
        let word = line.split_ascii_whitespace().next();
        self.delimiter = word.filter(|word| *word != ";");
        true
    }

    /// mysql's two-character commands, anywhere outside quotes.
    fn mysql_escape(&mut self) -> bool {
        let start = self.pos;
        match self.peek(1) {
            b'g' | b'G' | b'c' => {
                self.pos += 2;
                self.push(Kind::Break, Cow::Borrowed("\\g"), start, None);
            }
            b'!' | b'.' | b'P' => {
                let line = self.take_line();
                self.meta(Client::Mysql, start);
                // The client goes on with SQL behind the delimiter of the same line.
                if self.out.metas.len() < MANY {
                    let end = line.find(self.delimiter.unwrap_or(";"));
                    self.pos = end.map_or(self.pos, |length| start + length);
                }
            }
            b'd' => {
                self.set_delimiter(2);
            }
            _ => self.pos = (self.pos + 2).min(self.bytes.len()),
        }
        true
    }

    /// psql's commands, anywhere outside quotes.
    fn psql_command(&mut self) -> bool {
        let start = self.pos;
        match self.peek(1) {
            b';' => {
                self.pos += 2;
                self.push(Kind::Semi, Cow::Borrowed(";"), start, None);
                return true;
            }
            b'\\' => {
                self.pos += 2;
                return true;
            }
            b'!' => return self.line_command(Client::Psql),
            b'.' => {
                self.take_line();
                self.meta(Client::Mysql, start);
                return true;
            }
            _ => {}
        }
        let rest = self.rest().get(1..).unwrap_or("");
        let length = rest.bytes().position(|b| b.is_ascii_whitespace() || b == b'\\' || b == b'|');
        let name = rest.get(..length.unwrap_or(rest.len())).unwrap_or("");
        self.pos += 1 + name.len();
        let argument = self.rest().trim_start_matches([' ', '\t']);
        if name == "copy" || (PIPING.contains(&name) && argument.starts_with('|')) {
            let line = self.take_line();
            self.data_follows |= name == "copy" && reads_stdin(line);
        } else {
            self.skip_arguments();
        }
        self.meta(Client::Psql, start);
        if SENDING.contains(&name) {
            let text = if name == "gexec" { "\\gexec" } else { "\\g" };
            self.push(Kind::Break, Cow::Borrowed(text), start, None);
        }
        true
    }

    /// Moves to the next unquoted backslash or the line's end.
    fn skip_arguments(&mut self) {
        let mut quote = 0_u8;
        while self.pos < self.bytes.len() {
            let c = self.peek(0);
            match c {
                b'\n' => return,
                b'\\' if quote == b'\'' => self.pos += 1,
                b'\\' if quote == 0 => return,
                b'\'' | b'"' | b'`' if quote == 0 => quote = c,
                _ if c == quote => quote = 0,
                _ => {}
            }
            self.pos += 1;
        }
        self.pos = self.bytes.len();
    }
}

/// Whether a `\copy` reads data from the lines that follow.
fn reads_stdin(line: &str) -> bool {
    let mut from = false;
    for word in line.split(|c: char| c.is_ascii_whitespace() || c == ';') {
        if from && word.eq_ignore_ascii_case("stdin") {
            return true;
        }
        from = word.eq_ignore_ascii_case("from");
    }
    false
}
