//! Calls that hide their names or their arguments.

use super::*;

#[test]
fn lists_that_grow_are_followed() {
    let python = |body: &str| format!("import subprocess; c=['git','push']; {body}");
    for body in [
        "c.append('--force'); subprocess.run(c)",
        "c.extend(['--force']); subprocess.run(c)",
        "c += ['--force']; subprocess.run(c)",
        "c.insert(2, '--force'); subprocess.run(c)",
        "subprocess.run(c + ['--force'])",
        "subprocess.run([*c, '--force'])",
    ] {
        check(Python, &python(body), "exec git push --force");
    }
    check(
        JavaScript,
        "const a=['push'];a.push('--force');require('child_process').spawnSync('git',a)",
        "exec git push --force",
    );
    check(Ruby, "c=['git','push']; c << '--force'; system(*c)", "exec git push --force");
    let php = "$c=['git','push']; $c[]='--force'; exec(implode(' ',$c));";
    check(Php, php, "run `git push --force`");
    check(Perl, "my @c=('git','push'); push @c, '--force'; system(@c)", "exec git push --force");
}

#[test]
fn python_reaches_functions_by_other_ways() {
    check(Python, "import os; vars(os)['system']('x')", "run `x`");
    check(Python, "import os; getattr(os, 'sys'+'tem')('x')", "run `x`");
    check(Python, "import os; os.__getattribute__('system')('x')", "run `x`");
    check(Python, "exec(open('x.py').read())", "");
    check(Python, "exec(code)", "opaque");
    check(Python, "import ctypes; ctypes.CDLL(None).system(b'rm -rf x')", "run `rm -rf x`");
    check(Python, "import ctypes\nlibc=ctypes.CDLL('libc.so.6')\nlibc.system(b'x')", "run `x`");
    check(Python, "import platform; print(platform.system())", "");
    check(Python, "import os; os.system('-'*2)", "run `--`");
}

#[test]
fn python_opens_files_by_flags() {
    check(Python, "import os; os.open('.env', os.O_WRONLY | os.O_CREAT)", "write .env");
    check(Python, "import os; os.open('.env', os.O_RDONLY)", "");
    check(Python, "import os; os.open('.env', os.O_RDONLY | os.O_NOFOLLOW)", "");
    check(
        Python,
        "import fileinput\nfor l in fileinput.input('.env', inplace=True): print(l)",
        "write .env",
    );
    check(Python, "import fileinput\nfor l in fileinput.input('.env'): print(l)", "");
    check(Python, "from pathlib import Path; Path('.env').open('w').write('x')", "write .env");
    check(Python, "from pathlib import Path; Path('.env').open(mode='w')", "write .env");
    check(Python, "from pathlib import Path; Path('.env').open().read()", "");
}

#[test]
fn python_git_libraries_run_git() {
    let repo = "import git; repo = git.Repo('.'); ";
    let python = |body: &str, expected: &str| check(Python, &format!("{repo}{body}"), expected);
    python("repo.git.push('--force')", "exec git push --force");
    python("repo.git.push('origin', 'main', force=True)", "exec git push --force origin main");
    python("repo.remotes.origin.push(force=True)", "exec git push origin --force");
    python("repo.remote('origin').push(force=True)", "exec git push origin --force");
    python("repo.remotes[0].push(force=True)", "exec git push origin --force");
    python("repo.remotes.origin.push(refspec='+main')", "exec git push origin +main");
    python("repo.git.reset('--hard')", "exec git reset --hard");
    python("repo.remotes.origin.push()", "");
    python("print(repo.git.rev_parse('HEAD'))", "exec git rev-parse HEAD");
}

#[test]
fn javascript_promises_of_modules_are_modules() {
    check(JavaScript, "import('child_process').then(c=>c.execSync('x'))", "run `x`");
    check(JavaScript, "import('child_process').then(({exec})=>exec('x'))", "run `x`");
    check(JavaScript, "import('child_process').then((c)=>{c.exec('x')})", "run `x`");
    check(JavaScript, "import('child_process').then(function(c){c.exec('x')})", "run `x`");
    check(
        JavaScript,
        "import('node:fs/promises').then(f=>f.rm('dist',{recursive:true}))",
        "delete -r dist",
    );
    check(JavaScript, "import('fs').then(async f=>{f.unlinkSync('a')})", "delete a");
    check(JavaScript, "x.y.execSync('x')", "run `x`");
    check(JavaScript, "a.rm('dist', {recursive: true, force: true})", "delete -r dist");
    check(JavaScript, "/x/.exec('rm -rf x'); re.exec(line); m.rm('a'); list.push('x')", "");
    check(
        JavaScript,
        "new Function('require', \"require('child_process').execSync('x')\")(require)",
        "run `x`",
    );
    check(JavaScript, "new Function(\"require('child_process').execSync('x')\")()", "run `x`");
}

#[test]
fn names_of_functions_may_be_values() {
    check(Php, "$f='system'; $f('rm -rf x');", "run `rm -rf x`");
    check(Php, "('sys'.'tem')('x');", "run `x`");
    check(Php, "call_user_func('system', 'x');", "run `x`");
    check(Php, "call_user_func_array('system', ['x']);", "run `x`");
    check(Ruby, "send(:system, 'git push --force')", "run `git push --force`");
    check(Ruby, "Kernel.system('git push --force')", "run `git push --force`");
    check(Ruby, "Kernel.send(:system, 'x')", "run `x`");
    check(Ruby, "Kernel.method(:system).call('x')", "run `x`");
    check(Perl, "exec 'git push --force'", "run `git push --force`");
    check(Perl, "open(F, '|git push --force')", "run `git push --force`");
    check(Perl, "open(my $f, '-|', 'git', 'push', '--force')", "exec git push --force");
    check(Lua, "vim.system({'git', 'push', '--force'})", "exec git push --force");
    check(Lua, "os.execute('git push --force')", "run `git push --force`");
}

#[test]
fn powershell_puts_commands_together() {
    let force = "exec git push --force";
    for code in [
        "iex (\"git push\"+\" --force\")",
        "iex ('git push' + ' --force')",
        "$a='git push'; iex ($a + ' --force')",
        "$a='git push'+' --force'; iex $a",
        "$a = 'git push'; $a += ' --force'; iex $a",
        "& (\"gi\"+\"t\") push --force",
        "&('gi'+'t') push --force",
        "$a = 'push','--force'; git $a",
        "$a = 'push', '--force'; git @a",
        "$a = @('push', '--force'); git @a",
        "& 'git' push --force",
        "& 'C:\\Program Files\\Git\\bin\\git.exe' push --force",
        "&'git' push --force",
        "$a=\"--force\"; git push $a",
        "$g = 'git'; & $g push --force",
        "[Diagnostics.Process]::Start(\"git\",\"push --force\")",
        "[System.Diagnostics.Process]::Start('git', 'push --force')",
        "sal g git; g push --force",
        "Set-Alias -Name g -Value git; g push --force",
        "& { git push --force }",
        "$s = { git push --force }; & $s",
    ] {
        plain(PowerShell, code, force);
    }
    let created = "& ([scriptblock]::Create('git push --force'))";
    plain(PowerShell, created, "exec git push --force; exec ?");
    plain(PowerShell, "iex (Get-Thing)", "opaque");
    plain(PowerShell, "iex $env:X", "opaque");
    plain(PowerShell, "iex ($x -join '')", "opaque");
    plain(PowerShell, "$x = '{0} push' -f 'git'; iex $x", "opaque");
    plain(PowerShell, "[IO.File]::WriteAllText('.env', 'x')", "write .env");
    plain(PowerShell, "$x = 1; if ($x -eq 2) { Write-Output 'git push --force' }", "");
    plain(PowerShell, "$x = Get-Date; Write-Host \"it is $x\"; ('a' + 'b').Length", "");
    plain(PowerShell, "& { Get-Date }", "");
}
