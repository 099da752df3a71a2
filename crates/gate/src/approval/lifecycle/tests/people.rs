//! Who may decide, how many must, what they must have seen, and what they may make of it.

use super::*;

fn ruled(deciders: &[&str], quorum: u32) -> Request {
    let mut request = request();
    request.ruling.deciders = deciders.iter().map(|who| Who::parse(who).unwrap()).collect();
    request.ruling.quorum = quorum;
    request
}

fn why_not(told: Result<Vec<ApprovalEvent>, Refused>) -> String {
    match told {
        Err(Refused::NotAllowed { why }) => why,
        other => panic!("{other:?}"),
    }
}

// APR-8: an agent can never decide, under whatever name it comes, not even with a no.
#[test]
fn apr_8_an_agent_never_decides_and_nobody_decides_what_they_asked_for() {
    for choice in [Choice::Allow, Choice::Deny, Choice::RequestChanges] {
        for name in ["claude", "ada", "other"] {
            let by = Decider { kind: DeciderKind::Agent, ..person(name) };
            let told = Story::of(request()).tell(&say(&request(), choice, by.clone()));
            assert_eq!(why_not(told), "an agent can never decide");
            let edit = edit(&request(), "rm old/one", Tier::High, by);
            let told = Story::of(request()).tell(&Command::Edit(Box::new(edit)));
            assert_eq!(why_not(told), "an agent can never decide");
        }
        for name in ["claude", "ci"] {
            let told = Story::of(request()).tell(&say(&request(), choice, person(name)));
            assert_eq!(why_not(told), format!("{name} asked for it and cannot decide it"));
        }
    }
    // Being named by the settings does not help.
    let request = ruled(&["ci", "claude", "anyone"], 1);
    let told = Story::of(request.clone()).tell(&say(&request, Choice::Allow, person("ci")));
    assert_eq!(why_not(told), "ci asked for it and cannot decide it");
}

// APR-8: only those who are named, by name or by role.
#[test]
fn apr_8_only_those_who_may_decide_can() {
    let request = ruled(&["ada", "role:lead"], 1);
    for (name, may) in [("ada", true), ("bob", true), ("eve", false), ("lead", false)] {
        let told = Story::of(request.clone()).tell(&say(&request, Choice::Deny, person(name)));
        match may {
            true => assert_eq!(told.unwrap().len(), 1, "{name}"),
            false => {
                let why = format!("{name} may not decide it; ada, role:lead may");
                assert_eq!(why_not(told), why);
            }
        }
    }
}

// PLN-4, APR-8: what was set up beforehand answers in a person's place, but not where people are named.
#[test]
fn pln_4_a_flag_answers_for_everybody_but_for_nobody_in_particular() {
    let flag = Decider {
        name: "--yes".to_owned(),
        kind: DeciderKind::Rule,
        roles: vec!["lead".to_owned()],
        surface: Surface::Flag,
    };
    let told = |request: Request| {
        let command = say(&request, Choice::Allow, flag.clone());
        Story::of(request).tell(&command)
    };
    assert!(told(request()).is_ok());
    for request in [ruled(&[], 2), ruled(&["role:lead"], 1), ruled(&["anyone"], 1)] {
        assert_eq!(why_not(told(request)), "people must decide it, and --yes is nobody");
    }
}

// APR-8: a quorum is so many different people who said the same.
#[test]
fn apr_8_a_quorum_is_of_different_people_who_want_the_same() {
    let mut story = Story::of(ruled(&[], 3));
    assert!(matches!(story.yes("ada").unwrap()[..], [ApprovalEvent::Voted { .. }]));
    assert_eq!(story.yes("ada"), Err(Refused::VotedBefore { needed: 2 }));
    assert!(matches!(story.yes("bob").unwrap()[..], [ApprovalEvent::Voted { .. }]));
    assert_eq!(story.yes("bob"), Err(Refused::VotedBefore { needed: 1 }));
    assert_eq!(story.state(), ApprovalState::Pending);
    assert!(matches!(story.yes("eve").unwrap()[..], [ApprovalEvent::Decided { .. }]));
    assert_eq!(story.state(), ApprovalState::Approved);

    // One no is enough, also of one who said yes before.
    for name in ["ada", "eve"] {
        let mut story = Story::of(ruled(&[], 3));
        story.yes("ada").unwrap();
        story.yes("bob").unwrap();
        story.tell(&say(&request(), Choice::Deny, person(name))).unwrap();
        assert_eq!(story.state(), ApprovalState::Denied);
    }
}

// APR-8: done, retry and leave it are different things; two who want different ones have not agreed.
#[test]
fn apr_8_a_yes_to_one_thing_does_not_count_for_another() {
    let mut request = ruled(&[], 2);
    request.gate = GateKind::Escalation;
    request.options = options::options_for(GateKind::Escalation).to_vec();
    let mut story = Story::of(request.clone());
    let says = |story: &mut Story, name: &str, choice| {
        story.tell(&say(&request, choice, person(name))).unwrap();
        (story.state(), story.standing().votes.len())
    };
    assert_eq!(says(&mut story, "ada", Choice::Done), (ApprovalState::Pending, 1));
    assert_eq!(says(&mut story, "bob", Choice::Retry), (ApprovalState::Pending, 2));
    // Ada comes round, and has one voice as before.
    assert_eq!(says(&mut story, "ada", Choice::Retry).0, ApprovalState::Approved);
    assert_eq!(story.standing().decision.as_ref().unwrap().choice, Choice::Retry);
}

// APR-3: bound to what was seen.
#[test]
fn apr_3_a_decision_about_something_else_is_outdated_and_says_so() {
    let outdated = Refused::Outdated { current: request().digest };
    for choice in [Choice::Allow, Choice::Deny, Choice::RequestChanges] {
        let command = Command::Decide {
            choice,
            by: person("ada"),
            seen: digest('9'),
            policy: digest('b'),
            reason: Some("because".to_owned()),
        };
        assert_eq!(Story::of(request()).tell(&command), Err(outdated.clone()));
    }
    let edit = Edit { seen: digest('9'), ..edit(&request(), "ls", Tier::High, person("ada")) };
    assert_eq!(Story::of(request()).tell(&Command::Edit(Box::new(edit))), Err(outdated));
}

// APR-3
#[test]
fn apr_3_only_what_was_offered_can_be_answered_and_changes_need_words() {
    let told = Story::of(request()).tell(&say(&request(), Choice::Retry, person("ada")));
    let options = vec!["allow", "deny", "request_changes"];
    assert_eq!(told, Err(Refused::NoSuchChoice { choice: "retry", options }));
    for reason in [None, Some(String::new()), Some(" \n".to_owned())] {
        let command = Command::Decide {
            choice: Choice::RequestChanges,
            by: person("ada"),
            seen: request().digest,
            policy: digest('b'),
            reason,
        };
        assert_eq!(Story::of(request()).tell(&command), Err(Refused::NeedsReason));
    }
}

// APR-3: edit and approve is a new version, judged again; earlier votes are void.
#[test]
fn apr_3_an_edit_is_a_new_version_to_which_earlier_votes_do_not_count() {
    let mut story = Story::of(ruled(&[], 2));
    story.yes("ada").unwrap();
    let before = story.request().clone();
    let edited = edit(&before, "rm old/one", Tier::Medium, person("bob"));
    let events = story.tell(&Command::Edit(Box::new(edited.clone()))).unwrap();
    assert!(matches!(events[..], [ApprovalEvent::Edited { .. }, ApprovalEvent::Voted { .. }]));
    let standing = story.standing();
    assert_eq!((standing.version, standing.votes.len()), (2, 1));
    assert_eq!(standing.request.digest, edited.digest);
    assert_eq!(standing.request.subject.args, json!({ "command": "rm old/one" }));
    // It is milder now, and stays under the rule that was chosen for it.
    assert_eq!((standing.request.tier, standing.asked_tier), (Tier::Medium, Tier::High));
    assert_eq!(standing.request.ruling, before.ruling);

    // Who saw the first version cannot decide the second, and whoever edited has voted.
    let told = story.tell(&say(&before, Choice::Allow, person("eve")));
    assert_eq!(told, Err(Refused::Outdated { current: edited.digest.clone() }));
    assert_eq!(story.yes("bob"), Err(Refused::VotedBefore { needed: 1 }));
    story.yes("ada").unwrap();
    assert_eq!(story.state(), ApprovalState::Approved);

    // Exactly the second is done.
    let reserve = |digest: &Digest| Command::Reserve {
        executor: "run-7@host".to_owned(),
        digest: digest.clone(),
    };
    let old = story.clone().told(&reserve(&before.digest));
    assert_eq!(old.state(), ApprovalState::Stale);
    assert_eq!(story.told(&reserve(&edited.digest)).state(), ApprovalState::Reserved);
}

// APR-3: what it is edited to must be allowed, and no other request in disguise.
#[test]
fn apr_3_an_edit_cannot_lead_to_what_is_forbidden_or_must_be_asked_anew() {
    let good = || edit(&request(), "rm old/one", Tier::High, person("ada"));
    let told = |edit: Edit| {
        let mut story = Story::of(request());
        let told = story.tell(&Command::Edit(Box::new(edit)));
        assert_eq!(story.state() == ApprovalState::Pending, told.is_err());
        told
    };
    let cannot = |edit: Edit| match told(edit) {
        Err(Refused::CannotEdit { why }) => why,
        other => panic!("{other:?}"),
    };
    assert!(told(good()).is_ok());
    let forbidden = Edit { verdict: Answer::Deny, ..good() };
    assert_eq!(told(forbidden), Err(Refused::Forbidden { reasons: Vec::new() }));

    let higher = edit(&request(), "rm -r /", Tier::Critical, person("ada"));
    assert_eq!(cannot(higher), "it would be critical instead of high, and must be asked anew");
    let more = vec![ActionType::parse("vcs:push").unwrap()];
    let other = Edit { actions: more.clone(), ..good() };
    assert_eq!(cannot(other), "it would also be vcs:push, and must be asked anew");
    let milder = Edit { actions: more, ..edit(&request(), "ls", Tier::Low, person("ada")) };
    assert!(told(milder).is_ok());

    assert_eq!(
        cannot(edit(&request(), "rm -r old", Tier::High, person("ada"))),
        "nothing in it was changed"
    );
    // What is hashed, judged and done is one thing.
    let not_judged = "what was judged is not what would be done";
    assert_eq!(cannot(Edit { digest: digest('9'), ..good() }), not_judged);
    assert_eq!(cannot(Edit { tier: Tier::Low, ..good() }), not_judged);
    let mut elsewhere = good();
    elsewhere.subject.project = "/home/ada/bank".to_owned();
    elsewhere.digest = digest_of(&elsewhere.subject);
    assert_eq!(cannot(elsewhere), "it would be done in another place or by somebody else");
}

// APR-3: where a yes could mean several things, there is nothing to edit.
#[test]
fn apr_3_every_gate_has_its_answers_and_only_a_plain_yes_can_come_with_an_edit() {
    for gate in GateKind::ALL {
        let options = options::options_for(gate).to_vec();
        let request = Request { gate, options: options.clone(), ..request() };
        let plain = matches!(gate, GateKind::Failure | GateKind::Escalation);
        assert_eq!(options::yes_of(&request).is_none(), plain, "{}", gate.name());
        let no = options::no_of(&request);
        assert_eq!(no.is_none(), gate == GateKind::Failure, "{}", gate.name());
        assert!(no.is_none_or(|no| no.outcome() == Outcome::Denied && options.contains(&no)));
        let edit = edit(&request, "rm old/one", Tier::High, person("ada"));
        let told = Story::of(request.clone()).tell(&Command::Edit(Box::new(edit)));
        assert_eq!(matches!(told, Err(Refused::CannotEdit { .. })), plain, "{}", gate.name());
        for choice in Choice::ALL {
            let told = Story::of(request.clone()).tell(&say(&request, choice, person("ada")));
            assert_eq!(told.is_ok(), options.contains(&choice), "{} {choice:?}", gate.name());
        }
    }
}
