//! Whoever may not decide, or comes too late, or saw something else: each is told what is the matter.

use super::*;

// APR-2, APR-3, APR-8: foreign, forged, replayed, expired, outdated: each has its own refusal.
#[test]
fn apr_2_every_kind_of_wrong_decision_is_refused_in_its_own_words() {
    on_both(|store| async move {
        let hands = Hands::new();
        let queue = queue_by(store, &hands);
        let mut named = request("named");
        named.ruling.deciders = vec![aurora_model::Who::parse("ana").unwrap()];
        for request in [request("one"), named.clone(), request("late")] {
            queue.open(&request).await.unwrap();
        }
        let tell = |name: &'static str, saying: Saying| {
            let queue = queue.clone();
            async move { refused(queue.decide(&id(name), &saying).await) }
        };
        let one = request("one");
        let yes = saying(&one, Choice::Allow, "ada");

        // Forged: nobody asked that.
        assert_eq!(tell("apr-forged", yes.clone()).await, Refused::Unknown);
        // Foreign: an agent, the one who asked, and somebody who is not named.
        let mut agent = yes.clone();
        agent.by.kind = DeciderKind::Agent;
        assert!(matches!(tell("one", agent).await, Refused::NotAllowed { .. }));
        let own = saying(&one, Choice::Allow, "claude");
        assert!(matches!(tell("one", own).await, Refused::NotAllowed { .. }));
        let eve = saying(&named, Choice::Allow, "eve");
        assert!(matches!(tell("named", eve).await, Refused::NotAllowed { .. }));
        // A yes to one request is no yes to another.
        let current = named.digest.clone();
        let other = Saying { by: person("ana"), ..yes.clone() };
        assert_eq!(tell("named", other).await, Refused::Outdated { current });
        assert_eq!(kinds(&queue, "one").await, ["requested"]);

        // Replayed: the same once more, after it was taken.
        queue.decide(&id("one"), &yes).await.unwrap();
        let by = Some("ada (command)".to_owned());
        let first = Refused::Closed {
            state: ApprovalState::Approved,
            by,
            reason: Some("ada says so".to_owned()),
        };
        assert_eq!(tell("one", yes.clone()).await, first);
        let no = saying(&one, Choice::Deny, "bob");
        assert_eq!(tell("one", no).await, first);
        assert_eq!(kinds(&queue, "one").await, ["requested", "decided"]);

        // Expired: also when nobody was there to say so, and it is nobody's no.
        hands.set(3600);
        let late = tell("late", saying(&request("late"), Choice::Allow, "ada")).await;
        assert_eq!(late.to_string(), "it is timed out: nobody decided within 1h");
        assert_eq!(kinds(&queue, "late").await, ["requested", "timed_out"]);
    });
}

// APR-1: a request that is opened twice is one request.
#[test]
fn apr_1_what_is_asked_twice_is_asked_once() {
    on_both(|store| async move {
        let queue = queue_by(store, &Hands::new());
        let first = queue.open(&request("one")).await.unwrap();
        let other = Request { title: "something else".to_owned(), ..request("one") };
        assert_eq!(queue.open(&other).await.unwrap(), first);
        assert_eq!(kinds(&queue, "one").await, ["requested"]);
        assert_eq!(queue.load(&id("two")).await.unwrap(), None);
    });
}

// APR-2: who waits for a decision hears of it, whoever made it, and through whichever door.
#[test]
fn apr_2_who_waits_hears_of_the_decision_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let hands = Hands::new();
        let (here, there) = (file(folder.path()), file(folder.path()));
        let (here, there) = (queue_by(here, &hands), queue_by(there, &hands));
        here.open(&request("one")).await.unwrap();
        let waits = tokio::spawn(async move { here.closed(&id("one")).await.unwrap() });
        there.decide(&id("one"), &saying(&request("one"), Choice::Deny, "ada")).await.unwrap();
        let standing = waits.await.unwrap();
        assert_eq!(standing.state, ApprovalState::Denied);
        assert_eq!(standing.decision.unwrap().by.name, "ada");
    });
}
