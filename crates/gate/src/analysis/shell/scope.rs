//! What the abstract shell knows at one point of a line: variables, parameters, current directory.

use std::collections::{BTreeMap, BTreeSet};

use super::field::Field;

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

/// The part of the shell's state that a subshell copies.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Variables that this line has set.
    pub vars: BTreeMap<String, Value>,
    /// Which of them child processes see for certain.
    pub exported: BTreeSet<String>,
    /// `$1` and so on, when they are known.
    pub positional: Option<Vec<Field>>,
    /// The current directory, absolute, when it is known.
    pub cwd: Option<String>,
    /// Aliases that this line has defined.
    pub aliases: BTreeMap<String, String>,
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
        child
    }

    /// What is known after either this or the other way was taken.
    pub fn join(&mut self, other: Self) {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        if self.positional != other.positional {
            self.positional = None;
        }
        self.aliases.extend(other.aliases);
        self.exported.extend(other.exported);
        for (name, theirs) in other.vars {
            let Some(ours) = self.vars.get_mut(&name) else {
                self.vars.insert(name, theirs);
                continue;
            };
            if *ours == theirs {
                continue;
            }
            match (&mut *ours, theirs) {
                (Value::OneOf(left), Value::OneOf(right)) => {
                    for value in right {
                        if !left.contains(&value) {
                            left.push(value);
                        }
                    }
                    if left.len() > MAX_ALTERNATIVES {
                        *ours = Value::OneOf(vec![Field::unknown(true, Default::default())]);
                    }
                }
                (ours, _) => {
                    *ours = Value::Array(vec![Field::unknown(true, Default::default())]);
                }
            }
        }
    }
}
