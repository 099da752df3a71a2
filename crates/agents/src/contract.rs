//! What every `Agent` promises, as tests that each implementation passes.
//!
//! An implementation gives a [`Subject`] and runs every promise of [`suite`] on it. Processes are
//! played over pipes in memory: what an agent makes of its process is judged, not the process.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a promise that is not kept ends the test that asked for it"
)]

mod ending;
pub(crate) mod process;
mod saying;

use std::sync::Mutex;

use crate::agent::{Agent, Ended, Heard, Job, Listener, Report, Start};
use process::{Act, Played};

/// An agent that is judged.
pub trait Subject {
    /// The agent.
    fn agent(&self) -> &dyn Agent;
    /// What its process says when it did what it was to do; nothing where it has no process.
    fn good_words(&self) -> Vec<u8>;
}

/// One promise: a sentence, and how it is put to the test.
pub type Promise = (&'static str, fn(&dyn Subject));

macro_rules! as_list {
    ($($room:ident :: $promise:ident),* $(,)?) => {
        vec![$((stringify!($promise), $room::$promise as fn(&dyn Subject))),*]
    };
}

/// Every promise.
#[must_use]
pub fn suite() -> Vec<Promise> {
    as_list![
        saying::a_name_and_capabilities_do_not_change,
        saying::the_process_is_told_what_to_do_and_which_attempt_it_is,
        saying::the_transcript_holds_what_was_said_byte_for_byte,
        saying::a_flood_leaves_a_bounded_transcript_with_both_ends,
        saying::a_line_without_an_end_leaves_a_bounded_transcript,
        saying::garbage_is_kept_and_breaks_nothing,
        saying::a_process_that_does_not_listen_holds_nobody_up,
        saying::what_is_heard_last_of_the_cost_is_what_is_reported,
        ending::a_good_end_is_a_success,
        ending::silence_is_no_error,
        ending::a_bad_code_is_a_failure_that_names_the_last_complaint,
        ending::a_signal_is_a_failure,
        ending::what_could_not_be_started_is_a_failure_with_its_reason,
        ending::an_end_that_nobody_knows_is_a_failure,
        ending::a_pipe_that_stays_open_does_not_keep_the_end_away,
        ending::a_job_that_is_dropped_leaves_the_agent_as_it_was,
        ending::without_its_process_it_refuses,
    ]
}

/// Runs every promise on an agent.
pub fn check(subject: &dyn Subject) {
    for (name, promise) in suite() {
        // A panic names the place; this names the promise.
        let kept = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| promise(subject)));
        assert!(kept.is_ok(), "{}: {name}", subject.agent().name());
    }
}

/// Everything that an agent let people hear.
#[derive(Default)]
struct Notes(Mutex<Vec<Heard>>);

impl Listener for Notes {
    fn hear(&self, heard: Heard) {
        self.0.lock().expect("a lock").push(heard);
    }
}

impl Notes {
    fn all(&self) -> Vec<Heard> {
        self.0.lock().expect("a lock").clone()
    }
}

fn job() -> Job {
    Job {
        name: "run-1/sg-3/2".to_owned(),
        prompt: "change the colour".to_owned(),
        title: "Colour".to_owned(),
        task: "sg-3".to_owned(),
        attempt: 2,
        role: None,
        cwd: "/desk".to_owned(),
        timeout_seconds: 60,
    }
}

fn waiting<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a run time").block_on(future)
}

/// What the promises say to a subject, in short.
impl dyn Subject + '_ {
    /// Whether it needs a process at all.
    fn has_process(&self) -> bool {
        matches!(self.agent().start(&job()), Ok(Start::Process(_)))
    }

    /// The report on a process that acts so and ends so.
    fn report(&self, acts: Vec<Act>, ended: Ended) -> Report {
        self.heard(acts, ended).0
    }

    fn heard(&self, acts: Vec<Act>, ended: Ended) -> (Report, Vec<Heard>) {
        let notes = Notes::default();
        let report = waiting(async {
            let Played { pipes, acting } = process::played(acts, ended);
            let job = job();
            let (report, _) = tokio::join!(self.agent().attend(&job, Some(pipes), &notes), acting);
            report.expect("a report")
        });
        (report, notes.all())
    }
}
