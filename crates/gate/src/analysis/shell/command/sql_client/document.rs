//! Clients whose language is not SQL, and hosted databases with a command line of their own.

use aurora_model::{EffectKind, SqlDialect};

use super::super::options::Spec;
use super::super::place::only_informs;
use super::{drop_object, read_stdin};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

/// `mongosh --eval CODE`, `mongosh script.js`, or code from standard input.
pub fn mongo(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "uphf",
        long_values: &[
            "eval",
            "host",
            "port",
            "username",
            "password",
            "authenticationDatabase",
            "file",
            "shell-file",
            "tlsCAFile",
            "tlsCertificateKeyFile",
            "apiVersion",
        ],
        ..Spec::FLAGS
    };
    let lang = Lang::Script(ScriptLang::JavaScript);
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let mut given = false;
    for code in parsed.values('\0', "eval") {
        given = true;
        machine.run_code(lang, code);
    }
    let mut files = parsed.values('f', "file");
    files.extend(parsed.operands.iter().filter(|operand| operand.suffix().ends_with(".js")));
    for file in files {
        given = true;
        machine.run_file(lang, file);
    }
    if !given {
        read_stdin(machine, lang, call);
    }
    Stream::Output(call.name.to_owned())
}

/// `redis-cli FLUSHALL`, or commands line by line from standard input.
pub fn redis(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "hpatsnurixX",
        long_values: &["user", "pass", "cacert", "cert", "key", "sni", "eval"],
        style: super::super::options::Style::StopAtOperand,
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let command: Vec<String> = parsed.operands.iter().map(|word| word.display()).collect();
    redis_command(machine, &command.join(" "), call);
    if let (true, Stream::Text(text)) = (command.is_empty(), call.stdin) {
        for line in text.display().lines() {
            redis_command(machine, line, call);
        }
    }
    Stream::Output(call.name.to_owned())
}

fn redis_command(machine: &mut Machine<'_>, line: &str, call: &Call<'_>) {
    let word = line.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
    if matches!(word.as_str(), "FLUSHALL" | "FLUSHDB") {
        machine.emit(EffectKind::EmptyTable { object: format!("redis ({word})") }, call.span);
    }
}

/// Google's `bq`: `bq query SQL`, `bq rm -r dataset`.
pub fn bq(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "nq",
        long_values: &[
            "project_id",
            "dataset_id",
            "location",
            "format",
            "max_rows",
            "destination_table",
            "label",
            "job_id",
            "parameter",
            "service_account",
            "api",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let Some((command, rest)) = parsed.operands.split_first() else { return Stream::Terminal };
    let dry = parsed.has('\0', "dry_run");
    match command.text() {
        Some("query") if !dry => {
            for code in rest {
                machine.run_code(Lang::Sql(SqlDialect::Generic), code);
            }
            if rest.is_empty() {
                read_stdin(machine, Lang::Sql(SqlDialect::Generic), call);
            }
        }
        Some("rm") => {
            let names: Vec<String> = rest.iter().map(|name| name.display()).collect();
            drop_object(machine, format!("table {}", names.join(" ")), call);
        }
        _ => {}
    }
    Stream::Output(call.name.to_owned())
}

/// Command lines of hosted databases.
pub fn hosted(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "p",
        long_values: &[
            "org",
            "project-id",
            "project-ref",
            "db-url",
            "workdir",
            "schema",
            "profile",
            "api-key",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('h', "") {
        return Stream::Terminal;
    }
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
    let name = parsed.operands.get(2).map_or_else(String::new, |name| name.display());
    match (call.name, words.as_slice()) {
        ("supabase", ["db", "reset", ..]) => {
            drop_object(machine, "all tables of the database", call)
        }
        ("supabase", ["projects" | "branches", "delete", ..])
        | (
            "neonctl" | "neon",
            ["projects" | "project" | "databases" | "database" | "branches", "delete", ..],
        )
        | ("pscale", ["database" | "branch", "delete", ..])
        | ("turso", ["db" | "group", "destroy", ..]) => {
            drop_object(machine, format!("database {name}"), call);
        }
        ("turso", ["db", "shell", _, ..]) => {
            for code in parsed.operands.iter().skip(3) {
                machine.run_code(Lang::Sql(SqlDialect::Sqlite), code);
            }
            if parsed.operands.len() <= 3 {
                read_stdin(machine, Lang::Sql(SqlDialect::Sqlite), call);
            }
        }
        ("pscale", ["shell", ..]) => read_stdin(machine, Lang::Sql(SqlDialect::Mysql), call),
        _ => {}
    }
    Stream::Output(call.name.to_owned())
}

/// Cloudflare's `wrangler d1 execute DB --command SQL`.
pub fn wrangler(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "ce",
        long_values: &["command", "file", "config", "env", "name", "persist-to"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
    let name = parsed.operands.get(2).map_or_else(String::new, |name| name.display());
    match words.as_slice() {
        ["d1", "execute", ..] => {
            for code in parsed.values('\0', "command") {
                machine.run_code(Lang::Sql(SqlDialect::Sqlite), code);
            }
            for file in parsed.values('\0', "file") {
                machine.run_file(Lang::Sql(SqlDialect::Sqlite), file);
            }
        }
        ["d1", "delete", ..] => drop_object(machine, format!("database {name}"), call),
        ["delete", ..]
        | ["kv:namespace" | "r2" | "kv", _, "delete", ..]
        | ["kv:namespace", "delete", ..] => {
            let what = format!("wrangler {}", words.join(" "));
            machine.emit(EffectKind::DestroyInfra { what }, call.span);
        }
        _ => {}
    }
    Stream::Output(call.name.to_owned())
}

/// Heroku: `pg:psql -c SQL`, `pg:reset`, `apps:destroy`.
pub fn heroku(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "acrf",
        long_values: &["app", "command", "remote", "confirm", "file", "credential"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let Some(command) = parsed.operands.first().and_then(|word| word.text()) else {
        return Stream::Terminal;
    };
    match command {
        "pg:psql" | "psql" => {
            let lang = Lang::Sql(SqlDialect::Postgres);
            let codes: Vec<&Field> = parsed.values('c', "command");
            for code in &codes {
                machine.run_code(lang, code);
            }
            for file in parsed.values('f', "file") {
                machine.run_file(lang, file);
            }
            if codes.is_empty() {
                read_stdin(machine, lang, call);
            }
        }
        "pg:reset" | "pg:copy" | "pg:backups:restore" => {
            drop_object(machine, "everything in the database", call);
        }
        "apps:destroy" | "apps:delete" | "addons:destroy" | "addons:remove"
        | "pipelines:destroy" | "destroy" => {
            let what = format!("heroku {command}");
            machine.emit(EffectKind::DestroyInfra { what }, call.span);
        }
        _ => {}
    }
    Stream::Output(call.name.to_owned())
}
