//! Wrappers that run a command on another machine or in a container.

use super::read::Front;
use super::row::{Inner, Wrapper, opts, row, special, sub};
use crate::analysis::shell::command::options::{Spec, Style};
use crate::analysis::shell::command::step::{Step, joined};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Stream};

const SSH: Spec = opts("BbcDEeFIiJLlmOopPQRSWw", &[]);

/// docker's own options, and compose's.
const DOCKER: Spec = opts(
    "HclfpN",
    &[
        "host",
        "context",
        "config",
        "log-level",
        "tlscacert",
        "tlscert",
        "tlskey",
        "file",
        "project-name",
        "profile",
        "env-file",
        "project-directory",
        "ansi",
        "parallel",
        "progress",
        "namespace",
        "address",
        "url",
        "connection",
        "identity",
        "root",
        "runroot",
        "storage-driver",
        "storage-opt",
        "cgroup-manager",
        "runtime",
    ],
);

const DOCKER_EXEC: Spec = opts(
    "euwl",
    &["env", "user", "workdir", "detach-keys", "env-file", "index", "preserve-fds", "cidfile"],
);

#[rustfmt::skip]
const DOCKER_RUN: Spec = Spec {
    long_flags: &[
        "detach", "init", "interactive", "no-healthcheck", "oom-kill-disable", "privileged",
        "publish-all", "quiet", "read-only", "rm", "sig-proxy", "tty", "build", "remove-orphans",
        "service-ports", "use-aliases", "no-deps", "quiet-pull", "no-TTY", "replace", "rmi",
        "no-hosts", "tls-verify", "systemd", "help",
    ],
    ..opts(
        "acehlmpuvw",
        &[
            "add-host", "annotation", "attach", "blkio-weight", "blkio-weight-device", "cap-add",
            "cap-drop", "cgroup-parent", "cgroupns", "cidfile", "cpu-count", "cpu-percent",
            "cpu-period", "cpu-quota", "cpu-rt-period", "cpu-rt-runtime", "cpu-shares", "cpus",
            "cpuset-cpus", "cpuset-mems", "detach-keys", "device", "device-cgroup-rule",
            "device-read-bps", "device-read-iops", "device-write-bps", "device-write-iops", "dns",
            "dns-opt", "dns-option", "dns-search", "domainname", "entrypoint", "env", "env-file",
            "env-from-file", "expose", "gpus", "group-add", "health-cmd", "health-interval",
            "health-retries", "health-start-interval", "health-start-period", "health-timeout",
            "hostname", "io-maxbandwidth", "io-maxiops", "ip", "ip6", "ipc", "isolation",
            "kernel-memory", "label", "label-file", "link", "link-local-ip", "log-driver",
            "log-opt", "mac-address", "memory", "memory-reservation", "memory-swap",
            "memory-swappiness", "mount", "name", "network", "net", "network-alias", "net-alias",
            "oom-score-adj", "pid", "pids-limit", "platform", "publish", "pull", "restart",
            "runtime", "secret", "security-opt", "shm-size", "stop-signal", "stop-timeout",
            "storage-opt", "sysctl", "tmpfs", "ulimit", "umask", "user", "userns", "uts", "volume",
            "volume-driver", "volumes-from", "workdir", "arch", "os", "variant", "authfile",
            "conmon-pidfile", "pidfile", "pod", "pod-id-file", "requires", "sdnotify", "timeout",
            "tz", "uidmap", "gidmap", "subuidname", "subgidname", "hooks-dir", "image-volume",
            "init-path", "personality", "passwd-entry", "group-entry", "chrootdirs", "creds",
            "decryption-key", "seccomp-policy", "shm-size-systemd", "rdt-class", "unsetenv",
        ],
    )
};

const KUBECTL: Spec = opts(
    "nscfv",
    &[
        "namespace",
        "server",
        "context",
        "kubeconfig",
        "cluster",
        "user",
        "token",
        "as",
        "as-group",
        "as-uid",
        "cache-dir",
        "certificate-authority",
        "client-certificate",
        "client-key",
        "log-flush-frequency",
        "password",
        "profile",
        "profile-output",
        "request-timeout",
        "tls-server-name",
        "username",
        "v",
        "vmodule",
        "container",
        "filename",
        "pod-running-timeout",
        "image",
        "labels",
        "env",
        "restart",
        "overrides",
        "target",
        "port",
        "image-pull-policy",
        "annotations",
        "copy-to",
        "set-image",
        "template",
        "output",
    ],
);

/// The rows of this file.
pub static ROWS: &[Wrapper] = &[
    special(&["ssh", "slogin", "rsh", "autossh"], ssh),
    Wrapper { spec: opts("pfdP", &[]), ..row(&["sshpass"]) },
    Wrapper {
        spec: opts(
            "p",
            &["ssh", "ssh-pty", "client", "server", "predict", "port", "bind-server", "family"],
        ),
        skip: 1,
        elsewhere: true,
        ..row(&["mosh"])
    },
    Wrapper {
        spec: opts(
            "hHlptoeexXOAIP",
            &[
                "hosts",
                "host",
                "user",
                "par",
                "timeout",
                "outdir",
                "errdir",
                "option",
                "extra-args",
                "extra-arg",
            ],
        ),
        inner: Inner::Words,
        elsewhere: true,
        ..row(&["pssh", "parallel-ssh"])
    },
    Wrapper {
        spec: opts("wxgXlftuRMP", &[]),
        inner: Inner::Words,
        elsewhere: true,
        ..row(&["pdsh"])
    },
    Wrapper {
        spec: opts("wxgXlftuRPo", &["nodes", "exclude", "group", "user", "fanout", "options"]),
        inner: Inner::Words,
        elsewhere: true,
        ..row(&["clush"])
    },
    Wrapper {
        global: DOCKER,
        spec: DOCKER_EXEC,
        skip: 1,
        elsewhere: true,
        ..sub(
            &["docker", "podman", "nerdctl", "finch", "docker-compose", "podman-compose", "crictl"],
            &["exec", "container exec", "compose exec"],
        )
    },
    Wrapper {
        global: DOCKER,
        inner: Inner::Special(docker_run),
        ..sub(
            &["docker", "podman", "nerdctl", "finch", "docker-compose", "podman-compose"],
            &["run", "create", "container run", "container create", "compose run"],
        )
    },
    Wrapper {
        global: KUBECTL,
        spec: KUBECTL,
        skip: 1,
        between: true,
        inner: Inner::Dashdash,
        elsewhere: true,
        ..sub(&["kubectl", "oc", "kubecolor"], &["exec"])
    },
    Wrapper { global: KUBECTL, spec: KUBECTL, skip: 1, elsewhere: true, ..sub(&["oc"], &["rsh"]) },
    Wrapper {
        global: KUBECTL,
        inner: Inner::OnlyDashdash,
        elsewhere: true,
        ..sub(&["kubectl", "oc", "kubecolor"], &["run", "debug", "create job"])
    },
    Wrapper {
        inner: Inner::Special(kubectl),
        ..sub(&["microk8s", "k3s", "minikube"], &["kubectl"])
    },
    Wrapper {
        spec: opts("neut", &["node", "profile", "native-ssh", "ssh-key"]),
        inner: Inner::Words,
        elsewhere: true,
        ..sub(&["minikube", "colima"], &["ssh"])
    },
    Wrapper {
        spec: opts("tTn", &["env", "mode", "cwd", "user", "group"]),
        skip: 1,
        elsewhere: true,
        between: true,
        inner: Inner::Dashdash,
        ..sub(&["lxc", "incus", "multipass"], &["exec"])
    },
    Wrapper {
        spec: opts("nPf", &["name", "lxcpath", "rcfile"]),
        inner: Inner::Dashdash,
        elsewhere: true,
        ..row(&["lxc-attach", "lxc-execute"])
    },
    Wrapper {
        spec: opts("", &["workdir", "shell"]),
        skip: 1,
        elsewhere: true,
        ..sub(&["limactl"], &["shell"])
    },
    Wrapper { elsewhere: true, ..row(&["lima", "nerdctl.lima"]) },
    Wrapper {
        spec: opts("du", &["distribution", "user", "cd", "exec"]),
        elsewhere: true,
        ..row(&["wsl", "wsl.exe"])
    },
    Wrapper {
        spec: opts("Eu", &["uid", "setenv", "machine"]),
        global: opts("MH", &["machine", "host"]),
        skip: 1,
        elsewhere: true,
        ..sub(&["machinectl"], &["shell"])
    },
    Wrapper {
        spec: opts(
            "DMiutTUESpPx",
            &[
                "directory",
                "machine",
                "image",
                "user",
                "template",
                "bind",
                "bind-ro",
                "setenv",
                "chdir",
                "uuid",
                "capability",
                "property",
                "slice",
                "hostname",
                "private-users",
                "network-interface",
                "network-bridge",
                "port",
                "tmpfs",
                "overlay",
                "console",
                "resolv-conf",
                "timezone",
            ],
        ),
        elsewhere: true,
        ..row(&["systemd-nspawn"])
    },
    Wrapper {
        spec: opts("u", &["user", "workdir", "env", "volume", "isolation"]),
        skip: 1,
        elsewhere: true,
        ..sub(&["buildah"], &["run"])
    },
    Wrapper {
        spec: opts("crd", &["container", "release", "distro"]),
        elsewhere: true,
        ..sub(&["toolbox"], &["run"])
    },
    Wrapper { inner: Inner::OnlyDashdash, elsewhere: true, ..sub(&["distrobox"], &["enter"]) },
    Wrapper { inner: Inner::OnlyDashdash, elsewhere: true, ..row(&["distrobox-enter"]) },
    Wrapper {
        spec: opts(
            "",
            &[
                "workspace-folder",
                "container-id",
                "id-label",
                "config",
                "remote-env",
                "docker-path",
                "docker-compose-path",
                "log-level",
                "mount-workspace-git-root",
                "override-config",
            ],
        ),
        elsewhere: true,
        ..sub(&["devcontainer"], &["exec"])
    },
    Wrapper {
        spec: Spec { style: Style::Permute, ..opts("c", &["command"]) },
        codes: &[('c', "command")],
        inner: Inner::OnlyDashdash,
        elsewhere: true,
        ..sub(&["vagrant"], &["ssh"])
    },
    Wrapper {
        global: opts("", &["project", "account", "configuration", "zone"]),
        spec: Spec {
            style: Style::Permute,
            ..opts(
                "",
                &[
                    "command",
                    "zone",
                    "project",
                    "ssh-flag",
                    "ssh-key-file",
                    "internal-ip",
                    "container",
                    "worker",
                ],
            )
        },
        codes: &[('\0', "command")],
        inner: Inner::OnlyDashdash,
        elsewhere: true,
        ..sub(
            &["gcloud"],
            &["compute ssh", "beta compute ssh", "alpha compute ssh", "compute tpus tpu-vm ssh"],
        )
    },
    Wrapper {
        global: opts("", &["profile", "region", "output", "endpoint-url"]),
        spec: Spec {
            style: Style::Permute,
            ..opts("", &["command", "cluster", "task", "container", "profile", "region"])
        },
        codes: &[('\0', "command")],
        inner: Inner::Nothing,
        elsewhere: true,
        ..sub(&["aws"], &["ecs execute-command"])
    },
    Wrapper {
        spec: opts("arset", &["app", "remote", "size", "env", "type"]),
        inner: Inner::Words,
        elsewhere: true,
        ..sub(&["heroku"], &["run", "run:detached", "run:inside"])
    },
    Wrapper {
        spec: Spec {
            style: Style::Permute,
            ..opts(
                "aCrgsuc",
                &[
                    "app",
                    "command",
                    "region",
                    "group",
                    "user",
                    "config",
                    "org",
                    "machine",
                    "container",
                ],
            )
        },
        codes: &[('C', "command")],
        inner: Inner::Nothing,
        elsewhere: true,
        ..sub(&["fly", "flyctl"], &["ssh console"])
    },
    Wrapper { spec: opts("se", &["service", "environment"]), ..sub(&["railway"], &["run"]) },
    special(&["ansible"], ansible),
    Wrapper { inner: Inner::Special(salt), ..row(&["salt", "salt-ssh", "salt-call"]) },
];

/// A program that holds another, like `k3s kubectl`.
fn kubectl(call: &Call<'_>) -> Vec<Step> {
    let mut argv = vec![Field::lit("kubectl", call.span)];
    let skip = usize::from(call.args.first().is_some_and(|first| first.is("--")));
    argv.extend(call.args.iter().skip(skip).cloned());
    vec![Step::Run(vec![], argv)]
}

/// ssh takes options before and after the host; the rest is joined and given to a shell there.
fn ssh(call: &Call<'_>) -> Vec<Step> {
    let spec = if call.name == "autossh" { opts("MBbcDEeFIiJLlmOopPQRSWw", &[]) } else { SSH };
    let front = Front::read(&spec, call.args, 1, true);
    let mut steps = Vec::new();
    for option in front.values(&[('o', "")]) {
        let Some((name, code)) = option.split_once('=').or_else(|| option.split_once(' ')) else {
            continue;
        };
        let name = name.text().unwrap_or_default().trim();
        if ["proxycommand", "localcommand", "knownhostscommand"]
            .iter()
            .any(|key| name.eq_ignore_ascii_case(key))
        {
            steps.push(Step::Code(code));
        }
    }
    let quiet = [('V', ""), ('G', ""), ('N', ""), ('O', ""), ('Q', ""), ('W', "")];
    if quiet.iter().any(|(short, long)| front.has(*short, long)) || front.skipped.is_empty() {
        return steps;
    }
    if !front.rest.is_empty() {
        steps.push(Step::Elsewhere(vec![Step::Code(joined(front.rest))]));
    } else if *call.stdin != Stream::Terminal && !front.has('n', "") {
        steps.push(Step::Elsewhere(vec![Step::StdinCode]));
    }
    steps
}

/// `docker run [OPTIONS] IMAGE [COMMAND…]`; an entry point of the caller's own comes before it.
fn docker_run(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&DOCKER_RUN, call.args, 1, false);
    let mut argv = Vec::new();
    if let Some(entry) = front.values(&[('\0', "entrypoint")]).pop().filter(|entry| !entry.is("")) {
        argv.push(entry);
    }
    argv.extend(front.rest.iter().cloned());
    // Images whose entry point is their client get its arguments only.
    let flag = argv.first().is_some_and(|first| first.prefix().starts_with('-'));
    if argv.is_empty() || flag {
        return Vec::new();
    }
    vec![Step::Elsewhere(vec![Step::Run(vec![], argv)])]
}

/// `ansible HOSTS -m shell -a CODE`; without a module it is `command`.
fn ansible(call: &Call<'_>) -> Vec<Step> {
    let spec = Spec {
        style: Style::Permute,
        ..opts(
            "maiuefltMcBPTtK",
            &[
                "module-name",
                "args",
                "inventory",
                "user",
                "extra-vars",
                "forks",
                "limit",
                "become-user",
                "become-method",
                "private-key",
                "key-file",
                "connection",
                "timeout",
                "ssh-common-args",
                "ssh-extra-args",
                "vault-password-file",
                "module-path",
                "background",
                "poll",
                "tree",
                "playbook-dir",
                "task-timeout",
                "inventory-file",
                "vault-id",
            ],
        )
    };
    let parsed = spec.parse(call.args);
    let module = parsed.value('m', "module-name").and_then(|module| module.text());
    let short = module.map(|module| module.rsplit('.').next().unwrap_or(module));
    let runs = matches!(short, None | Some("shell" | "command" | "raw" | "win_shell"));
    let checks = parsed.has('C', "check") || parsed.has('\0', "list-hosts");
    match parsed.value('a', "args") {
        Some(code) if runs && !checks => {
            vec![Step::Elsewhere(vec![Step::Repeated(vec![Step::Code(code.clone())])])]
        }
        _ => Vec::new(),
    }
}

/// `salt TARGET cmd.run CODE`.
fn salt(call: &Call<'_>) -> Vec<Step> {
    let at = call.args.iter().position(|arg| arg.prefix().starts_with("cmd."));
    match at.and_then(|at| call.args.get(at + 1)) {
        Some(code) => vec![Step::Elsewhere(vec![Step::Code(code.clone())])],
        None => Vec::new(),
    }
}
