//! Texts with blanks such as `{prompt}`, filled in when a job begins; checked when they are read.

use std::fmt;

use crate::agent::Job;

/// A blank of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// What is to be done.
    Prompt,
    /// The task's title.
    Title,
    /// The task's name.
    Task,
    /// Which attempt it is.
    Attempt,
    /// The role to play.
    Role,
    /// The folder in which the agent works.
    Cwd,
    /// The run's name.
    Run,
}

impl Blank {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Prompt, Self::Title, Self::Task, Self::Attempt, Self::Role, Self::Cwd, Self::Run];

    /// What stands between the braces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Title => "title",
            Self::Task => "task",
            Self::Attempt => "attempt",
            Self::Role => "role",
            Self::Cwd => "cwd",
            Self::Run => "run",
        }
    }

    fn fill(self, job: &Job, out: &mut String) {
        match self {
            Self::Prompt => out.push_str(&job.prompt),
            Self::Title => out.push_str(&job.title),
            Self::Task => out.push_str(&job.task),
            Self::Attempt => out.push_str(&job.attempt.to_string()),
            Self::Role => out.push_str(job.role.as_deref().unwrap_or_default()),
            Self::Cwd => out.push_str(&job.cwd),
            Self::Run => out.push_str(run_of(job)),
        }
    }
}

/// The run's name: the first part of an attempt's.
#[must_use]
pub(crate) fn run_of(job: &Job) -> &str {
    job.name.split('/').next().unwrap_or_default()
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTemplate {
    /// At which character, counted from 1.
    pub at: usize,
    /// What stands there.
    pub found: String,
}

impl fmt::Display for BadTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, found } = self;
        match found.as_str() {
            "{" => write!(f, "character {at}: `{{` is never closed"),
            "}" => write!(f, "character {at}: `}}` closes nothing"),
            name => write!(f, "character {at}: nothing is called `{{{name}}}`"),
        }
    }
}

impl std::error::Error for BadTemplate {}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Blank(Blank),
}

/// A text with blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
    text: String,
}

impl Template {
    /// Reads a template; `{{` and `}}` stand for the braces themselves.
    ///
    /// # Errors
    /// When a brace is alone, or a blank is not known.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars().zip(1..).peekable();
        while let Some((c, at)) = chars.next() {
            let doubled = chars.peek().is_some_and(|(next, _)| *next == c);
            match c {
                '{' | '}' if doubled => {
                    chars.next();
                    plain.push(c);
                }
                '}' => return Err(BadTemplate { at, found: "}".to_owned() }),
                '{' => {
                    let mut name = String::new();
                    loop {
                        match chars.next() {
                            Some(('}', _)) => break,
                            Some((c, _)) => name.push(c),
                            None => return Err(BadTemplate { at, found: "{".to_owned() }),
                        }
                    }
                    let blank = Blank::ALL.into_iter().find(|blank| blank.name() == name);
                    let Some(blank) = blank else {
                        return Err(BadTemplate { at, found: name });
                    };
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    pieces.push(Piece::Blank(blank));
                }
                c => plain.push(c),
            }
        }
        pieces.push(Piece::Text(plain));
        Ok(Self { pieces, text: text.to_owned() })
    }

    /// A template without blanks, which means just what it says.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        Self { pieces: vec![Piece::Text(text.to_owned())], text: text.to_owned() }
    }

    /// Whether a blank occurs.
    #[must_use]
    pub fn has(&self, blank: Blank) -> bool {
        self.pieces.contains(&Piece::Blank(blank))
    }

    /// The text with every blank filled in. What is filled in is not read again.
    #[must_use]
    pub fn fill(&self, job: &Job) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Blank(blank) => blank.fill(job, &mut out),
            }
        }
        out
    }

    /// The template as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            name: "spawn-1/sg-3/2".to_owned(),
            prompt: "do {title}".to_owned(),
            title: "Add caching".to_owned(),
            task: "sg-3".to_owned(),
            attempt: 2,
            role: None,
            cwd: "/desk".to_owned(),
            timeout_seconds: 5,
        }
    }

    #[test]
    fn blanks_are_filled_once_and_doubled_braces_stay_braces() {
        let check = |text: &str, expected: &str| {
            let template = Template::parse(text).unwrap();
            assert_eq!(template.fill(&job()), expected, "{text}");
        };
        check("", "");
        check("-p", "-p");
        check("{prompt}", "do {title}");
        check("{run}:{task}#{attempt} in {cwd}{role}", "spawn-1:sg-3#2 in /desk");
        check("{{\"a\": {{}}}}", "{\"a\": {}}");
        check("{{{title}}}", "{Add caching}");
    }

    #[test]
    fn a_mistake_in_a_template_is_told_with_its_place() {
        let check = |text: &str, at: usize, said: &str| {
            let bad = Template::parse(text).unwrap_err();
            assert_eq!(bad.at, at, "{text}");
            assert!(bad.to_string().contains(said), "{bad}");
        };
        check("ä {promt}", 3, "nothing is called `{promt}`");
        check("a{", 2, "never closed");
        check("a}", 2, "closes nothing");
        check("{}", 1, "nothing is called `{}`");
    }
}
