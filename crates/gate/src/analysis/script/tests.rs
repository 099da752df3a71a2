//! Tables of scripts and what they do (POL-8: interpreters).

mod evasion;
mod limits;

use super::super::shell::machine::ScriptLang::{
    Awk, JavaScript, Lua, Perl, Php, PowerShell, Python, Ruby,
};
use super::*;

/// One line per finding; `?` is unknown, `~` before it that it is in a loop.
fn shown(findings: &[ScriptFinding]) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
    let one = |finding: &ScriptFinding| {
        let what = match &finding.what {
            What::Run { command, argv: None, input } => {
                let input = input.as_ref().map(|input| format!(" < {input}")).unwrap_or_default();
                format!("run `{}`{input}", text(command))
            }
            What::Run { argv: Some(argv), input, .. } => {
                let input = input.as_ref().map(|input| format!(" < {input}")).unwrap_or_default();
                format!("exec {}{input}", argv.iter().map(text).collect::<Vec<_>>().join(" "))
            }
            What::Delete { paths, recursive, many } => format!(
                "delete{}{} {}",
                if *recursive { " -r" } else { "" },
                if *many { " many" } else { "" },
                paths.iter().map(text).collect::<Vec<_>>().join(" ")
            ),
            What::Change { path, touch } => format!("{touch:?} {}", text(path)).to_lowercase(),
            What::Sql { text: sql } => format!("sql {}", text(sql)),
            What::Wipe { device } => format!("wipe {device}"),
            What::Fetch { target } => format!("fetch {}", text(target)),
            What::Opaque { .. } => "opaque".to_owned(),
        };
        let looped = if finding.in_loop { "~" } else { "" };
        format!("{looped}{}", what.replace(UNKNOWN, "?"))
    };
    findings.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn check(lang: ScriptLang, code: &str, expected: &str) {
    let code = code.replace('?', &UNKNOWN.to_string());
    assert_eq!(shown(&analyse(lang, &code)), expected, "{code}");
}

fn plain(lang: ScriptLang, code: &str, expected: &str) {
    assert_eq!(shown(&analyse(lang, code)), expected, "{code}");
}

#[test]
fn python_text_that_reaches_no_call_is_harmless() {
    for code in [
        "print('rm -rf /')",
        "# os.system('rm -rf /')\nprint(1)",
        "x = \"\"\"\nos.remove('a')\nshutil.rmtree('b')\n\"\"\"\nprint(x)",
        "import json,sys; print(json.load(sys.stdin)['a']['b'])",
        "import os; print(os.path.exists('x'), os.getcwd(), os.environ.get('HOME'))",
        "print(open('x').read())",
        "with open('x') as f:\n    for line in f:\n        print(line.strip().replace('a', 'b'))",
        "import re; print(re.sub(r'os\\.remove\\(\"x\"\\)', '', 'abc'))",
        "l=[1,2]; l.remove(1); s={1}; s.discard(1)",
        "import os; os.rmdir('empty')",
        "print('DROP TABLE users')",
        "import pandas as pd; df = pd.read_csv('a.csv').rename(columns={'a': 'b'}); df.drop('x')",
        "d = {'rm': 1}; print(f\"{d['rm']:>10} {'x'!r}\")",
        "from pathlib import Path; print([p.name for p in Path('.').glob('*.py')])",
        "import ast; ast.literal_eval('[1]'); print(eval('1+1'))",
        "import sys; exec(open('setup.py').read())",
    ] {
        check(Python, code, "");
    }
}

#[test]
fn python_runs_programs() {
    check(Python, "import os; os.system('rm -rf build')", "run `rm -rf build`");
    check(Python, "import os as o; o.system(\"ls\")", "run `ls`");
    check(Python, "from os import system as s; s('ls')", "run `ls`");
    check(Python, "from os import *\nsystem('ls')", "run `ls`");
    check(Python, "__import__('os').system('ls -l')", "run `ls -l`");
    check(Python, "import importlib; importlib.import_module('os').system('x')", "run `x`");
    check(Python, "getattr(__import__('os'), 'sys' + 'tem')('x')", "run `x`");
    check(Python, "import os; os.__dict__['system']('x')", "run `x`");
    check(
        Python,
        "import subprocess; subprocess.run(['git','push','--force'])",
        "exec git push --force",
    );
    check(
        Python,
        "import subprocess as sp\nsp.check_call('git push -f', shell=True)",
        "run `git push -f`",
    );
    check(Python, "from subprocess import run\nrun(args=['a', x])", "exec a ?");
    check(
        Python,
        "import subprocess; subprocess.run(['bash'], input='rm -rf x')",
        "exec bash < rm -rf x",
    );
    check(
        Python,
        "import subprocess,shlex; subprocess.run(shlex.split('rm -rf \"a b\"'))",
        "exec rm -rf a b",
    );
    check(Python, "import subprocess; subprocess.run('rm -rf x'.split())", "exec rm -rf x");
    check(Python, "import os; os.execvp('rm', ['rm', '-rf', 'x'])", "exec rm -rf x");
    check(Python, "import os; os.execlp('rm', 'rm', '-rf', 'x')", "exec rm -rf x");
    check(Python, "import os; d='x'; os.system(f'rm -rf {d}/y')", "run `rm -rf x/y`");
    check(Python, "import os; os.system('rm -rf ' + d)", "run `rm -rf ?`");
    check(Python, "import os; os.system('rm -rf %s' % 'x')", "run `rm -rf x`");
    check(Python, "import os; os.system('rm -rf {}'.format('x'))", "run `rm -rf x`");
    check(Python, "import os; os.system(' '.join(['rm', '-rf', 'x']))", "run `rm -rf x`");
    check(Python, "import os; os.system(cmd)", "run `?`");
    check(Python, "import os,sys; os.system('xr- mr'[::-1])", "run `rm -rx`");
    check(
        Python,
        "import base64,os; os.system(base64.b64decode('cm0gLXJmIHg=').decode())",
        "run `rm -rf x`",
    );
    check(
        Python,
        "import subprocess,sys; subprocess.run([sys.executable, '-m', 'pip'])",
        "exec python3 -m pip",
    );
    check(Python, "for i in range(3):\n    os.system('x')\nos.system('y')", "~run `x`; run `y`");
}

#[test]
fn python_deletes_and_changes_files() {
    check(Python, "import os; os.remove('a'); os.unlink(\"b\")", "delete a; delete b");
    check(Python, "import shutil; shutil.rmtree('build', ignore_errors=True)", "delete -r build");
    check(Python, "from shutil import rmtree\nrmtree(p)", "delete -r ?");
    check(Python, "import glob,os; [os.remove(f) for f in glob.glob('*.pyc')]", "~delete ?");
    check(
        Python,
        "import os,glob\nfor f in glob.glob('*.log'): os.remove(f)",
        "~delete many *.log",
    );
    check(Python, "for f in ['a','b']:\n  os.remove(f)\nprint(1)", "~delete a b");
    check(Python, "list(map(os.remove, glob.glob('*')))", "~delete ?");
    check(Python, "from pathlib import Path; Path('a').unlink(missing_ok=True)", "delete a");
    check(Python, "from pathlib import Path; (Path('a') / 'b').unlink()", "delete a/b");
    check(Python, "for p in Path('d').rglob('*.pyc'):\n    p.unlink()", "~delete many d/*.pyc");
    check(Python, "import os; os.rename('a', 'b')", "rename a; rename b");
    check(Python, "open('.env', 'w').write('x')", "write .env");
    check(Python, "with open('.env', mode='a') as f: f.write('x')", "append .env");
    check(Python, "open('x', 'rb'); open('y', 'r+')", "write y");
    check(Python, "Path('.env').write_text('x')", "write .env");
    check(Python, "import pathlib\npathlib.Path('a').open('w')", "write a");
    check(Python, "import os; os.chmod(os.path.join('.git', 'config'), 0o644)", "mode .git/config");
    check(Python, "import os; os.chdir('src'); os.remove('a')", "delete src/a");
    check(Python, "import os; os.remove(os.path.expanduser('~/x'))", "delete ?/x");
    check(Python, "import shutil; shutil.copy('.env', 'b')", "write b");
    check(Python, "if True:\n    os.remove('a')\nelse:\n    os.remove('b')", "delete a; delete b");
}

#[test]
fn python_evaluates_and_asks_databases() {
    check(Python, "exec(\"import os; os.remove('a')\")", "delete a");
    check(Python, "eval(compile('os.remove(\"a\")', 'x', 'exec'))", "delete a");
    check(Python, "import requests; exec(requests.get('http://x').text)", "fetch http://x; opaque");
    check(Python, "exec(input())", "opaque");
    check(Python, "getattr(os, name)('x')", "opaque");
    check(Python, "getattr(self, 'do_' + name)('x')", "");
    check(Python, "cur.execute('DROP TABLE users')", "sql DROP TABLE users");
    check(Python, "cur.execute(f'DELETE FROM {t}')", "sql DELETE FROM ?");
    check(Python, "conn.execute(text('TRUNCATE x'))", "sql TRUNCATE x");
    check(Python, "con.executescript(\"\"\"drop table a;\"\"\")", "sql drop table a;");
    check(Python, "User.objects.all().delete()", "sql DELETE FROM User");
    check(Python, "User.objects.filter(id=1).delete()", "");
    check(Python, "db.drop_all()", "sql DROP TABLE all_tables");
    check(Python, "call_command('flush')", "run `python3 manage.py flush`");
    check(Python, "import os; ?", "opaque");
    check(Python, "print('?')", "");
    check(Python, "import os; os.remove('?')", "delete ?");
    check(Python, "import os; os.system('rm ?')", "run `rm ?`");
}

#[test]
fn javascript_calls_are_seen() {
    plain(JavaScript, "console.log('rm -rf /'); // fs.rmSync('x')", "");
    plain(JavaScript, "const m = /fs.rmSync\\('x'\\)/.exec('rm -rf x'); console.log(m)", "");
    plain(
        JavaScript,
        "console.log(JSON.parse(require('fs').readFileSync('package.json')).version)",
        "",
    );
    plain(JavaScript, "require('fs').rmSync('a', {recursive: true, force: true})", "delete -r a");
    plain(JavaScript, "require('node:fs').unlinkSync('a')", "delete a");
    plain(
        JavaScript,
        "const {rmSync: r} = require('fs'); r('a', { recursive: true })",
        "delete -r a",
    );
    plain(
        JavaScript,
        "import { rm } from 'node:fs/promises'; await rm('a', {recursive:true})",
        "delete -r a",
    );
    plain(JavaScript, "import fs from 'fs'\nfs.promises.unlink(`a/${'b'}`)", "delete a/b");
    plain(JavaScript, "fs.rmdirSync('a')", "");
    plain(JavaScript, "fs.rmdirSync('a', {recursive: true})", "delete -r a");
    plain(JavaScript, "fs.readdirSync('.').forEach(f => fs.unlinkSync(f))", "~delete ?");
    plain(JavaScript, "for (const f of ['a', 'b']) fs.unlinkSync(f)", "~delete a b");
    plain(
        JavaScript,
        "for (const f of files) { fs.unlinkSync(f); } fs.unlinkSync('z')",
        "~delete ?; delete z",
    );
    plain(JavaScript, "require('child_process').execSync('rm -rf x')", "run `rm -rf x`");
    plain(
        JavaScript,
        "const cp = require('child_process'); cp.spawnSync('rm', ['-rf', 'x'])",
        "exec rm -rf x",
    );
    plain(
        JavaScript,
        "const {exec} = require('child_process'); exec(`git push ${'--force'}`)",
        "run `git push --force`",
    );
    plain(
        JavaScript,
        "cp = require('child_process'); cp.spawn('rm -rf x', {shell: true})",
        "run `rm -rf x`",
    );
    plain(JavaScript, "eval(\"fs.unlinkSync('a')\")", "delete a");
    plain(JavaScript, "new Function(\"fs.unlinkSync('a')\")()", "delete a");
    plain(JavaScript, "eval(process.argv[1])", "opaque");
    plain(JavaScript, "fetch('http://x').then(r => r.text()).then(eval)", "fetch http://x; opaque");
    plain(
        JavaScript,
        "fs.writeFileSync('.env', 'x'); fs.appendFileSync('b', 'y')",
        "write .env; append b",
    );
    plain(JavaScript, "await $`rm -rf ${'x'}`", "run `rm -rf x`");
    plain(JavaScript, "await Deno.remove('x', {recursive: true})", "delete -r x");
    plain(JavaScript, "new Deno.Command('rm', {args: ['-rf', 'x']}).output()", "exec rm -rf x");
    plain(JavaScript, "require('rimraf').sync('x')", "delete -r x");
    plain(JavaScript, "require('shelljs').rm('-rf', 'x')", "exec rm -rf x");
    plain(
        JavaScript,
        "Promise.all([fs.promises.unlink('a'), fs.promises.unlink('b')])",
        "delete a; delete b",
    );
    plain(
        JavaScript,
        "db.users.drop(); db.dropDatabase()",
        "sql DROP TABLE users; sql DROP DATABASE all_of_it",
    );
    plain(
        JavaScript,
        "db.users.deleteMany({}); db.users.deleteMany({a: 1})",
        "sql DELETE FROM users",
    );
    plain(JavaScript, "await client.query('DROP TABLE users')", "sql DROP TABLE users");
    plain(JavaScript, "const x = a ? fs.unlinkSync('a') : 2", "delete a");
}

#[test]
fn perl_calls_are_seen() {
    plain(Perl, "print 'rm -rf /', \"\\n\"; # unlink 'x'", "");
    plain(Perl, "print if /unlink \"x\"/; s/system\\('x'\\)/y/g; $h{unlink} = 1;", "");
    plain(Perl, "while (<STDIN>) { s/foo/bar/; print; }", "");
    plain(Perl, "print join(',', map { $_ * 2 } grep { $_ > 1 } @ARGV)", "");
    plain(Perl, "$x = $a / $b; $y = 'unlink' . \"q'\"; print $x/$y", "");
    plain(Perl, "$\" = ','; print $'; print $`; print \"$@\"; unlink 'a'", "delete a");
    plain(Perl, "unlink 'a', \"b\"", "delete a b");
    plain(Perl, "unlink glob('*.tmp')", "delete many *.tmp");
    plain(Perl, "unlink <*.tmp>", "delete many *.tmp");
    plain(Perl, "unlink for glob '*.o'", "~delete ?");
    plain(Perl, "unlink $_ foreach @files;", "~delete ?");
    plain(Perl, "for my $f ('a', 'b') { unlink $f }", "~delete a b");
    plain(Perl, "unlink(qw(a b c))", "delete a b c");
    plain(Perl, "use File::Path; rmtree('x')", "delete -r x");
    plain(Perl, "use File::Path qw(remove_tree); remove_tree(\"x\")", "delete -r x");
    plain(Perl, "File::Path::rmtree('x')", "delete -r x");
    plain(Perl, "system('rm -rf x')", "run `rm -rf x`");
    plain(Perl, "system \"rm\", \"-rf\", 'x' or die", "exec rm -rf x");
    plain(Perl, "exec 'git push -f'", "run `git push -f`");
    plain(Perl, "my $d = 'x'; print `rm -rf $d/y`;", "run `rm -rf x/y`");
    plain(Perl, "my $o = qx{rm -rf x};", "run `rm -rf x`");
    plain(Perl, "open(my $fh, '>', '.env')", "write .env");
    plain(Perl, "open F, '>>x'; open(G, 'rm x |')", "append x; run `rm x`");
    plain(Perl, "open(my $fh, '<', 'x')", "");
    plain(Perl, "eval { die }; eval 'unlink \"a\"'", "delete a");
    plain(Perl, "s/x/unlink('a')/e", "delete a");
    plain(Perl, "rename 'a', 'b'; chmod 0644, 'c'", "rename a; rename b; mode c");
    plain(Perl, "$dbh->do('DROP TABLE x')", "sql DROP TABLE x");
    plain(Perl, "print <<EOF;\nunlink 'a';\nEOF\nunlink 'b';", "delete b");
}

#[test]
fn ruby_calls_are_seen() {
    plain(Ruby, "puts 'rm -rf /' # File.delete('x')", "");
    plain(Ruby, "puts [1,2].map { |x| x * 2 }.select { |x| x > 1 }.first", "");
    plain(Ruby, "h = {a: 1}; h.delete(:a); 'abc'.delete('a')", "");
    plain(Ruby, "puts <<~EOS\n  system('rm')\nEOS\n", "");
    plain(Ruby, "File.delete('a', 'b')", "delete a b");
    plain(Ruby, "require 'fileutils'; FileUtils.rm_rf 'x'", "delete -r x");
    plain(Ruby, "FileUtils.rm_rf(%w[a b])", "delete -r a b");
    plain(Ruby, "Dir.glob('*.log').each { |f| File.delete(f) }", "~delete ?");
    plain(
        Ruby,
        "Dir['*.log'].each do |f|\n  File.delete f\nend\nFile.delete 'z'",
        "~delete ?; delete z",
    );
    plain(Ruby, "File.delete(*Dir.glob('*.log'))", "delete many *.log");
    plain(Ruby, "system 'rm', '-rf', 'x'", "exec rm -rf x");
    plain(Ruby, "d = 'x'; `rm -rf #{d}`", "run `rm -rf x`");
    plain(Ruby, "%x(rm -rf x)", "run `rm -rf x`");
    plain(Ruby, "IO.popen(['rm', '-rf', 'x'])", "exec rm -rf x");
    plain(Ruby, "Kernel.send(:system, 'x')", "run `x`");
    plain(
        Ruby,
        "File.write('.env', 'x'); File.open('b', 'a') { |f| f.puts 1 }",
        "write .env; append b",
    );
    plain(Ruby, "if x then File.delete('a') end; eval \"File.delete('b')\"", "delete a; delete b");
    plain(
        Ruby,
        "ActiveRecord::Base.connection.execute('DROP TABLE users')",
        "sql DROP TABLE users",
    );
    plain(Ruby, "User.delete_all; User.where(a: 1).delete_all", "sql DELETE FROM User");
    plain(Ruby, "require 'pathname'; Pathname.new('x').rmtree", "delete -r x");
}

#[test]
fn php_lua_and_awk_calls_are_seen() {
    plain(Php, "echo 'rm -rf /'; // unlink('x')", "");
    plain(Php, "<?php unlink('a'); ?>", "delete a");
    plain(Php, "foreach (glob('*.log') as $f) unlink($f);", "~delete many *.log");
    plain(Php, "array_map('unlink', glob('*.log'));", "~delete ?");
    plain(
        Php,
        "$d = 'x'; shell_exec(\"rm -rf $d\"); echo `ls {$d}`;",
        "run `rm -rf x`; run `ls x`",
    );
    plain(Php, "file_put_contents('.env', 'x');", "write .env");
    plain(
        Php,
        "mysqli_query($c, 'DROP TABLE x'); $pdo->exec('TRUNCATE y');",
        "sql DROP TABLE x; sql TRUNCATE y",
    );
    plain(Php, "eval(base64_decode('dW5saW5rKCdhJyk7'));", "delete a");
    plain(
        Php,
        "DB::table('x')->truncate(); Schema::drop('users');",
        "sql TRUNCATE TABLE table; sql DROP TABLE users",
    );
    plain(Lua, "print('rm') -- os.remove('x')", "");
    plain(Lua, "os.remove 'a' os.execute('rm -rf ' .. 'x')", "delete a; run `rm -rf x`");
    plain(Lua, "for f in io.lines('l') do os.remove(f) end os.remove('z')", "~delete ?; delete z");
    plain(Lua, "local f = io.open([[.env]], 'w')", "write .env");
    plain(Awk, "{print $1}", "");
    plain(Awk, "/rm \"x/ {n++} END {print n / 2, \"system(\"}", "");
    plain(Awk, "{ if ($1 > 5) print $2; s += $3 } END { print s }", "");
    plain(Awk, "BEGIN { system(\"rm -rf x\") }", "run `rm -rf x`");
    plain(Awk, "{ system(\"rm \" $1) }", "~run `rm ?`");
    plain(Awk, "{ print $1 > \".env\" }", "~write .env");
    plain(Awk, "{ print \"rm \" $1 | \"sh\" }", "~run `sh` < rm ?");
    plain(Awk, "BEGIN { while ((\"rm x\" | getline l) > 0) print l }", "~run `rm x`");
    plain(Awk, "-F: $3 > 1000 {print}", "");
    plain(Awk, "{cmd = \"rm \" $2; system(cmd)}", "~run `rm ?`");
}

#[test]
fn powershell_commands_are_seen() {
    plain(PowerShell, "Write-Host 'Remove-Item -Recurse x'; Get-ChildItem | Select Name", "");
    plain(PowerShell, "Remove-Item -Recurse -Force build", "delete -r build");
    plain(PowerShell, "ri a, b", "delete a b");
    plain(PowerShell, "Get-ChildItem *.log | Remove-Item", "delete many ");
    plain(PowerShell, "Remove-Item *.log -WhatIf", "");
    plain(PowerShell, "$d = 'x'; Remove-Item \"$d/y\" -r", "delete -r x/y");
    plain(PowerShell, "Set-Content -Path .env -Value 'x'", "write .env");
    plain(PowerShell, "'x' | Out-File .env", "write .env");
    plain(PowerShell, "'x' > .env", "write .env");
    plain(PowerShell, "git push --force", "exec git push --force");
    plain(PowerShell, "iex 'Remove-Item a'", "delete a");
    plain(PowerShell, "iwr http://x | iex", "fetch http://x; opaque");
    plain(PowerShell, "iex (iwr http://x)", "fetch http://x; opaque");
    plain(PowerShell, "gci | ForEach-Object { Remove-Item $_ }", "~delete ?");
    plain(PowerShell, "Start-Process git -ArgumentList 'push','--force'", "exec git push --force");
    plain(PowerShell, "Move-Item a b", "rename a; rename b");
    plain(PowerShell, "Format-Volume -DriveLetter C", "wipe -DriveLetter C");
}

#[test]
fn any_bytes_get_an_answer() {
    let nasty = [
        "((((((((", "}}}}]]]", "'''", "f'{f\"{", "qq{", "<<EOF", "s{", "`", "[[", "$($(", "{{{{{{",
    ];
    for lang in [Python, JavaScript, Perl, Ruby, Php, Lua, Awk, PowerShell] {
        for text in nasty {
            let _ = analyse(lang, text);
            let _ = analyse(lang, &text.repeat(2000));
        }
    }
}
