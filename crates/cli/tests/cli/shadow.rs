//! WSP-5: shadows as their users meet them, on the real kernel.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Run, World};

/// How a shadow is made in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Overlay,
    UserNamespace,
    Copy,
}

const OVERLAYS: [Way; 2] = [Way::Overlay, Way::UserNamespace];
const ALL: [Way; 3] = [Way::Overlay, Way::UserNamespace, Way::Copy];

impl Way {
    fn args(self) -> &'static [&'static str] {
        match self {
            Self::Overlay => &["--strategy", "overlay"],
            Self::UserNamespace => &["--strategy", "overlay", "--user-namespace"],
            Self::Copy => &["--strategy", "copy"],
        }
    }
}

/// A repository with real git, and shadows of it.
struct Ground {
    world: World,
    /// The worktree, which may be a linked one.
    at: &'static str,
}

impl Ground {
    fn new() -> Self {
        let world = World::new();
        std::fs::remove_dir_all(world.path("repo")).unwrap();
        std::fs::create_dir(world.path("repo")).unwrap();
        let ground = Self { world, at: "repo" };
        ground.git(&["init", "--quiet", "--initial-branch=main"]);
        ground.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        ground.write("b.txt", "b\n");
        ground.write("d/e/f", "f\n");
        ground.write("d/g", "g\n");
        ground.write("run.sh", "#!/bin/sh\n");
        ground.write(".gitignore", "*.log\n/out/\n");
        ground.git(&["add", "-A"]);
        ground.git(&["commit", "--quiet", "-m", "first"]);
        ground
    }

    /// The same, in a linked worktree.
    fn linked() -> Self {
        let ground = Self::new();
        ground.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
        let Self { world, .. } = ground;
        Self { world: world.at("linked"), at: "linked" }
    }

    fn root(&self) -> PathBuf {
        self.world.path(self.at)
    }

    fn git(&self, args: &[&str]) -> String {
        let output = git(&self.root(), &self.world.path("home"), args);
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        self.world.write(&format!("{}/{path}", self.at), text);
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(path)).ok()
    }

    /// Everything that must not change: files, and git's own state.
    fn state(&self) -> String {
        let mut out = listing(&self.root());
        for args in
            [&["log", "--all", "--oneline"][..], &["status", "--porcelain"], &["stash", "list"]]
        {
            out.push_str(&self.git(args));
        }
        out.push_str(&self.git(&["rev-parse", "HEAD"]));
        out
    }

    /// Runs a script in a new shadow; nothing where the kernel lacks what it needs.
    fn shadow(&self, way: Way, script: &str) -> Option<Run> {
        self.shadow_with(way, &[], script)
    }

    fn shadow_with(&self, way: Way, more: &[&str], script: &str) -> Option<Run> {
        let mut args = vec!["shadow", "run"];
        args.extend(way.args());
        args.extend(more);
        args.extend(["--", "sh", "-euc", script]);
        let run = self.world.run(&args);
        if run.stderr.contains("does not work here") {
            eprintln!("SKIPPED: {way:?}: {}", run.stderr);
            return None;
        }
        Some(run)
    }

    fn inspect(&self) -> serde_json::Value {
        let run = self.world.run(&["shadow", "inspect", "--json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        run.json()
    }

    /// The changes as `kind path`, in order.
    fn changes(&self) -> Vec<String> {
        changes_of(&self.inspect())
    }

    fn aur(&self, args: &[&str]) -> Run {
        let run = self.world.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
        run
    }
}

fn changes_of(inspected: &serde_json::Value) -> Vec<String> {
    let changes = inspected["changes"].as_array().unwrap();
    changes
        .iter()
        .map(|one| format!("{} {}", one["kind"].as_str().unwrap(), one["path"].as_str().unwrap()))
        .collect()
}

fn git(at: &Path, home: &Path, args: &[&str]) -> Output {
    Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(["-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(at)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap()
}

/// Every file below a folder with its kind, mode and content, without `.git`.
fn listing(root: &Path) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let mut lines = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() == ".git" {
                continue;
            }
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            let shown = path.strip_prefix(root).unwrap().to_owned();
            if meta.is_dir() {
                lines.push(format!("{shown:?}/"));
                open.push(path);
            } else if meta.is_symlink() {
                lines.push(format!("{shown:?} -> {:?}", std::fs::read_link(path).unwrap()));
            } else {
                let mode = meta.permissions().mode() & 0o111 != 0;
                lines.push(format!("{shown:?} {mode} {:?}", std::fs::read(path).unwrap()));
            }
        }
    }
    lines.sort();
    lines.join("\n")
}

const AUR: &str = env!("CARGO_BIN_EXE_aur");
const COMMIT: &str = "git -c user.name=T -c user.email=t@example.org commit -q --no-verify";

#[test]
fn wsp_5_a_command_sees_the_worktree_s_own_path_and_its_exit_code_is_told() {
    for way in OVERLAYS {
        let ground = Ground::new();
        let Some(run) = ground.shadow(way, "pwd; cat b.txt; exit 7") else { continue };
        assert_eq!((run.code, run.stdout.as_str()), (Some(7), "[DIR]/repo\nb\n"), "{run:?}");
    }
    let ground = Ground::new();
    let run = ground.world.run(&["shadow", "run", "--strategy", "copy", "--", "no-such-command"]);
    assert_eq!(run.code, Some(127), "{run:?}");
}

#[test]
fn wsp_5_what_is_done_inside_is_exactly_what_inspection_tells() {
    let script = "
        echo new > new.txt; mkdir -p x/y; echo deep > x/y/z
        echo more >> a.txt
        rm b.txt
        chmod +x run.sh
        mv d/g moved
        rm -r d; mkdir d; echo again > d/h
        ln -s a.txt link
        mkdir empty
        cat .gitignore > t; cat t > .gitignore; rm t
        touch -d 2001-01-01 .gitignore
    ";
    let expected = [
        "modified a.txt",
        "deleted b.txt",
        "deleted d/e/f",
        "deleted d/g",
        "added d/h",
        "added link",
        "added moved",
        "added new.txt",
        "mode_changed run.sh",
        "added x/y/z",
    ];
    for way in ALL {
        let ground = Ground::new();
        let before = ground.state();
        let Some(run) = ground.shadow(way, script) else { continue };
        assert_eq!(run.code, Some(0), "{way:?} {run:?}");
        assert_eq!(ground.state(), before, "{way:?}");
        let inspected = ground.inspect();
        assert_eq!(changes_of(&inspected), expected, "{way:?}");
        assert_eq!(inspected["empty_folders"], serde_json::json!(["empty"]), "{way:?}");
        assert_eq!(inspected["in_use"], false);
        let diff = ground.aur(&["shadow", "diff"]).stdout;
        assert!(diff.contains("+more\n") && diff.contains("deleted file mode 100644"), "{diff}");
    }
}

#[test]
fn wsp_5_files_and_folders_that_take_each_other_s_place_are_told() {
    for way in ALL {
        let ground = Ground::new();
        let script = "rm b.txt; mkdir b.txt; echo in > b.txt/in; rm -r d; echo file > d";
        if ground.shadow(way, script).is_none() {
            continue;
        }
        let expected =
            ["deleted b.txt", "added b.txt/in", "added d", "deleted d/e/f", "deleted d/g"];
        assert_eq!(ground.changes(), expected, "{way:?}");
        ground.aur(&["shadow", "promote"]);
        assert_eq!(ground.read("b.txt/in").as_deref(), Some("in\n"), "{way:?}");
        assert_eq!(ground.read("d").as_deref(), Some("file\n"), "{way:?}");
    }
}

#[test]
fn wsp_5_a_commit_in_a_shadow_moves_nothing_real() {
    for make in [Ground::new, Ground::linked] {
        for way in ALL {
            let ground = make();
            let (before, config) = (ground.state(), ground.git(&["config", "--list"]));
            let script = format!(
                "echo x >> a.txt; {COMMIT} -am one; git switch -q -c other; {COMMIT} --allow-empty -m two
                 git tag t; git config core.editor evil; git stash list; git log --oneline"
            );
            let Some(run) = ground.shadow(way, &script) else { continue };
            assert_eq!(run.code, Some(0), "{} {way:?} {run:?}", ground.at);
            assert!(run.stdout.contains("two\n"), "{run:?}");
            assert_eq!(ground.state(), before, "{} {way:?}", ground.at);
            assert_eq!(ground.git(&["config", "--list"]), config);
            let inspected = ground.inspect();
            assert_eq!(changes_of(&inspected), ["modified a.txt"], "{} {way:?}", ground.at);
            let notes = inspected["notes"].to_string();
            assert!(notes.contains("2 commits were made in the shadow"), "{way:?} {notes}");
        }
    }
}

#[test]
fn wsp_5_promotion_is_exact_and_can_be_undone() {
    let script = "echo more >> a.txt; rm b.txt; chmod +x run.sh; ln -s a.txt link; rm -r d
                  mkdir -p n/m; echo x > n/m/x; mkdir empty; echo s > secret; chmod 600 secret";
    for way in ALL {
        let ground = Ground::new();
        let before = listing(&ground.root());
        let git = ground.git(&["rev-parse", "HEAD"]);
        if ground.shadow(way, script).is_none() {
            continue;
        }
        let would = ground.aur(&["shadow", "promote", "--dry-run", "--json"]).json();
        assert_eq!(listing(&ground.root()), before);
        let report = ground.aur(&["shadow", "promote", "--json"]).json();
        assert_eq!(report["paths"], would["paths"], "{way:?}");
        assert_eq!(report["left"], 0);
        let expected = Ground::new();
        let made = Command::new("sh").args(["-euc", script]).current_dir(expected.root()).status();
        assert!(made.unwrap().success());
        assert_eq!(listing(&ground.root()), listing(&expected.root()), "{way:?}");
        let secret = ground.root().join("secret").metadata().unwrap();
        let mode = std::os::unix::fs::MetadataExt::mode(&secret);
        assert_eq!(mode & 0o777, 0o600, "{way:?}");
        assert_eq!(ground.git(&["rev-parse", "HEAD"]), git);
        let list = ground.aur(&["shadow", "list", "--json"]).json();
        let one = &list["shadows"][0];
        assert_eq!((&one["status"], &one["shadow"]), (&"promoted".into(), &report["shadow"]));
        assert_eq!(one["promotions"][0]["safety"], report["safety"]);
        ground.aur(&["rollback", "--undo", "--yes"]);
        let after: String = listing(&ground.root()).replace("\"empty\"/\n", "");
        assert_eq!(after.replace("\n\"empty\"/", ""), before, "{way:?}");
    }
}

#[test]
fn wsp_5_what_the_real_worktree_changed_too_is_refused_or_merged() {
    for way in ALL {
        let ground = Ground::new();
        let script = "sed -i s/five/FIVE/ a.txt; echo mine > b.txt; echo free > free.txt";
        if ground.shadow(way, script).is_none() {
            continue;
        }
        ground.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
        let run = ground.world.run(&["shadow", "promote"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("nothing was promoted"), "{run:?}");
        assert_eq!(ground.read("free.txt"), None, "{way:?}");
        assert_eq!(ground.inspect()["moved"], serde_json::json!(["a.txt"]));
        ground.write("b.txt", "theirs\n");
        let run = ground.world.run(&["shadow", "promote", "--merge"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert_eq!(ground.read("b.txt").as_deref(), Some("theirs\n"));
        let run = ground.world.run(&["shadow", "promote", "--merge", "--incremental", "--json"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert_eq!(ground.read("a.txt").as_deref(), Some("ONE\ntwo\nthree\nfour\nFIVE\n"));
        assert_eq!(ground.read("free.txt").as_deref(), Some("free\n"), "{way:?}");
        assert_eq!(ground.read("b.txt").as_deref(), Some("theirs\n"));
        assert_eq!(ground.changes().last().unwrap(), "modified b.txt", "{way:?}");
    }
}

#[test]
fn wsp_5_parts_are_promoted_and_discarded_on_their_own() {
    for way in ALL {
        let ground = Ground::new();
        let script =
            "echo x > one; echo x > two; rm -r d; echo more >> a.txt; mkdir s; echo s > s/s";
        if ground.shadow(way, script).is_none() {
            continue;
        }
        ground.aur(&["shadow", "promote", "--", "one", "s"]);
        assert_eq!(ground.read("one").as_deref(), Some("x\n"), "{way:?}");
        assert_eq!(ground.read("s/s").as_deref(), Some("s\n"), "{way:?}");
        assert_eq!(ground.read("two"), None);
        let left = ["modified a.txt", "deleted d/e/f", "deleted d/g", "added two"];
        assert_eq!(ground.changes(), left, "{way:?}");
        ground.aur(&["shadow", "discard", "--yes", "--", "d/g", "two"]);
        assert_eq!(ground.changes(), ["modified a.txt", "deleted d/e/f"], "{way:?}");
        // What was promoted can be changed again, and promoted again.
        ground.aur(&[
            "shadow",
            "run",
            "latest",
            "--",
            "sh",
            "-c",
            "cat d/g; test ! -e d/e/f; echo y > one",
        ]);
        ground.aur(&["shadow", "promote"]);
        assert_eq!(ground.read("one").as_deref(), Some("y\n"), "{way:?}");
        assert_eq!(ground.read("d/g").as_deref(), Some("g\n"), "{way:?}");
        assert_eq!(ground.read("d/e/f"), None);
    }
}

#[test]
fn wsp_5_discarding_leaves_nothing_and_needs_a_yes_where_something_is_lost() {
    for way in ALL {
        let ground = Ground::new();
        let before = ground.state();
        let locked = "mkdir -p p/q; echo x > p/q/r; chmod 000 p/q";
        if ground.shadow(way, locked).is_none() {
            continue;
        }
        let run = ground.world.run(&["shadow", "discard"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        ground.aur(&["shadow", "discard", "--yes"]);
        assert_eq!(ground.state(), before);
        assert_eq!(ground.world.list("home/.local/state/aurora/shadows"), [""; 0], "{way:?}");
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains("aurora-shadow"), "{mounts}");
    }
}

#[test]
fn wsp_5_two_shadows_know_nothing_of_each_other() {
    let ground = Ground::new();
    if ground.shadow(Way::Overlay, "echo 1 > b.txt").is_none() {
        return;
    }
    let run = ground.shadow(Way::Overlay, "cat b.txt; echo 2 > b.txt").unwrap();
    assert_eq!(run.stdout, "b\n");
    ground.aur(&["shadow", "promote", "1"]);
    let run = ground.world.run(&["shadow", "promote", "2"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(ground.read("b.txt").as_deref(), Some("1\n"));
    let list = ground.aur(&["shadow", "list", "--json"]).json();
    assert_eq!(list["shadows"].as_array().unwrap().len(), 2);
}

#[test]
fn wsp_5_a_shadow_without_a_checkpoint_tells_by_times_what_moved() {
    let ground = Ground::new();
    let script = "echo x >> a.txt; echo n > n; rm b.txt";
    if ground.shadow_with(Way::Overlay, &["--no-checkpoint"], script).is_none() {
        return;
    }
    assert_eq!(ground.changes(), ["modified a.txt", "deleted b.txt", "added n"]);
    ground.write("b.txt", "touched\n");
    let run = ground.world.run(&["shadow", "promote"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    ground.aur(&["shadow", "promote", "--", "a.txt", "n"]);
    assert_eq!(ground.read("n").as_deref(), Some("n\n"));
    assert_eq!(ground.read("b.txt").as_deref(), Some("touched\n"));
}

#[test]
fn wsp_5_names_that_mean_something_elsewhere_are_names() {
    let world = World::new();
    let at = "x:y,z\\\u{20ac} 'q'\"w\n.git";
    std::fs::create_dir(world.path(at)).unwrap();
    let home = world.path("home");
    let init = git(&world.path(at), &home, &["init", "--quiet", "--initial-branch=main"]);
    assert!(init.status.success(), "{init:?}");
    world.write(&format!("{at}/-a b"), "x\n");
    let world = world.at(at);
    let script = "echo y > '-a b'; echo 1 > 'n\\ew
line'; printf x > \"$(printf 'bad\\377')\"; mkdir ,:; echo z > ,:/=";
    let run = world.run(&["shadow", "run", "--", "sh", "-euc", script]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let inspected = world.run(&["shadow", "inspect", "--json"]).json();
    let expected =
        ["added ,:/=", "modified -a b", "added \"bad\\377\"", "added \"n\\\\ew\\nline\""];
    assert_eq!(changes_of(&inspected), expected);
    let run = world.run(&["shadow", "promote"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(world.read(&format!("{at}/-a b")), "y\n");
}

#[test]
fn wsp_5_what_leads_out_of_the_worktree_is_not_promoted_unasked() {
    let ground = Ground::new();
    if ground.shadow(Way::Overlay, "ln -s /etc/passwd out; ln a.txt hard; mkfifo pipe").is_none() {
        return;
    }
    let violations = ground.inspect()["violations"].to_string();
    for constraint in ["symlink_escape", "hard_link", "special_file"] {
        assert!(violations.contains(constraint), "{violations}");
    }
    let run = ground.world.run(&["shadow", "promote"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("--accept-violations"), "{run:?}");
    let args = ["shadow", "promote", "--accept-violations", "--incremental"];
    assert_eq!(ground.world.run(&args).code, Some(1));
    assert_eq!(std::fs::read_link(ground.root().join("out")).unwrap(), Path::new("/etc/passwd"));
    // A hard link made inside is a file of its own outside.
    use std::os::unix::fs::MetadataExt as _;
    assert_eq!(ground.root().join("hard").metadata().unwrap().nlink(), 1);
}

#[test]
fn wsp_5_ignored_files_stay_behind_unless_asked_for() {
    let ground = Ground::new();
    ground.write("old.log", "old\n");
    let script = "echo x > x.log; mkdir out; echo o > out/o; echo new > old.log; echo k > kept";
    if ground.shadow(Way::Overlay, script).is_none() {
        return;
    }
    assert_eq!(ground.changes().len(), 4);
    ground.aur(&["shadow", "promote"]);
    assert_eq!((ground.read("kept").as_deref(), ground.read("x.log")), (Some("k\n"), None));
    assert_eq!(ground.read("old.log").as_deref(), Some("old\n"));
    assert_eq!(ground.changes(), ["modified old.log", "added out/o", "added x.log"]);
}

#[test]
fn wsp_5_what_a_whole_promotion_leaves_behind_stays_in_an_open_shadow() {
    let script = "rm b.txt; mkdir b.txt; echo in > b.txt/in; echo l > b.txt/x.log
                  rm -r d; mkdir d; echo h > d/h; echo l > d/l.log; echo more >> a.txt";
    for way in ALL {
        let ground = Ground::new();
        if ground.shadow(way, script).is_none() {
            continue;
        }
        let report = ground.aur(&["shadow", "promote", "--json"]).json();
        assert_eq!((&report["left"], &report["open"]), (&2.into(), &true.into()), "{way:?}");
        assert_eq!(ground.read("b.txt/in").as_deref(), Some("in\n"), "{way:?}");
        assert_eq!((ground.read("d/g"), ground.read("d/h").as_deref()), (None, Some("h\n")));
        assert_eq!(ground.changes(), ["added b.txt/x.log", "added d/l.log"], "{way:?}");
        let look = "cat b.txt/in b.txt/x.log d/h d/l.log; test ! -e d/g; test ! -e d/e";
        let run = ground.aur(&["shadow", "run", "latest", "--", "sh", "-euc", look]);
        assert_eq!(run.stdout, "in\nl\nh\nl\n", "{way:?}");
        ground.aur(&["shadow", "promote", "--ignored"]);
        assert_eq!(ground.read("d/l.log").as_deref(), Some("l\n"), "{way:?}");
        assert_eq!(ground.world.run(&["shadow", "inspect"]).code, Some(2), "none is open");
    }
}

#[test]
fn wsp_5_commits_branches_tags_and_stashes_of_a_shadow_go_only_when_that_is_agreed() {
    let lines = [
        ("git branch other", "branch other"),
        ("git tag t", "tag t"),
        ("echo x >> a.txt; git -c user.name=T -c user.email=t@example.org stash -q", "the stash"),
        ("git switch -q --detach; COMMIT --allow-empty -m x", "commit "),
        ("COMMIT --allow-empty -m x", "branch "),
        ("git branch other; git pack-refs --all", "branch other"),
        ("git init -q new", "the repository new"),
    ];
    for make in [Ground::new, Ground::linked] {
        let ground = make();
        ground.git(&["tag", "known"]);
        for way in ALL {
            for (line, told) in lines {
                let script = line.replace("COMMIT", COMMIT);
                let Some(run) = ground.shadow(way, &script) else { continue };
                assert_eq!(run.code, Some(0), "{way:?} {line} {run:?}");
                let inspected = ground.inspect();
                let data = inspected["git_data"].to_string();
                assert!(data.contains(told) && !data.contains("known"), "{way:?} {line}: {data}");
                assert!(inspected["notes"].to_string().contains(told), "{way:?} {line}");
                let run = ground.world.run(&["shadow", "discard"]);
                assert_eq!(run.code, Some(2), "{way:?} {line} {run:?}");
                ground.aur(&["shadow", "cleanup", "--older-than", "0s"]);
                let report = ground.aur(&["shadow", "promote", "--json"]).json();
                assert_eq!(report["open"], true, "{way:?} {line}: {report}");
                assert!(ground.inspect()["git_data"].to_string().contains(told), "{way:?} {line}");
                ground.aur(&["shadow", "discard", "--yes"]);
            }
            // Looking around is nothing that would be lost.
            let Some(run) = ground.shadow(way, "git status -s; git log -1 -q; git reset -q") else {
                continue;
            };
            assert!(!run.stderr.contains("promote"), "{run:?}");
            ground.aur(&["shadow", "discard"]);
        }
    }
}

#[test]
fn wsp_5_a_shadow_that_holds_too_much_ends_its_command() {
    for way in [Way::Overlay, Way::Copy] {
        let ground = Ground::new();
        let script =
            "dd if=/dev/zero of=big bs=1M count=8 2>/dev/null; setsid sleep 1000 & sleep 1000";
        let Some(run) = ground.shadow_with(way, &["--max-size", "1M"], script) else { continue };
        assert_eq!(run.code, Some(143), "{run:?}");
        assert!(run.stderr.contains("of at most 1 MiB; what it wrote is still there"), "{run:?}");
        assert_eq!(ground.changes(), ["added big"]);
        let told = ground.aur(&["shadow", "inspect"]).stdout;
        assert!(told.contains("error: the changed files"), "{told}");
        assert_eq!(ground.inspect()["violations"][0]["constraint"], "quota");
    }
}

#[test]
fn wsp_5_a_killed_run_leaves_a_shadow_that_can_be_looked_at() {
    for way in ALL {
        let ground = Ground::new();
        let mut args = vec!["shadow", "run"];
        args.extend(way.args());
        let script = "echo x > made; echo ready; exec sleep 1000";
        args.extend(["--", "sh", "-c", script]);
        let mut child = ground.world.command(&args).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        if line != "ready\n" {
            eprintln!("SKIPPED: {way:?}: it did not run");
            continue;
        }
        let inspected = ground.inspect();
        assert_eq!(inspected["in_use"], true, "{way:?}");
        assert_eq!(inspected["pids"].as_array().unwrap().len(), 1, "{way:?} {inspected}");
        let run = ground.world.run(&["shadow", "promote"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("is in use by process"), "{run:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while ground.inspect()["in_use"] == true {
            assert!(Instant::now() < deadline, "{way:?}: the command outlived its run");
            std::thread::yield_now();
        }
        assert_eq!(ground.changes(), ["added made"], "{way:?}");
        ground.aur(&["shadow", "promote"]);
        assert_eq!(ground.read("made").as_deref(), Some("x\n"));
    }
}

#[test]
fn wsp_5_cleaning_up_takes_leftovers_and_never_open_work() {
    let ground = Ground::new();
    ground.shadow(Way::Copy, "echo x > x").unwrap();
    let all = "home/.local/state/aurora/shadows";
    let repository = format!("{all}/{}", ground.world.list(all)[0]);
    ground.world.write(&format!("{repository}/shadow-007-half/tree/a"), "");
    ground.world.write(&format!("{repository}/.probe-999999999-0/upper/a"), "");
    let run = ground.aur(&["shadow", "cleanup", "--older-than", "0s", "--json"]).json();
    let removed: Vec<(&str, bool)> = run["shadows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["shadow"].as_str().unwrap(), one["removed"].as_bool().unwrap()))
        .collect();
    assert_eq!(removed.iter().filter(|(_, removed)| *removed).count(), 2, "{removed:?}");
    assert_eq!(ground.changes(), ["added x"]);
    ground.aur(&["shadow", "promote"]);
    ground.aur(&["shadow", "cleanup", "--older-than", "0s"]);
    assert_eq!(ground.world.list(all), [""; 0]);
}

#[test]
fn wsp_5_a_checkpoint_of_a_shadow_is_not_the_worktree_s() {
    let ground = Ground::new();
    ground.shadow(Way::Copy, "echo x > x; rm b.txt").unwrap();
    let before = ground.aur(&["checkpoints", "list", "--json"]).stdout;
    let made = ground.aur(&["shadow", "checkpoint", "-m", "half-way", "--json"]).json();
    assert_eq!(made["files_changed"], serde_json::json!(["b.txt", "x"]));
    let shadow = ground.inspect();
    assert_eq!((&made["shadow"], &made["shadow"]), (&shadow["shadow"], &shadow["meta"]["shadow"]));
    let again = ground.aur(&["shadow", "checkpoint", "--json"]).json();
    assert_eq!((again["unchanged"].as_bool(), &again["tree"]), (Some(true), &made["tree"]));
    assert_eq!(ground.aur(&["checkpoints", "list", "--json"]).stdout, before);
    let git_dir = ground.root().join(".git/aurora/git");
    let tree = made["tree"].as_str().unwrap();
    let git_dir = git_dir.to_str().unwrap();
    let names = ground.git(&["--git-dir", git_dir, "ls-tree", "-r", "--name-only", tree]);
    assert_eq!(names, ".gitignore\na.txt\nd/e/f\nd/g\nrun.sh\nx\n");
}

#[test]
fn wsp_5_where_refs_are_in_tables_it_is_said_that_they_cannot_be_compared() {
    for way in [Way::Overlay, Way::Copy] {
        let ground = Ground::new();
        std::fs::remove_dir_all(ground.root().join(".git")).unwrap();
        let home = ground.world.path("home");
        let args = ["init", "--quiet", "--initial-branch=main", "--ref-format=reftable"];
        if !git(&ground.root(), &home, &args).status.success() {
            eprintln!("SKIPPED: this git has no reftables");
            return;
        }
        ground.git(&["add", "-A"]);
        ground.git(&["commit", "--quiet", "-m", "first"]);
        if ground.shadow(way, "git status -s").is_none() {
            continue;
        }
        let inspected = ground.inspect();
        assert_eq!(inspected["git_data"], serde_json::json!([]), "{way:?}");
        assert_eq!(inspected.get("head_now"), None, "{way:?} {inspected}");
        let head = ground.git(&["rev-parse", "HEAD"]);
        assert_eq!(inspected["meta"]["head"]["commit"], head.trim(), "{way:?}");
        ground.aur(&["shadow", "discard"]);
        ground.shadow(way, &format!("{COMMIT} --allow-empty -m x")).unwrap();
        let data = ground.inspect()["git_data"].to_string();
        assert!(data.contains("cannot be compared"), "{way:?} {data}");
        assert_eq!(ground.world.run(&["shadow", "discard"]).code, Some(2), "{way:?}");
    }
}

#[test]
fn wsp_5_a_shadow_is_nothing_that_a_plain_rollback_goes_back_to() {
    let ground = Ground::new();
    let asked = ground.aur(&["checkpoint", "--json"]).json();
    ground.write("b.txt", "edited\n");
    ground.shadow(Way::Copy, "echo x > x").unwrap();
    ground.aur(&["shadow", "promote"]);
    let plan = ground.aur(&["rollback", "--dry-run", "--json"]).json();
    assert_eq!(plan["to"], asked["checkpoint_id"], "{plan}");
    ground.aur(&["rollback", "--undo", "--yes"]);
    assert_eq!((ground.read("x"), ground.read("b.txt").as_deref()), (None, Some("edited\n")));
}

#[test]
fn wsp_5_a_shadow_has_no_shadows_of_its_own_and_its_number_is_never_given_again() {
    for way in ALL {
        let ground = Ground::new();
        let script = format!("{} shadow list; {} shadow create", AUR, AUR);
        let Some(run) = ground.shadow(way, &script) else { continue };
        assert_eq!(run.code, Some(1), "{way:?} {run:?}");
        assert!(run.stderr.contains("this runs inside shadow-001-"), "{way:?} {run:?}");
        ground.aur(&["shadow", "discard", "--yes"]);
        let made = ground.aur(&["shadow", "create", "--json"]).json();
        assert!(made["shadow"].as_str().unwrap().starts_with("shadow-002-"), "{way:?} {made}");
    }
}

#[test]
fn wsp_5_cleaning_up_never_takes_open_shadows_of_another_worktree() {
    let ground = Ground::linked();
    ground.shadow(Way::Copy, "echo x > x").unwrap();
    let Ground { world, .. } = ground;
    let world = world.at("repo");
    let run = world.run(&["shadow", "cleanup", "--all", "--yes"]);
    assert!(run.stdout.contains("of another worktree ([DIR]/linked)"), "{run:?}");
    let ground = Ground { world: world.at("linked"), at: "linked" };
    assert_eq!(ground.changes(), ["added x"]);
    ground.aur(&["shadow", "cleanup", "--all", "--yes"]);
    assert_eq!(ground.world.list("home/.local/state/aurora/shadows"), [""; 0]);
}

#[test]
fn wsp_5_a_dry_run_shows_violations_and_a_merge_shows_its_conflicts() {
    let ground = Ground::new();
    ground.shadow(Way::Copy, "ln -s /etc/passwd out; echo mine > b.txt").unwrap();
    let run = ground.aur(&["shadow", "promote", "--dry-run"]);
    assert!(run.stdout.contains("error: out: "), "{run:?}");
    ground.write("b.txt", "theirs\n");
    let args = ["shadow", "promote", "--merge", "--accept-violations"];
    let run = ground.world.run(&args);
    assert_eq!(run.code, Some(1), "{run:?}");
    let lines = ["<<<<<<< worktree", "theirs", "||||||| base", "b", "=======", "mine"];
    let hunk: String = lines.iter().map(|line| format!("      {line}\n")).collect();
    assert!(run.stdout.contains(&format!("{hunk}      >>>>>>> shadow\n")), "{run:?}");
    assert!(!run.stderr.contains("--merge"), "{run:?}");
}

#[test]
fn wsp_5_a_user_without_privileges_has_overlays_too() {
    let ground = Ground::new();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let able = Command::new("setpriv").args(&nobody[1..]).arg("true").output();
    if !able.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: setpriv cannot become another user here");
        return;
    }
    // The program may lie where another user cannot reach it.
    let program = ground.world.path("aur");
    std::fs::copy(env!("CARGO_BIN_EXE_aur"), &program).unwrap();
    let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(&ground.world.dir).status();
    assert!(owned.unwrap().success());
    let aur = |args: &[&str]| {
        let mut command = Command::new(nobody[0]);
        command.args(&nobody[1..]).arg(&program).args(args).current_dir(ground.root());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", ground.world.path("home")).stdin(Stdio::null());
        command.output().unwrap()
    };
    let script =
        format!("rm -r d; echo x >> a.txt; {COMMIT} -am x; id -u; umount \"$PWD\" && exit 9; pwd");
    let output = aur(&["shadow", "run", "--strategy", "overlay", "--", "sh", "-euc", &script]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("does not work here") {
        eprintln!("SKIPPED: no user namespaces: {said}");
        return;
    }
    assert!(output.status.success(), "{output:?}");
    assert!(said.contains("overlay in a user namespace"), "{said}");
    let seen = format!("65534\n{}\n", ground.root().display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), seen);
    assert_eq!(ground.read("a.txt").unwrap().lines().count(), 5);
    let output = aur(&["shadow", "promote", "--json"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(ground.read("a.txt").unwrap().lines().count(), 6);
    assert!(!ground.root().join("d").exists());
    let output = aur(&["shadow", "run", "--", "sh", "-c", "mkdir -m 000 shut; echo x > x"]);
    assert!(output.status.success(), "{output:?}");
    let output = aur(&["shadow", "discard", "--yes"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn wsp_5_a_commit_in_a_repository_inside_moves_nothing_real() {
    let ground = Ground::new();
    let other = ground.world.path("other");
    std::fs::create_dir(&other).unwrap();
    let home = ground.world.path("home");
    for args in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["commit", "--quiet", "--allow-empty", "-m", "first"],
    ] {
        assert!(git(&other, &home, args).status.success());
    }
    ground.git(&["submodule", "--quiet", "add", "../other", "sub"]);
    ground.git(&["commit", "--quiet", "-m", "with a submodule"]);
    // A linked worktree of another repository: its `.git` leads out of this worktree.
    let far = ground.root().join("far");
    let args = ["worktree", "add", "--quiet", "-b", "far", far.to_str().unwrap()];
    assert!(git(&other, &home, &args).status.success());
    let heads = |ground: &Ground| {
        let head = |at: &Path| git(at, &home, &["log", "--all", "--format=%H %s"]).stdout;
        (head(&ground.root().join("sub")), head(&far), head(&other), ground.state())
    };
    let before = heads(&ground);
    for way in OVERLAYS {
        let script = format!(
            "cd sub; echo s > s; git add s; {COMMIT} -m s; cd ../far; echo f > f; git add f
             {COMMIT} -m f; git log --oneline"
        );
        let Some(run) = ground.shadow(way, &script) else { continue };
        assert_eq!(run.code, Some(0), "{way:?} {run:?}");
        assert_eq!(heads(&ground), before, "{way:?}");
        assert_eq!(ground.changes(), ["added far/f", "added sub/s"], "{way:?}");
        ground.aur(&["shadow", "discard", "--yes"]);
    }
    let run =
        ground.shadow(Way::Copy, "test ! -e far/.git; test ! -e sub/.git; echo x > sub/x").unwrap();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(heads(&ground), before);
    assert_eq!(ground.changes(), ["added sub/x"]);
    let notes = ground.inspect()["notes"].to_string();
    assert!(notes.contains("far/.git is left out") && notes.contains("sub/.git"), "{notes}");
}

/// Numbers that come in no order, the same for the same beginning.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

const KILLS: u32 = 30;
const MOST_KILLS: u32 = 200;

#[test]
fn wsp_5_a_promotion_that_is_killed_is_whole_or_not_there_after_the_next_command() {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = std::env::var("AURORA_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or(since.as_secs());
    eprintln!("AURORA_TEST_SEED={seed}");
    let mut dice = Dice(seed);
    let ground = Ground::new();
    let script = "for i in $(seq 1 300); do echo $i > n$i; done; rm -r d; echo x >> a.txt";
    let mut ways = vec![Way::Overlay, Way::Copy];
    // How long a promotion takes that nobody kills.
    let mut whole_ms = u64::MAX;
    ways.retain(|way| {
        let is_able = ground.shadow(*way, script).is_some();
        if is_able {
            let began = Instant::now();
            ground.aur(&["shadow", "promote"]);
            let took = u64::try_from(began.elapsed().as_millis()).unwrap().max(1);
            whole_ms = whole_ms.min(took);
            tidy(&ground);
        }
        is_able
    });
    let (mut healed, mut round) = (0, 0);
    while round < KILLS || healed == 0 {
        assert!(round < MOST_KILLS, "seed {seed}: no kill in {round} came in the middle");
        let way = ways[usize::try_from(round).unwrap() % ways.len()];
        healed += u32::from(kill_one(&ground, way, script, dice.below(whole_ms * 1000), seed));
        round += 1;
    }
    eprintln!("{healed} of {round} kills came in the middle");
}

fn tidy(ground: &Ground) {
    ground.git(&["checkout", "--quiet", "--", "."]);
    ground.git(&["clean", "-fdq"]);
}

/// Kills a promotion after some microseconds; whether the next command had something to heal.
fn kill_one(ground: &Ground, way: Way, script: &str, after_us: u64, seed: u64) -> bool {
    let at = format!("seed {seed}, {way:?}, killed after {after_us} us");
    ground.shadow(way, script).unwrap();
    let before = listing(&ground.root());
    let mut child = ground.world.command(&["shadow", "promote"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_micros(after_us);
    while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let has_healed = ground.aur(&["checkpoint"]).stderr.contains("left half-done");
    let now = listing(&ground.root());
    let is_whole = (1..=300).all(|i| ground.read(&format!("n{i}")) == Some(format!("{i}\n")))
        && ground.read("d/g").is_none()
        && !ground.root().join("d").exists()
        && ground.read("a.txt").unwrap().lines().count() == 6;
    assert!(now == before || is_whole, "{at}: half a promotion");
    // What is left goes now, or nothing is left.
    if now == before {
        ground.aur(&["shadow", "promote"]);
    }
    assert_eq!(ground.read("a.txt").unwrap().lines().count(), 6, "{at}");
    let open = ground.aur(&["shadow", "list", "--json"]).json();
    if open["shadows"][0]["status"] == "open" {
        assert_eq!(ground.changes(), [""; 0], "{at}");
        ground.aur(&["shadow", "discard"]);
    }
    tidy(ground);
    has_healed
}
