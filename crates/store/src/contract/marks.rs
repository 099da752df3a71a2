//! Promises about what streams are found by.

use std::collections::BTreeSet;

use aurora_model::Digest;

use super::{Subject, at, is_conflict, new, stream, to, wait};
use crate::chain::{self, BEGINNING};
use crate::record::{Append, Expected, Mark, Marked};
use crate::store::Store;

fn append(name: &str, label: &str, wake_at: Option<i64>) -> Append {
    let mut append = to(name, Expected::Any, vec![new("k", "{}")]);
    append.mark = Some(Mark { label: label.to_owned(), wake_at: wake_at.map(at) });
    append
}

fn mark(store: &dyn Store, name: &str, label: &str, wake_at: Option<i64>) {
    wait(store.append(append(name, label, wake_at))).expect("an append");
}

fn names(found: &[Marked]) -> Vec<&str> {
    found.iter().map(|one| one.stream.0.as_str()).collect()
}

fn marked(store: &dyn Store, label: &str) -> Vec<Marked> {
    wait(store.marked(label, 0, usize::MAX)).expect("marks")
}

pub(super) fn a_stream_is_found_by_its_mark(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/a", "k");
    mark(&*store, "approval/1", "pending", Some(50));
    mark(&*store, "approval/2", "pending", None);
    let found = marked(&*store, "pending");
    assert_eq!(names(&found), ["approval/1", "approval/2"]);
    let given = Mark { label: "pending".to_owned(), wake_at: Some(at(50)) };
    assert_eq!((&found[0].mark, found[1].mark.wake_at), (&given, None));
    assert!(marked(&*store, "pend").is_empty() && marked(&*store, "PENDING").is_empty());
    assert!(marked(&*store, "").is_empty() && marked(&*store, "pending'; --").is_empty());
    let found = marked(&*subject.open(), "pending");
    assert_eq!(names(&found), ["approval/1", "approval/2"], "through another door");
}

pub(super) fn a_mark_stays_until_there_is_another(subject: &dyn Subject) {
    let store = subject.open();
    mark(&*store, "approval/1", "pending", Some(50));
    store.add("approval/1", "nothing is said of the mark");
    assert_eq!(wait(store.next_wake()).expect("a time"), Some(at(50)));
    mark(&*store, "approval/1", "approved", None);
    assert!(marked(&*store, "pending").is_empty());
    assert_eq!(names(&marked(&*store, "approved")), ["approval/1"]);
    assert_eq!(wait(store.next_wake()).expect("a time"), None);
    assert!(wait(store.due(at(i64::MAX), 9)).expect("what is due").is_empty());
}

pub(super) fn a_mark_needs_no_record_but_a_stream(subject: &dyn Subject) {
    let store = subject.open();
    let mut only = append("approval/1", "pending", Some(5));
    only.records.clear();
    wait(store.append(only.clone())).expect("nothing");
    assert!(marked(&*store, "pending").is_empty());
    assert!(wait(store.head(&stream("approval/1"))).expect("a head").is_none());
    store.add("approval/1", "k");
    assert!(marked(&*store, "pending").is_empty());
    wait(store.append(only)).expect("a mark");
    assert_eq!(names(&marked(&*store, "pending")), ["approval/1"]);
    assert_eq!(store.all().len(), 1);
}

pub(super) fn a_conflict_marks_nothing(subject: &dyn Subject) {
    let store = subject.open();
    mark(&*store, "approval/1", "pending", Some(50));
    let mut late = append("approval/1", "approved", None);
    late.expected = Expected::Version(0);
    assert!(is_conflict(&wait(store.append(late))));
    assert_eq!(names(&marked(&*store, "pending")), ["approval/1"]);
    assert_eq!(wait(store.next_wake()).expect("a time"), Some(at(50)));
}

pub(super) fn pages_follow_the_order_in_which_streams_began(subject: &dyn Subject) {
    let store = subject.open();
    let all: Vec<String> = (0..25).rev().map(|n| format!("approval/{n}")).collect();
    for name in &all {
        mark(&*store, name, "pending", None);
    }
    // What is written later does not change a place; what is not marked so leaves a hole.
    mark(&*store, &all[3], "pending", Some(9));
    mark(&*store, &all[20], "approved", None);
    let (mut after, mut found) = (0, Vec::new());
    loop {
        let page = wait(store.marked("pending", after, 7)).expect("a page");
        assert!(page.len() <= 7 && page.iter().all(|one| one.place > after));
        let Some(last) = page.last() else { break };
        after = last.place;
        found.extend(page);
        // Somebody decides while somebody else turns the pages.
        mark(&*store, &all[0], "approved", None);
        mark(&*store, "approval/new", "pending", None);
    }
    let wanted = all.iter().map(String::as_str).filter(|name| *name != all[20]);
    let wanted: Vec<&str> = wanted.chain(["approval/new"]).collect();
    assert_eq!(names(&found), wanted);
    assert!(wait(store.marked("pending", 0, 0)).expect("no page").is_empty());
    assert!(wait(store.marked("pending", u64::MAX, 9)).expect("no page").is_empty());
}

pub(super) fn what_is_due_comes_earliest_first(subject: &dyn Subject) {
    let store = subject.open();
    assert_eq!(wait(store.next_wake()).expect("a time"), None);
    for (name, time) in [("c", 30), ("a", 10), ("d", 30), ("b", 20), ("z", i64::MIN)] {
        mark(&*store, name, "pending", Some(time));
    }
    mark(&*store, "never", "pending", None);
    mark(&*store, "late", "pending", Some(i64::MAX));
    let due = |now, limit| wait(store.due(at(now), limit)).expect("what is due");
    assert_eq!(names(&due(9, 9)), ["z"]);
    assert_eq!(names(&due(30, 9)), ["z", "a", "b", "c", "d"]);
    assert_eq!(names(&due(30, 2)), ["z", "a"]);
    assert_eq!(names(&due(29, 9)), ["z", "a", "b"]);
    assert_eq!(due(i64::MAX, 9).len(), 6);
    assert_eq!(wait(store.next_wake()).expect("a time"), Some(at(i64::MIN)));
    mark(&*store, "z", "closed", None);
    assert_eq!(wait(store.next_wake()).expect("a time"), Some(at(10)));
}

pub(super) fn marks_are_no_part_of_the_chains(subject: &dyn Subject) {
    let store = subject.open();
    mark(&*store, "run/a", "pending", Some(5));
    let before = store.all();
    let hash = chain::hash_of(&BEGINNING, &before[0]);
    assert_eq!(before[0].hash, Digest::of_bytes(hash), "as without a mark");
    let mut only = append("run/a", "approved", None);
    only.records.clear();
    wait(store.append(only)).expect("a mark");
    assert_eq!(store.all(), before);
    store.assert_whole();
}

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// What a store should say, by going through everything.
#[derive(Default)]
struct Model {
    streams: Vec<(String, u64, Option<Mark>)>,
}

impl Model {
    fn version(&self, name: &str) -> u64 {
        let found = self.streams.iter().find(|(there, ..)| there == name);
        found.map_or(0, |(_, version, _)| *version)
    }

    fn append(&mut self, append: &Append) {
        let name = &append.stream.0;
        let index = self.streams.iter().position(|(there, ..)| there == name);
        let index = match index {
            Some(index) => index,
            None if append.records.is_empty() => return,
            None => {
                self.streams.push((name.clone(), 0, None));
                self.streams.len() - 1
            }
        };
        let (_, version, mark) = &mut self.streams[index];
        *version += append.records.len() as u64;
        *mark = append.mark.clone().or(mark.take());
    }

    fn found(&self, takes: impl Fn(&Mark) -> bool) -> Vec<Marked> {
        let found = self.streams.iter().zip(1..).filter_map(|((name, _, mark), place)| {
            let mark = mark.clone().filter(&takes)?;
            Some(Marked { stream: stream(name), mark, place })
        });
        found.collect()
    }

    fn due(&self, now: i64, limit: usize) -> Vec<Marked> {
        let mut due = self.found(|mark| mark.wake_at.is_some_and(|time| time <= at(now)));
        due.sort_by_key(|one| (one.mark.wake_at, one.place));
        due.truncate(limit);
        due
    }
}

const LABELS: [&str; 3] = ["pending", "approved", "reserved"];

fn any_append(dice: &mut Dice, model: &Model, name: String) -> Append {
    let version = model.version(&name);
    let known = if dice.below(4) == 0 { version + 1 } else { version };
    let expected = if dice.below(3) == 0 { Expected::Any } else { Expected::Version(known) };
    let records = (0..dice.below(3)).map(|n| new("k", &format!("{n}"))).collect();
    let mut append = to(&name, expected, records);
    append.mark = (dice.below(3) > 0).then(|| Mark {
        label: LABELS[dice.below(3) as usize].to_owned(),
        wake_at: (dice.below(3) > 0).then(|| at(dice.below(40) as i64)),
    });
    append
}

pub(super) fn whatever_is_marked_is_found_as_a_model_says(subject: &dyn Subject) {
    let store = subject.open();
    let (mut dice, mut model) = (Dice(0x2545_f491_4f6c_dd1d), Model::default());
    for _ in 0..250 {
        let chosen: BTreeSet<u64> = (0..=dice.below(3)).map(|_| dice.below(12)).collect();
        let names = chosen.into_iter().map(|n| format!("approval/{n}"));
        let appends: Vec<Append> = names.map(|name| any_append(&mut dice, &model, name)).collect();
        let holds = appends.iter().all(|append| match append.expected {
            Expected::Any => true,
            Expected::Version(known) => known == model.version(&append.stream.0),
        });
        match wait(store.append_all(appends.clone())) {
            Ok(_) => assert!(holds),
            refused => assert!(is_conflict(&refused) && !holds, "{refused:?}"),
        }
        if holds {
            appends.iter().for_each(|append| model.append(append));
        }
        agrees(&*store, &model, &mut dice);
    }
    store.assert_whole();
}

fn agrees(store: &dyn Store, model: &Model, dice: &mut Dice) {
    let (after, limit, now) = (dice.below(12), dice.below(6) as usize, dice.below(45) as i64);
    let label = LABELS[dice.below(3) as usize];
    let all = model.found(|mark| mark.label == label);
    assert_eq!(wait(store.count_marked(label)).expect("a count"), all.len() as u64);
    let page = all.into_iter().filter(|one| one.place > after).take(limit);
    let page: Vec<Marked> = page.collect();
    assert_eq!(wait(store.marked(label, after, limit)).expect("a page"), page);
    assert_eq!(wait(store.due(at(now), limit)).expect("what is due"), model.due(now, limit));
    let next = model.due(i64::MAX, 1).first().and_then(|one| one.mark.wake_at);
    assert_eq!(wait(store.next_wake()).expect("a time"), next);
}
