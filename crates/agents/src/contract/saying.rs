//! Promises about what an agent says and is told.

use aurora_model::Known;

use super::process::{self, Act, Played};
use super::{Notes, Subject, job, waiting};
use crate::agent::{Ended, Heard, Holding, Start};

const MIB: usize = 1024 * 1024;

pub fn a_name_and_capabilities_do_not_change(subject: &dyn Subject) {
    let agent = subject.agent();
    assert_eq!(agent.name(), agent.name());
    assert_eq!(agent.capabilities(), agent.capabilities());
    assert_eq!(agent.estimate(&job()), agent.estimate(&job()));
    assert_eq!(agent.start(&job()).expect("a start"), agent.start(&job()).expect("a start"));
}

pub fn the_process_is_told_what_to_do_and_which_attempt_it_is(subject: &dyn Subject) {
    let Ok(Start::Process(launch)) = subject.agent().start(&job()) else { return };
    for (name, value) in [("AURORA_RUN", "run-1"), ("AURORA_TASK", "sg-3"), ("AURORA_ATTEMPT", "2")]
    {
        assert_eq!(launch.env.get(name).map(String::as_str), Some(value), "{name}");
    }
    // One that must ask is told so first.
    let asks = subject.agent().capabilities().holding == Holding::Asks;
    let heard = waiting(async {
        let listens = vec![Act::Listen; if asks { 2 } else { 1 }];
        let Played { pipes, acting } = process::played(listens, Ended::Code(0));
        let (job, notes) = (job(), Notes::default());
        let (report, heard) =
            tokio::join!(subject.agent().attend(&job, Some(pipes), &notes), acting);
        report.expect("a report");
        heard
    });
    let prompt = job().prompt;
    let in_words = launch.argv.iter().any(|word| word.contains(&prompt));
    assert!(in_words || String::from_utf8_lossy(&heard).contains(&prompt), "{launch:?}");
}

pub fn the_transcript_holds_what_was_said_byte_for_byte(subject: &dyn Subject) {
    if !subject.has_process() {
        return;
    }
    let said = subject.good_words();
    let report = subject.report(vec![Act::Out(said.clone())], Ended::Code(0));
    assert_eq!(report.transcript, said);
    let complained = b"caf\xe9 \xff\x00".to_vec();
    let report = subject.report(vec![Act::Err(complained.clone())], Ended::Code(0));
    assert_eq!(report.transcript, complained);
}

pub fn a_flood_leaves_a_bounded_transcript_with_both_ends(subject: &dyn Subject) {
    if !subject.has_process() {
        return;
    }
    let line = format!("{}\n", "x".repeat(1023)).into_bytes();
    let acts = vec![
        Act::Out(b"first\n".to_vec()),
        Act::Flood(line, 24 * 1024),
        Act::Out(b"last\n".to_vec()),
    ];
    let report = subject.report(acts, Ended::Code(0));
    assert!(report.transcript.len() < 9 * MIB, "{}", report.transcript.len());
    assert!(report.transcript.starts_with(b"first\n") && report.transcript.ends_with(b"last\n"));
    let text = String::from_utf8_lossy(&report.transcript);
    assert!(text.contains("bytes were left out here"));
    assert!(report.summary.len() < MIB);
}

pub fn a_line_without_an_end_leaves_a_bounded_transcript(subject: &dyn Subject) {
    if !subject.has_process() {
        return;
    }
    let acts = vec![Act::Flood(vec![b'{'; MIB], 24)];
    let (report, heard) = subject.heard(acts, Ended::Code(0));
    assert!(report.transcript.len() < 9 * MIB);
    let shown: usize = heard
        .iter()
        .map(|heard| match heard {
            Heard::Said(text) | Heard::Complained(text) => text.len(),
            _ => 0,
        })
        .sum();
    assert!(shown < MIB, "{shown} bytes are shown to people");
}

pub fn garbage_is_kept_and_breaks_nothing(subject: &dyn Subject) {
    if !subject.has_process() {
        return;
    }
    for garbage in [
        &b"\x00\x01\xfe\xff"[..],
        b"{",
        b"{}\n[]\nnull\n\"type\"\n",
        b"{\"type\":7}\n{\"type\":\"result\"}\n{\"type\":\"result\",\"success\":\"yes\"}\n",
        b"{\"type\":\"cost\",\"usd\":-1e308}\n{\"type\":\"cost\",\"usd\":1e308}\n",
        b"{\"type\":\"assistant\"}\n{\"type\":\"assistant\",\"message\":{\"content\":7}}\n",
        b"{\"type\":\"result\",\"is_error\":false,\"total_cost_usd\":1e999}\n",
        b"\n\r\n\r\r\n",
    ] {
        let mut deep = b"{\"type\":".to_vec();
        deep.extend(vec![b'['; 10_000]);
        deep.push(b'\n');
        let acts = vec![Act::Out(deep.clone()), Act::Out(garbage.to_vec())];
        let report = subject.report(acts, Ended::Code(0));
        assert_eq!(report.transcript, [deep, garbage.to_vec()].concat());
    }
}

pub fn a_process_that_does_not_listen_holds_nobody_up(subject: &dyn Subject) {
    if !subject.has_process() {
        return;
    }
    let report = waiting(async {
        let acts = vec![Act::Out(subject.good_words())];
        let Played { pipes, acting } = process::played(acts, Ended::Code(0));
        let (mut job, notes) = (job(), Notes::default());
        job.prompt = "x".repeat(4 * MIB);
        let (report, _) = tokio::join!(subject.agent().attend(&job, Some(pipes), &notes), acting);
        report.expect("a report")
    });
    assert!(report.success, "{}", report.summary);
}

pub fn what_is_heard_last_of_the_cost_is_what_is_reported(subject: &dyn Subject) {
    let (report, heard) = subject.heard(vec![Act::Out(subject.good_words())], Ended::Code(0));
    let spent: Vec<_> = heard
        .iter()
        .filter_map(|heard| match heard {
            Heard::Spent(cost) => Some(cost),
            _ => None,
        })
        .collect();
    if let Some(last) = spent.last() {
        assert_eq!(**last, report.cost);
    }
    assert!(spent.windows(2).all(|two| two[0].usd <= two[1].usd), "a cost never shrinks");
    if report.cost.known == Known::Unknown {
        assert_eq!(report.cost.usd.micros, 0, "an unknown cost is nothing");
    }
}
