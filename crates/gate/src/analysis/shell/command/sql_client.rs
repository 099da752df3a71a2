//! Programs that carry SQL to a database: where the code stands among their arguments, as data.

mod other;

use aurora_model::{EffectKind, SqlDialect, Touch};

use super::options::{Parsed, Spec, Style};
use super::step::joined;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};
use crate::analysis::sql;

pub use self::other::MODELS;

/// One SQL client.
#[derive(Debug, Clone, Copy)]
struct Client {
    names: &'static [&'static str],
    dialect: SqlDialect,
    spec: Spec,
    /// Options whose value is code: letter and name.
    code: &'static [(char, &'static str)],
    /// Options whose value is a file of code.
    file: &'static [(char, &'static str)],
    /// Options whose value is a file that is written.
    output: &'static [(char, &'static str)],
    /// Words that must come first (`cockroach sql`).
    words: &'static [&'static str],
    /// From which operand (behind the words) on operands are code.
    code_operand: Option<usize>,
}

const NONE: char = '\0';

const PSQL: Spec = Spec {
    short_values: "cdfhLopPFRTUv",
    long_values: &[
        "command",
        "dbname",
        "file",
        "host",
        "port",
        "username",
        "set",
        "variable",
        "output",
        "log-file",
        "field-separator",
        "record-separator",
        "table-attr",
        "pset",
    ],
    ..Spec::FLAGS
};

const MYSQL: Spec = Spec {
    short_values: "eDhPSu",
    short_optional: "p",
    long_values: &[
        "execute",
        "database",
        "host",
        "port",
        "socket",
        "user",
        "default-character-set",
        "defaults-file",
        "defaults-extra-file",
        "init-command",
        "protocol",
        "ssl-mode",
        "ssl-ca",
        "delimiter",
        "prompt",
        "tee",
        "pager",
        "connect-timeout",
        "max-allowed-packet",
    ],
    long_optional: &["password"],
    ..Spec::FLAGS
};

const SQLITE: Spec = Spec {
    long_values: &[
        "cmd",
        "init",
        "separator",
        "newline",
        "nullvalue",
        "mmap",
        "maxsize",
        "vfs",
        "lookaside",
        "pagecache",
        "c",
        "s",
        "f",
    ],
    style: Style::SingleDash,
    ..Spec::FLAGS
};

const INFLUX: Spec = Spec {
    long_values: &[
        "execute",
        "database",
        "host",
        "port",
        "username",
        "password",
        "format",
        "precision",
        "socket",
        "path",
        "type",
        "pretty",
    ],
    style: Style::SingleDash,
    ..Spec::FLAGS
};

const PLAIN: Spec = Spec {
    short_values: "ceqQfihpudDUSPHnvokst",
    long_values: &[
        "command",
        "execute",
        "query",
        "file",
        "host",
        "port",
        "user",
        "password",
        "database",
        "queries-file",
        "queries",
        "url",
        "server",
        "catalog",
        "schema",
        "output",
        "input",
        "keyspace",
        "cluster",
        "project_id",
        "project",
        "location",
        "env",
        "name",
        "config",
        "app",
        "certs-dir",
        "eval",
        "format",
        "warehouse",
        "role",
        "account",
        "dbname",
        "multiquery",
        "param",
        "vertical",
        "time",
    ],
    ..Spec::FLAGS
};

const fn client(
    names: &'static [&'static str],
    dialect: SqlDialect,
    spec: Spec,
    code: &'static [(char, &'static str)],
    file: &'static [(char, &'static str)],
) -> Client {
    Client { names, dialect, spec, code, file, output: &[], words: &[], code_operand: None }
}

static CLIENTS: &[Client] = &[
    Client {
        output: &[('o', "output"), ('L', "log-file")],
        ..client(
            &["psql", "pgcli", "psqlsh", "ysqlsh", "edb-psql"],
            SqlDialect::Postgres,
            PSQL,
            &[('c', "command")],
            &[('f', "file")],
        )
    },
    Client {
        output: &[(NONE, "tee")],
        ..client(
            &["mysql", "mariadb", "mycli", "mysqlsh", "tidb"],
            SqlDialect::Mysql,
            MYSQL,
            &[('e', "execute"), (NONE, "init-command")],
            &[(NONE, "file")],
        )
    },
    Client {
        code_operand: Some(1),
        ..client(
            &["sqlite3", "sqlite", "sqlcipher"],
            SqlDialect::Sqlite,
            SQLITE,
            &[(NONE, "cmd")],
            &[(NONE, "init")],
        )
    },
    client(&["litecli"], SqlDialect::Sqlite, PLAIN, &[('e', "execute")], &[]),
    client(&["influx"], SqlDialect::Generic, INFLUX, &[(NONE, "execute")], &[]),
    Client {
        code_operand: Some(1),
        ..client(
            &["duckdb"],
            SqlDialect::Postgres,
            Spec { short_values: "csf", ..SQLITE },
            &[('c', "c"), (NONE, "cmd"), ('s', "s")],
            &[(NONE, "init"), ('f', "f")],
        )
    },
    client(
        &["sqlcmd", "osql", "isql", "mssql-cli", "tsql"],
        SqlDialect::Mssql,
        PLAIN,
        &[('Q', "query"), ('q', "query")],
        &[('i', "input")],
    ),
    client(
        &["clickhouse-client", "clickhouse-local"],
        SqlDialect::Mysql,
        PLAIN,
        &[('q', "query")],
        &[(NONE, "queries-file")],
    ),
    Client {
        words: &["client|local"],
        ..client(
            &["clickhouse"],
            SqlDialect::Mysql,
            PLAIN,
            &[('q', "query")],
            &[(NONE, "queries-file")],
        )
    },
    Client {
        words: &["sql"],
        ..client(&["cockroach"], SqlDialect::Postgres, PLAIN, &[('e', "execute")], &[('f', "file")])
    },
    client(&["cqlsh"], SqlDialect::Generic, PLAIN, &[('e', "execute")], &[('f', "file")]),
    client(
        &["snowsql", "snow"],
        SqlDialect::Generic,
        PLAIN,
        &[('q', "query")],
        &[('f', "filename")],
    ),
    client(
        &["usql", "dolt-sql", "iredis-sql"],
        SqlDialect::Generic,
        PLAIN,
        &[('c', "command")],
        &[('f', "file")],
    ),
    client(
        &["trino", "presto", "presto-cli"],
        SqlDialect::Generic,
        PLAIN,
        &[(NONE, "execute")],
        &[('f', "file")],
    ),
    client(&["impala-shell"], SqlDialect::Mysql, PLAIN, &[('q', "query")], &[('f', "query_file")]),
    client(
        &["hive", "beeline", "spark-sql"],
        SqlDialect::Mysql,
        PLAIN,
        &[('e', "execute")],
        &[('f', "file"), ('i', "input")],
    ),
    Client {
        words: &["sql"],
        ..client(&["dolt"], SqlDialect::Mysql, PLAIN, &[('q', "query")], &[('f', "file")])
    },
    Client {
        words: &["query"],
        code_operand: Some(0),
        ..client(&["bq"], SqlDialect::Generic, PLAIN, &[], &[])
    },
    Client {
        code_operand: Some(0),
        ..client(
            &["db2"],
            SqlDialect::Generic,
            Spec { short_values: "f", ..Spec::FLAGS },
            &[],
            &[('f', "file")],
        )
    },
    Client {
        words: &["d1", "execute"],
        ..client(
            &["wrangler"],
            SqlDialect::Sqlite,
            Spec {
                long_values: &["command", "file", "env", "config", "persist-to"],
                ..Spec::FLAGS
            },
            &[(NONE, "command")],
            &[(NONE, "file")],
        )
    },
    Client {
        words: &["db", "shell"],
        code_operand: Some(1),
        ..client(&["turso"], SqlDialect::Sqlite, PLAIN, &[], &[])
    },
    Client {
        words: &["pg:psql|psql"],
        ..client(&["heroku"], SqlDialect::Postgres, PLAIN, &[('c', "command")], &[('f', "file")])
    },
    Client {
        words: &["db", "query"],
        code_operand: Some(0),
        ..client(&["wp"], SqlDialect::Mysql, PLAIN, &[], &[])
    },
    Client {
        words: &["sql-query|sqlq|sql:query"],
        code_operand: Some(0),
        ..client(&["drush"], SqlDialect::Mysql, PLAIN, &[], &[('f', "file")])
    },
    Client {
        words: &["sql:query|sql-cli|sqlc|sql:cli|sql-connect"],
        ..client(&["drush"], SqlDialect::Mysql, PLAIN, &[], &[])
    },
    Client { words: &["db|dbconsole"], ..client(&["rails"], SqlDialect::Generic, PLAIN, &[], &[]) },
    Client {
        words: &["dbshell"],
        ..client(
            &["manage.py", "django-admin"],
            SqlDialect::Generic,
            PLAIN,
            &[('c', "command")],
            &[],
        )
    },
    Client {
        words: &["db", "cli|execute"],
        ..client(
            &["prisma", "supabase", "dotnet-ef"],
            SqlDialect::Postgres,
            PLAIN,
            &[],
            &[(NONE, "file")],
        )
    },
    Client {
        words: &["query"],
        code_operand: Some(0),
        ..client(
            &["typeorm", "typeorm-ts-node-commonjs", "typeorm-ts-node-esm"],
            SqlDialect::Generic,
            PLAIN,
            &[],
            &[],
        )
    },
    Client {
        words: &["doctrine:query:sql|dbal:run-sql"],
        code_operand: Some(0),
        ..client(&["console"], SqlDialect::Generic, PLAIN, &[], &[])
    },
    Client {
        words: &["sql", "connect"],
        ..client(&["gcloud"], SqlDialect::Generic, PLAIN, &[], &[])
    },
];

/// Runs a SQL client; nothing when the program is none.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    let mut clients = CLIENTS.iter().filter(|client| client.names.contains(&call.name));
    clients.find_map(|client| client.run(machine, call))
}

/// Whether a program carries SQL.
#[must_use]
pub fn is_client(name: &str) -> bool {
    CLIENTS.iter().any(|client| client.names.contains(&name))
}

impl Client {
    fn run(&self, machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
        let parsed = self.spec.parse(call.args);
        let mut operands = parsed.operands.as_slice();
        for words in self.words {
            let (first, rest) = operands.split_first()?;
            if !first.text().is_some_and(|text| words.split('|').any(|word| word == text)) {
                return None;
            }
            operands = rest;
        }
        if call.args.iter().any(|arg| matches!(arg.text(), Some("--help" | "--version"))) {
            return Some(Stream::Terminal);
        }
        let lang = Lang::Sql(self.dialect);
        let mut ran = false;
        for (short, long) in self.output {
            for file in parsed.values(*short, long) {
                machine.overwrite(file, Touch::Write, file.span);
            }
        }
        if self.dialect == SqlDialect::Mysql {
            for code in parsed.values(NONE, "pager") {
                machine.run_code(Lang::Shell, code);
            }
        }
        let behind = self.words.contains(&"dbshell").then(|| operands_behind(call.args));
        let behind = self.spec.parse(behind.unwrap_or_default());
        let variables = variables(self, &parsed);
        for (short, long) in self.code {
            let given = parsed.values(*short, long).into_iter();
            for code in given.chain(behind.values(*short, long)) {
                self.run_code(machine, code, &variables);
                ran = true;
            }
        }
        for (short, long) in self.file {
            for file in parsed.values(*short, long) {
                run_file(machine, lang, file, call);
                ran = true;
            }
        }
        let from = self.code_operand.unwrap_or(usize::MAX);
        // db2 takes the words of one statement.
        let sentence =
            (call.name == "db2" && operands.len() > 1).then(|| joined(operands.to_vec()));
        if let Some(code) = &sentence {
            machine.run_code(lang, code);
            ran = true;
        }
        for code in operands.iter().skip(from).filter(|_| sentence.is_none()) {
            self.run_code(machine, code, &variables);
            ran = true;
        }
        match call.stdin {
            _ if ran => {}
            Stream::Text(code) if code.text().is_some() => {
                self.run_code(machine, code, &variables);
            }
            stdin => {
                machine.run_stream(lang, stdin, call.span);
            }
        }
        Some(Stream::Output(call.name.to_owned()))
    }
}

impl Client {
    /// Runs SQL with the client's variables put in; duckdb writes files itself.
    fn run_code(&self, machine: &mut Machine<'_>, code: &Field, variables: &[(String, String)]) {
        let filled = match code.text() {
            Some(text) if !variables.is_empty() => {
                Field::lit(sql::with_variables(text, variables), code.span)
            }
            _ => code.clone(),
        };
        machine.run_code(Lang::Sql(self.dialect), &filled);
        if let Some(text) = filled.text().filter(|_| self.names.contains(&"duckdb")) {
            for file in sql::copied_files(text, self.dialect) {
                machine.overwrite(&Field::lit(file, code.span), Touch::Write, code.span);
            }
        }
    }
}

/// The variables that psql is given with `-v name=value`.
fn variables(client: &Client, parsed: &Parsed<'_>) -> Vec<(String, String)> {
    if !client.names.contains(&"psql") {
        return Vec::new();
    }
    let given = [('v', "set"), (NONE, "variable")];
    let given = given.iter().flat_map(|(short, long)| parsed.values(*short, long));
    let pair = |setting: &Field| {
        let (name, value) = setting.text()?.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    given.filter_map(pair).collect()
}

/// The arguments behind `--`, which `dbshell` hands on to the database's own client.
fn operands_behind(args: &[Field]) -> &[Field] {
    let at = args.iter().position(|arg| arg.is("--"));
    at.and_then(|at| args.get(at + 1..)).unwrap_or_default()
}

fn run_file(machine: &mut Machine<'_>, lang: Lang, file: &Field, call: &Call<'_>) {
    if file.is("-") || file.is("/dev/stdin") {
        machine.run_stream(lang, call.stdin, call.span);
    } else {
        machine.run_file(lang, file);
    }
}

/// Records that a database or a part of it goes.
fn drops(machine: &mut Machine<'_>, call: &Call<'_>, object: String) {
    machine.emit(EffectKind::DropObject { object }, call.span);
}
