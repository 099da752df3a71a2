//! Databases that are not asked in SQL, and programs that drop without being asked in SQL.

use aurora_model::{EffectKind, SqlDialect};

use super::drops;
use crate::analysis::shell::command::Model;
use crate::analysis::shell::command::options::Spec;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// The programs of this file, by name.
pub static MODELS: &[(&str, Model)] = &[
    ("dropdb", dropdb),
    ("mariadb-admin", mysqladmin),
    ("mongo", mongo),
    ("mongosh", mongo),
    ("mysqladmin", mysqladmin),
    ("pg_restore", pg_restore),
    ("redis-cli", redis),
    ("sqlite-utils", sqlite_utils),
    ("sqlplus", sqlplus),
    ("valkey-cli", redis),
];

const DROPDB: Spec = Spec {
    short_values: "hpU",
    long_values: &["host", "port", "username", "maintenance-db"],
    long_flags: &["help", "version", "if-exists", "force", "interactive", "echo"],
    ..Spec::FLAGS
};

fn dropdb(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = DROPDB.parse(call.args);
    if !parsed.has('\0', "help") && !parsed.has('V', "version") {
        let name = parsed.operands.first().map_or_else(|| "…".to_owned(), |name| name.display());
        drops(machine, call, format!("database {name}"));
    }
    Stream::Terminal
}

const ADMIN: Spec = Spec {
    short_values: "huPSir",
    short_optional: "p",
    long_values: &["host", "user", "port", "socket", "defaults-file"],
    long_optional: &["password"],
    ..Spec::FLAGS
};

fn mysqladmin(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = ADMIN.parse(call.args);
    let mut words = parsed.operands.iter();
    while let Some(word) = words.next() {
        if word.is("drop") {
            let name = words.next().map_or_else(|| "…".to_owned(), |name| name.display());
            drops(machine, call, format!("database {name}"));
        }
    }
    Stream::Terminal
}

const RESTORE: Spec = Spec {
    short_values: "dfFhjlLnNpPStTU",
    long_values: &[
        "dbname", "file", "format", "host", "jobs", "use-list", "schema", "port", "username",
        "role", "section", "table",
    ],
    long_flags: &[
        "clean",
        "create",
        "list",
        "if-exists",
        "data-only",
        "schema-only",
        "single-transaction",
    ],
    ..Spec::FLAGS
};

/// `pg_restore --clean` drops what it is about to restore, when it writes to a database.
fn pg_restore(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = RESTORE.parse(call.args);
    if parsed.has('c', "clean") && parsed.value('d', "dbname").is_some() {
        drops(machine, call, "every object that the dump holds".to_owned());
    }
    Stream::Output(call.name.to_owned())
}

/// `sqlite-utils drop-table DB NAME`, and SQL with `query` or without a subcommand.
fn sqlite_utils(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let operands = Spec::FLAGS.parse(call.args).operands;
    let helps = call.args.iter().any(|arg| arg.is("--help") || arg.is("-h"));
    match operands.as_slice() {
        _ if helps => {}
        [verb, _, name, ..] if verb.is("drop-table") => {
            drops(machine, call, format!("table {}", name.display()));
        }
        [_, rest @ ..] => {
            for code in rest.iter().filter(|code| code.prefix().contains(' ')) {
                machine.run_code(Lang::Sql(SqlDialect::Sqlite), code);
            }
        }
        [] => {}
    }
    Stream::Output(call.name.to_owned())
}

/// `sqlplus user/pw @file`, with code on standard input.
fn sqlplus(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let lang = Lang::Sql(SqlDialect::Generic);
    for arg in call.args {
        if let Some(file) = arg.strip_prefix("@") {
            machine.run_file(lang, &file);
        }
    }
    machine.run_stream(lang, call.stdin, call.span);
    Stream::Output(call.name.to_owned())
}

const REDIS: Spec = Spec {
    short_values: "hpantuDdisr",
    long_values: &["user", "pass", "sni", "cacert", "cert", "key", "pattern"],
    ..Spec { style: crate::analysis::shell::command::options::Style::StopAtOperand, ..Spec::FLAGS }
};

fn redis(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = REDIS.parse(call.args);
    if let Some(verb) = parsed.operands.first() {
        let verb = verb.text().unwrap_or("").to_ascii_lowercase();
        let help = parsed.operands.get(1).is_some_and(|arg| arg.is("help"));
        redis_command(machine, call, &verb, help);
        if let ("eval", Some(script)) = (verb.as_str(), parsed.operands.get(1)) {
            redis_script(machine, call, script);
        }
    } else if let Stream::Text(text) = call.stdin
        && let Some(text) = text.text()
    {
        for line in text.lines() {
            let verb = line.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
            redis_command(machine, call, &verb, false);
        }
    }
    Stream::Output(call.name.to_owned())
}

/// `EVAL SCRIPT`: calls of redis commands in Lua.
fn redis_script(machine: &mut Machine<'_>, call: &Call<'_>, script: &Field) {
    let script: String = script.display().chars().filter(|c| !c.is_whitespace()).collect();
    for part in script.split("call(").skip(1) {
        let name = part.split([',', ')']).next().unwrap_or_default();
        let name = name.trim_matches(['\'', '"']).to_ascii_lowercase();
        redis_command(machine, call, &name, false);
    }
}

fn redis_command(machine: &mut Machine<'_>, call: &Call<'_>, verb: &str, help: bool) {
    let object = match verb {
        "flushall" => "every database of the server",
        "flushdb" => "the whole database",
        _ => return,
    };
    if !help {
        machine.emit(EffectKind::EmptyTable { object: object.to_owned() }, call.span);
    }
}

const MONGO: Spec = Spec {
    short_values: "upf",
    long_values: &[
        "eval",
        "host",
        "port",
        "username",
        "password",
        "authenticationDatabase",
        "file",
    ],
    ..Spec::FLAGS
};

fn mongo(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = MONGO.parse(call.args);
    let codes = parsed.values('\0', "eval");
    for code in &codes {
        mongo_code(machine, code, call);
    }
    if codes.is_empty()
        && let Stream::Text(code) = call.stdin
    {
        mongo_code(machine, code, call);
    }
    Stream::Output(call.name.to_owned())
}

/// Looks at calls on collections and databases; text in quotes and comments is no call.
fn mongo_code(machine: &mut Machine<'_>, code: &Field, call: &Call<'_>) {
    let Some(text) = code.text() else {
        machine.opaque("code", "it is not known before it runs", call.span);
        return;
    };
    let calls: String = without_literals(text).chars().filter(|c| !c.is_whitespace()).collect();
    let has = |names: &[&str]| names.iter().any(|name| calls.contains(name));
    if has(&[".dropDatabase(", ".drop(", ".dropCollection("]) {
        drops(machine, call, "a collection or database".to_owned());
    }
    if has(&[
        ".deleteMany({})",
        ".remove({})",
        ".updateMany({},",
        ".update({},",
        ".remove()",
        ".deleteMany()",
    ]) {
        let statement = "every document of a collection".to_owned();
        machine.emit(EffectKind::ChangeAllRows { statement }, call.span);
    }
}

/// Code with the content of quotes and comments taken out.
fn without_literals(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' | '`' => {
                out.push(c);
                while let Some(inner) = chars.next() {
                    if inner == '\\' {
                        chars.next();
                    } else if inner == c {
                        break;
                    }
                }
                out.push(c);
            }
            '/' if chars.peek() == Some(&'/') => {
                for inner in chars.by_ref() {
                    if inner == '\n' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                let mut last = ' ';
                for inner in chars.by_ref() {
                    if last == '*' && inner == '/' {
                        break;
                    }
                    last = inner;
                }
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_in_order() {
        assert!(MODELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn literals_and_comments_hold_no_calls() {
        assert_eq!(without_literals("a('x.drop()') // b.drop()\nc"), "a('') c");
        assert_eq!(without_literals("a /* .drop() */ b"), "a  b");
    }
}
