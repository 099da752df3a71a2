//! What the abstract shell knows at one point of a line: variables, parameters, functions, files,
//! current directory. Where two ways meet, what differs becomes alternatives.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use aurora_model::Span;

use super::ast::Command;
use super::field::Field;
use super::machine::Stream;

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// One of these texts.
    OneOf(Vec<Field>),
    /// An array.
    Array(Vec<Field>),
}

/// More alternatives than this become "unknown".
const MAX_ALTERNATIVES: usize = 8;
/// More current directories than this are not told apart.
const MAX_DIRS: usize = 4;

/// How places in the text at hand map to places in the judged text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base {
    /// The text stands verbatim at this offset.
    Offset(usize),
    /// It stands somewhere in here.
    Within(Span),
}

/// A function that the line defines.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) body: Rc<Command>,
    pub(super) base: Base,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.body, &other.body)
    }
}

/// What the shell knows; a subshell copies it.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Variables that this line has set.
    pub vars: BTreeMap<String, Value>,
    /// Which of them child processes see for certain; `name()` for a function.
    pub exported: BTreeSet<String>,
    /// `$1` and so on, when they are known.
    pub positional: Option<Vec<Field>>,
    /// The current directory, absolute, when it is known.
    pub cwd: Option<String>,
    /// Where it may be instead.
    pub other_cwds: Vec<Option<String>>,
    /// The directory before the last `cd`.
    pub old_cwd: Option<String>,
    /// What `pushd` remembers.
    pub dirs: Vec<Option<String>>,
    /// Aliases that this line has defined.
    pub aliases: BTreeMap<String, String>,
    /// Functions that this line has defined; nothing among them when one may be undefined.
    pub(super) functions: BTreeMap<String, Vec<Option<Function>>>,
    /// File descriptors other than the usual three.
    pub fds: BTreeMap<u32, Stream>,
    /// What standard input was before `exec` gave it another.
    pub replaced: Option<Stream>,
    /// What the line itself has put into files, and what process substitutions print.
    pub files: BTreeMap<String, Vec<Stream>>,
    /// Git configuration that the line has set.
    pub git: BTreeMap<String, Vec<String>>,
}

/// Adds what is new, in order.
fn add_all<T: PartialEq>(into: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !into.contains(&one) {
            into.push(one);
        }
    }
}

impl Scope {
    /// Sets a variable to one text.
    pub fn set(&mut self, name: &str, value: Field) {
        self.vars.insert(name.to_owned(), Value::OneOf(vec![value]));
    }

    /// What a child process knows of this. A variable that was not exported may still have come
    /// from the environment, in which case the child sees the new value.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut child = self.clone();
        for (name, value) in &mut child.vars {
            match value {
                Value::OneOf(values) if !self.exported.contains(name) => {
                    values.push(Field::default());
                }
                Value::OneOf(_) => {}
                // bash exports no arrays.
                Value::Array(values) => values.clear(),
            }
        }
        child.aliases.clear();
        child.functions.retain(|name, _| self.exported.contains(&format!("{name}()")));
        child
    }

    /// What is left when a subshell ends: what it wrote to disk stays.
    pub fn leave(&mut self, outer: Self) {
        let files = std::mem::take(&mut self.files);
        let git = std::mem::take(&mut self.git);
        *self = Self { files, git, ..outer };
    }

    /// What is known after either this or the other way was taken.
    pub fn join(&mut self, other: Self) {
        let mut dirs = vec![self.cwd.take()];
        dirs.append(&mut self.other_cwds);
        add_all(&mut dirs, vec![other.cwd]);
        add_all(&mut dirs, other.other_cwds);
        dirs.truncate(MAX_DIRS);
        self.cwd = dirs.remove(0);
        self.other_cwds = dirs;
        if self.positional != other.positional {
            self.positional = None;
        }
        self.aliases.extend(other.aliases);
        self.exported.extend(other.exported);
        self.fds.extend(other.fds);
        self.join_functions(other.functions);
        for (name, streams) in other.files {
            add_all(self.files.entry(name).or_default(), streams);
        }
        for (key, values) in other.git {
            add_all(self.git.entry(key).or_default(), values);
        }
        self.join_vars(other.vars);
    }

    fn join_functions(&mut self, other: BTreeMap<String, Vec<Option<Function>>>) {
        for (name, ours) in &mut self.functions {
            add_all(ours, other.get(name).cloned().unwrap_or_else(|| vec![None]));
        }
        for (name, theirs) in other {
            self.functions.entry(name).or_insert_with(|| {
                let mut all = theirs;
                add_all(&mut all, vec![None]);
                all
            });
        }
    }

    fn join_vars(&mut self, other: BTreeMap<String, Value>) {
        for (name, ours) in &mut self.vars {
            if let (Value::OneOf(values), false) = (ours, other.contains_key(name)) {
                // On the other way it was not set.
                add_all(values, vec![Field::default()]);
            }
        }
        for (name, theirs) in other {
            let Some(ours) = self.vars.get_mut(&name) else {
                let mut theirs = theirs;
                if let Value::OneOf(values) = &mut theirs {
                    add_all(values, vec![Field::default()]);
                }
                self.vars.insert(name, theirs);
                continue;
            };
            if *ours == theirs {
                continue;
            }
            match (&mut *ours, theirs) {
                (Value::OneOf(left), Value::OneOf(right)) => {
                    add_all(left, right);
                    if left.len() > MAX_ALTERNATIVES {
                        *ours = Value::OneOf(vec![Field::unknown(true, Span::default())]);
                    }
                }
                (ours, _) => {
                    *ours = Value::Array(vec![Field::unknown(true, Span::default())]);
                }
            }
        }
    }
}
