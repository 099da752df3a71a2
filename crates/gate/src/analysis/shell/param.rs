//! Parameter expansion: `$x`, `${x:-y}`, `${x#y}`, `${x/a/b}`, `"$@"` and the rest.

use super::ast::{Index, Param, ParamOp, Part};
use super::field::Field;
use super::machine::Machine;
use super::pattern;
use super::scope::Value;

/// Longer texts are not transformed.
const MAX_TRANSFORMED: usize = 1_024;
/// Variables that always hold one number or word, never several.
const SINGLE: [&str; 14] = [
    "?", "$", "!", "#", "-", "RANDOM", "UID", "EUID", "PPID", "SECONDS", "LINENO", "BASHPID",
    "SHLVL", "OPTIND",
];

impl Machine<'_> {
    /// The values of a parameter: one for a scalar, as many as there are for `@` and arrays.
    pub(super) fn param(&mut self, param: &Param, quoted: bool) -> Vec<Field> {
        let span = self.place(param.span);
        if let Some(Index::One(parts)) = &param.index {
            self.discover(parts);
        }
        if param.length {
            return vec![Field::unknown(false, span)];
        }
        let mut values = if param.indirect {
            self.indirect(param)
        } else {
            self.lookup(&param.name, param.index.as_ref())
        };
        if let Some(values) = &mut values {
            for value in values {
                value.span = span;
            }
        }
        let known = values.as_ref().is_some_and(|values| {
            values.iter().all(|value| value.text().is_some_and(|text| !text.is_empty()))
                && !values.is_empty()
        });
        match &param.op {
            ParamOp::None => {}
            ParamOp::Error(word) => self.discover(word),
            ParamOp::Default(word) | ParamOp::Assign(word) => {
                if known {
                    return values.unwrap_or_default();
                }
                let default = self.joined_parts(word);
                // The environment may set it, so both are possible; a program's name is taken to
                // be the default that its author wrote.
                let is_empty = values.as_ref().is_some_and(|v| v.iter().all(|v| v.is("")));
                if is_empty || self.naming || self.choose(2) == 0 {
                    if matches!(param.op, ParamOp::Assign(_)) {
                        self.scope.set(&param.name, default.clone());
                    }
                    return vec![default];
                }
                return vec![Field::unknown(!quoted, span)];
            }
            ParamOp::Alternative(word) => {
                let word = self.joined_parts(word);
                let empty = values.as_ref().is_some_and(|v| v.iter().all(|v| v.is("")));
                if known || (!empty && self.choose(2) == 0) {
                    return vec![word];
                }
                return Vec::new();
            }
            ParamOp::Slice(offset, length)
                if param.name == "@" || param.index == Some(Index::All) =>
            {
                return self.slice_list(values, param, offset, length.as_deref());
            }
            op => {
                let values = values.unwrap_or_else(|| vec![Field::unknown(!quoted, span)]);
                return values.iter().map(|value| self.transform(value, op, quoted)).collect();
            }
        }
        values.unwrap_or_else(|| vec![self.unset(&param.name, quoted, param)])
    }

    /// `${a[@]:1:2}` and `${@:2}`: some of the elements.
    fn slice_list(
        &mut self,
        values: Option<Vec<Field>>,
        param: &Param,
        offset: &[Part],
        length: Option<&[Part]>,
    ) -> Vec<Field> {
        let unknown = vec![Field::unknown(true, self.place(param.span))];
        let offset = self.number(offset).and_then(|offset| usize::try_from(offset).ok());
        let length = match length {
            Some(parts) => self.number(parts).and_then(|length| usize::try_from(length).ok()),
            None => Some(usize::MAX),
        };
        let (Some(values), Some(offset), Some(length)) = (values, offset, length) else {
            return unknown;
        };
        // Positional parameters count from one.
        let skip = if param.name == "@" { offset.saturating_sub(1) } else { offset };
        values.into_iter().skip(skip).take(length).collect()
    }

    fn unset(&self, name: &str, quoted: bool, param: &Param) -> Field {
        let lists = name == "@" || name == "*" || param.index == Some(Index::All);
        let many = lists || (!quoted && !SINGLE.contains(&name));
        Field::unknown(many, self.place(param.span))
    }

    fn indirect(&mut self, param: &Param) -> Option<Vec<Field>> {
        let target = self.lookup(&param.name, None)?;
        let name = target.first()?.text()?.to_owned();
        self.lookup(&name, param.index.as_ref())
    }

    /// The value of a variable as far as this line or the context set it.
    pub(super) fn lookup(&mut self, name: &str, index: Option<&Index>) -> Option<Vec<Field>> {
        match name {
            "@" | "*" => {
                return self.scope.positional.clone().map(|mut args| {
                    if !args.is_empty() {
                        args.remove(0);
                    }
                    args
                });
            }
            _ => {}
        }
        if let Ok(number) = name.parse::<usize>() {
            let args = self.scope.positional.as_ref()?;
            return Some(vec![args.get(number).cloned().unwrap_or_default()]);
        }
        let Some(value) = self.scope.vars.get(name) else {
            let known = match name {
                "HOME" => self.context.home.clone(),
                "PWD" => self.scope.cwd.clone(),
                "IFS" => Some(" \t\n".to_owned()),
                _ => None,
            };
            return known.map(|text| vec![Field::lit(text, Default::default())]);
        };
        match (value.clone(), index) {
            (Value::Array(values), Some(Index::All)) => Some(values),
            (Value::Array(values), None) => Some(vec![values.first().cloned().unwrap_or_default()]),
            (Value::Array(values), Some(Index::One(parts))) => {
                let index = self.joined_parts(parts);
                let number = index.text().and_then(|text| text.trim().parse::<usize>().ok())?;
                Some(vec![values.get(number).cloned().unwrap_or_default()])
            }
            (Value::OneOf(values), _) => {
                let picked = self.choose(values.len());
                Some(vec![values.get(picked).cloned().unwrap_or_default()])
            }
        }
    }

    fn transform(&mut self, value: &Field, op: &ParamOp, quoted: bool) -> Field {
        let unknown = Field::unknown(!quoted, value.span);
        let Some(text) = value.text().map(str::to_owned) else {
            self.discover_in(op);
            return unknown;
        };
        let searches = matches!(op, ParamOp::Replace(parts, ..) if parts.iter().any(is_pattern));
        if (searches && text.len() > pattern::MAX_SEARCHED)
            || text.len() > MAX_TRANSFORMED
            || !self.pay(1 + text.len() / 8, value.span)
        {
            self.discover_in(op);
            return unknown;
        }
        if matches!(op, ParamOp::Other(operator) if operator == "@P") {
            // As a prompt, the value is expanded once more.
            let code = format!(": \"{}\"", text.replace('"', "\\\""));
            self.run_shell_text(&Field::lit(code, value.span), false);
        }
        let done = match op {
            ParamOp::TrimStart(parts, longest) => {
                self.constant(parts).map(|p| pattern::trim_start(&text, &p, *longest))
            }
            ParamOp::TrimEnd(parts, longest) => {
                self.constant(parts).map(|p| pattern::trim_end(&text, &p, *longest))
            }
            ParamOp::Replace(parts, with, all) => {
                let found = self.constant(parts);
                let with = self.constant(with);
                found.zip(with).map(|(p, with)| pattern::replace(&text, &p, &with, *all))
            }
            ParamOp::Slice(offset, length) => {
                let offset = self.number(offset);
                let length = match length {
                    Some(parts) => self.number(parts).map(Some),
                    None => Some(None),
                };
                offset.zip(length).map(|(offset, length)| slice(&text, offset, length))
            }
            ParamOp::Case(operator, parts) => {
                self.discover(parts);
                case(&text, operator)
            }
            _ => None,
        };
        done.map_or(unknown, |text| Field::lit(text, value.span))
    }

    /// Runs what is substituted in the words of an operator whose result is not known.
    fn discover_in(&mut self, op: &ParamOp) {
        match op {
            ParamOp::TrimStart(parts, _) | ParamOp::TrimEnd(parts, _) => self.discover(parts),
            ParamOp::Replace(parts, with, _) => {
                self.discover(parts);
                self.discover(with);
            }
            ParamOp::Slice(offset, length) => {
                self.discover(offset);
                self.discover(length.as_deref().unwrap_or(&[]));
            }
            ParamOp::Case(_, parts) => self.discover(parts),
            _ => {}
        }
    }

    fn constant(&mut self, parts: &[Part]) -> Option<String> {
        self.joined_parts(parts).text().map(str::to_owned)
    }

    fn number(&mut self, parts: &[Part]) -> Option<i64> {
        self.constant(parts)?.trim().parse().ok()
    }

    /// Picks one of `count` alternatives; the simple command at hand runs once for each.
    pub(super) fn choose(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        let at = self.chosen;
        self.chosen += 1;
        if let Some((picked, _)) = self.choices.get(at) {
            return *picked;
        }
        self.choices.push((0, count));
        0
    }
}

fn is_pattern(part: &Part) -> bool {
    !matches!(part, Part::Lit(_) | Part::Quoted(..))
}

fn slice(text: &str, offset: i64, length: Option<i64>) -> String {
    let chars: Vec<char> = text.chars().collect();
    let size = i64::try_from(chars.len()).unwrap_or(i64::MAX);
    let from = if offset < 0 { (size + offset).max(0) } else { offset.min(size) };
    let to = match length {
        Some(length) if length < 0 => (size + length).max(from),
        Some(length) => from.saturating_add(length).min(size),
        None => size,
    };
    let from = usize::try_from(from).unwrap_or(0);
    let to = usize::try_from(to).unwrap_or(0);
    chars.get(from..to).unwrap_or(&[]).iter().collect()
}

fn case(text: &str, operator: &str) -> Option<String> {
    let mut chars = text.chars();
    Some(match operator {
        "^^" => text.to_uppercase(),
        ",," => text.to_lowercase(),
        "^" => {
            let first = chars.next()?.to_uppercase().collect::<String>();
            first + chars.as_str()
        }
        "," => {
            let first = chars.next()?.to_lowercase().collect::<String>();
            first + chars.as_str()
        }
        _ => return None,
    })
}
