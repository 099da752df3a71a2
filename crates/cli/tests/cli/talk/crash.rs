//! `kill -9` at the edges of a parked call: nothing is lost, and nothing is done twice.

use std::time::{Duration, Instant};

use aurora_gate::approval::Command as Tell;
use serde_json::{Value, json};

use super::{ONE_TASK, PATIENCE, Talk, calls, command, id, of, say, wait, write};

/// Waits until something is so.
fn until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

// APR-7. Trap: the state was a live generator in memory, and a restart lost every question.
#[test]
fn a_kill_while_a_call_waits_loses_nothing_and_it_goes_on_once() {
    let tasks = "# Work\n\n- [ ] Greet the world <!-- id: t1 -->\n- [ ] Dawdle <!-- id: t2 -->\n";
    let talk = Talk::new(
        tasks,
        vec![
            ("Greet", vec![calls("", &[write("g.txt", "g\n")]), say("greeted")]),
            ("Dawdle", vec![say("done at last").after(Duration::from_secs(3))]),
        ],
    );
    let run = talk.begin();
    let mut life = talk.scratch.start(&["spawn", "--resume", &run, "--json"]);
    assert!(life.until("task_parked"), "{:?}", life.told);
    let _ = life.child.kill();
    life.child.wait().unwrap();
    let open = talk.open();
    assert_eq!(open.len(), 1, "the question is still there");
    talk.answer(&open[0], &["allow"]);
    let told = talk.drive(&run);
    assert_eq!(told.outcome(), "completed", "{told:#?}");
    assert_eq!(talk.model.asked("Greet").len(), 2, "one turn before, and one after");
    assert_eq!(talk.work("g.txt"), "g\n");
    let records = talk.scratch.records(&run);
    assert_eq!(of(&records, "task_unparked").count(), 1);
}

// APR-7: killed while the allowed command runs, between reservation and recording. Nobody can tell what
// became of it, so a person is asked, and it is not run again by itself.
#[test]
fn a_kill_while_an_allowed_command_runs_asks_a_person_and_does_not_run_it_again() {
    let talk = Talk::new(
        ONE_TASK,
        vec![(
            "Greet",
            vec![calls("", &[command("echo ran >> ran.log; sleep 600")]), say("I see.")],
        )],
    );
    let run = talk.begin();
    talk.drive(&run);
    let open = talk.open();
    talk.answer(&open[0], &["allow"]);
    let mut life = talk.scratch.start(&["spawn", "--resume", &run, "--json"]);
    let log = talk.desk().join("ran.log");
    until("the command runs", || log.exists());
    let _ = life.child.kill();
    life.child.wait().unwrap();
    talk.scratch.nothing_is_left();
    assert_eq!(talk.standing(&open[0]).state.name(), "reserved");
    talk.drive(&run);
    assert_eq!(talk.standing(&open[0]).state.name(), "outcome_unknown");
    let asked = talk.open();
    assert_eq!(asked, [format!("{run}.q3")], "a person is asked what became of it");
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "ran\n", "it was not run again");
    talk.answer(&asked[0], &["done"]);
    assert_eq!(talk.drive(&run).outcome(), "completed");
    let told = talk.model.told("Greet");
    let told: Value = serde_json::from_str(&told[0].1).unwrap();
    assert_eq!(told["done"], json!(true), "{told}");
    assert_eq!(talk.work("ran.log"), "ran\n");
}

// APR-7: killed between reservation and execution. What can be told from the files is not asked.
#[test]
fn a_write_that_was_reserved_and_not_made_is_made_once_and_one_that_was_made_is_not_made_again() {
    for made in [false, true] {
        let talk = Talk::new(
            ONE_TASK,
            vec![("Greet", vec![calls("", &[write("g.txt", "g\n")]), say("greeted")])],
        );
        let run = talk.begin();
        talk.drive(&run);
        let open = talk.open();
        talk.answer(&open[0], &["allow"]);
        // Another life reserved it, and perhaps made it, and is gone.
        let digest = talk.standing(&open[0]).request.digest;
        let reserve = Tell::Reserve { executor: "another life".to_owned(), digest };
        wait(talk.queue().tell(&id(&open[0]), &reserve)).unwrap();
        let file = talk.desk().join("g.txt");
        if made {
            std::fs::write(&file, "g\n").unwrap();
        }
        let before = std::fs::metadata(&file).ok().map(|meta| meta.modified().unwrap());
        assert_eq!(talk.drive(&run).outcome(), "completed", "made: {made}");
        assert_eq!(talk.standing(&open[0]).state.name(), "executed");
        assert_eq!(talk.work("g.txt"), "g\n");
        let told = talk.model.told("Greet");
        assert_eq!(told[0].1.contains("\"done\":true"), made, "{told:?}");
        assert_eq!(before.is_some(), made);
        assert!(talk.open().is_empty(), "nobody is asked");
    }
}

// APR-7: killed after the deed was recorded with the request, and before the run heard of it.
#[test]
fn what_was_recorded_with_the_request_is_told_and_not_done_again() {
    let talk = Talk::new(
        ONE_TASK,
        vec![("Greet", vec![calls("", &[command("echo ran >> ran.log")]), say("greeted")])],
    );
    let run = talk.begin();
    talk.drive(&run);
    let open = talk.open();
    talk.answer(&open[0], &["allow"]);
    let queue = talk.queue();
    let (question, executor) = (id(&open[0]), "another life".to_owned());
    let digest = talk.standing(&open[0]).request.digest;
    let result = wait(queue.store().put(b"{\"exit_code\":0}".to_vec())).unwrap();
    let reserve = Tell::Reserve { executor: executor.clone(), digest };
    wait(queue.tell(&question, &reserve)).unwrap();
    let summary = "ended with code 0".to_owned();
    let done = Tell::Executed { executor, result: Some(result), summary };
    wait(queue.tell(&question, &done)).unwrap();
    assert_eq!(talk.drive(&run).outcome(), "completed");
    assert_eq!(talk.model.told("Greet")[0].1, "{\"exit_code\":0}");
    assert_eq!(talk.work("ran.log"), "", "it was not done again");
}
