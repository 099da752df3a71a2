//! `aur hook install`: nothing of the user's is lost, whatever the settings hold.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use insta::assert_snapshot;

use crate::harness::World;

const INSTALL: [&str; 3] = ["hook", "install", "claude-code"];
const UNINSTALL: [&str; 4] = ["hook", "install", "claude-code", "--uninstall"];
const SETTINGS: &str = "repo/.claude/settings.json";
const MINE: &str = r#"{
    "zeta": 1.5,
    "permissions": {
        "allow": [
            "Bash(ls:*)"
        ]
    },
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "command": "mine"
                    }
                ]
            }
        ]
    },
    "alpha": null
}
"#;

#[test]
fn a_first_run_makes_the_file_and_a_second_changes_nothing() {
    let world = World::new().at("repo/src");
    assert_snapshot!(world.run(&INSTALL).shown(), @r"
    exit: 0
    ----- stdout -----
    installed the hook in [DIR]/repo/.claude/settings.json
      runs: [AUR] hook claude-code
      allowed calls run without a prompt if they stay in the worktree and off the network; Claude Code decides about the others
      sessions that are open take it up when they restart
      that path is of this machine only: put `aur` on PATH and install again before you commit the file
    ");
    let text = world.read(SETTINGS);
    assert_snapshot!(text.replace(env!("CARGO_BIN_EXE_aur"), "[AUR]"), @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "*",
            "hooks": [
              {
                "type": "command",
                "command": "[AUR] hook claude-code",
                "timeout": 30
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_snapshot!(world.run(&INSTALL).shown(), @r"
    exit: 0
    ----- stdout -----
    nothing to do: the hook is installed in [DIR]/repo/.claude/settings.json
      that path is of this machine only: put `aur` on PATH and install again before you commit the file
    ");
    assert_eq!(world.read(SETTINGS), text);
    assert_eq!(world.list("repo/.claude"), ["settings.json"]);
}

/// A project's settings are committed: they name the program, not its place on one machine.
#[test]
fn a_project_names_the_program_that_path_finds_and_a_user_its_place() {
    let program = env!("CARGO_BIN_EXE_aur");
    let world = World::new();
    world.write("bin/.keep", "");
    world.write("other/aur", "#!/bin/sh\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path("other/aur"), executable).unwrap();
    symlink(program, world.path("bin/aur")).unwrap();
    let (bin, other) = (world.path("bin"), world.path("other"));
    let (bin, other) = (bin.display(), other.display());
    let user = [&INSTALL[..], &["--user"]].concat();
    for (path, args, file, expected) in [
        (format!("/nowhere:{bin}:{other}"), &INSTALL[..], SETTINGS, "aur"),
        (format!("{other}:{bin}"), &INSTALL, SETTINGS, program),
        ("/nowhere".to_owned(), &INSTALL, SETTINGS, program),
        ("../bin".to_owned(), &INSTALL, SETTINGS, program),
        (format!("{bin}"), &user, "home/.claude/settings.json", program),
    ] {
        let world = World::new().with("PATH", &path);
        world.write(file, "{\n  \"a\": 1\n}\n");
        let run = world.run(args);
        assert_eq!(run.code, Some(0), "{run:?}");
        let wished = format!("\"command\": \"{expected} hook claude-code\"");
        assert!(world.read(file).contains(&wished), "{path}: {}", world.read(file));
        let warned = run.stdout.contains("of this machine only");
        assert_eq!(warned, file == SETTINGS && expected == program, "{path}: {run:?}");
        let out = [args, &["--uninstall"]].concat();
        assert_eq!(world.run(&out).code, Some(0));
        assert_eq!(world.read(file), "{\n  \"a\": 1\n}\n", "{path}");
    }
}

#[test]
fn either_form_of_the_command_is_replaced_by_the_other() {
    let world = World::new();
    for old in ["aur hook claude-code", "/gone/aur hook claude-code --defer"] {
        let entry = format!("{{\"type\": \"command\", \"command\": \"{old}\"}}");
        world.write(
            SETTINGS,
            &format!(
                "{{\"hooks\": {{\"PreToolUse\": [{{\"matcher\": \"*\", \"hooks\": [{entry}]}}]}}}}"
            ),
        );
        let run = world.run(&INSTALL);
        assert!(run.stdout.starts_with("brought the hook up to date in "), "{run:?}");
        let text = world.read(SETTINGS);
        assert_eq!(text.matches("hook claude-code").count(), 1, "{text}");
        assert!(text.contains(env!("CARGO_BIN_EXE_aur")), "{text}");
    }
}

#[test]
fn what_is_there_stays_and_uninstalling_brings_it_back_byte_for_byte() {
    let world = World::new();
    world.write(SETTINGS, MINE);
    let path = world.path(SETTINGS);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_snapshot!(world.run(&INSTALL).shown(), @r"
    exit: 0
    ----- stdout -----
    installed the hook in [DIR]/repo/.claude/settings.json
      backup: [DIR]/repo/.claude/settings.json.aurora-backup
      runs: [AUR] hook claude-code
      allowed calls run without a prompt if they stay in the worktree and off the network; Claude Code decides about the others
      sessions that are open take it up when they restart
      that path is of this machine only: put `aur` on PATH and install again before you commit the file
    ");
    assert_eq!(world.read("repo/.claude/settings.json.aurora-backup"), MINE);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let keys: Vec<String> = serde_json::from_str::<serde_json::Map<_, _>>(&world.read(SETTINGS))
        .unwrap()
        .into_iter()
        .map(|(key, _): (String, serde_json::Value)| key)
        .collect();
    assert_eq!(keys, ["zeta", "permissions", "hooks", "alpha"]);
    assert!(world.read(SETTINGS).contains("\n    \"zeta\": 1.5,\n"), "the indentation is kept");
    assert_eq!(world.run(&UNINSTALL).code, Some(0));
    assert_eq!(world.read(SETTINGS), MINE);
    assert_snapshot!(world.run(&UNINSTALL).shown(), @r"
    exit: 0
    ----- stdout -----
    nothing to do: no hook of Aurora's in [DIR]/repo/.claude/settings.json
    ");
}

#[test]
fn an_older_backup_is_never_overwritten() {
    let world = World::new();
    world.write(SETTINGS, "{\"first\": 1}");
    assert_eq!(world.run(&INSTALL).code, Some(0));
    world.write(SETTINGS, "{\"second\": 2}");
    assert_eq!(world.run(&INSTALL).code, Some(0));
    assert_eq!(world.read("repo/.claude/settings.json.aurora-backup"), "{\"first\": 1}");
    assert_eq!(world.read("repo/.claude/settings.json.aurora-backup.1"), "{\"second\": 2}");
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    for (text, problem) in [
        ("{\"a\": 1,}", "settings.json:1:9: cannot read the settings: "),
        ("// comment\n{}", "settings.json:1:1: cannot read the settings: "),
        ("[]", "cannot read the settings: expected a JSON object"),
        ("{\"a\": 1,\n\"a\": 2}", "settings.json:2:3: cannot read the settings: the key `a` is "),
        ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "the key `Stop` is there twice"),
        ("{\"hooks\": []}", "`hooks` is not an object"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", "`hooks.PreToolUse` is not a list"),
        ("{\"hooks\": {\"PreToolUse\": [7]}}", "`hooks.PreToolUse[0]` is not an object"),
    ] {
        let world = World::new();
        world.write(SETTINGS, text);
        for args in [&INSTALL[..], &UNINSTALL] {
            let run = world.run(args);
            assert_eq!(run.code, Some(2), "{run:?}");
            assert!(run.stderr.contains(problem), "{run:?}");
            assert!(run.stderr.contains("\nhint: nothing was changed"), "{run:?}");
            assert_eq!(world.read(SETTINGS), text);
            assert_eq!(world.list("repo/.claude"), ["settings.json"]);
        }
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::new();
    let run = world.run(&[&INSTALL[..], &["--dry-run"]].concat());
    assert_eq!(run.code, Some(0));
    assert!(
        run.stdout.starts_with("would write [DIR]/repo/.claude/settings.json:\n{\n"),
        "{run:?}"
    );
    assert!(!world.path("repo/.claude").exists());
}

#[test]
fn the_users_own_settings_are_found() {
    let world = World::new();
    let user = [&INSTALL[..], &["--user", "--defer"]].concat();
    assert_eq!(world.run(&user).code, Some(0));
    assert!(world.read("home/.claude/settings.json").contains("hook claude-code --defer\""));
    let folder = world.path("config").display().to_string();
    let world = world.with("CLAUDE_CONFIG_DIR", &folder);
    assert_eq!(world.run(&user).code, Some(0));
    assert!(world.path("config/settings.json").exists());
    assert!(!world.path("repo/.claude").exists());
}

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let user = [&INSTALL[..], &["--user"]].concat();
    for (dotfiles, link, args) in [
        ("repo/dotfiles", SETTINGS, &INSTALL[..]),
        ("dotfiles", "home/.claude/settings.json", &user),
    ] {
        let world = World::new();
        let file = format!("{dotfiles}/claude.json");
        world.write(&file, "{\"a\": 1}\n");
        std::fs::create_dir_all(world.path(link).parent().unwrap()).unwrap();
        symlink(world.path(&file), world.path(link)).unwrap();
        let run = world.run(args);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(world.path(link).symlink_metadata().unwrap().is_symlink());
        assert!(world.read(&file).contains("hook claude-code"));
        assert_eq!(world.list(dotfiles), ["claude.json", "claude.json.aurora-backup"]);
    }
}

#[test]
fn a_projects_link_that_leads_out_of_it_is_refused() {
    let world = World::new();
    world.write("dotfiles/settings.json", "{}\n");
    world.write("repo/.claude/.keep", "");
    symlink(world.path("dotfiles/settings.json"), world.path(SETTINGS)).unwrap();
    assert_snapshot!(world.run(&INSTALL).shown(), @r"
    exit: 1
    ----- stderr -----
    error: [DIR]/repo/.claude/settings.json leads out of the project, to [DIR]/dotfiles/settings.json
    hint: put a file in place of the link; --user edits your own settings
    ");
    std::fs::remove_dir_all(world.path("repo/.claude")).unwrap();
    symlink("../dotfiles", world.path("repo/.claude")).unwrap();
    for more in ["--json", "--dry-run", "--uninstall"] {
        let run = world.run(&[&INSTALL[..], &[more]].concat());
        assert_eq!(run.code, Some(1), "{run:?}");
    }
    std::fs::remove_file(world.path("dotfiles/settings.json")).unwrap();
    assert_eq!(world.run(&INSTALL).code, Some(1));
    assert!(world.list("dotfiles").is_empty());
}

#[test]
fn settings_that_are_a_pipe_are_refused_at_once() {
    let world = World::new();
    let pipe = |below: &str| {
        let made = std::process::Command::new("mkfifo").arg(world.path(below)).status();
        assert!(made.unwrap().success());
    };
    world.write("repo/.claude/.keep", "");
    pipe(SETTINGS);
    for args in [&INSTALL[..], &UNINSTALL] {
        let run = world.run(args);
        assert_eq!(run.code, Some(1), "{run:?}");
        let told =
            "error: cannot read [DIR]/repo/.claude/settings.json: it is not a regular file\n";
        assert_eq!(run.stderr, told);
    }
    std::fs::remove_file(world.path(SETTINGS)).unwrap();
    world.write(SETTINGS, "{}\n");
    pipe("repo/.claude/settings.json.aurora-backup");
    assert_eq!(world.run(&INSTALL).code, Some(0));
    std::fs::remove_dir_all(world.path("repo/.claude")).unwrap();
    pipe("repo/.claude");
    for args in [&INSTALL[..], &UNINSTALL] {
        assert_eq!(world.run(args).code, Some(1));
    }
}

#[test]
fn a_link_to_nothing_is_refused() {
    let world = World::new();
    world.write("repo/.claude/.keep", "");
    symlink("/nowhere/claude.json", world.path(SETTINGS)).unwrap();
    assert_snapshot!(world.run(&INSTALL).shown(), @r"
    exit: 1
    ----- stderr -----
    error: [DIR]/repo/.claude/settings.json is a link to nothing
    hint: make the file that it leads to, or remove the link
    ");
}

#[test]
fn a_folder_that_cannot_be_written_is_one_clear_message() {
    // A kernel folder refuses root too, which a mode alone would not.
    let world = World::new().with("CLAUDE_CONFIG_DIR", "/proc/sys");
    let run = world.run(&[&INSTALL[..], &["--user"]].concat());
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.starts_with("error: cannot write /proc/sys/settings.json: "), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    let world = World::new();
    world.write("repo/.claude", "a file where a folder should be");
    let run = world.run(&INSTALL);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.starts_with("error: cannot make folder [DIR]/repo/.claude: "), "{run:?}");
}

#[test]
fn a_read_only_folder_loses_nothing() {
    let world = World::new();
    world.write(SETTINGS, MINE);
    let folder = world.path("repo/.claude");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    let run = world.run(&INSTALL);
    // Root writes there all the same; everybody else is told, and nothing is changed.
    if run.code != Some(0) {
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.starts_with("error: cannot write "), "{run:?}");
        assert_eq!(world.read(SETTINGS), MINE);
        assert_eq!(world.list("repo/.claude"), ["settings.json"]);
    }
}

#[test]
fn hooks_that_are_switched_off_are_warned_about() {
    let world = World::new();
    world.write(SETTINGS, "{\"disableAllHooks\": true}");
    let run = world.run(&INSTALL);
    assert_eq!(run.code, Some(0));
    assert_snapshot!(run.stderr, @"warning: `disableAllHooks` in [DIR]/repo/.claude/settings.json switches this and every hook off");
}

#[test]
fn many_installs_at_once_leave_one_hook_and_one_backup() {
    let world = World::new();
    world.write(SETTINGS, MINE);
    let children: Vec<_> = (0..8).map(|_| world.command(&INSTALL).spawn().unwrap()).collect();
    for child in children {
        let run = world.finish(child);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    assert_eq!(world.read(SETTINGS).matches("hook claude-code").count(), 1);
    assert_eq!(world.list("repo/.claude"), ["settings.json", "settings.json.aurora-backup"]);
    assert_eq!(world.read("repo/.claude/settings.json.aurora-backup"), MINE);
    assert_eq!(world.run(&UNINSTALL).code, Some(0));
    assert_eq!(world.read(SETTINGS), MINE);
}

#[test]
fn a_program_is_told_what_was_done() {
    let world = World::new();
    world.write(SETTINGS, "{}\n");
    let told = |more: &[&str]| world.run(&[&INSTALL[..], &["--json"], more].concat()).json();
    let dry = told(&["--dry-run"]);
    assert_eq!((&dry["change"], &dry["changed"]), (&"added".into(), &false.into()), "{dry}");
    assert!(dry["text"].as_str().unwrap().contains("hook claude-code"), "{dry}");
    assert_eq!(world.read(SETTINGS), "{}\n");
    assert_snapshot!(format!("{:#}", told(&[])), @r#"
    {
      "path": "[DIR]/repo/.claude/settings.json",
      "change": "added",
      "changed": true,
      "dry_run": false,
      "backup": "[DIR]/repo/.claude/settings.json.aurora-backup",
      "command": "[AUR] hook claude-code",
      "this_machine_only": true,
      "hooks_are_off": false
    }
    "#);
    let again = told(&[]);
    assert_eq!((&again["change"], &again["changed"]), (&"none".into(), &false.into()), "{again}");
    let gone = told(&["--uninstall"]);
    assert_eq!((&gone["change"], &gone["changed"]), (&"removed".into(), &true.into()), "{gone}");
    world.write(SETTINGS, "{");
    assert!(told(&[])["error"].as_str().unwrap().contains("cannot read the settings"));
}

#[test]
fn a_number_that_cannot_be_written_back_as_it_is_stops_the_edit() {
    let world = World::new();
    let text = "{\n  \"a\": 1.0e3\n}\n";
    world.write(SETTINGS, text);
    assert_snapshot!(world.run(&INSTALL).shown(), @r"
    exit: 2
    ----- stderr -----
    error: [DIR]/repo/.claude/settings.json:2: cannot edit: the number 1.0e3 would become 1000.0
    hint: nothing was changed; write the number in its plain form first
    ");
    assert_eq!(world.read(SETTINGS), text);
    assert_eq!(world.list("repo/.claude"), ["settings.json"]);
    assert_eq!(world.run(&UNINSTALL).code, Some(0), "there is nothing to take out");
}
