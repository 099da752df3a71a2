//! What a method does, by its name and what it is called on: paths, texts, databases.

use aurora_model::Touch;

use super::super::shell::machine::ScriptLang;
use super::What;
use super::call::Args;
use super::reader::Reader;
use super::value::{Value, concat, format_braces, join, join_path, replace, split_words};

/// What a method does with what it is called on.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// The receiver is a path that goes away.
    DeleteSelf { recursive: bool },
    /// The receiver is a path that is changed.
    ChangeSelf(Touch),
    /// The receiver is a path that is opened with a mode.
    OpenSelf,
    /// The receiver gets the argument as its name.
    MoveSelf,
    /// The receiver becomes a link to the argument.
    LinkSelf,
    /// The first argument is SQL.
    Sql,
    /// The first argument is SQL if the receiver looks like a database.
    SqlOfDatabase,
    /// All tables go.
    DropAll,
    /// The receiver is a table that goes, if it is a member of `db`.
    DropCollection,
    /// Every row of the receiver goes, unless something was selected.
    DeleteRows,
    /// Every document goes when the filter is empty.
    DeleteMany,
    /// The receiver is a table that is emptied.
    EmptyTable,
}

use Does::{
    ChangeSelf, DeleteMany, DeleteRows, DeleteSelf, DropAll, DropCollection, EmptyTable, LinkSelf,
    MoveSelf, OpenSelf, Sql, SqlOfDatabase,
};

type Row = (&'static str, Does);

const PYTHON: &[Row] = &[
    ("chmod", ChangeSelf(Touch::Mode)),
    ("delete", DeleteRows),
    ("driver_sql", Sql),
    ("drop_all", DropAll),
    ("exec_driver_sql", Sql),
    ("execute", Sql),
    ("executemany", Sql),
    ("executescript", Sql),
    ("hardlink_to", LinkSelf),
    ("lchmod", ChangeSelf(Touch::Mode)),
    ("open", OpenSelf),
    ("rename", MoveSelf),
    ("replace", MoveSelf),
    ("rmtree", DeleteSelf { recursive: true }),
    ("symlink_to", LinkSelf),
    ("touch", ChangeSelf(Touch::Create)),
    ("unlink", DeleteSelf { recursive: false }),
    ("write_bytes", ChangeSelf(Touch::Write)),
    ("write_text", ChangeSelf(Touch::Write)),
];

const JAVASCRIPT: &[Row] = &[
    ("$executeRawUnsafe", Sql),
    ("$queryRawUnsafe", Sql),
    ("deleteMany", DeleteMany),
    ("drop", DropCollection),
    ("dropAllTables", DropAll),
    ("dropDatabase", DropAll),
    ("dropTable", DropAll),
    ("dropTableIfExists", DropAll),
    ("exec", SqlOfDatabase),
    ("execute", SqlOfDatabase),
    ("prepare", SqlOfDatabase),
    ("query", Sql),
    ("raw", SqlOfDatabase),
    ("remove", DeleteMany),
    ("run", SqlOfDatabase),
    ("truncate", EmptyTable),
    ("unsafe", SqlOfDatabase),
];

const RUBY: &[Row] = &[
    ("delete", DeleteSelf { recursive: false }),
    ("delete_all", DeleteRows),
    ("destroy_all", DeleteRows),
    ("drop_database", DropAll),
    ("drop_table", DropAll),
    ("exec", SqlOfDatabase),
    ("exec_query", Sql),
    ("execute", Sql),
    ("execute_batch", Sql),
    ("query", SqlOfDatabase),
    ("rmtree", DeleteSelf { recursive: true }),
    ("truncate", EmptyTable),
    ("truncate_tables", EmptyTable),
    ("unlink", DeleteSelf { recursive: false }),
    ("write", ChangeSelf(Touch::Write)),
];

const PHP: &[Row] = &[
    ("exec", Sql),
    ("executeQuery", Sql),
    ("executeStatement", Sql),
    ("multi_query", Sql),
    ("prepare", Sql),
    ("query", Sql),
    ("real_query", Sql),
    ("truncate", EmptyTable),
    ("unprepared", Sql),
];

const PERL: &[Row] = &[
    ("do", SqlOfDatabase),
    ("execute", SqlOfDatabase),
    ("prepare", SqlOfDatabase),
    ("remove", DeleteSelf { recursive: false }),
    ("remove_tree", DeleteSelf { recursive: true }),
    ("spew", ChangeSelf(Touch::Write)),
];

const LUA: &[Row] = &[("exec", SqlOfDatabase), ("execute", Sql)];

fn rows(lang: ScriptLang) -> &'static [Row] {
    match lang {
        ScriptLang::Python => PYTHON,
        ScriptLang::JavaScript => JAVASCRIPT,
        ScriptLang::Ruby => RUBY,
        ScriptLang::Php => PHP,
        ScriptLang::Perl => PERL,
        ScriptLang::Lua => LUA,
        ScriptLang::Awk | ScriptLang::PowerShell => &[],
    }
}

fn find(lang: ScriptLang, method: &str) -> Option<Does> {
    let rows = rows(lang);
    let at = rows.binary_search_by(|(name, _)| (*name).cmp(method)).ok()?;
    rows.get(at).map(|(_, does)| *does)
}

/// Whether a dotted name ends in a method with a model, so that Ruby calls it without parentheses.
pub(super) fn is_modelled(lang: ScriptLang, name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, method)| find(lang, method).is_some())
}

/// Whether a variable's name says that it is a connection to a database.
fn looks_like_database(owner: &Value) -> bool {
    let Value::Name(name) = owner else { return false };
    let name = name.to_ascii_lowercase();
    ["db", "conn", "pool", "client", "sql", "cur", "engine", "session", "knex", "pg", "database"]
        .iter()
        .any(|word| name.contains(word))
}

/// A table's name, from the dotted name of an object.
fn table_of(owner: &Value) -> String {
    match owner {
        Value::Name(name) => {
            let name = name.trim_end_matches("()");
            name.split('.').next_back().unwrap_or(name).trim_start_matches('$').to_owned()
        }
        _ => "it".to_owned(),
    }
}

impl Reader<'_> {
    /// Calls a method; nothing when nothing is known of it.
    pub(super) fn call_method(
        &mut self,
        owner: &Value,
        method: &str,
        args: &Args,
        start: usize,
    ) -> Option<Value> {
        if let Some(value) = self.text_method(owner, method, args) {
            return Some(value);
        }
        let does = find(self.lang, method)?;
        let path = matches!(owner, Value::Path(_));
        let object = path || matches!(owner, Value::Name(_) | Value::OneOf(_) | Value::Glob(_));
        match does {
            DeleteSelf { recursive } if object && self.deletes(owner, method, args) => {
                self.delete(std::slice::from_ref(owner), recursive, start);
            }
            ChangeSelf(touch) if object && (path || self.lang == ScriptLang::Python) => {
                self.change(owner, touch, start);
            }
            OpenSelf if path || (object && matches!(args.get(0, "mode"), Value::Str(_))) => {
                return Some(self.open_file(owner, args.get(0, "mode"), start));
            }
            MoveSelf if path => {
                self.change(owner, Touch::Rename, start);
                self.change(args.at(0), Touch::Rename, start);
            }
            LinkSelf if object => {
                self.change(owner, Touch::Link, start);
                self.change(args.at(0), Touch::Link, start);
            }
            Sql => self.sql(args.at(0), start),
            SqlOfDatabase if looks_like_database(owner) => self.sql(args.at(0), start),
            DropAll | DropCollection | DeleteRows | DeleteMany | EmptyTable => {
                self.database(does, owner, method, args, start);
            }
            _ => return None,
        }
        Some(Value::Unknown)
    }

    /// Ruby's `delete` belongs to many things; it deletes a file when called on a path alone.
    fn deletes(&self, owner: &Value, method: &str, args: &Args) -> bool {
        match self.lang {
            ScriptLang::Ruby => matches!(owner, Value::Path(_)) && args.pos.is_empty(),
            ScriptLang::Perl => {
                matches!(owner, Value::Path(_))
                    || (method == "remove_tree" && matches!(owner, Value::Name(_)))
            }
            _ => true,
        }
    }

    fn database(&mut self, does: Does, owner: &Value, method: &str, args: &Args, start: usize) {
        let name = match owner {
            Value::Name(name) => name.as_str(),
            _ => return,
        };
        let text = match does {
            DropAll if matches!(method, "dropDatabase" | "drop_database") => {
                "DROP DATABASE all_of_it".to_owned()
            }
            DropAll => {
                let table = args.at(0).known().unwrap_or_else(|| "all_tables".to_owned());
                format!("DROP TABLE {table}")
            }
            DropCollection if name.starts_with("db.") || name.contains("queryInterface") => {
                format!("DROP TABLE {}", table_of(owner))
            }
            DeleteRows if name.ends_with(".objects.all()") => {
                let model = name.trim_end_matches(".objects.all()");
                format!("DELETE FROM {model}")
            }
            DeleteRows if method != "delete" && !name.contains("()") && args.pos.is_empty() => {
                format!("DELETE FROM {}", table_of(owner))
            }
            DeleteMany if method == "deleteMany" || name.starts_with("db.") => {
                let every = match args.pos.first() {
                    None => method == "deleteMany",
                    Some(Value::Dict(filter)) => {
                        filter.is_empty()
                            || filter.iter().all(|(key, value)| {
                                key == "where" && *value == Value::Dict(Vec::new())
                            })
                    }
                    _ => false,
                };
                if !every {
                    return;
                }
                format!("DELETE FROM {}", table_of(owner))
            }
            EmptyTable if self.lang != ScriptLang::JavaScript || looks_like_database(owner) => {
                format!("TRUNCATE TABLE {}", table_of(owner))
            }
            _ => return,
        };
        self.emit(What::Sql { text: Some(text) }, start);
    }

    /// Methods that only build text, lists and paths.
    fn text_method(&mut self, owner: &Value, method: &str, args: &Args) -> Option<Value> {
        let first = args.at(0);
        Some(match (owner, method) {
            (Value::Str(text), "join") => match first {
                Value::List(values) => join(values, text),
                _ => Value::Unknown,
            },
            (Value::List(values), "join") => {
                let separator = args.pos.first().map_or_else(|| ",".to_owned(), Value::text);
                join(values, &separator)
            }
            (Value::List(values), "reverse" | "reversed") => {
                Value::List(values.iter().rev().cloned().collect())
            }
            (Value::List(values), "concat") => {
                let mut values = values.clone();
                match first {
                    Value::List(more) => values.extend(more.iter().cloned()),
                    other => values.push(other.clone()),
                }
                Value::list(values)
            }
            (Value::Str(text), "split") => match first {
                Value::Str(separator) if separator.is_empty() => {
                    Value::list(text.chars().map(|c| Value::Str(c.to_string())).collect())
                }
                Value::Str(separator) if separator != " " => {
                    Value::list(text.split(separator.as_str()).map(Value::str).collect())
                }
                _ => Value::list(split_words(text, false)),
            },
            (Value::Str(text), "format") => format_braces(text, &args.pos, &args.named),
            (Value::Str(text), "replace" | "replaceAll" | "gsub") => match (first, args.at(1)) {
                (Value::Str(from), Value::Str(to)) => replace(text, from, to),
                _ => Value::Unknown,
            },
            (Value::Str(_), "concat") => concat(owner, first),
            (Value::Str(text), "lower" | "toLowerCase" | "downcase") => {
                Value::string(text.to_lowercase())
            }
            (Value::Str(text), "upper" | "toUpperCase" | "upcase") => {
                Value::string(text.to_uppercase())
            }
            (Value::Str(text), "strip" | "trim" | "rstrip" | "chomp") => {
                Value::Str(text.trim().to_owned())
            }
            (Value::Str(text), "reverse") => Value::Str(text.chars().rev().collect()),
            (
                Value::Str(_) | Value::Path(_) | Value::List(_),
                "decode" | "encode" | "toString" | "to_s" | "resolve" | "absolute" | "freeze"
                | "expanduser" | "expand_path" | "as_posix" | "flatten" | "compact" | "to_a",
            ) => owner.clone(),
            (Value::Path(path), "joinpath" | "join") => {
                let mut path = path.clone();
                for value in &args.pos {
                    path = join_path(&path, &value.text());
                }
                Value::path(path)
            }
            (Value::Path(path), "glob" | "rglob" | "iterdir" | "children" | "each_child") => {
                let pattern = args.pos.first().map_or_else(|| "*".to_owned(), Value::text);
                Value::glob(join_path(path, &pattern))
            }
            (Value::Path(_), "read_text" | "read_bytes" | "read") => Value::File,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_sorted_by_name() {
        for rows in [PYTHON, JAVASCRIPT, RUBY, PHP, PERL, LUA] {
            assert!(rows.is_sorted_by(|a, b| a.0 < b.0), "{rows:?}");
        }
    }
}
