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
    let text = "SELECT 1; DROP TABLE users; SELECT 2";
    let findings = analyse(text, Postgres);
    assert_eq!(&text[findings[0].span.start..findings[0].span.end], "DROP TABLE users");
    let text = "DO $$ BEGIN DROP TABLE users; END $$";
    let findings = analyse(text, Postgres);
    assert_eq!(&text[findings[0].span.start..findings[0].span.end], "DROP TABLE users");
    let text = "EXECUTE IMMEDIATE 'DROP ' || 'TABLE users'";
    let findings = analyse(text, Postgres);
    assert_eq!(&text[findings[0].span.start..findings[0].span.end], "'DROP ' || 'TABLE users'");
}

/// Hostile inputs of a megabyte: an answer in bounded time.
#[test]
fn a_megabyte_of_anything_gets_an_answer() {
    let size = 1 << 20;
    for piece in [
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
    ] {
        let text = piece.repeat(size / piece.len());
        for dialect in ALL {
            let _ = analyse(&text, dialect);
            let _ = analyse(&format!("DO $x$ {text} $x$"), dialect);
        }
    }
}

#[test]
fn a_flood_of_lesser_findings_does_not_hide_a_drop() {
    let text = "DELETE FROM a;".repeat(5000) + "DROP TABLE users;";
    assert!(seen(&text, Postgres).ends_with("drop table users"));
}
