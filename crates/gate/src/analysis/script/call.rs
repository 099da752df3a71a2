//! What a call does: the effects of modelled functions, and the values of those that only build text.

use aurora_model::{Span, Touch};

use super::super::shell::machine::ScriptLang;
use super::api::{self, Act, Pure};
use super::lexer::{Kind, Part};
use super::reader::Reader;
use super::value::{MAX_TEXT, Value, decode_base64, decode_hex, join, join_path, split_words};
use super::{ScriptFinding, UNKNOWN, What, add, analyse_nested};

/// How long a dotted name may become before it is forgotten.
const MAX_NAME: usize = 200;

/// Modules of Python of which any function may be called through a name that is not known.
const HARMFUL_MODULES: &[&str] =
    &["__builtins__", "builtins", "os", "posix", "pty", "shutil", "subprocess"];

/// A call's arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    pub(super) pos: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

impl Args {
    pub(super) fn at(&self, index: u8) -> &Value {
        self.pos.get(usize::from(index)).unwrap_or(&Value::Unknown)
    }

    /// A named argument, or an entry of an options object.
    pub(super) fn option(&self, name: &str) -> Option<&Value> {
        let dicts = self.pos.iter().filter_map(|value| match value {
            Value::Dict(entries) => Some(entries),
            _ => None,
        });
        let all = self.named.iter().chain(dicts.flatten());
        all.rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether an option is on, or could be.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.option(name).is_some_and(|value| {
            let r = matches!(value, Value::Name(name) if name == "TRUE" || name == "T");
            value.truthy() || *value == Value::Unknown || r
        })
    }

    /// The positional argument or, failing that, the one of that name.
    pub(super) fn get(&self, index: u8, name: &str) -> &Value {
        self.pos.get(usize::from(index)).or_else(|| self.option(name)).unwrap_or(&Value::Unknown)
    }

    fn texts(&self) -> Vec<&Value> {
        self.pos.iter().filter(|value| !matches!(value, Value::Dict(_))).collect()
    }
}

/// The module that `require` or `import` of this gives.
pub(super) fn module_of(name: &Value) -> Value {
    let Some(name) = name.known() else { return Value::Unknown };
    let name = name.strip_prefix("node:").unwrap_or(&name);
    let name = match name {
        "fs/promises" => "fs.promises",
        "graceful-fs" => "fs",
        other => other,
    };
    Value::Name(name.to_owned())
}

impl Reader<'_> {
    /// A member of a value.
    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        match value {
            Value::Net => Value::Net,
            Value::File => Value::File,
            Value::Name(owner) if owner.len() < MAX_NAME => {
                let full = format!("{owner}.{name}");
                api::constant(self.lang, &full).unwrap_or(Value::Name(full))
            }
            Value::Path(path) => match name {
                "parent" | "dirname" if self.lang == ScriptLang::Python => {
                    Value::Path(path.rsplit_once('/').map_or(".", |(dir, _)| dir).to_owned())
                }
                "name" => Value::Str(path.rsplit('/').next().unwrap_or("").to_owned()),
                _ => Value::Method(Box::new(Value::Path(path)), name.to_owned()),
            },
            Value::Unknown => Value::Name(format!("{UNKNOWN}.{name}")),
            // A method of a method is nothing that is known, and a long chain would nest deeply.
            Value::Method(..) => Value::Unknown,
            other => Value::Method(Box::new(other), name.to_owned()),
        }
    }

    /// Calls a value: records what it does, gives what it returns.
    pub(super) fn call(&mut self, callee: Value, args: Args, start: usize) -> Value {
        match callee {
            Value::Name(name) => self.call_name(name, &args, start),
            // PHP calls the function that a text names.
            Value::Str(name) if self.lang == ScriptLang::Php => {
                self.call_name(name.replace("::", "."), &args, start)
            }
            Value::Method(owner, name) => {
                self.call_method(&owner, &name, &args, start).unwrap_or(Value::Unknown)
            }
            Value::Net => {
                let evaluated = args.pos.iter().any(|value| {
                    matches!(value, Value::Name(name)
                        if matches!(api::find(self.lang, name), Some(Act::Eval(_))))
                });
                if evaluated {
                    self.emit(What::Opaque { why: "it evaluates what the network sends" }, start);
                }
                Value::Net
            }
            Value::File => Value::File,
            _ => Value::Unknown,
        }
    }

    pub(super) fn call_name(&mut self, name: String, args: &Args, start: usize) -> Value {
        if let Some(method) = redispatch(&name) {
            // Ruby's `send(:system, …)`.
            if let Some((Value::Str(real), rest)) = args.pos.split_first() {
                let owner = method.map_or(String::new(), |owner| format!("{owner}."));
                let args = Args { pos: rest.to_vec(), named: args.named.clone() };
                return self.call_name(format!("{owner}{real}"), &args, start);
            }
        }
        if let Some(act) = self.lookup(&name) {
            return self.act(act, args, start);
        }
        if let Some(value) = self.call_by_member(&name, args, start) {
            return value;
        }
        if let Some((owner, method)) = name.rsplit_once('.') {
            let owner = Value::Name(owner.to_owned());
            if let Some(value) = self.call_method(&owner, method, args, start) {
                return value;
            }
        }
        if name.starts_with(UNKNOWN) && !name.contains('.') {
            self.emit(What::Opaque { why: "the called function is not known" }, start);
        }
        if name.len() < MAX_NAME { Value::Name(format!("{name}()")) } else { Value::Unknown }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Act> {
        api::find(self.lang, name).or_else(|| {
            self.stars.iter().find_map(|module| api::find(self.lang, &format!("{module}.{name}")))
        })
    }

    pub(super) fn act(&mut self, act: Act, args: &Args, start: usize) -> Value {
        match act {
            Act::Pure(pure) => return self.pure(pure, args),
            Act::Shell(at) => self.run_line(args.get(at, "command"), args, start),
            Act::ShellOrArgs => self.run_line_or_args(args, start),
            Act::Program => self.run_program(args, start),
            Act::ProgramArgs => self.run_program_args(args, start),
            Act::ExecList(at) => self.run_exec_list(at, args, start),
            Act::ExecArgs(at) => {
                let argv = args.pos.iter().skip(usize::from(at) + 2).map(Value::known).collect();
                self.run_argv(args.at(at), argv, args, start);
            }
            Act::Delete { .. } | Act::DeleteFirst { .. } | Act::DeleteIfRecursive => {
                self.deletes_by(act, args, start);
            }
            Act::Command(program) => {
                let rest = args.pos.iter().map(Value::known).collect();
                self.run_argv(&Value::str(program), rest, args, start);
            }
            Act::Change(at, touch) => self.change(args.get(at, "path"), touch, start),
            Act::ChangeEach(skip, touch) => {
                for value in args.pos.iter().skip(usize::from(skip)) {
                    self.change(value, touch, start);
                }
            }
            Act::Move => {
                self.change(args.get(0, "src"), Touch::Rename, start);
                self.change(args.get(1, "dst"), Touch::Rename, start);
            }
            Act::Link => {
                self.change(args.at(0), Touch::Link, start);
                self.change(args.at(1), Touch::Link, start);
            }
            Act::Open => return self.open_file(args.get(0, "file"), args.get(1, "mode"), start),
            Act::PerlOpen => self.perl_open(args, start),
            Act::Sql(at) => self.sql(args.at(at), start),
            Act::SqlAny => {
                if let Some(text) = args.pos.iter().find(|value| matches!(value, Value::Str(_))) {
                    let text = text.clone();
                    self.sql(&text, start);
                }
            }
            Act::SqlText(template) => {
                let object = args.at(0).known().unwrap_or_else(|| "it".to_owned());
                let text = template.replace("{}", &object);
                self.emit(What::Sql { text: Some(text) }, start);
            }
            Act::RunText(template) => {
                let command = args.at(0).known().map(|text| template.replace("{}", &text));
                self.emit(What::Run { command, argv: None, input: None }, start);
            }
            Act::Eval(at) => self.eval(args.at(at), start),
            Act::EvalLast => self.eval(args.pos.last().unwrap_or(&Value::Bool(false)), start),
            Act::ChangeIf(option) => {
                if args.flag(option) {
                    self.change(args.get(0, "files"), Touch::Write, start);
                }
            }
            Act::CallFirst => return self.call_first(args, start),
            Act::Fetch => {
                let target = args.get(0, "url").known();
                self.emit(What::Fetch { target }, start);
                return Value::Net;
            }
            Act::FetchTo => {
                self.emit(What::Fetch { target: args.at(0).known() }, start);
                self.change(args.at(1), Touch::Write, start);
            }
        }
        Value::Unknown
    }

    fn deletes_by(&mut self, act: Act, args: &Args, start: usize) {
        let asked = args.flag("recursive");
        match act {
            Act::Delete { recursive } => {
                let targets: Vec<Value> = args.texts().into_iter().cloned().collect();
                self.delete(&targets, recursive || asked, start);
            }
            Act::DeleteFirst { recursive } => {
                let first = std::slice::from_ref(args.get(0, "path"));
                self.delete(first, recursive || asked, start);
            }
            _ if asked => self.delete(std::slice::from_ref(args.at(0)), true, start),
            _ => {}
        }
    }

    fn pure(&mut self, pure: Pure, args: &Args) -> Value {
        let first = args.at(0);
        match pure {
            Pure::Import => module_of(first),
            Pure::Member => match args.at(1) {
                Value::Str(name) => self.member(first.clone(), &name.clone()),
                // Any function of a module that can do harm; elsewhere it is some method.
                _ => match first {
                    Value::Name(module) if HARMFUL_MODULES.contains(&module.as_str()) => {
                        Value::Name(UNKNOWN.to_string())
                    }
                    _ => Value::Unknown,
                },
            },
            Pure::JoinPath | Pure::NewPath => {
                let mut path = String::new();
                for value in &args.pos {
                    path = join_path(&path, &value.text());
                    if path.len() > MAX_TEXT {
                        return Value::Unknown;
                    }
                }
                if pure == Pure::NewPath { Value::path(path) } else { Value::string(path) }
            }
            Pure::ExpandHome => match first.known() {
                Some(path) => match path.strip_prefix('~') {
                    Some(rest) => Value::Str(format!("{UNKNOWN}{rest}")),
                    None => Value::Str(path),
                },
                None => Value::Unknown,
            },
            Pure::Same => first.clone(),
            Pure::Base64 => bytes_value(first.known().and_then(|text| decode_base64(&text))),
            Pure::Hex => bytes_value(first.known().and_then(|text| decode_hex(&text))),
            Pure::Char => {
                let mut text = String::new();
                for value in &args.pos {
                    let Value::Num(number) = value else { return Value::Unknown };
                    let c = u32::try_from(*number).ok().and_then(char::from_u32);
                    text.push(c.unwrap_or(UNKNOWN));
                }
                Value::Str(text)
            }
            Pure::SplitShell => match first {
                Value::Str(text) => Value::list(split_words(text, true)),
                _ => Value::Unknown,
            },
            Pure::JoinList => {
                let separator = first.text();
                let values = match args.at(1) {
                    Value::List(values) => values.clone(),
                    _ => args.pos.iter().skip(1).cloned().collect(),
                };
                join(&values, &separator)
            }
            Pure::Glob => Value::glob(first.text()),
            Pure::ReadFile => match first {
                Value::Str(text) if text.contains("://") => Value::Net,
                _ => Value::File,
            },
            Pure::Chdir => {
                self.cwd = Some(first.text());
                Value::Unknown
            }
        }
    }

    pub(super) fn run_line(&mut self, command: &Value, args: &Args, start: usize) {
        let input = args.option("input").and_then(Value::known);
        for choice in command.choices() {
            if matches!(choice, Value::List(_)) {
                self.run_list(choice, args, start);
                continue;
            }
            let command = choice.known();
            self.emit(What::Run { command, argv: None, input: input.clone() }, start);
        }
    }

    pub(super) fn run_argv(
        &mut self,
        program: &Value,
        rest: Vec<Option<String>>,
        args: &Args,
        start: usize,
    ) {
        let mut argv = vec![program.known()];
        argv.extend(rest);
        let input = args.option("input").and_then(Value::known);
        let known = argv.iter().any(Option::is_some);
        self.emit(What::Run { command: None, argv: known.then_some(argv), input }, start);
    }

    fn run_list(&mut self, list: &Value, args: &Args, start: usize) {
        match list {
            Value::List(values) => {
                let rest = values.iter().skip(1).map(Value::known).collect();
                self.run_argv(values.first().unwrap_or(&Value::Unknown), rest, args, start);
            }
            _ => {
                self.emit(What::Run { command: None, argv: None, input: None }, start);
            }
        }
    }

    /// `system("line")` or `system("program", "argument", …)`.
    fn run_line_or_args(&mut self, args: &Args, start: usize) {
        let values = args.texts();
        match values.as_slice() {
            [] => {}
            [Value::List(values)] => self.run_list(&Value::List(values.clone()), args, start),
            [line] => self.run_line(&(*line).clone(), args, start),
            [program, rest @ ..] => {
                let mut argv = Vec::new();
                for value in rest {
                    match value {
                        Value::List(inner) => argv.extend(inner.iter().map(Value::known)),
                        other => argv.push(other.known()),
                    }
                }
                self.run_argv(program, argv, args, start);
            }
        }
    }

    /// Python's `subprocess`: a list, or a string that is a line only with `shell=True`.
    fn run_program(&mut self, args: &Args, start: usize) {
        let first = args.get(0, "args");
        let shell = args.flag("shell");
        match first {
            Value::List(values) if shell => {
                self.run_line(values.first().unwrap_or(&Value::Unknown), args, start);
            }
            Value::List(_) => self.run_list(first, args, start),
            other if shell => self.run_line(other, args, start),
            Value::Str(program) => {
                // Without a shell the whole string is the program's name; a line that was meant for
                // one is read as a line all the same, since it can only be meant that way.
                self.run_line(&Value::Str(program.clone()), args, start);
            }
            _ => self.emit(What::Run { command: None, argv: None, input: None }, start),
        }
    }

    /// `spawn("program", ["argument", …], {shell: true})`.
    fn run_program_args(&mut self, args: &Args, start: usize) {
        if let Some(list @ Value::List(_)) = args.option("cmd") {
            let list = list.clone();
            return self.run_list(&list, args, start);
        }
        let rest: &[Value] = match (args.pos.get(1), args.option("args")) {
            (_, Some(Value::List(values))) | (Some(Value::List(values)), _) => values,
            (Some(Value::Dict(_)) | None, None) => &[],
            _ => &[Value::Unknown],
        };
        if matches!(args.at(0), Value::List(_)) {
            let list = args.at(0).clone();
            return self.run_list(&list, args, start);
        }
        if args.flag("shell") {
            let mut line = args.at(0).text();
            for value in rest {
                line.push(' ');
                line.push_str(&value.text());
            }
            return self.run_line(&Value::string(line), args, start);
        }
        let argv = rest.iter().map(Value::known).collect();
        self.run_argv(args.at(0), argv, args, start);
    }

    /// `execv(program, [argv0, argument, …])`.
    fn run_exec_list(&mut self, at: u8, args: &Args, start: usize) {
        let rest = match args.at(at + 1) {
            Value::List(values) => values.iter().skip(1).map(Value::known).collect(),
            _ => vec![None],
        };
        self.run_argv(args.at(at), rest, args, start);
    }

    pub(super) fn delete(&mut self, targets: &[Value], recursive: bool, start: usize) {
        let mut paths = Vec::new();
        let mut many = false;
        self.targets(targets, &mut paths, &mut many);
        if targets.is_empty() {
            paths.push(None);
        }
        self.emit(What::Delete { paths, recursive, many }, start);
    }

    fn targets(&self, targets: &[Value], paths: &mut Vec<Option<String>>, many: &mut bool) {
        for target in targets {
            match target {
                Value::List(inner) | Value::OneOf(inner) => self.targets(inner, paths, many),
                Value::Glob(pattern) => {
                    *many = true;
                    paths.push(self.located(&Value::Str(pattern.clone())));
                }
                other => paths.push(self.located(other)),
            }
        }
    }

    /// A path, from the folder that the script went to.
    fn located(&self, path: &Value) -> Option<String> {
        let path = path.known()?;
        Some(match &self.cwd {
            Some(cwd) => join_path(cwd, &path),
            None => path,
        })
    }

    pub(super) fn change(&mut self, path: &Value, touch: Touch, start: usize) {
        match path {
            Value::List(values) | Value::OneOf(values) => {
                for value in values {
                    self.change(value, touch, start);
                }
            }
            other => {
                let path = self.located(other);
                self.emit(What::Change { path, touch }, start);
            }
        }
    }

    /// A file that is opened with a mode such as `w`, `a`, `r+`.
    pub(super) fn open_file(&mut self, path: &Value, mode: &Value, start: usize) -> Value {
        if let (ScriptLang::Ruby, Value::Str(text)) = (self.lang, path)
            && let Some(command) = text.strip_prefix('|')
        {
            let command = Some(command.trim().to_owned());
            self.emit(What::Run { command, argv: None, input: None }, start);
            return Value::Unknown;
        }
        let touch = match mode {
            Value::Str(mode) if mode.starts_with('w') => Some(Touch::Write),
            Value::Str(mode) if mode.starts_with('a') => Some(Touch::Append),
            Value::Str(mode) if mode.starts_with('x') => Some(Touch::Create),
            Value::Str(mode) if mode.contains(['+', 'w']) => Some(Touch::Write),
            Value::Name(flags) if opens_to_write(flags) => Some(Touch::Write),
            _ => None,
        };
        match touch {
            Some(touch) => {
                self.change(path, touch, start);
                Value::Unknown
            }
            None => Value::File,
        }
    }

    /// Perl's `open`: the mode stands alone or before the name; pipes run programs.
    fn perl_open(&mut self, args: &Args, start: usize) {
        let mode = args.at(1).text();
        let mode = mode.trim();
        if let Some(target) = args.pos.get(2) {
            let target = target.clone();
            if mode.contains('|') {
                let rest = args.pos.iter().skip(2).cloned().collect();
                self.run_line_or_args(&Args { pos: rest, named: Vec::new() }, start);
            } else if mode.starts_with(">>") || mode.starts_with("+>>") {
                self.change(&target, Touch::Append, start);
            } else if mode.contains(['>', '+']) {
                self.change(&target, Touch::Write, start);
            }
            return;
        }
        if let Some(command) = mode.strip_prefix('|').or_else(|| mode.strip_suffix('|')) {
            self.run_line(&Value::str(command.trim()), &Args::default(), start);
        } else if let Some(path) = mode.strip_prefix(">>") {
            self.change(&Value::str(path.trim()), Touch::Append, start);
        } else if let Some(path) = mode.strip_prefix('>').or_else(|| mode.strip_prefix("+<")) {
            self.change(&Value::str(path.trim()), Touch::Write, start);
        }
    }

    pub(super) fn sql(&mut self, text: &Value, start: usize) {
        for choice in text.choices() {
            match choice {
                Value::Str(text) => self.emit(What::Sql { text: Some(text.clone()) }, start),
                Value::Net | Value::Glob(_) => self.emit(What::Sql { text: None }, start),
                _ => {}
            }
        }
    }

    pub(super) fn eval(&mut self, code: &Value, start: usize) {
        match code {
            Value::File | Value::Bool(_) | Value::Num(_) => {}
            Value::Str(code) if !code.is_empty() => {
                let inner = analyse_nested(self.lang, code, &self.nesting.deeper(code));
                let span = Span::new(start, self.last_end().max(start));
                for finding in inner {
                    let in_loop = finding.in_loop || self.loops > 0;
                    add(&mut self.findings, ScriptFinding { in_loop, span, ..finding });
                }
            }
            Value::Net => {
                self.emit(What::Opaque { why: "it evaluates what the network sends" }, start);
            }
            Value::OneOf(values) => {
                for value in values {
                    self.eval(value, start);
                }
            }
            _ => self.emit(What::Opaque { why: "it evaluates code that is not known" }, start),
        }
    }

    /// A template literal with a name in front: `$` of zx and Bun, `sql` of many.
    pub(super) fn tagged_template(&mut self, tag: &Value, start: usize) -> Value {
        let tokens = std::rc::Rc::clone(&self.tokens);
        let Some(Kind::Template(parts)) = tokens.get(self.at).map(|token| &token.kind) else {
            return Value::Unknown;
        };
        self.at += 1;
        let parts: &[Part] = parts;
        let text = self.render(parts);
        if let Value::Name(tag) = tag {
            let last = tag.rsplit('.').next().unwrap_or("");
            if last == "$"
                || tag.starts_with("$.")
                || matches!(last, "execa" | "execaCommand" | "$sync")
            {
                self.run_line(&text, &Args::default(), start);
                return Value::Unknown;
            }
            if matches!(last, "sql" | "$executeRaw" | "$queryRaw" | "SQL") {
                self.sql(&text, start);
                return Value::Unknown;
            }
        }
        if matches!(tag, Value::Name(_)) { Value::Unknown } else { text }
    }
}

/// Whether a name is Ruby's `send`; the receiver before it.
fn redispatch(name: &str) -> Option<Option<&str>> {
    match name.rsplit_once('.') {
        None => matches!(name, "send" | "public_send" | "__send__").then_some(None),
        Some((owner, method)) => matches!(method, "send" | "public_send" | "__send__").then(|| {
            if matches!(owner, "Kernel" | "self" | "Object" | "Process") {
                None
            } else {
                Some(owner)
            }
        }),
    }
}

/// Whether the flags of a system call open a file to write to it.
fn opens_to_write(flags: &str) -> bool {
    ["O_WRONLY", "O_RDWR", "O_TRUNC", "O_CREAT", "O_APPEND"].iter().any(|flag| flags.contains(flag))
}

fn bytes_value(bytes: Option<Vec<u8>>) -> Value {
    bytes
        .map_or(Value::Unknown, |bytes| Value::string(String::from_utf8_lossy(&bytes).into_owned()))
}
