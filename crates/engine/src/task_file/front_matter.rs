//! What stands before a tasks file's text: `key: value` between two lines of `---`.

use aurora_gate::settings::nearest;
use aurora_model::id::{AgentName, PlanId};

use super::lines::Line;
use super::metadata::{Given, Pair, Wrong, agent, all_pairs, no_agent, value};

/// What it says. Keys that are not ours belong to somebody else and are left alone.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    pub goal: Option<String>,
    pub plan: Option<PlanId>,
    pub agent: Option<AgentName>,
    pub max_parallel: Option<u32>,
    /// What is said about single tasks, by name.
    pub tasks: Vec<(Given, Vec<Pair>)>,
    pub problems: Vec<Wrong>,
    /// The first line behind it.
    pub end: usize,
}

const KEYS: [&str; 5] = ["goal", "plan", "agent", "max-parallel", "tasks"];

/// Reads it, where there is some.
pub(super) fn read(lines: &[Line<'_>]) -> FrontMatter {
    let mut front = FrontMatter::default();
    if lines.first().is_none_or(|line| line.text.trim_end() != "---") {
        return front;
    }
    let closes = |line: &&Line<'_>| matches!(line.text.trim_end(), "---" | "...");
    let Some(inside) = lines.iter().skip(1).position(|line| closes(&line)) else { return front };
    let body = lines.get(1..=inside).unwrap_or_default();
    // Two rules with text between them are not front matter.
    let first = body.iter().find(|line| !is_empty(line));
    if first.is_some_and(|line| top_level(line).is_none()) {
        return front;
    }
    front.end = inside + 2;
    let mut in_tasks = None;
    for line in body.iter().filter(|line| !is_empty(line)) {
        match top_level(line) {
            Some((key, given)) => {
                in_tasks = (key == "tasks").then_some(usize::MAX);
                front.take(line, key, given);
            }
            None => {
                if let Some(indent) = &mut in_tasks {
                    front.task_line(line, indent);
                }
            }
        }
    }
    front
}

fn is_empty(line: &Line<'_>) -> bool {
    line.is_blank() || line.text.trim_start().starts_with('#')
}

/// A key that stands at the start of its line, and its value.
fn top_level<'l>(line: &Line<'l>) -> Option<(&'l str, Option<Given>)> {
    let (key, rest) = line.text.split_once(':')?;
    let sound = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if key.is_empty() || !key.chars().all(sound) {
        return None;
    }
    Some((key, scalar(rest, line.start + key.len() + 1)))
}

/// A value without quotes and without the comment behind it.
fn scalar(text: &str, at: usize) -> Option<Given> {
    let inner = text.trim_start();
    let at = at + text.len() - inner.len();
    for quote in ['"', '\''] {
        if let Some((inside, _)) = inner.strip_prefix(quote).and_then(|it| it.split_once(quote)) {
            return Some(Given { at, value: inside.to_owned(), quoted: true });
        }
    }
    let end = if inner.starts_with('#') { Some(0) } else { inner.find(" #") };
    let value = inner.get(..end.unwrap_or(inner.len())).unwrap_or_default().trim_end();
    (!value.is_empty()).then(|| Given { at, value: value.to_owned(), quoted: false })
}

impl FrontMatter {
    fn wrong(&mut self, at: usize, what: String, hint: &str) {
        self.problems.push(Wrong { at, what, hint: hint.to_owned() });
    }

    fn take(&mut self, line: &Line<'_>, key: &str, given: Option<Given>) {
        let normal = key.replace('_', "-").to_ascii_lowercase();
        if !KEYS.contains(&normal.as_str()) {
            // A name that is nearly ours is more likely a slip than somebody else's.
            let near = nearest(&normal, KEYS).filter(|near| near.len() > 4);
            if let Some(near) = near {
                let what = format!("unknown key `{key}` in the front matter");
                self.wrong(line.start, what, &format!("did you mean `{near}`?"));
            }
            return;
        }
        let Some(given) = given else {
            if normal != "tasks" {
                self.wrong(line.start, format!("`{key}` has no value"), "write `key: value`");
            }
            return;
        };
        match normal.as_str() {
            "goal" => self.goal = Some(given.value),
            "plan" => match PlanId::parse(&given.value) {
                Some(plan) => self.plan = Some(plan),
                None => {
                    let what = format!("`{}` cannot be the name of a plan", given.value);
                    self.wrong(given.at, what, "use letters, digits, `.`, `_` and `-`");
                }
            },
            "agent" => match agent(&given) {
                Some(agent) => self.agent = Some(agent),
                None => self.problems.push(no_agent(&given)),
            },
            "max-parallel" => match given.value.parse() {
                Ok(count) if count > 0 => self.max_parallel = Some(count),
                _ => {
                    let what = format!("`{}` is no number of tasks", given.value);
                    self.wrong(given.at, what, "write a whole number from 1 on");
                }
            },
            _ if given.value == "{}" => {}
            _ => {
                let what = "`tasks` has a value on its own line".to_owned();
                self.wrong(given.at, what, "write one task per line below it, set in");
            }
        }
    }

    /// A line below `tasks:`: a task's name, or something about it.
    fn task_line(&mut self, line: &Line<'_>, tasks_indent: &mut usize) {
        let indent = line.indent();
        let text = line.text.trim();
        let at = line.start + line.text.len() - line.text.trim_start().len();
        if *tasks_indent == usize::MAX {
            *tasks_indent = indent;
        }
        if indent <= *tasks_indent {
            self.task_name(text, at);
            return;
        }
        let listed = text.strip_prefix("- ").and_then(|item| value(item, at + 2));
        let pairs = self.tasks.last_mut().map(|(_, pairs)| pairs);
        match (pairs, listed, all_pairs(text, at)) {
            (Some(pairs), Some(item), _) if !pairs.is_empty() => {
                if let Some(pair) = pairs.last_mut() {
                    pair.values.push(item);
                }
            }
            (Some(pairs), None, Some(more)) => pairs.extend(more),
            _ => self.wrong(at, "this says nothing about a task".to_owned(), "write `key: value`"),
        }
    }

    fn task_name(&mut self, text: &str, at: usize) {
        let Some((name, rest)) = text.split_once(':') else {
            let hint = "write `sg-1: {agent: …, depends-on: […]}`";
            return self.wrong(at, "this is no task with what is said about it".to_owned(), hint);
        };
        let name = name.trim().trim_matches(['"', '\'']);
        let given = Given { at, value: name.to_owned(), quoted: false };
        let map = rest.trim();
        let inside = map.strip_prefix('{').and_then(|map| map.strip_suffix('}'));
        let start = at + text.len() - rest.trim_start().len() + 1;
        match inside.map(|inside| all_pairs(inside, start)) {
            Some(Some(pairs)) => self.tasks.push((given, pairs)),
            None if map.is_empty() || map.starts_with('#') => self.tasks.push((given, Vec::new())),
            _ => {
                let what = format!("what is said about `{name}` cannot be read");
                self.wrong(at, what, "write `{agent: …, depends-on: […]}`, or lines set in below");
            }
        }
    }
}
