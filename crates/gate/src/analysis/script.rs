//! Placeholder.
#![allow(missing_docs, reason = "stand-in")]
use super::shell::machine::ScriptLang;
use aurora_model::{Span, Touch};
pub struct ScriptFinding {
    pub what: What,
    pub in_loop: bool,
    pub span: Span,
}
pub enum What {
    Run { command: Option<String>, argv: Option<Vec<Option<String>>>, input: Option<String> },
    Delete { paths: Vec<Option<String>>, recursive: bool, many: bool },
    Change { path: Option<String>, touch: Touch },
    Sql { text: Option<String> },
    Wipe { device: String },
    Fetch { target: Option<String> },
    Opaque { why: &'static str },
}
pub fn analyse(_lang: ScriptLang, _code: &str) -> Vec<ScriptFinding> {
    Vec::new()
}
