//! Ticks boxes: one character changes, and nothing else.

use std::collections::HashSet;

use aurora_model::id::TaskId;
use aurora_model::task::Task;

use super::scan::Item;
use super::{boxes, lines_of};

/// What became of a tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ticked {
    /// The text with the box ticked.
    Now(String),
    /// It was ticked already.
    Before,
    /// The box cannot be told, so nothing was ticked.
    NotFound(NotFound),
}

/// Why a task's box cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFound {
    /// No box has its id or its title any more.
    Gone,
    /// More than one box could be it.
    Ambiguous,
}

/// Ticks a task's box in a text that may have been edited since the tasks were read from it: the box
/// with its id, else the one with its title, counted among those with the same title.
#[must_use]
pub fn tick(text: &str, tasks: &[Task], id: &TaskId) -> Ticked {
    let lines = lines_of(text);
    let items = boxes(text, &lines).items;
    let found = match find(&items, tasks, id) {
        Ok(item) => item,
        Err(why) => return Ticked::NotFound(why),
    };
    if found.ticked {
        return Ticked::Before;
    }
    Ticked::Now(with_ticks(text, &[found.box_at]))
}

/// The box of a task.
fn find<'i, 't>(
    items: &'i [Item<'t>],
    tasks: &[Task],
    id: &TaskId,
) -> Result<&'i Item<'t>, NotFound> {
    let given = |item: &Item<'_>| item.metadata.id.as_ref().map(|given| given.value.clone());
    let mut by_id = items.iter().filter(|item| given(item).as_deref() == Some(id.as_str()));
    match (by_id.next(), by_id.next()) {
        (Some(item), None) if !item.is_group => return Ok(item),
        (Some(_), _) => return Err(NotFound::Ambiguous),
        (None, _) => {}
    }
    let Some(task) = tasks.iter().find(|task| task.id == *id) else {
        return Err(NotFound::Gone);
    };
    // Boxes and tasks that have found each other by id are not counted.
    let known: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let written: HashSet<String> = items.iter().filter_map(given).collect();
    let mut peers = tasks
        .iter()
        .filter(|other| other.title == task.title && !written.contains(other.id.as_str()));
    let candidates: Vec<&Item<'_>> = items
        .iter()
        .filter(|item| !item.is_group && item.title == task.title)
        .filter(|item| given(item).is_none_or(|id| !known.contains(id.as_str())))
        .collect();
    let count = peers.clone().count();
    let place = peers.position(|other| other.id == *id).unwrap_or(0);
    match (candidates.len(), candidates.get(place)) {
        (0, _) => Err(NotFound::Gone),
        (found, Some(item)) if found == count => Ok(item),
        _ => Err(NotFound::Ambiguous),
    }
}

/// Ticks the boxes of groups all of whose tasks are ticked.
#[must_use]
pub fn tick_groups(text: &str) -> String {
    let lines = lines_of(text);
    let items = boxes(text, &lines).items;
    // What stands below a box comes after it, so that from the end on every group is settled in time.
    let mut open = vec![false; items.len()];
    for (place, item) in items.iter().enumerate().rev() {
        let is_open = match item.is_group {
            true => open.get(place).copied().unwrap_or(false),
            false => !item.ticked,
        };
        if let Some(parent) = item.parent.filter(|_| is_open).and_then(|it| open.get_mut(it)) {
            *parent = true;
        }
    }
    let done =
        items.iter().zip(&open).filter(|(item, open)| item.is_group && !item.ticked && !**open);
    with_ticks(text, &done.map(|(item, _)| item.box_at).collect::<Vec<_>>())
}

/// The text with these boxes ticked, from the first on.
fn with_ticks(text: &str, boxes: &[usize]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for place in boxes {
        out.push_str(text.get(at..*place).unwrap_or_default());
        out.push('x');
        at = place + 1;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
