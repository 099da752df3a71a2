//! Programs that change permissions, owners and attributes.

use aurora_model::Touch;

use super::super::options::{OptName, Spec};
use super::super::place::only_informs;
use crate::analysis::shell::machine::{Call, Machine, Stream};

const CHMOD: Spec = Spec {
    long_values: &["reference", "from"],
    long_flags: &[
        "changes",
        "dereference",
        "help",
        "no-dereference",
        "no-preserve-root",
        "preserve-root",
        "quiet",
        "recursive",
        "silent",
        "verbose",
        "version",
    ],
    ..Spec::FLAGS
};

/// `chmod`: the first operand is the mode, unless it looks like an option (`-x`) or is a reference.
pub fn mode(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = CHMOD.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let given = parsed.has('\0', "reference")
        || parsed
            .opts
            .iter()
            .any(|opt| matches!(opt.name, OptName::Short(letter) if "rwxXstugoa".contains(letter)));
    for operand in parsed.operands.iter().skip(usize::from(!given)) {
        machine.change(operand, Touch::Mode, parsed.has('R', "recursive"));
    }
    Stream::Terminal
}

/// `chown`, `chgrp` and others whose first operand says what to set.
pub fn owner(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const CHCON: Spec = Spec {
        short_values: "urtl",
        long_values: &["reference", "user", "role", "type", "range"],
        long_flags: CHMOD.long_flags,
        ..Spec::FLAGS
    };
    let spec = if call.name == "chcon" { CHCON } else { CHMOD };
    let parsed = spec.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let given = parsed.has('\0', "reference")
        || (call.name == "chcon" && parsed.opts.iter().any(|opt| opt.value.is_some()));
    for operand in parsed.operands.iter().skip(usize::from(!given)) {
        machine.change(operand, Touch::Owner, parsed.has('R', "recursive"));
    }
    Stream::Terminal
}

/// `chattr`: modes start with `+`, `-` or `=`.
pub fn chattr(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "vp", ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    for operand in &parsed.operands {
        if !operand.prefix().starts_with(['+', '=']) {
            machine.change(operand, Touch::Mode, parsed.has('R', ""));
        }
    }
    Stream::Terminal
}

/// `setfacl`.
pub fn acl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "mxMXs",
        long_values: &[
            "modify",
            "remove",
            "modify-file",
            "remove-file",
            "set",
            "set-file",
            "restore",
        ],
        long_flags: &["remove-all", "remove-default", "recursive", "test", "help", "version"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('\0', "test") {
        return Stream::Terminal;
    }
    for operand in &parsed.operands {
        machine.change(operand, Touch::Mode, parsed.has('R', "recursive"));
    }
    Stream::Terminal
}
