//! Programs that destroy infrastructure: clusters, stacks, buckets, volumes.

use super::options::{Spec, Style};
use super::subcommand::{Harm, Program, Row};

const fn infra(words: &'static [&'static str], what: &'static str) -> Row {
    Row { words, needs: &[], unless: &[], harm: Harm::Infra, what }
}

const fn infra_with(
    words: &'static [&'static str],
    needs: &'static [&'static str],
    what: &'static str,
) -> Row {
    Row { words, needs, unless: &[], harm: Harm::Infra, what }
}

/// A copy whose last operand may be a file here.
const fn copies(words: &'static [&'static str]) -> Row {
    Row { words, needs: &[], unless: &[], harm: Harm::CopiesTo, what: "" }
}

const TERRAFORM: Spec = Spec {
    long_values: &["target", "var-file", "state", "terragrunt-working-dir", "working-dir"],
    style: Style::SingleDash,
    ..Spec::FLAGS
};

const KUBECTL: Spec = Spec {
    short_values: "nfloskc",
    long_values: &[
        "namespace",
        "context",
        "kubeconfig",
        "cluster",
        "user",
        "server",
        "filename",
        "selector",
        "output",
        "field-selector",
        "grace-period",
        "timeout",
        "token",
        "as",
        "cascade",
        "wait",
        "kube-context",
        "v",
    ],
    ..Spec::FLAGS
};

const CLOUD: Spec = Spec {
    short_values: "ngsop",
    long_values: &[
        "profile",
        "region",
        "output",
        "query",
        "endpoint-url",
        "project",
        "zone",
        "account",
        "configuration",
        "format",
        "name",
        "resource-group",
        "subscription",
        "cli-read-timeout",
        "context",
        "stack",
        "cwd",
        "app",
        "config",
        "org",
        "location",
        "impersonate-service-account",
        "include",
        "exclude",
        "page-size",
    ],
    ..Spec::FLAGS
};

const DOCKER: Spec = Spec {
    short_values: "Hlcfpt",
    long_values: &[
        "host",
        "context",
        "log-level",
        "config",
        "file",
        "project-name",
        "profile",
        "env-file",
        "project-directory",
        "timeout",
        "filter",
        "tlscacert",
        "tlscert",
        "tlskey",
        "rmi",
    ],
    ..Spec::FLAGS
};

const VOLUMES: &[&str] = &["-v", "--volumes"];

/// Every program of this file with the ways in which it destroys.
pub static PROGRAMS: &[Program] = &[
    Program {
        names: &["terraform", "tofu", "terragrunt", "terraform-cli"],
        spec: TERRAFORM,
        rows: &[
            infra(&["destroy"], "everything that this configuration manages"),
            infra(&["run-all|run|stack", "destroy"], "everything that these configurations manage"),
            infra(&["destroy-all"], "everything that these configurations manage"),
            infra_with(
                &["apply"],
                &["-destroy", "--destroy"],
                "everything that this configuration manages",
            ),
            infra(&["workspace", "delete"], "a workspace and its state"),
        ],
    },
    Program {
        names: &["pulumi"],
        spec: CLOUD,
        rows: &[
            Row {
                words: &["destroy|down|dn"],
                needs: &[],
                unless: &["--preview-only"],
                harm: Harm::Infra,
                what: "every resource of the stack",
            },
            infra(&["stack", "rm"], "a stack"),
        ],
    },
    Program {
        names: &["cdk", "cdktf"],
        spec: CLOUD,
        rows: &[infra(&["destroy"], "stacks and their resources")],
    },
    Program {
        names: &["sam", "copilot"],
        spec: CLOUD,
        rows: &[
            infra(&["delete"], "the application's stack"),
            infra(&["app|env|svc", "delete"], "an application, environment or service"),
        ],
    },
    Program {
        names: &["serverless", "sls", "sst"],
        spec: CLOUD,
        rows: &[infra(&["remove"], "the deployed service")],
    },
    Program {
        names: &["kubectl", "oc", "k", "kubecolor", "minikube-kubectl"],
        spec: KUBECTL,
        rows: &[
            copies(&["cp|rsync"]),
            infra(
                &[
                    "delete",
                    "ns|ns/*|namespace|namespace/*|namespaces|namespaces/*|project|projects|project/*",
                ],
                "a namespace and everything in it",
            ),
            infra(
                &["delete", "pv|pvc|pv/*|pvc/*|persistentvolume*|*,pvc|*,pv|pvc,*|pv,*"],
                "volumes and the data on them",
            ),
            infra(
                &["delete", "crd|crds|crd/*|customresourcedefinition*"],
                "a resource definition and all its resources",
            ),
            infra(
                &["delete", "node|nodes|no|node/*|nodes/*|clusterrole*"],
                "a part of the cluster",
            ),
            infra_with(
                &["delete"],
                &["--all", "-A", "--all-namespaces"],
                "every resource of that kind",
            ),
        ],
    },
    Program {
        names: &["helm", "helmfile"],
        spec: KUBECTL,
        rows: &[infra(&["uninstall|delete|del|un|destroy"], "a release and its resources")],
    },
    Program {
        names: &["eksctl"],
        spec: CLOUD,
        rows: &[infra(
            &["delete", "cluster|nodegroup|fargateprofile"],
            "a cluster or a part of it",
        )],
    },
    Program {
        names: &["aws", "awslocal"],
        spec: CLOUD,
        rows: &[
            infra(&["s3", "rb"], "a bucket"),
            copies(&["s3", "cp|mv|sync"]),
            infra_with(&["s3", "rm"], &["--recursive"], "every object below a prefix"),
            infra_with(
                &["s3", "sync|mv"],
                &["--delete", "--recursive"],
                "objects at the destination",
            ),
            infra(
                &["ec2", "terminate-*|delete-vpc|delete-volume|delete-snapshot|delete-subnet"],
                "machines, disks or networks",
            ),
            infra(&["s3api", "delete-bucket*|delete-objects"], "a bucket or its objects"),
            infra(
                &[
                    "*",
                    "delete-db-*|delete-cluster*|delete-stack*|delete-table|delete-function|delete-repository|delete-hosted-zone|delete-user-pool|delete-key|schedule-key-deletion|delete-secret|delete-file-system|delete-domain|delete-cache-cluster|delete-replication-group|delete-auto-scaling-group|delete-load-balancer|delete-service|delete-log-group|delete-stream|delete-queue|delete-topic|delete-rest-api|delete-distribution|delete-organization|delete-backup*|delete-global-cluster|delete-instance|delete-app|delete-environment|terminate-environment|terminate-job-flows|deregister-*",
                ],
                "a resource of the account",
            ),
        ],
    },
    Program {
        names: &["gcloud", "gsutil"],
        spec: CLOUD,
        rows: &[
            infra(&["projects|config", "delete"], "a project"),
            copies(&["cp|rsync|mv"]),
            copies(&["storage", "cp|rsync|mv"]),
            copies(&["compute", "scp"]),
            infra(&["alpha|beta", "*", "*", "delete"], "a cloud resource"),
            infra(
                &[
                    "compute|sql|container|run|functions|redis|filestore|spanner|bigtable|dataproc|artifacts|iam|kms|dns|pubsub|app|composer|memcache|storage|secrets|deployment-manager",
                    "*",
                    "delete|destroy",
                ],
                "a cloud resource",
            ),
            infra(&["functions|secrets|container|run", "delete"], "a cloud resource"),
            infra_with(
                &["storage", "rm"],
                &["-r", "-R", "--recursive", "--all-versions"],
                "every object below a prefix",
            ),
            infra(&["storage", "buckets", "delete"], "a bucket"),
            infra_with(&["rm"], &["-r", "-R", "-a"], "every object below a prefix"),
            infra(&["rb"], "a bucket"),
        ],
    },
    Program {
        names: &["az"],
        spec: CLOUD,
        rows: &[
            infra(
                &[
                    "group|vm|aks|webapp|functionapp|disk|keyvault|acr|vmss|cosmosdb|redis|appservice|container",
                    "delete",
                ],
                "a resource or a whole group of them",
            ),
            infra(
                &[
                    "sql|storage|network|cosmosdb|postgres|mysql|monitor|keyvault|ad|mariadb",
                    "*",
                    "delete|delete-batch",
                ],
                "a cloud resource",
            ),
            infra(&["sql|cosmosdb|storage|postgres|mysql", "*", "*", "delete"], "a cloud resource"),
        ],
    },
    Program {
        names: &["doctl", "linode-cli", "hcloud", "scw", "vultr-cli", "exo", "ibmcloud", "oci"],
        spec: CLOUD,
        rows: &[
            infra(&["*", "delete|destroy|rm|d|terminate"], "a cloud resource"),
            infra(&["*", "*", "delete|destroy|rm|terminate"], "a cloud resource"),
        ],
    },
    Program {
        names: &["fly", "flyctl"],
        spec: CLOUD,
        rows: &[
            infra(
                &["apps|app|volumes|volume|machine|machines|postgres|redis", "destroy|delete"],
                "an application or its data",
            ),
            infra(&["destroy"], "an application"),
        ],
    },
    Program {
        names: &["userdel", "deluser"],
        spec: Spec::FLAGS,
        rows: &[Row {
            words: &["*"],
            needs: &["-r", "--remove", "--remove-home", "--remove-all-files"],
            unless: &[],
            harm: Harm::Files,
            what: "",
        }],
    },
    Program { names: &["gh"], spec: CLOUD, rows: &[infra(&["repo", "delete"], "a repository")] },
    Program {
        names: &["glab"],
        spec: CLOUD,
        rows: &[infra(&["repo|project", "delete"], "a repository")],
    },
    Program {
        names: &["docker", "podman", "nerdctl"],
        spec: DOCKER,
        rows: &[
            copies(&["cp"]),
            copies(&["container|compose", "cp"]),
            infra(&["volume", "rm|remove|prune"], "volumes and the data on them"),
            infra_with(&["system", "prune"], &["--volumes"], "unused volumes and the data on them"),
            infra_with(
                &["compose", "down|rm"],
                VOLUMES,
                "the services' volumes and the data on them",
            ),
            infra_with(&["stack", "rm|down|remove"], &[], "a stack of services"),
        ],
    },
    Program {
        names: &["docker-compose", "podman-compose"],
        spec: DOCKER,
        rows: &[infra_with(&["down|rm"], VOLUMES, "the services' volumes and the data on them")],
    },
    Program {
        names: &["vagrant"],
        spec: CLOUD,
        rows: &[infra(&["destroy"], "virtual machines"), infra(&["box", "remove"], "a box")],
    },
    Program {
        names: &["virsh"],
        spec: CLOUD,
        rows: &[
            infra_with(
                &["undefine"],
                &["--remove-all-storage", "--storage"],
                "a machine and its disks",
            ),
            infra(&["vol-delete|vol-wipe|pool-delete|pool-destroy"], "storage"),
        ],
    },
    Program {
        names: &["consul"],
        spec: CLOUD,
        rows: &[infra_with(
            &["kv", "delete"],
            &["-recurse", "--recurse"],
            "every key below a prefix",
        )],
    },
    Program {
        names: &["etcdctl"],
        spec: CLOUD,
        rows: &[infra_with(&["del"], &["--prefix", "--from-key"], "every key below a prefix")],
    },
    Program {
        names: &["nomad"],
        spec: CLOUD,
        rows: &[
            infra_with(&["job", "stop"], &["-purge", "--purge"], "a job"),
            infra_with(&["stop"], &["-purge", "--purge"], "a job"),
            infra(&["namespace|volume", "delete"], "a namespace or volume"),
        ],
    },
    Program {
        names: &["vault"],
        spec: CLOUD,
        rows: &[
            infra(&["secrets", "disable"], "a secrets engine and everything in it"),
            infra(&["kv", "metadata", "delete"], "every version of a secret"),
            infra(&["kv", "destroy"], "versions of a secret"),
        ],
    },
    Program {
        names: &["vercel", "now"],
        spec: CLOUD,
        rows: &[
            infra(&["remove|rm"], "deployments or a project"),
            infra(&["project|projects", "rm|remove"], "a project"),
        ],
    },
    Program {
        names: &["netlify", "firebase", "railway", "render"],
        spec: CLOUD,
        rows: &[infra(
            &[
                "sites:delete|firestore:delete|database:remove|projects:delete|hosting:disable|delete|down",
            ],
            "a site, project or database",
        )],
    },
    Program {
        names: &["pscale", "neonctl", "neon", "turso"],
        spec: CLOUD,
        rows: &[Row {
            words: &["database|databases|db|projects|branch|branches", "delete|destroy"],
            needs: &[],
            unless: &[],
            harm: Harm::Drop,
            what: "a database or branch of it",
        }],
    },
    Program {
        names: &["wrangler"],
        spec: CLOUD,
        rows: &[
            infra(&["delete"], "a worker"),
            infra(
                &["r2|kv|kv:namespace|queues|pages|vectorize|hyperdrive", "delete"],
                "a resource",
            ),
            infra(&["r2|kv|pages", "bucket|namespace|project|object", "delete"], "a resource"),
            Row {
                words: &["d1", "delete"],
                needs: &[],
                unless: &[],
                harm: Harm::Drop,
                what: "a D1 database",
            },
        ],
    },
    Program {
        names: &["rclone"],
        spec: CLOUD,
        rows: &[Row {
            words: &["purge|delete|sync|rmdirs|cleanup|dedupe"],
            needs: &[],
            unless: &["-n"],
            harm: Harm::Files,
            what: "",
        }],
    },
    Program {
        names: &["mc", "s3cmd", "s5cmd"],
        spec: CLOUD,
        rows: &[
            infra_with(
                &["rm|del"],
                &["--recursive", "-r", "--force"],
                "every object below a prefix",
            ),
            infra(&["rb"], "a bucket"),
        ],
    },
];
