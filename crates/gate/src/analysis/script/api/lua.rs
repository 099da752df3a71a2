//! What Lua's functions do.

use aurora_model::Touch;

use super::{Act, DELETE_ONE, Pure, Row};

/// By full name, sorted.
pub(super) const TABLE: &[Row] = &[
    ("fs.delete", DELETE_ONE),
    ("io.open", Act::Open),
    ("io.output", Act::Change(0, Touch::Write)),
    ("io.popen", Act::Shell(0)),
    ("load", Act::Eval(0)),
    ("loadstring", Act::Eval(0)),
    ("os.execute", Act::Shell(0)),
    ("os.remove", DELETE_ONE),
    ("os.rename", Act::Move),
    ("require", Act::Pure(Pure::Import)),
    ("string.char", Act::Pure(Pure::Char)),
    ("tostring", Act::Pure(Pure::Same)),
    ("vim.fn.delete", DELETE_ONE),
    ("vim.fn.jobstart", Act::Program),
    ("vim.fn.system", Act::ShellOrArgs),
    ("vim.system", Act::Program),
];
