//! Containers and clusters: docker, compose, kubectl.

use aurora_model::Touch;

use super::super::options::{Parsed, Spec, Style};
use super::super::place::is_remote;
use super::super::rule::idle;
use super::destroy;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

const DOCKER: Spec = Spec {
    short_values: "Hcl",
    long_values: &["host", "context", "config", "log-level", "tlscacert", "tlscert", "tlskey"],
    style: Style::StopAtOperand,
    ..Spec::FLAGS
};

const COMPOSE: Spec = Spec {
    short_values: "fp",
    long_values: &[
        "file",
        "project-name",
        "profile",
        "env-file",
        "project-directory",
        "parallel",
        "progress",
        "ansi",
    ],
    style: Style::StopAtOperand,
    ..Spec::FLAGS
};

/// `docker volume rm`, `docker system prune --volumes`, `docker compose down -v`, `docker cp`.
pub fn docker(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let output = Stream::Output(call.name.to_owned());
    if call.name.ends_with("-compose") {
        return if compose_destroys(call.args) { destroy(machine, call) } else { output };
    }
    let parsed = DOCKER.parse(call.args);
    let Some((command, rest)) = parsed.operands.split_first() else { return output };
    let args: Vec<Field> = rest.iter().map(|field| (*field).clone()).collect();
    let inner =
        Spec { long_values: &["filter", "time", "timeout", "format"], ..Spec::FLAGS }.parse(&args);
    if idle(&inner) {
        return output;
    }
    let second = inner.operands.first().and_then(|word| word.text()).unwrap_or("");
    let destroys = match command.text() {
        Some("volume") => matches!(second, "rm" | "remove" | "prune"),
        Some("system") => {
            (second == "prune" && inner.has('\0', "volumes"))
                || (second == "reset" && call.name == "podman")
        }
        Some("compose") => compose_destroys(&args),
        Some("stack") => matches!(second, "rm" | "remove" | "down"),
        _ => false,
    };
    if destroys {
        return destroy(machine, call);
    }
    let copies = command.is("cp") || (command.is("container") && second == "cp");
    if copies {
        copy_destination(machine, &inner);
    }
    output
}

fn compose_destroys(args: &[Field]) -> bool {
    let parsed = COMPOSE.parse(args);
    let Some((command, rest)) = parsed.operands.split_first() else { return false };
    let rest: Vec<Field> = rest.iter().map(|field| (*field).clone()).collect();
    let inner =
        Spec { short_values: "t", long_values: &["timeout", "rmi"], ..Spec::FLAGS }.parse(&rest);
    command.is("down")
        && inner.opts.iter().any(|opt| {
            opt.name.is('v', "volumes")
                && !opt.value.as_ref().is_some_and(|value| value.is("false"))
        })
        && !idle(&inner)
}

/// The place here that a copy out of a container writes.
fn copy_destination(machine: &mut Machine<'_>, parsed: &Parsed<'_>) {
    if let Some(place) = parsed.operands.last().filter(|place| !is_remote(place) && !place.is("-"))
    {
        machine.change(place, Touch::Write, false);
    }
}

const KUBECTL: Spec = Spec {
    short_values: "nlfoksc",
    long_values: &[
        "namespace",
        "context",
        "cluster",
        "kubeconfig",
        "server",
        "user",
        "token",
        "as",
        "as-group",
        "request-timeout",
        "selector",
        "filename",
        "kustomize",
        "output",
        "field-selector",
        "grace-period",
        "timeout",
        "certificate-authority",
        "client-certificate",
        "client-key",
        "container",
        "tls-server-name",
        "cache-dir",
        "profile",
        "raw",
        "v",
    ],
    long_flags: &["all", "all-namespaces", "force", "now", "ignore-not-found", "recursive", "wait"],
    long_optional: &["dry-run", "cascade"],
    ..Spec::FLAGS
};

/// Kinds whose deletion takes everything in them along.
const KINDS: &[&str] = &[
    "all",
    "clusters",
    "cluster",
    "crd",
    "crds",
    "customresourcedefinition",
    "customresourcedefinitions",
    "namespace",
    "namespaces",
    "no",
    "node",
    "nodes",
    "ns",
    "persistentvolume",
    "persistentvolumeclaim",
    "persistentvolumeclaims",
    "persistentvolumes",
    "project",
    "projects",
    "pv",
    "pvc",
];

/// `kubectl delete namespace …`, `kubectl delete … --all`.
pub fn kubectl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let output = Stream::Output(call.name.to_owned());
    let parsed = KUBECTL.parse(call.args);
    if idle(&parsed) || parsed.has('h', "") {
        return output;
    }
    match parsed.operands.first().and_then(|word| word.text()) {
        Some("delete") => {
            let kinds = parsed.operands.iter().skip(1).enumerate().any(|(index, operand)| {
                let text = operand.text().unwrap_or("");
                let named = text.contains('/');
                (index == 0 || named)
                    && text.split(',').any(|kind| {
                        let kind = kind.split(['/', '.']).next().unwrap_or("").to_ascii_lowercase();
                        KINDS.contains(&kind.as_str())
                    })
            });
            let all = parsed.opts.iter().any(|opt| {
                (opt.name.is('\0', "all") || opt.name.is('A', "all-namespaces"))
                    && !opt.value.as_ref().is_some_and(|value| value.is("false"))
            });
            if kinds || all { destroy(machine, call) } else { output }
        }
        Some("cp") => {
            copy_destination(machine, &parsed);
            output
        }
        _ => output,
    }
}
