//! Promises about how a job ends.

use std::task::{Context, Poll, Waker};

use super::process::{self, Act, Played};
use super::{Notes, Subject, job, waiting};
use crate::agent::{Ended, Start};

pub fn a_good_end_is_a_success(subject: &dyn Subject) {
    let report = subject.report(vec![Act::Out(subject.good_words())], Ended::Code(0));
    assert!(report.success, "{}", report.summary);
    assert!(!report.summary.trim().is_empty());
}

pub fn silence_is_no_error(subject: &dyn Subject) {
    let report = subject.report(Vec::new(), Ended::Code(0));
    assert!(!report.summary.trim().is_empty(), "something is said about it");
}

/// The report on good words and a bad end.
fn failed(subject: &dyn Subject, ended: Ended) -> Option<String> {
    if !subject.has_process() {
        return None;
    }
    let acts = vec![
        Act::Out(subject.good_words()),
        Act::Err(b"first complaint\nthe disk is full\n".to_vec()),
    ];
    let report = subject.report(acts, ended);
    assert!(!report.success, "{}", report.summary);
    Some(report.summary)
}

pub fn a_bad_code_is_a_failure_that_names_the_last_complaint(subject: &dyn Subject) {
    if let Some(summary) = failed(subject, Ended::Code(3)) {
        assert!(summary.contains("code 3") && summary.contains("the disk is full"), "{summary}");
    }
}

pub fn a_signal_is_a_failure(subject: &dyn Subject) {
    if let Some(summary) = failed(subject, Ended::Signal(9)) {
        assert!(summary.contains("SIGKILL"), "{summary}");
    }
}

pub fn what_could_not_be_started_is_a_failure_with_its_reason(subject: &dyn Subject) {
    if let Some(summary) = failed(subject, Ended::NotStarted { why: "no such file".to_owned() }) {
        assert!(summary.contains("no such file"), "{summary}");
    }
}

pub fn an_end_that_nobody_knows_is_a_failure(subject: &dyn Subject) {
    failed(subject, Ended::Lost);
}

pub fn a_pipe_that_stays_open_does_not_keep_the_end_away(subject: &dyn Subject) {
    if !subject.has_process() {
        return;
    }
    let acts = vec![Act::Out(subject.good_words()), Act::StayOpen];
    let report = subject.report(acts, Ended::Code(0));
    assert!(report.success, "{}", report.summary);
}

pub fn a_job_that_is_dropped_leaves_the_agent_as_it_was(subject: &dyn Subject) {
    if !subject.has_process() {
        return;
    }
    waiting(async {
        let Played { pipes, acting } = process::played(vec![Act::Listen], Ended::Code(0));
        let (job, notes) = (job(), Notes::default());
        let mut attending = subject.agent().attend(&job, Some(pipes), &notes);
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(attending.as_mut().poll(&mut context), Poll::Pending));
        drop(attending);
        // The process finds its pipes closed, and is not left waiting.
        acting.await;
    });
    a_good_end_is_a_success(subject);
}

pub fn without_its_process_it_refuses(subject: &dyn Subject) {
    if !matches!(subject.agent().start(&job()), Ok(Start::Process(_))) {
        return;
    }
    let notes = Notes::default();
    let job = job();
    assert!(waiting(subject.agent().attend(&job, None, &notes)).is_err());
}
