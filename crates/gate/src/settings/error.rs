//! What can be wrong with a settings file, and where.

use std::fmt;

/// One problem in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// The file as it is shown to the user.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The dotted key that it is about; empty when it is about the file as a whole.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(out, "{}: ", self.key)?;
        }
        out.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(out, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SettingsError {}

/// Every problem that was found, in the order of the layers and of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsErrors(pub Vec<SettingsError>);

impl fmt::Display for SettingsErrors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                out.write_str("\n")?;
            }
            write!(out, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsErrors {}

/// A line and a column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

impl Place {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// Collects the problems of one file.
#[derive(Debug)]
pub struct Problems {
    file: String,
    found: Vec<SettingsError>,
}

impl Problems {
    /// A file without problems so far.
    #[must_use]
    pub fn new(file: &str) -> Self {
        Self { file: file.to_owned(), found: Vec::new() }
    }

    /// Notes a problem.
    pub fn add(&mut self, at: Place, key: &str, message: impl Into<String>) {
        self.push(at, key, message.into(), None);
    }

    /// Notes a problem together with what to do about it.
    pub fn add_with_hint(
        &mut self,
        at: Place,
        key: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(at, key, message.into(), Some(hint.into()));
    }

    fn push(&mut self, at: Place, key: &str, message: String, hint: Option<String>) {
        self.found.push(SettingsError {
            file: self.file.clone(),
            line: at.line,
            column: at.column,
            key: key.to_owned(),
            message,
            hint,
        });
    }

    /// All of them, in the order of the text.
    #[must_use]
    pub fn finish(mut self) -> Vec<SettingsError> {
        self.found.sort_by_key(|error| (error.line, error.column));
        self.found
    }
}
