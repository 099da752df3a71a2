//! What a client command does: runs a shell, reads a file, sets a variable.

use super::token::{Client, Meta};

/// What came of a client command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    /// A shell runs this.
    Shell(String),
    /// This file is read as SQL.
    Include(String),
    /// This file is written.
    Write(String),
    /// What runs cannot be seen.
    Opaque(&'static str),
    /// SQL that starts this many bytes after the command.
    Sql(usize),
    /// A variable gets a value.
    Set(String, String),
}

/// Everything that one client command does.
pub(super) fn deeds(meta: &Meta<'_>) -> Vec<Deed> {
    match meta.client {
        Client::Psql => psql(meta.text),
        Client::Mysql => mysql(meta.text),
        Client::Dot => dot(meta.text),
        Client::Sqlcmd => sqlcmd(meta.text),
        Client::Sqlplus => sqlplus(meta.text),
    }
}

/// The first word and what follows it.
fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(|c: char| c.is_ascii_whitespace()).map_or((text, ""), |(a, b)| (a, b.trim()))
}

fn psql(text: &str) -> Vec<Deed> {
    let body = text.strip_prefix('\\').unwrap_or(text);
    if let Some(command) = body.strip_prefix('!') {
        let command = command.trim();
        return if command.is_empty() { Vec::new() } else { vec![Deed::Shell(command.to_owned())] };
    }
    let end = body.find(|c: char| c.is_ascii_whitespace() || c == '|').unwrap_or(body.len());
    let (name, rest) = body.split_at_checked(end).unwrap_or((body, ""));
    let rest = rest.trim();
    if name == "copy" {
        return vec![Deed::Sql(1)];
    }
    if let Some(command) = rest.strip_prefix('|')
        && matches!(name, "g" | "gx" | "o" | "out" | "w" | "write" | "gset" | "watch")
    {
        return vec![Deed::Shell(command.trim().to_owned())];
    }
    let (arguments, mut deeds) = psql_arguments(rest);
    let mut words = arguments.into_iter();
    match name {
        "i" | "ir" | "include" | "include_relative" => {
            if let Some(file) = words.next() {
                deeds.push(Deed::Include(file));
            }
        }
        "g" | "gx" | "o" | "out" | "w" | "write" => {
            deeds.extend(words.next().map(Deed::Write));
        }
        "set" => {
            if let Some(variable) = words.next() {
                deeds.push(Deed::Set(format!(":{variable}"), words.collect()));
            }
        }
        _ => {}
    }
    deeds
}

/// psql's arguments, with the shell commands that stand in backquotes.
fn psql_arguments(rest: &str) -> (Vec<String>, Vec<Deed>) {
    let mut words = Vec::new();
    let mut deeds = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                let text = quoted(&mut chars, c);
                let own = word.get_or_insert_default();
                if c == '`' {
                    deeds.push(Deed::Shell(text));
                    own.push(super::token::UNKNOWN);
                } else {
                    own.push_str(&text);
                }
            }
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (words, deeds)
}

/// The text up to the closing quote.
fn quoted(chars: &mut std::str::Chars<'_>, quote: char) -> String {
    let mut out = String::new();
    while let Some(c) = chars.next() {
        if c == '\\' && quote == '\'' {
            out.extend(chars.next());
        } else if c == quote {
            let mut ahead = chars.clone();
            if quote != '`' && ahead.next() == Some(quote) {
                *chars = ahead;
                out.push(quote);
            } else {
                break;
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn mysql(text: &str) -> Vec<Deed> {
    let (name, rest) = match text.strip_prefix('\\') {
        Some(body) => {
            let mut chars = body.chars();
            let name = chars.next();
            let rest = chars.as_str().trim();
            match name {
                Some('!') => ("system", rest),
                Some('.') => ("source", rest),
                Some('P') => ("pager", rest),
                _ => return Vec::new(),
            }
        }
        None => first_word(text),
    };
    let rest = rest.trim_end_matches(';').trim();
    if rest.is_empty() {
        return Vec::new();
    }
    if name.eq_ignore_ascii_case("source") {
        vec![Deed::Include(rest.trim_matches(['\'', '"']).to_owned())]
    } else {
        vec![Deed::Shell(rest.to_owned())]
    }
}

/// Whether a dot command's name is this one, perhaps cut short.
fn abbreviates(name: &str, full: &str, least: usize) -> bool {
    name.len() >= least && full.starts_with(name)
}

fn dot(text: &str) -> Vec<Deed> {
    let (name, rest) = first_word(text.strip_prefix('.').unwrap_or(text));
    if rest.is_empty() {
        return Vec::new();
    }
    if abbreviates(name, "shell", 2) || abbreviates(name, "system", 2) {
        return vec![Deed::Shell(rest.to_owned())];
    }
    let argument = rest.trim_matches(['\'', '"']).trim();
    if abbreviates(name, "read", 3) {
        return match argument.strip_prefix('|') {
            Some(command) => vec![
                Deed::Shell(command.trim().to_owned()),
                Deed::Opaque("SQL is read from a program's output"),
            ],
            None => vec![Deed::Include(argument.to_owned())],
        };
    }
    if abbreviates(name, "load", 2) {
        return vec![Deed::Opaque("an extension is loaded")];
    }
    let prints = abbreviates(name, "output", 1) || abbreviates(name, "once", 2);
    let saves = abbreviates(name, "backup", 3) || abbreviates(name, "save", 3) || name == "log";
    if saves || (prints && !rest.contains('|')) {
        let file = argument.rsplit(' ').next().unwrap_or(argument);
        return vec![Deed::Write(file.to_owned())];
    }
    if !prints && !abbreviates(name, "import", 2) && name != "excel" {
        return Vec::new();
    }
    match rest.find('|').map(|at| rest.split_at_checked(at)) {
        Some(Some((before, command))) => {
            let quote = before.chars().last().filter(|c| matches!(c, '\'' | '"'));
            let command = command.trim_start_matches('|');
            let end = quote.and_then(|quote| command.find(quote));
            let command = end.and_then(|end| command.get(..end)).unwrap_or(command);
            vec![Deed::Shell(command.trim().to_owned())]
        }
        _ => Vec::new(),
    }
}

fn sqlcmd(text: &str) -> Vec<Deed> {
    let body = text.strip_prefix(':').unwrap_or(text);
    if let Some(command) = body.strip_prefix("!!") {
        return vec![Deed::Shell(command.trim().to_owned())];
    }
    let (_, file) = first_word(body);
    if file.is_empty() {
        return Vec::new();
    }
    vec![Deed::Include(file.trim_matches('"').to_owned())]
}

fn sqlplus(text: &str) -> Vec<Deed> {
    if let Some(file) = text.strip_prefix('@') {
        let (file, _) = first_word(file.trim_start_matches('@'));
        let file = file.trim_end_matches(';');
        return if file.is_empty() { Vec::new() } else { vec![Deed::Include(file.to_owned())] };
    }
    let body = text.strip_prefix('!').unwrap_or(text);
    let (name, rest) = first_word(body);
    let rest = rest.trim_end_matches(';').trim();
    let bang = text.starts_with('!');
    match name {
        "source" | "load" | "run" if bang => vec![Deed::Include(rest.to_owned())],
        "system" | "sh" if bang => vec![Deed::Shell(rest.to_owned())],
        _ if bang && !body.trim().is_empty() => {
            vec![Deed::Shell(body.trim().trim_end_matches(';').to_owned())]
        }
        _ if !bang && !rest.is_empty() => vec![Deed::Shell(rest.to_owned())],
        _ => Vec::new(),
    }
}
