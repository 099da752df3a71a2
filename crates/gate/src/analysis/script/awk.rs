//! awk programs: rules run once for each line, strings join by standing beside one another.

use aurora_model::Touch;

use super::super::shell::machine::ScriptLang;
use super::lexer::Kind;
use super::reader::Reader;
use super::value::Value;
use super::{Nesting, ScriptFinding, What};

/// What an awk program would do.
pub(super) fn analyse(code: &str, nesting: Nesting) -> Vec<ScriptFinding> {
    let mut reader = Reader::new(ScriptLang::Awk, code, nesting);
    while reader.at < reader.tokens.len() {
        // `BEGIN` and `END` run once; every other rule runs for each line.
        let once = reader.word("BEGIN") || reader.word("END");
        if once {
            reader.at += 1;
        }
        reader.loops += u32::from(!once);
        rule(&mut reader);
        reader.loops -= u32::from(!once);
    }
    reader.findings
}

/// One rule: a pattern, then its action in braces.
fn rule(reader: &mut Reader<'_>) {
    let before = reader.at;
    while reader.at < reader.tokens.len() {
        match reader.kind() {
            Some(Kind::Open(b'{')) => {
                reader.at += 1;
                action(reader);
                break;
            }
            Some(Kind::Newline(_)) => {
                reader.at += 1;
                break;
            }
            _ => simple(reader),
        }
    }
    if reader.at == before {
        reader.at += 1;
    }
}

fn action(reader: &mut Reader<'_>) {
    if !reader.enter() {
        reader.leave();
        reader.at = reader.tokens.len();
        return;
    }
    while reader.at < reader.tokens.len() {
        match reader.kind() {
            Some(Kind::Close(b'}')) => {
                reader.at += 1;
                break;
            }
            Some(Kind::Open(b'{')) => {
                reader.at += 1;
                action(reader);
            }
            _ => {
                let looping = reader.word("for") || reader.word("while") || reader.word("do");
                reader.loops += u32::from(looping);
                simple(reader);
                match reader.kind() {
                    Some(Kind::Open(b'{')) if looping => {
                        reader.at += 1;
                        action(reader);
                    }
                    _ if looping => simple(reader),
                    _ => {}
                }
                reader.loops -= u32::from(looping);
            }
        }
    }
    reader.leave();
}

/// One expression or `print`, with the file or command that its output goes to.
fn simple(reader: &mut Reader<'_>) {
    let start = reader.start();
    let before = reader.at;
    let prints = reader.word("print") || reader.word("printf");
    let name = reader.text_at(0).to_owned();
    if reader.kind() == Some(&Kind::Ident) && reader.text_at(1) == "=" {
        reader.at += 2;
        let value = reader.expression();
        // A variable that a rule changes for each line is known only if it is set once.
        let value = if reader.loops > 1 { Value::Unknown } else { value };
        reader.bind(name, value);
        return;
    }
    let value = if prints {
        reader.at += 1;
        reader.expression_list()
    } else {
        reader.expression()
    };
    redirection(reader, prints, &value, start);
    if reader.at == before {
        reader.at += 1;
    }
}

fn redirection(reader: &mut Reader<'_>, prints: bool, value: &Value, start: usize) {
    let operator = reader.text_at(0);
    if prints && matches!(operator, ">" | ">>") {
        reader.at += 1;
        let path = reader.expression();
        let touch = if operator == ">" { Touch::Write } else { Touch::Append };
        reader.change(&path, touch, start);
    } else if operator == "|" {
        reader.at += 1;
        reader.take_op("&");
        let command = reader.expression().known();
        let input = value.known().or_else(|| Some(super::UNKNOWN.to_string()));
        reader.emit(What::Run { command, argv: None, input }, start);
    } else if matches!(operator, ">" | ">>") {
        reader.at += 1;
        reader.expression();
    }
}
