//! Wrappers that run a command here: other users, limits, tracing, namespaces.

use super::reader::{bwrap, capsh, debugger, edits, env, script, setarch, su};
use super::row::{Inner, Shell, Wrapper, opts, row, special, sub};
use crate::analysis::shell::command::options::{Spec, Style};

/// The options of sudo, which sudoedit shares.
pub const SUDO: Spec = Spec {
    long_optional: &["preserve-env"],
    long_flags: &[
        "askpass",
        "background",
        "bell",
        "edit",
        "set-home",
        "help",
        "login",
        "remove-timestamp",
        "reset-timestamp",
        "list",
        "non-interactive",
        "preserve-groups",
        "stdin",
        "shell",
        "version",
        "validate",
        "no-update",
    ],
    ..opts(
        "aCcDghpRrtTUu",
        &[
            "auth-type",
            "close-from",
            "login-class",
            "chdir",
            "group",
            "host",
            "prompt",
            "chroot",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "user",
        ],
    )
};

const STRACE: Spec = opts(
    "abeEIoOpPsSuUX",
    &[
        "columns",
        "detach-on",
        "env",
        "interruptible",
        "output",
        "summary-syscall-overhead",
        "attach",
        "trace-path",
        "string-limit",
        "summary-sort-by",
        "user",
        "summary-columns",
        "const-print-style",
        "expr",
        "trace",
        "signal",
        "status",
        "abbrev",
        "verbose",
        "raw",
        "read",
        "write",
        "inject",
        "fault",
        "kvm",
        "decode-fds",
        "argv0",
        "max-strings",
    ],
);

/// The rows of this file.
pub static ROWS: &[Wrapper] = &[
    Wrapper {
        assigns: true,
        dirs: &[('D', "chdir")],
        still: &[
            ('l', "list"),
            ('v', "validate"),
            ('V', "version"),
            ('K', "remove-timestamp"),
            ('e', "edit"),
        ],
        shell: Shell::With(&[('s', "shell"), ('i', "login")]),
        spec: SUDO,
        ..row(&["sudo", "sudo-rs"])
    },
    special(&["sudoedit"], edits),
    Wrapper { spec: opts("aCu", &[]), shell: Shell::With(&[('s', "")]), ..row(&["doas"]) },
    special(&["env", "genv"], env),
    Wrapper {
        spec: opts("ks", &["kill-after", "signal"]),
        skip: 1,
        ..row(&["timeout", "gtimeout"])
    },
    Wrapper { spec: opts("n", &["adjustment"]), ..row(&["nice", "gnice"]) },
    Wrapper {
        spec: opts("cnpPu", &["class", "classdata", "pid", "pgid", "uid"]),
        still: &[('p', "pid"), ('P', "pgid"), ('u', "uid")],
        ..row(&["ionice"])
    },
    row(&[
        "nohup",
        "gnohup",
        "setsid",
        "builtin",
        "chronic",
        "unbuffer",
        "ifne",
        "catchsegv",
        "eatmydata",
        "torify",
        "linux32",
        "linux64",
        "i386",
        "x86_64",
        "busybox",
        "shx",
        "toybox",
        "fakechroot",
        "dbus-launch",
        "nocache",
        "pgrphack",
        "noglob",
        "nocorrect",
        "winpty",
    ]),
    Wrapper {
        spec: opts("fo", &["format", "output"]),
        writes: &[('o', "output")],
        ..row(&["time", "gtime"])
    },
    Wrapper { spec: opts("ioe", &["input", "output", "error"]), ..row(&["stdbuf", "gstdbuf"]) },
    Wrapper { still: &[('v', ""), ('V', "")], ..row(&["command"]) },
    Wrapper { spec: opts("a", &[]), ..row(&["exec"]) },
    Wrapper {
        spec: Spec {
            long_optional: &["differences", "color"],
            ..opts("nq", &["interval", "equexit", "shotsdir"])
        },
        inner: Inner::Words,
        ..row(&["watch", "viddy", "hwatch"])
    },
    Wrapper {
        spec: opts("wEc", &["timeout", "wait", "conflict-exit-code", "command"]),
        codes: &[('c', "command")],
        skip: 1,
        between: true,
        ..row(&["flock"])
    },
    special(&["script"], script),
    special(&["su", "runuser"], su),
    Wrapper {
        spec: opts("c", &["command"]),
        codes: &[('c', "command")],
        skip: 1,
        between: true,
        inner: Inner::Words,
        ..row(&["sg"])
    },
    row(&["firejail", "valgrind", "fakeroot-ng"]),
    special(&["bwrap"], bwrap),
    Wrapper {
        spec: Spec {
            short_optional: "muinpCUT",
            long_optional: &[
                "mount",
                "uts",
                "ipc",
                "net",
                "pid",
                "cgroup",
                "user",
                "time",
                "kill-child",
                "mount-proc",
            ],
            ..opts(
                "SGRw",
                &[
                    "propagation",
                    "setuid",
                    "setgid",
                    "root",
                    "wd",
                    "setgroups",
                    "map-user",
                    "map-group",
                    "map-users",
                    "map-groups",
                    "monotonic",
                    "boottime",
                    "load-interp",
                ],
            )
        },
        dirs: &[('w', "wd")],
        ..row(&["unshare"])
    },
    Wrapper {
        spec: Spec {
            short_optional: "muinpCUTrw",
            long_optional: &[
                "mount", "uts", "ipc", "net", "pid", "cgroup", "user", "time", "root", "wd",
            ],
            ..opts("tSGW", &["target", "setuid", "setgid", "wdns", "net-socket"])
        },
        shell: Shell::Always,
        elsewhere: true,
        ..row(&["nsenter"])
    },
    Wrapper {
        spec: opts("", &["userspec", "groups"]),
        skip: 1,
        shell: Shell::Always,
        elsewhere: true,
        ..row(&["chroot", "arch-chroot"])
    },
    Wrapper {
        spec: opts(
            "uHMpEC",
            &[
                "unit",
                "property",
                "description",
                "slice",
                "uid",
                "gid",
                "nice",
                "working-directory",
                "setenv",
                "host",
                "machine",
                "on-active",
                "on-boot",
                "on-startup",
                "on-unit-active",
                "on-unit-inactive",
                "on-calendar",
                "timer-property",
                "path-property",
                "socket-property",
                "service-type",
                "background",
                "capsule",
            ],
        ),
        dirs: &[('\0', "working-directory")],
        ..row(&["systemd-run"])
    },
    Wrapper { spec: opts("", &["who", "what", "why", "mode"]), ..row(&["systemd-inhibit"]) },
    Wrapper {
        spec: opts("tpl", &["identifier", "priority", "level-prefix", "stderr-priority"]),
        ..row(&["systemd-cat"])
    },
    Wrapper {
        spec: opts(
            "rbwqRSkim",
            &["rootfs", "bind", "cwd", "pwd", "mount", "kernel-release", "qemu", "change-id"],
        ),
        dirs: &[('w', "cwd")],
        ..row(&["proot"])
    },
    Wrapper { spec: opts("lsibf", &["lib", "faked"]), ..row(&["fakeroot"]) },
    Wrapper { spec: opts("fp", &["date-prog"]), skip: 1, ..row(&["faketime"]) },
    Wrapper { still: &[('p', "pid")], skip: 1, ..row(&["taskset"]) },
    Wrapper {
        spec: opts("TPD", &["sched-runtime", "sched-period", "sched-deadline"]),
        still: &[('p', "pid"), ('m', "max")],
        skip: 1,
        ..row(&["chrt"])
    },
    Wrapper {
        spec: opts(
            "imwNCpPBSfo",
            &[
                "interleave",
                "membind",
                "weighted-interleave",
                "cpunodebind",
                "physcpubind",
                "preferred",
                "preferred-many",
                "balancing",
                "shm",
                "file",
                "offset",
                "length",
                "shmid",
                "shmmode",
            ],
        ),
        still: &[('s', "show"), ('H', "hardware")],
        ..row(&["numactl"])
    },
    Wrapper { spec: opts("g", &[]), ..row(&["cgexec"]) },
    Wrapper { spec: opts("po", &["pid", "output"]), still: &[('p', "pid")], ..row(&["prlimit"]) },
    Wrapper {
        spec: opts(
            "d",
            &[
                "reuid",
                "regid",
                "ruid",
                "euid",
                "rgid",
                "egid",
                "groups",
                "inh-caps",
                "ambient-caps",
                "bounding-set",
                "securebits",
                "pdeathsig",
                "ptracer",
                "selinux-label",
                "apparmor-profile",
                "landlock-access",
                "landlock-rule",
                "seccomp-filter",
            ],
        ),
        still: &[('d', "dump")],
        ..row(&["setpriv"])
    },
    special(&["capsh"], capsh),
    Wrapper {
        skip: 1,
        ..row(&[
            "gosu",
            "su-exec",
            "s6-setuidgid",
            "setuidgid",
            "s6-envuidgid",
            "envuidgid",
            "envdir",
            "s6-envdir",
            "setlock",
            "envchain",
        ])
    },
    Wrapper { spec: opts("uUbednlLmofcrtC/", &[]), ..row(&["chpst"]) },
    Wrapper { spec: opts("adflmoprst", &[]), ..row(&["softlimit", "s6-softlimit"]) },
    Wrapper { spec: opts("pe", &[]), ..row(&["tini", "tini-static", "docker-init"]) },
    Wrapper { spec: opts("r", &["rewrite"]), ..row(&["dumb-init"]) },
    row(&["catatonit"]),
    Wrapper { spec: STRACE, writes: &[('o', "output")], ..row(&["strace"]) },
    Wrapper {
        spec: opts("aADeFlnopsuwx", &["align", "output", "config", "indent", "library"]),
        ..row(&["ltrace"])
    },
    special(&["gdb", "lldb", "rust-gdb", "rust-lldb"], debugger),
    Wrapper {
        spec: opts(
            "eoptuCGcFmxDIrjkM",
            &[
                "event",
                "output",
                "pid",
                "tid",
                "uid",
                "cpu",
                "cgroup",
                "count",
                "freq",
                "repeat",
                "field-separator",
                "delay",
                "interval-print",
                "call-graph",
                "mmap-pages",
                "filter",
                "timeout",
                "input",
            ],
        ),
        ..sub(
            &["perf"],
            &["stat", "record", "trace", "mem record", "sched record", "lock record", "c2c record"],
        )
    },
    Wrapper {
        spec: opts("o", &["output", "rate"]),
        ..sub(&["samply", "rr", "heaptrack", "flamegraph"], &["record"])
    },
    Wrapper {
        spec: opts(
            "bCDefFgHlMOPqSstwz",
            &[
                "break-chars",
                "histsize",
                "prompt-colour",
                "file",
                "history-filename",
                "history-no-dupes",
                "always-readline",
                "ansi-colour-aware",
            ],
        ),
        ..row(&["rlwrap"])
    },
    Wrapper {
        spec: opts(
            "tdfms",
            &[
                "tries", "times", "delay", "until", "while", "min", "max", "sleep", "fail",
                "attempts", "retries",
            ],
        ),
        ..row(&["retry"])
    },
    Wrapper {
        inner: Inner::OnlyDashdash,
        ..row(&[
            "wait-for-it",
            "wait-for-it.sh",
            "wait-for",
            "wait-for.sh",
            "wait4ports",
            "wait-on",
        ])
    },
    Wrapper {
        spec: Spec {
            style: Style::StopAtOperand,
            ..opts(
                "efnpsw",
                &["error-file", "auth-file", "server-num", "xauth-protocol", "server-args", "wait"],
            )
        },
        ..row(&["xvfb-run"])
    },
    Wrapper { spec: opts("", &["config-file", "dbus-daemon"]), ..row(&["dbus-run-session"]) },
    Wrapper { spec: opts("u", &["user"]), ..row(&["pkexec", "gksudo", "kdesudo", "run0"]) },
    Wrapper { spec: opts("tw", &[]), ..row(&["caffeinate"]) },
    Wrapper {
        spec: Spec { style: Style::StopAtOperand, ..opts("e", &["arch"]) },
        ..row(&["arch"])
    },
    special(&["setarch"], setarch),
    Wrapper { spec: opts("uap", &["user", "pass", "address", "port"]), ..row(&["torsocks"]) },
    Wrapper {
        spec: opts("f", &[]),
        ..row(&["proxychains", "proxychains4", "tsocks", "proxychains-ng"])
    },
    Wrapper { spec: opts("lpPec", &["limit", "pid", "path", "exe", "cpu"]), ..row(&["cpulimit"]) },
    Wrapper { spec: opts("tTsSp", &[]), ..row(&["timelimit"]) },
    Wrapper { inner: Inner::LastCode, ..sub(&["scl"], &["enable", "run"]) },
    Wrapper { spec: opts("udNtlw", &[]), ..row(&["trickle"]) },
    Wrapper { spec: opts("ctur", &["type", "user", "role", "range"]), skip: 1, ..row(&["runcon"]) },
    Wrapper { spec: opts("pfnD", &[]), ..row(&["sandbox-exec"]) },
    Wrapper { inner: Inner::OnlyDashdash, ..row(&["bear", "intercept-build"]) },
    Wrapper {
        spec: opts("", &["directory", "forward-fd", "env", "sandbox-expose", "watch-bus"]),
        dirs: &[('\0', "directory")],
        ..row(&["flatpak-spawn"])
    },
];
