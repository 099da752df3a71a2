//! How a run begins, or does not: what is told, what is written, and what is refused where.

use super::Scratch;

const TASKS: &str = "# Begin\n- [x] Long done <!-- id: z -->\n- [ ] First <!-- id: a -->\n- [ ] Second <!-- id: b, depends-on: a -->\n";

/// EXE-3, EXE-2: with `--json` every line is an object, from the run's beginning to how it ended.
#[test]
fn with_json_every_line_is_an_object_from_beginning_to_end() {
    let scratch = Scratch::new("default: [{say: hello}]\n", TASKS);
    let before = scratch.checkout();
    let told = scratch.told(&["spawn", "../tasks.md", "--yes", "--json", "--verbose"]);
    let kind =
        |line: Option<&serde_json::Value>| line.unwrap()["type"].as_str().unwrap().to_owned();
    assert_eq!(kind(told.lines.first()), "run_started");
    assert_eq!(kind(told.lines.last()), "ended");
    assert_eq!(told.of("output").count(), 2, "{told:#?}");
    assert_eq!(told.lines.last().unwrap()["exit_code"], 0);
    assert_eq!(told.run.stderr, "");
    let events: Vec<u64> = told.lines.iter().filter_map(|line| line["version"].as_u64()).collect();
    assert!(events.iter().zip(1..).all(|(version, expected)| *version == expected), "{events:?}");
    let recorded = scratch.records(&told.id());
    assert_eq!(recorded.len(), events.len());
    assert_eq!(scratch.checkout(), before);
    assert_eq!(scratch.world.read("tasks.md"), TASKS.replace("[ ]", "[x]"));
    let again = scratch.spawn();
    assert_eq!((again.run.code, again.lines.len()), (Some(0), 1), "{again:#?}");
    let done = scratch.shown(&["spawn", "../tasks.md", "--yes"]);
    assert_eq!(done.stdout, "every task of the list is done\n");
}

/// REV-2, EXE-2: a dry run shows everything and leaves nothing behind.
#[test]
fn a_dry_run_writes_nothing() {
    let scratch = Scratch::new("default: [{say: hello}]\n", TASKS);
    let everything = || {
        let refs = scratch.world.git(&["for-each-ref"]);
        // git's folder has our locks in it from the first look on.
        let mut git = scratch.world.list("repo/.git");
        git.retain(|name| name != "aurora");
        let list = scratch.world.list("repo/.aurora");
        format!("{refs}\n{list:?}\n{:?}\n{:?}", scratch.world.list(""), git)
    };
    let before = everything();
    let shown = scratch.shown(&["spawn", "../tasks.md", "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in ["Begin", "First", "Second", "@worker"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let json = scratch.shown(&["spawn", "../tasks.md", "--dry-run", "--json"]).json();
    assert_eq!(json["tasks"].as_array().unwrap().len(), 3, "{json:#}");
    assert_eq!(everything(), before);
    assert_eq!(scratch.world.read("tasks.md"), TASKS);
    scratch.nothing_is_left_now();
}

/// REV-3: without a terminal nobody is asked: the preview stands in the queue, exit 4.
#[test]
fn without_a_terminal_the_preview_waits_for_an_answer() {
    let scratch = Scratch::new("default: [{say: hello}]\n", TASKS);
    let shown = scratch.shown(&["spawn", "../tasks.md"]);
    assert_eq!(shown.code, Some(4), "{shown:?}");
    assert!(shown.stdout.contains("aur approvals answer spawn-"), "{shown:?}");
    assert!(!scratch.world.path("state").exists(), "nothing was begun");
    let list = scratch.shown(&["spawn", "--list-checkpoints", "--json"]).json();
    let run = list["runs"][0]["execution_id"].as_str().unwrap().to_owned();
    let answered = scratch.world.run(&["approvals", "answer", &format!("{run}.q1"), "abort"]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let over = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!(over.outcome(), "aborted", "{over:#?}");
    assert_eq!(scratch.world.read("tasks.md"), TASKS);
}

/// EXE-2: what is wrong with the input is told with its place, exit 2, and nothing begins.
#[test]
fn what_is_wrong_with_the_input_is_told_with_its_place() {
    let check = |tasks: &[u8], said: &[&str]| {
        let scratch = Scratch::new("default: []\n", "");
        std::fs::write(scratch.world.path("tasks.md"), tasks).unwrap();
        let run = scratch.shown(&["spawn", "../tasks.md", "--yes"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        for said in said {
            assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        }
        let told = scratch.told(&["spawn", "../tasks.md", "--yes", "--json"]);
        assert_eq!((told.run.code, told.lines.len()), (Some(2), 1), "{told:#?}");
        assert!(told.lines[0]["error"].is_string(), "{told:#?}");
        assert!(!scratch.world.path("repo/.aurora/aurora.db").exists());
    };
    check(b"- [ ] a \xff\xfe\n", &["../tasks.md", "UTF-8"]);
    check(
        b"# T\n- [ ] A <!-- id: a, depends-on: b -->\n- [ ] B <!-- id: b, depends-on: a -->\n",
        &["../tasks.md:2:"],
    );
    check(
        b"- [ ] A <!-- id: a -->\n\n- [ ] B <!-- depends-on: nobody -->\n",
        &["../tasks.md:3:", "nobody"],
    );
    let scratch = Scratch::new("default: []\n", TASKS);
    let missing = scratch.shown(&["spawn", "../none.md", "--yes"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("../none.md"), "{missing:?}");
    scratch.world.write("repo/.aurora/agents.yaml", "agents:\n  - id: x\n    providr: null\n");
    let agents = scratch.shown(&["spawn", "../tasks.md", "--yes"]);
    assert_eq!(agents.code, Some(2), "{agents:?}");
    assert!(agents.stderr.contains("agents.yaml:3:5"), "{agents:?}");
    assert!(agents.stderr.contains("did you mean `provider`"), "{agents:?}");
    for id in ["spawn-1", "no name at all", ""] {
        let resumed = scratch.shown(&["spawn", "--resume", id]);
        assert_eq!(resumed.code, Some(2), "{id}: {resumed:?}");
    }
}

/// EXE-5: runs that can be resumed are listed, and old ones are given up.
#[test]
fn runs_that_can_be_resumed_are_listed_and_given_up() {
    let scratch = Scratch::new("default: [{say: hello}]\n", TASKS);
    let none = scratch.shown(&["spawn", "--list-checkpoints"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), "nothing to resume\n"));
    assert_eq!(scratch.shown(&["spawn", "../tasks.md"]).code, Some(4));
    let list = scratch.shown(&["spawn", "--list-checkpoints"]);
    assert!(list.stdout.contains("spawn-") && list.stdout.contains("Begin"), "{list:?}");
    let kept = scratch.shown(&["spawn", "--clean-checkpoints"]);
    assert_eq!(kept.stdout, "removed 0 files; the log keeps what happened\n");
    let gone = scratch.shown(&["spawn", "--clean-checkpoints", "--older-than", "0s"]);
    assert!(gone.stdout.starts_with("gave up spawn-"), "{gone:?}");
    assert_eq!(scratch.shown(&["spawn", "--list-checkpoints"]).stdout, "nothing to resume\n");
    scratch.the_log_is_whole();
}
