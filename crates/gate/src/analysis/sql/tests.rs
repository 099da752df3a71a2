//! Tables of SQL texts: what they would do, and what only looks like it (POL-3, POL-8).

mod client;
mod dynamic;
mod harmless;
mod statements;

use aurora_model::SqlDialect::{self, Generic, Mssql, Mysql, Postgres, Sqlite};

use super::{SqlKind, analyse};

/// The findings of a text in short words.
fn seen(text: &str, dialect: SqlDialect) -> String {
    let words: Vec<String> = analyse(text, dialect)
        .into_iter()
        .map(|finding| {
            assert!(text.get(finding.span.start..finding.span.end).is_some(), "span in {text:?}");
            match finding.kind {
                SqlKind::Drop { object } => format!("drop {object}"),
                SqlKind::Truncate { object } => format!("truncate {object}"),
                SqlKind::ChangeAllRows { statement } => format!("all {statement}"),
                SqlKind::Shell { command } => format!("shell {command}"),
                SqlKind::Include { file } => format!("include {file}"),
                SqlKind::Write { file } => format!("write {file}"),
                SqlKind::Opaque { .. } => "opaque".to_owned(),
            }
        })
        .collect();
    words.join("; ")
}

/// Compares every row of a table and shows all that differ.
fn check(dialects: &[SqlDialect], table: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in table {
        for dialect in dialects {
            let found = seen(text, *dialect);
            if found != *expected {
                wrong.push_str(&format!(
                    "{dialect:?} {text:?}\n  is   {found}\n  want {expected}\n"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Every dialect.
const ALL: [SqlDialect; 5] = [Generic, Postgres, Mysql, Sqlite, Mssql];

#[test]
fn a_span_points_at_the_statement_itself() {
    for (text, expected) in [
        ("SELECT 1; DROP TABLE users; SELECT 2", "DROP TABLE users"),
        ("DO $$ BEGIN DROP TABLE users; END $$", "DROP TABLE users"),
        ("EXECUTE IMMEDIATE 'DROP ' || 'TABLE users'", "'DROP ' || 'TABLE users'"),
        ("\\copy (DELETE FROM x RETURNING *) to stdout", "DELETE FROM x"),
    ] {
        let span = analyse(text, Postgres)[0].span;
        assert_eq!(text.get(span.start..span.end), Some(expected));
    }
}

/// Pieces that, repeated, make a careless reader take quadratic time or too much stack.
const HOSTILE: [&str; 31] = [
    "(",
    "'",
    "/*",
    "$a$",
    "\\",
    "\\! ;",
    "q'[",
    "[",
    "`",
    "DROP ",
    "(DELETE FROM a ",
    "a \\x ",
    "SELECT 1;",
    "EXECUTE f(",
    "dblink(",
    "@a = f(",
    "DELIMITER //\n",
    "CREATE FUNCTION begin;",
    "COPY a FROM stdin;\n",
    "CASE ",
    "SET @a = CONCAT(@a, @a, 'x');",
    "EXECUTE IMMEDIATE @s;",
    "\u{FFFC}",
    "WITH a AS (UPDATE b SET c=1 ",
    ".read x\n",
    "EXEC('EXEC(''",
    "1 OR ",
    "\0",
    "ALTER TABLE a DROP PARTITION p, ",
    "EXPLAIN ",
    "SELECT a INTO b,",
];

#[test]
fn hostile_repetition_gets_an_answer() {
    for piece in HOSTILE {
        let long = piece.repeat((128 << 10) / piece.len());
        let _ = analyse(&long, Generic);
        let short = piece.repeat((16 << 10) / piece.len());
        for dialect in ALL {
            let _ = analyse(&short, dialect);
            let _ = analyse(&format!("DO $x$ {short} $x$"), dialect);
        }
    }
}

#[test]
fn a_megabyte_is_read_to_its_end() {
    let text = "INSERT INTO t VALUES (1, 'it''s', \"x\"); -- note\n".repeat(22_000);
    assert!(text.len() > 1 << 20);
    assert_eq!(seen(&(text + "DROP TABLE x"), Postgres), "drop table x");
}

#[test]
fn a_flood_of_lesser_findings_does_not_hide_a_drop() {
    let text = "DELETE FROM a;".repeat(5000) + "DROP TABLE users;";
    assert!(seen(&text, Postgres).ends_with("drop table users"));
}
