//! Deciding at a real terminal, played by `tmux`: prompts that must be meant, and that close by
//! themselves.

use aurora_model::Choice;
use insta::assert_snapshot;
use serde_json::json;

use super::asking::{decide, me, open, push};
use crate::spawn::Scratch;
use crate::spawn::screens::{Terminal, from};
use crate::talk::Talk;
use crate::talk::model::{calls, say};

/// What is seen, with whoever runs this under a name of the same length.
fn seen(text: &str) -> String {
    text.replace(&format!("by {}", me()), "by [ME]")
}

/// APR-3: at a terminal the request is shown, and only a key that was meant says yes to it.
#[test]
fn approving_at_a_terminal_shows_it_and_asks() {
    let scratch = Scratch::new("", "# Nothing\n");
    open(&scratch.world, &push("spawn-7.q3"));
    let args = "approvals approve spawn-7.q3";
    let Some(terminal) = Terminal::open(&scratch, (60, 40), "C.UTF-8", args) else { return };
    let question = terminal.once("[y/N]");
    assert!(question.contains("git push origin main") && question.contains("> Everybody agreed."));
    assert!(question.lines().all(|line| line.chars().count() <= 60), "{question}");
    terminal.press(&["Enter"]);
    let nothing = terminal.once("[exit 1]");
    assert!(nothing.contains("nothing was decided"), "{nothing}");
    drop(terminal);
    let Some(terminal) = Terminal::open(&scratch, (60, 40), "C.UTF-8", args) else { return };
    terminal.once("[y/N]");
    terminal.press(&["y", "Enter"]);
    terminal.once("[exit 0]");
    let json = scratch.world.run(&["approvals", "show", "spawn-7.q3", "--json"]).json();
    assert_eq!(json["state"], "approved");
    assert_eq!(json["decision"]["seen"], json["digest"]);
}

/// APR-1: a prompt that stands open closes by itself when somebody decided elsewhere, and says who.
#[test]
fn a_prompt_closes_by_itself_and_says_who_decided_elsewhere() {
    let scratch = Scratch::new("default: [{say: done}]\n", "# Work\n- [ ] Do it <!-- id: a -->\n");
    let Some(terminal) = Terminal::open(&scratch, (80, 40), "C.UTF-8", "spawn ../tasks.md") else {
        return;
    };
    terminal.once("Choice [P/a]:");
    let list = scratch.world.run(&["approvals", "list", "--json"]).json();
    let id = list["questions"][0]["id"].as_str().unwrap().to_owned();
    let answer = scratch.world.run(&["approvals", "answer", &id, "proceed"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let summary = terminal.once("[exit 0]");
    let closed = summary.lines().find(|line| line.contains("no longer asked")).unwrap();
    assert_snapshot!(seen(closed), @"(no longer asked: approved (proceed) by [ME] (command))");
    assert!(!summary.contains("was answered"), "it is said once: {summary}");
    drop(terminal);
    scratch.nothing_is_left();
}

/// APR-7: a call that needs a yes is put to whoever sits there; a no asks why, and the agent hears it.
#[test]
fn a_call_is_refused_at_the_prompt_with_a_reason() {
    let push = ("run_command", json!({"command": "git push origin main", "why": "they said so"}));
    let turns = vec![calls("I publish it.", &[push]), say("Then not.")];
    let talk = Talk::new("# Work\n\n- [ ] Publish it <!-- id: t1 -->\n", vec![("Publish", turns)]);
    let Some(terminal) = Terminal::open(&talk.scratch, (60, 70), "C.UTF-8", "spawn ../tasks.md")
    else {
        return;
    };
    terminal.once("Choice [P/");
    terminal.press(&["p", "Enter"]);
    let question = terminal.once("Choice [y/n/c]:");
    // A slow machine has used a minute of the time already.
    let question = question.replace("3 h 58 min", "3 h 59 min");
    assert_snapshot!("call", from(&question, "Call Needs a Yes"));
    terminal.press(&["Enter"]);
    terminal.once("Enter alone chooses nothing here");
    terminal.press(&["c", "Enter"]);
    terminal.once("What should be done instead:");
    terminal.press(&["Enter"]);
    terminal.press(&["n", "Enter"]);
    terminal.once("Why (Enter for no reason):");
    terminal.press(&["not today", "Enter"]);
    terminal.once("[exit 0]");
    let told = talk.model.told("Publish");
    assert!(told[0].1.contains("not today"), "{told:?}");
    assert!(told[0].1.contains("denied"), "{told:?}");
}

/// APR-1: what happens is told as it happens, with a sound where something is asked.
#[test]
fn watching_tells_what_happens_as_it_happens() {
    let scratch = Scratch::new("", "# Nothing\n");
    open(&scratch.world, &push("spawn-7.q1"));
    let args = "approvals watch --agent coder";
    let Some(terminal) = Terminal::open(&scratch, (60, 30), "C.UTF-8", args) else { return };
    let first = terminal.once("1 wait; watching");
    assert!(first.contains("spawn-7.q1  asked [high]: may coder push"), "{first}");
    let second = push("spawn-7.q2");
    open(&scratch.world, &second);
    terminal.once("spawn-7.q2  asked [high]");
    decide(&scratch.world, &second, "ana", Choice::Deny, "not on a Friday");
    let told = terminal.once("not on a Friday");
    assert!(told.contains("spawn-7.q2  deny, by ana (http)"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 60), "{told}");
}
