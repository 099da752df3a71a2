//! APR-9: each step tells once, whoever's clock takes it, and tells those whom it concerns.

use std::sync::Arc;

use aurora_engine::approvals::Notices;
use aurora_engine::notify::{Announcer, Message};
use aurora_gate::approval::{Command, Standing, apply};
use aurora_model::{ApprovalEvent, Timestamp, Who};

use super::ground::{channels, now, open, queue, request};

fn told(
    announcer: &Announcer,
    standing: &Standing,
    event: &ApprovalEvent,
) -> Vec<(String, Message)> {
    let sent = announcer.notices(standing, std::slice::from_ref(event), standing.records);
    let read = sent.iter().map(|one| {
        let message: Message = serde_json::from_str(&one.payload).unwrap();
        assert_eq!(one.id, message.data.id);
        (one.topic.clone(), message)
    });
    read.collect()
}

/// APR-9: an escalation tells those who may decide from now on, and only channels that are theirs.
#[test]
fn an_escalation_addresses_those_who_may_decide_from_now_on() {
    let announcer = Announcer::new(&channels(
        "\
- {name: all, kind: terminal}
- {name: ana, kind: desktop, only_for: ana}
- {name: lead, kind: desktop, only_for: ['role:lead', ben]}
- {name: ends, kind: desktop, on: timed_out}
",
    ));
    let mut asked = request("r1", "push to main");
    asked.ruling.deciders = vec![Who::Person("ana".to_owned())];
    let first = ApprovalEvent::Requested { request: Box::new(asked) };
    let standing = apply(None, &first, now()).unwrap();
    let topics = |told: &[(String, Message)]| -> Vec<String> {
        told.iter().map(|(topic, _)| topic.clone()).collect()
    };
    let asked = told(&announcer, &standing, &first);
    assert_eq!(topics(&asked), ["all", "ana"]);
    assert_eq!(asked[0].1.headline(), "approval needed (high): push to main");

    let to = vec![Who::Role("lead".to_owned())];
    let event = ApprovalEvent::Escalated { step: 1, to: to.clone(), reason: "late".to_owned() };
    let standing = apply(Some(standing), &event, now()).unwrap();
    let passed_on = told(&announcer, &standing, &event);
    assert_eq!(topics(&passed_on), ["all", "lead"]);
    let data = &passed_on[1].1.data;
    assert_eq!(data.addressed, to);
    assert_eq!(data.deciders.len(), 2);
    assert_eq!(data.reason.as_deref(), Some("late"));
    assert_eq!(passed_on[1].1.headline(), "escalated to role:lead (high): push to main");

    let event = ApprovalEvent::TimedOut { policy: "deny".to_owned(), reason: "late".to_owned() };
    let standing = apply(Some(standing), &event, now()).unwrap();
    let ended = told(&announcer, &standing, &event);
    assert_eq!(topics(&ended), ["all", "ana", "lead", "ends"]);
    assert_eq!(ended[0].1.headline(), "nobody decided in time (high): push to main");
    let event = ApprovalEvent::Reserved { executor: "x".to_owned() };
    assert!(told(&announcer, &standing, &event).is_empty(), "nobody wants to know of that");
}

/// APR-9: however many clocks tick at once, in however many processes, a step is told once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reminder_is_told_once_whoever_ticks() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let channels = channels("- {name: all, kind: terminal}");
    let mut asked = request("r1", "push to main");
    asked.ruling.remind_every_s = Some(3600);
    asked.asked_at = Timestamp { unix_ms: now().unix_ms - 3_700_000 };
    queue(&store, &channels).open(&asked).await.unwrap();
    let mut ticking = tokio::task::JoinSet::new();
    for _ in 0..8 {
        // Each is another door to the same log, as another process has.
        let store = open(folder.path());
        let queue = queue(&store, &channels);
        let id = asked.id.clone();
        ticking.spawn(async move {
            for _ in 0..5 {
                queue.tell(&id, &Command::Wake).await.unwrap();
            }
        });
    }
    ticking.join_all().await;
    let far = Timestamp { unix_ms: i64::MAX };
    let sent = Arc::clone(&store).outgoing(now(), far, 100).await.unwrap();
    let ids: Vec<&str> = sent.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["r1/1/all", "r1/2/all"]);
}
