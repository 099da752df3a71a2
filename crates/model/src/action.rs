//! What somebody wants to do, before anybody knows what it would cause.

use serde::{Deserialize, Serialize};

/// One thing that an agent or a person wants to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// A line or script given to bash.
    Shell {
        /// The text as bash would read it.
        command: String,
    },
    /// A program with its arguments, as `execve` would see them: no shell in between.
    Exec {
        /// Program name and arguments.
        argv: Vec<String>,
    },
    /// SQL text on its way to a database.
    Sql {
        /// The statements.
        text: String,
        /// Whose SQL it is.
        dialect: SqlDialect,
    },
    /// A patch on its way to `git apply`.
    Patch {
        /// The bytes of the patch.
        patch: Vec<u8>,
    },
    /// A call of one of an agent's tools.
    Tool(ToolCall),
}

/// A tool's name and its JSON arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name as the agent says it (`Bash`, `Edit`, `mcp__db__query` …).
    pub name: String,
    /// The arguments as the agent gave them.
    pub args: serde_json::Value,
}

/// Whose SQL a text is, as far as lexing it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqlDialect {
    /// Not known: read so that nothing is missed.
    #[default]
    Generic,
    /// PostgreSQL and its relatives.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// SQLite.
    Sqlite,
    /// Microsoft SQL Server.
    Mssql,
}
