//! The functions that a script may call and what each does, one table per language.

mod javascript;
mod lua;
mod perl;
mod php;
mod python;
mod ruby;

use aurora_model::Touch;

use super::super::shell::machine::ScriptLang;
use super::UNKNOWN;
use super::value::Value;

/// What a function does with its arguments; numbers are argument positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// The argument is a line for the shell.
    Shell(u8),
    /// One argument is a line for the shell, several are program and arguments.
    ShellOrArgs,
    /// A list is program and arguments, a string a line.
    Program,
    /// The program, then a list of its arguments.
    ProgramArgs,
    /// The program, then a list of its arguments that starts with its name.
    ExecList(u8),
    /// The program, its name, its arguments.
    ExecArgs(u8),
    /// Every argument is a path that goes away.
    Delete {
        /// With everything below it.
        recursive: bool,
    },
    /// The first argument is a path that goes away.
    DeleteFirst {
        /// With everything below it.
        recursive: bool,
    },
    /// The first argument goes away with everything below it if an option says so; else only an
    /// empty folder does.
    DeleteIfRecursive,
    /// It is this program, with its arguments.
    Command(&'static str),
    /// The argument is a path that is changed.
    Change(u8, Touch),
    /// Every argument from this one on is a path that is changed.
    ChangeEach(u8, Touch),
    /// The first argument gets the second as its name.
    Move,
    /// A link to the first argument is made at the second.
    Link,
    /// A path is opened with a mode.
    Open,
    /// Perl's `open`.
    PerlOpen,
    /// The argument is SQL.
    Sql(u8),
    /// The first argument that is text is SQL.
    SqlAny,
    /// It has the effect of this SQL; `{}` is the first argument.
    SqlText(&'static str),
    /// It has the effect of this line; `{}` is the first argument.
    RunText(&'static str),
    /// The argument is code of the same language.
    Eval(u8),
    /// The last argument is code of the same language.
    EvalLast,
    /// The first argument is a path that is changed if an option of that name is on.
    ChangeIf(&'static str),
    /// The first argument is a function's name, the others are its arguments.
    CallFirst,
    /// The first argument is fetched.
    Fetch,
    /// The first argument is fetched into the file that is the second.
    FetchTo,
    /// It only makes a value.
    Pure(Pure),
}

/// Functions that only make a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pure {
    /// A module by its name.
    Import,
    /// A member by its name.
    Member,
    /// Paths after one another, as text.
    JoinPath,
    /// Paths after one another, as a path object.
    NewPath,
    /// `~` becomes the home folder.
    ExpandHome,
    /// The first argument as it is.
    Same,
    /// Decodes base64.
    Base64,
    /// Decodes hexadecimal digits.
    Hex,
    /// Characters by their numbers.
    Char,
    /// Splits as a shell does.
    SplitShell,
    /// Joins a list with the first argument.
    JoinList,
    /// Files that match a pattern, or are in a folder.
    Glob,
    /// What a file holds.
    ReadFile,
    /// Goes to another folder.
    Chdir,
}

/// A function's full name and what it does.
pub(super) type Row = (&'static str, Act);

const DELETE: Act = Act::Delete { recursive: false };
const DELETE_TREE: Act = Act::Delete { recursive: true };
const DELETE_ONE: Act = Act::DeleteFirst { recursive: false };
const DELETE_ONE_TREE: Act = Act::DeleteFirst { recursive: true };

fn table(lang: ScriptLang) -> &'static [Row] {
    match lang {
        ScriptLang::Python => python::TABLE,
        ScriptLang::JavaScript => javascript::TABLE,
        ScriptLang::Perl => perl::TABLE,
        ScriptLang::Ruby => ruby::TABLE,
        ScriptLang::Php => php::TABLE,
        ScriptLang::Lua => lua::TABLE,
        ScriptLang::Awk => &[("system", Act::Shell(0))],
        ScriptLang::PowerShell => &[],
    }
}

/// What the function of that name does.
pub(super) fn find(lang: ScriptLang, name: &str) -> Option<Act> {
    let table = table(lang);
    let lookup = |name: &str| {
        let at = table.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
        table.get(at).map(|(_, act)| *act)
    };
    lookup(name).or_else(|| match lang {
        ScriptLang::JavaScript => {
            let name = ["globalThis.", "global.", "window.", "process.mainModule."]
                .iter()
                .find_map(|owner| name.strip_prefix(owner))
                .unwrap_or(name);
            let member =
                name.strip_prefix("fs.promises.").or_else(|| name.strip_prefix("fs-extra."));
            let member = member
                .or_else(|| name.strip_prefix("fse."))
                .or_else(|| name.strip_prefix("fs.default."));
            match member {
                Some(member) => lookup(&format!("fs.{member}")),
                None => lookup(name.strip_suffix(".default").unwrap_or(name)),
            }
        }
        ScriptLang::Php => lookup(&name.to_ascii_lowercase()),
        ScriptLang::Ruby => lookup(name.strip_prefix("Kernel.")?),
        ScriptLang::Python => {
            let member =
                name.strip_prefix("builtins.").or_else(|| name.strip_prefix("__builtins__."));
            lookup(member?)
        }
        ScriptLang::Perl => lookup(name.strip_prefix("File.Path.")?),
        _ => None,
    })
}

/// The value of a name that every script of that language knows.
pub(super) fn constant(lang: ScriptLang, name: &str) -> Option<Value> {
    let text = match (lang, name) {
        (ScriptLang::Python, "sys.executable") => "python3",
        (ScriptLang::Python, "os.curdir") => ".",
        (ScriptLang::Python, "os.sep") => "/",
        (ScriptLang::Python, "os.devnull" | "subprocess.DEVNULL") => "/dev/null",
        (ScriptLang::JavaScript, "process.execPath") => "node",
        (ScriptLang::JavaScript, "path.sep") => "/",
        (ScriptLang::Php, "PHP_BINARY") => "php",
        (ScriptLang::Php, "DIRECTORY_SEPARATOR") => "/",
        (ScriptLang::Php, "PHP_EOL") => "\n",
        _ => return None,
    };
    debug_assert!(!text.contains(UNKNOWN));
    Some(Value::str(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_by_name() {
        let langs = [
            ScriptLang::Python,
            ScriptLang::JavaScript,
            ScriptLang::Perl,
            ScriptLang::Ruby,
            ScriptLang::Php,
            ScriptLang::Lua,
        ];
        for lang in langs {
            for pair in table(lang).windows(2) {
                assert!(pair[0].0 < pair[1].0, "{lang:?}: {} {}", pair[0].0, pair[1].0);
            }
        }
    }
}
