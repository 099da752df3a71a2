//! Finds out what runs: functions, builtins, wrappers, models, and code inside arguments.

use aurora_model::{Cause, Effect, EffectKind, Span, SqlDialect};

use super::command;
use super::expand::UNKNOWN;
use super::field::{Field, Seg};
use super::machine::{Call, Lang, Machine, Stream};
use super::parse;
use super::scope::{Base, Value};
use crate::analysis::sql::SqlKind;
use crate::analysis::{script, sql};

/// Only so many operands of an unknown program are tried as a command.
const MAX_PROBES: usize = 48;
/// Longer texts are not tried as SQL.
const MAX_PROBED_BYTES: usize = 4096;

/// What trying out a part of an unknown program's operands costs, in simple commands.
const PROBE_COST: usize = 16;

impl Machine<'_> {
    /// Runs another command: program and arguments, as a wrapper would. Returns what it prints.
    pub fn run_argv(&mut self, argv: &[Field], stdin: &Stream, span: Span) -> Stream {
        self.nested(span, |machine| machine.dispatch(argv, stdin, &[], span, false))
    }

    /// The same, with variables set for this command alone.
    pub fn run_with_env(
        &mut self,
        argv: &[Field],
        stdin: &Stream,
        env: &[(String, Field)],
        span: Span,
    ) -> Stream {
        self.nested(span, |machine| machine.dispatch(argv, stdin, env, span, false))
    }

    /// Runs a command. Only one that stands in the shell's own text may be a function: what a
    /// wrapper starts is a program.
    pub(super) fn dispatch(
        &mut self,
        argv: &[Field],
        stdin: &Stream,
        env: &[(String, Field)],
        span: Span,
        direct: bool,
    ) -> Stream {
        let Some((first, args)) = argv.split_first() else { return Stream::Terminal };
        if !self.pay(1 + argv.len() / 16, span) {
            return Stream::Terminal;
        }
        self.note(argv, span);
        let Some(word) = first.text().filter(|_| !first.many) else {
            self.opaque(first.display(), "which program runs is not known beforehand", span);
            return Stream::Output(first.display());
        };
        let bare = !word.contains('/');
        if bare && direct {
            let functions = self.scope.functions.get(word).cloned().unwrap_or_default();
            let picked = self.choose(functions.len());
            if let Some(Some(function)) = functions.get(picked) {
                for (name, value) in env {
                    self.scope.set(name, value.clone());
                }
                let args = argv.iter().all(|arg| !arg.many).then(|| argv.to_vec());
                let outer = std::mem::replace(&mut self.stdin, stdin.clone());
                let out = self.call_function(word, function, args, span);
                self.stdin = outer;
                return out;
            }
        }
        if bare {
            if matches!(word, "eval" | "source" | "." | "read" | "cd") {
                for (name, value) in env {
                    self.scope.set(name, value.clone());
                }
            }
            if let Some(out) = self.builtin(word, args, stdin, span) {
                return out;
            }
        }
        let name = base_name(word);
        let mut env = env.to_vec();
        self.inherited(&mut env);
        let call = Call { name, args, stdin, env: &env, span };
        if let Some(out) = command::run(self, &call) {
            return out;
        }
        if !bare {
            self.run_program_file(first, argv);
        }
        // Every part of the operands is tried already: trying parts of parts finds nothing more.
        if !self.probing && !command::takes_words(name) {
            self.probing = true;
            self.probe(&call);
            self.probe_sql(&call);
            self.probing = false;
        }
        Stream::Output(name.to_owned())
    }

    /// What the line exported before; programs read settings and code from there.
    fn inherited(&self, env: &mut Vec<(String, Field)>) {
        for (name, value) in &self.scope.vars {
            let seen = name.starts_with("GIT_") || self.scope.exported.contains(name);
            if let (true, Value::OneOf(values)) = (seen, value)
                && let Some(value) = values.last()
            {
                env.push((name.clone(), value.clone()));
            }
        }
    }

    /// An unknown program that is given SQL may well be a database's client.
    fn probe_sql(&mut self, call: &Call<'_>) {
        let mut texts: Vec<&Field> = Vec::new();
        for (flag, value) in call.args.iter().zip(call.args.iter().skip(1)) {
            if matches!(
                flag.text(),
                Some(
                    "-c" | "-e"
                        | "-q"
                        | "--command"
                        | "--execute"
                        | "--query"
                        | "--sql"
                        | "--statement"
                )
            ) {
                texts.push(value);
            }
        }
        let harmful = texts.iter().filter_map(|text| text.text()).any(|text| {
            text.len() <= MAX_PROBED_BYTES
                && sql::analyse(text, SqlDialect::Generic).iter().any(|finding| {
                    matches!(finding.kind, SqlKind::Drop { .. } | SqlKind::Truncate { .. })
                })
        });
        if harmful {
            let why = "it is not a known program and is given SQL that drops or empties";
            self.opaque(call.name, why, call.span);
        }
    }

    /// Options with a glued value that may be code: `--cmd='…'`.
    fn glued_code(call: &Call<'_>) -> Vec<Field> {
        let glued = call.args.iter().take(MAX_PROBES).filter_map(|arg| {
            let (name, code) = arg.split_once('=')?;
            let name = name.text()?.strip_prefix("--")?;
            let runs = ["cmd", "command", "exec", "run", "eval", "shell", "script"];
            runs.iter().any(|word| name.ends_with(word)).then_some(code)
        });
        glued.collect()
    }

    /// An unknown program whose operands look like a dangerous command may well run it.
    fn probe(&mut self, call: &Call<'_>) {
        for code in Self::glued_code(call) {
            let flag = Field::lit("-c", code.span);
            self.probe_operands(&Call { args: &[flag, code], ..*call });
        }
        self.probe_operands(call);
    }

    fn probe_operands(&mut self, call: &Call<'_>) {
        for at in 0..call.args.len().min(MAX_PROBES) {
            let Some(argv) = call.args.get(at..) else { return };
            let Some(word) = argv.first().and_then(Field::text) else { continue };
            let is_code = at > 0
                && matches!(
                    call.args.get(at - 1).and_then(Field::text),
                    Some(
                        "-c" | "-e" | "--command" | "--cmd" | "--exec" | "--eval" | "--run" | "-x"
                    )
                );
            if !is_code && (word.contains(' ') || !command::is_modelled(base_name(word))) {
                continue;
            }
            // Probing may lead to probing: without a price the work would double with each word.
            if self.fuel == 0 {
                self.opaque(call.name, "it has too many operands to follow", call.span);
                return;
            }
            self.fuel = self.fuel.saturating_sub(PROBE_COST);
            let before = self.found.clone();
            let scope = self.scope.clone();
            let probed = self.probed;
            if is_code && word.contains(' ') {
                // Code is a line of its own, in which another unknown program may stand.
                self.probing = false;
                self.run_shell_text(&argv.first().cloned().unwrap_or_default(), false);
                self.probing = true;
            } else {
                self.run_argv(argv, &Stream::Terminal, call.span);
            }
            let fresh = self.found.effects.split_off(before.effects.len());
            self.found = before;
            self.scope = scope;
            if fresh.iter().any(is_dangerous) || self.probed > probed {
                self.probed += 1;
                let what = argv.iter().map(Field::display).collect::<Vec<_>>().join(" ");
                let why = format!("it is not a known program and may run `{what}`");
                self.opaque(call.name, why, call.span);
                return;
            }
        }
    }

    /// Runs code in some language that is an argument (`bash -c CODE`, `psql -c CODE`); code of
    /// which nothing is known is opaque. Returns what it prints.
    pub fn run_code(&mut self, lang: Lang, code: &Field) -> Stream {
        let span = code.span;
        match lang {
            Lang::Shell => {
                let here = std::mem::take(&mut self.sourcing);
                self.run_shell_text(code, here)
            }
            Lang::Sql(_) | Lang::Script(_) if code.prefix().is_empty() && code.text().is_none() => {
                self.opaque("code", "it is not known before it runs", span);
                Stream::Terminal
            }
            Lang::Sql(dialect) => {
                self.nested(span, |machine| {
                    let (text, base) = machine.code_text(code);
                    let findings = sql::analyse(&text, dialect);
                    machine.sql_effects(findings, base);
                    Stream::Terminal
                });
                Stream::Output("a database".to_owned())
            }
            Lang::Script(language) => {
                self.nested(span, |machine| {
                    let (text, base) = machine.code_text(code);
                    let findings = script::analyse(language, &text);
                    machine.script_effects(findings, base);
                    Stream::Terminal
                });
                Stream::Output("a script".to_owned())
            }
        }
    }

    /// Runs shell text, in this very shell (`eval`) or in one of its own.
    pub(super) fn run_shell_text(&mut self, code: &Field, here: bool) -> Stream {
        let span = code.span;
        self.nested(span, |machine| {
            let (text, base) = machine.code_text(code);
            let (command, refusal) = parse::parse_as_far_as_it_goes(&text);
            let out = if here {
                machine.eval_at(&command, base)
            } else {
                machine.subshell(|machine| {
                    let outer = std::mem::take(&mut machine.traps);
                    let out = machine.eval_at(&command, base);
                    for code in std::mem::replace(&mut machine.traps, outer) {
                        machine.run_shell_text(&code, true);
                    }
                    out
                })
            };
            // bash runs the lines before the one that it cannot read.
            if let Some(refusal) = refusal.filter(|_| !machine.foreign) {
                machine.unreadable("shell code", refusal.what, span);
            }
            out
        })
    }

    /// Runs shell text with positional parameters (`bash -c CODE name args…`).
    pub fn run_shell_with(&mut self, code: &Field, positional: &[Field]) -> Stream {
        let known = positional.iter().all(|arg| !arg.many).then(|| positional.to_vec());
        let outer = std::mem::replace(&mut self.scope.positional, known);
        let out = self.run_shell_text(code, false);
        self.scope.positional = outer;
        out
    }

    /// Runs `inside` as a child process would: with what is exported, and these variables.
    pub fn child<T>(&mut self, env: &[(String, Field)], inside: impl FnOnce(&mut Self) -> T) -> T {
        let child = self.scope.child();
        let outer = std::mem::replace(&mut self.scope, child);
        for (name, value) in env {
            self.scope.set(name, value.clone());
            self.scope.exported.insert(name.clone());
        }
        let result = inside(self);
        self.scope = outer;
        result
    }

    /// Runs a script file with positional parameters (`bash FILE args…`).
    pub fn run_script_with(&mut self, file: &Field, positional: &[Field]) -> Stream {
        let known = positional.iter().all(|arg| !arg.many).then(|| positional.to_vec());
        let outer = std::mem::replace(&mut self.scope.positional, known);
        let out = self.run_file(Lang::Shell, file);
        self.scope.positional = outer;
        out
    }

    /// Sets what commands read that are run next; gives what they read before.
    pub fn set_stdin(&mut self, stdin: Stream) -> Stream {
        std::mem::replace(&mut self.stdin, stdin)
    }

    /// Code as text, unknown parts replaced by a mark, and where it stands.
    fn code_text(&mut self, code: &Field) -> (String, Base) {
        if code.is_cut() {
            self.unreadable("code", "it is too long to be read whole", code.span);
        }
        let mut text = String::new();
        for seg in code.segs() {
            match seg {
                Seg::Lit(part) | Seg::Glob(part) => text.push_str(part),
                Seg::Any => text.push(UNKNOWN),
            }
        }
        let base = match code.verbatim {
            Some(at) => Base::Offset(at),
            None => Base::Within(code.span),
        };
        (text, base)
    }

    /// Runs code that is read from a stream (`… | sh`, `psql < file`). A file is wanted, other
    /// programs' output is opaque. Returns what it prints.
    pub fn run_stream(&mut self, lang: Lang, stream: &Stream, span: Span) -> Stream {
        match stream {
            Stream::Terminal => {}
            Stream::Text(code) => {
                let mut code = code.clone();
                if code.span == Span::default() {
                    code.span = span;
                }
                if code.has_any() && code.prefix().is_empty() {
                    self.opaque("code", "it is not known before it runs", span);
                    return Stream::Terminal;
                }
                return self.run_code(lang, &code);
            }
            Stream::File(path) if !matches!(lang, Lang::Sql(_)) && is_packed(&path.text) => {
                self.opaque(path.text.clone(), "packed code cannot be seen before it runs", span);
            }
            Stream::File(path) => {
                if let Some(name) = path.resolved.clone().filter(|_| !path.glob) {
                    return self.run_known_file(lang, &name, span);
                }
            }
            Stream::Output(from) if matches!(lang, Lang::Sql(_)) && is_dump(from) => {}
            Stream::Output(from) => {
                self.opaque(
                    format!("output of {from}"),
                    "it is code that is not known before it runs",
                    span,
                );
            }
            Stream::Network(from) => {
                let why = "code from the network runs as it comes".to_owned();
                let cause = Cause::Network;
                self.emit(EffectKind::Opaque { what: from.clone(), why, cause }, span);
            }
        }
        Stream::Output("code".to_owned())
    }

    /// Runs code that is in a file (`psql -f FILE`, `bash FILE`): text that the line itself wrote
    /// there, or that the context holds; else the file is wanted and nothing is assumed.
    pub fn run_file(&mut self, lang: Lang, file: &Field) -> Stream {
        if file.is("-") || file.is("/dev/stdin") {
            let stdin = self.stdin.clone();
            return self.run_stream(lang, &stdin, file.span);
        }
        let Some(name) = self.file_name(file) else { return Stream::Output("a file".to_owned()) };
        self.run_known_file(lang, &name, file.span)
    }

    /// Runs a file as a program: a script when its first line says so.
    fn run_program_file(&mut self, file: &Field, argv: &[Field]) {
        let known = argv.iter().all(|arg| !arg.many).then(|| argv.to_vec());
        let outer = std::mem::replace(&mut self.scope.positional, known);
        if let Some(name) = self.file_name(file) {
            self.run_named(Lang::Shell, &name, file.span, false);
        }
        self.scope.positional = outer;
    }

    fn run_known_file(&mut self, lang: Lang, name: &str, span: Span) -> Stream {
        self.run_named(lang, name, span, true)
    }

    fn run_named(&mut self, lang: Lang, name: &str, span: Span, by_shell: bool) -> Stream {
        let absolute = crate::analysis::path::normalize(name, self.context.root.as_deref());
        let name = absolute.unwrap_or_else(|| name.to_owned());
        if let Some(streams) = self.scope.files.get(&name).cloned() {
            let mut out = Stream::Terminal;
            for stream in &streams {
                out = self.run_stream(lang, stream, span);
            }
            return out;
        }
        if name.starts_with("/dev/") || name.starts_with("/proc/") {
            let stream = self.stream_of(&Field::lit(name, span));
            if !matches!(stream, Stream::File(_)) {
                return self.run_stream(lang, &stream, span);
            }
            return Stream::Output("a device".to_owned());
        }
        match self.context.files.get(&name) {
            Some(text) if lang == Lang::Shell => self.run_script(text, span, by_shell),
            Some(text) => {
                self.run_code(lang, &Field::lit(text.clone(), span));
            }
            // One-liners in other languages are read, whole programs are not.
            None if matches!(lang, Lang::Script(_)) => {}
            None if self.context.unread.contains(&name) => {
                self.unreadable(name, "it is too large, or one file too many, to be read", span);
            }
            None => self.found.wanted.push(name),
        }
        Stream::Output("a file".to_owned())
    }

    /// Runs the text of a script file, when it is one that a shell would read.
    fn run_script(&mut self, text: &str, span: Span, by_shell: bool) {
        let first = text.lines().next().unwrap_or("");
        // For a shell that is given the file, the first line is only a comment.
        if first.starts_with("#!") && !first.contains("sh") && !by_shell {
            return;
        }
        let foreign = ["zsh", "fish", "csh"].iter().any(|other| first.contains(other));
        let outer = std::mem::replace(&mut self.foreign, foreign);
        self.scripts += 1;
        let here = std::mem::take(&mut self.sourcing);
        self.run_shell_text(&Field::lit(text, span), here);
        self.scripts -= 1;
        self.foreign = outer;
    }
}

/// Whether an effect is one that no policy lets pass by itself.
fn is_dangerous(effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::ChangePath { .. }
        | EffectKind::Network { .. }
        | EffectKind::Opaque { .. }
        | EffectKind::UnknownTool { .. } => false,
        EffectKind::DeleteFiles { count, recursive, .. } => {
            *recursive || !matches!(count, aurora_model::Count::Known(..=5))
        }
        _ => true,
    }
}

/// Whether a file's name says that its content is packed.
fn is_packed(name: &str) -> bool {
    [".gz", ".xz", ".bz2", ".zst", ".lz4", ".lzma", ".Z"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// Programs whose output is a dump: data that was written to be read back.
fn is_dump(program: &str) -> bool {
    matches!(
        program,
        "pg_dump" | "pg_dumpall" | "mysqldump" | "mariadb-dump" | "sqlite3" | "pg_restore" | "ssh"
    )
}

/// A program's name without its folder and without `.exe`.
#[must_use]
pub fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}
