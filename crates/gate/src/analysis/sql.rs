//! Placeholder.
#![allow(missing_docs, reason = "stand-in")]
use aurora_model::{Span, SqlDialect};
pub struct SqlFinding {
    pub kind: SqlKind,
    pub span: Span,
}
pub enum SqlKind {
    Drop { object: String },
    Truncate { object: String },
    ChangeAllRows { statement: String },
    Shell { command: String },
    Include { file: String },
    Opaque { why: String },
}
pub fn analyse(_text: &str, _dialect: SqlDialect) -> Vec<SqlFinding> {
    Vec::new()
}
