//! The switches of Perl and Ruby, whose letters take values in ways that getopt does not know.

use crate::analysis::shell::field::Field;

/// What the switches say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    /// The code of each `-e`.
    pub codes: Vec<Field>,
    /// Operands are edited in place.
    pub in_place: bool,
    /// Where the operands start.
    pub operands: usize,
    /// Only the version or the help is asked for.
    pub informs: bool,
}

/// Reads `-lane`, `-0777`, `-i.bak`, `-pie` and the like; what follows the first operand is not looked at.
pub(super) fn read(args: &[Field]) -> Switches {
    let mut out = Switches::default();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.prefix();
        if arg.is("--") {
            at += 1;
            break;
        }
        if !text.starts_with('-') || arg.is("-") {
            break;
        }
        at += 1;
        if text.starts_with("--") {
            out.informs |= matches!(text, "--version" | "--help");
            continue;
        }
        let mut rest = text.get(1..).unwrap_or("");
        while let Some(letter) = rest.chars().next() {
            let used = text.len() - rest.len() + letter.len_utf8();
            rest = rest.get(letter.len_utf8()..).unwrap_or("");
            match letter {
                'e' | 'E' => {
                    let glued = arg.strip_prefix(text.get(..used).unwrap_or(text));
                    let code = glued.filter(|code| !code.is("")).or_else(|| {
                        let next = args.get(at).cloned();
                        at += 1;
                        next
                    });
                    out.codes.extend(code);
                    break;
                }
                'i' => {
                    out.in_place = true;
                    break;
                }
                // A number may follow, and then more letters.
                '0' | 'l' | 'W' | 'T' | 'K' => {
                    rest = rest.trim_start_matches(|c: char| {
                        c.is_ascii_hexdigit() && !c.is_ascii_lowercase() || c == 'x'
                    });
                }
                'I' | 'r' | 'C' if rest.is_empty() && letter != 'C' => at += 1,
                'I' | 'r' | 'C' | 'M' | 'm' | 'F' | 'D' | 'x' | 'V' => break,
                'v' | 'h' => out.informs = true,
                _ => {}
            }
        }
    }
    out.operands = at.min(args.len());
    out
}

#[cfg(test)]
mod tests {
    use aurora_model::Span;

    use super::*;

    fn check(line: &str, codes: &[&str], in_place: bool, operands: usize) {
        let args: Vec<Field> =
            line.split('|').map(|word| Field::lit(word, Span::default())).collect();
        let found = read(&args);
        let got: Vec<String> = found.codes.iter().map(Field::display).collect();
        assert_eq!(
            (got.as_slice(), found.in_place, found.operands),
            (
                codes.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>().as_slice(),
                in_place,
                operands
            ),
            "{line}"
        );
    }

    #[test]
    fn letters_take_their_values_as_perl_reads_them() {
        check("-e|code|x", &["code"], false, 2);
        check("-le|code", &["code"], false, 2);
        check("-lane|code|f", &["code"], false, 2);
        check("-0777|-ne|code", &["code"], false, 3);
        check("-0777ne|code", &["code"], false, 2);
        check("-pi|-e|code|f", &["code"], true, 3);
        check("-pi.bak|-e|code|f", &["code"], true, 3);
        check("-i|-pe|code|f", &["code"], true, 3);
        check("-F:|-ane|code|f", &["code"], false, 3);
        check("-MData::Dumper|-ecode|f", &["code"], false, 2);
        check("-rjson|-e|code", &["code"], false, 3);
        check("script.pl|-e|x", &[], false, 0);
    }
}
