//! SQL that runs from text.

use super::{ALL, Generic, Mssql, Mysql, Postgres, check};

#[test]
fn constants_are_followed_where_they_run() {
    check(
        &ALL,
        &[
            ("EXECUTE IMMEDIATE 'DROP TABLE x'", "drop table x"),
            (
                "BEGIN EXECUTE IMMEDIATE 'DROP TABLE x'; EXCEPTION WHEN OTHERS THEN NULL; END;",
                "drop table x",
            ),
            ("PREPARE s FROM 'DROP TABLE x'; EXECUTE s", "drop table x"),
            ("PREPARE s AS DELETE FROM x; EXECUTE s", "all DELETE FROM x"),
            ("PREPARE s (int) AS DELETE FROM x WHERE id = $1", ""),
            ("EXECUTE IMMEDIATE 'SELECT ' || x", ""),
            ("EXECUTE IMMEDIATE x", "opaque"),
            ("EXECUTE IMMEDIATE x || ' TABLE y'", "opaque"),
            ("EXECUTE IMMEDIATE CONCAT('DROP', ' TABLE x')", "drop table x"),
            ("EXECUTE IMMEDIATE 'EXECUTE IMMEDIATE ''DROP TABLE x'''", "drop table x"),
            ("EXECUTE s", ""),
            ("CALL drop_table('x')", ""),
            ("SELECT dblink_exec('c', 'DROP TABLE x')", "drop table x"),
            ("SET @s = 'DROP TABLE x'; PREPARE p FROM @s; EXECUTE p", "drop table x"),
            ("SET @s = 'SELECT 1'; PREPARE p FROM @s", ""),
            ("PREPARE p FROM @s", "opaque"),
            (
                "SET @a='DROP', @b=' TABLE x'; SET @s=CONCAT(@a,@b); PREPARE p FROM @s",
                "drop table x",
            ),
            (
                "SELECT CONCAT('DROP TABLE ', GROUP_CONCAT(t)) INTO @s FROM i; PREPARE p FROM @s",
                "drop table \u{FFFC}",
            ),
            ("SELECT @s := 'TRUNCATE x'; PREPARE p FROM @s", "truncate x"),
            ("SET @s = 0x44524F50205441424C452078; PREPARE p FROM @s", "drop table x"),
        ],
    );
}

#[test]
fn postgres_blocks_are_code() {
    check(
        &[Postgres, Generic],
        &[
            ("DO $$ BEGIN DROP TABLE x; END $$", "drop table x"),
            ("DO LANGUAGE plpgsql $$ BEGIN EXECUTE 'DROP TABLE x'; END $$", "drop table x"),
            ("DO 'BEGIN DELETE FROM x; END'", "all DELETE FROM x"),
            ("DO $$ BEGIN EXECUTE 'DR' || 'OP TABLE x'; END $$", "drop table x"),
            ("DO $$ BEGIN EXECUTE format('DROP TABLE %I', t); END $$", "drop table \u{FFFC}"),
            ("DO $$ BEGIN EXECUTE format('%s TABLE x', 'DROP'); END $$", "drop table x"),
            ("DO $$ BEGIN EXECUTE format('%s x', v); END $$", "opaque"),
            ("DO $$ BEGIN EXECUTE format('SELECT %s', v); END $$", ""),
            (
                "DO $$ DECLARE r record; BEGIN FOR r IN SELECT tablename FROM pg_tables LOOP EXECUTE 'DROP TABLE ' || quote_ident(r.tablename) || ' CASCADE'; END LOOP; END $$",
                "drop table \u{FFFC}",
            ),
            ("DO $$ DECLARE q text := 'TRUNCATE x'; BEGIN EXECUTE q; END $$", "truncate x"),
            (
                "DO $$ DECLARE q text; BEGIN q := 'DROP TABLE ' || v; EXECUTE q; END $$",
                "drop table \u{FFFC}",
            ),
            ("DO $$ BEGIN EXECUTE v; END $$", "opaque"),
            ("DO $$ BEGIN IF true THEN DROP TABLE x; END IF; END $$", "drop table x"),
            ("DO $a$ BEGIN EXECUTE $b$ DROP TABLE x $b$; END $a$", "drop table x"),
            (
                "DO $$ BEGIN EXECUTE (SELECT string_agg('DROP TABLE ' || t, ';') FROM s); END $$",
                "drop table \u{FFFC}",
            ),
            ("DO $$ BEGIN EXECUTE 'DELETE FROM x WHERE id = $1' USING 5; END $$", ""),
            ("DO $$ BEGIN RETURN QUERY DELETE FROM x RETURNING *; END $$", "all DELETE FROM x"),
            ("DO $$ BEGIN EXECUTE E'DROP\\x20TABLE x'; END $$", "drop table x"),
            ("DO $$ BEGIN EXECUTE U&'\\0044ROP TABLE x'; END $$", "drop table x"),
            ("DO $$ BEGIN EXECUTE chr(68) || 'ROP TABLE x'; END $$", "drop table x"),
            ("DO $$ BEGIN EXECUTE 'CREATE TABLE '||x; END $$", ""),
            ("DO $$ BEGIN PERFORM 1; END $$", ""),
        ],
    );
}

#[test]
fn sql_server_runs_text() {
    check(
        &[Mssql, Generic],
        &[
            ("EXEC('DROP TABLE x')", "drop table x"),
            ("EXEC (N'DROP TABLE ' + @t)", "drop table \u{FFFC}"),
            ("EXEC sp_executesql N'DROP TABLE x'", "drop table x"),
            ("EXEC sys.sp_executesql @stmt = N'DELETE FROM x'", "all DELETE FROM x"),
            ("EXECUTE sp_executesql @sql", "opaque"),
            ("DECLARE @s nvarchar(max) = N'DROP TABLE x'; EXEC sp_executesql @s", "drop table x"),
            ("DECLARE @s nvarchar(max); SET @s = N'DROP TABLE x'; EXEC(@s)", "drop table x"),
            (
                "DECLARE @s nvarchar(max) = N''; SELECT @s += N'DROP TABLE ' + QUOTENAME(name) + ';' FROM sys.tables; EXEC sp_executesql @s;",
                "drop table \u{FFFC}",
            ),
            ("EXEC sp_MSforeachtable 'DROP TABLE ?'", "drop table"),
            ("EXEC sp_MSforeachtable @command1 = 'TRUNCATE TABLE ?'", "truncate "),
            ("EXEC sp_help 'x'", ""),
            ("EXEC my_proc 'DROP TABLE x'", ""),
            ("EXEC xp_cmdshell 'del x'", "shell del x"),
            ("EXEC master..xp_cmdshell 'dir'", "shell dir"),
            ("EXEC master.dbo.xp_cmdshell N'dir'", "shell dir"),
            ("EXEC @rc = sp_executesql N'DROP TABLE x'", "drop table x"),
            (
                "DECLARE @s varchar(99); SET @s = CAST(0x44524F50205441424C452078 AS varchar(99)); EXEC(@s)",
                "drop table x",
            ),
        ],
    );
}

#[test]
fn nesting_is_bounded() {
    let mut text = "DROP TABLE x".to_owned();
    for _ in 0..6 {
        text = format!("EXECUTE IMMEDIATE '{}'", text.replace('\'', "''"));
    }
    assert_eq!(super::seen(&text, Mysql), "drop table x");
    for _ in 0..6 {
        text = format!("EXECUTE IMMEDIATE '{}'", text.replace('\'', "''"));
    }
    assert_eq!(super::seen(&text, Mysql), "opaque");
}
