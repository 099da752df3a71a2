//! Frameworks and migration tools whose commands drop or empty everything, or carry code.

mod table;

use aurora_model::SqlDialect;

use super::Model;
use super::options::Spec;
use super::rule;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

/// Models that carry code besides the rules of the table, by program, sorted.
pub static MODELS: &[(&str, Model)] = &[
    ("artisan", artisan),
    ("console", console),
    ("django", django),
    ("django-admin", django),
    ("django-admin.py", django),
    ("drush", drush),
    ("flask", flask),
    ("manage.py", django),
    ("prisma", prisma),
    ("rails", rails),
    ("typeorm", typeorm),
    ("wp", wordpress),
];

/// Files that a language's program runs and that have a model of their own (`python manage.py`).
#[must_use]
pub fn is_entry_point(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    matches!(
        name,
        "manage.py"
            | "artisan"
            | "console"
            | "rails"
            | "rake"
            | "ace"
            | "ace.js"
            | "spark"
            | "yii"
            | "magento"
            | "drush"
            | "drush.php"
            | "wp"
            | "wp-cli.phar"
            | "phinx"
            | "cake"
            | "craft"
    )
}

/// The model of a framework's program.
#[must_use]
pub fn model_of(name: &str) -> Option<Model> {
    if let Ok(at) = MODELS.binary_search_by(|(own, _)| (*own).cmp(name)) {
        return MODELS.get(at).map(|(_, model)| *model);
    }
    table::RULES.iter().any(|rule| rule.names.contains(&name)).then_some(by_rules as Model)
}

fn by_rules(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    rule::apply(table::RULES, &table::SPEC, machine, call);
    // `VERSION=0 rake db:migrate` takes every migration back.
    let version = |name: &str, value: &Field| name == "VERSION" && value.is("0");
    let zero = call.env.iter().any(|(name, value)| version(name, value))
        || call.args.iter().any(|arg| arg.is("VERSION=0"));
    if zero && call.args.iter().any(|arg| arg.is("db:migrate")) {
        super::sql_client::drop_object(machine, "every table, by taking back all migrations", call);
    }
    Stream::Output(call.name.to_owned())
}

/// The operands after the first, and the first.
fn command<'a>(operands: &[&'a Field]) -> (&'a str, Vec<&'a Field>) {
    match operands.split_first() {
        Some((first, rest)) => (first.text().unwrap_or(""), rest.to_vec()),
        None => ("", Vec::new()),
    }
}

fn rails(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec =
        Spec { short_values: "e", long_values: &["environment", "database"], ..Spec::FLAGS };
    let ruby = Lang::Script(ScriptLang::Ruby);
    let parsed = SPEC.parse(call.args);
    let (name, rest) = command(&parsed.operands);
    match name {
        "runner" | "r" => match rest.first() {
            Some(file) if file.suffix().ends_with(".rb") => machine.run_file(ruby, file),
            Some(code) if code.is("-") => machine.run_stream(ruby, call.stdin, call.span),
            Some(code) => machine.run_code(ruby, code),
            None => Stream::Terminal,
        },
        "console" | "c" => from_stdin(machine, ruby, call),
        "dbconsole" | "db" => from_stdin(machine, Lang::Sql(SqlDialect::Generic), call),
        _ => by_rules(machine, call),
    }
}

fn from_stdin(machine: &mut Machine<'_>, lang: Lang, call: &Call<'_>) -> Stream {
    if *call.stdin == Stream::Terminal {
        return Stream::Terminal;
    }
    machine.run_stream(lang, call.stdin, call.span)
}

fn artisan(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { long_values: &["execute", "env", "database", "path"], ..Spec::FLAGS };
    let php = Lang::Script(ScriptLang::Php);
    let parsed = SPEC.parse(call.args);
    match command(&parsed.operands).0 {
        "tinker" => match parsed.value('\0', "execute") {
            Some(code) => machine.run_code(php, code),
            None => from_stdin(machine, php, call),
        },
        "db" => from_stdin(machine, Lang::Sql(SqlDialect::Generic), call),
        _ => by_rules(machine, call),
    }
}

/// Symfony's `bin/console`.
fn console(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = table::SPEC.parse(call.args);
    let (name, rest) = command(&parsed.operands);
    match (name, rest.first()) {
        ("doctrine:query:sql" | "dbal:run-sql" | "d:q:s", Some(code)) => {
            machine.run_code(Lang::Sql(SqlDialect::Generic), code)
        }
        _ => by_rules(machine, call),
    }
}

fn django(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "cvi",
        long_values: &["command", "settings", "pythonpath", "verbosity", "database", "interface"],
        ..Spec::FLAGS
    };
    let python = Lang::Script(ScriptLang::Python);
    let parsed = SPEC.parse(call.args);
    match command(&parsed.operands).0 {
        "shell" | "shell_plus" => match parsed.value('c', "command") {
            Some(code) => machine.run_code(python, code),
            None => from_stdin(machine, python, call),
        },
        "dbshell" => {
            let codes = parsed.values('c', "command");
            for code in &codes {
                machine.run_code(Lang::Sql(SqlDialect::Generic), code);
            }
            // What stands behind `--` goes to the database's own client.
            let behind = parsed.behind_dashdash();
            for pair in behind.windows(2) {
                if let [option, code] = pair
                    && matches!(option.text(), Some("-c" | "-e" | "--command" | "--execute"))
                {
                    machine.run_code(Lang::Sql(SqlDialect::Generic), code);
                }
            }
            if codes.is_empty() && behind.is_empty() {
                from_stdin(machine, Lang::Sql(SqlDialect::Generic), call);
            }
            Stream::Output(call.name.to_owned())
        }
        "migrate"
            if parsed.operands.len() == 3
                && parsed.operands.get(2).is_some_and(|to| to.is("zero")) =>
        {
            if !parsed.has('\0', "plan") && !parsed.has('\0', "fake") {
                super::sql_client::drop_object(machine, "every table of the app", call);
            }
            Stream::Terminal
        }
        _ => by_rules(machine, call),
    }
}

fn flask(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec =
        Spec { short_values: "Aed", long_values: &["app", "env-file", "directory"], ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    match command(&parsed.operands).0 {
        "shell" => from_stdin(machine, Lang::Script(ScriptLang::Python), call),
        _ => by_rules(machine, call),
    }
}

fn prisma(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { long_values: &["file", "schema", "url", "config"], ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
    if let ["db", "execute", ..] = words.as_slice() {
        let sql = Lang::Sql(SqlDialect::Generic);
        return match parsed.value('\0', "file") {
            Some(file) => machine.run_file(sql, file),
            None => from_stdin(machine, sql, call),
        };
    }
    by_rules(machine, call)
}

fn typeorm(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = table::SPEC.parse(call.args);
    let (name, rest) = command(&parsed.operands);
    match (name, rest.first()) {
        ("query", Some(code)) => machine.run_code(Lang::Sql(SqlDialect::Generic), code),
        _ => by_rules(machine, call),
    }
}

fn wordpress(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { long_values: &["execute"], ..Spec::FLAGS };
    let sql = Lang::Sql(SqlDialect::Mysql);
    let parsed = SPEC.parse(call.args);
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.text().unwrap_or("")).collect();
    match words.as_slice() {
        ["db", "query", ..] => match parsed.operands.get(2) {
            Some(code) => machine.run_code(sql, code),
            None => from_stdin(machine, sql, call),
        },
        ["db", "cli", ..] => from_stdin(machine, sql, call),
        ["eval", ..] => match parsed.operands.get(1) {
            Some(code) => machine.run_code(Lang::Script(ScriptLang::Php), code),
            None => Stream::Terminal,
        },
        _ => by_rules(machine, call),
    }
}

fn drush(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = table::SPEC.parse(call.args);
    // A site's alias may stand first (`drush @prod sql-query …`).
    let skip =
        usize::from(parsed.operands.first().is_some_and(|word| word.prefix().starts_with('@')));
    let (name, rest) = command(parsed.operands.get(skip..).unwrap_or_default());
    let sql = Lang::Sql(SqlDialect::Mysql);
    match (name, rest.first()) {
        ("sqlq" | "sql-query" | "sql:query", Some(code)) => machine.run_code(sql, code),
        ("sqlc" | "sql-cli" | "sql:cli", _) => from_stdin(machine, sql, call),
        ("ev" | "eval" | "php-eval" | "php:eval", Some(code)) => {
            machine.run_code(Lang::Script(ScriptLang::Php), code)
        }
        _ => by_rules(machine, call),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_sorted_and_tables_found() {
        assert!(MODELS.is_sorted_by(|a, b| a.0 < b.0));
        for name in ["rake", "mix", "alembic", "flyway", "sqlx", "manage.py", "rails"] {
            assert!(model_of(name).is_some(), "{name}");
        }
        assert!(is_entry_point("bin/rails"));
        assert!(!is_entry_point("src/main.py"));
    }
}
