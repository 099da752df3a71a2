//! What changes between the question and the deed: targets, the call itself, and nobody's answer.

use aurora_gate::approval::lifecycle::Edit;
use aurora_gate::approval::{Command as Tell, digest_of};
use aurora_model::{Answer, Decider, DeciderKind, Subject, Surface};
use serde_json::{Value, json};

use super::{ONE_TASK, Talk, calls, command, id, say, wait, write};

fn grace() -> Decider {
    let (name, kind) = ("grace".to_owned(), DeciderKind::Person);
    Decider { name, kind, roles: Vec::new(), surface: Surface::Command }
}

// APR-3. Trap: a script was swapped while its approval was pending.
#[test]
fn what_changed_after_the_yes_is_stale_and_nothing_is_done() {
    let talk = Talk::new(
        ONE_TASK,
        vec![(
            "Greet",
            vec![
                calls("", &[command("bash src/run.sh"), write("src/a.txt", "mine\n")]),
                say("It was not to be."),
            ],
        )],
    );
    talk.scratch.world.write("repo/src/run.sh", "touch made\n");
    talk.scratch.world.git(&["add", "-A"]);
    talk.scratch.world.git(&["commit", "--quiet", "-m", "a script"]);
    let run = talk.begin();
    talk.drive(&run);
    let open = talk.open();
    assert_eq!(open.len(), 2, "{open:?}");
    for question in &open {
        talk.answer(question, &["allow"]);
    }
    let desk = talk.desk();
    std::fs::write(desk.join("src/run.sh"), "touch ../evil; touch evil\n").unwrap();
    std::fs::write(desk.join("src/a.txt"), "somebody else's\n").unwrap();
    talk.drive(&run);
    assert!(!desk.join("evil").exists() && !desk.join("../evil").exists());
    let results = talk.model.told("Greet");
    for (_, content) in &results {
        let told: Value = serde_json::from_str(content).unwrap();
        assert_eq!(told["error"], "stale", "{results:?}");
    }
    for question in &open {
        assert_eq!(talk.standing(question).state.name(), "stale");
    }
    assert_ne!(talk.work("src/a.txt"), "mine\n");
}

// APR-3: what a person changed is what is made, and the model is told so.
#[test]
fn an_edited_call_is_made_as_it_was_edited_and_the_model_is_told_so() {
    let talk = Talk::new(
        ONE_TASK,
        vec![("Greet", vec![calls("", &[write("a.txt", "rude\n")]), say("So be it.")])],
    );
    let run = talk.begin();
    talk.drive(&run);
    let open = talk.open();
    let request = talk.standing(&open[0]).request;
    let subject =
        Subject { args: json!({"path": "a.txt", "content": "kind\n"}), ..request.subject.clone() };
    let edit = Edit {
        by: grace(),
        seen: request.digest.clone(),
        policy: request.subject.policy.clone(),
        reason: None,
        digest: digest_of(&subject),
        subject,
        verdict: Answer::Ask,
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: request.actions.clone(),
        tier: request.tier,
    };
    let edited = wait(talk.queue().tell(&id(&open[0]), &Tell::Edit(Box::new(edit)))).unwrap();
    assert_eq!(edited.state.name(), "approved");
    assert_eq!(talk.drive(&run).outcome(), "completed");
    assert_eq!(talk.work("a.txt"), "kind\n");
    let told = talk.model.told("Greet");
    assert!(
        told[0].1.contains("grace changed this call") && told[0].1.contains("kind"),
        "{told:?}"
    );
}

// APR-2: nobody's answer is nobody's no, and nothing is done without a yes.
#[test]
fn a_request_that_nobody_needs_any_more_is_a_refusal_and_the_attempt_goes_on() {
    let talk = Talk::new(
        ONE_TASK,
        vec![("Greet", vec![calls("", &[write("a.txt", "x\n")]), say("Without it, then.")])],
    );
    let run = talk.begin();
    talk.drive(&run);
    let open = talk.open();
    let cancel = Tell::Cancel { reason: "the freeze has begun".to_owned() };
    wait(talk.queue().tell(&id(&open[0]), &cancel)).unwrap();
    assert_eq!(talk.drive(&run).outcome(), "completed");
    let told = talk.model.told("Greet");
    let told: Value = serde_json::from_str(&told[0].1).unwrap();
    assert_eq!((&told["error"], &told["by"]), (&json!("cancelled"), &json!("nobody")));
    assert_eq!(told["reason"], "the freeze has begun");
    assert_eq!(talk.work("a.txt"), "");
}
