//! Exit codes and error messages: the one place where an outcome becomes a number.

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

use aurora_model::Answer;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::output::escape;
use crate::wiring::words;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Allowed, or done.
    Ok,
    /// It could not be done.
    Failure,
    /// The arguments, a policy file or an agent's settings are wrong.
    Usage,
    /// The gate said no.
    Denied,
    /// The gate would ask a person.
    WouldAsk,
    /// Somebody stopped it, after what it had begun was ended in order.
    Interrupted,
    /// A command was run and ended with this.
    Command(u8),
}

impl Exit {
    /// The number that the caller sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Denied => 3,
            Self::WouldAsk => 4,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<Answer> for Exit {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Allow => Self::Ok,
            Answer::Ask => Self::WouldAsk,
            Answer::Deny => Self::Denied,
        }
    }
}

/// An error that knows its exit code and what the user can do about it.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
    hints: Vec<String>,
}

impl Failure {
    /// The arguments or a configuration file are wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), hints: Vec::new() }
    }

    /// Something could not be done.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failure, message: message.into(), hints: Vec::new() }
    }

    /// It may not be done.
    pub fn denied(message: impl Into<String>) -> Self {
        Self { exit: Exit::Denied, message: message.into(), hints: Vec::new() }
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What the user can do.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Prints an error of the argument parser (or the help that it made) and says how to end.
pub fn of_usage(error: &clap::Error) -> ExitCode {
    // A reader that went away is no reason to complain.
    let _ = error.print();
    if let Some(hint) = hint_of_usage(error) {
        let _ = writeln!(std::io::stderr(), "\nhint: {hint}");
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::from(Exit::Usage), ExitCode::from)
}

/// What a person forgot who wrote a command right behind `policy check`.
fn hint_of_usage(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let [policy, check, rest @ ..] = words.as_slice() else { return None };
    let is_check = policy == "policy" && check == "check";
    if error.kind() != ErrorKind::UnknownArgument || !is_check || word.starts_with('-') {
        return None;
    }
    let at = rest.iter().position(|given| given == word)?;
    let (options, command) = rest.split_at_checked(at)?;
    let options: String =
        options.iter().map(|option| format!("{} ", words::quote(option))).collect();
    let line = escape::line(&words::join(command));
    Some(format!(
        "a command stands after `--`: aur policy check {}-- {line}",
        escape::line(&options)
    ))
}

/// Prints an error with its hints and says how to end.
pub fn of_error(error: &anyhow::Error) -> ExitCode {
    let failure = error.downcast_ref::<Failure>();
    let message: Vec<String> = error.chain().map(ToString::to_string).collect();
    let mut text = format!("error: {}\n", escape::lines(&message.join(": ")));
    for hint in failure.map(|failure| failure.hints.as_slice()).unwrap_or_default() {
        text.push_str(&format!("hint: {}\n", escape::lines(hint)));
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
    failure.map_or(Exit::Failure, |failure| failure.exit).into()
}

/// Makes a panic one line on stderr instead of a backtrace: it is a mistake of ours, and every
/// caller that must not stop catches it and answers.
pub fn report_panics_in_one_line() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = format!("error: internal failure at {place}; this is a mistake in aur\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_the_exit_code_that_the_manual_names() {
        assert_eq!(Exit::from(Answer::Allow).code(), 0);
        assert_eq!(Exit::from(Answer::Deny).code(), 3);
        assert_eq!(Exit::from(Answer::Ask).code(), 4);
        assert_eq!((Exit::Failure.code(), Exit::Usage.code()), (1, 2));
    }
}
