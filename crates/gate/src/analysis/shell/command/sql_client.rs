//! Programs that carry SQL to a database, and those that drop whole databases.

mod document;
mod table;

use aurora_model::{EffectKind, SqlDialect, Touch};

use super::Model;
use super::options::{Parsed, Spec};
use super::place::only_informs;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};
use table::{CLIENTS, Client};

/// Models of clients that are not just a row of [`table`], by program, sorted.
pub static MODELS: &[(&str, Model)] = &[
    ("bq", document::bq),
    ("db2", db2),
    ("dropdb", dropdb),
    ("heroku", document::heroku),
    ("litecli", sqlite),
    ("mariadb-admin", mysqladmin),
    ("mongo", document::mongo),
    ("mongosh", document::mongo),
    ("mysqladmin", mysqladmin),
    ("neon", document::hosted),
    ("neonctl", document::hosted),
    ("pg_restore", pg_restore),
    ("pscale", document::hosted),
    ("redis-cli", document::redis),
    ("sqlcmd", sqlcmd),
    ("sqlite", sqlite),
    ("sqlite3", sqlite),
    ("sqlplus", sqlplus),
    ("supabase", document::hosted),
    ("turso", document::hosted),
    ("valkey-cli", document::redis),
    ("wrangler", document::wrangler),
];

/// The model of a SQL client of that name.
#[must_use]
pub fn model_of(name: &str) -> Option<Model> {
    if let Some((_, model)) = MODELS.iter().find(|(own, _)| *own == name) {
        return Some(*model);
    }
    client_of(name).map(|_| client as Model)
}

fn client_of(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.names.contains(&name))
}

fn client(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    match client_of(call.name) {
        Some(client) => run_client(machine, client, call, call.args),
        None => Stream::Terminal,
    }
}

/// Runs what a client is given: option values, files, and standard input if there is neither.
fn run_client(
    machine: &mut Machine<'_>,
    client: &Client,
    call: &Call<'_>,
    args: &[Field],
) -> Stream {
    let args = match (client.command, args.split_first()) {
        ("", _) => args,
        (command, Some((first, rest))) if first.is(command) => rest,
        _ => return Stream::Output(call.name.to_owned()),
    };
    let parsed = client.spec.parse(args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let lang = Lang::Sql(client.dialect);
    let mut given = false;
    for (short, long) in client.code {
        for code in parsed.values(*short, long) {
            given = true;
            machine.run_code(lang, code);
        }
    }
    for (short, long) in client.files {
        for file in parsed.values(*short, long) {
            given = true;
            if file.is("-") {
                machine.run_stream(lang, call.stdin, call.span);
            } else {
                machine.run_file(lang, file);
            }
        }
    }
    for (short, long) in client.writes {
        for file in parsed.values(*short, long).into_iter().filter(|file| !file.is("-")) {
            machine.change(file, Touch::Write, false);
        }
    }
    if let Some(from) = client.operands {
        for code in parsed.operands.iter().skip(from) {
            given = true;
            machine.run_code(lang, code);
        }
    }
    if !given {
        read_stdin(machine, lang, call);
    }
    Stream::Output(call.name.to_owned())
}

fn read_stdin(machine: &mut Machine<'_>, lang: Lang, call: &Call<'_>) {
    if *call.stdin != Stream::Terminal {
        machine.run_stream(lang, call.stdin, call.span);
    }
}

/// `sqlite3 [options] DATABASE [SQL…]`; options have one dash.
fn sqlite(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
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
            "heap",
            "key",
            "hexkey",
            "textkey",
            "execute",
            "liteclirc",
            "logfile",
            "table-format",
        ],
        short_values: "e",
        style: super::options::Style::SingleDash,
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let lang = Lang::Sql(SqlDialect::Sqlite);
    for code in parsed.values('e', "cmd").into_iter().chain(parsed.values('\0', "execute")) {
        machine.run_code(lang, code);
    }
    for file in parsed.values('\0', "init") {
        machine.run_file(lang, file);
    }
    let statements = parsed.operands.get(1..).unwrap_or_default();
    for code in statements {
        sqlite_dot_command(machine, code);
        machine.run_code(lang, code);
    }
    if statements.is_empty() && !parsed.has('e', "execute") {
        read_stdin(machine, lang, call);
    }
    if call.args.iter().any(|arg| arg.is("-batch")) || !statements.is_empty() {
        return Stream::Output(call.name.to_owned());
    }
    Stream::Output(call.name.to_owned())
}

/// Dot commands that write a file; `.shell` and `.read` are read with the SQL.
fn sqlite_dot_command(machine: &mut Machine<'_>, code: &Field) {
    let Some(text) = code.text().filter(|text| text.starts_with('.')) else { return };
    let words: Vec<&str> = text.split_whitespace().collect();
    let writes = matches!(
        words.first(),
        Some(&(".backup" | ".output" | ".once" | ".save" | ".log" | ".clone"))
    );
    if let Some(last) = words.last().filter(|_| writes && words.len() > 1) {
        let path = last.trim_matches(['\'', '"']);
        machine.change(&Field::lit(path, code.span), Touch::Write, false);
    }
}

/// Microsoft's `sqlcmd` and Go's: `-Q` and `-q` run a text, `-i` files.
fn sqlcmd(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "SUPdQqioHKlthswcavVmrWxAE",
        long_values: &[
            "query",
            "initial-query",
            "input-file",
            "output-file",
            "server",
            "database-name",
            "user-name",
            "password",
        ],
        ..Spec::FLAGS
    };
    // Letters without a value in `sqlcmd` that would otherwise take one.
    let args: Vec<Field> = call
        .args
        .iter()
        .filter(|arg| !matches!(arg.text(), Some("-E" | "-W" | "-x" | "-b" | "-I" | "-C" | "-N")))
        .cloned()
        .collect();
    let parsed = SPEC.parse(&args);
    let lang = Lang::Sql(SqlDialect::Mssql);
    let mut given = false;
    for (short, long) in [('Q', "query"), ('q', "initial-query")] {
        for code in parsed.values(short, long) {
            given = true;
            machine.run_code(lang, code);
        }
    }
    for file in parsed.values('i', "input-file") {
        given = true;
        machine.run_file(lang, file);
    }
    if let Some(file) = parsed.value('o', "output-file") {
        machine.change(file, Touch::Write, false);
    }
    if !given {
        read_stdin(machine, lang, call);
    }
    Stream::Output(call.name.to_owned())
}

/// `sqlplus user/pass @script`.
fn sqlplus(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let lang = Lang::Sql(SqlDialect::Generic);
    let script = call.args.iter().find_map(|arg| arg.strip_prefix("@"));
    match script {
        Some(file) => {
            machine.run_file(lang, &file);
        }
        None => read_stdin(machine, lang, call),
    }
    Stream::Output(call.name.to_owned())
}

/// `db2 "statement"` or `db2 -tvf file`.
fn db2(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "flrz", ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    let lang = Lang::Sql(SqlDialect::Generic);
    if let Some(file) = parsed.value('f', "") {
        machine.run_file(lang, file);
    } else if let Some(first) = parsed.operands.first() {
        let mut code = Field::lit("", first.span);
        for operand in &parsed.operands {
            code.push_field(operand);
            code.push_lit(" ");
        }
        machine.run_code(lang, &code);
    } else {
        read_stdin(machine, lang, call);
    }
    Stream::Output(call.name.to_owned())
}

pub(super) fn drop_object(machine: &mut Machine<'_>, object: impl Into<String>, call: &Call<'_>) {
    machine.emit(EffectKind::DropObject { object: object.into() }, call.span);
}

fn dropdb(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "hpU",
        long_values: &["host", "port", "username", "maintenance-db"],
        long_flags: &[
            "echo",
            "force",
            "interactive",
            "if-exists",
            "help",
            "version",
            "password",
            "no-password",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('?', "") || parsed.has('V', "") {
        return Stream::Terminal;
    }
    let name = parsed.operands.first().map_or_else(String::new, |name| name.display());
    drop_object(machine, format!("database {name}"), call);
    Stream::Terminal
}

fn mysqladmin(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "huPSicw",
        short_optional: "p",
        long_values: &[
            "host",
            "user",
            "port",
            "socket",
            "sleep",
            "count",
            "defaults-file",
            "defaults-extra-file",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let drops = parsed.operands.iter().position(|operand| operand.is("drop"));
    if let Some(at) = drops {
        let name = parsed.operands.get(at + 1).map_or_else(String::new, |name| name.display());
        drop_object(machine, format!("database {name}"), call);
    }
    Stream::Terminal
}

/// `pg_restore --clean` drops what it restores, when it restores into a database.
fn pg_restore(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "dfFjLnNPStTUhpI",
        long_values: &[
            "dbname",
            "file",
            "format",
            "jobs",
            "use-list",
            "schema",
            "exclude-schema",
            "function",
            "superuser",
            "table",
            "trigger",
            "username",
            "host",
            "port",
            "index",
            "role",
            "section",
        ],
        long_flags: &[
            "clean",
            "create",
            "list",
            "if-exists",
            "no-owner",
            "no-privileges",
            "data-only",
            "schema-only",
            "single-transaction",
            "exit-on-error",
            "verbose",
            "help",
            "version",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('l', "list") {
        return Stream::Output(call.name.to_owned());
    }
    if let Some(file) = parsed.value('f', "file").filter(|file| !file.is("-")) {
        machine.change(file, Touch::Write, false);
    }
    if parsed.has('c', "clean") && database_given(&parsed) {
        drop_object(machine, "all objects that are restored", call);
    }
    Stream::Output(call.name.to_owned())
}

fn database_given(parsed: &Parsed<'_>) -> bool {
    parsed.value('d', "dbname").is_some()
}
