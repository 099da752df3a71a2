//! The small syntax tree that shell text is parsed into; spans are local to the parsed text.

use std::cell::OnceCell;
use std::rc::Rc;

use aurora_model::Span;

/// Any command.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// `A=1 prog arg >out`.
    Simple(Simple),
    /// `a | b | c`.
    Pipeline(Vec<Command>),
    /// Commands one after the other, whatever joins them (`;`, `&&`, `||`, `&`, newline).
    List(Vec<ListItem>),
    /// `( … )`.
    Subshell(Box<Command>),
    /// `{ …; }`.
    Group(Box<Command>),
    /// `if`: conditions and bodies in order, the last body may be `else`.
    If(Vec<Command>),
    /// `while` and `until`: condition and body.
    While(Box<Command>, Box<Command>),
    /// `for x in …` and `select`: without words it goes over the positional parameters.
    For(String, Option<Vec<Word>>, Box<Command>),
    /// `for ((…))`: the expressions as one word, then the body.
    ForArith(Word, Box<Command>),
    /// `case`: the subject and the arms' bodies with their patterns.
    Case(Word, Vec<(Vec<Word>, Command)>),
    /// A function definition.
    Function(String, Rc<Command>),
    /// `[[ … ]]`: its words.
    Test(Vec<Word>),
    /// `(( … ))`: its text as a word.
    Arith(Word),
    /// A compound command with redirections.
    Redirected(Box<Command>, Vec<Redirect>),
}

/// One command of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListItem {
    /// The command.
    pub command: Command,
    /// It was sent to the background.
    pub background: bool,
    /// What joins it to the command before.
    pub after: Connector,
}

/// What joins a command of a list to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connector {
    /// It runs in any case.
    Always,
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq)]
pub struct Simple {
    /// Assignments before the program's name.
    pub assigns: Vec<Assign>,
    /// The program's name and its arguments.
    pub words: Vec<Word>,
    /// Redirections, in order.
    pub redirects: Vec<Redirect>,
    /// From the first to the last byte.
    pub span: Span,
}

/// `name=value`, `name+=value`, `name=(…)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assign {
    /// The variable, without a subscript.
    pub name: String,
    /// `name[index]=`: the index.
    pub index: Option<Vec<Part>>,
    /// `+=`.
    pub append: bool,
    /// The value.
    pub value: AssignValue,
}

/// What is assigned.
#[derive(Debug, Clone, PartialEq)]
pub enum AssignValue {
    /// One value.
    Scalar(Word),
    /// An array.
    Array(Vec<Word>),
}

/// One redirection.
#[derive(Debug, Clone, PartialEq)]
pub struct Redirect {
    /// The file descriptor before the operator.
    pub fd: Option<u32>,
    /// What it does.
    pub kind: RedirectKind,
    /// It opens something for reading (`<&3`, not `>&3`).
    pub reads: bool,
    /// The file, descriptor or text.
    pub target: Word,
    /// Where it stands.
    pub span: Span,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`.
    Read,
    /// `>`, `>|`.
    Write,
    /// `>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `&>`, `>&file`.
    Both,
    /// `&>>`.
    BothAppend,
    /// `>&N`, `<&N`, `>&-`.
    Duplicate,
    /// `<<<` and `<<`: the target is the text itself.
    HereText,
}

/// A word before expansion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Word {
    /// Its parts in order.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Unquoted literal text.
    Lit(String),
    /// Quoted or escaped literal text, with the place where it stands verbatim.
    Quoted(String, Option<usize>),
    /// `"…"`: its parts.
    Double(Vec<Part>),
    /// `$x`, `${…}`.
    Param(Box<Param>),
    /// `$(…)` and backquotes: the code with the place where it stands verbatim.
    Substitution(Rc<Code>),
    /// `$((…))` and `$[…]`: what is expanded inside.
    Arith(Vec<Part>),
    /// `<(…)`, `>(…)`.
    Process(Rc<Code>, Direction),
    /// `~`, `~user`.
    Tilde(String),
    /// `*`, `?`, `[…]`, extended patterns.
    Glob(String),
    /// `{a,b}`: the alternatives.
    Brace(Vec<Vec<Part>>),
    /// `{1..10}` beyond what is worth counting out.
    ManyBraces,
    /// The body of a here-document, known once the line that opens it has ended.
    HereDoc(Rc<OnceCell<Vec<Part>>>),
}

/// Parsed code inside a word.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// What it does.
    pub command: Command,
    /// Whether its spans are those of the text around it (backquoted code was unescaped first).
    pub same_text: bool,
    /// Where it stands.
    pub span: Span,
}

/// Which way a process substitution flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `<(…)`: its output is read.
    Read,
    /// `>(…)`: it reads what is written.
    Write,
}

/// A parameter expansion.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// The name: a variable, a digit, or one of `@*#?-$!`.
    pub name: String,
    /// `[@]`, `[*]` or a subscript.
    pub index: Option<Index>,
    /// `${!name}`.
    pub indirect: bool,
    /// `${#name}`.
    pub length: bool,
    /// What is done to the value.
    pub op: ParamOp,
    /// Where it stands.
    pub span: Span,
}

/// A subscript.
#[derive(Debug, Clone, PartialEq)]
pub enum Index {
    /// `[@]` or `[*]`.
    All,
    /// Anything else.
    One(Vec<Part>),
}

/// What a parameter expansion does to the value.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamOp {
    /// Nothing.
    None,
    /// `:-word` and `-word`.
    Default(Vec<Part>),
    /// `:=word` and `=word`.
    Assign(Vec<Part>),
    /// `:+word` and `+word`.
    Alternative(Vec<Part>),
    /// `:?word` and `?word`.
    Error(Vec<Part>),
    /// `#pattern`, `##pattern`: shortest or longest.
    TrimStart(Vec<Part>, bool),
    /// `%pattern`, `%%pattern`: shortest or longest.
    TrimEnd(Vec<Part>, bool),
    /// `/a/b` and `//a/b`: pattern, replacement, all.
    Replace(Vec<Part>, Vec<Part>, bool),
    /// `:offset:length`.
    Slice(Vec<Part>, Option<Vec<Part>>),
    /// `^`, `^^`, `,`, `,,`: the operator, and what is expanded in its pattern.
    Case(String, Vec<Part>),
    /// Something else (`@Q` …): the operator.
    Other(String),
}
