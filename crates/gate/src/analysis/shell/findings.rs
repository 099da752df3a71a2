//! What SQL and scripts would do, said in effects.

use aurora_model::{EffectKind, Span};

use super::expand::UNKNOWN;
use super::field::Field;
use super::machine::{Lang, Machine, Stream};
use super::scope::Base;
use crate::analysis::script::{ScriptFinding, What};
use crate::analysis::sql::{SqlFinding, SqlKind};

/// Text with marks for unknown parts as an argument.
fn argument(text: Option<&str>, span: Span) -> Field {
    let Some(text) = text else { return Field::unknown(false, span) };
    let mut field = Field::lit("", span);
    for (index, piece) in text.split(UNKNOWN).enumerate() {
        if index > 0 {
            field.push_any(false);
        }
        field.push_lit(piece);
    }
    field
}

/// A path in which `*` is a pattern.
fn pattern(text: Option<&str>, span: Span) -> Field {
    let Some(text) = text else { return Field::unknown(true, span) };
    let mut field = Field::lit("", span);
    for piece in text.split_inclusive('*') {
        let plain = piece.strip_suffix('*');
        field.push_field(&argument(Some(plain.unwrap_or(piece)), span));
        if plain.is_some() {
            field.push_glob("*");
        }
    }
    field
}

impl Machine<'_> {
    fn inner_span(&self, base: Base, span: Span) -> Span {
        match base {
            Base::Offset(offset) => Span::new(span.start + offset, span.end + offset),
            Base::Within(span) => span,
        }
    }

    pub(super) fn sql_effects(&mut self, findings: Vec<SqlFinding>, base: Base) {
        for finding in findings {
            let span = self.inner_span(base, finding.span);
            match finding.kind {
                SqlKind::Drop { object } => self.emit(EffectKind::DropObject { object }, span),
                SqlKind::Truncate { object } => self.emit(EffectKind::EmptyTable { object }, span),
                SqlKind::ChangeAllRows { statement } => {
                    self.emit(EffectKind::ChangeAllRows { statement }, span);
                }
                SqlKind::Shell { command } => {
                    let code = argument(Some(&command), span);
                    self.run_code(Lang::Shell, &code);
                }
                SqlKind::Include { file } => {
                    let file = argument(Some(&file), span);
                    self.run_file(Lang::Sql(aurora_model::SqlDialect::Generic), &file);
                }
                SqlKind::Write { file } => {
                    let touch = aurora_model::Touch::Write;
                    self.overwrite(&argument(Some(&file), span), touch, span);
                }
                SqlKind::Opaque { why } => self.opaque("SQL", why, span),
            }
        }
    }

    pub(super) fn script_effects(&mut self, findings: Vec<ScriptFinding>, base: Base) {
        for finding in findings {
            let span = self.inner_span(base, finding.span);
            if finding.in_loop {
                self.repeated(|machine| machine.script_effect(finding.what, span));
            } else {
                self.script_effect(finding.what, span);
            }
        }
    }

    fn script_effect(&mut self, what: What, span: Span) {
        match what {
            What::Run { command, argv, input } => {
                let stdin = match input {
                    Some(text) => Stream::Text(argument(Some(&text), span)),
                    None => Stream::Terminal,
                };
                if let Some(argv) = argv {
                    let argv: Vec<Field> =
                        argv.iter().map(|arg| argument(arg.as_deref(), span)).collect();
                    self.run_argv(&argv, &stdin, span);
                } else if let Some(command) = command {
                    let outer = std::mem::replace(&mut self.stdin, stdin);
                    self.run_code(Lang::Shell, &argument(Some(&command), span));
                    self.stdin = outer;
                } else {
                    self.opaque("a program", "the script decides which one when it runs", span);
                }
            }
            What::Delete { paths, recursive, many } => {
                let targets: Vec<Field> = paths
                    .iter()
                    .map(|path| {
                        if many {
                            pattern(path.as_deref(), span)
                        } else {
                            argument(path.as_deref(), span)
                        }
                    })
                    .collect();
                let targets: Vec<&Field> = targets.iter().collect();
                if many {
                    self.repeated(|machine| machine.delete(&targets, recursive, span));
                } else {
                    self.delete(&targets, recursive, span);
                }
            }
            What::Change { path, touch } => {
                if let Some(path) = path {
                    let target = argument(Some(&path), span);
                    if touch == aurora_model::Touch::Rename && path.starts_with('/') {
                        // It may be the one that goes away, with everything in it.
                        self.change(&target, touch, true);
                    } else {
                        self.overwrite(&target, touch, span);
                    }
                }
            }
            // Programs build their queries all the time; only what is written out counts.
            What::Sql { text: None } => {}
            What::Sql { text: Some(text) } => {
                let code = argument(Some(&text), span);
                self.run_code(Lang::Sql(aurora_model::SqlDialect::Generic), &code);
            }
            What::Wipe { device } => self.emit(EffectKind::WipeDisk { device }, span),
            What::Fetch { target } => {
                let target = target.unwrap_or_else(|| "the network".to_owned());
                self.emit(EffectKind::Network { target }, span);
            }
            What::Opaque { why } => self.opaque("script", why, span),
        }
    }
}
