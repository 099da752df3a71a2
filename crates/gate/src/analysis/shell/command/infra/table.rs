//! Commands that destroy infrastructure, one row each.

use super::super::options::Spec;
use super::super::rule::Outcome::{Files, Infra};
use super::super::rule::{Rule, anywhere, start};

/// Options with a value that may stand before the command.
pub(super) const SPEC: Spec = Spec {
    short_values: "CnsA",
    long_values: &[
        "stack",
        "cwd",
        "config",
        "config-file",
        "app",
        "profile",
        "region",
        "context",
        "kube-context",
        "kubeconfig",
        "namespace",
        "stage",
        "env",
        "environment",
        "output",
        "org",
        "project",
        "team",
        "token",
        "scope",
        "endpoints",
        "bootstrap-server",
        "zookeeper",
        "topic",
        "address",
        "http-addr",
        "selector",
        "file",
        "timeout",
        "description",
        "host",
        "user",
    ],
    ..Spec::FLAGS
};

/// All of them; the first that fits counts.
pub(super) static RULES: &[Rule] = &[
    start(&["pulumi"], &["destroy|down|dn"], Infra),
    start(&["pulumi"], &["stack", "rm"], Infra),
    start(&["cdk", "cdklocal", "cdktf"], &["destroy"], Infra),
    start(&["sam", "samlocal"], &["delete"], Infra),
    start(&["serverless", "sls", "sst"], &["remove"], Infra),
    start(&["copilot"], &["app|svc|env|job|pipeline", "delete"], Infra),
    start(&["amplify", "chalice", "skaffold"], &["delete"], Infra),
    start(&["zappa"], &["undeploy"], Infra),
    start(&["eb"], &["terminate"], Infra),
    start(&["eksctl", "kops", "rosa"], &["delete"], Infra),
    start(&["helm", "helm3"], &["uninstall|delete|del|un"], Infra),
    start(&["helmfile"], &["destroy|delete"], Infra),
    start(&["argocd"], &["app|appset|cluster|proj", "delete"], Infra),
    start(&["flux", "istioctl", "linkerd", "cilium"], &["uninstall"], Infra),
    start(&["fly", "flyctl"], &["destroy"], Infra),
    start(
        &["fly", "flyctl"],
        &[
            "apps|app|machine|machines|m|volumes|volume|vol|postgres|pg|redis|storage",
            "destroy|delete",
        ],
        Infra,
    ),
    start(&["vercel", "now"], &["remove|rm"], Infra),
    start(&["vercel"], &["project", "rm|remove"], Infra),
    start(&["netlify", "ntl"], &["sites:delete"], Infra),
    start(&["railway"], &["delete"], Infra),
    Rule {
        needs: &[('\0', "all-collections"), ('r', "recursive")],
        ..start(&["firebase"], &["firestore:delete"], Infra)
    },
    start(&["firebase"], &["database:remove|projects:delete"], Infra),
    start(&["glab"], &["repo|project", "delete"], Infra),
    start(&["hub"], &["delete"], Infra),
    anywhere(
        &[
            "hcloud",
            "linode-cli",
            "vultr-cli",
            "openstack",
            "oci",
            "doctl",
            "scw",
            "upctl",
            "ibmcloud",
            "exo",
        ],
        &["delete", "destroy", "terminate"],
        Infra,
    ),
    anywhere(&["civo"], &["remove", "delete", "destroy"], Infra),
    start(&["vagrant"], &["destroy"], Infra),
    Rule {
        needs: &[('\0', "remove-all-storage"), ('\0', "storage")],
        ..start(&["virsh"], &["undefine"], Infra)
    },
    start(&["virsh"], &["vol-delete|vol-wipe|pool-delete"], Infra),
    Rule { needs: &[('\0', "purge")], ..start(&["nomad"], &["job", "stop"], Infra) },
    Rule { needs: &[('\0', "purge")], ..start(&["nomad"], &["stop"], Infra) },
    start(&["nomad"], &["namespace|volume", "delete"], Infra),
    Rule { needs: &[('\0', "recurse")], ..start(&["consul"], &["kv", "delete"], Infra) },
    Rule { needs: &[('\0', "prefix"), ('\0', "from-key")], ..start(&["etcdctl"], &["del"], Infra) },
    start(&["vault", "bao"], &["secrets|auth", "disable"], Infra),
    start(&["vault", "bao"], &["kv", "destroy"], Infra),
    start(&["vault", "bao"], &["kv", "metadata", "delete"], Infra),
    Rule { needs: &[('\0', "delete")], ..start(&["kafka-topics", "kafka-topics.sh"], &[], Infra) },
    start(&["rabbitmqctl"], &["reset|force_reset|delete_vhost"], Infra),
    start(&["influx"], &["bucket|org", "delete"], Infra),
    Rule {
        needs: &[('r', "recursive"), ('\0', "force")],
        ..start(&["mc", "mcli"], &["rm|rb"], Infra)
    },
    start(&["s3cmd"], &["rb"], Infra),
    Rule { needs: &[('r', "recursive")], ..start(&["s3cmd"], &["del|rm"], Infra) },
    Rule { needs: &[('\0', "recursive")], ..start(&["azcopy"], &["remove|rm"], Infra) },
    start(&["ceph"], &["osd", "pool", "delete|rm"], Infra),
    start(&["ceph"], &["fs", "rm"], Infra),
    start(&["rbd"], &["rm|remove"], Infra),
    start(&["pg_dropcluster"], &["*", "*"], Infra),
    Rule {
        needs: &[('r', "remove"), ('\0', "remove-home"), ('\0', "remove-all-files")],
        ..start(&["userdel", "deluser"], &["*"], Files)
    },
];
