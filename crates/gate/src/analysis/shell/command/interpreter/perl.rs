//! Perl and Ruby: one-letter options in groups, code in `-e`, files changed in place with `-i`.

use aurora_model::Touch;

use super::super::framework;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

/// Letters and what follows them.
struct Letters {
    /// Their value is the rest of the argument or the next one.
    value: &'static str,
    /// Their value is the rest of the argument, maybe empty.
    glued: &'static str,
    /// Digits may follow.
    digits: &'static str,
}

const PERL: Letters = Letters { value: "I", glued: "iMmFxDdVC", digits: "0l" };
const RUBY: Letters = Letters { value: "rICE", glued: "iFxTWK", digits: "0l" };

#[derive(Debug, Default)]
struct Found {
    codes: Vec<Field>,
    in_place: bool,
    loops: bool,
    checks: bool,
    informs: bool,
    operands: Vec<Field>,
}

fn read(args: &[Field], letters: &Letters, code: &str) -> Found {
    let mut found = Found::default();
    let mut index = 0;
    while let Some(arg) = args.get(index) {
        index += 1;
        let text = arg.prefix();
        if arg.is("--") {
            break;
        }
        if let Some(name) = text.strip_prefix("--") {
            found.informs |= matches!(name, "version" | "help");
            continue;
        }
        if !text.starts_with('-') || text.len() < 2 {
            index -= 1;
            break;
        }
        let Some(mut rest) = arg.strip_prefix("-") else { break };
        while let Some(letter) = rest.prefix().chars().next() {
            let Some(after) = rest.strip_prefix(letter.encode_utf8(&mut [0; 4])) else { break };
            rest = after;
            if code.contains(letter) {
                if rest.segs().is_empty() {
                    found.codes.extend(args.get(index).cloned());
                    index += 1;
                } else {
                    found.codes.push(rest);
                }
                break;
            }
            match letter {
                'n' | 'p' => found.loops = true,
                'c' => found.checks = true,
                'v' => found.informs = true,
                'i' => found.in_place = true,
                _ => {}
            }
            if letters.value.contains(letter) {
                index += usize::from(rest.segs().is_empty());
                break;
            }
            if letters.glued.contains(letter) {
                // `-pie CODE` is meant as `-p -i -e CODE`, though perl reads a suffix `e`.
                let meant = letter == 'i' && rest.is("e");
                if meant {
                    found.codes.extend(args.get(index).cloned());
                    index += 1;
                }
                break;
            }
            if letters.digits.contains(letter) {
                let digits: String = rest
                    .prefix()
                    .chars()
                    .take_while(|c| c.is_ascii_hexdigit() && !c.is_ascii_alphabetic() || *c == 'x')
                    .collect();
                if let Some(after) = rest.strip_prefix(&digits) {
                    rest = after;
                }
            }
        }
    }
    found.operands.extend(args.get(index..).unwrap_or_default().iter().cloned());
    found
}

fn run(machine: &mut Machine<'_>, call: &Call<'_>, lang: Lang, found: &Found) -> Stream {
    if found.informs && found.codes.is_empty() || found.checks {
        return Stream::Terminal;
    }
    if found.codes.is_empty() {
        return match found.operands.first() {
            Some(file) if !file.is("-") && !file.is("/dev/stdin") => {
                framework::run_script(machine, call);
                machine.run_file(lang, file)
            }
            _ => machine.run_stream(lang, call.stdin, call.span),
        };
    }
    if found.in_place {
        for file in &found.operands {
            machine.change(file, Touch::Write, false);
        }
    }
    let code = match found.codes.as_slice() {
        [only] => only.clone(),
        several => {
            let mut all = Field::lit("", call.span);
            for code in several {
                all.push_field(code);
                all.push_lit("\n");
            }
            all.many = false;
            all
        }
    };
    if found.loops {
        return machine.repeated(|machine| machine.run_code(lang, &code));
    }
    machine.run_code(lang, &code)
}

/// Perl.
pub(super) fn perl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let found = read(call.args, &PERL, "eE");
    run(machine, call, Lang::Script(ScriptLang::Perl), &found)
}

/// Ruby.
pub(super) fn ruby(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let found = read(call.args, &RUBY, "e");
    run(machine, call, Lang::Script(ScriptLang::Ruby), &found)
}

#[cfg(test)]
mod tests {
    use aurora_model::Span;

    use super::*;

    fn check(words: &[&str], codes: &str, operands: &str, in_place: bool, loops: bool) {
        let fields: Vec<Field> =
            words.iter().map(|word| Field::lit(*word, Span::default())).collect();
        let found = read(&fields, &PERL, "eE");
        let shown =
            |fields: &[Field]| fields.iter().map(Field::display).collect::<Vec<_>>().join(" ");
        assert_eq!(
            (
                shown(&found.codes).as_str(),
                shown(&found.operands).as_str(),
                found.in_place,
                found.loops
            ),
            (codes, operands, in_place, loops),
            "{words:?}"
        );
    }

    #[test]
    fn groups_of_letters_are_read_as_perl_reads_them() {
        check(&["-e", "x"], "x", "", false, false);
        check(&["-ne", "x", "f"], "x", "f", false, true);
        check(&["-pi", "-e", "x", "f", "g"], "x", "f g", true, true);
        check(&["-pi.bak", "-e", "x", "f"], "x", "f", true, true);
        check(&["-i", "-pe", "x", "f"], "x", "f", true, true);
        check(&["-0777", "-pe", "x"], "x", "", false, true);
        check(&["-0777pe", "x"], "x", "", false, true);
        check(&["-lane", "x"], "x", "", false, true);
        check(&["-MFile::Path", "-e", "x"], "x", "", false, false);
        check(&["-pie", "x", "f"], "x", "f", true, true);
        check(&["script.pl", "-e", "x"], "", "script.pl -e x", false, false);
    }
}
