//! APR-9: receivers that are down, slow, gone or unwilling, and a sender that dies.

use std::collections::BTreeSet;
use std::time::Duration;

use aurora_engine::notify::Pace;

use super::ground::{channels, deliver, given_up, open, pace, queue, request, until};
use super::receiver::{Call, Web};

fn hook(name: &str, address: &str) -> String {
    format!("- {{name: {name}, kind: webhook, to: 'http://{address}/', secret_env: AURORA_HOOK}}\n")
}

/// APR-9: the receiver has it, the sender dies before it wrote that down: it is sent again, by the
/// same id.
#[tokio::test]
async fn a_message_that_was_sent_and_not_written_down_is_sent_again_by_the_same_id() {
    let folder = tempfile::tempdir().unwrap();
    let web = Web::new(0).await;
    let channels = channels(&hook("ops", &web.address));
    {
        let store = open(folder.path());
        queue(&store, &channels).open(&request("r1", "push")).await.unwrap();
        let delivery = deliver(&store, &channels, pace());
        until("the receiver has it", async || !web.calls().is_empty()).await;
        drop(delivery);
    }
    let first = web.calls().remove(0).id();
    web.answers(200);
    let store = open(folder.path());
    let _delivery = deliver(&store, &channels, pace());
    until("it is sent again", async || web.calls().len() > 1).await;
    until("nothing waits", async || store.next_outgoing().await.unwrap().is_none()).await;
    let ids: Vec<String> = web.calls().iter().map(Call::id).collect();
    assert_eq!(ids, [first.clone(), first]);
}

/// APR-9: a receiver that is down for a while gets everything once it is back.
#[tokio::test]
async fn a_receiver_that_was_down_gets_everything_once_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let gone = Web::new(200).await;
    let address = gone.address.clone();
    drop(gone);
    let channels = channels(&hook("ops", &address));
    let store = open(folder.path());
    let delivery = deliver(&store, &channels, pace());
    let queue = queue(&store, &channels);
    for number in 0..20 {
        queue.open(&request(&format!("r{number}"), "push")).await.unwrap();
    }
    until("it was tried", async || {
        delivery.counts().get("ops").is_some_and(|counts| counts.failed >= 3)
    })
    .await;
    let trouble = delivery.counts()["ops"].trouble.clone().unwrap();
    assert!(!trouble.contains(&address), "the address may be a secret: {trouble}");
    let web = Web::at(&address, 200).await;
    until("nothing waits", async || store.next_outgoing().await.unwrap().is_none()).await;
    let ids: BTreeSet<String> = web.calls().iter().map(Call::id).collect();
    assert_eq!((ids.len(), web.calls().len()), (20, 20));
    assert_eq!(delivery.counts()["ops"].trouble, None);
}

/// APR-9: what is refused is given up after a few tries, what is gone at once, and what may pass is
/// tried on; each where everybody can see it.
#[tokio::test]
async fn what_is_refused_is_given_up_sooner_than_what_may_pass() {
    let folder = tempfile::tempdir().unwrap();
    let (refusing, gone, ailing) = (Web::new(403).await, Web::new(410).await, Web::new(503).await);
    let names = ["refusing", "gone", "ailing"];
    let addresses = [&refusing.address, &gone.address, &ailing.address];
    let yaml: String = names.iter().zip(addresses).map(|(name, to)| hook(name, to)).collect();
    let channels = channels(&yaml);
    let store = open(folder.path());
    queue(&store, &channels).open(&request("r1", "push")).await.unwrap();
    let delivery = deliver(&store, &channels, pace());
    until("both are given up", async || {
        given_up(&store, "refusing").await.len() + given_up(&store, "gone").await.len() == 2
    })
    .await;
    assert_eq!(given_up(&store, "refusing").await, [3]);
    assert_eq!(given_up(&store, "gone").await, [1]);
    until("the third is tried on", async || ailing.calls().len() > 5).await;
    assert!(given_up(&store, "ailing").await.is_empty());
    assert_eq!(refusing.calls().len(), 3);
    drop(delivery);
    let impatient = Pace { give_up_after: Duration::from_millis(1), ..pace() };
    let delivery = deliver(&store, &channels, impatient);
    until("it is given up too", async || given_up(&store, "ailing").await.len() == 1).await;
    until("nothing waits", async || store.next_outgoing().await.unwrap().is_none()).await;
    assert_eq!(delivery.counts()["ailing"].given_up, 1);
}

/// APR-9: a receiver that takes calls and never answers holds up nobody else.
#[tokio::test]
async fn a_dead_channel_does_not_hold_up_another() {
    let folder = tempfile::tempdir().unwrap();
    let (dead, alive) = (Web::new(0).await, Web::new(200).await);
    let yaml = hook("dead", &dead.address) + &hook("alive", &alive.address);
    let channels = channels(&yaml);
    let store = open(folder.path());
    let queue = queue(&store, &channels);
    for number in 0..60 {
        queue.open(&request(&format!("r{number}"), "push")).await.unwrap();
    }
    let patient =
        Pace { timeout: Duration::from_secs(60), lease: Duration::from_secs(600), ..pace() };
    let _delivery = deliver(&store, &channels, patient);
    until("the living has all of them", async || alive.calls().len() == 60).await;
    assert_eq!(dead.calls().len(), 1, "one is on its way, and not more");
}

/// APR-9: two processes that deliver from one log do not do it twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_deliver_from_one_log_share_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let web = Web::new(200).await;
    let channels = channels(&hook("ops", &web.address));
    let (one, other) = (open(folder.path()), open(folder.path()));
    let _deliveries = [deliver(&one, &channels, pace()), deliver(&other, &channels, pace())];
    let queue = queue(&one, &channels);
    for number in 0..40 {
        queue.open(&request(&format!("r{number}"), "push")).await.unwrap();
    }
    until("nothing waits", async || one.next_outgoing().await.unwrap().is_none()).await;
    let ids: BTreeSet<String> = web.calls().iter().map(Call::id).collect();
    assert_eq!((ids.len(), web.calls().len()), (40, 40));
}

/// APR-9: a channel that this process cannot use is left to one that can.
#[tokio::test]
async fn a_channel_whose_secret_is_not_here_is_left_to_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let web = Web::new(200).await;
    let to = &web.address;
    let here = channels(&format!(
        "- {{name: ops, kind: webhook, to: 'http://{to}/', secret_env: AURORA_ELSEWHERE}}"
    ));
    let there = channels(&hook("ops", to));
    let store = open(folder.path());
    queue(&store, &here).open(&request("r1", "push")).await.unwrap();
    let unable = deliver(&store, &here, pace());
    until("it says so", async || {
        unable.counts().get("ops").is_some_and(|counts| counts.trouble.is_some())
    })
    .await;
    let other = open(folder.path());
    let _able = deliver(&other, &there, pace());
    until("nothing waits", async || store.next_outgoing().await.unwrap().is_none()).await;
    assert_eq!(web.calls().len(), 1);
}
