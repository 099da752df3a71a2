//! Figures as Prometheus reads them.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use super::{BUCKETS_S, Figures, Took};
use crate::problem::Problem;
use crate::server::Server;

/// Everything that can be counted.
///
/// # Errors
/// When the log cannot be read.
pub async fn text(server: &Server) -> Result<String, Problem> {
    let mut out = String::new();
    let mut figures = server.figures.lock().await;
    figures.catch_up(server).await?;
    queue(&mut out, &figures);
    people(&mut out, &figures);
    drop(figures);
    let position = server.store().subscribe().position();
    head(&mut out, "aurora_log_position", "gauge", "Position of the last record of the log.");
    let _ = writeln!(out, "aurora_log_position {position}");
    head(
        &mut out,
        "aurora_http_answers_total",
        "counter",
        "Requests answered, by class of status.",
    );
    for (class, count) in server.answered.by_class.iter().enumerate().skip(1) {
        let count = count.load(Ordering::Relaxed);
        let _ = writeln!(out, "aurora_http_answers_total{{class=\"{class}xx\"}} {count}");
    }
    let most = server.limits.streams;
    let open = most.saturating_sub(server.streams.available_permits());
    head(&mut out, "aurora_event_streams", "gauge", "Streams of events that are open.");
    let _ = writeln!(out, "aurora_event_streams {open}");
    deliveries(&mut out, server);
    outbox(&mut out, server).await?;
    Ok(out)
}

fn deliveries(out: &mut String, server: &Server) {
    let name = "aurora_notifications_total";
    head(out, name, "counter", "Notifications since the server began, by channel and outcome.");
    for one in server.ports.deliveries.counted() {
        // Names of channels are names: nothing in them needs to be escaped.
        let counts = [
            ("delivered", one.delivered),
            ("failed", one.failed),
            ("given_up", one.given_up),
            ("dropped", one.dropped),
        ];
        for (outcome, count) in counts {
            let labels = format!("channel=\"{}\",outcome=\"{outcome}\"", one.channel);
            let _ = writeln!(out, "{name}{{{labels}}} {count}");
        }
    }
}

/// Whether somebody has to send something: what stays due for long is stuck.
async fn outbox(out: &mut String, server: &Server) -> Result<(), Problem> {
    let name = "aurora_outbox_due";
    head(out, name, "gauge", "1 when a message of the outbox is due, 0 when none is.");
    let due = server.store().next_outgoing().await?;
    let is_due = due.is_some_and(|due| due <= server.now());
    let _ = writeln!(out, "{name} {}", u8::from(is_due));
    Ok(())
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn queue(out: &mut String, figures: &Figures) {
    let name = "aurora_approvals";
    head(out, name, "gauge", "Requests, by how they stand and how dangerous they are.");
    for (key, count) in &figures.standing {
        let (state, tier) = key.split_once(' ').unwrap_or((key, ""));
        let _ = writeln!(out, "{name}{{state=\"{state}\",tier=\"{tier}\"}} {count}");
    }
    let name = "aurora_approval_decisions_total";
    head(out, name, "counter", "Decisions, by outcome and surface.");
    for (key, count) in &figures.decisions {
        let (outcome, surface) = key.split_once(' ').unwrap_or((key, ""));
        let _ = writeln!(out, "{name}{{outcome=\"{outcome}\",surface=\"{surface}\"}} {count}");
    }
    let name = "aurora_approval_timers_total";
    head(out, name, "counter", "What the clock did to requests, by kind.");
    for (kind, count) in &figures.timers {
        let _ = writeln!(out, "{name}{{kind=\"{kind}\"}} {count}");
    }
    let name = "aurora_approval_decision_seconds";
    head(out, name, "histogram", "How long it took from asking to the decision.");
    histogram(out, name, "", &figures.took);
}

/// What each person said: how often, what, and how fast.
fn people(out: &mut String, figures: &Figures) {
    let name = "aurora_person_decisions_total";
    head(out, name, "counter", "What each person said, votes included, by outcome.");
    for (person, figures) in figures.people.iter() {
        let person = escaped(person);
        for (outcome, count) in &figures.said {
            let labels = format!("person=\"{person}\",outcome=\"{outcome}\"");
            let _ = writeln!(out, "{name}{{{labels}}} {count}");
        }
    }
    let name = "aurora_person_decision_seconds";
    head(out, name, "histogram", "How long each person took, from asking to what they said.");
    for (person, figures) in figures.people.iter() {
        histogram(out, name, &format!("person=\"{}\"", escaped(person)), &figures.took);
    }
}

fn histogram(out: &mut String, name: &str, labels: &str, took: &Took) {
    let comma = if labels.is_empty() { "" } else { "," };
    let bounds = BUCKETS_S.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(took.up_to.into_iter().chain([took.count])) {
        let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}");
    }
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let (whole, rest) = (took.sum_ms / 1000, took.sum_ms % 1000);
    let _ = writeln!(out, "{name}_sum{labels} {whole}.{rest:03}");
    let _ = writeln!(out, "{name}_count{labels} {}", took.count);
}

/// The value of a label: names of people are whatever they are called.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
