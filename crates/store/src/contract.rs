//! What every `Store` promises, as tests that each implementation passes.
//!
//! An implementation gives a [`Subject`] and runs [`suite`] on a fresh one for each promise.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a promise that is not kept ends the test that asked for it"
)]

mod append;
mod beside;
mod many;
mod marks;
mod outbox;
mod read;
mod together;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use aurora_model::Timestamp;

use crate::chain;
use crate::error::Error;
use crate::record::{Append, Appended, Expected, NewRecord, Outgoing, Record, StreamId};
use crate::store::Store;

/// A log that is judged. A fresh one is empty.
pub trait Subject: Sync {
    /// Another door to the log, as another process would open it.
    fn open(&self) -> Box<dyn Store>;
}

/// One promise: a sentence, and how it is put to the test.
pub type Promise = (&'static str, fn(&dyn Subject));

/// Hands the list of all promises to a macro, so that the suite and the tests have the same ones.
macro_rules! with_promises {
    ($use_them:ident) => {
        $use_them! {
            append::a_new_stream_begins_with_version_one,
            append::the_version_must_be_the_one_that_is_there,
            append::a_conflict_says_what_was_found_and_changes_nothing,
            append::without_expectation_records_go_to_the_end,
            append::several_records_are_appended_in_their_order,
            append::all_of_an_append_is_recorded_or_nothing,
            append::an_append_of_nothing_only_checks_the_version,
            append::everything_given_is_kept_byte_for_byte,
            append::a_large_payload_is_kept,
            append::hostile_names_are_names,
            append::what_cannot_be_a_name_is_refused,
            append::what_is_no_json_is_refused,
            append::times_may_go_back_and_be_far_away,
            read::a_stream_is_read_in_order_after_a_version,
            read::several_streams_are_read_at_once,
            read::the_whole_log_is_read_in_order_without_gaps,
            read::limits_hold,
            read::what_is_not_there_is_empty,
            read::a_head_says_how_a_stream_stands,
            read::heads_come_latest_first,
            read::heads_are_found_by_the_beginning_of_their_names,
            read::nothing_in_a_prefix_is_a_pattern,
            read::streams_that_differ_in_case_or_form_are_different,
            read::the_chains_are_as_they_are_defined,
            read::an_untouched_log_verifies,
            read::an_expected_head_is_found_later_and_another_is_not,
            beside::a_picture_is_kept_and_replaced,
            beside::pictures_have_names_of_their_own,
            beside::bytes_are_kept_under_their_digest,
            beside::empty_and_large_bytes_are_kept,
            beside::keeping_twice_is_keeping_once,
            beside::what_nobody_kept_is_not_found,
            beside::a_digest_that_is_none_reaches_nothing,
            beside::a_claim_is_held_by_one,
            beside::a_claim_is_free_when_it_is_dropped,
            beside::claims_of_different_streams_do_not_meet,
            beside::looking_at_a_claim_takes_nothing_from_anybody,
            many::several_streams_are_appended_to_at_once,
            many::a_conflict_of_one_stream_leaves_all_as_they_are,
            many::what_cannot_be_recorded_takes_the_others_with_it,
            many::one_stream_twice_at_once_is_refused,
            many::a_subscriber_of_another_door_hears_of_all_of_it,
            many::one_of_many_wins_a_race_for_two_streams,
            marks::a_stream_is_found_by_its_mark,
            marks::a_mark_stays_until_there_is_another,
            marks::a_mark_needs_no_record_but_a_stream,
            marks::a_conflict_marks_nothing,
            marks::pages_follow_the_order_in_which_streams_began,
            marks::what_is_due_comes_earliest_first,
            marks::marks_are_no_part_of_the_chains,
            marks::whatever_is_marked_is_found_as_a_model_says,
            outbox::messages_leave_with_the_records,
            outbox::a_message_that_is_not_delivered_is_given_out_again,
            outbox::a_delivered_message_is_gone,
            outbox::a_message_of_the_same_id_waits_once,
            outbox::a_conflict_sends_nothing,
            outbox::messages_are_given_out_in_order_and_within_the_limit,
            outbox::a_message_says_how_often_it_was_tried,
            outbox::a_message_can_be_put_off,
            outbox::the_next_message_is_known_without_asking_for_it,
            together::concurrent_appenders_get_every_version_once,
            together::one_of_many_wins_a_race_for_a_version,
            together::conflicts_do_not_spoil_what_is_written_beside_them,
            together::a_subscriber_wakes_up,
            together::a_subscriber_hears_of_another_door,
            together::everything_is_there_through_another_door,
            together::everything_is_there_after_reopening,
            together::two_doors_write_to_one_log,
            together::a_log_is_verified_while_it_is_written,
        }
    };
}

macro_rules! as_list {
    ($($room:ident :: $promise:ident),* $(,)?) => {
        vec![$((stringify!($promise), $room::$promise as fn(&dyn Subject))),*]
    };
}

/// Every promise. Each wants a subject of its own.
#[must_use]
pub fn suite() -> Vec<Promise> {
    with_promises!(as_list)
}

/// Longer than anything here takes, and shorter than a person's patience.
const DEADLINE: Duration = Duration::from_secs(120);

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for an answer, without a run time: a store needs none.
///
/// # Panics
/// When there is none after two minutes.
pub fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    let start = Instant::now();
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return answer;
        }
        let left = DEADLINE.saturating_sub(start.elapsed());
        assert!(left > Duration::ZERO, "no answer");
        thread::park_timeout(left);
    }
}

/// Whether something becomes so, looked at now and then until the deadline.
fn becomes(mut so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < DEADLINE {
        if so() {
            return true;
        }
        thread::park_timeout(Duration::from_millis(2));
    }
    false
}

fn stream(name: &str) -> StreamId {
    StreamId(name.to_owned())
}

fn at(unix_ms: i64) -> Timestamp {
    Timestamp { unix_ms }
}

fn new(kind: &str, payload: &str) -> NewRecord {
    NewRecord { kind: kind.to_owned(), schema: 1, payload: payload.to_owned() }
}

fn message(id: &str) -> Outgoing {
    let payload = format!("{{\"to\":\"{id}\"}}");
    Outgoing { id: id.to_owned(), topic: "webhook".to_owned(), payload, tried: 0 }
}

fn to(name: &str, expected: Expected, records: Vec<NewRecord>) -> Append {
    let (stream, at) = (stream(name), at(1_700_000_000_000));
    Append { stream, expected, at, records, outgoing: Vec::new(), mark: None }
}

/// What the promises say to a store, in short.
impl dyn Store + '_ {
    fn add(&self, name: &str, kind: &str) -> Appended {
        let append = to(name, Expected::Any, vec![new(kind, "{}")]);
        wait(self.append(append)).expect("an append")
    }

    fn all(&self) -> Vec<Record> {
        wait(self.read_all(0, usize::MAX)).expect("the log")
    }

    fn of(&self, name: &str) -> Vec<Record> {
        wait(self.read(&stream(name), 0, usize::MAX)).expect("the stream")
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        let heads = wait(self.heads(prefix, usize::MAX)).expect("the heads");
        heads.into_iter().map(|head| head.stream.0).collect()
    }

    fn assert_whole(&self) {
        let seen = wait(chain::verify(self, None)).expect("a verification");
        assert!(seen.is_whole(), "{:?}", seen.findings);
    }
}

fn is_conflict<T>(result: &crate::Result<T>) -> bool {
    matches!(result, Err(Error::Conflict { .. }))
}

fn is_refused<T>(result: &crate::Result<T>) -> bool {
    matches!(result, Err(Error::Refused { .. }))
}

#[cfg(test)]
mod tests;
