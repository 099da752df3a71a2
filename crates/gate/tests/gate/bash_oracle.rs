//! bash as oracle: whatever a generated line really executes must have been predicted.
//!
//! Lines are made of commands that exist only as recording shims in a temporary folder, which is
//! all that PATH names, so nothing else can run.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use aurora_gate::analysis::shell;
use aurora_model::Context;

const SHIMS: [&str; 6] = ["alpha", "beta", "gamma", "git", "rm", "psql"];
const REAL: [&str; 8] = ["bash", "sh", "env", "xargs", "timeout", "nice", "nohup", "cat"];
const LINES: u64 = 400;

/// A small generator of random numbers: the same seed gives the same lines on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.roll(from.len() as u64)).unwrap()]
    }
}

fn word(dice: &mut Dice) -> String {
    let plain = ["x", "-rf", "main", "--force", "a.txt", "+ref", "..", "w1", "y=z"];
    match dice.roll(16) {
        0..=4 => dice.pick(&plain).to_owned(),
        5 => "'single quoted; rm x'".to_owned(),
        6 => "\"double $V $(echo in)\"".to_owned(),
        7 => r"$'\x72\155\t'".to_owned(),
        8 => r"esc\ aped\;".to_owned(),
        9 => "{a,b}c".to_owned(),
        10 => "$V".to_owned(),
        11 => "\"${A[@]}\"".to_owned(),
        12 => "${V%e}${V:0:2}".to_owned(),
        13 => "$(echo one two)".to_owned(),
        14 => "pre\"mid dle\"'post'".to_owned(),
        _ => "`echo back`{1..3}".to_owned(),
    }
}

fn simple(dice: &mut Dice) -> String {
    let mut line = dice.pick(&SHIMS).to_owned();
    if dice.roll(8) == 0 {
        line = format!("\\{line}");
    }
    for _ in 0..dice.roll(4) {
        let _ = write!(line, " {}", word(dice));
    }
    line
}

fn command(dice: &mut Dice, depth: u64) -> String {
    if depth == 0 {
        return simple(dice);
    }
    let inner = |dice: &mut Dice| command(dice, depth - 1);
    let quote = |text: String| format!("'{}'", text.replace('\'', r"'\''"));
    match dice.roll(24) {
        0 => format!("{}; {}", inner(dice), inner(dice)),
        1 => format!("{} && {}", inner(dice), inner(dice)),
        2 => format!("{} | {}", inner(dice), inner(dice)),
        3 => format!("({})", inner(dice)),
        4 => format!("{{ {}; }}", inner(dice)),
        5 => format!("if {}; then {}; fi", inner(dice), inner(dice)),
        6 => format!("for V in p 'q r'; do {}; done", inner(dice)),
        7 => format!("case x in x) {};; esac", inner(dice)),
        8 => format!("bash -c {}", quote(inner(dice))),
        9 => format!("eval {}", quote(inner(dice))),
        10 => format!("env W=1 {}", simple(dice)),
        11 => format!("timeout 5 {}", simple(dice)),
        12 => format!("nice -n 1 {}", simple(dice)),
        13 => format!("echo s1 s2 | xargs {}", simple(dice)),
        14 => format!("f() {{ {}; }}; f one 'two three'", inner(dice).replace("$V", "\"$2\"")),
        15 => format!("V=new; {}", inner(dice)),
        16 => format!("alpha \"$({})\"", inner(dice)),
        17 => format!("{{ bash <<'END'\n{}\nEND\n}}", inner(dice)),
        18 => format!("echo {} | bash", quote(simple(dice))),
        19 => format!("trap {} EXIT", quote(simple(dice))),
        20 => format!("while {}; do break; done", inner(dice)),
        21 => format!("[[ -n x ]] && {}", inner(dice)),
        22 => format!("command {}", simple(dice)),
        _ => simple(dice),
    }
}

fn prepare(folder: &Path) {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(folder.join("home")).unwrap();
    for shim in SHIMS {
        let path = bin.join(shim);
        let script =
            "#!/bin/bash\nprintf '%s\\0' \"${0##*/}\" \"$@\" $'\\x01' >> \"$ORACLE_LOG\"\n";
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for tool in REAL {
        let real =
            ["/usr/bin", "/bin"].iter().map(|dir| Path::new(dir).join(tool)).find(|p| p.exists());
        std::os::unix::fs::symlink(real.unwrap(), bin.join(tool)).unwrap();
    }
}

fn executed(folder: &Path, line: &str) -> Vec<Vec<String>> {
    let log = folder.join("log");
    fs::write(&log, "").unwrap();
    let bin = folder.join("bin");
    let status = Command::new(bin.join("bash"))
        .args(["-c", line])
        .env_clear()
        .env("PATH", &bin)
        .env("HOME", folder.join("home"))
        .env("ORACLE_LOG", &log)
        .current_dir(folder.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.code().is_some_and(|code| code != 2), "bash does not accept: {line}");
    let log = String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
    let mut all = Vec::new();
    let mut current = Vec::new();
    for word in log.split('\0') {
        if word == "\u{1}" {
            all.push(std::mem::take(&mut current));
        } else {
            current.push(word.to_owned());
        }
    }
    all
}

/// Whether a prediction with unknown words (each of them none or several) allows for this argv.
fn fits(predicted: &[Option<String>], real: &[String]) -> bool {
    match (predicted.split_first(), real.split_first()) {
        (None, None) => true,
        (Some((None, rest)), _) => (0..=real.len()).any(|skip| fits(rest, &real[skip..])),
        (Some((Some(word), rest)), Some((first, more))) => word == first && fits(rest, more),
        _ => false,
    }
}

#[test]
fn pol_8_bash_executes_nothing_that_was_not_predicted() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let home = folder.path().join("home").display().to_string();
    let context = Context {
        cwd: Some(home.clone()),
        root: Some(home.clone()),
        home: Some(home),
        ..Context::default()
    };
    let mut dice = Dice(0x5eed_cafe_f00d_d00d);
    let mut executions = 0;
    for _ in 0..LINES {
        let depth = dice.roll(3);
        let line = format!("V=value; A=('a 1' b); {}", command(&mut dice, depth));
        let analysis = shell::analyse(&line, &context);
        for argv in executed(folder.path(), &line) {
            executions += 1;
            let found = analysis.commands.iter().any(|simple| {
                let base = simple.argv.first().cloned().flatten();
                base.is_some() && fits(&simple.argv, &argv)
            });
            assert!(found, "not predicted: {argv:?}\nin: {line}\nfound: {:#?}", analysis.commands);
        }
    }
    assert!(executions > 300, "only {executions} executions");
}
