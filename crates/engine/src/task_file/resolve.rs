//! Boxes become tasks: each gets an id, and what it waits for is looked up.

use std::collections::{HashMap, HashSet};

use aurora_gate::settings::nearest;
use aurora_model::id::{TaskId, is_name};
use aurora_model::task::{Scope, Task};

use super::blocks::dedented;
use super::front_matter::FrontMatter;
use super::lines::{Line, position};
use super::metadata::{Given, Pair, Wrong};
use super::scan::{Item, Scan};
use super::{MAX_PROBLEMS, MAX_TASKS, Problem, TaskFile};
use crate::graph::Graph;

/// All dependencies of a file together; two large groups that wait for each other make very many.
const MAX_DEPENDENCIES: usize = 200_000;
/// So much of what stands below a group is told to each of its tasks.
const MAX_CONTEXT_CHARS: usize = 2_000;

/// What can be meant by a name.
struct Names {
    /// Boxes by id, given or made.
    ids: HashMap<String, usize>,
    /// Boxes by the number or name that their titles begin with; nothing where two have the same.
    labels: HashMap<String, Option<usize>>,
}

impl Names {
    fn find(&self, name: &str) -> Option<usize> {
        let by_label = || self.labels.get(name).copied().flatten();
        self.ids.get(name).copied().or_else(by_label)
    }
}

struct Resolver<'t, 'l> {
    lines: &'l [Line<'t>],
    items: Vec<Item<'t>>,
    /// For each box its id; groups without a given one have none.
    ids: Vec<Option<TaskId>>,
    problems: Vec<Problem>,
}

/// Makes tasks of what was found.
pub(super) fn resolve(
    name: &str,
    lines: &[Line<'_>],
    front: FrontMatter,
    scan: Scan<'_>,
) -> Result<TaskFile, Vec<Problem>> {
    let mut resolver =
        Resolver { lines, items: scan.items, ids: Vec::new(), problems: scan.problems };
    for wrong in front.problems {
        resolver.wrong(wrong);
    }
    if resolver.items.is_empty() {
        let at = lines.last().map_or(0, |line| line.start);
        resolver.problem(at, "no task in it", "write one per line: `- [ ] what is to be done`");
    }
    if resolver.items.len() > MAX_TASKS {
        let at = resolver.at(MAX_TASKS);
        resolver.problem(at, &format!("more than {MAX_TASKS} boxes"), "split the file");
        return Err(resolver.problems);
    }
    let names = resolver.name();
    resolver.apply(front.tasks, &names);
    let waits = resolver.dependencies(&names);
    let mut tasks = Vec::new();
    let mut task_lines = Vec::new();
    for (place, depends_on) in waits.into_iter().enumerate() {
        if let Some(task) = resolver.task(place, depends_on, front.agent.as_ref()) {
            tasks.push(task);
            task_lines.push(position(lines, resolver.at(place)).0);
        }
    }
    resolver.check_cycles(&tasks, &names);
    if !resolver.problems.is_empty() {
        resolver.problems.sort();
        resolver.problems.truncate(MAX_PROBLEMS);
        return Err(resolver.problems);
    }
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let said = front.goal.or(scan.heading).filter(|goal| !goal.trim().is_empty());
    Ok(TaskFile {
        goal: said.unwrap_or_else(|| stem.to_owned()),
        plan: front.plan,
        max_parallel: front.max_parallel,
        tasks,
        lines: task_lines,
    })
}

impl Resolver<'_, '_> {
    fn problem(&mut self, at: usize, what: &str, hint: &str) {
        if self.problems.len() < 2 * MAX_PROBLEMS {
            let (line, column) = position(self.lines, at);
            self.problems.push(Problem::new(line, column, what, hint));
        }
    }

    fn wrong(&mut self, wrong: Wrong) {
        self.problem(wrong.at, &wrong.what, &wrong.hint);
    }

    /// Where a box stands.
    fn at(&self, place: usize) -> usize {
        self.items.get(place).map_or(0, |item| item.box_at.saturating_sub(1))
    }

    /// Gives every box its id, and says what can be meant by a name.
    fn name(&mut self) -> Names {
        let mut names = Names { ids: HashMap::new(), labels: HashMap::new() };
        let mut twice = Vec::new();
        for (place, item) in self.items.iter().enumerate() {
            if let Some(label) = label(&item.title) {
                let same = names.labels.entry(label.to_owned());
                same.and_modify(|other| *other = None).or_insert(Some(place));
            }
            let Some(given) = &item.metadata.id else { continue };
            match names.ids.get(&given.value) {
                Some(first) => twice.push((given.clone(), *first)),
                None => {
                    names.ids.insert(given.value.clone(), place);
                }
            }
        }
        for (given, first) in twice {
            let (line, _) = position(self.lines, self.at(first));
            let what = format!("the id `{}` is already taken in line {line}", given.value);
            self.problem(given.at, &what, "give each task its own");
        }
        let mut number = 0;
        for (place, item) in self.items.iter().enumerate() {
            number += usize::from(!item.is_group);
            let given = item.metadata.id.as_ref().map(|given| given.value.clone());
            let made = || {
                let base = format!("t{number}");
                let mut tries = (2..).map(|n| format!("{base}-{n}"));
                let id = if names.ids.contains_key(&base) {
                    tries.find(|id| !names.ids.contains_key(id)).unwrap_or(base)
                } else {
                    base
                };
                (!item.is_group).then_some(id)
            };
            let id = given.or_else(made);
            if let Some(id) = &id {
                names.ids.entry(id.clone()).or_insert(place);
            }
            self.ids.push(id.and_then(|id| TaskId::parse(&id)));
        }
        names
    }

    /// Takes what the front matter says about single tasks.
    fn apply(&mut self, said: Vec<(Given, Vec<Pair>)>, names: &Names) {
        for (name, pairs) in said {
            let place = names.find(&name.value);
            let Some(item) = place.and_then(|place| self.items.get_mut(place)) else {
                let what = format!("no box is the task `{}`", name.value);
                self.problem(name.at, &what, "write `<!-- id: … -->` beside the box");
                continue;
            };
            let (ids, pairs): (Vec<_>, Vec<_>) =
                pairs.into_iter().partition(|pair| pair.key.eq_ignore_ascii_case("id"));
            let wrong = item.metadata.take(pairs);
            for pair in ids {
                let hint = "write `<!-- id: … -->` beside the box";
                self.problem(pair.at, "an id cannot be given in the front matter", hint);
            }
            wrong.into_iter().for_each(|wrong| self.wrong(wrong));
        }
    }

    /// The boxes that a box stands in, from the inside out; itself first.
    fn chain(&self, place: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(place), |place| self.items.get(*place)?.parent)
    }

    /// For each box the tasks that it waits for.
    fn dependencies(&mut self, names: &Names) -> Vec<Vec<usize>> {
        let below = self.below();
        let mut total = 0;
        let mut all = Vec::with_capacity(self.items.len());
        let mut wrong: Vec<Wrong> = Vec::new();
        let mut told: HashSet<usize> = HashSet::new();
        for (place, item) in self.items.iter().enumerate() {
            let mut waits: Vec<usize> = Vec::new();
            let mut seen: HashSet<usize> = HashSet::new();
            let chain = self.chain(place).filter_map(|place| self.items.get(place));
            for given in chain.flat_map(|item| &item.metadata.depends_on) {
                let Some(other) = names.find(&given.value) else {
                    if told.insert(given.at) && wrong.len() < MAX_PROBLEMS {
                        wrong.push(unknown(given, names));
                    }
                    continue;
                };
                if self.chain(place).any(|outer| outer == other) {
                    if told.insert(given.at) {
                        wrong.push(own(given, other == place));
                    }
                    continue;
                }
                let tasks = below.get(other).cloned().unwrap_or(other..other + 1);
                let tasks = tasks.filter(|at| self.items.get(*at).is_some_and(|it| !it.is_group));
                if !item.is_group && total + waits.len() <= MAX_DEPENDENCIES {
                    waits.extend(tasks.filter(|task| seen.insert(*task)));
                }
            }
            total += waits.len();
            all.push(waits);
        }
        wrong.into_iter().for_each(|wrong| self.wrong(wrong));
        if total > MAX_DEPENDENCIES {
            let what = format!("more than {MAX_DEPENDENCIES} dependencies");
            self.problem(0, &what, "let large groups wait for one task each");
        }
        all
    }

    /// For each box, itself and all that stand below it: they follow each other.
    fn below(&self) -> Vec<std::ops::Range<usize>> {
        let mut ends: Vec<usize> = (1..=self.items.len()).collect();
        for (place, item) in self.items.iter().enumerate().rev() {
            let end = ends.get(place).copied().unwrap_or(place + 1);
            if let Some(outer) = item.parent.and_then(|parent| ends.get_mut(parent)) {
                *outer = (*outer).max(end);
            }
        }
        ends.into_iter().enumerate().map(|(place, end)| place..end).collect()
    }

    /// The task of a box; nothing for a group.
    fn task(
        &self,
        place: usize,
        depends_on: Vec<usize>,
        agent: Option<&aurora_model::id::AgentName>,
    ) -> Option<Task> {
        let item = self.items.get(place).filter(|item| !item.is_group)?;
        let mut chain = self.chain(place).filter_map(|place| self.items.get(place));
        let said = chain.find_map(|item| item.metadata.agent.as_ref());
        let own = details(item);
        let context = self.context(place);
        let details = match (context.is_empty(), own.is_empty()) {
            (true, _) => own,
            (false, true) => context,
            (false, false) => format!("{context}\n\n{own}"),
        };
        Some(Task {
            id: self.ids.get(place)?.clone()?,
            title: item.title.clone(),
            details,
            agent: said.or(agent).cloned(),
            depends_on: depends_on
                .into_iter()
                .filter_map(|other| self.ids.get(other)?.clone())
                .collect(),
            scope: Scope {
                paths: item.metadata.paths.clone(),
                files: item.metadata.files,
                lines: item.metadata.lines,
            },
            done: item.ticked,
        })
    }

    /// What a task is a part of: the titles of its groups, and what stands below the nearest.
    fn context(&self, place: usize) -> String {
        let groups: Vec<&Item<'_>> =
            self.chain(place).skip(1).filter_map(|place| self.items.get(place)).collect();
        let Some(nearest) = groups.first() else { return String::new() };
        let titles: Vec<String> = groups
            .iter()
            .rev()
            .map(|group| group.title.chars().take(MAX_CONTEXT_CHARS).collect())
            .collect();
        let below: String = details(nearest).chars().take(MAX_CONTEXT_CHARS).collect();
        let between = if below.is_empty() { "" } else { "\n" };
        format!("Part of: {}{between}{below}", titles.join(" > "))
    }

    fn check_cycles(&mut self, tasks: &[Task], names: &Names) {
        for cycle in Graph::of(tasks).cycles() {
            let place = cycle.first().and_then(|id| names.ids.get(id.as_str()));
            let at = place.map_or(0, |place| self.at(*place));
            let way: Vec<&str> = cycle.iter().map(TaskId::as_str).collect();
            let what = format!("tasks wait for each other: {}", way.join(" -> "));
            self.problem(at, &what, "take one of these dependencies away");
        }
    }
}

/// The number or name that a title begins with: `1.1 Title`, `sg-1: Title`.
fn label(title: &str) -> Option<&str> {
    let word = title.split_whitespace().next()?;
    let word = word.trim_start_matches(['*', '`', '_', '(']);
    let word = word.trim_end_matches(['*', '`', '_', '.', ':', ')']);
    (is_name(word) && word.contains(|c: char| c.is_ascii_digit())).then_some(word)
}

fn unknown(given: &Given, names: &Names) -> Wrong {
    let hint = match nearest(&given.value, names.ids.keys().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "name a task by its id, or by the number that its title begins with".to_owned(),
    };
    let ambiguous = matches!(names.labels.get(&given.value), Some(None));
    let what = if ambiguous { "is the name of more than one task" } else { "is no task" };
    Wrong { at: given.at, what: format!("`{}` {what}", given.value), hint }
}

fn own(given: &Given, itself: bool) -> Wrong {
    let what = if itself {
        format!("`{}` waits for itself", given.value)
    } else {
        format!("a task waits for `{}`, the group that it stands in", given.value)
    };
    Wrong { at: given.at, what, hint: "take the dependency away".to_owned() }
}

/// The lines that belong to a box, set back to the column of its text.
fn details(item: &Item<'_>) -> String {
    let is_blank = |line: &&&str| line.trim().is_empty();
    let lead = item.details.iter().take_while(is_blank).count();
    let tail = item.details.iter().rev().take_while(is_blank).count();
    let lines = item.details.len().saturating_sub(lead + tail);
    let kept = item.details.iter().skip(lead).take(lines);
    kept.map(|line| dedented(line, item.column)).collect::<Vec<_>>().join("\n")
}
