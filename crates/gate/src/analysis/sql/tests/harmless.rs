//! Statements that only look dangerous: nothing may be found.

use super::{ALL, Generic, Mssql, Mysql, Postgres, Sqlite, check};

/// Checks that none of the texts does anything.
fn harmless(dialects: &[super::SqlDialect], texts: &[&str]) {
    let table: Vec<(&str, &str)> = texts.iter().map(|text| (*text, "")).collect();
    check(dialects, &table);
}

#[test]
fn smaller_drops_and_definitions_are_harmless() {
    harmless(
        &ALL,
        &[
            "",
            ";",
            "SELECT 1",
            "DROP VIEW v",
            "DROP MATERIALIZED VIEW v",
            "DROP INDEX i",
            "DROP INDEX CONCURRENTLY IF EXISTS i",
            "DROP FUNCTION f(int)",
            "DROP TRIGGER t ON users",
            "DROP ROLE r",
            "DROP USER u",
            "DROP TYPE t",
            "DROP SEQUENCE s",
            "DROP POLICY p ON users",
            "DROP EXTENSION e",
            "DROP TEMPORARY TABLE t",
            "DROP TEMPORARY TABLE IF EXISTS t",
            "DROP DATABASE LINK l",
            "DROP TABLE FUNCTION f",
            "DROP PROCEDURE p",
            "DROP EVENT TRIGGER t",
            "DROP TABLESPACE t",
            "ALTER TABLE x DROP COLUMN y",
            "ALTER TABLE x DROP y",
            "ALTER TABLE x DROP CONSTRAINT y",
            "ALTER TABLE x DROP COLUMN partition",
            "ALTER TABLE x DETACH PARTITION p",
            "ALTER PUBLICATION p DROP TABLE t",
            "ALTER EXTENSION e DROP TABLE t",
            "UNDROP TABLE x",
            "CREATE TABLE a (b int REFERENCES c ON DELETE CASCADE ON UPDATE SET NULL)",
            "CREATE TABLE IF NOT EXISTS drop_table (truncate int)",
            "CREATE TRIGGER t BEFORE TRUNCATE ON x EXECUTE FUNCTION f()",
            "CREATE TRIGGER t AFTER DELETE ON x FOR EACH ROW EXECUTE PROCEDURE f()",
            "CREATE VIEW v AS SELECT 'DROP TABLE x' FROM y",
            "CREATE RULE r AS ON DELETE TO x DO INSTEAD UPDATE x SET a=1",
            "COMMENT ON TABLE x IS 'drop table x'",
            "GRANT TRUNCATE ON x TO y",
            "GRANT DELETE, UPDATE ON x TO y",
            "REVOKE TRUNCATE, DELETE ON x FROM y",
            "ALTER DEFAULT PRIVILEGES GRANT TRUNCATE ON TABLES TO y",
            "EXPLAIN DELETE FROM x",
            "EXPLAIN DROP TABLE x",
            "EXPLAIN (VERBOSE) DELETE FROM x",
            "EXPLAIN (ANALYZE false) DELETE FROM x",
            "EXPLAIN QUERY PLAN DELETE FROM x",
            "SHOW CREATE TABLE x",
            "VACUUM FULL x",
            "ALTER TABLE x RENAME TO y",
        ],
    );
}

#[test]
fn text_that_is_not_code_is_harmless() {
    harmless(
        &ALL,
        &[
            "SELECT 'DROP TABLE users'",
            "SELECT 'a; DROP TABLE users; b'",
            "SELECT 'it''s; DROP TABLE users;'",
            "-- DROP TABLE users",
            "-- it's\nSELECT 1 -- ; DROP TABLE x",
            "/* DROP TABLE users; */ SELECT 1",
            "SELECT \"DROP TABLE users\" FROM t",
            "INSERT INTO log VALUES ('TRUNCATE users; DELETE FROM x')",
            "INSERT INTO t (delete, update) VALUES (1, 2)",
            "SELECT truncate(1.5, 1)",
            "SELECT drop_table, truncate_at FROM x",
            "SELECT * FROM dropped WHERE a = 1",
            "SELECT * FROM x FOR UPDATE",
            "SELECT * FROM x FOR UPDATE OF y SKIP LOCKED",
            "SELECT x.drop, y.delete FROM x",
            "SELECT deleted, updated FROM x",
            "INSERT INTO x VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1",
            "INSERT INTO x VALUES (1) ON DUPLICATE KEY UPDATE a = 1",
            "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE",
            "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 1",
            "CREATE POLICY p ON t FOR DELETE USING (true)",
            "hello world",
            "SELECT * FROM t WHERE note = \u{FFFC}",
            "SELECT * FROM \u{FFFC}",
            "SELECT 'abc",
        ],
    );
}

#[test]
fn bounded_changes_are_harmless() {
    harmless(
        &ALL,
        &[
            "DELETE FROM users WHERE id = 1",
            "DELETE FROM users WHERE id = \u{FFFC}",
            "DELETE FROM \u{FFFC} WHERE id = 1",
            "DELETE FROM users WHERE \u{FFFC}",
            "DELETE FROM users LIMIT 5",
            "DELETE FROM users ORDER BY id LIMIT 5",
            "DELETE FROM users WHERE CURRENT OF c",
            "DELETE FROM users WHERE 1=1 AND id = 5",
            "DELETE FROM users WHERE id BETWEEN 1 AND 5",
            "DELETE FROM users WHERE id IN (SELECT id FROM x)",
            "DELETE FROM users u USING x WHERE u.id = x.id",
            "DELETE FROM users WHERE false",
            "DELETE FROM users WHERE 1=0",
            "UPDATE users SET a = 1 WHERE id = 1",
            "UPDATE users SET a = CASE WHEN b THEN 1 ELSE 2 END WHERE id = 1",
            "UPDATE users SET a = 1 LIMIT 1",
            "UPDATE users u JOIN x ON u.a=x.a SET u.b = 1 WHERE x.c = 2",
            "WITH d AS (DELETE FROM x WHERE a=1 RETURNING *) SELECT * FROM d",
            "WITH c AS (SELECT 1) DELETE FROM x WHERE id IN (SELECT * FROM c)",
            "EXPLAIN ANALYZE DELETE FROM x WHERE id = 1",
            "ALTER TABLE x DELETE WHERE a = 1",
        ],
    );
}

#[test]
fn bodies_of_definitions_are_harmless() {
    harmless(
        &[Postgres],
        &[
            "CREATE FUNCTION f() RETURNS void AS $$ BEGIN DROP TABLE x; END $$ LANGUAGE plpgsql;",
            "CREATE OR REPLACE PROCEDURE p() LANGUAGE SQL AS $$ TRUNCATE x; $$",
            "CREATE FUNCTION f() RETURNS int LANGUAGE SQL BEGIN ATOMIC DELETE FROM x; SELECT 1; END;",
            "DO $$ BEGIN RAISE NOTICE 'DROP TABLE x'; END $$",
            "DO $$ BEGIN IF TG_OP = 'DELETE' THEN RETURN; END IF; END $$",
            "COPY t FROM stdin;\nDROP TABLE x;\n\\.\n",
            "\\h DROP TABLE",
            "\\echo it's DROP TABLE x",
            "SELECT 1 \\echo ; \n",
            "DROP TABLE pg_temp.x",
        ],
    );
    harmless(
        &[Mysql],
        &[
            "DELIMITER //\nCREATE PROCEDURE p() BEGIN DROP TABLE x; DELETE FROM y; END//\nDELIMITER ;",
            "CREATE TRIGGER t AFTER INSERT ON x FOR EACH ROW DELETE FROM y",
            "CREATE DEFINER=`root`@`%` TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN IF a THEN DELETE FROM y; END IF; UPDATE z SET a=1; END;",
            "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM x",
            "SELECT 'it\\'s; DROP TABLE x; '",
            "SELECT \"it's; DROP TABLE x; \"",
            "# DROP TABLE x",
            "SELECT 1; # ; DROP TABLE x",
            "SELECT `DROP TABLE x`",
            "INSERT INTO t VALUES ('a\\\\'); -- '; DROP TABLE x",
            "HELP 'DROP TABLE'",
            "DELIMITER $$\nCREATE FUNCTION f() RETURNS INT BEGIN DELETE FROM x; RETURN 1; END$$",
        ],
    );
    harmless(
        &[Sqlite],
        &[
            "CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM y; UPDATE z SET a = 1; END;",
            "SELECT [DROP TABLE x]",
            "DROP TABLE temp.x",
            ".tables",
            ".mode csv\n.headers on\nSELECT 1;",
            "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM y; END;",
        ],
    );
    harmless(
        &[Mssql],
        &[
            "DROP TABLE #tmp",
            "DROP TABLE IF EXISTS #a, #b",
            "DELETE FROM #tmp",
            "DELETE TOP (10) FROM x",
            "UPDATE STATISTICS x",
            "CREATE PROCEDURE p AS BEGIN DELETE FROM x; DROP TABLE y; END",
            "CREATE TRIGGER t ON x AFTER DELETE, UPDATE AS BEGIN DELETE FROM y END",
            "CREATE TRIGGER t ON DATABASE FOR DROP_TABLE AS PRINT 'x'",
            "DECLARE @t TABLE (a int); DELETE FROM @t",
        ],
    );
    harmless(
        &[Generic],
        &[
            "CREATE OR REPLACE PROCEDURE p AS x NUMBER; BEGIN DELETE FROM y; END;\n/\nSELECT 1;",
            "SELECT arr[1] FROM t",
            "SYSTEM DROP DNS CACHE",
            "INSERT INTO notes VALUES ('don\\'t drop table users; ok')",
        ],
    );
}

#[test]
fn a_name_is_not_taken_for_a_body() {
    check(
        &ALL[..4],
        &[("CREATE FUNCTION f() AS a; DROP TABLE x; SELECT begin FROM y;", "drop table x")],
    );
    check(&[Postgres, Sqlite], &[("CREATE VIEW begin AS SELECT 1; DROP TABLE x", "drop table x")]);
    check(&[Mysql], &[("CREATE TRIGGER t BEGIN a; DROP TABLE x;", "drop table x")]);
}
