//! SQL clients as data: which options carry code, which name files.

use aurora_model::SqlDialect;

use super::super::options::{Spec, Style};

type Options = &'static [(char, &'static str)];

/// A client that takes code from options, files, operands or standard input.
pub(super) struct Client {
    pub(super) names: &'static [&'static str],
    /// The subcommand that it needs, or nothing.
    pub(super) command: &'static str,
    pub(super) dialect: SqlDialect,
    pub(super) spec: Spec,
    /// Options whose value is code.
    pub(super) code: Options,
    /// Options whose value is a file of code.
    pub(super) files: Options,
    /// Options whose value is a file that is written.
    pub(super) writes: Options,
    /// From which operand on operands are code.
    pub(super) operands: Option<usize>,
}

const fn client(names: &'static [&'static str], dialect: SqlDialect) -> Client {
    Client {
        names,
        command: "",
        dialect,
        spec: Spec::FLAGS,
        code: &[],
        files: &[],
        writes: &[],
        operands: None,
    }
}

const PSQL: Spec = Spec {
    short_values: "cdfhLopPRTFUv",
    long_values: &[
        "command",
        "dbname",
        "file",
        "host",
        "log-file",
        "output",
        "port",
        "pset",
        "record-separator",
        "table-attr",
        "field-separator",
        "username",
        "variable",
        "set",
    ],
    long_flags: &[
        "no-align",
        "echo-all",
        "echo-errors",
        "echo-queries",
        "echo-hidden",
        "html",
        "list",
        "no-readline",
        "quiet",
        "single-step",
        "single-line",
        "tuples-only",
        "expanded",
        "no-psqlrc",
        "field-separator-zero",
        "record-separator-zero",
        "single-transaction",
        "csv",
        "password",
        "no-password",
        "version",
    ],
    long_optional: &["help"],
    ..Spec::FLAGS
};

const MYSQL: Spec = Spec {
    short_values: "eDhuPS",
    short_optional: "p",
    long_values: &[
        "execute",
        "database",
        "host",
        "user",
        "port",
        "socket",
        "defaults-file",
        "defaults-extra-file",
        "default-character-set",
        "ssl-ca",
        "ssl-cert",
        "ssl-key",
        "ssl-mode",
        "protocol",
        "delimiter",
        "init-command",
        "prompt",
        "tee",
        "login-path",
        "plugin-dir",
        "connect-timeout",
        "max-allowed-packet",
        "default-auth",
        "character-sets-dir",
        "pager",
        "bind-address",
    ],
    long_flags: &[
        "batch",
        "silent",
        "skip-column-names",
        "table",
        "verbose",
        "html",
        "xml",
        "raw",
        "force",
        "quick",
        "no-auto-rehash",
        "compress",
        "version",
        "help",
        "vertical",
        "safe-updates",
        "skip-ssl",
        "wait",
    ],
    long_optional: &["password", "ssl"],
    ..Spec::FLAGS
};

/// All of them.
pub(super) static CLIENTS: &[Client] = &[
    Client {
        spec: PSQL,
        code: &[('c', "command")],
        files: &[('f', "file")],
        writes: &[('o', "output"), ('L', "log-file")],
        ..client(&["psql", "pgcli", "yugabyte", "ysqlsh", "gsql", "vsql"], SqlDialect::Postgres)
    },
    Client {
        spec: MYSQL,
        code: &[('e', "execute"), ('\0', "init-command")],
        writes: &[('\0', "tee")],
        ..client(&["mysql", "mariadb", "mycli"], SqlDialect::Mysql)
    },
    Client {
        spec: Spec {
            short_values: "efhuPpD",
            long_values: &[
                "execute", "file", "uri", "host", "user", "port", "password", "schema", "database",
            ],
            ..Spec::FLAGS
        },
        code: &[('e', "execute")],
        files: &[('f', "file")],
        ..client(&["mysqlsh"], SqlDialect::Mysql)
    },
    Client {
        spec: Spec {
            short_values: "qhudpP",
            long_values: &[
                "query",
                "queries-file",
                "host",
                "port",
                "user",
                "password",
                "database",
                "format",
                "config-file",
                "output-format",
                "input-format",
                "structure",
                "table",
                "file",
            ],
            style: Style::Permute,
            ..Spec::FLAGS
        },
        code: &[('q', "query")],
        files: &[('\0', "queries-file")],
        ..client(&["clickhouse-client", "clickhouse-local"], SqlDialect::Generic)
    },
    Client {
        spec: Spec {
            short_values: "q",
            long_values: &[
                "query",
                "queries-file",
                "host",
                "port",
                "user",
                "password",
                "database",
                "format",
            ],
            ..Spec::FLAGS
        },
        code: &[('q', "query")],
        files: &[('\0', "queries-file")],
        ..client(&["clickhouse", "ch"], SqlDialect::Generic)
    },
    Client {
        spec: Spec {
            long_values: &["c", "s", "f", "cmd", "init", "separator", "nullvalue", "newline"],
            short_values: "csf",
            style: Style::SingleDash,
            ..Spec::FLAGS
        },
        code: &[('c', "c"), ('s', "s"), ('\0', "cmd")],
        files: &[('f', "f"), ('\0', "init")],
        operands: Some(1),
        ..client(&["duckdb"], SqlDialect::Postgres)
    },
    Client {
        command: "sql",
        spec: Spec {
            short_values: "efud",
            long_values: &[
                "execute",
                "file",
                "url",
                "host",
                "user",
                "database",
                "format",
                "certs-dir",
                "set",
                "port",
            ],
            ..Spec::FLAGS
        },
        code: &[('e', "execute")],
        files: &[('f', "file")],
        ..client(&["cockroach"], SqlDialect::Postgres)
    },
    Client {
        spec: Spec {
            short_values: "efkup",
            long_values: &[
                "execute",
                "file",
                "keyspace",
                "username",
                "password",
                "cqlshrc",
                "request-timeout",
                "connect-timeout",
            ],
            ..Spec::FLAGS
        },
        code: &[('e', "execute")],
        files: &[('f', "file")],
        ..client(&["cqlsh"], SqlDialect::Generic)
    },
    Client {
        spec: Spec {
            short_values: "qfoadurwsc",
            long_values: &[
                "query",
                "filename",
                "option",
                "accountname",
                "dbname",
                "username",
                "rolename",
                "warehouse",
                "schemaname",
                "connection",
            ],
            ..Spec::FLAGS
        },
        code: &[('q', "query")],
        files: &[('f', "filename")],
        ..client(&["snowsql"], SqlDialect::Generic)
    },
    Client {
        command: "sql",
        spec: Spec {
            short_values: "qfc",
            long_values: &[
                "query",
                "filename",
                "connection",
                "database",
                "warehouse",
                "role",
                "schema",
            ],
            ..Spec::FLAGS
        },
        code: &[('q', "query")],
        files: &[('f', "filename")],
        ..client(&["snow"], SqlDialect::Generic)
    },
    Client {
        spec: Spec {
            short_values: "cfoFRTvPd",
            long_values: &["command", "file", "out", "set", "variable", "pset"],
            ..Spec::FLAGS
        },
        code: &[('c', "command")],
        files: &[('f', "file")],
        writes: &[('o', "out")],
        ..client(&["usql"], SqlDialect::Generic)
    },
    Client {
        spec: Spec {
            short_values: "f",
            long_values: &[
                "execute",
                "file",
                "server",
                "catalog",
                "schema",
                "user",
                "output-format",
                "session",
                "password",
            ],
            ..Spec::FLAGS
        },
        code: &[('\0', "execute")],
        files: &[('f', "file")],
        ..client(&["trino", "presto", "presto-cli", "trino-cli"], SqlDialect::Generic)
    },
    Client {
        spec: Spec {
            short_values: "qfidou",
            long_values: &["query", "query_file", "impalad", "database", "output_file", "user"],
            ..Spec::FLAGS
        },
        code: &[('q', "query")],
        files: &[('f', "query_file")],
        writes: &[('o', "output_file")],
        ..client(&["impala-shell"], SqlDialect::Generic)
    },
    Client {
        spec: Spec {
            short_values: "efiunpdhw",
            long_values: &[
                "hiveconf",
                "hivevar",
                "database",
                "master",
                "conf",
                "jars",
                "silent",
                "outputformat",
            ],
            ..Spec::FLAGS
        },
        code: &[('e', "")],
        files: &[('f', ""), ('i', "")],
        ..client(&["hive", "beeline", "spark-sql"], SqlDialect::Generic)
    },
    Client {
        spec: Spec { short_values: "SUPDHpJt", ..Spec::FLAGS },
        ..client(
            &["isql", "tsql", "fisql", "bsqldb", "isql-fb", "nzsql", "dbaccess", "sqlline", "rsql"],
            SqlDialect::Generic,
        )
    },
];
