//! A disk that is full when something is to be recorded: said clearly, and nothing is lost.

use std::process::Command;

use super::Scratch;

/// Everything happens in a mount namespace of its own, whose `.aurora` has few megabytes.
const SCRIPT: &str = r#"
set -u
cp -r .aurora ../settings
mount -t tmpfs -o size=6m tmpfs .aurora || exit 77
cp ../settings/* .aurora/
"$AUR" spawn ../tasks.md --yes > ../first.out 2> ../first.err; echo $? > ../first.code
ls -l .aurora >> ../first.out
rm -f .aurora/fill
"$AUR" audit verify > ../verify.out 2>&1; echo $? > ../verify.code
run=$("$AUR" spawn --list-checkpoints --json | grep -o 'spawn-[0-9]*' | head -1)
"$AUR" spawn --resume "$run" --yes > ../second.out 2>&1; echo $? > ../second.code
"$AUR" audit verify > ../last.out 2>&1; echo $? > ../last.code
"#;

/// OBS-1, EXE-5: a full disk ends the run with a clear message and exit 1; nothing is corrupt, and it is
/// resumed when there is room.
#[test]
fn a_full_disk_is_told_and_the_run_is_resumed_when_there_is_room() {
    let tasks = "# Full\n- [ ] First <!-- id: a -->\n- [ ] Fill <!-- id: b, depends-on: a -->\n\
                 - [ ] Last <!-- id: c, depends-on: b -->\n";
    let scratch = Scratch::new("", tasks);
    let fill = scratch.world.path("repo/.aurora/fill");
    let done = scratch.world.path("filled");
    let (fill, done) = (fill.display(), done.display());
    scratch.world.write(
        "repo/.aurora/scenario.yaml",
        &format!(
            "tasks:\n  a: [{{append: {{path: a.txt, text: a}}}}]\n  b: [{{append: {{path: b.txt, text: b}}}}, \
             {{run: [bash, -c, '[ -e {done} ] || cat /dev/zero > {fill}; touch {done}; true']}}, \
             {{flood: {{bytes: 200000}}}}]\n  \
             c: [{{append: {{path: c.txt, text: c}}}}]\n"
        ),
    );
    let aur = scratch.world.command::<&str>(&[]);
    let mut command = Command::new("unshare");
    command.args(["-rm", "bash", "-c", SCRIPT]).current_dir(scratch.world.path("repo"));
    command.env_clear().env("AUR", aur.get_program());
    command.envs(aur.get_envs().filter_map(|(name, value)| Some((name, value?))));
    match command.output() {
        Ok(output) if output.status.success() => {}
        output => {
            eprintln!("SKIPPED: a small disk cannot be mounted here: {output:?}");
            return;
        }
    }
    let read = |name: &str| scratch.world.read(name);
    assert_eq!(read("first.code"), "1\n", "{} {}", read("first.out"), read("first.err"));
    let said = read("first.err");
    assert!(said.contains("full") && said.contains("hint:"), "{said}");
    assert_eq!(read("verify.code"), "0\n", "{}", read("verify.out"));
    assert_eq!(read("second.code"), "0\n", "{}", read("second.out"));
    assert_eq!(read("last.code"), "0\n", "{}", read("last.out"));
    for name in ["a", "b", "c"] {
        assert_eq!(scratch.work("full", &format!("{name}.txt")), name);
    }
    assert_eq!(read("tasks.md"), tasks.replace("[ ]", "[x]"));
    scratch.nothing_is_left_now();
}
