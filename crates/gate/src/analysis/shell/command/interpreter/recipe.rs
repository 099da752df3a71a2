//! make: recipes that the line itself carries.

use crate::analysis::shell::command::options::{Parsed, Spec};
use crate::analysis::shell::command::place::only_informs;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// make: only recipes that the line itself carries can be read.
pub(super) fn make(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
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
        long_flags: &[
            "dry-run",
            "just-print",
            "recon",
            "question",
            "touch",
            "silent",
            "keep-going",
            "version",
            "help",
        ],
        long_optional: &["jobs", "load-average", "output-sync", "debug"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || dry(&parsed) {
        return Stream::Output(call.name.to_owned());
    }
    let mut texts: Vec<Field> = parsed.values('E', "eval").into_iter().cloned().collect();
    let from_stdin = parsed
        .values('f', "file")
        .iter()
        .chain(&parsed.values('\0', "makefile"))
        .any(|file| file.is("-") || file.is("/dev/stdin"));
    if let (true, Stream::Text(text)) = (from_stdin, call.stdin) {
        texts.push(text.clone());
    }
    for text in &texts {
        for line in text.display().lines() {
            let recipe =
                line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
            if let Some(recipe) = recipe {
                let recipe = recipe.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$");
                machine.run_code(Lang::Shell, &Field::lit(recipe, text.span));
            }
        }
    }
    Stream::Output(call.name.to_owned())
}

fn dry(parsed: &Parsed<'_>) -> bool {
    parsed.has('n', "dry-run") || parsed.has('\0', "just-print") || parsed.has('\0', "recon")
}
