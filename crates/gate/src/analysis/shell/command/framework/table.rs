//! Commands that are documented to drop or empty everything.

use super::super::options::Spec;
use super::super::rule::Outcome::{Drop, Empty};
use super::super::rule::{Path, Rule, anywhere, start};

/// Options with a value that may stand before the command.
pub(super) const SPEC: Spec = Spec {
    short_values: "ceEd",
    long_values: &[
        "config",
        "env",
        "environment",
        "database",
        "database-url",
        "url",
        "schema",
        "path",
        "source",
        "dir",
        "migrations-dir",
        "migrations-path",
        "cwd",
        "project",
        "startup-project",
        "context",
        "repo",
        "app",
        "name",
        "connection",
        "em",
        "entity-manager",
        "root",
        "uri",
        "admin-secret",
        "endpoint",
        "knexfile",
        "client",
        "data-source",
        "dataSource",
        "target-version",
        "target",
    ],
    ..Spec::FLAGS
};

const ALL: &str = "all tables of the database";
const RAILS: &[&str] = &["rails", "rake", "spring", "hanami", "padrino"];

/// All of them; the first that fits counts.
pub(super) static RULES: &[Rule] = &[
    Rule {
        path: Path::Task(&[
            "db:drop",
            "db:reset",
            "db:migrate:reset",
            "db:schema:load",
            "db:structure:load",
            "db:purge",
            "db:schema:load_if_ruby",
            "db:nuke",
            "db:recreate",
            "db:rebuild",
        ]),
        ..start(RAILS, &[], Drop(ALL))
    },
    Rule {
        path: Path::Task(&["db:truncate_all", "db:truncate", "db:seed:replant"]),
        ..start(RAILS, &[], Empty(ALL))
    },
    start(&["hanami"], &["db", "drop|reset"], Drop(ALL)),
    Rule {
        unless: &[('\0', "pretend")],
        ..start(&["artisan"], &["migrate:fresh|migrate:refresh|migrate:reset|db:wipe"], Drop(ALL))
    },
    Rule {
        needs: &[('f', "force")],
        unless: &[('\0', "dump-sql")],
        ..start(
            &["console", "doctrine", "doctrine-console"],
            &["doctrine:database:drop|d:d:d|doctrine:schema:drop|d:s:d|orm:schema-tool:drop"],
            Drop(ALL),
        )
    },
    Rule {
        unless: &[('\0', "append")],
        ..start(&["console"], &["doctrine:fixtures:load|d:f:l|hautelook:fixtures:load"], Empty(ALL))
    },
    start(&["magento"], &["setup:uninstall"], Drop(ALL)),
    start(&["spark"], &["migrate:refresh|migrate:reset"], Drop(ALL)),
    start(&["craft"], &["db/drop-all-tables|db/drop-table"], Drop(ALL)),
    start(&["yii"], &["migrate/fresh"], Drop(ALL)),
    start(&["prisma", "rw", "redwood", "blitz"], &["migrate", "reset"], Drop(ALL)),
    start(&["rw", "redwood", "blitz"], &["prisma", "migrate", "reset"], Drop(ALL)),
    Rule { needs: &[('\0', "force-reset")], ..start(&["prisma"], &["db", "push"], Drop(ALL)) },
    start(&["sequelize", "sequelize-cli"], &["db:drop|db:migrate:undo:all"], Drop(ALL)),
    Rule { needs: &[('\0', "all")], ..start(&["knex"], &["migrate:rollback"], Drop(ALL)) },
    start(
        &["typeorm", "typeorm-ts-node-commonjs", "typeorm-ts-node-esm"],
        &["schema:drop"],
        Drop(ALL),
    ),
    Rule {
        needs: &[('r', "run")],
        ..start(&["mikro-orm", "mikro-orm-esm"], &["schema:drop|schema:fresh"], Drop(ALL))
    },
    start(&["mikro-orm", "mikro-orm-esm"], &["migration:fresh"], Drop(ALL)),
    start(&["payload"], &["migrate:fresh|migrate:reset|migrate:refresh"], Drop(ALL)),
    start(
        &["ace", "ace.js", "adonis"],
        &["migration:fresh|migration:reset|migration:refresh|db:wipe"],
        Drop(ALL),
    ),
    start(&["ace", "ace.js", "adonis"], &["db:truncate"], Empty(ALL)),
    anywhere(&["mix"], &["ecto.drop", "ecto.reset", "ash.reset", "ash_postgres.drop"], Drop(ALL)),
    Rule { needs: &[('\0', "all")], ..start(&["mix"], &["ecto.rollback"], Drop(ALL)) },
    start(&["manage.py", "django", "django-admin", "django-admin.py"], &["flush"], Empty(ALL)),
    start(
        &["manage.py", "django", "django-admin", "django-admin.py"],
        &["reset_db|reset_schema"],
        Drop(ALL),
    ),
    Rule { unless: &[('\0', "sql")], ..start(&["alembic"], &["downgrade", "base"], Drop(ALL)) },
    Rule {
        unless: &[('\0', "sql")],
        ..start(&["flask", "quart"], &["db", "downgrade", "base"], Drop(ALL))
    },
    anywhere(&["flyway"], &["clean"], Drop(ALL)),
    anywhere(&["liquibase"], &["dropAll", "drop-all"], Drop(ALL)),
    start(&["sqlx"], &["database|db", "drop|reset"], Drop(ALL)),
    start(&["diesel"], &["database", "reset|drop"], Drop(ALL)),
    Rule { needs: &[('a', "all")], ..start(&["diesel"], &["migration", "revert|redo"], Drop(ALL)) },
    start(&["sea-orm-cli", "sea"], &["migrate", "fresh|refresh|reset"], Drop(ALL)),
    anywhere(&["dbmate"], &["drop"], Drop(ALL)),
    anywhere(&["goose"], &["reset"], Drop(ALL)),
    start(&["goose"], &["*", "*", "down-to", "0"], Drop(ALL)),
    anywhere(&["migrate", "golang-migrate"], &["drop"], Drop(ALL)),
    start(&["wp"], &["db", "reset|drop|clean"], Drop(ALL)),
    start(&["wp"], &["site", "empty"], Empty(ALL)),
    anywhere(
        &["drush"],
        &["sql-drop", "sql:drop", "site-install", "site:install", "si"],
        Drop(ALL),
    ),
    Rule { needs: &[('\0', "down")], ..start(&["hasura"], &["migrate", "apply"], Drop(ALL)) },
    start(&["atlas"], &["schema", "clean"], Drop(ALL)),
    start(&["dotnet"], &["ef", "database", "drop"], Drop(ALL)),
    start(&["dotnet"], &["ef", "database", "update", "0"], Drop(ALL)),
    start(&["dotnet-ef"], &["database", "drop"], Drop(ALL)),
    start(&["sqitch"], &["revert"], Drop(ALL)),
    start(&["encore"], &["db", "reset"], Drop(ALL)),
    start(&["edgedb", "gel"], &["database|branch", "drop|wipe"], Drop(ALL)),
];
