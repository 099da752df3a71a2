//! One decision about a frozen set.

use super::*;
use aurora_gate::approval::lifecycle::Edit;
use aurora_gate::approval::{Command, Standing};
use aurora_model::Answer;

fn edit_of(request: &Request) -> Command {
    let subject = Subject { args: json!({ "command": "ls" }), ..request.subject.clone() };
    Command::Edit(Box::new(Edit {
        by: person("bob"),
        seen: request.digest.clone(),
        policy: digest('b'),
        reason: None,
        digest: digest_of(&subject),
        verdict: Answer::Ask,
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: Vec::new(),
        tier: subject.tier,
        title: None,
        subject,
    }))
}

// APR-10: what was seen is decided, each on its own, and nothing that was not seen.
#[test]
fn apr_10_a_batch_decides_what_was_seen_and_names_what_changed_meanwhile() {
    on_both(|store| async move {
        let queue = queue_by(store, &Hands::new());
        let names = ["same", "edited", "decided", "same-too"];
        let mut frozen = Vec::new();
        for name in names {
            let mut request = request(name);
            request.ruling.quorum = if name == "edited" { 2 } else { 1 };
            queue.open(&request).await.unwrap();
            frozen.push((request.id.clone(), request.digest.clone()));
        }
        frozen.push((id("gone"), digest('9')));

        // Meanwhile others do their work, and something new comes.
        queue.tell(&id("edited"), &edit_of(&request("edited"))).await.unwrap();
        let deny = saying(&request("decided"), Choice::Deny, "bob");
        queue.decide(&id("decided"), &deny).await.unwrap();
        queue.open(&request("new")).await.unwrap();

        let yes = saying(&request("same"), Choice::Allow, "ada");
        let told = queue.decide_all(&frozen, &yes).await;
        let ids: Vec<&QuestionId> = told.iter().map(|(id, _)| id).collect();
        assert_eq!(ids, frozen.iter().map(|(id, _)| id).collect::<Vec<_>>());
        let mut told = told.into_iter().map(|(_, told)| told);
        let mut next = || -> Result<Standing, Error> { told.next().unwrap() };
        assert_eq!(next().unwrap().state, ApprovalState::Approved);
        assert!(matches!(refused(next()), Refused::Outdated { .. }));
        let closed = refused(next()).to_string();
        assert_eq!(closed, "it is denied by bob (command): bob says so");
        assert_eq!(next().unwrap().state, ApprovalState::Approved);
        assert_eq!(refused(next()), Refused::Unknown);
        assert_eq!(state(&queue, "edited").await, ApprovalState::Pending);
        assert_eq!(state(&queue, "new").await, ApprovalState::Pending);
    });
}

// APR-10: the same set once more decides nothing twice.
#[test]
fn apr_10_a_batch_that_is_sent_twice_is_decided_once() {
    on_both(|store| async move {
        let queue = queue_by(store, &Hands::new());
        let mut frozen = Vec::new();
        for n in 0..20 {
            let request = request(&format!("r{n}"));
            queue.open(&request).await.unwrap();
            frozen.push((request.id, request.digest));
        }
        let yes = saying(&request("r0"), Choice::Allow, "ada");
        let (one, two) =
            tokio::join!(queue.decide_all(&frozen, &yes), queue.decide_all(&frozen, &yes));
        for ((id, one), (_, two)) in one.into_iter().zip(two) {
            assert_eq!(usize::from(one.is_ok()) + usize::from(two.is_ok()), 1, "{id}");
            assert_eq!(kinds(&queue, id.as_str()).await, ["requested", "decided"]);
        }
    });
}
