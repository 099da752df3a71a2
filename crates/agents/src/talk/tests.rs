//! Results go to their calls, and to no other.

use serde_json::json;

use super::*;

fn call(id: &str) -> Call {
    Call { id: id.to_owned(), name: "t".to_owned(), args: json!({}), signatures: Vec::new() }
}

fn result(call: &str) -> CallResult {
    let (call, tool) = (call.to_owned(), "t".to_owned());
    CallResult { content: format!("result of {call}"), call, tool, is_error: false }
}

fn turn(calls: Vec<Call>) -> Turn {
    let (text, cost) = ("say".to_owned(), Cost::default());
    Turn { text, calls, thoughts: Vec::new(), cost, stop: Stop::Finished }
}

// APR-7: the decision is injected as the result of the call that asked for it.
#[test]
fn results_come_in_the_order_of_their_calls_whenever_they_were_there() {
    let mut talk = Conversation::begin("s".to_owned(), "p".to_owned());
    talk.take(turn(vec![call("a"), call("b"), call("c")]));
    talk.given = vec![result("b")];
    talk.answer(vec![result("c"), result("a")]).unwrap();
    let Some(Message::Results { results }) = talk.messages.last() else { panic!("no results") };
    let order: Vec<&str> = results.iter().map(|one| one.call.as_str()).collect();
    assert_eq!(order, ["a", "b", "c"]);
    assert!(talk.given.is_empty());
    assert_eq!(talk.progress.turns, 1);
}

// APR-7
#[test]
fn a_call_without_a_result_a_result_without_a_call_and_a_second_result_are_refused() {
    let mut talk = Conversation::begin("s".to_owned(), "p".to_owned());
    assert!(talk.answer(Vec::new()).is_err(), "nobody called");
    talk.take(turn(vec![call("a"), call("b")]));
    talk.given = vec![result("b")];
    for more in [
        vec![],
        vec![result("a"), result("x")],
        vec![result("a"), result("b")],
        vec![result("a"), result("a")],
    ] {
        let before = talk.clone();
        assert!(talk.answer(more).is_err());
        assert_eq!(talk, before, "a refusal changes nothing");
    }
    talk.answer(vec![result("a")]).unwrap();
    assert!(talk.answer(vec![result("a")]).is_err(), "they were answered before");
}

#[test]
fn messages_are_kept_and_read_again_as_they_were() {
    let messages = [
        Message::User { text: "hello".to_owned() },
        Message::Assistant {
            text: "I look".to_owned(),
            calls: vec![Call { signatures: vec!["sig".to_owned()], ..call("a") }],
            thoughts: vec![json!({"ThoughtSignature": "x"})],
        },
        Message::Results { results: vec![CallResult { is_error: true, ..result("a") }] },
    ];
    for message in messages {
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message, "{text}");
    }
}
