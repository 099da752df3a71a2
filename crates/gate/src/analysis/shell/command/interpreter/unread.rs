//! Languages without a reader: the texts that stand behind calls which run programs.

use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// The last part of the names under which languages run programs.
const RUNNERS: &[&str] = &[
    "capture",
    "cmd",
    "exec",
    "execute",
    "inferior-shell",
    "launch-program",
    "open_port",
    "popen",
    "proc_open",
    "process",
    "processbuilder",
    "qx",
    "run",
    "run-program",
    "run-shell-command",
    "sh",
    "shell",
    "shell-out",
    "spawn",
    "start",
    "system",
    "system*",
];

/// The arguments with each way to give code spelled as one; nothing where they are spelled so already.
pub(super) fn respelled(call: &Call<'_>) -> Option<Vec<Field>> {
    match call.name {
        // Erlang's options are words after one dash, and its operands do not end them.
        "erl" => {
            let pairs = call.args.windows(2).filter_map(|pair| match pair {
                [option, code] if option.is("-eval") => Some(code.clone()),
                _ => None,
            });
            let coded = pairs.flat_map(|code| [Field::lit("--eval", code.span), code]);
            Some(coded.collect())
        }
        "guile" | "octave" | "octave-cli" | "sbcl" | "ecl" | "clojure" | "clj" => {
            let respell = |arg: &Field| match arg.text() {
                Some("-c" | "-eval" | "--eval") => Field::lit("--eval", arg.span),
                // Which main to use and which aliases to take says nothing.
                Some(text) if text.starts_with("-M") || text.starts_with("-A") => {
                    Field::lit("-q", arg.span)
                }
                _ => arg.clone(),
            };
            Some(call.args.iter().map(respell).collect())
        }
        _ => None,
    }
}

/// Runs the texts that stand behind a call which runs programs.
pub(super) fn calls(machine: &mut Machine<'_>, code: &Field) {
    let Some(text) = code.text() else { return };
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find(['"', '\''])) {
        let open = at + open;
        let before = text.get(..open).unwrap_or("");
        let rest = text.get(open..).unwrap_or("");
        let Some((first, len)) = literal(rest) else { return };
        let after = rest.get(len..).unwrap_or("");
        at = open + len;
        if after.trim_start().starts_with(".execute(") {
            machine.run_code(Lang::Shell, &Field::lit(first, code.span));
        } else if is_runner(before) {
            let mut words = vec![first];
            let used = more_literals(after, &mut words);
            at += used;
            run(machine, &words, code);
        }
    }
    listed(machine, text, code);
}

/// Raku's `run <git push>` and `qx{…}`, Groovy's `["git", "push"].execute()`.
fn listed(machine: &mut Machine<'_>, text: &str, code: &Field) {
    for (open, close) in [("run <", '>'), ("run(<", '>'), ("qx{", '}'), ("qqx{", '}')] {
        for rest in text.split(open).skip(1) {
            if let Some((line, _)) = rest.split_once(close) {
                machine.run_code(Lang::Shell, &Field::lit(line, code.span));
            }
        }
    }
    for before in text.rsplit("].execute(").skip(1) {
        if let Some((_, list)) = before.rsplit_once('[') {
            let mut words = Vec::new();
            more_literals(list, &mut words);
            run(machine, &words, code);
        }
    }
}

fn run(machine: &mut Machine<'_>, words: &[String], code: &Field) {
    match words {
        [] => {}
        [line] => drop(machine.run_code(Lang::Shell, &Field::lit(line, code.span))),
        [line, ..] if line.contains(' ') => {
            machine.run_code(Lang::Shell, &Field::lit(line, code.span));
        }
        words => {
            let argv: Vec<Field> = words.iter().map(|word| Field::lit(word, code.span)).collect();
            machine.run_argv(&argv, &Stream::Terminal, code.span);
        }
    }
}

/// Whether the name before a text is that of a call which runs programs.
fn is_runner(before: &str) -> bool {
    const BETWEEN: [char; 10] = [' ', '(', '[', '{', '\n', '\t', '~', '`', '%', '\''];
    let before = before.trim_end_matches(BETWEEN);
    // A list of words is as good as the words.
    let listed = ["(list", "List.of", "Arrays.asList", "new String"]
        .iter()
        .find_map(|list| before.strip_suffix(list));
    let before = listed.unwrap_or(before).trim_end_matches(BETWEEN);
    let start = before.rfind(|c: char| !(c.is_alphanumeric() || "_-*".contains(c)));
    let name = start.map_or(before, |at| {
        let len = before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        before.get(at + len..).unwrap_or("")
    });
    let name = name.to_ascii_lowercase();
    RUNNERS.binary_search(&name.as_str()).is_ok()
}

/// The text of a literal at the start, and how long it is.
fn literal(text: &str) -> Option<(String, usize)> {
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    let mut out = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().map(|(_, c)| c)),
            c if c == quote => return Some((out, at + c.len_utf8())),
            c => out.push(c),
        }
    }
    None
}

/// Adds the texts that follow with only separators between; gives how far they reach.
fn more_literals(text: &str, words: &mut Vec<String>) -> usize {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches([' ', ',', '[', '\n', '\t', '(']);
        if !next.starts_with(['"', '\'']) {
            return text.len() - rest.len();
        }
        let Some((word, len)) = literal(next) else { return text.len() - rest.len() };
        words.push(word);
        rest = next.get(len..).unwrap_or("");
    }
}

/// The arguments of a Lisp call, up to its end: texts, and nothing for all that is not text.
pub(super) fn atoms(text: &str) -> Vec<Option<String>> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        if c == ')' {
            break;
        }
        if c == '"' {
            let Some((word, len)) = literal(rest) else { break };
            out.push(Some(word));
            rest = rest.get(len..).unwrap_or("");
        } else {
            out.push(None);
            rest = skip_form(rest);
        }
        rest = rest.trim_start();
    }
    out
}

/// What follows a symbol or a bracketed form.
fn skip_form(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => {
                let end = if depth == 0 { at } else { at + 1 };
                return text.get(end..).unwrap_or("");
            }
            ')' => depth -= 1,
            c if depth == 0 && c.is_whitespace() => return text.get(at..).unwrap_or(""),
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use aurora_model::Context;

    use super::*;
    use crate::analysis::shell::analyse;

    #[test]
    fn runners_are_sorted() {
        assert!(RUNNERS.is_sorted());
    }

    /// POL-8: code of languages without a reader still shows the programs that it runs.
    #[test]
    fn programs_behind_calls_are_run() {
        for line in [
            r#"elixir -e 'System.cmd("git", ["push", "--force"])'"#,
            r#"elixir -e 'System.shell("git push --force")'"#,
            r#"erl -noshell -eval 'os:cmd("git push --force"), halt().'"#,
            r#"erl -noshell -s init stop -eval 'os:cmd("git push --force").'"#,
            r#"guile -c '(system "git push --force")'"#,
            r#"guile -c '(system* "git" "push" "--force")'"#,
            r#"sbcl --noinform --eval '(uiop:run-program "git push --force")'"#,
            r#"sbcl --eval '(uiop:run-program (list "git" "push" "--force"))'"#,
            r#"clojure -M -e '(clojure.java.shell/sh "git" "push" "--force")'"#,
            r#"bb -e '(shell "git push --force")'"#,
            r#"groovy -e '"git push --force".execute()'"#,
            r#"groovy -e '["git", "push", "--force"].execute()'"#,
            r#"jshell <<< 'Runtime.getRuntime().exec("git push --force")'"#,
            r#"raku -e 'shell "git push --force"'"#,
            r#"raku -e 'run <git push --force>'"#,
            r#"crystal eval 'system("git push --force")'"#,
            r#"octave --eval 'system("git push --force")'"#,
            r#"gnuplot -e 'system("git push --force")'"#,
            r#"emacs --batch --eval '(call-process "git" nil nil nil "push" "--force")'"#,
            r#"emacs --batch --eval '(start-process "p" nil "git" "push" "--force")'"#,
            r#"nvim --headless -c 'lua os.execute("git push --force")' -c q"#,
            r#"nvim -es +'lua vim.fn.system({"git", "push", "--force"})'"#,
            r#"vim -c 'py3 import os; os.system("git push --force")'"#,
            r#"ipython -c '!git push --force'"#,
            r#"ipython -c '%system git push --force'"#,
            r#"ipython -c 'x = !git push --force'"#,
        ] {
            let found = analyse(line, &Context::default());
            let forced = found.commands.iter().any(|simple| {
                let argv: Vec<&str> = simple.argv.iter().filter_map(Option::as_deref).collect();
                argv == ["git", "push", "--force"]
            });
            assert!(forced, "{line}: {:?}", found.commands);
        }
    }

    #[test]
    fn texts_that_are_printed_are_not_run() {
        for line in [
            r#"elixir -e 'IO.puts("git push --force")'"#,
            r#"sbcl --eval '(print "git push --force")'"#,
            r#"groovy -e 'println "git push --force"'"#,
            r#"raku -e 'say "git push --force"'"#,
            r#"octave --eval 'disp("git push --force")'"#,
            r#"emacs --batch --eval '(message "git push --force")'"#,
            r#"ipython -c 'print(1 != 2)'"#,
            r#"nvim -c 'lua print("git push --force")'"#,
        ] {
            let found = analyse(line, &Context::default());
            assert!(found.commands.len() == 1, "{line}: {:?}", found.commands);
        }
    }

    #[test]
    fn ruby_un_library_is_its_commands() {
        let found = analyse("ruby -run -e rm -- -rf build", &Context::default());
        let last = found.commands.last().map(|simple| simple.argv.clone()).unwrap_or_default();
        let words: Vec<&str> = last.iter().filter_map(Option::as_deref).collect();
        assert_eq!(words, ["rm", "-rf", "build"]);
    }
}
