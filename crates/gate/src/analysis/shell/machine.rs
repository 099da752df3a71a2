//! The abstract shell: what it knows while it walks through a line, and what commands' models may ask of it.

use aurora_model::{Cause, Context, Count, Effect, EffectKind, PathRef, Span, SqlDialect, Touch};

use super::command::disk;
use super::expand::UNKNOWN;
use super::field::Field;
use super::scope::{Base, Function, Scope};
use crate::analysis::{Analysis, Simple, path};

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

/// How much work one judgement may cost, in simple commands.
const FUEL: usize = 16_000;
/// More effects than this are not told apart: what is left is not followed.
const MAX_EFFECTS: usize = 4_096;
/// How deep code may run code (`bash -c "bash -c …"`, functions, substitutions).
const MAX_NESTING: usize = 32;

/// The abstract shell.
#[derive(Debug)]
pub struct Machine<'c> {
    pub(super) context: &'c Context,
    pub(super) found: Analysis,
    pub(super) scope: Scope,
    pub(super) base: Base,
    pub(super) stdin: Stream,
    /// Every function that was defined, and which of them were called.
    pub(super) defined: Vec<(String, Function)>,
    pub(super) called: Vec<Function>,
    /// The functions being called, with what they were called with.
    pub(super) calling: Vec<(String, Option<Vec<Field>>)>,
    pub(super) loops: usize,
    pub(super) background: usize,
    pub(super) nesting: usize,
    /// How many process substitutions there were.
    pub(super) substitutions: usize,
    /// The code that runs next runs in this very shell.
    pub(super) sourcing: bool,
    /// Code that runs when the shell at hand ends.
    pub(super) traps: Vec<Field>,
    /// How many script files deep the machine is.
    pub(super) scripts: usize,
    /// The script at hand is for a shell whose grammar is not bash's: not parsing it says nothing.
    pub(super) foreign: bool,
    pub(super) fuel: usize,
    /// It was said that the work is too much.
    pub(super) exhausted: bool,
    /// One of several current directories was picked, and another of them is in the worktree.
    pub(super) may_be_inside: bool,
    /// Alternatives taken so far in the simple command at hand: which of how many.
    pub(super) choices: Vec<(usize, usize)>,
    pub(super) chosen: usize,
    /// The program's name is being expanded.
    pub(super) naming: bool,
    /// The operands of an unknown program are being tried as a command.
    pub(super) probing: bool,
    /// How many unknown programs were found to hold a dangerous command.
    pub(super) probed: usize,
    root: String,
}

impl<'c> Machine<'c> {
    /// A shell that stands where the context says.
    #[must_use]
    pub fn new(context: &'c Context) -> Self {
        let root = context.root.clone().or_else(|| context.cwd.clone());
        let root = root.unwrap_or_else(|| "/worktree".to_owned());
        let cwd = context.cwd.clone().unwrap_or_else(|| root.clone());
        Self {
            context,
            found: Analysis::default(),
            scope: Scope { cwd: Some(cwd), ..Scope::default() },
            base: Base::Offset(0),
            stdin: Stream::Terminal,
            defined: Vec::new(),
            called: Vec::new(),
            calling: Vec::new(),
            loops: 0,
            background: 0,
            nesting: 0,
            substitutions: 0,
            sourcing: false,
            traps: Vec::new(),
            scripts: 0,
            foreign: false,
            fuel: FUEL,
            exhausted: false,
            may_be_inside: false,
            choices: Vec::new(),
            chosen: 0,
            naming: false,
            probing: false,
            probed: 0,
            root,
        }
    }

    /// What was found, each effect once.
    #[must_use]
    pub fn finish(mut self) -> Analysis {
        // Whatever was taken back since then, giving up is not.
        let said = |effect: &Effect| {
            matches!(effect.kind, EffectKind::Opaque { cause: Cause::Unreadable, .. })
        };
        if self.exhausted && !self.found.effects.iter().any(said) {
            self.found.effects.truncate(MAX_EFFECTS - 1);
            self.too_much(Span::default());
        }
        let mut seen = std::collections::HashSet::new();
        self.found.effects.retain(|effect| seen.insert(effect.clone()));
        self.found.wanted.dedup();
        self.found
    }

    /// What the caller knows about the place.
    #[must_use]
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// A place in the text at hand as a place in the judged text.
    pub(super) fn place(&self, span: Span) -> Span {
        match self.base {
            Base::Offset(offset) => Span::new(span.start + offset, span.end + offset),
            Base::Within(span) => span,
        }
    }

    /// Records an effect.
    pub fn emit(&mut self, kind: EffectKind, span: Span) {
        if self.found.effects.len() >= MAX_EFFECTS {
            self.give_up(span);
            return;
        }
        let in_script = self.scripts > 0;
        self.found.effects.push(Effect { kind, span, in_script });
    }

    /// Records that these paths go away: `recursive` when whole directories go. Counts literal
    /// paths, and notes when the count is not known (globs, unknowns, loops).
    pub fn delete(&mut self, targets: &[&Field], recursive: bool, span: Span) {
        let mut total = Some(0);
        for target in targets {
            let known = self.context.file_counts.get(&target.display()).copied();
            let one = (target.text().is_some() && !target.many).then_some(1);
            total = total.zip(known.or(one)).map(|(sum, more)| sum + more);
        }
        if self.loops > 0 {
            total = None;
        }
        let paths = targets.iter().map(|target| self.resolve(target)).collect();
        let count = total.map_or(Count::Unknown, Count::Known);
        self.emit(EffectKind::DeleteFiles { paths, count, recursive }, span);
    }

    /// Records that files go away whose number cannot be known (`find -delete`, `rsync --delete`);
    /// `below` are the folders in which it happens, or patterns that name the files.
    pub fn delete_unknown(&mut self, below: &[&Field], span: Span) {
        let recursive = !below.iter().any(|target| target.has_glob());
        let paths = below.iter().map(|target| self.resolve(target)).collect();
        self.emit(EffectKind::DeleteFiles { paths, count: Count::Unknown, recursive }, span);
    }

    /// Records that a path is changed.
    pub fn change(&mut self, target: &Field, touch: Touch, recursive: bool) {
        if matches!(target.text(), Some("/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")) {
            return;
        }
        if disk::is_disk(target.prefix())
            && !matches!(touch, Touch::Mode | Touch::Owner | Touch::Link)
        {
            return self.emit(EffectKind::WipeDisk { device: target.display() }, target.span);
        }
        let path = self.resolve(target);
        self.emit(EffectKind::ChangePath { path, touch, recursive }, target.span);
    }

    /// Records something that is decided only when it runs.
    pub fn opaque(&mut self, what: impl Into<String>, why: impl Into<String>, span: Span) {
        let (what, why) = (what.into(), why.into());
        self.emit(EffectKind::Opaque { what, why, cause: Cause::Dynamic }, span);
    }

    /// Records something that could not be read.
    pub fn unreadable(&mut self, what: impl Into<String>, why: impl Into<String>, span: Span) {
        let (what, why) = (what.into(), why.into());
        self.emit(EffectKind::Opaque { what, why, cause: Cause::Unreadable }, span);
    }

    /// A path as far as it is known, from the current directory of this point in the line.
    #[must_use]
    pub fn resolve(&self, target: &Field) -> PathRef {
        if self.scope.cwd.is_none() && !target.prefix().starts_with('/') {
            let mut below = Field::unknown(false, target.span);
            below.push_lit("/");
            below.push_field(target);
            let resolved = path::resolve(&below, None, Some(&self.root));
            return PathRef { text: target.display(), ..resolved };
        }
        path::resolve(target, self.scope.cwd.as_deref(), Some(&self.root))
    }

    pub(super) fn is_inside(&self, dir: &str) -> bool {
        dir.strip_prefix(self.root.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether the current directory may be in the worktree although it is not taken to be there.
    #[must_use]
    pub fn may_be_inside(&self) -> bool {
        self.may_be_inside
    }

    /// The absolute name of a file that is known exactly.
    pub(super) fn file_name(&self, target: &Field) -> Option<String> {
        path::normalize(target.text()?, self.scope.cwd.as_deref())
    }

    /// Runs `inside` with another current directory (`git -C DIR`, `env -C DIR`, `make -C DIR`);
    /// an unknown one when `dir` is not known.
    pub fn in_dir<T>(&mut self, dir: &Field, inside: impl FnOnce(&mut Self) -> T) -> T {
        let there = self.file_name(dir);
        let here = std::mem::replace(&mut self.scope.cwd, there);
        let others = std::mem::take(&mut self.scope.other_cwds);
        let result = inside(self);
        self.scope.cwd = here;
        self.scope.other_cwds = others;
        result
    }

    /// Runs `inside` on another machine or in a container (ssh, `docker exec`): what it does to
    /// its own shell is forgotten afterwards. Paths keep their meaning, so that a wrapper never
    /// makes a verdict milder.
    pub fn elsewhere<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.scope.clone();
        let result = inside(self);
        self.scope.leave(here);
        result
    }

    /// Runs `inside` where every deletion is of unknown number (loops, `xargs`, `find -exec`).
    pub fn repeated<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.loops += 1;
        let result = inside(self);
        self.loops -= 1;
        result
    }

    /// Pays for work; says whether there was enough left. Running out is said once.
    pub(super) fn pay(&mut self, cost: usize, span: Span) -> bool {
        if self.fuel > cost {
            self.fuel -= cost;
            return true;
        }
        self.give_up(span);
        false
    }

    /// Stops here, and says so once: what comes after is not followed, in a script as in a line.
    fn give_up(&mut self, span: Span) {
        self.fuel = 0;
        if self.exhausted {
            return;
        }
        self.exhausted = true;
        self.found.effects.truncate(MAX_EFFECTS - 1);
        self.too_much(span);
    }

    fn too_much(&mut self, span: Span) {
        self.unreadable("code", "it is too long or nests too deeply to follow", span);
    }

    /// Runs `inside` one level deeper, or records that nobody can follow that deep.
    pub(super) fn nested(
        &mut self,
        span: Span,
        inside: impl FnOnce(&mut Self) -> Stream,
    ) -> Stream {
        if self.nesting >= MAX_NESTING {
            self.too_much(span);
            return Stream::Terminal;
        }
        if !self.pay(1, span) {
            return Stream::Terminal;
        }
        self.nesting += 1;
        let result = inside(self);
        self.nesting -= 1;
        result
    }

    /// Whether some command on this line set git configuration `key` (lower-case), or the context
    /// says so; the value.
    #[must_use]
    pub fn git_config(&self, key: &str) -> Option<String> {
        match self.scope.git.get(key).map(Vec::as_slice) {
            Some([value]) => return Some(value.clone()),
            // It depends on what happened before: an alias of which nobody knows what it runs.
            Some([_, ..]) if key.starts_with("alias.") => return Some(format!("!{UNKNOWN}")),
            Some([_, ..]) => return Some(String::new()),
            _ => {}
        }
        if let Some(alias) = key.strip_prefix("alias.") {
            return self.context.git.aliases.get(alias).cloned();
        }
        self.context.git.config.get(key).cloned()
    }

    /// Remembers git configuration set by this line (`git config alias.x …`).
    pub fn set_git_config(&mut self, key: &str, value: &str) {
        self.scope.git.insert(key.to_owned(), vec![value.to_owned()]);
    }

    /// Remembers a simple command for rules that users write.
    pub(super) fn note(&mut self, argv: &[Field], span: Span) {
        let known = |field: &Field| {
            if field.many { None } else { field.text().map(str::to_owned) }
        };
        self.found.commands.push(Simple { argv: argv.iter().map(known).collect(), span });
    }
}
