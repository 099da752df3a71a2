//! The graph of tasks: what waits for what, what can be done at once, what is in each other's way.

mod overlap;

use std::collections::{BTreeSet, HashMap};

use aurora_model::id::TaskId;
use aurora_model::task::Task;

pub use self::overlap::{apart, patterns_overlap};

/// So many cycles are looked for; whoever has more begins with these.
const MAX_CYCLES: usize = 10;

/// Tasks and the tasks that they wait for, by their place in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    ids: Vec<TaskId>,
    places: HashMap<TaskId, usize>,
    /// For each task the places of those it waits for; names that no task has are left out.
    before: Vec<Vec<usize>>,
    /// For each task the places of those that wait for it.
    after: Vec<Vec<usize>>,
}

impl Graph {
    /// The graph of these tasks.
    #[must_use]
    pub fn of<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> Self {
        let tasks: Vec<&Task> = tasks.into_iter().collect();
        let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
        let mut places = HashMap::with_capacity(ids.len());
        for (place, id) in ids.iter().enumerate() {
            places.entry(id.clone()).or_insert(place);
        }
        let before = tasks
            .iter()
            .map(|task| task.depends_on.iter().filter_map(|id| places.get(id).copied()).collect());
        let before: Vec<Vec<usize>> = before.collect();
        let mut after = vec![Vec::new(); ids.len()];
        for (place, before) in before.iter().enumerate() {
            for other in before {
                if let Some(after) = after.get_mut(*other) {
                    after.push(place);
                }
            }
        }
        Self { ids, places, before, after }
    }

    /// The place of a task in the list.
    #[must_use]
    pub fn place(&self, id: &TaskId) -> Option<usize> {
        self.places.get(id).copied()
    }

    fn id(&self, place: usize) -> Option<TaskId> {
        self.ids.get(place).cloned()
    }

    /// The places of those that the task there waits for.
    #[must_use]
    pub fn before(&self, place: usize) -> &[usize] {
        self.before.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    /// The places of those that wait for the task there.
    #[must_use]
    pub fn after(&self, place: usize) -> &[usize] {
        self.after.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    /// Circles of tasks that wait for each other, each as a way that ends where it began: `a`, `b`,
    /// `a` where `a` waits for `b`. A few of them, if there are many.
    #[must_use]
    pub fn cycles(&self) -> Vec<Vec<TaskId>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            OnTheWay,
            Done,
        }
        let mut seen = vec![Seen::No; self.ids.len()];
        let mut cycles = Vec::new();
        for root in 0..self.ids.len() {
            // Each entry is a task with how many of those before it were followed.
            let mut way = if seen.get(root) == Some(&Seen::No) { vec![(root, 0)] } else { vec![] };
            while let Some((place, followed)) = way.last_mut() {
                let place = *place;
                if let Some(slot) = seen.get_mut(place) {
                    *slot = Seen::OnTheWay;
                }
                let next = self.before(place).get(*followed).copied();
                *followed += 1;
                match next.map(|next| (next, seen.get(next).copied())) {
                    Some((next, Some(Seen::No))) => way.push((next, 0)),
                    Some((next, Some(Seen::OnTheWay))) if cycles.len() < MAX_CYCLES => {
                        let cycle = way.iter().map(|(place, _)| *place);
                        let cycle = cycle.skip_while(|place| *place != next).chain([next]);
                        cycles.push(cycle.filter_map(|place| self.id(place)).collect());
                    }
                    Some(_) => {}
                    None => {
                        if let Some(slot) = seen.get_mut(place) {
                            *slot = Seen::Done;
                        }
                        way.pop();
                    }
                }
            }
        }
        cycles
    }

    /// The places of tasks so that each comes after those it waits for; what is in a cycle, or
    /// waits for one, is left out.
    fn order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let free = missing.iter().enumerate().filter(|(_, missing)| **missing == 0);
        let mut order: Vec<usize> = free.map(|(place, _)| place).collect();
        let mut taken = 0;
        while let Some(place) = order.get(taken).copied() {
            taken += 1;
            for next in self.after(place) {
                if let Some(missing) = missing.get_mut(*next) {
                    *missing -= 1;
                    if *missing == 0 {
                        order.push(*next);
                    }
                }
            }
        }
        order
    }

    /// The tasks in waves: each wave needs only those before it. What is in a cycle is left out.
    #[must_use]
    pub fn waves(&self) -> Vec<Vec<TaskId>> {
        let mut level = vec![0; self.ids.len()];
        let mut order = self.order();
        for place in &order {
            let above = self.before(*place).iter().filter_map(|other| level.get(*other));
            let own = above.max().map_or(0, |above: &usize| above + 1);
            if let Some(level) = level.get_mut(*place) {
                *level = own;
            }
        }
        // Inside a wave the file's order holds.
        order.sort_unstable();
        let mut waves: Vec<Vec<TaskId>> = Vec::new();
        for place in order {
            let wave = level.get(place).copied().unwrap_or(0);
            if waves.len() <= wave {
                waves.resize(wave + 1, Vec::new());
            }
            if let (Some(wave), Some(id)) = (waves.get_mut(wave), self.id(place)) {
                wave.push(id);
            }
        }
        waves
    }

    /// The tasks that wait for this one, directly or through others, in the order of the list.
    #[must_use]
    pub fn dependents(&self, of: &TaskId) -> Vec<TaskId> {
        let places = self.dependents_among(of, |_| true);
        places.into_iter().filter_map(|place| self.id(place)).collect()
    }

    /// The places of the tasks that wait for this one, directly or through others, where only
    /// these count.
    pub fn dependents_among(&self, of: &TaskId, counts: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let Some(start) = self.place(of) else { return found };
        let mut next = vec![start];
        while let Some(place) = next.pop() {
            let new = self.after(place).iter().copied();
            let new = new.filter(|other| *other != start && counts(*other));
            next.extend(new.filter(|other| found.insert(*other)));
        }
        found
    }
}

#[cfg(test)]
mod tests;
