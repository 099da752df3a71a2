//! Shell text to effects: parse, expand words abstractly, take off wrappers, ask each command's model.

pub mod ast;
pub mod command;
pub mod field;
pub mod machine;
