//! Whether a process did what it was to do: its end, the marks of its profile and its own word
//! must all be good.

use std::collections::VecDeque;

use super::ear::{Facts, shorten};
use crate::agent::Ended;
use crate::profile::{AgentProfile, Output};

/// What is said about a good end, or about a bad one; a bad one is told in one line, which says
/// first what went wrong and then how that was seen. The rest is in the transcript.
pub fn judge(
    output: Output,
    profile: &AgentProfile,
    ended: Option<Ended>,
    facts: &Facts,
) -> Result<String, String> {
    match problem(output, profile, ended, facts) {
        Some(problem) => Err(shorten(&one_line(&problem))),
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
    if let (true, Some(Err(why))) = (facts.unheld, &facts.result) {
        return Some(why.clone());
    }
    match ended {
        Some(Ended::Code(code)) if success.exit_codes.contains(&code) => {}
        Some(Ended::Code(code)) => {
            let cause = cause(facts).unwrap_or_else(|| "ended without a word".to_owned());
            return Some(format!("{cause} (exit code {code})"));
        }
        Some(Ended::Signal(signal)) => {
            return Some(with_cause(&format!("was ended by {}", named(signal)), facts));
        }
        Some(Ended::NotStarted { why }) => {
            let why: Vec<&str> = why.split_whitespace().collect();
            return Some(format!("could not be started: {}", why.join(" ")));
        }
        Some(Ended::Lost) | None => return Some("was lost: nobody knows how it ended".to_owned()),
    }
    if let Some(Err(word)) = &facts.result {
        let word = one_line(word);
        let word = if word.is_empty() { "no reason given" } else { &word };
        return Some(format!("{word} (the agent reported a failure)"));
    }
    let tells = matches!(output, Output::ClaudeStreamJson | Output::ClaudeControl);
    if tells && facts.result.is_none() {
        return Some(with_cause("ended without a result", facts));
    }
    if let Some(line) = &facts.failing {
        return Some(format!("said what means failure: {line}"));
    }
    match &success.require_line {
        Some(mark) if !facts.required => {
            Some(with_cause(&format!("ended without saying `{mark}`"), facts))
        }
        _ => None,
    }
}

/// What went wrong, as far as the agent tells: its own word about it, else the last line of its
/// error output, else the last line that it said.
fn cause(facts: &Facts) -> Option<String> {
    let own = match &facts.result {
        Some(Err(word)) => Some(one_line(word)),
        _ => None,
    };
    let last = |lines: &VecDeque<String>| lines.back().map(|line| one_line(line));
    let said = [own, last(&facts.complained), last(&facts.said)];
    said.into_iter().flatten().find(|text| !text.is_empty())
}

/// A problem that is plain without the agent's words, which may say why.
fn with_cause(problem: &str, facts: &Facts) -> String {
    match cause(facts) {
        Some(cause) => format!("{problem}; its last words: {cause}"),
        None => problem.to_owned(),
    }
}

/// The first line that says anything, with a sign where there are more.
fn one_line(text: &str) -> String {
    let mut lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
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
