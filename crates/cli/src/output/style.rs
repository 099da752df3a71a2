//! Colour where a person reads, plain text everywhere else.

use std::io::IsTerminal as _;

use aurora_model::Answer;

const USUAL_COLUMNS: usize = 80;

/// How wide the terminal is that stdout goes to.
fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    // A terminal that does not know its size says zero.
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Whether and how to paint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    /// How many columns a line may take.
    pub width: usize,
}

impl Style {
    /// What fits stdout: colour on a terminal unless `NO_COLOR` is set or the terminal is dumb.
    #[must_use]
    pub fn of_stdout() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let columns = terminal_columns().or(columns.filter(|columns| *columns > 0));
        Self {
            colour: std::io::stdout().is_terminal() && !set("NO_COLOR") && !dumb,
            width: columns.unwrap_or(USUAL_COLUMNS).clamp(40, 400),
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The word for an answer, in its colour.
    #[must_use]
    pub fn answer(self, answer: Answer) -> String {
        match answer {
            Answer::Allow => self.paint("1;32", "ALLOW"),
            Answer::Ask => self.paint("1;33", "ASK"),
            Answer::Deny => self.paint("1;31", "DENY"),
        }
    }

    /// Carets under the part of the text that an answer is about.
    #[must_use]
    pub fn carets(self, answer: Answer, carets: &str) -> String {
        let code = match answer {
            Answer::Allow => "32",
            Answer::Ask => "33",
            Answer::Deny => "31",
        };
        self.paint(code, carets)
    }

    /// Plain text, eighty columns.
    #[cfg(test)]
    #[must_use]
    pub fn plain() -> Self {
        Self { colour: false, width: USUAL_COLUMNS }
    }

    /// The same in so many columns.
    #[cfg(test)]
    #[must_use]
    pub fn columns(self, width: usize) -> Self {
        Self { width, ..self }
    }

    /// The same in colour.
    #[cfg(test)]
    #[must_use]
    pub fn coloured(self) -> Self {
        Self { colour: true, ..self }
    }

    /// Something that comes, or went well.
    #[must_use]
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Something that goes, or went wrong.
    #[must_use]
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Something that becomes another, or that is worth a look.
    #[must_use]
    pub fn notable(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// A place in something longer.
    #[must_use]
    pub fn place(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// Something that matters less.
    #[must_use]
    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// A heading.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
}
