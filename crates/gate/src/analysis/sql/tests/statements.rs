//! Statements that drop, empty or rewrite tables.

use super::{ALL, Generic, Mssql, Mysql, Postgres, Sqlite, check};

#[test]
fn drops_are_seen_in_any_spelling() {
    check(
        &ALL,
        &[
            ("DROP TABLE users", "drop table users"),
            ("drop table users;", "drop table users"),
            ("DrOp\n\tTaBlE\n users;", "drop table users"),
            ("DROP/* x */TABLE users", "drop table users"),
            ("DROP -- x\n TABLE users", "drop table users"),
            ("DROP TABLE IF EXISTS a.users CASCADE", "drop table a.users"),
            ("DROP TABLE a, b, c", "drop table a, b, c"),
            ("DROP TABLE \"Users\"", "drop table Users"),
            ("DROP DATABASE shop", "drop database shop"),
            ("DROP DATABASE IF EXISTS shop WITH (FORCE)", "drop database shop"),
            ("DROP SCHEMA public CASCADE; CREATE SCHEMA public;", "drop schema public"),
            ("DROP FOREIGN TABLE f", "drop table f"),
            ("DROP OWNED BY joe", "drop owned by joe"),
            ("DROP KEYSPACE k", "drop keyspace k"),
            ("DROP COLUMNFAMILY k", "drop columnfamily k"),
            ("DROP DATABASE audit;", "drop database audit"),
            ("SELECT 1; DROP TABLE users", "drop table users"),
            ("SELECT ';'; DROP TABLE users", "drop table users"),
            ("SELECT 'it''s'; DROP TABLE users --'", "drop table users"),
            ("/* ; */ DROP TABLE users", "drop table users"),
            ("BEGIN; DROP TABLE x; ROLLBACK;", "drop table x"),
            ("BEGIN TRANSACTION; DROP TABLE x; ROLLBACK", "drop table x"),
            ("DROP TABLE \u{FFFC}", "drop table \u{FFFC}"),
            ("DROP TABLE a\u{FFFC}", "drop table a\u{FFFC}"),
            (";;; drop table x", "drop table x"),
            ("\u{FEFF}DROP TABLE x", "drop table x"),
            ("CREATE TABLE a(i int); DROP TABLE b", "drop table b"),
            ("DROP ALL OBJECTS", "drop all objects"),
            ("DROP TABLESPACE t INCLUDING CONTENTS", "drop tablespace t"),
            ("drop tables a", "drop tables a"),
        ],
    );
}

#[test]
fn truncations_are_seen() {
    check(
        &ALL,
        &[
            ("TRUNCATE users", "truncate users"),
            ("TRUNCATE TABLE users", "truncate users"),
            ("truncate only a, b restart identity cascade", "truncate a, b"),
            ("TRUNCATE TABLE `a`.`b`".replace('`', "\"").leak(), "truncate a.b"),
            ("ALTER TABLE x DROP PARTITION p1", "truncate x partition p1"),
            ("ALTER TABLE x TRUNCATE PARTITION p1", "truncate x partition p1"),
            ("ALTER TABLE x DROP IF EXISTS PARTITION (d='1')", "truncate x partition ("),
            ("TRUNCATE TABLE \u{FFFC}", "truncate \u{FFFC}"),
        ],
    );
}

#[test]
fn changes_of_all_rows_are_seen() {
    check(
        &ALL,
        &[
            ("DELETE FROM users", "all DELETE FROM users"),
            ("delete from users;", "all DELETE FROM users"),
            ("DELETE FROM a.users u", "all DELETE FROM a.users"),
            ("DELETE FROM users WHERE 1=1", "all DELETE FROM users"),
            ("DELETE FROM users WHERE true", "all DELETE FROM users"),
            ("DELETE FROM users WHERE 1", "all DELETE FROM users"),
            ("DELETE FROM users WHERE (1 = 1)", "all DELETE FROM users"),
            ("DELETE FROM users WHERE id = 5 OR 1=1", "all DELETE FROM users"),
            ("DELETE FROM users WHERE 'a'='a'", "all DELETE FROM users"),
            ("DELETE FROM users WHERE id = id", "all DELETE FROM users"),
            ("DELETE FROM users WHERE 2 > 1", "all DELETE FROM users"),
            ("DELETE FROM users WHERE NOT false", "all DELETE FROM users"),
            ("DELETE FROM a USING b", "all DELETE FROM a"),
            ("DELETE a FROM a JOIN b ON a.id = b.id", "all DELETE FROM a"),
            ("DELETE FROM users RETURNING id", "all DELETE FROM users"),
            ("UPDATE users SET a = 1", "all UPDATE users"),
            ("UPDATE users SET a = 1 WHERE 1=1", "all UPDATE users"),
            ("UPDATE users SET a = (SELECT b FROM c WHERE d = 1)", "all UPDATE users"),
            ("UPDATE a.users AS u SET x = 'WHERE'", "all UPDATE a.users"),
            ("UPDATE users SET a = CASE WHEN b THEN 1 ELSE 2 END", "all UPDATE users"),
            ("WITH d AS (DELETE FROM x RETURNING *) SELECT * FROM d", "all DELETE FROM x"),
            ("WITH c AS (SELECT 1) DELETE FROM x", "all DELETE FROM x"),
            ("WITH c AS (SELECT 1) UPDATE x SET a=1", "all UPDATE x"),
            (
                "WITH d AS (DELETE FROM x RETURNING *) INSERT INTO y SELECT * FROM d WHERE a=1",
                "all DELETE FROM x",
            ),
            ("EXPLAIN ANALYZE DELETE FROM x", "all DELETE FROM x"),
            ("EXPLAIN (ANALYZE, BUFFERS) DELETE FROM x", "all DELETE FROM x"),
            ("DELETE FROM \u{FFFC}", "all DELETE FROM \u{FFFC}"),
            ("UPDATE t SET a = \u{FFFC}", "all UPDATE t"),
            ("ALTER TABLE x DELETE WHERE 1", "all ALTER TABLE x DELETE"),
            ("ALTER TABLE x UPDATE a = 1 WHERE 1", "all ALTER TABLE x UPDATE"),
            ("ANALYZE DELETE FROM x", "all DELETE FROM x"),
        ],
    );
}

#[test]
fn dialects_read_their_own_quotes() {
    check(
        &[Mysql],
        &[
            ("DROP TABLE `users`", "drop table users"),
            ("SELECT 'it\\'s'; DROP TABLE x; -- '", "drop table x"),
            ("SELECT \"a;b\"; DROP TABLE x", "drop table x"),
            ("SELECT 1 # it's\n; DROP TABLE x", "drop table x"),
            ("SELECT 1 --1; DROP TABLE x", "drop table x"),
            ("/*!50000 DROP TABLE x */", "drop table x"),
            ("/*!DROP*/ /*!50000 TABLE*/ x", "drop table x"),
            ("/*M!100100 DROP TABLE x */;", "drop table x"),
            ("SELECT /* /* */ 1; DROP TABLE x; /* */", "drop table x"),
            ("DELETE LOW_PRIORITY QUICK FROM x", "all DELETE FROM x"),
            ("UPDATE IGNORE x SET a=1", "all UPDATE x"),
            ("DELETE a, b FROM a INNER JOIN b", "all DELETE FROM a, b"),
            (
                "DELIMITER //\nDROP TABLE x//\nDELIMITER ;\nDROP TABLE y;",
                "drop table x; drop table y",
            ),
            ("drop table x\\G", "drop table x"),
            ("SELECT 1\\g drop table x", "drop table x"),
        ],
    );
    check(
        &[Postgres],
        &[
            ("SELECT $$it's$$; DROP TABLE x", "drop table x"),
            ("SELECT $a$ $$ ; $a$; DROP TABLE x", "drop table x"),
            ("SELECT E'it\\'s'; DROP TABLE x; --'", "drop table x"),
            ("SELECT 'a\\'; DROP TABLE x; --'", "drop table x"),
            ("SELECT /* /* */ ' */ 1; DROP TABLE x", "drop table x"),
            ("SELECT a #> '{b}'; DROP TABLE x", "drop table x"),
            ("SELECT a[1]; DROP TABLE x", "drop table x"),
            ("SELECT U&'\\0041'; DROP TABLE x", "drop table x"),
            ("SELECT 1 <--'\n; DROP TABLE x", "drop table x"),
            ("SELECT :'v'; DROP TABLE x", "drop table x"),
            ("COPY t (a) FROM stdin;\nit's\n\\.\nDROP TABLE x;", "drop table x"),
            ("COPY t FROM stdin; DROP TABLE x;\nit's\n\\.\n", "drop table x"),
            ("SELECT 1\\; DROP TABLE x", "drop table x"),
        ],
    );
    check(
        &[Sqlite],
        &[
            ("DROP TABLE [my table]", "drop table my table"),
            ("SELECT [it's]; DROP TABLE x", "drop table x"),
            ("SELECT `it's`; DROP TABLE x", "drop table x"),
            ("UPDATE OR IGNORE x SET a=1", "all UPDATE x"),
            ("DELETE FROM x ORDER BY a", "all DELETE FROM x"),
        ],
    );
}

#[test]
fn sql_server_needs_no_separators() {
    check(
        &[Mssql],
        &[
            ("SELECT 1 DROP TABLE x", "drop table x"),
            ("IF OBJECT_ID('dbo.x') IS NOT NULL DROP TABLE dbo.x", "drop table dbo.x"),
            ("IF EXISTS (SELECT 1) BEGIN DROP TABLE x END", "drop table x"),
            ("SELECT 1\nGO\nDROP TABLE x\nGO", "drop table x"),
            ("CREATE PROC p AS DROP TABLE a; DROP TABLE b\nGO\nDROP TABLE c", "drop table c"),
            ("DELETE FROM a SELECT * FROM b WHERE c=1", "all DELETE FROM a"),
            ("UPDATE a SET b=1 DELETE FROM c WHERE d=1", "all UPDATE a"),
            ("BEGIN TRAN DELETE FROM a COMMIT", "all DELETE FROM a"),
            (
                "USE master; ALTER DATABASE x SET SINGLE_USER WITH ROLLBACK IMMEDIATE\nDROP DATABASE x",
                "drop database x",
            ),
            ("ALTER TABLE x DROP CONSTRAINT y DROP TABLE x", "drop table x"),
            ("DELETE users", "all DELETE FROM users"),
            ("TRUNCATE TABLE [dbo].[x]", "truncate dbo.x"),
            ("SELECT 1 TRUNCATE TABLE x", "truncate x"),
        ],
    );
    check(
        &[Generic],
        &[
            ("IF OBJECT_ID('x') IS NOT NULL DROP TABLE x", "drop table x"),
            ("DROP TABLE [a b]", "drop table a b"),
            ("DROP TABLE `x`", "drop table x"),
            ("/*! DROP TABLE x */", "drop table x"),
        ],
    );
}

#[test]
fn what_is_not_known_is_opaque() {
    check(
        &ALL,
        &[
            ("\u{FFFC}", "opaque"),
            ("\u{FFFC};", "opaque"),
            ("\u{FFFC} TABLE x", "opaque"),
            ("SELECT 1; \u{FFFC}", "opaque"),
            ("DR\u{FFFC} TABLE x", "opaque"),
            ("DROP \u{FFFC} x", "opaque"),
            ("DELETE FROM t \u{FFFC}", "opaque"),
            ("SELECT 'abc; DROP TABLE x", "opaque"),
            ("SELECT 1 /* ; DROP TABLE x", "opaque"),
        ],
    );
}
