//! Help, completions, manual pages, the demo, and readers that go away.

use insta::assert_snapshot;

use crate::harness::World;

#[test]
fn the_program_says_what_it_can_do() {
    let world = World::new();
    assert_snapshot!(world.run(&["--version"]).shown(), @r"
    exit: 0
    ----- stdout -----
    aur 0.1.0
    ");
    let help = world.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    for word in ["policy", "hook", "demo", "completions", "man", "Examples:", "Exit codes:"] {
        assert!(help.stdout.contains(word), "{word} in {}", help.stdout);
    }
}

/// INT-4: completions and manual pages come from the same source as the help.
#[test]
fn completions_and_manual_pages_know_the_commands() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = world.run(&["completions", shell]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout.contains("explain"), "{shell}");
    }
    assert_eq!(world.run(&["completions", "tcsh"]).code, Some(2));
    let page = world.run(&["man"]);
    assert!(page.stdout.contains(".TH aur 1"), "{page:?}");
    assert_eq!(world.run(&["man", "--out", "pages"]).code, Some(0));
    let pages = world.list("repo/pages");
    assert!(pages.contains(&"aur-policy-check.1".to_owned()), "{pages:?}");
    for page in pages {
        let text = world.read(&format!("repo/pages/{page}"));
        assert_eq!(text.matches("\n.SH EXAMPLES\n.nf\n").count(), 1, "{page}: {text}");
        assert!(!text.contains(".SH EXTRA"), "{page}: {text}");
    }
}

#[test]
fn the_demo_shows_real_verdicts_and_leaves_nothing_behind() {
    let world = World::new();
    let before = world.list("");
    let run = world.run(&["demo"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let wanted = [
        "may this run?",
        "1 overwritten",
        "undo with: aur rollback --undo",
        "token denied",
        "profile failed, trying again",
        "5 tasks, 3 completed, 1 skipped, 1 denied",
        "all as they were written",
    ];
    for words in wanted {
        assert!(run.stdout.contains(words), "{words} in {}", run.stdout);
    }
    let verdicts: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| ["ALLOW  ", "ASK  ", "DENY  "].iter().any(|word| line.starts_with(word)))
        .collect();
    assert_snapshot!(verdicts.join("\n"), @r"
    ALLOW  nothing here that the policy asks about
    ALLOW  nothing here that the policy asks about
    DENY  git_force_push
    ASK  file_delete
    DENY  protected_path
    DENY  protected_path
    ");
    assert_eq!(world.list(""), before);
    let without = world.with("PATH", "/nowhere").run(&["demo"]);
    assert_eq!(without.code, Some(0), "it works without git too: {}", without.stderr);
    assert!(without.stdout.contains("Skipped: a run needs git"), "{}", without.stdout);
    assert!(without.stdout.contains("DENY  git_force_push"), "{}", without.stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_keeps_the_verdict() {
    let world = World::new();
    for (args, code) in [
        (&["demo"][..], 0),
        (&["--help"], 0),
        (&["policy", "schema"], 0),
        (&["policy", "check", "--", "git push --force"], 3),
    ] {
        let mut child = world.command(args).spawn().unwrap();
        drop(child.stdout.take());
        let run = world.finish(child);
        assert_eq!((run.code, run.stderr.as_str()), (Some(code), ""), "{args:?}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let world = World::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let child = world.command(&["policy", "schema"]).stdout(full).spawn().unwrap();
    assert_snapshot!(world.finish(child).shown(), @r"
    exit: 1
    ----- stderr -----
    error: cannot write to stdout: No space left on device (os error 28)
    ");
}

#[test]
fn wrong_usage_says_what_may_have_been_meant() {
    let world = World::new();
    for (args, hint) in [
        (&["polcy"][..], "'policy'"),
        (&["policy", "chek", "--", "ls"], "'check'"),
        (&["policy", "show", "--orign"], "'--origin'"),
        (
            &["policy", "check", "git", "push", "--force"],
            "\nhint: a command stands after `--`: aur policy check -- git push --force\n",
        ),
        (
            &["policy", "check", "--json", "ls -l | cat"],
            "\nhint: a command stands after `--`: aur policy check --json -- 'ls -l | cat'\n",
        ),
        (&["policy", "check", "--dialect", "mysql", "--", "ls"], "there is no --sql"),
        (&["policy", "check", "--dialect", "mysql", "--batch"], "there is no --sql"),
        (&["policy", "check", "--dialect", "mysql"], "--sql"),
        (&["policy", "check", "--args", "{}", "--", "ls"], "there is no --tool"),
        (&["policy", "explain", "nope"], "\nhint: the nearest is "),
    ] {
        let run = world.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains(hint), "{run:?}");
    }
}

#[test]
fn the_readmes_transcript_is_what_the_program_prints() {
    let readme = include_str!("../../../../README.md");
    let transcript = readme.split("```console\n").nth(1).and_then(|text| text.split("```").next());
    let mut shown = 0;
    for block in transcript.unwrap().split("$ aur policy check -- ").skip(1) {
        let (command, output) = block.split_once('\n').unwrap();
        let words: Vec<&str> = match command.strip_prefix('\'').and_then(|c| c.strip_suffix('\'')) {
            Some(line) => vec![line],
            None => vec!["git", "commit", "-m", "drop table users"],
        };
        let mut args = vec!["policy", "check", "--"];
        args.extend(words);
        assert_eq!(World::new().run(&args).stdout.trim(), output.trim(), "{command}");
        shown += 1;
    }
    assert_eq!(shown, 3);
}
