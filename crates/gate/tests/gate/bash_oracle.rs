//! bash as oracle: whatever a generated line really executes must have been predicted.
//!
//! Lines are made of commands that exist only as recording shims in a temporary folder, which is
//! all that PATH names, so nothing else can run.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use aurora_gate::analysis::{Analysis, shell};
use aurora_model::Context;

const SHIMS: [&str; 6] = ["alpha", "beta", "gamma", "git", "rm", "psql"];
/// Programs of the system that lines are made with, besides bash itself.
const TOOLS: [&str; 6] = ["cat", "env", "nice", "nohup", "timeout", "xargs"];
const LINES: u64 = 400;

/// What makes everything from its line on unreadable, and not what stands on the lines before.
const BROKEN: [&str; 12] = [
    "fi",
    ")",
    "done",
    ";;",
    "esac",
    "| alpha",
    "&& alpha x",
    "alpha 'never closed",
    "alpha \"$(beta\"",
    "if true; then alpha",
    "{ alpha; beta",
    "for in do",
];

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

/// A command of any kind, without the tools that this machine lacks.
fn command(dice: &mut Dice, depth: u64, missing: &[&str]) -> String {
    if depth == 0 {
        return simple(dice);
    }
    let inner = |dice: &mut Dice| command(dice, depth - 1, missing);
    let with = |dice: &mut Dice, tool: &str, before: &str| {
        let plain = simple(dice);
        if missing.contains(&tool) { plain } else { format!("{before} {plain}") }
    };
    let quote = |text: String| format!("'{}'", text.replace('\'', r"'\''"));
    match dice.roll(26) {
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
        10 => with(dice, "env", "env W=1"),
        11 => with(dice, "timeout", "timeout 5"),
        12 => with(dice, "nice", "nice -n 1"),
        13 => with(dice, "xargs", "echo s1 s2 | xargs"),
        14 => format!("f() {{ {}; }}; f one 'two three'", inner(dice).replace("$V", "\"$2\"")),
        15 => format!("V=new; {}", inner(dice)),
        16 => format!("alpha \"$({})\"", inner(dice)),
        17 => format!("{{ bash <<'E{depth}'\n{}\nE{depth}\n}}", inner(dice)),
        18 => format!("echo {} | bash", quote(simple(dice))),
        19 => format!("trap {} EXIT", quote(simple(dice))),
        20 => format!("while {}; do break; done", inner(dice)),
        21 => format!("[[ -n x ]] && {}", inner(dice)),
        22 => format!("command {}", simple(dice)),
        23 => with(dice, "nohup", "nohup"),
        24 if !missing.contains(&"cat") => {
            format!("{{ cat <<'E{depth}' | bash\n{}\nE{depth}\n}}", inner(dice))
        }
        _ => simple(dice),
    }
}

/// The folder in which lines run, and what could not be put there.
struct Place {
    folder: tempfile::TempDir,
    missing: Vec<&'static str>,
}

/// Where PATH has a program.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        let bash =
            found("bash").unwrap_or_else(|| panic!("bash is the oracle, and it is not on PATH"));
        let script = format!(
            "#!{}\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" $'\\x01' >> \"$ORACLE_LOG\"\n",
            bash.display()
        );
        for shim in SHIMS {
            let path = bin.join(shim);
            fs::write(&path, &script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::os::unix::fs::symlink(bash, bin.join("bash")).unwrap();
        let mut missing = Vec::new();
        for tool in TOOLS {
            match found(tool) {
                Some(real) => std::os::unix::fs::symlink(real, bin.join(tool)).unwrap(),
                None => missing.push(tool),
            }
        }
        Self { folder, missing }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn context(&self) -> Context {
        let home = self.home().display().to_string();
        Context {
            cwd: Some(home.clone()),
            root: Some(home.clone()),
            home: Some(home),
            ..Context::default()
        }
    }

    /// Whatever bash executes with these arguments, and the number it ends with.
    fn executed(&self, args: &[&str]) -> (Vec<Vec<String>>, Option<i32>) {
        let log = self.folder.path().join("log");
        fs::write(&log, "").unwrap();
        let bin = self.folder.path().join("bin");
        let status = Command::new(bin.join("bash"))
            .args(args)
            .env_clear()
            .env("PATH", &bin)
            .env("HOME", self.home())
            .env("ORACLE_LOG", &log)
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
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
        (all, status.code())
    }
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

/// Every executed command is among the predicted ones.
fn assert_predicted(analysis: &Analysis, executed: &[Vec<String>], text: &str) {
    for argv in executed {
        let found = analysis.commands.iter().any(|simple| {
            let base = simple.argv.first().cloned().flatten();
            base.is_some() && fits(&simple.argv, argv)
        });
        assert!(found, "not predicted: {argv:?}\nin: {text}\nfound: {:#?}", analysis.commands);
    }
}

const SETUP: &str = "V=value; A=('a 1' b);";

#[test]
fn pol_8_bash_executes_nothing_that_was_not_predicted() {
    let place = Place::new();
    for tool in &place.missing {
        eprintln!("SKIPPED: {tool} is not on PATH, what bash does with it is not compared");
    }
    let mut dice = Dice(0x5eed_cafe_f00d_d00d);
    let mut executions = 0;
    for _ in 0..LINES {
        let depth = dice.roll(3);
        let line = format!("{SETUP} {}", command(&mut dice, depth, &place.missing));
        let analysis = shell::analyse(&line, &place.context());
        let (executed, status) = place.executed(&["-c", &line]);
        assert!(status.is_some_and(|code| code != 2), "bash does not accept: {line}");
        assert_predicted(&analysis, &executed, &line);
        executions += executed.len();
    }
    assert!(executions > 300, "only {executions} executions");
}

/// Several commands, each on a line of its own, and mostly something after them that is no shell.
fn broken_off(dice: &mut Dice, missing: &[&str]) -> String {
    let mut text = SETUP.to_owned();
    for _ in 0..=dice.roll(3) {
        let depth = dice.roll(3);
        let _ = write!(text, "\n{}", command(dice, depth, missing));
    }
    let _ = write!(text, "\n{}\n", dice.pick(&BROKEN));
    if dice.roll(2) == 0 {
        text.push_str("beta after\n");
    }
    text
}

#[test]
fn pol_8_lines_before_a_syntax_error_are_predicted() {
    let place = Place::new();
    let mut dice = Dice(0xdead_5eed_0b5e_55ed);
    let mut executions = 0;
    for _ in 0..LINES / 2 {
        let text = broken_off(&mut dice, &place.missing);
        let analysis = shell::analyse(&text, &place.context());
        let (executed, _) = place.executed(&["-c", &text]);
        assert_predicted(&analysis, &executed, &text);
        executions += executed.len();
    }
    assert!(executions > 150, "only {executions} executions");
}

#[test]
fn pol_8_what_a_script_file_executes_is_predicted() {
    let place = Place::new();
    let mut dice = Dice(0x5c41_97ed_f11e_0001);
    let mut executions = 0;
    for number in 0..LINES / 2 {
        let mut text = "#!/usr/bin/env bash\n".to_owned();
        if number % 4 == 0 {
            text.push_str(&broken_off(&mut dice, &place.missing));
        } else {
            for _ in 0..=dice.roll(3) {
                let depth = dice.roll(3);
                let line = command(&mut dice, depth, &place.missing);
                let _ = writeln!(text, "{SETUP} {line} \"$1\"");
            }
        }
        fs::write(place.home().join("made.sh"), &text).unwrap();
        let mut context = place.context();
        let line = "bash made.sh 'first one' second";
        // The gate names the file that it wants to see, and gets it under that name.
        for name in shell::analyse(line, &context).wanted {
            assert!(name.ends_with("made.sh"), "it wants {name}");
            context.files.insert(name, text.clone());
        }
        let analysis = shell::analyse(line, &context);
        let (executed, _) = place.executed(&["made.sh", "first one", "second"]);
        assert_predicted(&analysis, &executed, &text);
        executions += executed.len();
    }
    assert!(executions > 250, "only {executions} executions");
}
