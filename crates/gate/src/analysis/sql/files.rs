//! Files that SQL itself writes, and programs that its functions run.

use aurora_model::SqlDialect;

use super::flavour::Flavour;
use super::token::{Kind, Token, kind_at, word_at};
use super::{Reader, SqlKind, lex};

impl Reader {
    /// `writefile('x', …)` and `edit(…, 'program')` of sqlite3, `INTO OUTFILE 'x'` of mysql.
    pub(super) fn file_functions(&mut self, tokens: &[Token<'_>]) {
        for (at, token) in tokens.iter().enumerate() {
            let called = self.flavour.dots && kind_at(tokens, at + 1, Kind::Open);
            if called && token.is("writefile") {
                if let Some(file) = string_at(tokens, at + 2) {
                    self.report(SqlKind::Write { file }, token.span);
                }
            } else if called && token.is("edit") {
                if let Some(command) = second_argument(tokens, at + 2) {
                    self.report(SqlKind::Shell { command }, token.span);
                }
            } else if self.flavour.mysql
                && token.is_any(&["outfile", "dumpfile"])
                && at.checked_sub(1).is_some_and(|before| word_at(tokens, before, "into"))
                && let Some(file) = string_at(tokens, at + 1)
            {
                self.report(SqlKind::Write { file }, token.span);
            }
        }
    }
}

fn string_at(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Str)?;
    Some(token.text.clone().into_owned())
}

/// The second argument of a call, when it is a string.
fn second_argument(tokens: &[Token<'_>], from: usize) -> Option<String> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.checked_sub(1)?,
            Kind::Comma if depth == 0 => return string_at(tokens, at + 1),
            _ if token.ends_statement() => return None,
            _ => {}
        }
    }
    None
}

/// The files that `COPY … TO 'file'` and `EXPORT DATABASE 'folder'` write, for a database that runs
/// in the client itself.
#[must_use]
pub fn copied_files(text: &str, dialect: SqlDialect) -> Vec<String> {
    let lexed = lex::lex(text, Flavour::of(dialect));
    let mut found = Vec::new();
    for statement in lexed.tokens.split(Token::ends_statement) {
        if word_at(statement, 0, "copy") {
            let to = statement.iter().enumerate().filter(|(_, token)| token.is("to"));
            found.extend(to.filter_map(|(at, _)| string_at(statement, at + 1)));
        } else if word_at(statement, 0, "export") && word_at(statement, 1, "database") {
            found.extend(string_at(statement, 2));
        }
    }
    found
}

/// The file that a `\copy … to FILE` writes: psql writes it, not the server.
pub(super) fn copied_by_client(command: &str) -> Option<String> {
    let mut words = command.split_ascii_whitespace();
    words.by_ref().find(|word| word.eq_ignore_ascii_case("to"))?;
    let file = words.next()?.trim_matches(['\'', ';']);
    let other = ["program", "stdout", "pstdout", "stdin"];
    let elsewhere = other.iter().any(|word| file.eq_ignore_ascii_case(word));
    (!file.is_empty() && !elsewhere).then(|| file.to_owned())
}

/// SQL with psql's variables put in: `:name`, `:'name'` and `:"name"`.
#[must_use]
pub fn with_variables(text: &str, variables: &[(String, String)]) -> String {
    let mut out = text.to_owned();
    for (name, value) in variables {
        out = out.replace(&format!(":'{name}'"), &format!("'{value}'"));
        out = out.replace(&format!(":\"{name}\""), &format!("\"{value}\""));
        let mark = format!(":{name}");
        let mut pieces = out.split(mark.as_str());
        let mut filled = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let goes_on = piece.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            filled.push_str(if goes_on || filled.ends_with(':') { &mark } else { value });
            filled.push_str(piece);
        }
        out = filled;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_where_psql_does() {
        let check = |text: &str, expected: &str| {
            let variables = [("t".to_owned(), "table".to_owned())];
            assert_eq!(with_variables(text, &variables), expected);
        };
        check("drop :t x", "drop table x");
        check("select 1::t, :tt, :'t'", "select 1::t, :tt, 'table'");
    }

    #[test]
    fn the_client_writes_what_it_copies() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(copied_by_client(text).as_deref(), expected);
        };
        check("copy x to '.env' csv", Some(".env"));
        check("copy x to stdout", None);
        check("copy x from '.env'", None);
    }
}
