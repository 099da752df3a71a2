//! Backslash escapes of `$'…'`, `echo -e` and `printf`.

/// Decodes the escapes of `$'…'`, `echo -e` and `printf`.
#[must_use]
pub fn decode_escapes(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let Some(escape) = chars.next() else {
            out.push(b'\\');
            break;
        };
        let mut number = |most: usize, radix: u32, start: Option<u32>| {
            let mut value = start;
            for _ in 0..most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                chars.next();
                value = Some(value.unwrap_or(0) * radix + digit);
            }
            value
        };
        let byte = |value: u32| u8::try_from(value & 0xff).unwrap_or(b'?');
        match escape {
            'n' => out.push(b'\n'),
            't' => out.push(b'\t'),
            'r' => out.push(b'\r'),
            'a' => out.push(7),
            'b' => out.push(8),
            'e' | 'E' => out.push(27),
            'f' => out.push(12),
            'v' => out.push(11),
            '0'..='7' => {
                // `echo -e` and `printf %b` write `\0NNN`, the others `\NNN`.
                let most = if escape == '0' { 3 } else { 2 };
                out.extend(number(most, 8, escape.to_digit(8)).map(byte));
            }
            'x' => match number(2, 16, None) {
                Some(value) => out.push(byte(value)),
                None => out.extend_from_slice(b"\\x"),
            },
            'u' | 'U' => {
                let most = if escape == 'u' { 4 } else { 8 };
                if let Some(c) = number(most, 16, None).and_then(char::from_u32) {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            'c' => {
                chars.next();
            }
            '\\' | '\'' | '"' | '?' => out.extend(u8::try_from(u32::from(escape)).ok()),
            other => {
                out.push(b'\\');
                out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
