//! The abstract shell: what it knows while it walks through a line, and what commands' models may ask of it.

use aurora_model::{Context, EffectKind, PathRef, Span, SqlDialect, Touch};

use super::field::Field;
use crate::analysis::Analysis;

/// What flows out of, or into, a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stream {
    /// Nothing, or the terminal.
    Terminal,
    /// This text (parts of it may be unknown).
    Text(Field),
    /// The content of this file.
    File(PathRef),
    /// Output of a program here, not known beforehand.
    Output(String),
    /// Something from the network.
    Network(String),
}

/// One simple command whose name is known, on its way to its model.
#[derive(Debug)]
pub struct Call<'a> {
    /// The program's name without its folder.
    pub name: &'a str,
    /// The arguments after the name.
    pub args: &'a [Field],
    /// What it reads.
    pub stdin: &'a Stream,
    /// Variables set for this command alone (`X=1 cmd`).
    pub env: &'a [(String, Field)],
    /// Where the command stands in the judged text.
    pub span: Span,
}

/// In which language code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lang {
    /// sh, bash, zsh, dash, ksh.
    Shell,
    /// SQL.
    Sql(SqlDialect),
    /// A scripting language with its own reader in `analysis::script`.
    Script(ScriptLang),
}

/// The scripting languages whose one-liners are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptLang {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// awk.
    Awk,
    /// PowerShell.
    PowerShell,
}

/// The abstract shell.
#[derive(Debug)]
pub struct Machine<'c> {
    context: &'c Context,
    found: Analysis,
}

impl<'c> Machine<'c> {
    /// What the caller knows about the place.
    #[must_use]
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// Records an effect.
    pub fn emit(&mut self, kind: EffectKind, span: Span) {
        let _ = (kind, span, &self.found);
    }

    /// Records that these paths go away: `recursive` when whole directories go. Counts literal
    /// paths, and notes when the count is not known (globs, unknowns, loops).
    pub fn delete(&mut self, targets: &[&Field], recursive: bool, span: Span) {
        let _ = (targets, recursive, span);
    }

    /// Records that files go away whose number cannot be known (`find -delete`, `rsync --delete`);
    /// `below` are the folders in which it happens.
    pub fn delete_unknown(&mut self, below: &[&Field], span: Span) {
        let _ = (below, span);
    }

    /// Records that a path is changed.
    pub fn change(&mut self, target: &Field, touch: Touch, recursive: bool) {
        let _ = (target, touch, recursive);
    }

    /// Records something that cannot be seen through.
    pub fn opaque(&mut self, what: impl Into<String>, why: impl Into<String>, span: Span) {
        let _ = (what.into(), why.into(), span);
    }

    /// Runs another command: program and arguments, as a wrapper would. Returns what it prints.
    pub fn run_argv(&mut self, argv: &[Field], stdin: &Stream, span: Span) -> Stream {
        let _ = (argv, stdin, span);
        Stream::Terminal
    }

    /// Runs code in some language that is an argument (`bash -c CODE`, `psql -c CODE`); code with
    /// unknown parts is opaque. Returns what it prints.
    pub fn run_code(&mut self, lang: Lang, code: &Field) -> Stream {
        let _ = (lang, code);
        Stream::Terminal
    }

    /// Runs code that is read from a stream (`… | sh`, `psql < file`). A file is wanted, other
    /// programs' output is opaque. Returns what it prints.
    pub fn run_stream(&mut self, lang: Lang, stream: &Stream, span: Span) -> Stream {
        let _ = (lang, stream, span);
        Stream::Terminal
    }

    /// Runs code that is in a file (`psql -f FILE`, `bash FILE`): text that the line itself wrote
    /// there, or that the context holds; else the file is wanted and nothing is assumed.
    pub fn run_file(&mut self, lang: Lang, file: &Field) -> Stream {
        let _ = (lang, file);
        Stream::Terminal
    }

    /// A path as far as it is known, from the current directory of this point in the line.
    #[must_use]
    pub fn resolve(&self, target: &Field) -> PathRef {
        PathRef { text: target.display(), resolved: None, glob: false }
    }

    /// Runs `inside` with another current directory (`git -C DIR`, `env -C DIR`, `make -C DIR`);
    /// an unknown one when `dir` is not known.
    pub fn in_dir<T>(&mut self, dir: &Field, inside: impl FnOnce(&mut Self) -> T) -> T {
        let _ = dir;
        inside(self)
    }

    /// Runs `inside` where paths are not this machine's (ssh, containers): nothing resolves to the
    /// worktree any more.
    pub fn elsewhere<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        inside(self)
    }

    /// Runs `inside` where every deletion is of unknown number (loops, `xargs`, `find -exec`).
    pub fn repeated<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        inside(self)
    }

    /// Whether some command on this line set git configuration `key` (lower-case), or the context
    /// says so; the value.
    #[must_use]
    pub fn git_config(&self, key: &str) -> Option<String> {
        self.context.git.config.get(key).cloned()
    }

    /// Remembers git configuration set by this line (`git config alias.x …`).
    pub fn set_git_config(&mut self, key: &str, value: &str) {
        let _ = (key, value);
    }
}
