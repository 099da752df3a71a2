//! Where fuzzing starts from: the corpus, and for the other formats a few whole examples.

use std::path::Path;

use aurora_gate::policy::TEMPLATE;

use super::target::Target;
use crate::corpus;

/// The inputs to start from.
pub fn seeds(target: Target, root: &Path) -> Result<Vec<Vec<u8>>, String> {
    let texts: Vec<String> = match target {
        Target::Shell => {
            let cases = corpus::cases(root)?;
            let lines = cases.into_iter().map(|case| case.run);
            lines.chain(SHELL.iter().map(|text| (*text).to_owned())).collect()
        }
        Target::Sql => SQL.iter().map(|text| format!("0{text}")).collect(),
        Target::Patch => PATCH.iter().map(|text| (*text).to_owned()).collect(),
        Target::Policy => {
            let examples = POLICY.iter().map(|text| (*text).to_owned());
            examples.chain([TEMPLATE.to_owned(), uncommented(TEMPLATE)]).collect()
        }
    };
    Ok(texts.into_iter().map(String::into_bytes).collect())
}

/// The template with its settings switched on.
fn uncommented(template: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') || rest.starts_with("  ") => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    template.lines().map(line).collect()
}

/// Words of the target's language.
pub const fn dictionary(target: Target) -> &'static [&'static str] {
    match target {
        Target::Shell => SHELL_WORDS,
        Target::Sql => SQL_WORDS,
        Target::Patch => PATCH_WORDS,
        Target::Policy => POLICY_WORDS,
    }
}

static SHELL: &[&str] = &[
    "for f in a b c; do rm -rf \"$f\"; done",
    "case $x in a|b) git push -f ;; *) echo no ;; esac",
    "cat <<'EOF' | bash\nrm -rf /\nEOF\n",
    "x=push; git $x --force; unset x",
    "f() { rm -rf \"$@\"; }; f build dist",
    "find . -type f -exec rm {} +",
    "eval \"$(echo cm0gLXJmIC8K | base64 -d)\"",
    "psql -c 'drop table users' && echo \"drop table users\"",
    "python3 -c 'import shutil; shutil.rmtree(\"x\")'",
    "a=(1 2 3); echo ${a[@]} ${#a[@]} ${a[0]:-x} $((1+2)) $'\\x72\\155'",
    "exec 3>&1 2>/dev/null >| .env <<<'x' &>> log",
    "unknown -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c -c rm",
    "[[ $a =~ ^x ]] && ! (( i++ )) || { select y in 1; do :; done; }",
];

static SHELL_WORDS: &[&str] = &[
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "|&",
    "<<EOF\n",
    "\nEOF\n",
    "<<-'E'\n",
    "<<<",
    ">",
    ">>",
    ">|",
    "<(",
    "$(",
    "`",
    "$((",
    "))",
    "${",
    "}",
    "${x:-",
    "${!x}",
    "${x//a/b}",
    "$'",
    "\\x72",
    "\"",
    "'",
    "\\",
    "\\\n",
    "#",
    "!",
    "{",
    "(",
    ")",
    "{a,b}",
    "{1..9}",
    "*",
    "?",
    "[a-z]",
    "~/",
    "$IFS",
    "$@",
    "$*",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case ",
    "esac",
    "function f ",
    "f() ",
    "eval ",
    "exec ",
    "source ",
    "trap '' EXIT ",
    "alias x=",
    "sudo ",
    "env -S ",
    "xargs ",
    "find . -exec ",
    "bash -c ",
    "rm -rf ",
    "git push ",
    "--force ",
    "main ",
    "git -c alias.x=",
    "psql -c ",
    "DROP TABLE t",
    "python3 -c ",
    "perl -e ",
    "base64 -d",
    ".env",
    "cd ..;",
    "x=1 ",
    "declare -A ",
    "printf %s ",
    "echo ",
    "\u{0}",
    "\u{202e}",
    "\u{200b}",
    "ß",
    "ssh host ",
    "docker exec x ",
    "-- ",
    "[[ ",
    " ]]",
    "((",
    "coproc ",
    "time ",
];

static SQL: &[&str] = &[
    "DROP TABLE users;",
    "select * from t; delete from t where id = 1; update t set a = 1;",
    "DO $$ BEGIN EXECUTE 'drop ' || 'table x'; END $$;",
    "PREPARE p FROM 'TRUNCATE TABLE a'; EXECUTE p;",
    "/* drop table x */ -- truncate y\nSELECT 'drop table z', \"truncate\", `drop`, [drop];",
    "\\! rm -rf /\n.shell rm -rf /\n\\i file.sql\n",
    "CREATE FUNCTION f() RETURNS void AS $f$ DROP SCHEMA s CASCADE $f$ LANGUAGE sql;",
    "GRANT TRUNCATE ON t TO u; ALTER TABLE t DROP COLUMN c; TRUNCATE(1.5, 1);",
    "EXEC sp_executesql N'DROP DATABASE d'; GO\n",
    "/*! DROP TABLE t */; DELIMITER //\nDROP TABLE t//\n",
];

static SQL_WORDS: &[&str] = &[
    ";",
    "'",
    "\"",
    "`",
    "$$",
    "$a$",
    "--",
    "/*",
    "*/",
    "/*!",
    "#",
    "\n",
    " ",
    "(",
    ")",
    ",",
    ".",
    "DROP ",
    "TABLE ",
    "DATABASE ",
    "SCHEMA ",
    "IF EXISTS ",
    "CASCADE",
    "TRUNCATE ",
    "DELETE ",
    "FROM ",
    "UPDATE ",
    "SET ",
    "WHERE ",
    "SELECT ",
    "WITH ",
    "AS (",
    "EXECUTE ",
    "PREPARE ",
    "IMMEDIATE ",
    "DO ",
    "BEGIN ",
    "END ",
    "CREATE ",
    "FUNCTION ",
    "PROCEDURE ",
    "TRIGGER ",
    "||",
    "CONCAT(",
    "E'\\x41'",
    "U&'",
    "N'",
    "q'[",
    "\\!",
    "\\i ",
    ".shell ",
    ".read ",
    "GO\n",
    "DELIMITER //\n",
    "EXPLAIN ",
    "ALTER ",
    "GRANT ",
    "PARTITION ",
    "\u{0}",
    "ß",
    "@x := ",
];

static PATCH: &[&str] = &[
    "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
     @@ -1,2 +1,2 @@\n-a\n+b\n c\n",
    "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n",
    "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
    "diff --git \"a/sp\\303\\244t\\n\" \"b/sp\\303\\244t\\n\"\ndeleted file mode 100644\n\
     --- \"a/sp\\303\\244t\\n\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    "diff --git a/b.bin b/b.bin\nnew file mode 100644\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y01f~L\n\n\
     literal 0\nHcmV?d00001\n\n",
    "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-A=1\n+A=2\n\\ No newline at end of file\n",
    "From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n a | 2 +-\n\n\
     diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n--- a/.git/config\n++++ b/x\n y\n z\n",
];

static PATCH_WORDS: &[&str] = &[
    "diff --git ",
    "a/",
    "b/",
    "--- ",
    "+++ ",
    "@@ -1 +1 @@\n",
    "@@ -0,0 +1,9999999999 @@\n",
    "/dev/null",
    "\n",
    "\r\n",
    "\t",
    "\"",
    "\\303",
    "\\n",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "new file mode 120000\n",
    "deleted file mode 100644\n",
    "old mode ",
    "new mode 100755\n",
    "index 0..1 160000\n",
    "similarity index 100%\n",
    "GIT binary patch\n",
    "Binary files a/x and b/x differ\n",
    "literal 5\n",
    "delta 5\n",
    "+",
    "-",
    " ",
    "\\ No newline at end of file\n",
    ".git/",
    "../",
    "/etc/passwd",
    ".env",
    "-- \n2.40\n",
    "ß",
    "\u{0}",
    "diff --cc x\n",
    "@@@ -1 -1 +1 @@@\n",
    "Index: x\n===\n",
    "*** a\n",
];

static POLICY: &[&str] = &[
    "destructive:\n  git_force_push: deny\n  file_delete: {action: prompt, max_files: 3}\n  locked: true\n",
    "rules:\n  - id: a\n    when: {argv: \"npm publish **\", has: [x]}\n    action: prompt\n    \
     match: [npm publish]\n    not_match: [npm pack]\n",
    "roles:\n  r: {tools: [Read, 'mcp__*']}\ncontracts:\n  api: {paths: [a.yaml], lock: l}\n\
     path_rules:\n  - {role: r, paths: [infra/], action: deny}\nareas:\n  allowed_areas: [src/]\n",
    "safety:\n  protected_paths: [\"*.pem\", '!a', \"**/x\"]\n  max_files_modified: 1\n",
    "a: &x {b: *x}\n? complex\n: 1\n--- \n!!str 3\n...\n",
];

static POLICY_WORDS: &[&str] = &[
    ": ",
    "\n",
    "  ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "!!str ",
    "|\n",
    ">\n",
    "---\n",
    "...\n",
    "? ",
    "<<: ",
    "null",
    "~",
    "true",
    "yes",
    "0x10",
    "1e9",
    "-1",
    ".inf",
    "locked: true\n",
    "action: allow\n",
    "destructive:\n",
    "safety:\n",
    "rules:\n",
    "when: ",
    "match: ",
    "not_match: ",
    "id: ",
    "argv: ",
    "**",
    "*.key",
    "!",
    "\\",
    "\t",
    "\u{feff}",
    "ß",
    "roles:\n",
    "contracts:\n",
    "path_rules:\n",
    "areas:\n",
    "budget:\n",
    "anomalies:\n",
    "\u{0}",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_also_a_seed_with_its_settings_switched_on() {
        let text = uncommented("# About it.\n#safety:\n#  max: 1\n");
        assert_eq!(text, "# About it.\nsafety:\n  max: 1\n");
    }
}
