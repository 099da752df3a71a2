//! Tables of wrapped commands and what runs inside them (POL-8).

use aurora_model::Span;

use super::*;
use crate::analysis::shell::command::step::{Step, split_words};
use crate::analysis::shell::field::Field;

/// `$` is an unquoted unknown, `§` a quoted one.
fn fields(line: &str) -> Vec<Field> {
    let word = |word: String| {
        let mut out = Field::lit("", Span::default());
        let mut lit = String::new();
        for c in word.chars() {
            if c == '$' || c == '§' {
                out.push_lit(&lit);
                lit.clear();
                out.push_any(c == '$');
            } else {
                lit.push(c);
            }
        }
        out.push_lit(&lit);
        out
    };
    split_words(line).into_iter().map(word).collect()
}

fn summary(steps: &[Step]) -> String {
    let words = |fields: &[Field]| fields.iter().map(Field::display).collect::<Vec<_>>().join(" ");
    let one = |step: &Step| match step {
        Step::Run(env, argv) => {
            let set: String =
                env.iter().map(|(name, value)| format!("{name}={} ", value.display())).collect();
            format!("run({set}{})", words(argv))
        }
        Step::Code(code) => format!("code({})", code.display()),
        Step::StdinCode => "stdin".to_owned(),
        Step::FileCode(file) => format!("file({})", file.display()),
        Step::Change { target, .. } => format!("change({})", target.display()),
        Step::DeleteBelow(below) => format!("below({})", words(below)),
        Step::InDir(dir, steps) => format!("in {}: {}", dir.display(), summary(steps)),
        Step::Elsewhere(steps) => format!("there: {}", summary(steps)),
        Step::Repeated(steps) => format!("each: {}", summary(steps)),
        Step::Unread(steps) => summary(steps),
        other => format!("{other:?}"),
    };
    steps.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn read(line: &str, stdin: &Stream) -> Option<String> {
    let argv = fields(line);
    let (name, args) = argv.split_first().expect("a program");
    let name = name.text().expect("a known program");
    let call = Call { name, args, stdin, env: &[], span: Span::default() };
    let found = rows().filter(|row| row.names.contains(&name)).find_map(|row| row.read(&call));
    found.map(|steps| summary(&steps))
}

fn check(line: &str, expected: &str) {
    assert_eq!(read(line, &Stream::Terminal).as_deref(), Some(expected), "{line}");
}

fn check_fed(stdin: &str, line: &str, expected: &str) {
    let stdin = Stream::Text(Field::lit(stdin, Span::default()));
    assert_eq!(read(line, &stdin).as_deref(), Some(expected), "{line}");
}

/// The command behind the wrapper must come out whole.
fn check_transparent(wrapper: &str) {
    let set: String = wrapper
        .split(' ')
        .filter(|word| word.contains('=') && !word.starts_with('-'))
        .map(|word| format!("{word} "))
        .collect();
    let found = read(&format!("{wrapper} rm -rf x"), &Stream::Terminal);
    let plain = Some("run(rm -rf x)".to_owned());
    assert!(found == plain || found == Some(format!("run({set}rm -rf x)")), "{wrapper}: {found:?}");
}

#[rustfmt::skip]
static TRANSPARENT: &[&str] = &[
    "sudo", "sudo -n -u root", "sudo -uroot", "sudo --user=root --", "sudo -EH", "sudo A=b",
    "sudo --preserve-env=A -k", "sudo --non-interactive --user root", "doas -u root", "env",
    "env -i", "env -", "env A=b C=d", "env -u HOME --", "env -uHOME A=b", "env --unset=HOME",
    "timeout 5", "timeout -k 1 5", "timeout -s KILL 5s", "timeout --signal=KILL --foreground 5",
    "timeout --preserve-status 5", "nice", "nice -n 10", "nice -10", "nice --adjustment=5",
    "ionice -c 3", "ionice -c2 -n0", "nohup", "setsid -w", "time -p", "stdbuf -oL -eL",
    "stdbuf -o L", "command", "command -p", "builtin", "exec", "exec -a name", "flock /tmp/l",
    "flock -n /tmp/l", "flock -w 5 -E 1 /tmp/l", "script -q /dev/null", "unshare -r -n",
    "systemd-run --user --scope", "systemd-run -p X=y --unit=u", "fakeroot", "faketime 'x y'",
    "taskset -c 0,1", "taskset 0x1", "chrt -f 10", "numactl -N 0 -m 0", "cgexec -g cpu:x",
    "prlimit --nofile=10", "setpriv --reuid=1 --clear-groups", "gosu user", "su-exec user",
    "s6-setuidgid user", "chpst -u user", "envdir /env", "tini --", "dumb-init --", "ltrace -f",
    "gdb --args", "valgrind --leak-check=full", "perf stat -e cycles -r 5", "perf record -g --",
    "chronic", "unbuffer", "ifne", "rlwrap", "retry -t 3 --", "xvfb-run -a",
    "dbus-run-session --", "pkexec --user root", "caffeinate -i", "caffeinate -t 5",
    "arch -x86_64", "setarch x86_64 -R", "setarch -R", "linux32", "torify", "torsocks",
    "proxychains4 -q", "cpulimit -l 50 --", "busybox", "toybox", "firejail --net=none",
    "bwrap --ro-bind / / --dev /dev --unshare-all", "runuser -u user --", "catchsegv", "npx",
    "npx -y", "npm exec --", "pnpm dlx", "pnpm exec", "yarn dlx", "bunx", "pipx run", "uvx",
    "uv run", "uv run --with x -p 3.12", "poetry run", "pipenv run", "pdm run", "hatch run",
    "bundle exec", "rbenv exec", "mise exec node@20 --", "asdf exec", "direnv exec .",
    "dotenv -e .env --", "dotenv -f .env run --", "dotenvx run -f .env --", "conda run -n env",
    "mamba run --no-capture-output -n env", "nix develop -c", "nix shell nixpkgs#x --command",
    "guix shell coreutils --", "aws-vault exec prof --", "aws-vault exec prof",
    "op run --env-file=.env --", "doppler run -p x --", "chamber exec svc --", "env-cmd -f .env",
    "cross-env A=b", "entr -r", "wait-for-it db:5432 -t 30 --",
];

#[test]
fn wrappers_here_are_transparent() {
    for wrapper in TRANSPARENT {
        check_transparent(wrapper);
    }
    check("strace -f -o o -e trace=file rm x", "change(o), run(rm x)");
    check("env -C dir rm x", "in dir: run(rm x)");
    check("env -S 'rm -rf' x", "run(env rm -rf x)");
    check("env A=b git push", "run(A=b git push)");
    check("sudo -D /x rm y", "in /x: run(rm y)");
    check("command -v rm", "");
    check("sudo -l rm", "");
    check("sudo -v", "");
    check("taskset -p 123", "");
    check("time -o log rm x", "change(log), run(rm x)");
    check("npx rimraf@3 dist", "run(rimraf dist)");
    check("npx @scope/tool@1.2 x", "run(tool x)");
    check("npx -c 'rm -rf x'", "code(rm -rf x)");
    check("npx -p rimraf rimraf dist", "run(rimraf dist)");
    check("npm exec rimraf -- dist", "run(rimraf dist)");
    check("uv run -m pytest", "run(python -m pytest)");
    check("nix-shell -p x --run 'rm x'", "code(rm x)");
    check("nix run nixpkgs#jq -- .", "run(jq .)");
}

#[test]
fn words_for_a_shell_are_joined() {
    for (line, expected) in [
        ("watch -n 5 rm -rf x", "code(rm -rf x)"),
        ("watch -d 'ls | wc'", "code(ls | wc)"),
        ("flock /tmp/l -c 'rm x'", "code(rm x)"),
        ("flock -n 9", ""),
        ("script -c 'rm x' log", "change(log), code(rm x)"),
        ("script -qc 'rm x' /dev/null", "code(rm x)"),
        ("su -c 'rm x'", "code(rm x)"),
        ("su - root -c 'rm x'", "code(rm x)"),
        ("su root --command='rm x'", "code(rm x)"),
        ("su -l root", ""),
        ("sg docker -c 'rm x'", "code(rm x)"),
        ("sg docker 'rm x'", "code(rm x)"),
        ("hyperfine -w 3 'rm x' 'ls'", "code(rm x), code(ls)"),
        ("hyperfine --prepare 'rm -rf c' make", "code(rm -rf c), code(make)"),
        ("concurrently -n a,b 'rm x' 'ls'", "code(rm x), code(ls)"),
        ("nodemon --exec 'rm x' app.js", "code(rm x)"),
        ("watchexec -e rs rm -rf x", "code(rm -rf x)"),
        ("cross-env-shell A=b 'rm -rf x'", "code(rm -rf x)"),
        ("sops exec-env s.yaml 'rm x'", "code(rm x)"),
        ("doppler run --command 'rm x'", "code(rm x)"),
        ("scl enable gcc-toolset 'rm x'", "code(rm x)"),
        ("tmux new-session -d -s n 'rm -rf x'", "code(rm -rf x)"),
        ("tmux new -d -s n rm -rf x", "run(rm -rf x)"),
        ("tmux send-keys -t n 'rm -rf x' Enter", "code(rm -rf x\n)"),
        ("tmux send-keys -t n rm Space x C-m", "code(rm x\n)"),
        ("tmux ls", ""),
        ("screen -dmS n rm -rf x", "run(rm -rf x)"),
        ("screen -S n -X stuff 'rm x^M'", "code(rm x\n)"),
        ("screen -ls", ""),
    ] {
        check(line, expected);
    }
    check_fed("rm -rf x", "at now", "stdin");
    check_fed("rm -rf x", "batch", "stdin");
    check_fed("0 1 * * * rm -rf x\n# c\n@daily ls\nA=b", "crontab -", "code(rm -rf x), code(ls)");
    check("crontab -l", "");
    check_fed("rm x", "su - root", "stdin");
    check_fed("rm x", "sudo -s", "stdin");
    check_fed("x", "sudo tee y", "run(tee y)");
}

#[test]
fn other_machines_are_elsewhere() {
    for (line, expected) in [
        ("ssh host rm -rf x", "there: code(rm -rf x)"),
        ("ssh -p 22 -i key user@host 'cd /x && rm -rf y'", "there: code(cd /x && rm -rf y)"),
        ("ssh host -p 22 rm x", "there: code(rm x)"),
        ("ssh -t host -- rm x", "there: code(rm x)"),
        ("ssh -o ProxyCommand='rm x' host ls", "code(rm x), there: code(ls)"),
        ("ssh -N -L 1:h:2 host", ""),
        ("ssh host", ""),
        ("sshpass -p pw ssh host rm x", "run(ssh host rm x)"),
        ("mosh host -- rm x", "there: run(rm x)"),
        ("docker exec -it -u root c rm -rf x", "there: run(rm -rf x)"),
        ("docker exec --env A=b -w /x c rm x", "there: run(rm x)"),
        ("docker -H host container exec c rm x", "there: run(rm x)"),
        ("docker run --rm -v a:b -e A=b alpine rm -rf x", "there: run(rm -rf x)"),
        ("docker run -it --name n --network host img:1 rm x", "there: run(rm x)"),
        ("docker run --entrypoint rm img -rf x", "there: run(rm -rf x)"),
        ("docker run -d nginx", ""),
        ("docker compose -f a.yml exec -T db rm x", "there: run(rm x)"),
        ("docker-compose run --rm web rm x", "there: run(rm x)"),
        ("podman exec c rm x", "there: run(rm x)"),
        ("kubectl exec pod -- rm x", "there: run(rm x)"),
        ("kubectl -n ns exec -it deploy/x -c c -- rm x", "there: run(rm x)"),
        ("kubectl exec pod rm x", "there: run(rm x)"),
        ("kubectl run t --image=x -- rm y", "there: run(rm y)"),
        ("lxc exec c -- rm x", "there: run(rm x)"),
        ("chroot /mnt rm -rf x", "there: run(rm -rf x)"),
        ("nsenter -t 1 -m -u rm x", "there: run(rm x)"),
        ("vagrant ssh -c 'rm x'", "there: code(rm x)"),
        ("gcloud compute ssh vm --zone=z --command='rm x'", "there: code(rm x)"),
        ("heroku run -a app rm x", "there: code(rm x)"),
        ("fly ssh console -C 'rm x'", "there: code(rm x)"),
        ("ansible all -m shell -a 'rm -rf x'", "there: each: code(rm -rf x)"),
        ("ansible all -m ping", ""),
    ] {
        check(line, expected);
    }
    check_fed("rm x", "ssh host", "there: stdin");
    check_fed("rm x", "ssh host bash -s", "there: code(bash -s)");
    for line in [
        "docker ps",
        "kubectl get pods",
        "npm install",
        "cargo build",
        "gcloud auth list",
        "aws s3 ls",
        "nix build",
    ] {
        assert_eq!(read(line, &Stream::Terminal), None, "{line}");
    }
}

#[test]
fn batches_repeat_their_command() {
    for (line, expected) in [
        ("xargs", ""),
        ("xargs rm -rf", "each: run(rm -rf), run(rm -rf …)"),
        ("xargs -0 -n 1 -P4 rm", "each: run(rm), run(rm …)"),
        ("xargs -I{} rm {}/x", "each: run(rm …/x)"),
        ("xargs -I % sh -c 'rm %'", "each: run(sh -c rm …)"),
        ("xargs -i rm {}", "each: run(rm …)"),
        ("xargs --replace=@ rm @", "each: run(rm …)"),
        ("xargs --max-args=1 rm", "each: run(rm), run(rm …)"),
        ("parallel rm ::: a b", "each: code(rm 'a'), code(rm 'b')"),
        ("parallel -j4 'rm {}' ::: a", "each: code(rm 'a')"),
        ("parallel rm {} :::: list", "each: code(rm …)"),
        ("parallel rm", "each: code(rm …)"),
        ("parallel --dry-run rm ::: a", ""),
        ("parallel ::: 'rm a' ls", "each: code(rm a), code(ls)"),
        ("sem -j 2 rm x", "code(rm x)"),
        ("find . -name '*.pyc' -delete", "below(*.pyc)"),
        ("find src -name '*.pem' -delete", "below(src/*.pem)"),
        ("find . -delete", "below(.)"),
        ("find -delete", "below(.)"),
        ("find . -type f -delete", "below(.)"),
        ("find . -maxdepth 1 -type f -delete", "below(*)"),
        ("find /tmp -mtime +7 -delete", "below(/tmp/*)"),
        ("find . -name '*' -delete", "below(.)"),
        ("find a b -type f -delete", "below(a b)"),
        ("find . -regex '.*\\.pem' -delete", "below(*.pem)"),
        ("find . -name '*.log' -exec rm -f {} ;", "each: run(rm -f *.log)"),
        ("find . -name '*.a' -o -name '*.b' -exec rm {} +", "each: run(rm *.a *.b)"),
        ("find . -type f -exec rm {} ;", "below(.), each: run(rm …)"),
        ("find vendor -type f -exec chmod 644 {} +", "each: run(chmod 644 vendor/**)"),
        ("find . -exec sh -c 'rm {}' ;", "each: run(sh -c rm …)"),
        ("find . -name x -print", ""),
        ("find . -name '-delete'", ""),
        ("find . -fprint out", "change(out)"),
        ("find . ! -name '*.c' -delete", "below(*)"),
        (
            "find . -path ./node_modules -prune -o -name '*.js' -exec sed -i s/a/b/ {} +",
            "each: run(sed -i s/a/b/ *.js)",
        ),
        ("find . ! ( -name a -o -name b ) -name c -delete", "below(c)"),
        ("find . ( -name a -o -name b ) -delete", "below(a b)"),
        ("fd -e pyc -x rm", "each: run(rm *.pyc)"),
        ("fd foo -X rm -rf {}", "each: run(rm -rf …)"),
        ("fd foo", ""),
    ] {
        check(line, expected);
    }
    check_fed("a b\n", "xargs rm", "each: run(rm a b)");
    check_fed("main", "xargs git push origin", "each: run(git push origin main)");
    check_fed("a\nb\n", "xargs -I{} rm {}", "each: run(rm a), run(rm b)");
    check_fed("rm -rf a", "parallel", "each: stdin");
}
