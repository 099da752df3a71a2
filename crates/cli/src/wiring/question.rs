//! A question to whoever sits at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};

use crate::exit::Failure;

const MAX_ANSWER_BYTES: u64 = 1024;

/// What was said before the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Yes (`--yes`): the question is not asked.
    Given,
    /// Nothing yet; a program reads the answer (`--json`), so nobody can be asked.
    Unasked,
    /// Nothing yet.
    Open,
}

/// Whether somebody is there to ask.
#[must_use]
pub fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

impl Consent {
    /// What `--yes` and `--json` say.
    #[must_use]
    pub fn of(yes: bool, json: bool) -> Self {
        match (yes, json) {
            (true, _) => Self::Given,
            (false, true) => Self::Unasked,
            (false, false) => Self::Open,
        }
    }

    /// Refuses where a question would be needed and there is nobody to answer it.
    pub fn check(self, doing: &str) -> anyhow::Result<()> {
        match self {
            Self::Given => Ok(()),
            Self::Open if is_possible() => Ok(()),
            Self::Open | Self::Unasked => {
                Err(Failure::usage(format!("{doing} needs a yes, and nobody is there to ask"))
                    .hint("--yes says it beforehand")
                    .into())
            }
        }
    }

    /// Whether the answer is yes; anything but a clear one is no.
    pub fn ask(self, question: &str) -> anyhow::Result<bool> {
        if self == Self::Given {
            return Ok(true);
        }
        self.check("this")?;
        let mut stdout = std::io::stdout().lock();
        let asked = write!(stdout, "{question} [y/N] ").and_then(|()| stdout.flush());
        asked.map_err(|error| Failure::failed(format!("cannot ask: {error}")))?;
        let mut answer = Vec::new();
        let read = std::io::stdin().lock().take(MAX_ANSWER_BYTES).read_until(b'\n', &mut answer);
        read.map_err(|error| Failure::failed(format!("cannot read the answer: {error}")))?;
        if !answer.ends_with(b"\n") {
            // Whoever closed the input has left the cursor behind the question.
            let _ = writeln!(stdout);
        }
        let answer = String::from_utf8_lossy(&answer).trim().to_lowercase();
        Ok(matches!(answer.as_str(), "y" | "yes"))
    }
}
