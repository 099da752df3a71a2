//! Calls that are told by the last part of their name, whatever they are called on, and lists that grow.

use super::super::shell::machine::ScriptLang;
use super::UNKNOWN;
use super::api;
use super::call::Args;
use super::lexer::Kind;
use super::reader::Reader;
use super::value::Value;

/// Functions of Node's modules whose names nothing else has.
const NODE_MEMBERS: &[(&str, &str)] = &[
    ("appendFileSync", "fs"),
    ("chmodSync", "fs"),
    ("copyFileSync", "fs"),
    ("cpSync", "fs"),
    ("createWriteStream", "fs"),
    ("execFileSync", "child_process"),
    ("execSync", "child_process"),
    ("renameSync", "fs"),
    ("rmSync", "fs"),
    ("rmdirSync", "fs"),
    ("spawnSync", "child_process"),
    ("truncateSync", "fs"),
    ("unlinkSync", "fs"),
    ("writeFile", "fs"),
    ("writeFileSync", "fs"),
];

impl Reader<'_> {
    /// Calls a function by the last part of its name; nothing when that says nothing.
    pub(super) fn call_by_member(
        &mut self,
        name: &str,
        args: &Args,
        start: usize,
    ) -> Option<Value> {
        let (owner, method) = name.rsplit_once('.')?;
        match self.lang {
            ScriptLang::JavaScript => self.node_member(method, args, start),
            ScriptLang::Python => self.python_member(owner, method, args, start),
            ScriptLang::Ruby => self.ruby_member(owner, method, args, start),
            _ => None,
        }
    }

    fn node_member(&mut self, method: &str, args: &Args, start: usize) -> Option<Value> {
        let written = matches!(args.at(0), Value::Str(_));
        let found = NODE_MEMBERS.iter().find(|(name, _)| *name == method);
        let full = match found {
            Some((_, module)) if written => format!("{module}.{method}"),
            None if method == "rm" && written && args.flag("recursive") => "fs.rm".to_owned(),
            None if method == "constructor" && written => "Function".to_owned(),
            _ => return None,
        };
        let act = api::find(self.lang, &full)?;
        Some(self.act(act, args, start))
    }

    fn python_member(
        &mut self,
        owner: &str,
        method: &str,
        args: &Args,
        start: usize,
    ) -> Option<Value> {
        let first = args.at(0);
        match method {
            "system" if matches!(first, Value::Str(_)) => {
                self.run_line(first, &Args::default(), start);
                return Some(Value::Unknown);
            }
            "__getattribute__" | "__getitem__" if matches!(first, Value::Str(_)) => {
                let owner = owner.strip_suffix(".__dict__").unwrap_or(owner);
                return Some(Value::Name(format!("{owner}.{}", first.text())));
            }
            _ => {}
        }
        let git = owner.ends_with(".git") || owner.ends_with("Git()");
        let pushes = method == "push"
            && (args.flag("force") || args.flag("force_with_lease") || self.forced_refspec(args));
        if !git && !pushes {
            let resets = method == "reset" && args.flag("working_tree");
            if !resets {
                return None;
            }
            let argv = vec![Some("reset".to_owned()), Some("--hard".to_owned())];
            self.run_argv(&Value::str("git"), argv, &Args::default(), start);
            return Some(Value::Unknown);
        }
        let mut argv = vec![Some(method.replace('_', "-"))];
        if pushes && !git {
            argv.push(Some("origin".to_owned()));
        }
        for (option, value) in &args.named {
            let dashes = if option.len() == 1 { "-" } else { "--" };
            if option == "refspec" {
                argv.push(value.known());
            } else if value.truthy() || *value == Value::Unknown {
                argv.push(Some(format!("{dashes}{}", option.replace('_', "-"))));
            } else if let Value::Str(text) = value {
                argv.push(Some(format!("{dashes}{option}={text}")));
            }
        }
        for value in &args.pos {
            match value {
                Value::List(values) => argv.extend(values.iter().map(Value::known)),
                other => argv.push(other.known()),
            }
        }
        self.run_argv(&Value::str("git"), argv, &Args::default(), start);
        Some(Value::Unknown)
    }

    fn forced_refspec(&self, args: &Args) -> bool {
        matches!(args.get(0, "refspec"), Value::Str(text) if text.starts_with('+'))
    }

    /// `method(:system).call("…")`.
    fn ruby_member(
        &mut self,
        owner: &str,
        method: &str,
        args: &Args,
        start: usize,
    ) -> Option<Value> {
        if method == "method" && matches!(args.at(0), Value::Str(_)) {
            let owner = if matches!(owner, "Kernel" | "Object" | "self") { "" } else { owner };
            let dot = if owner.is_empty() { "" } else { "." };
            return Some(Value::Name(format!("{owner}{dot}{}", args.at(0).text())));
        }
        if matches!(method, "call" | "()") {
            let act = self.lookup(owner)?;
            return Some(self.act(act, args, start));
        }
        None
    }

    /// `call_user_func('system', …)`.
    pub(super) fn call_first(&mut self, args: &Args, start: usize) -> Value {
        let Some((function, rest)) = args.pos.split_first() else { return Value::Unknown };
        let pos = match rest {
            [Value::List(values)] => values.clone(),
            _ => rest.to_vec(),
        };
        let name = match function {
            Value::Str(name) | Value::Name(name) => name.clone(),
            _ => UNKNOWN.to_string(),
        };
        let args = Args { pos, named: args.named.clone() };
        if api::find(self.lang, &name) == Some(api::Act::CallFirst) {
            return Value::Unknown;
        }
        self.call_name(name, &args, start)
    }

    /// `import("module").then(name => …)`: the name is the module.
    pub(super) fn name_parameter(&mut self, callee: &Value) {
        let Value::Name(callee) = callee else { return };
        if self.lang != ScriptLang::JavaScript {
            return;
        }
        let Some(module) = callee.strip_suffix(".then") else { return };
        let mut at = 1;
        while matches!(self.text_at(at), "async" | "function")
            || self.kind_at(at) == Some(&Kind::Open(b'('))
        {
            at += 1;
        }
        let module = module.to_owned();
        if self.kind_at(at) == Some(&Kind::Open(b'{')) {
            at += 1;
            while self.kind_at(at) == Some(&Kind::Ident) {
                let name = self.text_at(at).to_owned();
                let renamed = self.text_at(at + 1) == ":";
                let alias = if renamed { self.text_at(at + 2).to_owned() } else { name.clone() };
                self.bind(alias, Value::Name(format!("{module}.{name}")));
                at += if renamed { 4 } else { 2 };
            }
        } else if self.kind_at(at) == Some(&Kind::Ident) {
            let name = self.text_at(at).to_owned();
            self.bind(name, Value::Name(module));
        }
    }

    /// `list.append(x)` and its like, as a statement: the variable holds more from then on.
    pub(super) fn grown_list(&mut self) -> bool {
        if self.kind() != Some(&Kind::Ident) {
            return false;
        }
        if self.lang == ScriptLang::Perl && matches!(self.text_at(0), "push" | "unshift") {
            return self.perl_push();
        }
        let name = self.text_at(0);
        let Some(Value::List(values)) = self.scope.get(name) else { return false };
        let shovels = self.lang == ScriptLang::Ruby && self.text_at(1) == "<<";
        let method = self.text_at(2);
        let grows = matches!(
            method,
            "append" | "extend" | "insert" | "push" | "unshift" | "concat" | "prepend"
        );
        let called = grows && self.text_at(1) == "." && self.kind_at(3) == Some(&Kind::Open(b'('));
        let added = self.lang == ScriptLang::Php
            && self.kind_at(1) == Some(&Kind::Open(b'['))
            && self.kind_at(2) == Some(&Kind::Close(b']'))
            && self.text_at(3) == "=";
        if !shovels && !called && !added {
            return false;
        }
        let mut values = values.clone();
        if added {
            self.at += 4;
            values.push(self.expression());
        } else if shovels {
            self.at += 2;
            values.push(self.unary());
        } else {
            self.at += 3;
            let args = self.arguments();
            grow(&mut values, method, args.pos);
        }
        self.bind(name.to_owned(), Value::list(values));
        true
    }

    /// Perl's `push @list, …`.
    fn perl_push(&mut self) -> bool {
        let open = usize::from(self.kind_at(1) == Some(&Kind::Open(b'(')));
        let name = self.text_at(1 + open);
        let Some(Value::List(values)) = self.scope.get(name) else { return false };
        let mut values = values.clone();
        let first = self.text_at(0) == "unshift";
        if self.text_at(2 + open) != "," {
            return false;
        }
        self.at += 3 + open;
        let more = match self.expression_list() {
            Value::List(more) => more,
            other => vec![other],
        };
        if first {
            values.splice(0..0, more);
        } else {
            values.extend(more);
        }
        self.bind(name.to_owned(), Value::list(values));
        true
    }
}

/// A list after one of its methods.
fn grow(values: &mut Vec<Value>, method: &str, mut args: Vec<Value>) {
    match method {
        "extend" | "concat" => match args.pop() {
            Some(Value::List(more)) => values.extend(more),
            _ => values.push(Value::Unknown),
        },
        "insert" => {
            let at = match args.first() {
                Some(Value::Num(at)) => usize::try_from(*at).unwrap_or(values.len()),
                _ => values.len(),
            };
            let at = at.min(values.len());
            values.insert(at, args.pop().unwrap_or(Value::Unknown));
        }
        "unshift" | "prepend" => {
            values.splice(0..0, args);
        }
        _ => values.extend(args),
    }
}
