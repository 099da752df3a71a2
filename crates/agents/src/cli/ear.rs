//! Hears what a process says: keeps it, shows it, and picks out what is meant for us.

use std::collections::{BTreeSet, VecDeque};

use aurora_model::{Cost, Known};

use super::claude::Claude;
use super::control::{self, Incoming};
use super::ending;
use super::lines::{Line, Lines, shown};
use crate::agent::{Ended, Heard, Listener, Report};
use crate::profile::{AgentProfile, Output};
use crate::protocol::FromAgent;
use crate::transcript::Transcript;

/// How many of the last lines are kept for the summary.
const LAST_LINES: usize = 5;
/// How much of a line is shown.
const MAX_SHOWN_CHARS: usize = 2000;

/// What was heard so far.
pub struct Ear<'a> {
    output: Output,
    profile: &'a AgentProfile,
    listener: &'a dyn Listener,
    transcript: Transcript,
    stdout: Lines,
    stderr: Lines,
    facts: Facts,
    claude: Claude,
    incoming: Vec<Incoming>,
    /// The calls about which it asked.
    asked: BTreeSet<String>,
}

/// What the report is made of.
#[derive(Debug, Default)]
pub struct Facts {
    /// What the agent itself said about how it ended.
    pub result: Option<Result<String, String>>,
    /// What it has cost.
    pub cost: Cost,
    /// Whether it has said of some call that it cost what is not believed.
    pub doubted: bool,
    /// Whether the line that must be said was said.
    pub required: bool,
    /// Whether it works without asking us, as it should.
    pub unheld: bool,
    /// The first line that means failure.
    pub failing: Option<String>,
    /// The last lines that it said.
    pub said: VecDeque<String>,
    /// The last lines of its error output.
    pub complained: VecDeque<String>,
}

impl<'a> Ear<'a> {
    /// An ear for one job of an agent.
    pub fn new(output: Output, profile: &'a AgentProfile, listener: &'a dyn Listener) -> Self {
        Self {
            output,
            profile,
            listener,
            transcript: Transcript::default(),
            stdout: Lines::default(),
            stderr: Lines::default(),
            facts: Facts::default(),
            claude: Claude::default(),
            incoming: Vec::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Hears bytes of stdout; none at all are its end.
    pub fn hear_stdout(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
        let mut lines = std::mem::take(&mut self.stdout);
        if bytes.is_empty() {
            lines.finish(|line| self.line(line));
        } else {
            lines.push(bytes, |line| self.line(line));
        }
        self.stdout = lines;
    }

    /// Hears bytes of stderr; none at all are its end.
    pub fn hear_stderr(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
        let mut lines = std::mem::take(&mut self.stderr);
        if bytes.is_empty() {
            lines.finish(|line| self.complaint(line));
        } else {
            lines.push(bytes, |line| self.complaint(line));
        }
        self.stderr = lines;
    }

    /// Who hears.
    pub fn listener(&self) -> &'a dyn Listener {
        self.listener
    }

    /// What the agent wants of us since this was asked last.
    pub fn incoming(&mut self) -> Vec<Incoming> {
        std::mem::take(&mut self.incoming)
    }

    /// Whether an agent that is spoken with has said how it ended, so that it waits for nothing more.
    pub fn is_done(&self) -> bool {
        self.output == Output::ClaudeControl && self.facts.result.is_some()
    }

    /// Whether the agent has cost more than it may, or cannot be held as it must.
    pub fn has_enough(&self) -> bool {
        self.facts.unheld
            || self.profile.limits.max_cost.is_some_and(|most| self.facts.cost.usd > most)
    }

    /// What came of it.
    pub fn report(mut self, ended: Option<Ended>) -> Report {
        // A pipe that never closed may hold a last line without an end.
        self.hear_stdout(&[]);
        self.hear_stderr(&[]);
        self.claude.settle(&mut self.facts.cost);
        let (success, summary) = match ending::judge(self.output, self.profile, ended, &self.facts)
        {
            Ok(summary) => (true, summary),
            Err(summary) => (false, summary),
        };
        Report { success, summary, cost: self.facts.cost, transcript: self.transcript.finish() }
    }

    fn line(&mut self, line: Line<'_>) {
        let looks_like_json = line.whole && line.bytes.trim_ascii_start().starts_with(b"{");
        let understood = looks_like_json
            && match self.output {
                Output::Text => false,
                Output::LineJson => self.line_json(line.bytes),
                Output::ClaudeStreamJson => self.claude_json(line.bytes),
                Output::ClaudeControl => {
                    self.control_json(line.bytes) || self.claude_json(line.bytes)
                }
            };
        if !understood {
            self.say(&shown(line.bytes));
        }
    }

    fn complaint(&mut self, line: Line<'_>) {
        let text = shown(line.bytes);
        if text.trim().is_empty() {
            return;
        }
        self.look_for_failure(&text);
        let text = shorten(&text);
        remember(&mut self.facts.complained, &text);
        self.listener.hear(Heard::Complained(text));
    }

    fn look_for_failure(&mut self, text: &str) {
        let marks = &self.profile.success.fail_on;
        let fails = !marks.is_empty() && marks.iter().any(|mark| text.contains(mark));
        if fails && self.facts.failing.is_none() {
            self.facts.failing = Some(shorten(text));
        }
    }

    /// Hears text for people, which may have several lines.
    fn say(&mut self, text: &str) {
        if text.as_bytes().contains(&b'\n') {
            text.lines().for_each(|line| self.say_line(line));
        } else {
            self.say_line(text);
        }
    }

    fn say_line(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        self.look_for_requirement(line);
        self.look_for_failure(line);
        let line = shorten(line);
        remember(&mut self.facts.said, &line);
        self.listener.hear(Heard::Said(line));
    }

    fn look_for_requirement(&mut self, text: &str) {
        if let Some(mark) = &self.profile.success.require_line {
            self.facts.required |= text.contains(mark);
        }
    }

    /// Takes note of a cost that is not believed: from now on nobody knows the sum.
    fn doubt(&mut self, doubt: Option<String>) {
        if let Some(doubt) = doubt {
            self.facts.doubted = true;
            self.listener.hear(Heard::Complained(doubt));
        }
        if self.facts.doubted {
            self.facts.cost.known = Known::Unknown;
        }
    }

    fn spend(&mut self) {
        self.listener.hear(Heard::Spent(self.facts.cost.clone()));
    }

    /// Whether a line was one of the protocol's messages.
    fn line_json(&mut self, line: &[u8]) -> bool {
        match serde_json::from_slice(line) {
            Ok(FromAgent::Message { content } | FromAgent::Progress { content }) => {
                self.say(&content);
            }
            Ok(FromAgent::ToolCall { name, args }) => {
                self.listener.hear(Heard::Tool { name, args });
            }
            Ok(FromAgent::Cost(message)) => {
                let doubt = message.add_to(&mut self.facts.cost);
                self.doubt(doubt);
                self.spend();
            }
            Ok(FromAgent::Result { success, summary }) => {
                self.say(&summary);
                self.facts.result = Some(if success { Ok(summary) } else { Err(summary) });
            }
            Ok(FromAgent::PauseAck { .. } | FromAgent::ViolationAck { .. }) => {}
            Err(error) => {
                let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
                // A result that cannot be understood must not pass for a good one.
                if value.get("type").and_then(|kind| kind.as_str()) == Some("result") {
                    self.facts.result = Some(Err(format!("gave a result that is none: {error}")));
                }
                return false;
            }
        }
        true
    }

    /// Whether a line was one of the control protocol's.
    fn control_json(&mut self, line: &[u8]) -> bool {
        let Ok(value) = serde_json::from_slice(line) else { return false };
        for made in control::made(&value) {
            if !self.asked.remove(&made.call) {
                let what = format!("it made a call without asking: {}", shorten(&made.call));
                self.listener.hear(Heard::Complained(what));
            }
            self.listener.made(made);
        }
        let Some(incoming) = control::read(&value) else { return false };
        if let Incoming::May { wish, .. } = &incoming {
            self.asked.insert(wish.call.clone());
        }
        if let Incoming::NotBegun { why } = &incoming {
            self.facts.unheld = true;
            let why = format!("does not take that it must ask: {}", shorten(why));
            self.facts.result = Some(Err(why));
        }
        self.incoming.push(incoming);
        true
    }

    /// Whether a line was one of Claude Code's messages.
    fn claude_json(&mut self, line: &[u8]) -> bool {
        let Ok(value) = serde_json::from_slice(line) else { return false };
        let Some(heard) = self.claude.hear(&value) else { return false };
        for text in heard.said {
            self.say(&text);
        }
        for (name, args) in heard.tools {
            self.listener.hear(Heard::Tool { name, args });
        }
        if let Some(result) = heard.result {
            let summary = match &result {
                Ok(summary) | Err(summary) => summary.clone(),
            };
            // The result repeats the last words: it counts as said, and is not shown twice.
            self.look_for_requirement(&summary);
            self.look_for_failure(&summary);
            self.facts.result = Some(result);
        }
        if let Some(cost) = heard.cost {
            let before = self.facts.cost.usd;
            self.facts.cost = cost;
            if heard.doubt.is_some() {
                self.facts.cost.usd = before;
            }
            self.doubt(heard.doubt);
            self.spend();
        }
        true
    }
}

fn remember(lines: &mut VecDeque<String>, line: &str) {
    if lines.len() >= LAST_LINES {
        lines.pop_front();
    }
    lines.push_back(line.to_owned());
}

/// A piece of a text that fits into a message.
pub fn shorten(text: &str) -> String {
    if text.len() <= MAX_SHOWN_CHARS {
        return text.to_owned();
    }
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
