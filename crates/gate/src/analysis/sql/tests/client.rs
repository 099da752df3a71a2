//! Commands that a client keeps to itself.

use super::{Generic, Mssql, Mysql, Postgres, Sqlite, check};

#[test]
fn psql_commands_are_read() {
    check(
        &[Postgres, Generic],
        &[
            ("\\! rm -rf x", "shell rm -rf x"),
            ("SELECT 1; \\! ls; echo hi\nSELECT 2", "shell ls; echo hi"),
            ("\\i a.sql", "include a.sql"),
            ("\\ir 'a b.sql'", "include a b.sql"),
            ("\\include a.sql\nDROP TABLE x;", "include a.sql; drop table x"),
            ("\\o |cat > y\nSELECT 1;", "shell cat > y"),
            ("SELECT 1 \\g |sh", "shell sh"),
            ("SELECT 1 \\gx | tee x", "shell tee x"),
            ("\\copy t from program 'curl x'", "shell curl x"),
            ("\\copy t from 'x.csv' csv", ""),
            ("\\copy (DELETE FROM x RETURNING *) to stdout", "all DELETE FROM x"),
            ("COPY t FROM PROGRAM 'rm x'", "shell rm x"),
            ("COPY t TO PROGRAM 'gzip > x'", "shell gzip > x"),
            ("COPY t FROM '/tmp/x'", ""),
            ("\\set v `rm x`", "shell rm x"),
            ("\\set v 'DROP TABLE x'\n:v;", "drop table x"),
            (":v;", "opaque"),
            ("\\x \\i a.sql", "include a.sql"),
            ("DROP \\echo hi\n TABLE x;", "drop table x"),
            ("\\dt\nDROP TABLE x;", "drop table x"),
            ("\\c db\n\\dt *.*\nSELECT 1", ""),
            ("SELECT 'DROP TABLE x' \\gexec", "drop table x"),
            ("SELECT 'DROP TABLE ' || t FROM s \\gexec", "drop table \u{FFFC}"),
            ("SELECT 'CREATE DATABASE x' WHERE NOT EXISTS (SELECT 1)\\gexec", ""),
            ("SELECT q FROM s \\gexec", "opaque"),
            ("DROP TABLE x \\g", "drop table x"),
        ],
    );
}

#[test]
fn mysql_commands_are_read() {
    check(
        &[Mysql],
        &[
            ("\\! rm x", "shell rm x"),
            ("system rm x", "shell rm x"),
            ("SYSTEM ls;", "shell ls"),
            ("source a.sql", "include a.sql"),
            ("select 1; source a.sql;", "include a.sql"),
            ("\\. a.sql", "include a.sql"),
            ("SELECT 1;\n\\. a.sql\nDROP TABLE x;", "include a.sql; drop table x"),
            ("pager less", "shell less"),
            ("\\! ls; DROP TABLE x", "shell ls; DROP TABLE x; drop table x"),
            ("SELECT source FROM x", ""),
        ],
    );
}

#[test]
fn dot_commands_are_read() {
    check(
        &[Sqlite, Generic],
        &[
            (".shell rm x", "shell rm x"),
            (".system rm x", "shell rm x"),
            (".sh ls", "shell ls"),
            (".read a.sql", "include a.sql"),
            (".read 'a b.sql'", "include a b.sql"),
            (".read '|gen'", "shell gen; opaque"),
            (".output |cat", "shell cat"),
            (".once '|sort > x'", "shell sort > x"),
            (".import '|curl x' t", "shell curl x"),
            (".import x.csv t", ""),
            (".output x.txt", "write x.txt"),
            (".mode csv\nDROP TABLE x;", "drop table x"),
            (".dump users", ""),
            ("SELECT 1\n.5;", ""),
            (".load ./e", "opaque"),
        ],
    );
}

#[test]
fn other_clients_are_read() {
    check(
        &[Mssql, Generic],
        &[
            (":r a.sql", "include a.sql"),
            ("!!dir", "shell dir"),
            (":!! dir", "shell dir"),
            ("SELECT 1\nGO\n:r \"a b.sql\"", "include a b.sql"),
        ],
    );
    check(
        &[Generic],
        &[
            ("@a.sql", "include a.sql"),
            ("@@a.sql;", "include a.sql"),
            ("!rm x", "shell rm x"),
            ("HOST rm x", "shell rm x"),
            ("!source a.sql", "include a.sql"),
            ("!system rm x", "shell rm x"),
            ("SOURCE 'a.cql'", "include a.cql"),
            ("SELECT host FROM t", ""),
        ],
    );
}
