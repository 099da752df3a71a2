//! The shell's own commands: those that change what it knows, and those that run other text.

use aurora_model::Span;

use super::expand::push_quoted;
use super::field::Field;
use super::machine::{Lang, Machine, Stream};
use super::scope::Value;
use crate::analysis::path;

impl Machine<'_> {
    /// Runs a builtin; nothing when the name is none that matters here.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        args: &[Field],
        stdin: &Stream,
        span: Span,
    ) -> Option<Stream> {
        if matches!(name, "let" | "test" | "[" | "printf" | "read" | "declare" | "unset" | "local")
        {
            self.run_subscripts(args);
        }
        match name {
            "cd" => self.change_dir(args),
            "pushd" => {
                let here = self.scope.cwd.clone();
                self.scope.dirs.push(here);
                self.change_dir(args);
            }
            "popd" => self.scope.cwd = self.scope.dirs.pop().flatten(),
            "eval" => {
                let code = joined(args, span);
                return Some(self.run_here(&code));
            }
            "source" | "." => return Some(self.source(args)),
            "trap" => self.trap(args),
            "alias" => self.alias_words(args),
            "declare" | "typeset" | "local" | "export" | "readonly" => self.declare(name, args),
            "unset" => {
                for name in args.iter().filter_map(Field::text) {
                    self.scope.vars.remove(name);
                    self.scope.functions.remove(name);
                }
            }
            "set" => self.set(args),
            "shift" => self.shift(args),
            "read" => self.read(args, stdin),
            "mapfile" | "readarray" => self.mapfile(args, stdin),
            "printf" if args.first().is_some_and(|arg| arg.is("-v")) => self.printf_v(args, span),
            "exec" if args.is_empty() => {}
            "hash" => {
                if let [flag, file, name, ..] = args
                    && let (true, Some(file), Some(name)) =
                        (flag.is("-p"), file.text(), name.text())
                {
                    self.scope.aliases.insert(name.to_owned(), file.to_owned());
                }
            }
            "bind" | "complete" | "enable" | "let" | "getopts" | "unalias" | "return" | "exit"
            | "break" | "continue" | "wait" | "jobs" | "fg" | "bg" | "disown" | "umask"
            | "ulimit" | "shopt" | "times" | "test" | "[" | ":" | "true" | "false" | "logout" => {}
            "type" | "which" | "hash -t" | "whereis" => return Some(which(args)),
            "command" if matches!(args.first().and_then(Field::text), Some("-v" | "-V")) => {
                return Some(which(args.get(1..).unwrap_or(&[])));
            }
            "pwd" => {
                let cwd = self.scope.cwd.clone();
                return Some(match cwd {
                    Some(cwd) => Stream::Text(Field::lit(cwd + "\n", span)),
                    None => Stream::Output("pwd".to_owned()),
                });
            }
            _ => return None,
        }
        Some(Stream::Terminal)
    }

    /// bash evaluates the subscript of a variable that these builtins are given: `a[$(code)]`.
    pub(super) fn run_subscripts(&mut self, args: &[Field]) {
        for arg in args {
            let Some(text) = arg.text() else { continue };
            let name = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let subscripted = name.len() < text.len() && name.starts_with('[');
            if subscripted && (text.contains("$(") || text.contains('`')) {
                let code = format!(": \"{}\"", text.replace('"', "\\\""));
                self.run_shell_text(&Field::lit(code, arg.span), false);
            }
        }
    }

    fn change_dir(&mut self, args: &[Field]) {
        let target = args.iter().find(|arg| !arg.prefix().starts_with('-') || arg.is("-"));
        let here = self.scope.cwd.clone();
        let old = self.scope.old_cwd.replace(here.clone().unwrap_or_default());
        let search = self.lookup("CDPATH", None).and_then(|values| values.first().cloned());
        self.scope.cwd = match target {
            None => self.context.home.clone(),
            Some(dir) if dir.is("-") => match self.lookup("OLDPWD", None) {
                Some(values) => values.first().and_then(Field::text).map(str::to_owned),
                None => old.filter(|old| !old.is_empty()),
            },
            Some(dir) if search.is_some() && !dir.prefix().starts_with(['/', '.']) => {
                let base = search.as_ref().and_then(|path| path.text()?.split(':').next());
                let below = base.zip(dir.text()).map(|(base, dir)| format!("{base}/{dir}"));
                below.and_then(|below| path::normalize(&below, here.as_deref()))
            }
            Some(dir) => dir.text().and_then(|dir| path::normalize(dir, self.scope.cwd.as_deref())),
        };
    }

    /// Runs text in this very shell.
    fn run_here(&mut self, code: &Field) -> Stream {
        self.run_shell_text(code, true)
    }

    fn source(&mut self, args: &[Field]) -> Stream {
        let Some(file) = args.first() else { return Stream::Terminal };
        let file = file.clone();
        self.sourcing = true;
        let out = self.run_file(Lang::Shell, &file);
        self.sourcing = false;
        out
    }

    fn trap(&mut self, args: &[Field]) {
        let args: Vec<&Field> = args.iter().filter(|arg| !arg.is("--")).collect();
        if let [code, _, ..] = args.as_slice()
            && !code.is("-")
            && !code.is("")
        {
            // A signal may come at once; at the end the variables may be others.
            self.run_shell_text(code, false);
            self.traps.push((*code).clone());
        }
    }

    /// `alias` whose definition could only be seen after expansion.
    fn alias_words(&mut self, args: &[Field]) {
        for arg in args {
            if let Some((name, code)) = arg.split_once('=') {
                if let (Some(name), Some(text)) = (name.text(), code.text()) {
                    self.scope.aliases.insert(name.to_owned(), text.to_owned());
                }
                self.run_shell_text(&code, false);
            }
        }
    }

    fn declare(&mut self, builtin: &str, args: &[Field]) {
        if args.iter().any(|arg| arg.is("-f") || arg.is("-fx") || arg.is("-xf")) {
            let names = args.iter().filter_map(Field::text).map(|name| format!("{name}()"));
            self.scope.exported.extend(names);
            return;
        }
        let exports = builtin == "export"
            || args.iter().any(|arg| arg.text().is_some_and(|flag| flag.starts_with("-x")));
        for arg in args {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (arg.clone(), None),
            };
            let Some(name) = name.text() else { continue };
            if let Some(value) = value {
                self.scope.set(name, value);
            }
            if exports {
                self.scope.exported.insert(name.to_owned());
            }
        }
    }

    /// `set -- a b c` sets the positional parameters.
    fn set(&mut self, args: &[Field]) {
        if let Some(at) = args.iter().position(|arg| arg.is("--")) {
            let mut positional = vec![Field::lit("bash", Span::default())];
            positional.extend(args.iter().skip(at + 1).cloned());
            let known = positional.iter().all(|arg| !arg.many);
            self.scope.positional = known.then_some(positional);
        }
    }

    fn shift(&mut self, args: &[Field]) {
        let count = match args.first() {
            None => Some(1),
            Some(count) => count.text().and_then(|text| text.parse::<usize>().ok()),
        };
        let Some(positional) = &mut self.scope.positional else { return };
        match count {
            Some(count) => {
                let end = positional.len().min(count + 1);
                positional.drain(1.min(end)..end);
            }
            None => self.scope.positional = None,
        }
    }

    fn read(&mut self, args: &[Field], stdin: &Stream) {
        let mut names = Vec::new();
        let mut array = None;
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.text() {
                Some(flag) if flag.starts_with('-') => match flag.chars().last() {
                    Some('a') => array = words.next().and_then(Field::text),
                    Some('d' | 'i' | 'n' | 'N' | 'p' | 't' | 'u') => {
                        words.next();
                    }
                    _ => {}
                },
                Some(name) => names.push(name.to_owned()),
                None => {}
            }
        }
        // With other separators than blanks, nobody splits here.
        let plain = self.lookup("IFS", None).is_none_or(|values| {
            values
                .first()
                .and_then(Field::text)
                .is_some_and(|ifs| matches!(ifs, " \t\n" | "" | "\n"))
        }) && !args.iter().any(|arg| arg.prefix().starts_with("-d"));
        let line = match stdin {
            Stream::Text(_) if !plain => None,
            Stream::Text(text) => {
                text.text().and_then(|text| text.lines().next()).map(str::to_owned)
            }
            _ => None,
        };
        let unknown = Field::unknown(true, Span::default());
        if let Some(array) = array {
            let values = match &line {
                Some(line) => {
                    line.split_whitespace().map(|w| Field::lit(w, Span::default())).collect()
                }
                None => vec![unknown],
            };
            self.scope.vars.insert(array.to_owned(), Value::Array(values));
            return;
        }
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        let last = names.len() - 1;
        let mut rest = line.as_deref().map(str::trim);
        for (index, name) in names.iter().enumerate() {
            let value = match rest {
                None => unknown.clone(),
                Some(text) if index == last => Field::lit(text, Span::default()),
                Some(text) => {
                    let (word, after) = text.split_once([' ', '\t']).unwrap_or((text, ""));
                    rest = Some(after.trim_start());
                    Field::lit(word, Span::default())
                }
            };
            self.scope.set(name, value);
        }
    }

    fn mapfile(&mut self, args: &[Field], stdin: &Stream) {
        let name = args.iter().rev().find_map(|arg| arg.text().filter(|t| !t.starts_with('-')));
        let plain = !args.iter().any(|arg| arg.prefix().starts_with("-d"));
        let values = match stdin {
            Stream::Text(text) if text.text().is_some() && plain => text
                .text()
                .unwrap_or("")
                .lines()
                .map(|line| Field::lit(line, Span::default()))
                .collect(),
            _ => vec![Field::unknown(true, Span::default())],
        };
        self.scope.vars.insert(name.unwrap_or("MAPFILE").to_owned(), Value::Array(values));
    }

    fn printf_v(&mut self, args: &[Field], span: Span) {
        let Some(name) = args.get(1).and_then(Field::text).map(str::to_owned) else { return };
        let mut argv = vec![Field::lit("printf", span)];
        argv.extend(args.iter().skip(2).cloned());
        let value = match self.run_argv(&argv, &Stream::Terminal, span) {
            Stream::Text(text) => text,
            _ => Field::unknown(true, span),
        };
        self.scope.set(&name, value);
    }
}

/// `which git`, `command -v git`: prints the program's name.
fn which(args: &[Field]) -> Stream {
    let name = args.iter().find(|arg| !arg.prefix().starts_with('-'));
    match name {
        Some(name) if name.text().is_some() => {
            let mut text = name.clone();
            text.push_lit("\n");
            text.verbatim = None;
            Stream::Text(text)
        }
        _ => Stream::Output("which".to_owned()),
    }
}

/// Arguments joined by blanks, as `eval` and `ssh` do; a single one keeps its place.
#[must_use]
pub fn joined(args: &[Field], span: Span) -> Field {
    if let [only] = args {
        return only.clone();
    }
    let mut code = Field::lit("", span);
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            code.push_lit(" ");
        }
        push_quoted(&mut code, arg);
    }
    code
}
