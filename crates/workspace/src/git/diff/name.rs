//! Names in a diff, quoted as git quotes them.

use std::io::Write as _;

/// A prefix and a path, in double quotes with C's escapes where git would (`core.quotePath=true`).
pub(super) fn quoted(prefix: &str, path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(prefix.len() + path.len() + 2);
    if !path.iter().any(|byte| needs_quoting(*byte)) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(path);
        return out;
    }
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    for byte in path {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            0x07 => out.extend(b"\\a"),
            0x08 => out.extend(b"\\b"),
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            0x0b => out.extend(b"\\v"),
            0x0c => out.extend(b"\\f"),
            b'\r' => out.extend(b"\\r"),
            byte if needs_quoting(*byte) => {
                // Writing into memory cannot fail.
                let _ = write!(out, "\\{byte:03o}");
            }
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}

fn needs_quoting(byte: u8) -> bool {
    !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    // WSP-3
    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        let check = |path: &[u8], shown: &[u8]| assert_eq!(quoted("a/", path), shown);
        check(b"src/a b.rs", b"a/src/a b.rs");
        check(b"say \"hi\"", br#""a/say \"hi\"""#);
        check(b"a\\b", br#""a/a\\b""#);
        check("gr\u{fc}n".as_bytes(), br#""a/gr\303\274n""#);
        check(b"\x01\x07\t\n\r\x7f\xff", br#""a/\001\a\t\n\r\177\377""#);
    }
}
