//! File names in patch headers: quoting, prefixes, and which names are never accepted.

/// Reads a C-quoted name; gives it and where it ends, behind the closing quote.
pub(super) fn unquote(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    if text.first() != Some(&b'"') {
        return None;
    }
    let mut out = Vec::new();
    let mut at = 1;
    loop {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'"' => return Some((out, at)),
            b'\\' => {
                let escaped = *text.get(at)?;
                at += 1;
                out.push(match escaped {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'\\' | b'"' => escaped,
                    b'0'..=b'3' => {
                        let (second, third) = (*text.get(at)?, *text.get(at + 1)?);
                        at += 2;
                        if !matches!((second, third), (b'0'..=b'7', b'0'..=b'7')) {
                            return None;
                        }
                        (escaped - b'0') << 6 | (second - b'0') << 3 | (third - b'0')
                    }
                    _ => return None,
                });
            }
            other => out.push(other),
        }
    }
}

/// What remains after this many leading folders.
pub(super) fn strip(name: &[u8], folders: usize) -> Option<&[u8]> {
    let mut rest = name;
    for _ in 0..folders {
        let slash = rest.iter().position(|byte| *byte == b'/')?;
        rest = rest.get(slash + 1..)?;
    }
    Some(rest)
}

/// Whether a header line says `/dev/null`.
pub(super) fn is_dev_null(text: &[u8]) -> bool {
    text.strip_prefix(b"/dev/null")
        .is_some_and(|rest| rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r')))
}

/// The name that a header line gives, with this many leading folders taken off; `tab` when a tab
/// ends the name.
pub(super) fn find(text: &[u8], folders: usize, tab: bool) -> Result<Vec<u8>, String> {
    let (name, rest) = if text.first() == Some(&b'"') {
        let (name, end) =
            unquote(text).ok_or_else(|| "a quoted name is not well formed".to_owned())?;
        (name, text.get(end..).unwrap_or(&[]))
    } else {
        let end = text.iter().position(|byte| *byte == b'\r' || tab && *byte == b'\t');
        let (name, rest) = text.split_at_checked(end.unwrap_or(text.len())).unwrap_or((text, &[]));
        (name.to_vec(), rest)
    };
    // Behind a name only a tab (with a date) or the line's end is unambiguous.
    let clean = match rest {
        [] | b"\r" => true,
        [b'\t', ..] => tab,
        _ => false,
    };
    if !clean {
        return Err(format!("something follows the name {}", display(&name)));
    }
    if name.first() == Some(&b'/') {
        return Err(format!("the name {} is absolute", display(&name)));
    }
    let stripped = strip(&name, folders)
        .ok_or_else(|| format!("the name {} has no leading folder to strip", display(&name)))?;
    Ok(stripped.to_vec())
}

/// Why a name is never accepted, if so.
pub(super) fn unsafe_reason(name: &[u8]) -> Option<String> {
    if name.is_empty() {
        return Some("a name is empty".to_owned());
    }
    if name.contains(&0) {
        return Some("a name holds a NUL byte".to_owned());
    }
    let shown = display(name);
    for part in name.split(|byte| *byte == b'/') {
        match part {
            b"" => return Some(format!("the name {shown} has an empty part or is absolute")),
            b"." | b".." => return Some(format!("the name {shown} leaves its folder")),
            _ if is_dot_git(part) => {
                return Some(format!("the name {shown} goes through .git"));
            }
            _ => {}
        }
    }
    None
}

/// Whether a folder's name is `.git` for some file system: in any case, with ignored characters,
/// with what Windows drops at the end, or in its short form.
fn is_dot_git(part: &[u8]) -> bool {
    let text = String::from_utf8_lossy(part);
    let kept: String = text
        .chars()
        .filter(|c| {
            !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}'
                | '\u{feff}')
        })
        .collect();
    // Windows takes a backslash for a separator and ends a name at a colon.
    kept.split('\\').any(|piece| {
        let piece = piece.split(':').next().unwrap_or("");
        let piece = piece.trim_end_matches(['.', ' ']);
        piece.eq_ignore_ascii_case(".git") || piece.eq_ignore_ascii_case("git~1")
    })
}

/// A name for people.
pub(super) fn display(name: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(name))
}
