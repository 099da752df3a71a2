//! Readers of local wrappers whose arguments fit no table.

use aurora_model::Touch;

use super::local::SUDO;
use super::read::{Front, with_assignments};
use super::row::opts;
use crate::analysis::shell::command::options::{Spec, Style};
use crate::analysis::shell::command::step::{Step, split_words};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Stream};

const ENV: Spec = Spec {
    long_flags: &["ignore-environment", "null", "debug", "help", "version", "list-signal-handling"],
    long_optional: &["block-signal", "default-signal", "ignore-signal"],
    ..opts("uCSP", &["unset", "chdir", "split-string", "argv0"])
};

const SU: Spec = Spec {
    style: Style::Permute,
    ..opts(
        "cgGswCTu",
        &[
            "command",
            "session-command",
            "group",
            "supp-group",
            "shell",
            "whitelist-environment",
            "user",
        ],
    )
};

/// Whether `sudo -e` is what sudoedit is.
pub fn is_edit(call: &Call<'_>) -> bool {
    SUDO.parse(call.args).has('e', "edit")
}

/// `sudoedit FILE…` changes the files.
pub fn edits(call: &Call<'_>) -> Vec<Step> {
    let change = |target: &&Field| Step::Change {
        target: (*target).clone(),
        touch: Touch::Write,
        recursive: false,
    };
    SUDO.parse(call.args).operands.iter().map(change).collect()
}

/// `env [OPTIONS] [NAME=VALUE…] COMMAND…`.
pub fn env(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&ENV, call.args, 0, false);
    let split = front.opts.iter().find(|opt| opt.name.is('S', "split-string"));
    let mut steps = match split.and_then(|opt| opt.value.clone().zip(Some(opt))) {
        Some((line, opt)) => {
            let Some(text) = line.text() else {
                return vec![Step::Code(line)];
            };
            let mut argv = vec![Field::lit("env", line.span)];
            argv.extend(split_words(text).into_iter().map(|word| Field::lit(word, line.span)));
            // Everything behind the string belongs to it, options too.
            let alone = opt.field.is("-S") || opt.field.is("--split-string");
            argv.extend(call.args.iter().skip(opt.index + if alone { 2 } else { 1 }).cloned());
            vec![Step::Run(vec![], argv)]
        }
        // A lone dash means an empty environment.
        None if front.rest.first().is_some_and(|first| first.is("-")) => {
            with_assignments(front.rest.get(1..).unwrap_or_default())
        }
        None => with_assignments(front.rest),
    };
    if let Some(dir) = front.values(&[('C', "chdir")]).pop() {
        steps = vec![Step::InDir(dir, steps)];
    }
    steps
}

/// `script -c CODE FILE` (Linux), `script FILE COMMAND…` (BSD).
pub fn script(call: &Call<'_>) -> Vec<Step> {
    let spec = Spec {
        short_optional: "t",
        long_optional: &["timing"],
        ..opts(
            "cEIOBTom",
            &[
                "command",
                "echo",
                "log-in",
                "log-out",
                "log-io",
                "log-timing",
                "output-limit",
                "logging-format",
            ],
        )
    };
    let front = Front::read(&spec, call.args, 1, true);
    let mut steps: Vec<Step> = front
        .skipped
        .iter()
        .filter(|file| !file.is("/dev/null"))
        .map(|file| Step::Change { target: (*file).clone(), touch: Touch::Write, recursive: false })
        .collect();
    let codes = front.values(&[('c', "command")]);
    let coded = !codes.is_empty();
    steps.extend(codes.into_iter().map(Step::Code));
    if !front.rest.is_empty() && !coded {
        steps.push(Step::Run(vec![], front.rest.to_vec()));
    } else if !coded && *call.stdin != Stream::Terminal {
        steps.push(Step::StdinCode);
    }
    steps
}

/// `su [-] [USER] -c CODE`, `runuser -u USER -- COMMAND…`.
pub fn su(call: &Call<'_>) -> Vec<Step> {
    let parsed = SU.parse(call.args);
    let mut codes = parsed.values('c', "command");
    codes.extend(parsed.values('\0', "session-command"));
    if !codes.is_empty() {
        return codes.into_iter().cloned().map(Step::Code).collect();
    }
    if call.name == "runuser" && parsed.has('u', "user") {
        let front = Front::read(&Spec { style: Style::StopAtOperand, ..SU }, call.args, 0, false);
        return if front.rest.is_empty() {
            Vec::new()
        } else {
            vec![Step::Run(vec![], front.rest.to_vec())]
        };
    }
    let operands: Vec<&&Field> = parsed.operands.iter().filter(|word| !word.is("-")).collect();
    match operands.as_slice() {
        // What follows the user are arguments of the user's shell.
        [_, rest @ ..] if !rest.is_empty() => {
            let mut argv = vec![Field::lit("sh", call.span)];
            argv.extend(rest.iter().map(|field| (**field).clone()));
            vec![Step::Run(vec![], argv)]
        }
        _ if *call.stdin != Stream::Terminal => vec![Step::StdinCode],
        _ => Vec::new(),
    }
}

/// bubblewrap's options take up to three values each.
pub fn bwrap(call: &Call<'_>) -> Vec<Step> {
    let mut rest = call.args;
    while let Some((first, after)) = rest.split_first() {
        let Some(name) = first.text().filter(|text| text.starts_with("--")) else { break };
        let count = match name {
            "--bind" | "--bind-try" | "--dev-bind" | "--dev-bind-try" | "--ro-bind"
            | "--ro-bind-try" | "--symlink" | "--setenv" | "--file" | "--bind-data"
            | "--ro-bind-data" | "--chmod" | "--bind-fd" | "--ro-bind-fd" | "--overlay-src2" => 2,
            "--overlay" => 3,
            "--args" | "--argv0" | "--userns" | "--userns2" | "--pidns" | "--uid" | "--gid"
            | "--hostname" | "--chdir" | "--unsetenv" | "--lock-file" | "--sync-fd"
            | "--remount-ro" | "--exec-label" | "--file-label" | "--proc" | "--dev" | "--tmpfs"
            | "--mqueue" | "--dir" | "--seccomp" | "--add-seccomp-fd" | "--block-fd"
            | "--userns-block-fd" | "--info-fd" | "--json-status-fd" | "--cap-add"
            | "--cap-drop" | "--perms" | "--size" | "--overlay-src" | "--tmp-overlay"
            | "--ro-overlay" => 1,
            "--" => {
                rest = after;
                break;
            }
            _ => 0,
        };
        rest = after.get(count..).unwrap_or_default();
    }
    if rest.is_empty() { Vec::new() } else { vec![Step::Run(vec![], rest.to_vec())] }
}

/// `capsh … -- ARGS`: the arguments are bash's.
pub fn capsh(call: &Call<'_>) -> Vec<Step> {
    let Some(at) = call.args.iter().position(|arg| arg.is("--") || arg.is("==")) else {
        return Vec::new();
    };
    let mut argv = vec![Field::lit("bash", call.span)];
    argv.extend(call.args.iter().skip(at + 1).cloned());
    vec![Step::Run(vec![], argv)]
}

/// `gdb --args COMMAND…`, `lldb -- COMMAND…`.
pub fn debugger(call: &Call<'_>) -> Vec<Step> {
    let start =
        call.args.iter().position(|arg| arg.is("--args") || arg.is("-args") || arg.is("--"));
    let mut steps: Vec<Step> = match start.and_then(|at| call.args.get(at + 1..)) {
        Some(argv) if !argv.is_empty() => vec![Step::Run(vec![], argv.to_vec())],
        _ => Vec::new(),
    };
    // `-ex 'shell CODE'`, `-o 'platform shell CODE'`.
    for arg in call.args.iter().take(start.unwrap_or(call.args.len())) {
        let code = ["shell ", "!", "platform shell ", "pipe "]
            .iter()
            .find_map(|verb| arg.strip_prefix(verb));
        steps.extend(code.map(Step::Code));
    }
    steps
}

/// `setarch [ARCH] [OPTIONS] COMMAND…`: the architecture may be left out.
pub fn setarch(call: &Call<'_>) -> Vec<Step> {
    let known =
        ["linux", "i386", "i486", "i586", "i686", "x86_64", "aarch64", "arm", "uname", "ppc"];
    let named = call
        .args
        .first()
        .is_some_and(|first| known.iter().any(|arch| first.prefix().starts_with(arch)));
    let front = Front::read(&opts("", &["pid"]), call.args, usize::from(named), named);
    if front.rest.is_empty() { Vec::new() } else { vec![Step::Run(vec![], front.rest.to_vec())] }
}
