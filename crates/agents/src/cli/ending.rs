//! Whether a process did what it was to do: its end, the marks of its profile and its own word
//! must all be good.

use std::collections::VecDeque;

use super::ear::{Facts, shorten};
use crate::agent::Ended;
use crate::profile::{AgentProfile, Output};

/// What is said about a good end, or about a bad one.
pub fn judge(
    output: Output,
    profile: &AgentProfile,
    ended: Option<Ended>,
    facts: &Facts,
) -> Result<String, String> {
    match problem(output, profile, ended, facts) {
        Some(problem) => Err(shorten(&with_last_lines(&problem, facts))),
        None => Ok(shorten(&last_words(facts))),
    }
}

fn problem(
    output: Output,
    profile: &AgentProfile,
    ended: Option<Ended>,
    facts: &Facts,
) -> Option<String> {
    let success = &profile.success;
    if let Some(most) = profile.limits.max_cost.filter(|most| facts.cost.usd > *most) {
        return Some(format!("cost {}, and may cost {most}", facts.cost.usd));
    }
    match ended {
        Some(Ended::Code(code)) if success.exit_codes.contains(&code) => {}
        Some(Ended::Code(code)) => {
            let word = own_word(facts).map(|word| format!(": {word}")).unwrap_or_default();
            return Some(format!("ended with code {code}{word}"));
        }
        Some(Ended::Signal(signal)) => return Some(format!("was ended by {}", named(signal))),
        Some(Ended::NotStarted { why }) => return Some(format!("could not be started: {why}")),
        Some(Ended::Lost) | None => return Some("was lost: nobody knows how it ended".to_owned()),
    }
    if let Some(Err(word)) = &facts.result {
        let word = if word.trim().is_empty() { "no reason given" } else { word };
        return Some(format!("says that it failed: {word}"));
    }
    if output == Output::ClaudeStreamJson && facts.result.is_none() {
        return Some("ended without a result".to_owned());
    }
    if let Some(line) = &facts.failing {
        return Some(format!("said what means failure: {line}"));
    }
    match &success.require_line {
        Some(mark) if !facts.required => Some(format!("ended without saying `{mark}`")),
        _ => None,
    }
}

/// What the agent itself said about its failure.
fn own_word(facts: &Facts) -> Option<&str> {
    match &facts.result {
        Some(Err(word)) if !word.trim().is_empty() => Some(word),
        _ => None,
    }
}

/// What it said at the end.
fn last_words(facts: &Facts) -> String {
    match &facts.result {
        Some(Ok(words)) if !words.trim().is_empty() => words.trim().to_owned(),
        _ if facts.said.is_empty() => "ended well and said nothing".to_owned(),
        _ => joined(&facts.said),
    }
}

fn joined(lines: &VecDeque<String>) -> String {
    lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The problem with the last lines of its error output, or of what it said.
fn with_last_lines(problem: &str, facts: &Facts) -> String {
    let last = if facts.complained.is_empty() { &facts.said } else { &facts.complained };
    let last = joined(last);
    if last.is_empty() || problem.contains(&last) {
        return problem.to_owned();
    }
    format!("{problem}\n{last}")
}

/// A signal as people know it.
fn named(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
