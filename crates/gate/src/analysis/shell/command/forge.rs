//! Clients of forges and other version control: gh, hub, jj, hg, sl, gt, as far as they push or
//! delete on the other side.

use aurora_model::EffectKind;

use super::options::{Parsed, Spec, Style};
use super::step::{Step, joined, perform};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// Runs such a client; nothing when the call does none of that.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    let steps = match call.name {
        "gh" => gh(call),
        "hub" => hub(call),
        "jj" => jj(call),
        "hg" | "chg" | "sl" => mercurial(call),
        "gt" => graphite(call),
        _ => return None,
    };
    (!steps.is_empty()).then(|| perform(machine, &steps, call))
}

fn forces(how: &str) -> Step {
    Step::Emit(EffectKind::ForcePush { how: how.to_owned(), remote: None }, None)
}

fn is_main(name: &str) -> bool {
    matches!(name, "main" | "master")
}

fn lands_on(name: &str) -> Step {
    Step::Emit(EffectKind::PushMain { destination: name.to_owned(), remote: None }, None)
}

const API: Spec = Spec {
    short_values: "XfFHqtp",
    long_values: &[
        "method",
        "field",
        "raw-field",
        "header",
        "input",
        "jq",
        "template",
        "hostname",
        "cache",
        "preview",
    ],
    long_flags: &["paginate", "slurp", "include", "silent", "verbose"],
    ..Spec::FLAGS
};

const SSH: Spec = Spec {
    short_values: "cRX",
    long_values: &["codespace", "repo", "repo-owner", "profile", "server-port", "debug-file"],
    style: Style::StopAtOperand,
    ..Spec::FLAGS
};

fn gh(call: &Call<'_>) -> Vec<Step> {
    match call.args {
        [first, rest @ ..] if first.is("api") => api(&API.parse(rest)),
        [first, second, rest @ ..]
            if (first.is("codespace") || first.is("cs")) && second.is("ssh") =>
        {
            let command = SSH.parse(rest).operands;
            if command.is_empty() {
                return Vec::new();
            }
            vec![Step::Elsewhere(vec![Step::Code(joined(command))])]
        }
        _ => Vec::new(),
    }
}

/// A call of the forge's interface: what it does to branches and repositories.
fn api(parsed: &Parsed<'_>) -> Vec<Step> {
    let method = parsed.value('X', "method").and_then(|method| method.text()).unwrap_or_default();
    let Some(endpoint) = parsed.operands.first().map(|operand| operand.display()) else {
        return Vec::new();
    };
    let path = endpoint.split('?').next().unwrap_or_default();
    let reference = path.contains("/git/refs/");
    if method.eq_ignore_ascii_case("delete") {
        let parts = path.trim_matches('/').split('/').count();
        return match (reference, path.trim_start_matches('/').starts_with("repos/")) {
            (true, _) => vec![forces("a reference is deleted")],
            (false, true) if parts == 3 => {
                let what = "a repository".to_owned();
                vec![Step::Emit(EffectKind::DestroyInfra { what }, None)]
            }
            _ => Vec::new(),
        };
    }
    let changes = method.eq_ignore_ascii_case("patch") || method.eq_ignore_ascii_case("post");
    if !changes || !reference {
        return Vec::new();
    }
    let fields = parsed.values('F', "field").into_iter().chain(parsed.values('f', "raw-field"));
    let mut steps = Vec::new();
    if fields.into_iter().any(|field| field.is("force=true")) {
        steps.push(forces("force=true"));
    }
    if let Some((_, branch)) = path.rsplit_once("/refs/heads/").filter(|(_, name)| is_main(name)) {
        steps.push(lands_on(branch));
    }
    steps
}

/// hub is git with more subcommands.
fn hub(call: &Call<'_>) -> Vec<Step> {
    let own = [
        "api",
        "browse",
        "ci-status",
        "compare",
        "create",
        "delete",
        "fork",
        "gist",
        "issue",
        "pr",
        "pull-request",
        "release",
        "sync",
    ];
    match call.args {
        [first, rest @ ..] if first.is("api") => api(&API.parse(rest)),
        [first, ..] if own.iter().any(|name| first.is(name)) => Vec::new(),
        [] => Vec::new(),
        args => {
            let git = Field::lit("git", call.span);
            vec![Step::Run(vec![], std::iter::once(git).chain(args.iter().cloned()).collect())]
        }
    }
}

fn jj(call: &Call<'_>) -> Vec<Step> {
    const SPEC: Spec = Spec {
        short_values: "bcrR",
        long_values: &[
            "bookmark",
            "branch",
            "change",
            "revisions",
            "remote",
            "repository",
            "named",
            "at-operation",
            "color",
            "config",
            "option",
        ],
        long_flags: &[
            "all",
            "tracked",
            "deleted",
            "dry-run",
            "allow-new",
            "allow-empty-description",
            "allow-private",
            "allow-backwards",
            "ignore-working-copy",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let pushes =
        matches!(parsed.operands.as_slice(), [git, push, ..] if git.is("git") && push.is("push"));
    if !pushes || parsed.has('\0', "dry-run") {
        return Vec::new();
    }
    let mut steps = Vec::new();
    for name in ["deleted", "allow-backwards"] {
        if parsed.has('\0', name) {
            steps.push(forces(&format!("--{name}")));
        }
    }
    let named = parsed.values('b', "bookmark").into_iter().chain(parsed.values('\0', "branch"));
    for name in named.filter_map(|name| name.text()) {
        let name = name.strip_prefix("exact:").or(name.strip_prefix("glob:")).unwrap_or(name);
        if is_main(name) || name == "*" {
            steps.push(lands_on(name));
        }
    }
    if parsed.has('\0', "all") {
        steps.push(lands_on("all bookmarks"));
    }
    steps
}

fn mercurial(call: &Call<'_>) -> Vec<Step> {
    const SPEC: Spec = Spec {
        short_values: "rBbeR",
        long_values: &[
            "rev",
            "bookmark",
            "branch",
            "ssh",
            "remotecmd",
            "to",
            "cwd",
            "config",
            "repository",
        ],
        long_flags: &["force", "new-branch", "insecure", "publish", "help", "delete"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let mut steps = Vec::new();
    if parsed.operands.first().is_some_and(|first| first.is("push")) && !parsed.has('\0', "help") {
        if parsed.has('f', "force") {
            steps.push(forces("--force"));
        }
        if let Some(name) = parsed.value('\0', "to").and_then(|to| to.text())
            && is_main(name)
        {
            steps.push(lands_on(name));
        }
        let codes = parsed.values('e', "ssh").into_iter().chain(parsed.values('\0', "remotecmd"));
        steps.extend(codes.cloned().map(Step::Code));
    }
    steps
}

fn graphite(call: &Call<'_>) -> Vec<Step> {
    const SPEC: Spec =
        Spec { short_values: "rt", long_values: &["reviewers", "comment", "cwd"], ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    let submits = parsed
        .operands
        .iter()
        .take(2)
        .any(|word| matches!(word.text(), Some("submit" | "ss" | "s")));
    let forced = parsed.has('f', "force") && !parsed.has('\0', "dry-run");
    if submits && forced { vec![forces("--force")] } else { Vec::new() }
}
