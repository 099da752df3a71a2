//! Frameworks whose own commands are documented to drop or empty a whole database.

use aurora_model::EffectKind;

use super::options::{Spec, Style};
use super::subcommand::{Harm, Program, Row};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang};

const EVERYTHING: &str = "every table of the database";

/// Options with which the command only shows what it is or would do.
const SHOWS: &[&str] =
    &["--pretend", "--sql", "--tasks", "--describe", "--prereqs", "-T", "-D", "-P", "--trace-only"];

const fn drops(words: &'static [&'static str]) -> Row {
    Row { words, needs: &[], unless: SHOWS, harm: Harm::Drop, what: EVERYTHING }
}

const fn drops_with(words: &'static [&'static str], needs: &'static [&'static str]) -> Row {
    Row { words, needs, unless: &["--dump-sql"], harm: Harm::Drop, what: EVERYTHING }
}

const fn empties(words: &'static [&'static str]) -> Row {
    Row { words, needs: &[], unless: &[], harm: Harm::Empty, what: EVERYTHING }
}

const SETTINGS: Spec = Spec {
    short_values: "cfnesp",
    long_values: &[
        "settings",
        "pythonpath",
        "database",
        "env",
        "environment",
        "schema",
        "config",
        "path",
        "connection",
        "configFiles",
        "url",
        "user",
        "password",
        "database-url",
        "source",
        "name",
        "app",
        "dataSource",
        "project-ref",
        "path",
        "prefetch",
        "workdir",
        "no-op",
        "dir",
        "table",
        "knexfile",
        "root",
        "uri",
    ],
    ..Spec::FLAGS
};

const JAVA_STYLE: Spec = Spec {
    long_values: &[
        "path",
        "database",
        "source",
        "url",
        "user",
        "password",
        "prefetch",
        "lock-timeout",
        "configFiles",
        "dir",
        "table",
        "f",
        "pl",
    ],
    style: Style::SingleDash,
    ..Spec::FLAGS
};

/// Every program of this file with the words that drop or empty.
pub static PROGRAMS: &[Program] = &[
    Program {
        names: &["rails", "rake", "spring"],
        spec: SETTINGS,
        rows: &[
            drops(&[
                "db:drop|db:drop:*|db:reset|db:reset:*|db:migrate:reset|db:migrate:reset:*|db:schema:load|db:schema:load:*|db:structure:load|db:purge|db:purge:*|db:setup:replant|db:prepare:reset",
            ]),
            empties(&["db:truncate_all|db:truncate_all:*|db:seed:replant"]),
            drops(&["*", "db:drop|db:reset|db:migrate:reset|db:purge|db:schema:load"]),
        ],
    },
    Program {
        names: &["artisan"],
        spec: SETTINGS,
        rows: &[drops(&["migrate:fresh|migrate:reset|migrate:refresh|db:wipe"])],
    },
    Program {
        names: &["sail"],
        spec: SETTINGS,
        rows: &[drops(&["artisan|art|a", "migrate:fresh|migrate:reset|migrate:refresh|db:wipe"])],
    },
    Program {
        names: &["console", "symfony", "doctrine", "bin/console"],
        spec: SETTINGS,
        rows: &[
            drops_with(
                &[
                    "doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d|dbal:database:drop|orm:schema-tool:drop",
                ],
                &["--force", "-f", "--full-database"],
            ),
            drops_with(
                &["console", "doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d"],
                &["--force", "-f", "--full-database"],
            ),
        ],
    },
    Program {
        names: &["prisma"],
        spec: SETTINGS,
        rows: &[
            drops(&["migrate", "reset"]),
            drops_with(&["db", "push"], &["--force-reset", "--accept-data-loss"]),
        ],
    },
    Program {
        names: &["sequelize", "sequelize-cli"],
        spec: SETTINGS,
        rows: &[drops(&["db:drop|db:migrate:undo:all"])],
    },
    Program {
        names: &["knex"],
        spec: SETTINGS,
        rows: &[drops_with(&["migrate:rollback"], &["--all"])],
    },
    Program {
        names: &["typeorm", "typeorm-ts-node-commonjs", "typeorm-ts-node-esm"],
        spec: SETTINGS,
        rows: &[drops(&["schema:drop"])],
    },
    Program {
        names: &["mikro-orm"],
        spec: SETTINGS,
        rows: &[drops(&["schema:drop|schema:fresh|migration:fresh"])],
    },
    Program {
        names: &["mix"],
        spec: SETTINGS,
        rows: &[
            drops(&["ecto.drop|ecto.reset|ash.reset"]),
            drops(&["do", "ecto.drop*|ecto.reset*"]),
            drops_with(&["ecto.rollback"], &["--all"]),
        ],
    },
    Program {
        names: &["ace", "ace.js", "adonis"],
        spec: SETTINGS,
        rows: &[
            drops(&["migration:fresh|migration:reset|migration:refresh|db:wipe"]),
            empties(&["db:truncate"]),
        ],
    },
    Program {
        names: &["payload"],
        spec: SETTINGS,
        rows: &[drops(&["migrate:fresh|migrate:reset|migrate:refresh"])],
    },
    Program {
        names: &["sea-orm-cli"],
        spec: SETTINGS,
        rows: &[drops(&["migrate", "fresh|refresh|reset"])],
    },
    Program { names: &["yii"], spec: SETTINGS, rows: &[drops(&["migrate/fresh"])] },
    Program { names: &["spark"], spec: SETTINGS, rows: &[drops(&["migrate:refresh"])] },
    Program { names: &["magento"], spec: SETTINGS, rows: &[drops(&["setup:uninstall"])] },
    Program { names: &["sqitch"], spec: SETTINGS, rows: &[drops(&["revert"])] },
    Program {
        names: &["edgedb", "gel"],
        spec: SETTINGS,
        rows: &[drops(&["database|branch", "drop|wipe"])],
    },
    Program { names: &["encore"], spec: SETTINGS, rows: &[drops(&["db", "reset"])] },
    Program { names: &["bq"], spec: SETTINGS, rows: &[drops(&["rm"])] },
    Program { names: &["alembic"], spec: SETTINGS, rows: &[drops(&["downgrade", "base"])] },
    Program { names: &["flask"], spec: SETTINGS, rows: &[drops(&["db", "downgrade", "base"])] },
    Program { names: &["flyway"], spec: JAVA_STYLE, rows: &[drops(&["clean"])] },
    Program {
        names: &["liquibase"],
        spec: SETTINGS,
        rows: &[drops(&["drop-all|dropAll|dropall"])],
    },
    Program {
        names: &["sqlx", "diesel"],
        spec: SETTINGS,
        rows: &[drops(&["database|db", "drop|reset"])],
    },
    Program { names: &["dbmate"], spec: SETTINGS, rows: &[drops(&["drop"])] },
    Program {
        names: &["goose"],
        spec: JAVA_STYLE,
        rows: &[
            drops(&["reset"]),
            drops(&["*", "*", "reset"]),
            drops(&["down-to", "0"]),
            drops(&["*", "*", "down-to", "0"]),
        ],
    },
    Program { names: &["migrate", "golang-migrate"], spec: JAVA_STYLE, rows: &[drops(&["drop"])] },
    Program {
        names: &["wp"],
        spec: SETTINGS,
        rows: &[drops(&["db", "reset|drop|clean"]), drops(&["site", "empty"])],
    },
    Program { names: &["drush"], spec: SETTINGS, rows: &[drops(&["sql-drop|sql:drop"])] },
    Program {
        names: &["supabase"],
        spec: SETTINGS,
        rows: &[drops(&["db", "reset"]), drops(&["projects", "delete"])],
    },
    Program {
        names: &["heroku"],
        spec: SETTINGS,
        rows: &[
            drops(&["pg:reset"]),
            Row {
                words: &["apps:destroy|destroy|addons:destroy"],
                needs: &[],
                unless: &[],
                harm: Harm::Infra,
                what: "an application or its add-ons",
            },
        ],
    },
    Program {
        names: &["hasura"],
        spec: SETTINGS,
        rows: &[drops_with(&["migrate", "apply"], &["--down"])],
    },
    Program { names: &["dotnet-ef"], spec: SETTINGS, rows: &[drops(&["database", "drop"])] },
    Program { names: &["dotnet"], spec: SETTINGS, rows: &[drops(&["ef", "database", "drop"])] },
    Program {
        names: &["django-admin", "manage.py"],
        spec: SETTINGS,
        rows: &[
            empties(&["flush"]),
            drops(&["reset_db"]),
            drops(&["migrate", "*", "zero"]),
            drops(&["reset_schema"]),
        ],
    },
    Program { names: &["atlas"], spec: SETTINGS, rows: &[drops(&["schema", "clean"])] },
    Program { names: &["drizzle-kit"], spec: SETTINGS, rows: &[] },
    Program {
        names: &["mvn", "mvnw", "gradle", "gradlew"],
        spec: JAVA_STYLE,
        rows: &[
            drops(&["flyway:clean|flywayClean|liquibase:dropAll|liquibaseDropAll|dropAll"]),
            drops(&["*", "flyway:clean|flywayClean|liquibase:dropAll"]),
        ],
    },
];

/// `python manage.py flush`, `php artisan migrate:fresh`, `ruby bin/rails db:drop`: the script's
/// name is the program.
pub fn run_script(machine: &mut Machine<'_>, call: &Call<'_>) {
    let Some(at) = call.args.iter().position(|arg| !arg.prefix().starts_with('-')) else { return };
    let Some(script) = call.args.get(at).and_then(Field::text) else { return };
    let name = script.rsplit('/').next().unwrap_or(script);
    let Some(args) = call.args.get(at + 1..) else { return };
    let inner = Call { name, args, stdin: call.stdin, env: call.env, span: call.span };
    if PROGRAMS.iter().any(|program| program.names.contains(&name)) {
        super::run(machine, &inner);
    }
}

/// Frameworks that take code on the command line.
pub fn run_code(machine: &mut Machine<'_>, call: &Call<'_>) {
    undo_migrations(machine, call);
    let text = |at: usize| call.args.get(at).and_then(Field::text);
    let code = match (call.name, text(0), text(1)) {
        ("rails", Some("runner" | "r"), _) => call.args.get(1).map(|code| (ScriptLang::Ruby, code)),
        ("manage.py" | "django-admin", Some("shell" | "shell_plus"), Some("-c" | "--command")) => {
            call.args.get(2).map(|code| (ScriptLang::Python, code))
        }
        ("artisan", Some("tinker"), Some("--execute")) => {
            call.args.get(2).map(|code| (ScriptLang::Php, code))
        }
        ("artisan", Some("tinker"), _) => {
            let glued = call.args.iter().find_map(|arg| arg.strip_prefix("--execute="));
            if let Some(code) = glued {
                machine.run_code(Lang::Script(ScriptLang::Php), &code);
            }
            None
        }
        ("wp", Some("eval"), _) => call.args.get(1).map(|code| (ScriptLang::Php, code)),
        _ => None,
    };
    if let Some((lang, code)) = code {
        machine.run_code(Lang::Script(lang), code);
    }
}

/// `rake db:migrate VERSION=0` takes every migration back.
fn undo_migrations(machine: &mut Machine<'_>, call: &Call<'_>) {
    let migrates = matches!(call.name, "rake" | "rails")
        && call.args.iter().any(|arg| arg.is("db:migrate") || arg.is("db:migrate:down"));
    let zero = call.args.iter().any(|arg| arg.is("VERSION=0"))
        || call.env.iter().any(|(name, value)| name == "VERSION" && value.is("0"));
    if migrates && zero {
        machine.emit(EffectKind::DropObject { object: EVERYTHING.to_owned() }, call.span);
    }
}
