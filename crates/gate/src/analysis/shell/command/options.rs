//! One reader of options for all commands' models, with the meaning of GNU getopt.

use crate::analysis::shell::field::Field;

/// What a program's options look like.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Letters whose value follows: `-oVALUE` or `-o VALUE`.
    pub short_values: &'static str,
    /// Letters with an optional value that is glued on: `-i.bak`.
    pub short_optional: &'static str,
    /// Names whose value follows: `--name VALUE` or `--name=VALUE`.
    pub long_values: &'static [&'static str],
    /// Names without a value, known so that abbreviations resolve.
    pub long_flags: &'static [&'static str],
    /// Names with an optional value: `--name` or `--name=VALUE`.
    pub long_optional: &'static [&'static str],
    /// Where options may stand.
    pub style: Style,
}

/// Where options may stand, and how many dashes a name takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Anywhere before `--`.
    Permute,
    /// Only before the first operand.
    StopAtOperand,
    /// Anywhere, and `-name` is one name, never a group of letters.
    SingleDash,
}

/// How an option is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptName {
    /// `-x`.
    Short(char),
    /// `--name`, in full where the abbreviation is known.
    Long(String),
}

/// One option as it was given; an ambiguous abbreviation gives one for each candidate.
#[derive(Debug, Clone)]
pub struct Opt<'a> {
    /// Its name.
    pub name: OptName,
    /// Its value, glued on or in the next argument.
    pub value: Option<Field>,
    /// The argument in which it stands.
    pub field: &'a Field,
    /// The number of that argument.
    pub index: usize,
}

/// Arguments, sorted into options and operands.
#[derive(Debug, Clone, Default)]
pub struct Parsed<'a> {
    /// The options in order.
    pub opts: Vec<Opt<'a>>,
    /// The operands in order.
    pub operands: Vec<&'a Field>,
    /// The argument number of each operand.
    pub operand_indices: Vec<usize>,
    /// An unknown argument could hide options or operands.
    pub unknown_many: bool,
    /// How many operands stand before `--`, when there is one.
    pub after_dashdash: Option<usize>,
}

impl Spec {
    /// A program whose options all stand alone and may stand anywhere.
    pub const FLAGS: Self = Self {
        short_values: "",
        short_optional: "",
        long_values: &[],
        long_flags: &[],
        long_optional: &[],
        style: Style::Permute,
    };

    /// Sorts arguments into options and operands.
    #[must_use]
    pub fn parse<'a>(&self, args: &'a [Field]) -> Parsed<'a> {
        let mut parsed = Parsed::default();
        let mut index = 0;
        while let Some(field) = args.get(index) {
            parsed.unknown_many |= field.many && field.has_any();
            let next = args.get(index + 1);
            if field.is("--") {
                parsed.after_dashdash = Some(parsed.operands.len());
                parsed.take_rest(args, index + 1);
                break;
            }
            let prefix = field.prefix();
            let took_next = if field.is("-") || !prefix.starts_with('-') {
                parsed.operands.push(field);
                parsed.operand_indices.push(index);
                if self.style == Style::StopAtOperand {
                    parsed.take_rest(args, index + 1);
                    break;
                }
                false
            } else if let Some(rest) = field.strip_prefix("--") {
                self.long(&mut parsed, rest, field, index, next)
            } else if self.style == Style::SingleDash
                && prefix.chars().nth(2).is_some_and(|third| third != '=')
            {
                match field.strip_prefix("-") {
                    Some(rest) => self.long(&mut parsed, rest, field, index, next),
                    None => false,
                }
            } else {
                self.group(&mut parsed, field, index, next)
            };
            if took_next {
                parsed.unknown_many |= next.is_some_and(|next| next.many && next.has_any());
            }
            index += if took_next { 2 } else { 1 };
        }
        parsed
    }

    /// Reads one long option; says whether it took the next argument as its value.
    fn long<'a>(
        &self,
        parsed: &mut Parsed<'a>,
        rest: Field,
        field: &'a Field,
        index: usize,
        next: Option<&'a Field>,
    ) -> bool {
        let (name, glued) = match rest.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (rest, None),
        };
        let Some(name) = name.text() else {
            parsed.unknown_many = true;
            parsed.opts.push(Opt {
                name: OptName::Long(name.prefix().to_owned()),
                value: glued,
                field,
                index,
            });
            return false;
        };
        let names = self.resolve(name);
        let takes_next =
            glued.is_none() && names.iter().all(|name| self.long_values.contains(&name.as_str()));
        let value = if takes_next { next.cloned() } else { glued };
        for name in names {
            parsed.opts.push(Opt { name: OptName::Long(name), value: value.clone(), field, index });
        }
        takes_next && next.is_some()
    }

    /// Reads a group of letters; says whether it took the next argument as its value.
    fn group<'a>(
        &self,
        parsed: &mut Parsed<'a>,
        field: &'a Field,
        index: usize,
        next: Option<&'a Field>,
    ) -> bool {
        let Some(mut rest) = field.strip_prefix("-") else { return false };
        while let Some(letter) = rest.prefix().chars().next() {
            let Some(after) = rest.strip_prefix(letter.encode_utf8(&mut [0; 4])) else { break };
            let name = OptName::Short(letter);
            let empty = after.segs().is_empty();
            if self.style == Style::SingleDash
                && let Some(value) = after.strip_prefix("=")
            {
                parsed.opts.push(Opt { name, value: Some(value), field, index });
                return false;
            }
            if self.short_values.contains(letter) {
                let value = if empty { next.cloned() } else { Some(after) };
                parsed.opts.push(Opt { name, value, field, index });
                return empty && next.is_some();
            }
            if self.short_optional.contains(letter) {
                let value = if empty { None } else { Some(after) };
                parsed.opts.push(Opt { name, value, field, index });
                return false;
            }
            parsed.opts.push(Opt { name, value: None, field, index });
            rest = after;
        }
        // What is left starts with something unknown: more letters than can be seen.
        parsed.unknown_many |= !rest.segs().is_empty();
        false
    }

    /// The full names that a written name may stand for: itself when nothing is known of it.
    fn resolve(&self, written: &str) -> Vec<String> {
        let known =
            || [self.long_values, self.long_flags, self.long_optional].into_iter().flatten();
        if written.is_empty() || known().any(|name| *name == written) {
            return vec![written.to_owned()];
        }
        let mut found: Vec<String> = known()
            .filter(|name| name.starts_with(written))
            .map(|name| (*name).to_owned())
            .collect();
        if let Some(negated) = written.strip_prefix("no-") {
            let exact = known().any(|name| *name == negated);
            let negations = known()
                .filter(|name| if exact { **name == negated } else { name.starts_with(negated) });
            found.extend(negations.map(|name| format!("no-{name}")));
        }
        if found.is_empty() {
            found.push(written.to_owned());
        }
        found
    }
}

impl<'a> Parsed<'a> {
    fn take_rest(&mut self, args: &'a [Field], from: usize) {
        for (index, field) in args.iter().enumerate().skip(from) {
            self.unknown_many |= field.many && field.has_any();
            self.operands.push(field);
            self.operand_indices.push(index);
        }
    }

    /// Whether an option was given; `'\0'` or `""` where there is no such spelling.
    #[must_use]
    pub fn has(&self, short: char, long: &str) -> bool {
        self.opts.iter().any(|opt| opt.name.is(short, long))
    }

    /// The last value given to an option.
    #[must_use]
    pub fn value(&self, short: char, long: &str) -> Option<&Field> {
        self.values(short, long).pop()
    }

    /// All values given to an option.
    #[must_use]
    pub fn values(&self, short: char, long: &str) -> Vec<&Field> {
        self.opts
            .iter()
            .filter(|opt| opt.name.is(short, long))
            .filter_map(|opt| opt.value.as_ref())
            .collect()
    }

    /// Whether the last of `--name` and `--no-name` switched it on.
    #[must_use]
    pub fn switched_on(&self, short: char, long: &str) -> bool {
        let mut on = false;
        for opt in &self.opts {
            if opt.name.is(short, long) {
                on = true;
            } else if let OptName::Long(name) = &opt.name {
                on &= name.strip_prefix("no-") != Some(long);
            }
        }
        on
    }

    /// The operands before `--`.
    #[must_use]
    pub fn before_dashdash(&self) -> &[&'a Field] {
        let count = self.after_dashdash.unwrap_or(self.operands.len());
        self.operands.get(..count).unwrap_or_default()
    }

    /// The operands after `--`.
    #[must_use]
    pub fn behind_dashdash(&self) -> &[&'a Field] {
        let count = self.after_dashdash.unwrap_or(self.operands.len());
        self.operands.get(count..).unwrap_or_default()
    }
}

impl OptName {
    /// Whether it is one of these two spellings.
    #[must_use]
    pub fn is(&self, short: char, long: &str) -> bool {
        match self {
            Self::Short(letter) => *letter == short,
            Self::Long(name) => !long.is_empty() && name == long,
        }
    }
}

#[cfg(test)]
mod tests {
    use aurora_model::Span;

    use super::*;

    const SPEC: Spec = Spec {
        short_values: "on",
        short_optional: "i",
        long_values: &["output", "number"],
        long_flags: &["force", "force-with-lease", "recursive"],
        long_optional: &["color"],
        style: Style::Permute,
    };

    fn check(spec: Spec, words: &[&str], expected: &str) {
        let fields: Vec<Field> = words.iter().map(|word| field(word)).collect();
        let parsed = spec.parse(&fields);
        let mut out: Vec<String> = Vec::new();
        for opt in &parsed.opts {
            let name = match &opt.name {
                OptName::Short(letter) => format!("-{letter}"),
                OptName::Long(name) => format!("--{name}"),
            };
            let value = opt.value.as_ref().map(|value| format!("={}", value.display()));
            out.push(name + &value.unwrap_or_default());
        }
        out.push("|".to_owned());
        out.extend(parsed.operands.iter().map(|operand| operand.display()));
        if parsed.unknown_many {
            out.push("?".to_owned());
        }
        assert_eq!(out.join(" "), expected, "{words:?}");
    }

    /// `$` stands for an unknown unquoted part.
    fn field(word: &str) -> Field {
        let mut out = Field::lit("", Span::default());
        for (index, part) in word.split('$').enumerate() {
            if index > 0 {
                out.push_any(true);
            }
            out.push_lit(part);
        }
        out
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        check(SPEC, &["-rf", "a"], "-r -f | a");
        check(SPEC, &["a", "-rofile", "b"], "-r -o=file | a b");
        check(SPEC, &["-ro", "file", "b"], "-r -o=file | b");
        check(SPEC, &["-i.bak", "-i", "x"], "-i=.bak -i | x");
        check(SPEC, &["--output", "x", "--output=y", "z"], "--output=x --output=y | z");
        check(SPEC, &["--color", "x", "--color=always"], "--color --color=always | x");
        check(SPEC, &["--", "-r", "x"], "| -r x");
        check(SPEC, &["-", "-n"], "-n | -");
    }

    #[test]
    fn abbreviations_resolve_and_ambiguous_ones_keep_every_candidate() {
        check(SPEC, &["--rec"], "--recursive |");
        check(SPEC, &["--out", "x"], "--output=x |");
        check(SPEC, &["--force"], "--force |");
        check(SPEC, &["--forc"], "--force --force-with-lease |");
        check(SPEC, &["--force-w=x"], "--force-with-lease=x |");
        check(SPEC, &["--no-force"], "--no-force |");
        check(SPEC, &["--no-rec"], "--no-recursive |");
        check(SPEC, &["--strange"], "--strange |");
    }

    #[test]
    fn styles_differ_in_where_options_stand() {
        let stop = Spec { style: Style::StopAtOperand, ..SPEC };
        check(stop, &["-n", "5", "cmd", "-r"], "-n=5 | cmd -r");
        let single = Spec { style: Style::SingleDash, ..SPEC };
        check(single, &["-output", "x", "-recursive", "y"], "--output=x --recursive | y");
        check(single, &["-o=x", "y"], "-o=x | y");
    }

    #[test]
    fn unknown_parts_are_kept_and_noted() {
        check(SPEC, &["$", "x"], "| … x ?");
        check(SPEC, &["--output=$"], "--output=… | ?");
        check(SPEC, &["-r$"], "-r | ?");
        check(SPEC, &["--$"], "-- | ?");
    }
}
