//! The panel of a call, as a person sees it.

use aurora_model::{Answer, Choice, Operation as Kind, Span};
use serde_json::json;

use super::super::options::{Asked, ask, chosen, wants_words};
use super::super::style::Style;
use super::*;

fn canvas(unicode: bool) -> Canvas {
    Canvas { style: Style::plain().columns(60), unicode, framed: true }
}

fn shown() -> Operation {
    Operation {
        parent: "Publish it".to_owned(),
        title: "Push the branch".to_owned(),
        agent: "coder".to_owned(),
        autonomy: "semi".to_owned(),
        risk: "high (vcs:push)".to_owned(),
        call: "push main to origin".to_owned(),
        tool: "run_command".to_owned(),
        args: json!({"command": "git push origin main \u{1b}[2J", "env": {"A": "1"}}),
        effects: vec!["pushes main to origin".to_owned()],
        reasons: vec![Reason {
            answer: Answer::Ask,
            operation: Kind::GitForcePush,
            rule: "push.any".to_owned(),
            message: "a push leaves this machine".to_owned(),
            span: Span { start: 0, end: 1 },
            instead: Some("push to a branch of your own".to_owned()),
            origin: "built-in defaults".to_owned(),
        }],
        on_no: "it is not done; the agent is told why".to_owned(),
        deciders: Some("role:lead; 2 must say yes, 2 still missing".to_owned()),
        no_reply: Some("in 3 h 59 min it times out (deny, built-in defaults)".to_owned()),
        claimed: Some("Everybody agreed.\nChoice [y]: y".to_owned()),
        unknown: None,
    }
}

/// APR-1: call, effects, reasons, risk, who decides, what happens on a no and without an answer; the
/// agent's words are marked as such.
#[test]
fn a_call_is_put_to_a_person_with_everything_they_need() {
    let options = [Choice::Allow, Choice::Deny, Choice::RequestChanges];
    let text = operation(canvas(true), &shown()) + &ask(canvas(true), Asked::Operation, &options);
    insta::assert_snapshot!(text, @r#"
    ╭─────────────────── Call Needs a Yes ────────────────────╮
    │ Parent: Publish it                                      │
    │                                                         │
    │ Task: Push the branch                                   │
    │ Agent: @coder (semi)                                    │
    │ Risk: high (vcs:push)                                   │
    │                                                         │
    │ Call: push main to origin (run_command)                 │
    │   command: git push origin main \x1b[2J                 │
    │   env:                                                  │
    │   | {                                                   │
    │   |   "A": "1"                                          │
    │   | }                                                   │
    │ Effects:                                                │
    │   pushes main to origin                                 │
    │                                                         │
    │ Reasons:                                                │
    │   a push leaves this machine                            │
    │     rule push.any (built-in defaults)                   │
    │     instead: push to a branch of your own               │
    │                                                         │
    │ Decides: role:lead; 2 must say yes, 2 still missing     │
    │ On no: it is not done; the agent is told why            │
    │ No reply: in 3 h 59 min it times out (deny, built-in    │
    │           defaults)                                     │
    │ The agent says, unchecked; a yes is not to these words: │
    │   > Everybody agreed.                                   │
    │   > Choice [y]: y                                       │
    ╰─────────────────────────────────────────────────────────╯

    Options:
      [Y]es, allow      - Make exactly this call
      de[N]y            - Do not make it; the agent goes on
                          without it
      request_[C]hanges - Do not make it, and say what to do
                          instead

    Choice [y/n/c]:
    "#);
}

/// APR-2: nobody knows whether it was done; there is no key that could be meant for another.
#[test]
fn an_unknown_outcome_is_asked_about_without_a_default() {
    let unknown = Some("it was being done when it was cut off".to_owned());
    let shown =
        Operation { unknown, reasons: Vec::new(), claimed: None, deciders: None, ..shown() };
    let options = [Choice::Done, Choice::Retry, Choice::Skip];
    let text = operation(canvas(false), &shown) + &ask(canvas(false), Asked::Unknown, &options);
    insta::assert_snapshot!(text, @r#"
    +--------------------- Was It Done? ----------------------+
    | Parent: Publish it                                      |
    |                                                         |
    | Task: Push the branch                                   |
    | Agent: @coder (semi)                                    |
    | Risk: high (vcs:push)                                   |
    |                                                         |
    | Known: it was being done when it was cut off            |
    | Call: push main to origin (run_command)                 |
    |   command: git push origin main \x1b[2J                 |
    |   env:                                                  |
    |   | {                                                   |
    |   |   "A": "1"                                          |
    |   | }                                                   |
    | Effects:                                                |
    |   pushes main to origin                                 |
    |                                                         |
    | On no: it is not done; the agent is told why            |
    | No reply: in 3 h 59 min it times out (deny, built-in    |
    |           defaults)                                     |
    +---------------------------------------------------------+

    Options:
      [D]one  - It was made; the agent is told so
      [R]etry - It was not made; make it now
      [S]kip  - Leave it; the agent is told that nobody knows

    Choice [d/r/s]:
    "#);
    assert!(chosen(Asked::Unknown, "\n", &options).is_err());
    assert_eq!(chosen(Asked::Unknown, "d", &options), Ok(Choice::Done));
    assert!(
        wants_words(Asked::Operation, Choice::RequestChanges).is_some_and(|words| words.needed)
    );
    assert!(wants_words(Asked::Operation, Choice::Deny).is_some_and(|words| !words.needed));
    assert_eq!(wants_words(Asked::Operation, Choice::Allow), None);
}
