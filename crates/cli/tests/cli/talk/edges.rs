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

/// Asks about one command, changes the world before the yes is used, and says what became of it.
fn after(line: &str, prepare: impl Fn(&Talk), change: impl Fn(&Talk)) -> (Talk, String) {
    let script = vec![calls("", &[command(line)]), say("So be it.")];
    let talk = Talk::new(ONE_TASK, vec![("Greet", script)]);
    prepare(&talk);
    let run = talk.begin();
    talk.drive(&run);
    let open = talk.open();
    assert_eq!(open.len(), 1, "{line}: {open:?}");
    change(&talk);
    talk.answer(&open[0], &["allow"]);
    talk.drive(&run);
    let state = talk.standing(&open[0]).state.name().to_owned();
    (talk, state)
}

fn remote(talk: &Talk) {
    let world = &talk.scratch.world;
    world.git(&["init", "--quiet", "--bare", "../remote.git"]);
    world.git(&["init", "--quiet", "--bare", "../other.git"]);
    world.git(&["remote", "add", "origin", "../../remote.git"]);
    let url = world.path("remote.git").display().to_string();
    world.git(&["remote", "set-url", "origin", &url]);
}

fn commit(talk: &Talk) {
    talk.scratch.world.git(&["commit", "--quiet", "--allow-empty", "-m", "nobody saw this"]);
}

// APR-3. Trap: a commit that nobody saw was pushed with the yes for another.
#[test]
fn a_push_is_bound_to_its_commits_and_to_where_it_goes() {
    for line in ["git push origin main", "git push origin main:main2", "git push --all origin"] {
        let (talk, state) = after(line, remote, commit);
        assert_eq!(state, "stale", "{line}");
        let there = talk.scratch.world.git(&["ls-remote", "origin"]);
        assert!(!there.contains("refs/heads"), "{line}: {there}");
    }
    let (_, state) = after("git push origin main", remote, |talk| {
        let other = talk.scratch.world.path("other.git").display().to_string();
        talk.scratch.world.git(&["remote", "set-url", "origin", &other]);
    });
    assert_eq!(state, "stale");
    let (talk, state) = after("git push origin main", remote, |talk| {
        // Neither another branch nor where git keeps one makes it another push.
        talk.scratch.world.git(&["branch", "aside"]);
        talk.scratch.world.git(&["pack-refs", "--all"]);
    });
    assert_eq!(state, "executed");
    assert!(talk.scratch.world.git(&["ls-remote", "origin"]).contains("refs/heads/main"));
}

// APR-3. Trap: a script was swapped while its approval was pending.
#[test]
fn whatever_file_a_command_runs_is_bound_by_its_content() {
    let scripts = |talk: &Talk| {
        let world = &talk.scratch.world;
        for name in ["deploy.sh", "x.py", "Makefile"] {
            world.write(&format!("repo/{name}"), "# nothing\n");
        }
        world.git(&["add", "-A"]);
        world.git(&["commit", "--quiet", "-m", "scripts"]);
    };
    for (line, file) in [
        ("bash deploy.sh", "deploy.sh"),
        ("./deploy.sh", "deploy.sh"),
        ("python3 x.py", "x.py"),
        ("make all", "Makefile"),
    ] {
        let swap = |talk: &Talk| {
            std::fs::write(talk.desk().join(file), "# something else\n").unwrap();
        };
        let (_, state) = after(line, scripts, swap);
        assert_eq!(state, "stale", "{line}");
    }
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
        title: None,
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

/// Asks about writing docs/b.md, and changes that to docs/c.md at the command line.
fn edited() -> (Talk, String, String) {
    let script = vec![calls("", &[write("docs/b.md", "one\n")]), say("So be it.")];
    let talk = Talk::new(ONE_TASK, vec![("Greet", script)]);
    let run = talk.begin();
    talk.drive(&run);
    let question = talk.open().remove(0);
    let args = r#"{"path":"docs/c.md","content":"two\n"}"#;
    talk.scratch.world.write("new.json", args);
    let words = ["approvals", "edit", &question, "--args", "../new.json", "--yes"];
    let told = talk.scratch.world.run(&words);
    assert_eq!(told.code, Some(0), "{told:?}");
    (talk, run, question)
}

// APR-3, APR-4: an edited call is bound to what it is done to now, and is shown as it is now.
#[test]
fn an_edit_binds_what_it_would_be_done_to_now() {
    let (talk, run, question) = edited();
    let request = talk.standing(&question).request;
    let none = aurora_model::Target::Path { path: "docs/c.md".to_owned(), content: None };
    assert_eq!(request.subject.targets, [none]);
    assert_eq!(request.title, "make the new file docs/c.md (1 line)");
    assert_eq!(talk.drive(&run).outcome(), "completed");
    assert_eq!(talk.work("docs/c.md"), "two\n");
    assert_eq!(talk.work("docs/b.md"), "");
    let told = talk.model.told("Greet");
    assert!(told[0].1.contains("docs/c.md") && !told[0].1.contains("docs/b.md"), "{told:?}");
}

// APR-3, APR-4: what changed after an edit is as stale as what changed after a question.
#[test]
fn an_edited_call_whose_file_changed_meanwhile_is_stale_and_says_what_differs() {
    let (talk, run, question) = edited();
    let desk = talk.desk();
    std::fs::create_dir_all(desk.join("docs")).unwrap();
    std::fs::write(desk.join("docs/c.md"), "somebody else's\n").unwrap();
    talk.drive(&run);
    let standing = talk.standing(&question);
    assert_eq!(standing.state.name(), "stale");
    let told = talk.model.told("Greet");
    let told: Value = serde_json::from_str(&told[0].1).unwrap();
    assert_eq!(told["reason"], "not as it was when it was asked about: docs/c.md");
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
