//! From JSON to subgoals: what is mildly wrong is repaired and said, what is more is a problem.

use std::collections::HashMap;

use aurora_model::id::{is_name, slug};
use aurora_model::{AgentName, Scope, TaskId};
use serde_json::{Map, Value};

use super::{Decomposition, Goal, KnownAgent, Read, Subgoal, order};
use crate::llm::clean;

const MAX_TITLE_CHARS: usize = 200;
const MAX_DETAILS_CHARS: usize = 8000;
const MAX_PATHS: usize = 50;
const MAX_PATH_CHARS: usize = 300;
const MAX_ROLE_CHARS: usize = 60;

/// More problems than this are not told.
const MAX_PROBLEMS: usize = 20;

/// What the list of subgoals is called; models without a schema choose their own word.
const LISTS: [&str; 3] = ["subgoals", "tasks", "steps"];

/// A subgoal as it was written, before anybody looked at the others.
struct Draft {
    given: Option<String>,
    title: String,
    details: String,
    agent: Option<String>,
    depends_on: Vec<String>,
    scope: Scope,
}

/// What was found on the way.
#[derive(Default)]
struct Findings {
    problems: Vec<String>,
    repairs: Vec<String>,
}

impl Findings {
    fn problem(&mut self, what: String) {
        self.problems.push(what);
    }

    fn repair(&mut self, what: String) {
        if !self.repairs.contains(&what) {
            self.repairs.push(what);
        }
    }
}

/// Whether a JSON value could be the answer.
pub fn is_answer(value: &Value) -> bool {
    match value {
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| item.get("title").is_some())
        }
        value => LISTS.iter().any(|list| value.get(list).is_some_and(Value::is_array)),
    }
}

/// Reads the answer.
pub fn read(answer: &Value, goal: &Goal) -> Result<Read, Vec<String>> {
    let mut findings = Findings::default();
    let items = items(answer, goal, &mut findings).map_err(|problem| vec![problem])?;
    let mut drafts = Vec::new();
    for (at, item) in items.iter().enumerate() {
        drafts.extend(draft(at, item, &mut findings));
    }
    // Places count only when every subgoal has one.
    if findings.problems.is_empty() {
        let before = dependencies(&drafts, &mut findings);
        if findings.problems.is_empty() {
            let goal_text = goal.text.trim().to_owned();
            let subgoals = subgoals(drafts, &before, &goal.agents, &mut findings);
            let decomposition = Decomposition { goal: goal_text, subgoals };
            return Ok(Read { decomposition, repairs: findings.repairs });
        }
    }
    findings.problems.truncate(MAX_PROBLEMS);
    Err(findings.problems)
}

fn items<'a>(
    answer: &'a Value,
    goal: &Goal,
    findings: &mut Findings,
) -> Result<&'a [Value], String> {
    let list = match answer {
        Value::Array(items) => {
            findings.repair("the list of subgoals stood alone".to_owned());
            items
        }
        answer => LISTS
            .iter()
            .find_map(|list| answer.get(list)?.as_array())
            .ok_or("there is no list called `subgoals`")?,
    };
    match list.len() {
        0 => Err("there are no subgoals".to_owned()),
        many if many > goal.max_subgoals => {
            Err(format!("there are {many} subgoals, and at most {} are allowed", goal.max_subgoals))
        }
        _ => Ok(list),
    }
}

/// The name of the subgoal at a place.
fn name(at: usize) -> String {
    format!("sg-{}", at + 1)
}

fn draft(at: usize, item: &Value, findings: &mut Findings) -> Option<Draft> {
    let of = name(at);
    let empty = Map::new();
    let fields = match item {
        Value::Object(fields) => fields,
        Value::String(_) => {
            findings.repair(format!("{of} was only a title"));
            &empty
        }
        _ => {
            findings.problem(format!("{of} is no object"));
            return None;
        }
    };
    let written = item.as_str().or_else(|| fields.get("title")?.as_str()).unwrap_or_default();
    let title = clean::line(&harmless(written), MAX_TITLE_CHARS);
    if title.is_empty() {
        findings.problem(format!("{of} has no title"));
        return None;
    }
    let mut details = details(fields.get("details"), &of, findings);
    if title.ends_with('…') && !written.trim_end().ends_with('…') {
        findings.repair(format!("the title of {of} was too long"));
        let whole: String =
            clean::text(&harmless(written)).chars().take(MAX_DETAILS_CHARS).collect();
        details = format!("{}\n\n{details}", whole.trim()).trim().to_owned();
    } else if title != written {
        findings.repair(format!("the title of {of} was not one clean line"));
    }
    Some(Draft {
        given: given(fields.get("id")),
        title,
        details,
        agent: word(fields.get("agent")),
        depends_on: references(fields.get("depends_on"), &of, findings),
        scope: scope(fields.get("scope"), &of, findings),
    })
}

/// Text that cannot pass for the comments in which a tasks file says who does what.
fn harmless(text: &str) -> String {
    text.replace("<!--", "<! --").replace("-->", "-- >")
}

fn given(id: Option<&Value>) -> Option<String> {
    match id? {
        Value::Number(number) => Some(number.to_string()),
        id => word(Some(id)),
    }
}

/// A text in one clean line, where there is one that says something.
fn word(value: Option<&Value>) -> Option<String> {
    let word = clean::line(value?.as_str()?, MAX_TITLE_CHARS);
    let nothing = ["", "none", "null", "n/a", "-"].contains(&word.to_lowercase().as_str());
    (!nothing).then_some(word)
}

fn details(value: Option<&Value>, of: &str, findings: &mut Findings) -> String {
    let text = match value {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => {
            lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        Some(_) => {
            findings.repair(format!("the details of {of} were no text"));
            return String::new();
        }
    };
    let clean = clean::text(&harmless(&text.replace("\r\n", "\n")));
    let kept: String = clean.trim().chars().take(MAX_DETAILS_CHARS).collect();
    if kept != text.trim() {
        findings.repair(format!("the details of {of} were too long or not clean"));
    }
    kept
}

fn references(value: Option<&Value>, of: &str, findings: &mut Findings) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::Number(number) => Some(number.to_string()),
        value => word(Some(value)),
    };
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => {
            let references: Vec<String> = values.iter().filter_map(one).collect();
            if references.len() < values.len() {
                findings.problem(format!("{of} depends on something that is no id"));
            }
            references
        }
        Some(Value::String(text)) => {
            let parts = text.split([',', ' ']).map(|part| Value::String(part.to_owned()));
            parts.filter_map(|part| one(&part)).collect()
        }
        Some(value @ Value::Number(_)) => one(value).into_iter().collect(),
        Some(_) => {
            findings.problem(format!("`depends_on` of {of} is no list of ids"));
            Vec::new()
        }
    }
}

fn scope(value: Option<&Value>, of: &str, findings: &mut Findings) -> Scope {
    let Some(Value::Object(fields)) = value else {
        if value.is_some_and(|value| !value.is_null()) {
            findings.repair(format!("the scope of {of} was no object"));
        }
        return Scope::default();
    };
    let mut number = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => None,
        Some(value) => {
            let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
            let number = number.and_then(|number| u32::try_from(number).ok());
            if number.is_none() {
                findings.repair(format!("`{key}` in the scope of {of} was no number of things"));
            }
            number.filter(|number| *number > 0)
        }
    };
    let (files, lines) = (number("files"), number("lines"));
    let written: Vec<&str> = match fields.get("paths") {
        Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(path)) => vec![path.as_str()],
        _ => Vec::new(),
    };
    let mut paths: Vec<String> = Vec::new();
    for written in written {
        match path(written) {
            Some(path) if paths.len() < MAX_PATHS => {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            _ => findings.repair(format!("the scope of {of} had paths that cannot be in it")),
        }
    }
    Scope { paths, files, lines }
}

/// A path or pattern within the repository.
fn path(written: &str) -> Option<String> {
    let path = clean::line(written, MAX_PATH_CHARS);
    let path = path.strip_prefix("./").unwrap_or(&path);
    let inside = !path.is_empty()
        && !path.starts_with(['/', '~'])
        && !path.contains(['\\', '…'])
        && !path.split('/').any(|part| part == "..");
    inside.then(|| path.to_owned())
}

/// For each subgoal the places of those that come before it.
fn dependencies(drafts: &[Draft], findings: &mut Findings) -> Vec<Vec<usize>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        let Some(given) = &draft.given else { continue };
        if places.insert(given.to_lowercase(), at).is_some() {
            findings.problem(format!("two subgoals have the id `{given}`"));
        }
    }
    for (at, draft) in drafts.iter().enumerate() {
        if draft.given.is_none() {
            findings.repair(format!("{} had no id", name(at)));
            // It is known by its place, unless somebody else has that name.
            places.entry(name(at)).or_insert(at);
        } else if draft.given.as_deref() != Some(&name(at)) {
            findings.repair("the subgoals were numbered anew".to_owned());
        }
    }
    let mut all = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let mut before = Vec::new();
        for reference in &draft.depends_on {
            match places.get(&reference.to_lowercase()) {
                None => findings
                    .problem(format!("{} depends on `{reference}`, which is no subgoal", name(at))),
                Some(on) if *on == at => {
                    findings.problem(format!("{} depends on itself", name(at)));
                }
                Some(on) if before.contains(on) => {
                    findings.repair(format!("{} named a dependency twice", name(at)));
                }
                Some(on) => before.push(*on),
            }
        }
        all.push(before);
    }
    if findings.problems.is_empty()
        && let Some(way) = order::cycle(&all)
    {
        let way: Vec<String> = way.into_iter().map(name).collect();
        findings.problem(format!("subgoals wait for each other: {}", way.join(" waits for ")));
    }
    all
}

fn subgoals(
    drafts: Vec<Draft>,
    before: &[Vec<usize>],
    agents: &[KnownAgent],
    findings: &mut Findings,
) -> Vec<Subgoal> {
    let id = |at: usize| TaskId::parse(&name(at));
    let mut subgoals = Vec::new();
    for (at, (draft, before)) in drafts.into_iter().zip(before).enumerate() {
        let Some(own) = id(at) else { continue };
        let (agent, gap) = assigned(draft.agent.as_deref(), agents);
        // A gap is no mistake; a role that cannot be a name is one.
        let as_written = draft.agent.as_deref().map(|written| written.trim_start_matches('@'));
        if let Some(agent) =
            agent.as_ref().filter(|agent| gap && as_written != Some(agent.as_str()))
        {
            findings.repair(format!("the agent of {own} was no name: it is {agent} now"));
        }
        subgoals.push(Subgoal {
            id: own,
            title: draft.title,
            details: draft.details,
            agent,
            gap,
            depends_on: before.iter().filter_map(|on| id(*on)).collect(),
            scope: draft.scope,
        });
    }
    subgoals
}

/// Who is meant, and whether nobody of that name is there.
fn assigned(written: Option<&str>, agents: &[KnownAgent]) -> (Option<AgentName>, bool) {
    let Some(written) = written.map(|written| written.trim_start_matches('@')) else {
        return (None, false);
    };
    let known = agents.iter().find(|agent| agent.name.as_str().eq_ignore_ascii_case(written));
    if let Some(known) = known {
        return (Some(known.name.clone()), false);
    }
    let role = if is_name(written) { written.to_owned() } else { slug(written, MAX_ROLE_CHARS) };
    let role = AgentName::parse(&role);
    let gap = role.is_some();
    (role, gap)
}
