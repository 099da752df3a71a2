//! Wrappers of developers' tools: package runners, environments, secrets, watchers, benchmarks.

use super::read::{Front, with_assignments};
use super::row::{Inner, Wrapper, opts, row, special, sub};
use super::session;
use crate::analysis::shell::command::options::{Spec, Style};
use crate::analysis::shell::command::step::{Step, joined};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::Call;

const NPM: Spec = opts(
    "wpC",
    &[
        "workspace",
        "package",
        "prefix",
        "registry",
        "userconfig",
        "cache",
        "loglevel",
        "call",
        "filter",
        "dir",
        "cwd",
    ],
);

const UV: Spec = opts(
    "pmnwC",
    &[
        "python",
        "with",
        "with-editable",
        "with-requirements",
        "from",
        "extra",
        "group",
        "only-group",
        "no-group",
        "no-extra",
        "env-file",
        "package",
        "no-package",
        "project",
        "directory",
        "index",
        "index-url",
        "default-index",
        "extra-index-url",
        "find-links",
        "config-file",
        "cache-dir",
        "index-strategy",
        "keyring-provider",
        "resolution",
        "prerelease",
        "refresh-package",
        "upgrade-package",
        "reinstall-package",
        "config-setting",
        "link-mode",
        "exclude-newer",
        "color",
        "isolated-with",
        "allow-insecure-host",
        "python-platform",
        "fork-strategy",
        "no-binary-package",
        "no-build-package",
        "constraints",
        "overrides",
        "build-constraints",
    ],
);

/// The rows of this file.
pub static ROWS: &[Wrapper] = &[
    Wrapper {
        spec: opts(
            "pcnw",
            &[
                "package",
                "call",
                "node-arg",
                "workspace",
                "registry",
                "cache",
                "userconfig",
                "prefix",
                "node-options",
                "loglevel",
            ],
        ),
        codes: &[('c', "call")],
        inner: Inner::Package,
        ..row(&["npx", "pnpx"])
    },
    Wrapper {
        global: NPM,
        spec: opts("pcw", &["package", "call", "workspace", "registry", "prefix", "loglevel"]),
        codes: &[('c', "call")],
        inner: Inner::Package,
        ..sub(&["npm"], &["exec", "x"])
    },
    Wrapper {
        global: opts("FC", &["filter", "dir", "filter-prod", "workspace-concurrency", "loglevel"]),
        spec: opts(
            "FC",
            &["package", "filter", "dir", "allow-build", "resume-from", "workspace-concurrency"],
        ),
        inner: Inner::Package,
        ..sub(&["pnpm"], &["exec", "dlx"])
    },
    Wrapper {
        global: opts("", &["cwd"]),
        spec: opts("p", &["package"]),
        inner: Inner::Package,
        ..sub(&["yarn", "yarnpkg"], &["exec", "dlx", "workspaces foreach exec"])
    },
    Wrapper {
        spec: opts("", &["scope", "ignore", "concurrency", "since", "loglevel"]),
        inner: Inner::Words,
        ..sub(&["lerna"], &["exec"])
    },
    sub(&["wsrun", "moon", "rush-pnpm"], &["exec"]),
    special(&["yarn", "yarnpkg", "pnpm"], local_binary),
    Wrapper { spec: opts("p", &["package"]), inner: Inner::Package, ..row(&["bunx"]) },
    Wrapper { spec: opts("p", &["package"]), inner: Inner::Package, ..sub(&["bun"], &["x"]) },
    Wrapper {
        spec: opts(
            "",
            &["spec", "python", "pip-args", "index-url", "path", "with", "fetch-missing-python"],
        ),
        inner: Inner::Package,
        ..sub(&["pipx"], &["run"])
    },
    Wrapper { spec: UV, inner: Inner::Package, ..row(&["uvx"]) },
    Wrapper { global: UV, spec: UV, inner: Inner::Package, ..sub(&["uv"], &["tool run"]) },
    Wrapper { global: UV, inner: Inner::Special(uv_run), ..sub(&["uv"], &["run"]) },
    Wrapper {
        global: opts("CPps", &["directory", "project", "python", "env", "env-file"]),
        spec: opts("psv", &["project", "python", "site-packages", "venv"]),
        dirs: &[],
        ..sub(
            &["poetry", "pipenv", "pdm", "rye", "pixi", "hatch", "honcho", "foreman", "forego"],
            &["run"],
        )
    },
    Wrapper {
        spec: opts("", &["gemfile", "retry", "jobs"]),
        ..sub(&["bundle", "bundler"], &["exec"])
    },
    sub(
        &[
            "rbenv", "pyenv", "nodenv", "goenv", "jenv", "asdf", "plenv", "phpenv", "volta",
            "rtx-shim", "fnm",
        ],
        &["exec", "run"],
    ),
    Wrapper {
        global: opts("CEPj", &["cd", "env", "profile", "jobs"]),
        spec: opts("cCEPj", &["command", "cd", "env", "jobs"]),
        codes: &[('c', "command")],
        dirs: &[('C', "cd")],
        inner: Inner::Dashdash,
        ..sub(&["mise", "rtx"], &["exec", "x"])
    },
    Wrapper { skip: 1, ..sub(&["direnv"], &["exec"]) },
    Wrapper {
        global: opts("fqe", &["file"]),
        spec: opts("", &[]),
        inner: Inner::Dashdash,
        ..sub(&["dotenv"], &["run"])
    },
    Wrapper {
        spec: Spec { short_optional: "c", ..opts("efpvio", &["file", "overload"]) },
        inner: Inner::Dashdash,
        ..row(&["dotenv"])
    },
    Wrapper {
        spec: opts(
            "fefk",
            &["env-file", "env", "env-vault-file", "env-keys-file", "convention", "overload"],
        ),
        inner: Inner::Dashdash,
        ..sub(&["dotenvx"], &["run"])
    },
    Wrapper {
        spec: opts("npr", &["name", "prefix", "cwd", "root-prefix", "rc-file", "attach"]),
        dirs: &[('\0', "cwd")],
        ..sub(&["conda", "mamba", "micromamba"], &["run"])
    },
    special(&["nix-shell"], nix_shell),
    Wrapper {
        inner: Inner::Special(nix_command),
        ..sub(&["nix"], &["develop", "shell", "env shell"])
    },
    Wrapper { inner: Inner::Special(nix_run), ..sub(&["nix"], &["run"]) },
    Wrapper { inner: Inner::OnlyDashdash, ..sub(&["guix"], &["shell", "environment"]) },
    Wrapper {
        spec: opts("ndtms", &["region", "duration", "mfa-token", "backend", "prompt"]),
        skip: 1,
        between: true,
        inner: Inner::Dashdash,
        ..sub(&["aws-vault", "chamber", "aws-okta", "saml2aws"], &["exec"])
    },
    Wrapper {
        global: opts(
            "ptc",
            &["project", "config", "token", "scope", "account", "config-dir", "env"],
        ),
        spec: opts(
            "pct",
            &[
                "project",
                "config",
                "token",
                "env-file",
                "command",
                "account",
                "env",
                "path",
                "projectId",
                "mount",
                "mount-format",
                "name-transformer",
                "fallback",
                "passphrase",
                "scope",
            ],
        ),
        codes: &[('\0', "command")],
        inner: Inner::Dashdash,
        ..sub(
            &["op", "doppler", "infisical", "teller", "dmno", "varlock", "phase", "bws"],
            &["run"],
        )
    },
    Wrapper {
        spec: opts("", &["user", "filename", "background", "pristine"]),
        skip: 1,
        inner: Inner::Words,
        ..sub(&["sops"], &["exec-env", "exec-file"])
    },
    Wrapper {
        inner: Inner::Dashdash,
        ..sub(
            &["berglas", "vault", "gopass", "secrethub", "akeyless"],
            &["exec", "env exec", "run"],
        )
    },
    Wrapper { spec: opts("fpDey", &["provider", "environment", "up"]), ..row(&["summon"]) },
    Wrapper {
        spec: opts(
            "",
            &[
                "prefix",
                "secret",
                "config",
                "log-level",
                "vault-addr",
                "consul-addr",
                "upcase",
                "sanitize",
            ],
        ),
        ..row(&["envconsul"])
    },
    Wrapper {
        spec: Spec {
            style: Style::Permute,
            ..opts(
                "wmMrspcuSnDLi",
                &[
                    "warmup",
                    "min-runs",
                    "max-runs",
                    "runs",
                    "setup",
                    "prepare",
                    "cleanup",
                    "conclude",
                    "reference",
                    "reference-name",
                    "parameter-scan",
                    "parameter-step-size",
                    "parameter-list",
                    "shell",
                    "time-unit",
                    "export-asciidoc",
                    "export-csv",
                    "export-json",
                    "export-markdown",
                    "export-orgmode",
                    "style",
                    "sort",
                    "output",
                    "input",
                    "command-name",
                ],
            )
        },
        codes: &[
            ('s', "setup"),
            ('p', "prepare"),
            ('c', "cleanup"),
            ('\0', "conclude"),
            ('\0', "reference"),
        ],
        inner: Inner::Codes,
        ..row(&["hyperfine"])
    },
    Wrapper {
        spec: Spec {
            style: Style::Permute,
            ..opts(
                "npclmst",
                &[
                    "names",
                    "name-separator",
                    "prefix",
                    "prefix-colors",
                    "prefix-length",
                    "max-processes",
                    "success",
                    "restart-tries",
                    "restart-after",
                    "hide",
                    "default-input-target",
                    "timestamp-format",
                    "kill-signal",
                    "cwd",
                    "teardown",
                    "kill-timeout",
                ],
            )
        },
        codes: &[('\0', "teardown")],
        inner: Inner::Codes,
        ..row(&["concurrently"])
    },
    special(&["entr"], session::entr),
    Wrapper { inner: Inner::Special(session::pm2_start), ..sub(&["pm2"], &["start"]) },
    Wrapper {
        spec: opts(
            "wWefidsoEr",
            &[
                "watch",
                "watch-non-recursive",
                "exts",
                "filter",
                "filter-file",
                "ignore",
                "ignore-file",
                "debounce",
                "signal",
                "stop-signal",
                "stop-timeout",
                "on-busy-update",
                "shell",
                "workdir",
                "emit-events-to",
                "env",
                "poll",
                "project-origin",
                "delay-run",
                "map-signal",
                "fs-events",
                "color",
                "watch-file",
            ],
        ),
        inner: Inner::Words,
        ..row(&["watchexec"])
    },
    Wrapper {
        spec: opts(
            "xewids",
            &[
                "exec",
                "ext",
                "watch",
                "ignore",
                "delay",
                "signal",
                "config",
                "cwd",
                "on-change-only",
            ],
        ),
        codes: &[('x', "exec")],
        inner: Inner::Nothing,
        ..row(&["nodemon"])
    },
    Wrapper {
        spec: Spec {
            style: Style::Permute,
            ..opts("sxwidE", &["shell", "exec", "watch", "ignore", "delay", "workdir", "env"])
        },
        codes: &[('s', "shell")],
        inner: Inner::OnlyDashdash,
        ..sub(&["cargo"], &["watch"])
    },
    Wrapper { spec: opts("fer", &["file", "environments", "rc-file"]), ..row(&["env-cmd"]) },
    Wrapper { assigns: true, ..row(&["cross-env"]) },
    special(&["cross-env-shell"], cross_env_shell),
    Wrapper {
        inner: Inner::Dashdash,
        ..row(&["with-env", "env2", "dotenv-cli", "envsubst-run", "s6-env"])
    },
    Wrapper {
        spec: opts(
            "",
            &[
                "wait",
                "timeout",
                "template",
                "stdout",
                "stderr",
                "wait-http-header",
                "wait-retry-interval",
            ],
        ),
        ..row(&["dockerize"])
    },
];

/// `uv run [-m] COMMAND…`.
fn uv_run(call: &Call<'_>) -> Vec<Step> {
    let spec = Spec { short_values: "pwnC", ..UV };
    let parsed = spec.parse(call.args);
    let Some(start) = parsed.operand_indices.first() else { return Vec::new() };
    let command = call.args.get(*start..).unwrap_or_default();
    let module = parsed.has('m', "module");
    let script = command.first().is_some_and(|first| first.suffix().ends_with(".py"));
    let mut argv = Vec::new();
    if module || script {
        argv.push(Field::lit("python", call.span));
    }
    if module {
        argv.push(Field::lit("-m", call.span));
    }
    argv.extend(command.iter().cloned());
    vec![Step::Run(vec![], argv)]
}

/// `nix-shell --run CODE`, `--command CODE`.
fn nix_shell(call: &Call<'_>) -> Vec<Step> {
    let spec = Spec {
        style: Style::Permute,
        ..opts("AIiEjv", &["run", "command", "attr", "arg", "argstr", "expr", "exclude", "keep"])
    };
    let parsed = spec.parse(call.args);
    [('\0', "run"), ('\0', "command")]
        .iter()
        .flat_map(|(short, long)| parsed.values(*short, long))
        .cloned()
        .map(Step::Code)
        .collect()
}

/// `nix develop … -c COMMAND…`: everything behind it is the command.
fn nix_command(call: &Call<'_>) -> Vec<Step> {
    let start = call.args.iter().position(|arg| arg.is("-c") || arg.is("--command"));
    match start.and_then(|at| call.args.get(at + 1..)) {
        Some(argv) if !argv.is_empty() => vec![Step::Run(vec![], argv.to_vec())],
        _ => Vec::new(),
    }
}

/// `nix run nixpkgs#NAME -- ARGS`: the last part of the installable is the program.
fn nix_run(call: &Call<'_>) -> Vec<Step> {
    let Some(package) = call.args.iter().find(|arg| !arg.prefix().starts_with('-')) else {
        return Vec::new();
    };
    let Some(name) = package.text().and_then(|text| text.rsplit(['#', '.']).next()) else {
        return Vec::new();
    };
    let mut argv = vec![Field::lit(name, package.span)];
    if let Some(at) = call.args.iter().position(|arg| arg.is("--")) {
        argv.extend(call.args.iter().skip(at + 1).cloned());
    }
    vec![Step::Run(vec![], argv)]
}

/// `yarn NAME ARGS…` runs a script of the package, or else a program that it depends on; what
/// yarn and pnpm do themselves is not that.
fn local_binary(call: &Call<'_>) -> Vec<Step> {
    #[rustfmt::skip]
    const OWN: &[&str] = &[
        "add", "approve-builds", "audit", "bin", "build", "cache", "config", "create", "dedupe",
        "deploy", "dev", "generate-lock-entry", "global", "help", "i", "import", "info", "init",
        "install", "licenses", "link", "lint", "list", "login", "ls", "node", "npm", "outdated",
        "pack", "patch", "plugin", "prune", "publish", "rebuild", "remove", "rm", "root", "set",
        "start", "store", "test", "unlink", "up", "update", "upgrade", "version", "why",
        "workspace", "workspaces",
    ];
    let front = Front::read(&opts("C", &["cwd", "dir", "filter"]), call.args, 0, false);
    let rest = match front.rest.split_first() {
        Some((run, rest)) if run.is("run") => rest,
        _ => front.rest,
    };
    let name = rest.first().and_then(|name| name.text());
    if name.is_none_or(|name| OWN.contains(&name)) {
        return Vec::new();
    }
    vec![Step::Run(vec![], rest.to_vec())]
}

/// `cross-env-shell A=b 'CODE'`.
fn cross_env_shell(call: &Call<'_>) -> Vec<Step> {
    let plain = |step: Step| match step {
        Step::Run(_, argv) => Step::Code(joined(&argv)),
        step => step,
    };
    with_assignments(call.args).into_iter().map(plain).collect()
}
