//! `sqlparser` as second opinion: whenever it parses a text, both find the same statements in it.

use aurora_gate::analysis::sql::{SqlKind, analyse};
use aurora_model::SqlDialect;
use sqlparser::ast::{Delete, Expr, ObjectType, Query, SetExpr, Statement, Update};
use sqlparser::dialect::{Dialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

/// Statements and statement-like pieces of text.
const STATEMENTS: [&str; 24] = [
    "DROP TABLE a",
    "DROP TABLE IF EXISTS a, b",
    "DROP SCHEMA s",
    "DROP DATABASE d",
    "DROP VIEW v",
    "DROP INDEX i",
    "TRUNCATE TABLE t",
    "DELETE FROM t",
    "DELETE FROM t WHERE id = 1",
    "DELETE FROM t WHERE id IN (SELECT id FROM u WHERE x = 1)",
    "UPDATE t SET a = 1",
    "UPDATE t SET a = (SELECT b FROM c WHERE d = 1)",
    "UPDATE t SET a = 1 WHERE b = 'DROP TABLE x'",
    "SELECT 'x; DROP TABLE y'",
    "SELECT \"DELETE FROM t\" FROM u",
    "SELECT * FROM t WHERE a = 'it''s; DELETE FROM t'",
    "INSERT INTO t (a) VALUES ('DROP TABLE x')",
    "WITH d AS (DELETE FROM t RETURNING a) SELECT * FROM d",
    "WITH d AS (SELECT 1) DELETE FROM t",
    "CREATE TABLE c (a INT REFERENCES b (a) ON DELETE CASCADE)",
    "GRANT DELETE, UPDATE ON t TO u",
    "ALTER TABLE t DROP COLUMN c",
    "EXPLAIN DELETE FROM t",
    "SELECT 1",
];

/// Text between words that no database runs, each right in some dialects only.
const NOISE: [&str; 14] = [
    " ",
    "\n",
    "\t",
    " /* ; DROP TABLE n */ ",
    " -- DROP TABLE n; '\n",
    " /* ' */ ",
    "  ",
    " /* -- */ ",
    " --\n",
    " # DROP TABLE n; '\n",
    " /* /* */ ; */ ",
    " /* /* */ ",
    "\r\n",
    " ",
];

/// Strings whose end depends on the dialect.
const STRINGS: [&str; 10] = [
    "'plain'",
    "'it''s'",
    "'a\\'",
    "'a\\'; DELETE FROM n; --'",
    "$$ DROP TABLE n; $$",
    "$a$ ' $a$",
    "E'a\\'; DROP TABLE n; --'",
    "\"a;b\"",
    "'\\\\'",
    "[a'b]",
];

struct Random(u64);

impl Random {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        from[usize::try_from(self.0 % u64::try_from(from.len()).unwrap()).unwrap()]
    }

    /// A few statements with noise between their words.
    fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..3 {
            if self.pick(&["yes", "no"]) == "yes" {
                text.push_str(&format!("SELECT {} ;", self.pick(&STRINGS)));
            }
            for word in self.pick(&STATEMENTS).split_inclusive(' ') {
                text.push_str(word.trim_end());
                let quoted = text.matches(['\'', '"']).count() % 2 == 1;
                text.push_str(if quoted { " " } else { self.pick(&NOISE) });
            }
            text.push(';');
        }
        text
    }
}

/// Adds the statements that matter, as sqlparser sees them.
fn statement(statement: &Statement, seen: &mut Vec<&'static str>) {
    let unlimited =
        |selection: &Option<Expr>, limit: &Option<Expr>| selection.is_none() && limit.is_none();
    match statement {
        Statement::Drop {
            object_type: ObjectType::Table | ObjectType::Schema | ObjectType::Database,
            temporary: false,
            ..
        } => seen.push("drop"),
        Statement::Truncate(_) => seen.push("truncate"),
        Statement::Delete(Delete { selection, limit, .. }) if unlimited(selection, limit) => {
            seen.push("rows");
        }
        Statement::Update(Update { selection, limit, .. }) if unlimited(selection, limit) => {
            seen.push("rows");
        }
        Statement::Query(inner) => query(inner, seen),
        _ => {}
    }
}

/// The same for a query and what stands in its WITH.
fn query(query: &Query, seen: &mut Vec<&'static str>) {
    for table in query.with.iter().flat_map(|with| &with.cte_tables) {
        self::query(&table.query, seen);
    }
    if let SetExpr::Delete(inner) | SetExpr::Update(inner) = query.body.as_ref() {
        statement(inner, seen);
    }
}

/// What sqlparser finds, when it parses the text.
fn theirs(text: &str, dialect: &dyn Dialect) -> Option<Vec<&'static str>> {
    let mut seen = Vec::new();
    for parsed in Parser::parse_sql(dialect, text).ok()? {
        statement(&parsed, &mut seen);
    }
    Some(seen)
}

fn ours(text: &str, dialect: SqlDialect) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for finding in analyse(text, dialect) {
        kinds.push(match finding.kind {
            SqlKind::Drop { .. } => "drop",
            SqlKind::Truncate { .. } => "truncate",
            SqlKind::ChangeAllRows { .. } => "rows",
            _ => "other",
        });
    }
    kinds
}

/// POL-8: texts whose quotes and comments each database reads differently.
#[test]
fn two_readers_find_the_same_statements() {
    let dialects: [(SqlDialect, &dyn Dialect); 4] = [
        (SqlDialect::Postgres, &PostgreSqlDialect {}),
        (SqlDialect::Mysql, &MySqlDialect {}),
        (SqlDialect::Sqlite, &SQLiteDialect {}),
        (SqlDialect::Mssql, &MsSqlDialect {}),
    ];
    let mut random = Random(0x0dd5_eed5_0dd5_eed5);
    let mut compared = 0;
    for _ in 0..2000 {
        let text = random.text();
        for (own, other) in dialects {
            // sqlparser reads dollar quotes in dialects that have none.
            if text.contains('$') && own != SqlDialect::Postgres {
                continue;
            }
            if let Some(theirs) = theirs(&text, other) {
                compared += 1;
                assert_eq!(ours(&text, own), theirs, "{own:?} {text:?}");
            }
        }
    }
    assert!(compared > 500, "only {compared} texts were parsed by both");
}
