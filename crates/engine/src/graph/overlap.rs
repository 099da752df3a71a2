//! Tasks that are expected to touch the same files, and so are not run beside each other.

use std::collections::{BTreeSet, HashMap};

use aurora_model::id::TaskId;
use aurora_model::task::Task;

use super::Graph;

/// For each task, in the order of the list, the others whose expected paths overlap with its own and
/// that no dependency keeps apart already. It goes both ways.
#[must_use]
pub fn apart(tasks: &[Task]) -> Vec<Vec<TaskId>> {
    let graph = &Graph::of(tasks);
    let mut others: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); graph.ids.len()];
    let ancestors = ancestors(graph);
    let waits = |task: usize, other: usize| {
        ancestors.get(task).is_some_and(|row| {
            row.get(other / 64).is_some_and(|word| word & (1 << (other % 64)) != 0)
        })
    };
    for (left, right) in overlapping(tasks) {
        if left != right && !waits(left, right) && !waits(right, left) {
            if let Some(others) = others.get_mut(left) {
                others.insert(right);
            }
            if let Some(others) = others.get_mut(right) {
                others.insert(left);
            }
        }
    }
    others.iter().map(|row| row.iter().filter_map(|other| graph.id(*other)).collect()).collect()
}

/// For each task, as bits, all that it waits for.
fn ancestors(graph: &Graph) -> Vec<Vec<u64>> {
    let words = graph.ids.len().div_ceil(64);
    let mut rows = vec![vec![0_u64; words]; graph.ids.len()];
    for place in graph.order() {
        let mut row = vec![0; words];
        for other in graph.before(place) {
            for (word, theirs) in row.iter_mut().zip(rows.get(*other).into_iter().flatten()) {
                *word |= theirs;
            }
            if let Some(word) = row.get_mut(other / 64) {
                *word |= 1 << (other % 64);
            }
        }
        if let Some(slot) = rows.get_mut(place) {
            *slot = row;
        }
    }
    rows
}

/// Pairs of tasks with a path in common.
fn overlapping(tasks: &[Task]) -> Vec<(usize, usize)> {
    let mut plain: HashMap<String, Vec<usize>> = HashMap::new();
    let mut patterns: Vec<(String, usize)> = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        for path in task.scope.paths.iter().map(|path| tidy(path)) {
            if path.is_empty() || path.contains(SPECIAL) {
                patterns.push((path, place));
            } else {
                plain.entry(path).or_default().push(place);
            }
        }
    }
    let mut pairs = Vec::new();
    for (path, places) in &plain {
        // A folder stands for everything below it.
        let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        for other in folders.chain([path.as_str()]).filter_map(|path| plain.get(path)) {
            pairs.extend(places.iter().flat_map(|a| other.iter().map(|b| (*a, *b))));
        }
    }
    for (index, (pattern, place)) in patterns.iter().enumerate() {
        let later = patterns.iter().skip(index + 1);
        let later = later.filter(|(other, _)| patterns_overlap(pattern, other));
        pairs.extend(later.map(|(_, other)| (*place, *other)));
        for (path, places) in &plain {
            if patterns_overlap(pattern, path) {
                pairs.extend(places.iter().map(|other| (*place, *other)));
            }
        }
    }
    pairs
}

const SPECIAL: [char; 4] = ['*', '?', '[', '{'];

/// A path without what makes two spellings of one.
fn tidy(path: &str) -> String {
    let parts = path.trim().split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.collect::<Vec<_>>().join("/")
}

/// Whether two paths or patterns can mean the same file. Where it is hard to say: yes. A path also
/// stands for everything below it, and the empty one for everything.
#[must_use]
pub fn patterns_overlap(left: &str, right: &str) -> bool {
    let (left, right) = (tidy(left), tidy(right));
    for (left, right) in left.split('/').zip(right.split('/')) {
        if left.is_empty() || right.is_empty() || left.contains("**") || right.contains("**") {
            return true;
        }
        // Braces may hold a slash, so that nothing behind them can be compared.
        if left.contains('{') || right.contains('{') {
            return true;
        }
        if !segments_overlap(left, right) {
            return false;
        }
    }
    true
}

/// Whether two names or patterns without a slash can mean the same name.
fn segments_overlap(left: &str, right: &str) -> bool {
    let prefix = |text: &str| text.find(SPECIAL).unwrap_or(text.len());
    let agree = |left: &str, right: &str| left.starts_with(right) || right.starts_with(left);
    match (left.contains(SPECIAL), right.contains(SPECIAL)) {
        (false, false) => left == right,
        (true, false) => matches(left, right),
        (false, true) => matches(right, left),
        (true, true) => {
            let heads = agree(
                left.get(..prefix(left)).unwrap_or_default(),
                right.get(..prefix(right)).unwrap_or_default(),
            );
            // A class may hold any sign, so that the end is only known without one.
            let known = !left.contains('[') && !right.contains('[');
            let tail = |text: &str| -> String {
                text.chars().rev().take_while(|c| !SPECIAL.contains(c)).collect()
            };
            heads && (!known || agree(&tail(left), &tail(right)))
        }
    }
}

/// Whether a pattern without a slash matches a name; a class in brackets matches any one character.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = simple(pattern);
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // Where the last star stands, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || Some(c) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

/// A pattern whose classes became `?`.
fn simple(pattern: &str) -> Vec<char> {
    let mut out = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let inside = rest.strip_prefix('[').and_then(|inside| {
            // A bracket right behind the opening one belongs to the class.
            let skip = inside.starts_with([']', '!', '^']).into();
            inside.get(skip..)?.find(']').map(|close| (inside, skip + close + 1))
        });
        if let Some((inside, end)) = inside {
            out.push('?');
            rest = inside.get(end..).unwrap_or_default();
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    out
}
