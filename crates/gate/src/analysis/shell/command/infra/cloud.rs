//! Clouds and code hosts: Terraform, AWS, Azure, Google, GitHub.

use super::super::options::{Spec, Style};
use super::super::rule::idle;
use super::destroy;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

fn output(call: &Call<'_>) -> Stream {
    Stream::Output(call.name.to_owned())
}

/// `terraform destroy`, `apply -destroy`; options have one dash.
pub fn terraform(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        long_values: &["chdir-dir", "terragrunt-working-dir", "working-dir", "queue-include-dir"],
        style: Style::SingleDash,
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if idle(&parsed) || parsed.has('h', "") || parsed.has('v', "") {
        return output(call);
    }
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
    let first = words.first().copied().unwrap_or("");
    let destroys = match call.name {
        "terragrunt" => words.iter().any(|word| matches!(*word, "destroy" | "destroy-all")),
        _ => first == "destroy",
    };
    let applies = words.iter().any(|word| matches!(*word, "apply" | "apply-all"));
    let switched = parsed.opts.iter().any(|opt| {
        opt.name.is('\0', "destroy") && !opt.value.as_ref().is_some_and(|value| value.is("false"))
    });
    if destroys || (applies && switched) {
        return destroy(machine, call);
    }
    output(call)
}

const AWS: Spec = Spec {
    long_values: &[
        "profile",
        "region",
        "output",
        "endpoint-url",
        "query",
        "color",
        "ca-bundle",
        "cli-read-timeout",
        "cli-connect-timeout",
    ],
    long_flags: &[
        "recursive",
        "dryrun",
        "dry-run",
        "delete",
        "force",
        "quiet",
        "debug",
        "no-cli-pager",
        "no-verify-ssl",
    ],
    ..Spec::FLAGS
};

/// Services whose `delete-…` takes data or running systems away.
const AWS_SERVICES: &[&str] = &[
    "apigateway",
    "apigatewayv2",
    "backup",
    "cloudformation",
    "cloudfront",
    "cognito-idp",
    "docdb",
    "dynamodb",
    "ecr",
    "ecs",
    "efs",
    "eks",
    "elasticache",
    "elasticbeanstalk",
    "es",
    "fsx",
    "glacier",
    "kafka",
    "kinesis",
    "lambda",
    "lightsail",
    "logs",
    "memorydb",
    "neptune",
    "opensearch",
    "organizations",
    "rds",
    "redshift",
    "route53",
    "s3api",
    "secretsmanager",
    "sns",
    "sqs",
    "timestream-write",
];

/// Operations of those services that take away only one small thing.
const AWS_SMALL: &[&str] = &[
    "delete-item",
    "delete-message",
    "delete-object-tagging",
    "delete-tags",
    "delete-object",
    "delete-alarms",
    "delete-log-stream",
    "delete-bucket-policy",
    "delete-bucket-cors",
    "delete-bucket-website",
    "delete-bucket-tagging",
    "delete-bucket-lifecycle",
    "delete-public-access-block",
    "delete-function-concurrency",
    "delete-alias",
    "delete-layer-version",
    "delete-retention-policy",
    "delete-resource-policy",
    "delete-subscription-filter",
    "delete-metric-filter",
    "delete-lifecycle-policy",
];

const AWS_EC2: &[&str] = &[
    "terminate-instances",
    "delete-volume",
    "delete-snapshot",
    "delete-vpc",
    "delete-subnet",
    "deregister-image",
    "delete-nat-gateway",
    "delete-internet-gateway",
    "delete-fleets",
];

/// `aws SERVICE OPERATION`.
pub fn aws(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = AWS.parse(call.args);
    let helps = parsed.operands.iter().any(|word| word.is("help"));
    if idle(&parsed) || helps || parsed.has('\0', "generate-cli-skeleton") {
        return output(call);
    }
    let word = |at: usize| parsed.operands.get(at).and_then(|word| word.text()).unwrap_or("");
    let (service, operation) = (word(0), word(1));
    let destroys = match (service, operation) {
        ("s3", "rb") => true,
        ("s3", "rm") => parsed.has('\0', "recursive"),
        ("s3", "sync") => parsed.has('\0', "delete"),
        ("ec2", operation) => AWS_EC2.contains(&operation),
        ("kms", operation) => operation == "schedule-key-deletion",
        ("organizations", "close-account") | ("sqs", "purge-queue") => true,
        ("elasticbeanstalk", "terminate-environment") => true,
        (service, operation) => {
            AWS_SERVICES.contains(&service)
                && (operation.starts_with("delete-") || operation.starts_with("terminate-"))
                && !AWS_SMALL.contains(&operation)
        }
    };
    if destroys {
        return destroy(machine, call);
    }
    if (service, operation) == ("s3", "cp") || (service, operation) == ("s3", "sync") {
        let place = parsed.operands.last().filter(|place| !place.prefix().contains("://"));
        match place {
            Some(place) if place.is("-") => return Stream::Network("aws s3".to_owned()),
            Some(place) => machine.change(place, aurora_model::Touch::Write, false),
            None => {}
        }
    }
    output(call)
}

/// Groups of `az` whose `delete` destroys data or running systems.
const AZ: &[&str] = &[
    "acr",
    "aks",
    "appservice",
    "container",
    "containerapp",
    "cosmosdb",
    "disk",
    "eventhubs",
    "functionapp",
    "group",
    "keyvault",
    "mariadb",
    "mysql",
    "network",
    "postgres",
    "redis",
    "resource",
    "servicebus",
    "snapshot",
    "sql",
    "storage",
    "synapse",
    "vm",
    "vmss",
    "webapp",
];

/// `az GROUP … delete`.
pub fn az(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "ngo",
        long_values: &["name", "resource-group", "output", "subscription", "query", "ids"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if idle(&parsed) || parsed.has('h', "") {
        return output(call);
    }
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
    let destroys = match words.as_slice() {
        ["storage", "blob" | "file" | "message" | "entity", "delete", ..] => false,
        [group, rest @ ..] => {
            AZ.contains(group)
                && rest
                    .iter()
                    .take(3)
                    .any(|word| matches!(*word, "delete" | "delete-batch" | "purge"))
        }
        [] => false,
    };
    if destroys { destroy(machine, call) } else { output(call) }
}

/// Groups of `gcloud` whose `delete` destroys data or running systems.
const GCLOUD: &[&str] = &[
    "app",
    "artifacts",
    "bigtable",
    "composer",
    "compute",
    "container",
    "dataflow",
    "dataproc",
    "deployment-manager",
    "dns",
    "filestore",
    "firestore",
    "functions",
    "infra-manager",
    "kms",
    "memcache",
    "projects",
    "pubsub",
    "redis",
    "run",
    "secrets",
    "spanner",
    "sql",
    "storage",
];

/// `gcloud GROUP … delete`, `gcloud storage rm -r`.
pub fn gcloud(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        long_values: &[
            "project",
            "account",
            "region",
            "zone",
            "location",
            "format",
            "filter",
            "configuration",
            "impersonate-service-account",
            "instance",
            "cluster",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if idle(&parsed) {
        return output(call);
    }
    let words: Vec<&str> = parsed
        .operands
        .iter()
        .map(|word| word.text().unwrap_or(""))
        .filter(|word| !matches!(*word, "alpha" | "beta"))
        .collect();
    let wild = words.iter().any(|word| word.contains("**"))
        || parsed.operands.iter().any(|word| word.has_glob());
    let destroys = match words.as_slice() {
        ["storage", "rm", ..] => parsed.has('r', "recursive") || parsed.has('R', "") || wild,
        ["storage", "rsync", ..] => parsed.has('\0', "delete-unmatched-destination-objects"),
        [group, rest @ ..] => {
            GCLOUD.contains(group)
                && rest.iter().take(3).any(|word| matches!(*word, "delete" | "destroy"))
        }
        [] => false,
    };
    if destroys { destroy(machine, call) } else { output(call) }
}

/// `gsutil rm -r`, `gsutil rb`.
pub fn gsutil(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "ohu", ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    let wild = parsed.operands.iter().any(|word| word.has_glob() || word.display().contains('*'));
    let destroys = match parsed.operands.first().and_then(|word| word.text()) {
        Some("rm") => parsed.has('r', "") || parsed.has('R', "") || parsed.has('a', "") || wild,
        Some("rb") => true,
        Some("rsync") => parsed.has('d', "") && !parsed.has('n', ""),
        _ => false,
    };
    if destroys { destroy(machine, call) } else { output(call) }
}

/// `gh repo delete`, and the same through `gh api`.
pub fn gh(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "RXfFHbtqBHlamBdpLsSj",
        long_values: &[
            "repo",
            "method",
            "field",
            "raw-field",
            "header",
            "input",
            "jq",
            "template",
            "body",
            "title",
            "base",
            "head",
            "label",
            "assignee",
            "milestone",
            "limit",
            "state",
            "search",
            "json",
            "hostname",
            "body-file",
            "message",
            "description",
            "reviewer",
            "project",
            "author",
            "notes",
            "notes-file",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
    let destroys = match words.as_slice() {
        ["repo", "delete", ..] => !idle(&parsed),
        ["api", path, ..] => {
            let method = parsed.value('X', "method").and_then(Field::text).unwrap_or("");
            let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
            method.eq_ignore_ascii_case("delete") && matches!(parts.as_slice(), ["repos", _, _])
        }
        _ => false,
    };
    if destroys { destroy(machine, call) } else { Stream::Network("gh".to_owned()) }
}
