//! PowerShell: commands rather than calls, read word by word.

mod cmdlet;

use std::collections::BTreeMap;

use aurora_model::{Span, Touch};

use super::cmdlet::{Cmdlet, Word};
use super::value::MAX_TEXT;
use super::{Nesting, ScriptFinding, UNKNOWN, What, add};

/// How deep brackets are followed.
const MAX_DEPTH: u32 = 32;

/// Commands and aliases of PowerShell's own that change nothing that a policy asks about.
const HARMLESS: &[&str] = &[
    "?", "begin", "cat", "catch", "cd", "chdir", "class", "clear", "cls", "compare", "diff", "dir",
    "do", "echo", "else", "elseif", "end", "enum", "exit", "filter", "finally", "fl", "ft",
    "function", "gc", "gci", "gcm", "gi", "gm", "gps", "group", "gv", "help", "history", "if",
    "in", "ipmo", "kill", "ls", "man", "measure", "param", "popd", "process", "ps", "pushd", "pwd",
    "return", "select", "set", "sl", "sleep", "sort", "spps", "sv", "switch", "throw", "trap",
    "try", "type", "until", "using", "where", "write",
];

/// What a PowerShell script would do.
pub(super) fn analyse(code: &str, nesting: Nesting) -> Vec<ScriptFinding> {
    let mut shell = PowerShell {
        code,
        bytes: code.as_bytes(),
        at: 0,
        findings: Vec::new(),
        scope: BTreeMap::new(),
        held: 0,
        lists: BTreeMap::new(),
        aliases: BTreeMap::new(),
        loops: 0,
        depth: 0,
        nesting,
    };
    while shell.at < shell.bytes.len() {
        shell.commands();
        // A stray closing bracket ends the commands; the rest is read all the same.
        shell.at += 1;
    }
    shell.findings
}

/// How many bytes a script may put into its variables.
const MAX_HELD: usize = 1024 * 1024;

/// Stands for a block of commands, which are read where they are written.
const BLOCK: &str = "{}";

/// Whether an assignment gives several constants, few enough to be kept.
fn short_list(values: &[Word]) -> bool {
    (2..=64).contains(&values.len()) && values.iter().all(|word| word.quoted && !word.many)
}

/// The text that an assignment gives: one constant, or several with `+` between them.
fn assigned_text(values: &[Word]) -> Option<String> {
    let (first, rest) = values.split_first()?;
    if !first.quoted && first.text.parse::<f64>().is_err() {
        return None;
    }
    let mut text = first.text.clone();
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "+" if !word.quoted => text.push_str(&rest.next()?.text),
            // A list: what stands first is as good as any.
            _ if word.quoted => return Some(text),
            _ => return Some(UNKNOWN.to_string()),
        }
    }
    Some(text)
}

#[derive(Debug)]
struct PowerShell<'a> {
    code: &'a str,
    bytes: &'a [u8],
    at: usize,
    findings: Vec<ScriptFinding>,
    scope: BTreeMap<String, String>,
    /// How many bytes were put into variables.
    held: usize,
    /// Variables that hold several words.
    lists: BTreeMap<String, Vec<Word>>,
    /// Names that the script gives to commands.
    aliases: BTreeMap<String, String>,
    loops: u32,
    depth: u32,
    nesting: Nesting,
}

impl PowerShell<'_> {
    fn byte(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    /// Commands up to a closing bracket or the end; gives the words of the last one.
    fn commands(&mut self) -> Vec<Word> {
        self.depth += 1;
        let mut words: Vec<Word> = Vec::new();
        let mut piped = false;
        let mut start = self.at;
        while self.at < self.bytes.len() {
            if words.is_empty() {
                start = self.at;
            }
            match self.byte(0) {
                b')' | b'}' => break,
                b'#' => self.skip_comment(),
                b'<' if self.byte(1) == b'#' => {
                    let rest = self.code.get(self.at..).unwrap_or("");
                    self.at += rest.find("#>").map_or(rest.len(), |at| at + 2);
                }
                b';' | b'\n' => {
                    self.finish(&mut words, piped, start);
                    piped = false;
                    self.at += 1;
                }
                b'|' | b'&' if self.byte(1) == self.byte(0) => {
                    self.finish(&mut words, piped, start);
                    piped = false;
                    self.at += 2;
                }
                b'|' => {
                    self.finish(&mut words, piped, start);
                    piped = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | b',' => self.at += 1,
                b'`' => self.at += 2,
                b'(' | b'{' => self.bracket(&mut words),
                b'@' | b'$' if matches!(self.byte(1), b'(' | b'{') => {
                    self.at += 1;
                    self.bracket(&mut words);
                }
                _ => self.word(&mut words),
            }
        }
        let last = words.clone();
        self.finish(&mut words, piped, start);
        self.depth -= 1;
        last
    }

    fn skip_comment(&mut self) {
        while self.at < self.bytes.len() && self.byte(0) != b'\n' {
            self.at += 1;
        }
    }

    /// A bracket: its commands run, and it stands for a value.
    fn bracket(&mut self, words: &mut Vec<Word>) {
        let block = self.byte(0) == b'{';
        if !block && let Some(text) = self.constant_expression() {
            words.push(Word { text, quoted: true, many: false });
            return;
        }
        self.at += 1;
        let first = words.first().map(|word| word.text.to_ascii_lowercase()).unwrap_or_default();
        let looping =
            matches!(first.as_str(), "foreach-object" | "%" | "foreach" | "for" | "while" | "do");
        if self.depth >= MAX_DEPTH {
            self.at = self.bytes.len();
            return;
        }
        self.loops += u32::from(looping && block);
        let inner = self.commands();
        self.loops -= u32::from(looping && block);
        self.at += 1;
        let constants = !block && !inner.is_empty() && inner.iter().all(|word| word.quoted);
        if constants {
            words.extend(inner);
        } else if block {
            words.push(Word { text: BLOCK.to_owned(), quoted: true, many: true });
        } else {
            words.push(Word { text: UNKNOWN.to_string(), quoted: true, many: true });
        }
        if block
            && matches!(
                first.as_str(),
                "if" | "foreach"
                    | "for"
                    | "while"
                    | "do"
                    | "else"
                    | "elseif"
                    | "try"
                    | "catch"
                    | "finally"
                    | "function"
            )
        {
            words.clear();
        }
    }

    /// `$words` or `@words` as an argument, where it holds several words.
    fn spread(&mut self, words: &mut Vec<Word>) -> bool {
        if words.is_empty() || !matches!(self.byte(0), b'$' | b'@') {
            return false;
        }
        let rest = self.code.get(self.at + 1..).unwrap_or("");
        let name: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let ends = rest.get(name.len()..).is_none_or(|rest| {
            rest.is_empty() || rest.starts_with([' ', ';', '\n', '\r', '|', ')', '}'])
        });
        let found = self.lists.get(&format!("${}", name.to_ascii_lowercase()));
        match found {
            Some(list) if ends => {
                words.extend(list.iter().cloned());
                self.at += 1 + name.len();
                true
            }
            _ => false,
        }
    }

    fn word(&mut self, words: &mut Vec<Word>) {
        if self.spread(words) {
            return;
        }
        let mut text = String::new();
        let mut quoted = false;
        let assigned = words.get(1).is_some_and(|word| matches!(word.text.as_str(), "=" | "+="));
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b')' | b'}' | b'{' | b'(' | b',' => {
                    break;
                }
                // Between constants that are assigned, a plus stands alone even without blanks.
                b'+' if assigned && quoted => break,
                b'+' if assigned && text.is_empty() => {
                    self.at += 1;
                    text.push('+');
                    break;
                }
                b'&' if text.is_empty() && words.is_empty() => {
                    self.at += 1;
                    text.push('&');
                    break;
                }
                b'\'' => {
                    quoted = true;
                    self.single_quoted(&mut text);
                }
                b'"' => {
                    quoted = true;
                    self.double_quoted(&mut text);
                }
                b'@' if matches!(self.byte(1), b'\'' | b'"') => {
                    quoted = true;
                    self.here_string(&mut text);
                }
                b'`' => {
                    self.at += 1;
                    self.one_char(&mut text);
                }
                b'$' => {
                    quoted |= text.is_empty();
                    let assigned = words.is_empty() && self.assigns();
                    let called = words.first().is_some_and(|word| word.text == "&");
                    self.variable(&mut text, words.is_empty() && (assigned || !called));
                    if assigned {
                        words.push(Word { text, quoted: false, many: false });
                        return self.assignment(words);
                    }
                }
                _ => self.one_char(&mut text),
            }
        }
        words.push(Word { text, quoted, many: false });
    }

    fn one_char(&mut self, text: &mut String) {
        let Some(c) = self.code.get(self.at..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return;
        };
        text.push(c);
        self.at += c.len_utf8();
    }

    fn single_quoted(&mut self, text: &mut String) {
        self.at += 1;
        while self.at < self.bytes.len() {
            if self.byte(0) == b'\'' {
                self.at += 1;
                if self.byte(0) != b'\'' {
                    return;
                }
            }
            self.one_char(text);
        }
    }

    fn double_quoted(&mut self, text: &mut String) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'`' => {
                    self.at += 1;
                    self.one_char(text);
                }
                b'$' if self.byte(1) == b'(' => {
                    self.at += 2;
                    if self.depth < MAX_DEPTH {
                        self.commands();
                    }
                    self.at += 1;
                    text.push(UNKNOWN);
                }
                b'$' => self.variable(text, false),
                _ => self.one_char(text),
            }
        }
    }

    fn here_string(&mut self, text: &mut String) {
        let close = if self.byte(1) == b'\'' { "\n'@" } else { "\n\"@" };
        self.at += 2;
        let rest = self.code.get(self.at..).unwrap_or("");
        let end = rest.find(close).unwrap_or(rest.len());
        text.push_str(rest.get(..end).unwrap_or("").trim_start_matches(['\r', '\n']));
        self.at = (self.at + end + close.len()).min(self.bytes.len());
    }

    /// Whether the variable that stands here is given a value.
    fn assigns(&self) -> bool {
        let rest = self.code.get(self.at + 1..).unwrap_or("");
        let rest =
            rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_:{}".contains(c));
        let rest = rest.trim_start_matches([' ', '\t']);
        rest.starts_with("+=") || (rest.starts_with('=') && !rest.starts_with("=="))
    }

    /// The sign between a variable and its value.
    fn assignment(&mut self, words: &mut Vec<Word>) {
        while matches!(self.byte(0), b' ' | b'\t') {
            self.at += 1;
        }
        let text = if self.byte(0) == b'+' { "+=" } else { "=" };
        self.at += text.len();
        words.push(Word { text: text.to_owned(), quoted: false, many: false });
    }

    /// `('git' + ' push')`: texts put together, if nothing else stands in the bracket.
    fn constant_expression(&mut self) -> Option<String> {
        let before = self.at;
        let text = self.sum();
        if text.is_none() {
            self.at = before;
        }
        text
    }

    fn sum(&mut self) -> Option<String> {
        let mut text = String::new();
        self.depth += 1;
        let found = loop {
            self.at += 1;
            while matches!(self.byte(0), b' ' | b'\t' | b'\n' | b'\r') {
                self.at += 1;
            }
            match self.byte(0) {
                b'\'' => self.single_quoted(&mut text),
                // What runs inside a text is left to the reading of commands.
                b'"' if !self.runs_inside() => self.double_quoted(&mut text),
                b'$' if self.byte(1).is_ascii_alphabetic() => self.variable(&mut text, false),
                b'(' if self.depth < MAX_DEPTH => match self.sum() {
                    Some(inner) => text.push_str(&inner),
                    None => break false,
                },
                _ => break false,
            }
            while matches!(self.byte(0), b' ' | b'\t' | b'\n' | b'\r') {
                self.at += 1;
            }
            match self.byte(0) {
                b'+' if text.len() <= MAX_TEXT => {}
                b')' => break true,
                _ => break false,
            }
        };
        self.depth -= 1;
        self.at += 1;
        found.then_some(text)
    }

    fn runs_inside(&self) -> bool {
        let rest = self.code.get(self.at + 1..).unwrap_or("");
        rest.split('"').next().is_some_and(|text| text.contains("$("))
    }

    /// A variable's value; at a command's start its name, since it may be assigned to.
    fn variable(&mut self, text: &mut String, command_word: bool) {
        let start = self.at;
        self.at += 1;
        let braced = self.byte(0) == b'{';
        self.at += usize::from(braced);
        while self.byte(0).is_ascii_alphanumeric() || matches!(self.byte(0), b'_' | b':' | b'?') {
            self.at += 1;
        }
        self.at += usize::from(braced && self.byte(0) == b'}');
        let name = self.code.get(start..self.at).unwrap_or("").to_ascii_lowercase();
        if name.len() < 2 {
            text.push('$');
        } else if command_word {
            text.push_str(&name);
        } else {
            match self.scope.get(&name) {
                Some(value) if text.len() + value.len() <= MAX_TEXT => text.push_str(value),
                Some(_) | None => text.push(UNKNOWN),
            }
        }
        if self.byte(0) == b'.' && self.byte(1).is_ascii_alphabetic() && !command_word {
            text.push(UNKNOWN);
        }
    }

    fn emit(&mut self, what: What, start: usize) {
        let span = Span::new(start.min(self.code.len()), self.at.min(self.code.len()));
        let finding = ScriptFinding { what, in_loop: self.loops > 0, span };
        add(&mut self.findings, finding);
    }

    /// One whole command.
    fn finish(&mut self, words: &mut Vec<Word>, piped: bool, start: usize) {
        let mut words = std::mem::take(words);
        if let [name, equals, values @ ..] = words.as_slice()
            && name.text.starts_with('$')
            && matches!(equals.text.as_str(), "=" | "+=")
            && !values.is_empty()
        {
            self.lists.remove(&name.text);
            let length: usize = values.iter().map(|word| word.text.len()).sum();
            if equals.text == "=" && short_list(values) && length <= 4096 {
                self.lists.insert(name.text.clone(), values.to_vec());
            }
            if let Some(value) = assigned_text(values) {
                let old = if equals.text == "=" { None } else { self.scope.get(&name.text) };
                let value = old.cloned().unwrap_or_default() + &value;
                self.held += value.len();
                let large = value.len() > MAX_TEXT || self.held > MAX_HELD;
                let kept = if large { UNKNOWN.to_string() } else { value };
                self.scope.insert(name.text.clone(), kept);
                return;
            }
            self.scope.remove(&name.text);
            words.drain(..2);
        }
        if words.first().is_some_and(|word| !word.quoted && matches!(word.text.as_str(), "&" | "."))
        {
            words.remove(0);
        } else if words.first().is_some_and(|word| word.quoted) {
            return self.redirections(&words, start);
        }
        let Some((name, args)) = words.split_first() else { return };
        self.redirections(args, start);
        let full = name.text.to_ascii_lowercase();
        let base = full.rsplit(['\\', '/']).next().unwrap_or("").to_owned();
        let base = base.strip_suffix(".exe").unwrap_or(&base).to_owned();
        let call = Cmdlet::new(args);
        if let Some(real) = self.aliases.get(&base).cloned() {
            let name = Word { text: real.clone(), quoted: false, many: false };
            return self.cmdlet(&real.to_ascii_lowercase(), &name, &call, piped, start);
        }
        if call.switch("whatif") {
            return;
        }
        self.cmdlet(&base, name, &call, piped, start);
    }

    fn redirections(&mut self, args: &[Word], start: usize) {
        for pair in args.windows(2) {
            let [operator, path] = pair else { continue };
            let touch = match operator.text.as_str() {
                ">" => Touch::Write,
                ">>" => Touch::Append,
                _ => continue,
            };
            if !operator.quoted {
                self.emit(What::Change { path: path.known(), touch }, start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(HARMLESS.is_sorted());
    }
}
