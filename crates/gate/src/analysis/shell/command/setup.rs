//! Programs whose output is documented to be evaluated: `eval "$(ssh-agent -s)"` and its like set
//! variables of this shell and run nothing else.

use super::options::{Spec, Style};
use super::step::joined;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// Programs and the words with which they print such code; no words means always.
static SETUPS: &[(&str, &[&str])] = &[
    ("brew", &["shellenv"]),
    ("conda", &["shell.bash", "shell.zsh", "shell.posix", "shell.fish"]),
    ("dircolors", &[]),
    ("direnv", &["hook", "export"]),
    ("docker-machine", &["env"]),
    ("fnm", &["env"]),
    ("keychain", &[]),
    ("lesspipe", &[]),
    ("luarocks", &["path"]),
    ("mamba", &["shell"]),
    ("minikube", &["docker-env", "podman-env"]),
    ("mise", &["activate", "env", "hook-env"]),
    ("nodenv", &["init"]),
    ("opam", &["env", "config"]),
    ("phpenv", &["init"]),
    ("pyenv", &["init", "virtualenv-init"]),
    ("rbenv", &["init"]),
    ("resize", &[]),
    ("ssh-agent", &[]),
    ("starship", &["init"]),
    ("zoxide", &["init"]),
];

/// What such a program prints: nothing that matters; nothing when the program is none of them.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    let (_, words) = SETUPS.iter().find(|(name, _)| *name == call.name)?;
    let spec = Spec { short_values: "aEPOt", style: Style::StopAtOperand, ..Spec::FLAGS };
    let operands = spec.parse(call.args).operands;
    if call.name == "ssh-agent" && !operands.is_empty() {
        // `ssh-agent COMMAND` runs it.
        let argv: Vec<Field> = operands.iter().map(|arg| (*arg).clone()).collect();
        return Some(machine.run_argv(&argv, call.stdin, call.span));
    }
    let first = operands.first().and_then(|word| word.text());
    let prints = words.is_empty() || first.is_some_and(|first| words.contains(&first));
    prints.then(|| Stream::Text(joined(&[])))
}
