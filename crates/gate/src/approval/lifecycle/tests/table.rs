//! Every state and every command: what is allowed, what is refused, and that no event leads elsewhere.

use super::*;

/// Who does what was approved.
const EXECUTOR: &str = "run-7@host";

fn reserve(digest: &Digest) -> Command {
    Command::Reserve { executor: EXECUTOR.to_owned(), digest: digest.clone() }
}

fn executed(executor: &str) -> Command {
    let summary = "exit code 0".to_owned();
    Command::Executed { executor: executor.to_owned(), result: Some(digest('e')), summary }
}

fn failed(executor: &str) -> Command {
    let error = "exit code 1".to_owned();
    Command::Failed { executor: executor.to_owned(), result: None, error }
}

fn lost() -> Command {
    Command::Lost { reason: "it is gone".to_owned() }
}

fn cancel() -> Command {
    Command::Cancel { reason: "the run was aborted".to_owned() }
}

fn changed(found: Option<Digest>) -> Command {
    Command::Changed { found, reason: "old was changed".to_owned() }
}

/// A request that came to a state in the shortest way.
fn story(state: ApprovalState) -> Story {
    let pending = Story::of(request()).at(10);
    let said = |choice| pending.clone().told(&say(&request(), choice, person("ada")));
    let approved = said(Choice::Allow);
    let reserved = || approved.clone().told(&reserve(&request().digest));
    let story = match state {
        ApprovalState::Pending => pending,
        ApprovalState::Approved => approved,
        ApprovalState::Denied => said(Choice::Deny),
        ApprovalState::ChangesRequested => said(Choice::RequestChanges),
        ApprovalState::TimedOut => pending.at(3600).told(&Command::Wake),
        ApprovalState::Cancelled => pending.told(&cancel()),
        ApprovalState::Stale => pending.told(&changed(None)),
        ApprovalState::Reserved => reserved(),
        ApprovalState::Executed => reserved().told(&executed(EXECUTOR)),
        ApprovalState::Failed => reserved().told(&failed(EXECUTOR)),
        ApprovalState::OutcomeUnknown => reserved().told(&lost()),
    };
    assert_eq!(story.state(), state);
    story
}

/// What each command leads to in each state, in the order of `ApprovalState::ALL`: a state, `=` where
/// it is taken and nothing happens, `x` where it is refused and told how the request stands.
#[rustfmt::skip]
const TABLE: [(&str, [&str; 11]); 18] = [
    //                pending              approved     denied chngs tmout cncld stale reserved          exec  faild unkn
    ("open",          ["x",                "x",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("approve",       ["approved",         "x",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("deny",          ["denied",           "x",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("ask changes",   ["changes_requested","x",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("edit",          ["approved",         "x",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("wake",          ["=",                "=",         "=",   "=",  "=",  "=",  "=",  "=",               "=",  "=",  "="]),
    ("wake late",     ["timed_out",        "=",         "=",   "=",  "=",  "=",  "=",  "=",               "=",  "=",  "="]),
    ("cancel",        ["cancelled",        "cancelled", "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("changed",       ["stale",            "stale",     "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("gone",          ["stale",            "stale",     "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("not changed",   ["=",                "=",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("reserve",       ["x",                "reserved",  "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("reserve other", ["x",                "stale",     "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("executed",      ["x",                "x",         "x",   "x",  "x",  "x",  "x",  "executed",        "x",  "x",  "x"]),
    ("other executed",["x",                "x",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("failed",        ["x",                "x",         "x",   "x",  "x",  "x",  "x",  "failed",          "x",  "x",  "x"]),
    ("other failed",  ["x",                "x",         "x",   "x",  "x",  "x",  "x",  "x",               "x",  "x",  "x"]),
    ("lost",          ["x",                "x",         "x",   "x",  "x",  "x",  "x",  "outcome_unknown", "x",  "x",  "x"]),
];

fn command(name: &str, request: &Request) -> Command {
    match name {
        "open" => Command::Open(Box::new(request.clone())),
        "approve" => say(request, Choice::Allow, person("bob")),
        "deny" => say(request, Choice::Deny, person("bob")),
        "ask changes" => say(request, Choice::RequestChanges, person("bob")),
        "edit" => Command::Edit(Box::new(edit(request, "rm old/one", Tier::High, person("bob")))),
        "wake" | "wake late" => Command::Wake,
        "cancel" => cancel(),
        "changed" => changed(Some(digest('9'))),
        "gone" => changed(None),
        "not changed" => changed(Some(request.digest.clone())),
        "reserve" => reserve(&request.digest),
        "reserve other" => reserve(&digest('9')),
        "executed" => executed(EXECUTOR),
        "other executed" => executed("somebody@else"),
        "failed" => failed(EXECUTOR),
        "other failed" => failed("somebody@else"),
        "lost" => lost(),
        other => panic!("{other}"),
    }
}

// APR-2: every state and every command.
#[test]
fn apr_2_every_command_in_every_state_leads_where_the_table_says() {
    for (name, row) in TABLE {
        for (state, expected) in ApprovalState::ALL.into_iter().zip(row) {
            let mut story = story(state);
            if name == "wake late" {
                story = story.at(1_000_000);
            }
            let before = story.standing().clone();
            let told = story.tell(&command(name, &before.request));
            let what = format!("{name} when {}", state.name());
            match expected {
                "x" => assert_eq!(told, Err(Refused::closed(&before)), "{what}"),
                "=" => assert_eq!(told, Ok(Vec::new()), "{what}"),
                state => {
                    assert!(!told.unwrap().is_empty(), "{what}");
                    assert_eq!(story.state().name(), state, "{what}");
                }
            }
            if matches!(expected, "x" | "=") {
                assert_eq!(*story.standing(), before, "{what}");
            }
        }
    }
}

// APR-2: what is not in the queue takes nothing but being put there.
#[test]
fn apr_2_a_request_that_nobody_made_is_unknown_to_every_command() {
    for (name, _) in TABLE {
        let command = command(name, &request());
        match decide(None, &command, ASKED) {
            Ok(events) => {
                assert_eq!(name, "open");
                assert_eq!(events.len(), 1);
            }
            Err(refused) => assert_eq!((refused, name != "open"), (Refused::Unknown, true)),
        }
    }
}

/// Every edge that there is. The first lines are APR-2; what was approved and not begun can still be
/// given up, and then nothing was done.
pub(super) const EDGES: [(ApprovalState, &[ApprovalState]); 3] = [
    (
        ApprovalState::Pending,
        &[
            ApprovalState::Approved,
            ApprovalState::Denied,
            ApprovalState::ChangesRequested,
            ApprovalState::TimedOut,
            ApprovalState::Cancelled,
            ApprovalState::Stale,
        ],
    ),
    (
        ApprovalState::Approved,
        &[ApprovalState::Reserved, ApprovalState::Cancelled, ApprovalState::Stale],
    ),
    (
        ApprovalState::Reserved,
        &[ApprovalState::Executed, ApprovalState::Failed, ApprovalState::OutcomeUnknown],
    ),
];

pub(super) fn is_edge(from: ApprovalState, to: ApprovalState) -> bool {
    let edges = EDGES.iter().find(|(state, _)| *state == from);
    from == to || edges.is_some_and(|(_, to_all)| to_all.contains(&to))
}

/// One of every event that there is.
pub(super) fn events() -> Vec<ApprovalEvent> {
    let mut all = vec![ApprovalEvent::Requested { request: Box::new(request()) }];
    let decision = |choice: Choice| Decision {
        outcome: choice.outcome(),
        choice,
        by: person("eve"),
        seen: request().digest,
        policy: digest('b'),
        reason: None,
    };
    all.push(ApprovalEvent::Voted { decision: decision(Choice::Allow) });
    for choice in [Choice::Allow, Choice::Deny, Choice::RequestChanges] {
        all.push(ApprovalEvent::Decided { decision: decision(choice) });
    }
    let subject = subject("rm old/one", Tier::Medium);
    all.push(ApprovalEvent::Edited {
        by: person("eve"),
        digest: digest_of(&subject),
        subject: Box::new(subject),
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: Vec::new(),
        tier: Tier::Medium,
        title: None,
    });
    let reason = || "because".to_owned();
    let policy = "deny".to_owned();
    all.extend([
        ApprovalEvent::Reminded { number: 1 },
        ApprovalEvent::Warned { expires_at: at(3600) },
        ApprovalEvent::Escalated { step: 1, to: vec![Who::Anyone], reason: reason() },
        ApprovalEvent::TimedOut { policy, reason: reason() },
        ApprovalEvent::Cancelled { reason: reason() },
        ApprovalEvent::Stale { found: None, reason: reason() },
        ApprovalEvent::Reserved { executor: "eve".to_owned() },
        ApprovalEvent::Executed { result: None, summary: String::new() },
        ApprovalEvent::Failed { result: None, error: reason() },
        ApprovalEvent::OutcomeUnknown { reason: reason() },
    ]);
    all
}

// APR-2: a log that somebody else wrote, in whatever order, leads over no edge that there is not.
#[test]
fn apr_2_no_event_in_any_state_leads_over_an_edge_that_there_is_not() {
    let kinds: std::collections::BTreeSet<_> = events().iter().map(ApprovalEvent::kind).collect();
    assert_eq!(kinds.len(), 14, "{kinds:?}");
    for state in ApprovalState::ALL {
        let before = story(state).standing().clone();
        for event in events() {
            let after = apply(Some(before.clone()), &event, at(20)).unwrap();
            let what = format!("{} when {}", event.kind(), state.name());
            assert!(is_edge(state, after.state), "{what} leads to {}", after.state.name());
            // It is counted all the same, or the next writer would expect the wrong version.
            assert_eq!(after.records, before.records + 1, "{what}");
            let is_over = !EDGES.iter().any(|(from, _)| *from == state);
            if is_over {
                let same =
                    Standing { records: after.records, last_at: after.last_at, ..before.clone() };
                assert_eq!(after, same, "{what}");
            }
        }
    }
}

// APR-2: whoever comes second is told how it stands and who decided.
#[test]
fn apr_2_whoever_comes_second_is_told_who_was_first() {
    let told = |state| Refused::closed(story(state).standing()).to_string();
    assert_eq!(told(ApprovalState::Denied), "it is denied by ada (http): because");
    assert_eq!(told(ApprovalState::Approved), "it is approved by ada (http): because");
    let timed_out = "it is timed out: nobody decided within 1h";
    assert_eq!(told(ApprovalState::TimedOut), timed_out);
    assert_eq!(told(ApprovalState::Cancelled), "it is cancelled: the run was aborted");
    let executed = "it is executed; ada (http) approved it: because";
    assert_eq!(told(ApprovalState::Executed), executed);
    let failed = "it is failed; ada (http) approved it: exit code 1";
    assert_eq!(told(ApprovalState::Failed), failed);
    // What was approved and then given up was not given up by whoever approved it.
    let given_up = story(ApprovalState::Approved).told(&cancel());
    let said = Refused::closed(given_up.standing()).to_string();
    assert_eq!(said, "it is cancelled; ada (http) approved it: the run was aborted");
}
