//! Policy files: layers, refusals, and the commands that look at them.

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::World;

const FORCE_ALLOWED: &str = "destructive:\n  git_force_push:\n    action: allow\n";
const CHECK: [&str; 4] = ["policy", "check", "--", "git push --force origin dev"];

/// POL-2: the user's layer, the project's over it, `--policy` over both.
#[test]
fn layers_are_laid_over_each_other() {
    let world = World::new().at("repo/src/deep");
    assert_eq!(world.run(&CHECK).code, Some(3));
    world.write("home/.aurora/policies.yaml", FORCE_ALLOWED);
    assert_eq!(world.run(&CHECK).code, Some(0));
    world.write("repo/.aurora/policies.yaml", &FORCE_ALLOWED.replace("allow", "prompt"));
    let run = world.run(&CHECK);
    assert_eq!(run.code, Some(4));
    assert!(run.stdout.contains("repo/.aurora/policies.yaml:3:"), "{}", run.stdout);
    world.write("ci.yaml", &FORCE_ALLOWED.replace("allow", "deny"));
    let args =
        ["policy", "check", "--policy", "../../../ci.yaml", "--", "git push --force origin dev"];
    assert_eq!(world.run(&args).code, Some(3));
}

#[test]
fn without_a_repository_the_nearest_policy_upwards_holds_and_the_home_one_is_not_taken_twice() {
    let world = World::new().at("home/plain/deep");
    world.write("home/.aurora/policies.yaml", FORCE_ALLOWED);
    assert_eq!(world.run(&CHECK).code, Some(0));
    world.write("home/plain/.aurora/policies.yaml", &FORCE_ALLOWED.replace("allow", "prompt"));
    assert_eq!(world.run(&CHECK).code, Some(4));
}

/// POL-1: fail closed, and say where.
#[test]
fn a_policy_that_cannot_be_read_refuses_to_judge() {
    let world = World::new();
    let refused = |world: &World, start: &str| {
        let run = world.run(&["policy", "check", "--", "ls"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.starts_with(start), "{run:?}");
        assert_eq!(run.stdout, "");
    };
    world
        .write("repo/.aurora/policies.yaml", "destructive:\n  git_forse_push:\n    action: deny\n");
    refused(&world, "error: .aurora/policies.yaml:2:3: ");
    let hint = world.run(&["policy", "check", "--", "ls"]).stderr;
    assert!(hint.contains("git_force_push"), "did you mean: {hint}");
    let file = world.path("repo/.aurora/policies.yaml");
    std::fs::write(&file, b"safety:\n  branch_prefix: \"\xff\"\n").unwrap();
    refused(&world, "error: .aurora/policies.yaml:2:19: this is not UTF-8 text");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/nowhere/policies.yaml", &file).unwrap();
    refused(&world, "error: cannot read policy .aurora/policies.yaml: ");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    refused(&world, "error: cannot read policy .aurora/policies.yaml: it is not a file");
    let explicit = ["policy", "check", "--policy", "gone.yaml", "--", "ls"];
    std::fs::remove_dir(&file).unwrap();
    let run = world.run(&explicit);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.starts_with("error: cannot read gone.yaml: "), "{run:?}");
}

#[test]
fn an_empty_policy_changes_nothing() {
    let world = World::new();
    world.write("repo/.aurora/policies.yaml", "");
    assert_eq!(world.run(&CHECK).code, Some(3));
    world.write("repo/.aurora/policies.yaml", "# nothing yet\n");
    assert_eq!(world.run(&CHECK).code, Some(3));
}

#[test]
fn show_prints_the_policy_and_where_each_value_comes_from() {
    let world = World::new();
    world.write("repo/.aurora/policies.yaml", &FORCE_ALLOWED.replace("allow", "prompt"));
    let plain = world.run(&["policy", "show"]);
    assert_eq!(plain.code, Some(0), "{plain:?}");
    assert!(plain.stdout.contains("git_force_push:\n"), "{}", plain.stdout);
    let told = world.run(&["policy", "show", "--origin"]).stdout;
    assert!(told.contains(".aurora/policies.yaml:3:"), "{told}");
    assert!(told.contains("built-in defaults"), "{told}");
    let json = world.run(&["policy", "show", "--json"]).json();
    let entry = &json["destructive.git_force_push.action"];
    assert_eq!(entry["value"], "prompt", "{json:#}");
    // What is shown is itself a policy, and means the same.
    world.write("shown.yaml", &plain.stdout);
    let again = world.run(&["policy", "show", "--policy", "../shown.yaml"]);
    assert_eq!(again.stdout, plain.stdout, "{again:?}");
}

#[test]
fn schema_is_a_json_schema() {
    let schema = World::new().run(&["policy", "schema"]).json();
    assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"), "{schema:#}");
}

/// POL-9: rules carry their own examples.
#[test]
fn the_examples_of_all_rules_hold() {
    let world = World::new();
    let run = world.run(&["policy", "test"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.ends_with("all as their rules say\n"), "{run:?}");
    let json = world.run(&["policy", "test", "--json"]).json();
    assert_eq!(json["failed"], 0);
    assert_eq!(
        json["total"].as_u64().unwrap() as usize,
        json["examples"].as_array().unwrap().len()
    );
    world.write(
        "repo/.aurora/policies.yaml",
        "rules:\n  - id: no-make\n    action: deny\n    command: [make]\n    match: [ls]\n    not_match: [make]\n",
    );
    let broken = world.run(&["policy", "test"]);
    assert!(matches!(broken.code, Some(1 | 2)), "{broken:?}");
}

#[test]
fn explain_says_what_a_rule_means_and_guesses_what_was_meant() {
    let world = World::new();
    let run = world.run(&["policy", "explain", "destructive.git_force_push"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.starts_with("destructive.git_force_push: "), "{}", run.stdout);
    assert!(run.stdout.contains("(built-in defaults)"), "{}", run.stdout);
    let list = world.run(&["policy", "explain"]).stdout;
    assert!(list.contains("safety.protected_paths"), "{list}");
    for rule in list.lines().filter_map(|line| line.split_whitespace().next()) {
        assert_eq!(world.run(&["policy", "explain", rule]).code, Some(0), "{rule}");
    }
    assert_snapshot!(world.run(&["policy", "explain", "git_forse_push"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: there is no rule git_forse_push
    hint: did you mean destructive.git_force_push?
    hint: `aur policy explain` lists all rules
    ");
}

#[test]
fn init_writes_once_and_keeps_what_it_replaces() {
    let world = World::new().at("repo/src");
    assert_snapshot!(world.run(&["policy", "init"]).shown(), @r"
    exit: 0
    ----- stdout -----
    wrote [DIR]/repo/.aurora/policies.yaml (this project's policy)
    look at it with `aur policy show --origin`
    ");
    assert_eq!(world.list("repo/.aurora"), [".gitignore", "policies.yaml"]);
    assert!(world.read("repo/.aurora/.gitignore").contains("\n*\n!.gitignore\n!policies.yaml\n"));
    assert_eq!(world.run(&["policy", "check", "--", "ls"]).code, Some(0), "the template is valid");
    world.write("repo/.aurora/policies.yaml", FORCE_ALLOWED);
    assert_snapshot!(world.run(&["policy", "init"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: [DIR]/repo/.aurora/policies.yaml is there already
    hint: --force replaces it and keeps a backup
    ");
    assert_eq!(world.read("repo/.aurora/policies.yaml"), FORCE_ALLOWED);
    assert_snapshot!(world.run(&["policy", "init", "--force"]).shown(), @r"
    exit: 0
    ----- stdout -----
    kept the old policy as [DIR]/repo/.aurora/policies.yaml.aurora-backup
    wrote [DIR]/repo/.aurora/policies.yaml (this project's policy)
    look at it with `aur policy show --origin`
    ");
    assert_eq!(world.read("repo/.aurora/policies.yaml.aurora-backup"), FORCE_ALLOWED);
    world.write("repo/.aurora/policies.yaml", "# other\n");
    assert_eq!(world.run(&["policy", "init", "--force"]).code, Some(0));
    assert_eq!(world.read("repo/.aurora/policies.yaml.aurora-backup"), FORCE_ALLOWED);
    assert_eq!(world.read("repo/.aurora/policies.yaml.aurora-backup.1"), "# other\n");
    assert_snapshot!(world.run(&["policy", "init", "--user"]).shown(), @r"
    exit: 0
    ----- stdout -----
    wrote [DIR]/home/.aurora/policies.yaml (your own policy, for every project)
    look at it with `aur policy show --origin`
    ");
    assert_eq!(world.list("home/.aurora"), ["policies.yaml"]);
}

#[test]
fn init_tells_a_program_what_it_wrote() {
    let world = World::new();
    let init = |more: &[&str]| world.run(&[&["policy", "init", "--json"], more].concat()).json();
    let told = init(&[]);
    assert_eq!(told["path"], "[DIR]/repo/.aurora/policies.yaml", "{told}");
    assert_eq!((&told["changed"], &told["backup"]), (&true.into(), &Value::Null));
    assert_eq!(told["gitignore"], "[DIR]/repo/.aurora/.gitignore");
    assert!(init(&[])["error"].as_str().unwrap().ends_with("is there already"));
    assert_eq!(init(&["--force"])["changed"], false);
    world.write("repo/.aurora/policies.yaml", "# mine\n");
    let told = init(&["--force"]);
    assert_eq!(told["backup"], "[DIR]/repo/.aurora/policies.yaml.aurora-backup", "{told}");
    assert_eq!((&told["changed"], &told["gitignore"]), (&true.into(), &Value::Null));
    assert_eq!(init(&["--user"])["scope"], "user");
}

#[test]
fn explain_answers_programs_too() {
    let world = World::new();
    let rule = world.run(&["policy", "explain", "--json", "destructive.git_force_push"]).json();
    assert_eq!(rule["id"], "destructive.git_force_push", "{rule:#}");
    assert_eq!(rule["origin"], "built-in defaults");
    for key in ["title", "meaning", "value", "locked", "matches", "not_matches", "instead"] {
        assert!(rule.get(key).is_some(), "{key}");
    }
    let all = world.run(&["policy", "explain", "--json"]).json();
    let listed = world.run(&["policy", "explain"]).stdout.lines().count();
    assert_eq!(all.as_array().unwrap().len(), listed);
    assert_eq!(
        world.run(&["policy", "explain", "--json", "nope"]).json()["error"],
        "there is no rule nope"
    );
}

/// A program that reads JSON finds the error there, and a person still finds it on stderr.
#[test]
fn with_json_an_error_is_on_stdout_too() {
    let world = World::new();
    world
        .write("repo/.aurora/policies.yaml", "destructive:\n  git_forse_push:\n    action: deny\n");
    for args in [
        &["policy", "check", "--json", "--", "ls"][..],
        &["policy", "show", "--json"],
        &["policy", "test", "--json"],
        &["policy", "explain", "--json"],
    ] {
        let run = world.run(args);
        assert_eq!(run.code, Some(2), "{run:?}");
        let error = run.json()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(".aurora/policies.yaml:2:3: "), "{run:?}");
        assert!(run.stderr.starts_with(&format!("error: {error}")), "{run:?}");
    }
}

/// POL-1: what cannot be read is not taken for absent.
#[test]
fn something_in_the_place_of_the_policys_folder_is_refused() {
    let check = ["policy", "check", "--", "ls"];
    for repo in [true, false] {
        let world = World::new();
        if !repo {
            std::fs::remove_dir_all(world.path("repo/.git")).unwrap();
        }
        assert_eq!(world.run(&check).code, Some(0));
        world.write("repo/.aurora", "a file where a folder should be");
        let run = world.run(&check);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.starts_with("error: cannot read policy .aurora/policies.yaml: "));
        std::fs::remove_file(world.path("repo/.aurora")).unwrap();
        std::os::unix::fs::symlink("/nowhere", world.path("repo/.aurora")).unwrap();
        assert_eq!(world.run(&check).code, Some(2));
        std::fs::remove_file(world.path("repo/.aurora")).unwrap();
        std::fs::create_dir(world.path("repo/.aurora")).unwrap();
        assert_eq!(world.run(&check).code, Some(0));
        world.write("home/.aurora", "");
        assert_eq!(world.run(&check).code, Some(2));
        let homeless = world.with("HOME", "/dev/null");
        assert_eq!(homeless.run(&check).code, Some(0));
    }
}

#[test]
fn a_git_configuration_that_is_not_read_makes_unknown_subcommands_ask() {
    let world = World::new();
    let code = |command: &str| world.run(&["policy", "check", "--", command]).code;
    assert_eq!(code("git frob"), Some(0));
    let long = format!("[alias]\n{}\tfrob = push --force\n", "# x\n".repeat(300_000));
    world.write("repo/.git/config", &long);
    assert_eq!(code("git frob"), Some(4));
    assert_eq!(code("git status"), Some(0));
    assert_eq!(code("git -c alias.frob=status frob"), Some(0));
    std::fs::remove_file(world.path("repo/.git/config")).unwrap();
    std::fs::create_dir(world.path("repo/.git/config")).unwrap();
    assert_eq!(code("git frob"), Some(4));
    std::fs::remove_dir(world.path("repo/.git/config")).unwrap();
    assert_eq!(code("git frob"), Some(0));
    let world = world.with("GIT_CONFIG_GLOBAL", "/dev/null");
    assert_eq!(world.run(&["policy", "check", "--", "git frob"]).code, Some(0));
}
