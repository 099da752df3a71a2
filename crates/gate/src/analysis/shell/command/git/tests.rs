//! Tables of git lines and what they would do (POL-3, POL-8).

use aurora_model::{EffectKind, Span};

use super::*;

/// Where the table's lines are run.
struct Place {
    branch: Option<&'static str>,
    upstream: Option<&'static str>,
    config: &'static [(&'static str, &'static str)],
}

const FEATURE: Place = Place { branch: Some("feature"), upstream: None, config: &[] };
const MAIN: Place = Place { branch: Some("main"), upstream: Some("origin/main"), config: &[] };
const NOWHERE: Place = Place { branch: None, upstream: None, config: &[] };

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

fn steps(place: &Place, line: &str, env: &[(&str, &str)]) -> Vec<Step> {
    let stored = |key: &str| {
        place.config.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned())
    };
    let env: Vec<(String, Field)> = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Field::lit(*value, Span::default())))
        .collect();
    let facts = Facts {
        branch: place.branch.map(str::to_owned),
        upstream: place.upstream.map(str::to_owned),
        root: Some("/repo".to_owned()),
        overrides: facts::from_environment(&env),
        stored: &stored,
        incomplete: false,
        is_here: &|dir| !dir.prefix().starts_with('/'),
        is_file: &|_| false,
    };
    invocation(&fields(line), facts, &env, 0)
}

fn summary(steps: &[Step]) -> String {
    let one = |step: &Step| match step {
        Step::Emit(EffectKind::ForcePush { how, .. }, _) => format!("force({how})"),
        Step::Emit(EffectKind::PushMain { .. }, _) => "main".to_owned(),
        Step::Emit(EffectKind::DiscardWork { .. }, _) => "discard".to_owned(),
        Step::Delete { targets, recursive } => {
            let names: Vec<String> = targets.iter().map(Field::display).collect();
            format!("delete{}({})", if *recursive { "-r" } else { "" }, names.join(" "))
        }
        Step::Change { target, .. } => format!("change({})", target.display()),
        Step::Opaque { .. } => "opaque".to_owned(),
        Step::Run(_, argv) => {
            let words: Vec<String> = argv.iter().map(Field::display).collect();
            format!("run({})", words.join(" "))
        }
        Step::Code(code) => format!("code({})", code.display()),
        Step::InDir(dir, steps) => format!("in {}: {}", dir.display(), summary(steps)),
        Step::Repeated(steps) => format!("repeated: {}", summary(steps)),
        Step::Remember(key, value) => format!("{key}={value}"),
        Step::Print(text) => format!("print({})", text.display()),
        other => format!("{other:?}"),
    };
    steps.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn check(place: &Place, line: &str, expected: &str) {
    assert_eq!(summary(&steps(place, line, &[])), expected, "git {line}");
}

fn check_env(env: &[(&str, &str)], line: &str, expected: &str) {
    assert_eq!(summary(&steps(&FEATURE, line, env)), expected, "{env:?} git {line}");
}

#[test]
fn tables_that_are_searched_are_sorted() {
    assert!(COMMANDS.is_sorted());
    assert!(discard::ENDINGS.is_sorted());
}

#[test]
fn every_spelling_of_a_forced_push_is_one() {
    // POL-3
    for (line, expected) in [
        ("push --force", "force(--force)"),
        ("push -f origin feature", "force(-f)"),
        ("push -uf origin feature", "force(-f)"),
        ("push -fu origin feature", "force(-f)"),
        ("push -vf", "force(-f)"),
        ("push origin feature --force", "force(--force)"),
        ("push --force-with-lease", "force(--force-with-lease)"),
        ("push --force-with-lease=feature:abc origin feature", "force(--force-with-lease)"),
        ("push --force-w origin x", "force(--force-with-lease)"),
        ("push origin +feature", "force(+feature)"),
        ("push origin +HEAD:other", "force(+HEAD:other)"),
        ("push origin +HEAD:main", "force(+HEAD:main), main"),
        ("push --mirror", "force(--mirror), main"),
        ("push --mir backup", "force(--mirror), main"),
        ("push --prune origin feature", "force(--prune)"),
        ("push --prun origin refs/heads/x", "force(--prune)"),
        ("push --delete origin old", "force(--delete)"),
        ("push --del origin old", "force(--delete)"),
        ("push -d origin old", "force(-d)"),
        ("push origin -d tag v1", "force(-d)"),
        ("push origin --delete v1.0", "force(--delete)"),
        ("push origin :old", "force(:old)"),
        ("push origin :refs/tags/v1", "force(:refs/tags/v1)"),
        ("push --no-force --force", "force(--force)"),
        ("push -o ci.skip -f origin x", "force(-f)"),
        ("push origin main --force", "force(--force), main"),
        ("push origin :", "main"),
        ("push origin +:", "force(+:), main"),
        ("push origin '+refs/heads/*:refs/heads/*'", "force(+refs/heads/*:refs/heads/*), main"),
        ("send-pack --force host:/repo feature", "force(--force)"),
        ("send-pack --mirror /srv/repo.git", "force(--mirror), main"),
        ("-C sub push -f", "in sub: force(-f)"),
        ("-c http.x=y --no-pager push -f", "force(-f)"),
        ("--git-dir=.git push -f", "force(-f)"),
    ] {
        check(&FEATURE, line, expected);
    }
    check(&FEATURE, "push --forc", "force(--force), force(--force-with-lease)");
}

#[test]
fn what_only_looks_like_a_forced_push_is_not_one() {
    for line in [
        "push",
        "push origin feature",
        "push -u origin HEAD",
        "push --force-if-includes origin feature",
        "push --force --no-force",
        "push --force-with-lease --no-force-with-lease",
        "push --dry-run --force",
        "push -nf origin main",
        "push -o force origin feature",
        "push --push-option force",
        "push --push-option=--force",
        "push --repo origin",
        "push --signed --atomic --thin",
        "push --recurse-submodules check origin feature",
        "push --tags",
        "push origin --tags",
        "push --follow-tags",
        "push origin --delete",
        "push --help",
        "stash push -f",
        "push-something --force",
        "lfs push origin main",
        "remote prune origin",
        "fetch --prune --force origin +refs/heads/*:refs/remotes/origin/*",
        "commit -m 'push --force origin main'",
        "log --grep='push --force'",
        "help push --force",
        "--version push --force",
        "tag -f v1",
        "tag -d v1",
        "pull --force",
    ] {
        check(&FEATURE, line, "");
    }
}

#[test]
fn pushes_to_main_are_found_by_destination() {
    for line in [
        "push origin main",
        "push origin master",
        "push origin HEAD:main",
        "push origin feature:refs/heads/master",
        "push origin refs/heads/main",
        "push origin heads/main",
        "push origin feature main",
        "push https://example.com/x.git main",
        "push ../other HEAD:main",
        "push --all",
        "push --all origin",
        "push --branches origin",
        "push origin refs/heads/*",
        "push origin 'refs/heads/*:refs/heads/*'",
        "push origin 'refs/*:refs/*'",
        "push origin 'refs/heads/ma*'",
        "push origin $",
        "push origin §",
        "push origin HEAD:$",
        "push origin HEAD:refs/heads/§",
        "push origin main --tags",
        "push --dry-run --no-dry-run origin main",
        "-c push.default=matching push",
        "send-pack /srv/repo.git",
        "send-pack --all /srv/repo.git",
        "subtree push --prefix=site origin main",
        "subtree push -P site origin master",
    ] {
        check(&FEATURE, line, "main");
    }
    for line in [
        "push origin main:other",
        "push origin HEAD:feature/main",
        "push origin feature/main",
        "push origin main-fix",
        "push origin refs/tags/main",
        "push origin tag main",
        "push origin v$",
        "push origin feature/§",
        "push origin refs/tags/§",
        "push origin HEAD:refs/heads/§-fix",
        "push origin 'refs/heads/feature/*'",
        "push origin HEAD:refs/for/main",
        "push $ feature",
        "push § feature",
        "push -c main",
        "-c push.default=nothing push",
        "subtree push --prefix=site origin gh-pages",
        "subtree split --prefix=main",
        "push main",
    ] {
        check(&FEATURE, line, "");
    }
    check(&FEATURE, "push $", "opaque");
    check(&FEATURE, "push $ origin feature", "opaque");
    check(&FEATURE, "$ origin feature", "opaque");
}

#[test]
fn a_push_without_refspecs_goes_where_branch_and_configuration_say() {
    for line in
        ["push", "push origin", "push -u origin HEAD", "push origin @", "push --follow-tags"]
    {
        check(&MAIN, line, "main");
        check(&NOWHERE, line, "main");
        check(&FEATURE, line, "");
    }
    check(&MAIN, "push origin feature", "");
    check(&MAIN, "push --tags", "");
    check(&NOWHERE, "push origin feature", "");
    check(&FEATURE, "-C /elsewhere push", "in /elsewhere: main");
    check(&FEATURE, "-C sub push", "in sub: ");
    check(&FEATURE, "--git-dir=/x/.git push", "main");
    let upstream = Place { upstream: Some("origin/main"), ..FEATURE };
    check(&upstream, "push", "");
    check(&upstream, "-c push.default=upstream push", "main");
    check(&upstream, "-c push.default=upstream push origin feature", "main");
    check(&upstream, "-c push.default=current push", "");
    let config = |config| Place { config, ..FEATURE };
    check(&config(&[("push.default", "matching")]), "push", "main");
    check(&config(&[("remote.origin.push", "HEAD:main")]), "push", "main");
    check(
        &config(&[("remote.origin.push", "+refs/heads/x:refs/heads/x")]),
        "push origin",
        "force(+refs/heads/x:refs/heads/x)",
    );
    check(
        &config(&[("remote.origin.mirror", "true")]),
        "push",
        "force(remote.origin.mirror), main",
    );
    check(&config(&[("remote.origin.push", "HEAD:main")]), "push other", "");
    check(
        &config(&[("branch.feature.merge", "refs/heads/main"), ("push.default", "upstream")]),
        "push",
        "main",
    );
}

#[test]
fn aliases_mean_what_they_stand_for() {
    for (line, expected) in [
        ("-c alias.p='push --force' p", "force(--force)"),
        ("-c alias.P='push --force' p origin x", "force(--force)"),
        ("-c alias.p=push p -f", "force(-f)"),
        ("-c alias.p='!git push --force' p", "code(git push --force)"),
        ("-c alias.p='!git push' p -f", "run(sh -c git push \"$@\" git push -f)"),
        ("-c alias.a=b -c alias.b='push -f' a", "force(-f)"),
        ("-c alias.a=a a", "opaque"),
        ("-c alias.status='push --force' status", ""),
        ("-c alias.x='-c alias.y=\"push -f\" y' x", "force(-f)"),
        ("-c alias.p='push --force' log", ""),
    ] {
        check(&FEATURE, line, expected);
    }
    check(&Place { config: &[("alias.yolo", "push -f")], ..FEATURE }, "yolo", "force(-f)");
    check_env(
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "alias.p"),
            ("GIT_CONFIG_VALUE_0", "push --force"),
        ],
        "p",
        "force(--force)",
    );
    check_env(&[("GIT_CONFIG_PARAMETERS", "'alias.p=push --force'")], "p", "force(--force)");
    check(&FEATURE, "config alias.p 'push -f'", "alias.p=push -f");
    check(&FEATURE, "config --global alias.P 'push -f'", "alias.p=push -f");
    check(&FEATURE, "config --get alias.p", "");
    check(&FEATURE, "config -f deploy.cfg a.b c", "change(deploy.cfg), a.b=c");
    check(&FEATURE, "config -f .git/config a.b c", "a.b=c");
}

#[test]
fn configured_programs_are_code() {
    check_env(&[("GIT_SSH_COMMAND", "rm -rf x")], "fetch", "code(rm -rf x)");
    check_env(&[("GIT_SSH_COMMAND", "rm -rf x")], "status", "");
    check(&FEATURE, "-c core.pager='rm -rf x' log", "code(rm -rf x)");
    check(&FEATURE, "-c core.pager=§ log", "");
    check(&FEATURE, "-c core.sshCommand='rm x' pull", "code(rm x)");
    check(&FEATURE, "-c credential.helper='!rm x' fetch", "code(rm x)");
    check(&FEATURE, "-c credential.helper=store fetch", "");
    check(&FEATURE, "rebase -x 'rm -rf x' main", "code(rm -rf x)");
    check(&FEATURE, "rebase --exec='make test' main", "code(make test)");
    check(&FEATURE, "bisect run rm -rf x", "run(rm -rf x)");
    check(&FEATURE, "submodule foreach --recursive 'git push -f'", "repeated: code(git push -f)");
    check(&FEATURE, "submodule foreach git push -f", "repeated: code(git push -f)");
    check(&FEATURE, "clone 'ext::sh -c rm' x", "run(sh -c rm), change(x)");
    check(&FEATURE, "filter-branch --tree-filter 'rm -f x' HEAD", "discard, code(rm -f x)");
}

#[test]
fn work_that_would_be_lost_is_seen() {
    for (line, expected) in [
        ("reset --hard", "discard"),
        ("reset --har HEAD~1", "discard"),
        ("reset --merge", "discard"),
        ("checkout -- file", "discard, change(file)"),
        ("checkout -- .", "discard"),
        ("checkout .", "discard"),
        ("checkout ./src", "discard, change(./src)"),
        ("checkout -f", "discard"),
        ("checkout -f main", "discard, aurora.head=main"),
        ("checkout HEAD file", "discard, change(file)"),
        ("checkout main -- .env", "discard, change(.env)"),
        ("checkout src/lib.rs", "discard, change(src/lib.rs)"),
        ("checkout src/", "discard, change(src/)"),
        ("checkout .env", "discard, change(.env)"),
        ("switch -f main", "discard, aurora.head=main"),
        ("switch --discard-changes main", "discard, aurora.head=main"),
        ("restore .", "discard"),
        ("restore a.txt", "discard, change(a.txt)"),
        ("restore --staged --worktree a", "discard, change(a)"),
        ("restore -SW .", "discard"),
        ("restore --source=HEAD~1 -- .", "discard"),
        ("clean -f", "discard"),
        ("clean -fdx", "discard"),
        ("clean -xdf vendor/", "discard, change(vendor/)"),
        ("-c clean.requireForce=false clean -d", "discard"),
        ("stash drop", "discard"),
        ("stash clear", "discard"),
        ("branch -D x", "discard"),
        ("branch -d -f x", "discard"),
        ("branch --delete --force x", "discard"),
        ("branch -f x HEAD~3", "discard"),
        ("branch -M a b", "discard"),
        ("worktree remove --force ../x", "discard"),
        ("update-ref -d refs/heads/x", "discard"),
        ("reflog expire --expire=now --all", "discard"),
        ("gc --prune=now", "discard"),
        ("prune", "discard"),
        ("filter-repo --path x", "discard"),
        ("submodule deinit -f x", "discard"),
        ("checkout-index -f -a", "discard"),
        ("read-tree -u --reset HEAD", "discard"),
        ("rm a", "delete(a)"),
        ("rm -r dir", "delete-r(dir)"),
        ("rm '*.log'", "delete(*.log)"),
        ("mv .env x", "change(.env), change(x)"),
        ("clone https://x/y/vendor.git", "change(vendor)"),
        ("archive -o out.zip HEAD", "change(out.zip)"),
        ("diff --output=.env", "change(.env)"),
        ("bundle create x.bundle --all", "change(x.bundle)"),
        ("worktree add vendor/x", "change(vendor/x)"),
    ] {
        check(&FEATURE, line, expected);
    }
}

#[test]
fn work_that_stays_is_left_alone() {
    for line in [
        "reset",
        "reset --soft HEAD~1",
        "reset --keep HEAD~1",
        "reset HEAD file",
        "checkout",
        "checkout -p",
        "restore --staged .",
        "restore -S a.txt",
        "restore -p",
        "clean",
        "clean -n",
        "clean -nfd",
        "clean -fd --dry-run",
        "clean -d",
        "stash",
        "stash pop",
        "stash push -m 'drop'",
        "stash apply",
        "branch",
        "branch x",
        "branch -d x",
        "branch -rD origin/x",
        "branch --list -a",
        "worktree remove ../x",
        "worktree list",
        "gc",
        "gc --prune=2.weeks.ago",
        "prune -n",
        "reflog",
        "reflog expire --dry-run --all",
        "rm --cached -r .",
        "rm -n a",
        "submodule update --init",
        "rebase -i main",
        "rebase --abort",
        "merge --abort",
        "commit --amend -m 'git reset --hard'",
        "cherry-pick abc",
        "apply x.patch",
        "config --list",
        "log --output-indicator-new=x",
        "reset --hard --help",
        "init .",
        "clone https://x/y.git .",
    ] {
        check(&FEATURE, line, "");
    }
}

#[test]
fn the_line_itself_may_change_the_branch() {
    for (line, expected) in [
        ("checkout main", "aurora.head=main"),
        ("checkout -b x origin/main", "aurora.head=x"),
        ("checkout -t origin/main", "aurora.head=main"),
        ("checkout -", "aurora.head="),
        ("checkout §", "aurora.head="),
        ("checkout v1.2.3", "aurora.head=v1.2.3"),
        ("checkout feature/login", "aurora.head=feature/login"),
        ("checkout main --", "aurora.head=main"),
        ("switch -c x", "aurora.head=x"),
        ("switch main", "aurora.head=main"),
        ("branch -m main", "aurora.head=main"),
        ("branch -M main", "aurora.head=main"),
        ("symbolic-ref HEAD refs/heads/main", "aurora.head=main"),
        ("branch --show-current", "print(feature)"),
        ("rev-parse --abbrev-ref HEAD", "print(feature)"),
        ("symbolic-ref --short HEAD", "print(feature)"),
        ("symbolic-ref HEAD", "print(refs/heads/feature)"),
        ("rev-parse --show-toplevel", "print(/repo)"),
        ("rev-parse --git-dir", "print(/repo/.git)"),
    ] {
        check(&FEATURE, line, expected);
    }
}
