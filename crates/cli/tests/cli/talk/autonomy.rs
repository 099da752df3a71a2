//! What lowers how much an agent may do while it works, and a person who raises it again.

use super::*;

const SEMI: &str = "autonomy:\n  default: semi\n";

fn lowered(talk: &Talk) -> Vec<Value> {
    let config = talk.scratch.world.run(&["approvals", "config", "--json"]).json();
    config["lowered"].as_array().unwrap_or_else(|| panic!("{config}")).clone()
}

fn warnings(told: &Told) -> Vec<String> {
    let all = of(&told.lines, "warning").map(|one| one["warning"].as_str().unwrap().to_owned());
    all.filter(|one| one.contains("from now on")).collect()
}

// APR-5: three denials in a run lower a level, calls are asked about, a person raises it, and all of it
// is recorded once.
#[test]
fn three_denials_in_a_run_lower_the_level_and_only_a_person_raises_it_again() {
    let push = || command("git push --force origin main");
    let script = vec![
        calls("", &[push(), push()]),
        calls("", &[push()]),
        calls("", &[write("g.txt", "g\n")]),
        calls("", &[write("h.txt", "h\n")]),
        say("done"),
    ];
    let talk = Talk::new(ONE_TASK, vec![("Greet", script)]);
    let world = &talk.scratch.world;
    world.write("repo/.aurora/approvals.yaml", SEMI);
    world.write(
        "repo/.aurora/policies.yaml",
        "destructive:\n  git_force_push: deny\n  git_push_main: deny\n",
    );
    let run = talk.begin();
    let told = talk.drive(&run);
    let warned = warnings(&told);
    assert_eq!(warned.len(), 1, "{told:#?}");
    assert!(
        warned[0].starts_with("coder is supervised from now on: the policy denied 3"),
        "{warned:?}"
    );
    assert_eq!(of(&told.lines, "task_parked").count(), 1, "under semi it would have been written");
    let all = lowered(&talk);
    assert_eq!(
        (&all[0]["scope"], &all[0]["at_most"]),
        (&json!("agent:coder"), &json!("supervised"))
    );
    let listed = world.run(&["agents", "list", "--json"]).json();
    let level = &listed["agents"][0]["autonomy"];
    assert_eq!((&level["level"], &level["configured"]), (&json!("supervised"), &json!("semi")));
    assert!(
        world.run(&["agents", "list"]).stdout.contains("supervised, lowered from semi: the policy")
    );

    // Not by an agent, and not above what the settings say.
    let raise =
        |level| ["agents", "autonomy", "raise", "agent:coder", level, "--reason", "it was me"];
    let mut inside = world.command(&raise("semi"));
    let inside = inside.env("AURORA_RUN", &run).output().unwrap();
    assert_eq!(inside.status.code(), Some(3), "{inside:?}");
    let above = world.run(&raise("full"));
    assert_eq!(above.code, Some(2), "{above:?}");
    assert!(above.stderr.contains("semi at most"), "{above:?}");
    assert_eq!(
        world.run(&["agents", "autonomy", "raise", "coder", "semi", "--reason", "x"]).code,
        Some(2)
    );
    let raised = world.run(&raise("semi"));
    assert_eq!(raised.code, Some(0), "{raised:?}");
    assert!(world.run(&raise("semi")).stdout.starts_with("nothing changed"));
    let shown = world.run(&["audit", "show", "--stream", "autonomy/agent:coder"]).stdout;
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(shown.contains("raised") && shown.contains("it was me"), "{shown}");

    talk.answer(&talk.open()[0], &["allow"]);
    let told = talk.drive(&run);
    assert_eq!(told.outcome(), "completed", "what comes after is not asked about: {told:#?}");
    assert_eq!(talk.work("h.txt"), "h\n");
    let lowered = world.run(&[
        "agents", "autonomy", "lower", "project", "locked", "--reason", "release", "--json",
    ]);
    assert_eq!(lowered.json()["at_most"], "locked", "{lowered:?}");
    assert!(world.run(&["agents", "autonomy", "show"]).stdout.contains("project: locked at most"));
}

// APR-5: a path that leads out of the desk locks the agent: even reading is asked about then.
#[test]
fn a_call_that_leaves_the_desk_locks_the_agent() {
    let read = |path: &str| ("repo.read_file", json!({"path": path}));
    let script =
        vec![calls("", &[read("../../secret")]), calls("", &[read("README.md")]), say("done")];
    let talk = Talk::new(ONE_TASK, vec![("Greet", script)]);
    let run = talk.begin();
    let told = talk.drive(&run);
    assert!(warnings(&told)[0].starts_with("coder is locked from now on"), "{told:#?}");
    assert_eq!(talk.open().len(), 1, "{told:#?}");
    assert_eq!(lowered(&talk)[0]["at_most"], "locked");
}

// APR-5: an agent for which no money is left is supervised from then on.
#[test]
fn an_agent_without_money_is_supervised() {
    let talk = Talk::new(ONE_TASK, vec![("Greet", vec![say("done")])]);
    talk.scratch.world.write("repo/.aurora/approvals.yaml", SEMI);
    talk.scratch
        .world
        .write("repo/.aurora/policies.yaml", "budget:\n  monthly_limit_usd: 0.000001\n");
    let run = talk.begin();
    let told = talk.drive(&run);
    assert!(
        warnings(&told)[0].starts_with("coder is supervised from now on: there is no money"),
        "{told:#?}"
    );
    assert_eq!(lowered(&talk)[0]["scope"], "agent:coder");
}
