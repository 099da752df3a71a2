//! Code that build tools are given on the line: makefiles' shell functions, shells to run scripts.

use super::options::Spec;
use super::step::{Step, perform};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

const MAKE: Spec = Spec {
    short_values: "CfIoWE",
    short_optional: "jlO",
    long_values: &[
        "directory",
        "file",
        "makefile",
        "include-dir",
        "old-file",
        "what-if",
        "eval",
        "assume-new",
    ],
    long_flags: &["dry-run", "just-print", "recon"],
    ..Spec::FLAGS
};

/// The names under which make looks for its file.
const USUAL: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Runs the code that a call hands to a build tool besides what the tool's own model reads.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) {
    let steps = match call.name {
        "make" | "gmake" => make(machine, call),
        "npm" | "pnpm" | "yarn" | "npx" => script_shell(call),
        _ => return,
    };
    perform(machine, &[Step::Unread(steps)], call);
}

fn make(machine: &Machine<'_>, call: &Call<'_>) -> Vec<Step> {
    let parsed = MAKE.parse(call.args);
    let dry = ["dry-run", "just-print", "recon"].iter().any(|name| parsed.has('n', name));
    let mut steps = Vec::new();
    let mut texts: Vec<Field> = parsed.values('E', "eval").into_iter().cloned().collect();
    let flags = call.env.iter().filter(|(name, _)| name == "MAKEFLAGS");
    texts.extend(flags.map(|(_, value)| value.clone()));
    for operand in &parsed.operands {
        let Some((name, value)) = operand.split_once('=') else { continue };
        if name.is("SHELL") && !value.prefix().is_empty() && !dry {
            steps.push(Step::Code(value));
        } else {
            texts.push(value);
        }
    }
    let mut files: Vec<Field> = parsed.values('f', "file").into_iter().cloned().collect();
    files.extend(parsed.values('\0', "makefile").into_iter().cloned());
    if files.is_empty() && parsed.value('C', "directory").is_none() {
        files.extend(USUAL.iter().map(|name| Field::lit(*name, call.span)));
    }
    for file in &files {
        let piped = file.is("-") || file.is("/dev/stdin");
        let stream = if piped { call.stdin.clone() } else { machine.stream_of(file) };
        let Stream::Text(text) = stream else { continue };
        if !piped && !dry {
            let text = text.display();
            steps.extend(text.lines().filter_map(recipe).map(|code| code_step(&code, file)));
        }
        texts.push(text);
    }
    for text in &texts {
        steps.extend(shell_functions(&text.display()).iter().map(|code| code_step(code, text)));
    }
    steps
}

fn code_step(code: &str, like: &Field) -> Step {
    Step::Code(Field::lit(code.replace("$$", "$"), like.span))
}

/// The command of a recipe's line.
fn recipe(line: &str) -> Option<String> {
    let recipe = line.strip_prefix('\t').or_else(|| {
        let (target, recipe) = line.split_once(';')?;
        target.contains(':').then_some(recipe)
    })?;
    Some(recipe.trim_start_matches(['@', '-', '+', ' ', '\t']).to_owned())
}

/// What stands in `$(shell …)`, and behind `!=`: make runs it while it reads.
fn shell_functions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close, start) in [('(', ')', "$(shell "), ('{', '}', "${shell ")] {
        for (at, _) in text.match_indices(start) {
            let Some(rest) = text.get(at + start.len()..) else { continue };
            let mut depth = 0_usize;
            let inside = rest.chars().take_while(|c| {
                if *c == open {
                    depth += 1;
                } else if *c == close {
                    if depth == 0 {
                        return false;
                    }
                    depth -= 1;
                }
                true
            });
            found.push(inside.collect());
        }
    }
    let assigned = text.lines().filter(|line| !line.starts_with('\t'));
    found.extend(assigned.filter_map(|line| {
        let (name, code) = line.split_once("!=")?;
        let name = name.trim();
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        is_name.then(|| code.to_owned())
    }));
    found
}

/// `npm run --script-shell=PROGRAM`.
fn script_shell(call: &Call<'_>) -> Vec<Step> {
    const SPEC: Spec = Spec { long_values: &["script-shell"], ..Spec::FLAGS };
    let mut codes: Vec<Field> =
        SPEC.parse(call.args).values('\0', "script-shell").into_iter().cloned().collect();
    let named =
        call.env.iter().filter(|(name, _)| name.eq_ignore_ascii_case("npm_config_script_shell"));
    codes.extend(named.map(|(_, value)| value.clone()));
    codes.retain(|code| !code.prefix().is_empty());
    codes.into_iter().map(Step::Code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_functions_are_found_in_makefiles() {
        let check = |text: &str, expected: &[&str]| assert_eq!(shell_functions(text), expected);
        check("X := $(shell git log $(y) z) w", &["git log $(y) z"]);
        check("X != date\n\ttest a != b", &[" date"]);
        check("${shell ls}", &["ls"]);
        check("$(info shell)", &[]);
    }
}
