//! The lines before a file's hunks: git's own headers and traditional ones.

use super::name;
use super::reader::{Refused, content, line_at};

/// What a header says.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The name before.
    pub old: Option<Vec<u8>>,
    /// The name after.
    pub new: Option<Vec<u8>>,
    /// Whether the file is new; nothing when the header does not say.
    pub is_new: Option<bool>,
    /// Whether the file is deleted; nothing when the header does not say.
    pub is_delete: Option<bool>,
    /// It is renamed.
    pub rename: bool,
    /// It is copied.
    pub copy: bool,
    /// Its mode before.
    pub old_mode: Option<u32>,
    /// Its mode after.
    pub new_mode: Option<u32>,
}

/// A header that starts with `diff --git`; gives it and where it ends.
pub(super) fn git(patch: &[u8], start: usize, folders: usize) -> Result<(Header, usize), Refused> {
    let first = line_at(patch, start);
    let names = content(first.strip_prefix(b"diff --git ").unwrap_or(first));
    let fail = |why: String| Refused::new(why, start);
    let both = both_names(names, folders).map_err(fail)?;
    let mut header = Header { is_new: Some(false), is_delete: Some(false), ..Header::default() };
    let mut at = start + first.len();
    loop {
        let line = line_at(patch, at);
        if line.last() != Some(&b'\n') {
            break;
        }
        let goes_on = extended(&mut header, content(line), both.as_deref(), folders)
            .map_err(|why| Refused::new(why, at))?;
        let kinds = [header.is_new == Some(true), header.is_delete == Some(true)];
        let kinds = kinds.iter().chain(&[header.rename, header.copy]).filter(|is| **is).count();
        if kinds > 1 {
            return Err(Refused::new("header lines contradict one another", at));
        }
        if !goes_on {
            break;
        }
        at += line.len();
    }
    if at == start + first.len() {
        // git takes a lone `diff --git` line for prose, yet lets its names leak into what follows.
        return Err(Refused::new("a git header stands alone", start));
    }
    if header.old.is_none() && header.new.is_none() {
        header.old.clone_from(&both);
        header.new = both;
    }
    let lacks_new = header.new.is_none() && header.is_delete != Some(true);
    let lacks_old = header.old.is_none() && header.is_new != Some(true);
    if lacks_new || lacks_old || header.old.is_none() && header.new.is_none() {
        return Err(Refused::new("a git header does not name its file", start));
    }
    agrees(names, &header, folders).map_err(fail)?;
    Ok((header, at))
}

/// Reads one line below `diff --git`; says whether the header goes on.
fn extended(
    header: &mut Header,
    line: &[u8],
    both: Option<&[u8]>,
    folders: usize,
) -> Result<bool, String> {
    if line.contains(&0) {
        return Err("a header line holds a NUL byte".to_owned());
    }
    let unprefixed = folders.saturating_sub(1);
    if let Some(text) = line.strip_prefix(b"--- ") {
        verify(&mut header.old, text, header.is_new == Some(true), folders)?;
    } else if let Some(text) = line.strip_prefix(b"+++ ") {
        verify(&mut header.new, text, header.is_delete == Some(true), folders)?;
    } else if let Some(text) = line.strip_prefix(b"old mode ") {
        header.old_mode = Some(mode(text)?);
    } else if let Some(text) = line.strip_prefix(b"new mode ") {
        header.new_mode = Some(mode(text)?);
    } else if let Some(text) = line.strip_prefix(b"deleted file mode ") {
        header.is_delete = Some(true);
        header.old = both.map(<[u8]>::to_vec);
        header.old_mode = Some(mode(text)?);
    } else if let Some(text) = line.strip_prefix(b"new file mode ") {
        header.is_new = Some(true);
        header.new = both.map(<[u8]>::to_vec);
        header.new_mode = Some(mode(text)?);
    } else if let Some(text) = line.strip_prefix(b"copy from ") {
        header.copy = true;
        replace(&mut header.old, name::find(text, unprefixed, false)?)?;
    } else if let Some(text) = line.strip_prefix(b"copy to ") {
        header.copy = true;
        replace(&mut header.new, name::find(text, unprefixed, false)?)?;
    } else if let Some(text) = any_prefix(line, &[b"rename from ", b"rename old "]) {
        header.rename = true;
        replace(&mut header.old, name::find(text, unprefixed, false)?)?;
    } else if let Some(text) = any_prefix(line, &[b"rename to ", b"rename new "]) {
        header.rename = true;
        replace(&mut header.new, name::find(text, unprefixed, false)?)?;
    } else if let Some(text) = line.strip_prefix(b"index ") {
        index(header, text)?;
    } else {
        return Ok(any_prefix(line, &[b"similarity index ", b"dissimilarity index "]).is_some());
    }
    Ok(true)
}

/// What follows the first of these that the line starts with.
fn any_prefix<'a>(line: &'a [u8], prefixes: &[&[u8]]) -> Option<&'a [u8]> {
    prefixes.iter().find_map(|prefix| line.strip_prefix(*prefix))
}

/// Sets a name that must not contradict one that is known.
fn replace(known: &mut Option<Vec<u8>>, name: Vec<u8>) -> Result<(), String> {
    if known.as_ref().is_some_and(|known| *known != name) {
        return Err(format!("the name {} contradicts another line", name::display(&name)));
    }
    *known = Some(name);
    Ok(())
}

/// A `---` or `+++` line below a git header.
fn verify(
    known: &mut Option<Vec<u8>>,
    text: &[u8],
    must_be_null: bool,
    folders: usize,
) -> Result<(), String> {
    if name::is_dev_null(text) != must_be_null || must_be_null && known.is_some() {
        return Err("/dev/null stands where a name belongs, or the other way round".to_owned());
    }
    if must_be_null {
        return Ok(());
    }
    replace(known, name::find(text, folders, true)?)
}

/// A file mode: a plain file, a link or a submodule.
fn mode(text: &[u8]) -> Result<u32, String> {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let value = std::str::from_utf8(text).ok().and_then(|text| u32::from_str_radix(text, 8).ok());
    match value {
        Some(mode) if matches!(mode & 0o170_000, 0o100_000 | 0o120_000 | 0o160_000) => Ok(mode),
        _ => Err(format!("the mode {} is not a file's", name::display(text))),
    }
}

/// `index old..new mode`.
fn index(header: &mut Header, text: &[u8]) -> Result<(), String> {
    let mut words = text.splitn(2, |byte| *byte == b' ');
    let _ids = words.next();
    if let Some(text) = words.next() {
        let mode = mode(text)?;
        if header.old_mode.is_some_and(|known| known != mode) {
            return Err("two lines give different old modes".to_owned());
        }
        header.old_mode = Some(mode);
    }
    Ok(())
}

/// The name after `diff --git`, when the line gives the same one twice.
fn both_names(names: &[u8], folders: usize) -> Result<Option<Vec<u8>>, String> {
    if names.contains(&0) || names.len() > MAX_NAMES {
        return Err("a header line holds a NUL byte or is too long".to_owned());
    }
    let mut found: Option<Vec<u8>> = None;
    for (first, second) in splits(names) {
        let (Some(first), Some(second)) = (below(&first, folders), below(&second, folders)) else {
            continue;
        };
        if first == second {
            if found.as_deref().is_some_and(|known| known != first) {
                return Err("the names after diff --git can be read in two ways".to_owned());
            }
            found = Some(first.to_vec());
        }
    }
    Ok(found)
}

/// A name without its leading folders; an absolute name has none to take.
fn below(name: &[u8], folders: usize) -> Option<&[u8]> {
    if name.first() == Some(&b'/') { None } else { name::strip(name, folders) }
}

/// Every way to read two names from what follows `diff --git`.
fn splits(names: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    if names.first() == Some(&b'"') {
        let Some((first, end)) = name::unquote(names) else { return Vec::new() };
        let rest = names.get(end..).unwrap_or(&[]);
        let Some(rest) = rest.strip_prefix(b" ") else { return Vec::new() };
        return whole(rest).map(|second| (first, second)).into_iter().collect();
    }
    let mut found = Vec::new();
    // Two equal names have about half of the line each, so a long line full of blanks costs no
    // more than a short one; other splits are only ever compared with names that are known.
    let blanks = names.iter().enumerate().filter(|(_, byte)| matches!(byte, b' ' | b'\t'));
    for (at, _) in blanks.take(MAX_BLANKS) {
        let (Some(first), Some(rest)) = (names.get(..at), names.get(at + 1..)) else { continue };
        if let Some(second) = whole(rest) {
            found.push((first.to_vec(), second));
        }
    }
    found
}

/// How long the names in a header line may be together, quoted.
const MAX_NAMES: usize = 32 << 10;

/// How many blanks in a header line are tried as the border between its names.
const MAX_BLANKS: usize = 128;

/// A name that must be the whole text, quoted or not.
fn whole(text: &[u8]) -> Option<Vec<u8>> {
    if text.first() == Some(&b'"') {
        let (name, end) = name::unquote(text)?;
        return (end == text.len() || text.get(end..) == Some(b"\r")).then_some(name);
    }
    Some(text.to_vec())
}

/// Checks that the names after `diff --git` are those that the other lines give.
fn agrees(names: &[u8], header: &Header, folders: usize) -> Result<(), String> {
    let old = header.old.as_ref().or(header.new.as_ref());
    let new = header.new.as_ref().or(header.old.as_ref());
    let names = names.strip_suffix(b"\r").unwrap_or(names);
    let same = splits(names).iter().any(|(first, second)| {
        below(first, folders) == old.map(Vec::as_slice)
            && below(second, folders) == new.map(Vec::as_slice)
    });
    if same { Ok(()) } else { Err("the names after diff --git differ from the others".to_owned()) }
}

/// A header of `---` and `+++` alone.
pub(super) fn traditional(
    first: &[u8],
    second: &[u8],
    at: usize,
    folders: &mut usize,
    guessed: &mut bool,
) -> Result<Header, Refused> {
    let fail = |why: String| Refused::new(why, at);
    let first = content(first.strip_prefix(b"--- ").unwrap_or(first));
    let second = content(second.strip_prefix(b"+++ ").unwrap_or(second));
    for line in [first, second] {
        check_traditional(line).map_err(fail)?;
    }
    let (new_file, gone) = (name::is_dev_null(first), name::is_dev_null(second));
    let (no_first, no_second) = (is_epoch(first), is_epoch(second));
    if new_file && gone {
        return Err(fail("both names are /dev/null".to_owned()));
    }
    if !*guessed {
        // Without a folder in the names git strips none, for all that follows too.
        let flat = |line: &[u8]| {
            name::is_dev_null(line) || name::find(line, 0, true).is_ok_and(|n| !n.contains(&b'/'))
        };
        if flat(first) && flat(second) {
            *folders = 0;
            *guessed = true;
        }
    }
    let find = |line: &[u8]| name::find(line, *folders, true).map_err(fail);
    if new_file {
        let new = Some(find(second)?);
        return Ok(Header { new, is_new: Some(true), is_delete: Some(false), ..Header::default() });
    }
    if gone {
        let old = Some(find(first)?);
        return Ok(Header { old, is_new: Some(false), is_delete: Some(true), ..Header::default() });
    }
    let (old, new) = (find(first)?, find(second)?);
    // Of `x` and `x.orig` git takes the shorter one, unless the second is quoted.
    let name = if new == old || new.starts_with(&old) && second.first() != Some(&b'"') {
        old
    } else if old.starts_with(&new) {
        new
    } else {
        return Err(fail("the old and the new name differ".to_owned()));
    };
    Ok(match (no_first, no_second) {
        (true, _) => Header {
            new: Some(name),
            is_new: Some(true),
            is_delete: Some(false),
            ..Header::default()
        },
        (false, true) => Header {
            old: Some(name),
            is_new: Some(false),
            is_delete: Some(true),
            ..Header::default()
        },
        (false, false) => Header { old: Some(name.clone()), new: Some(name), ..Header::default() },
    })
}

/// Whether the date beside a name is the one that means a missing file, as diff writes it.
fn is_epoch(line: &[u8]) -> bool {
    let date = line.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or(&[]);
    let Some(rest) = date.strip_prefix(b"1970-01-01 00:00:00") else { return false };
    let Some(zone) = rest.strip_suffix(b" +0000") else { return false };
    match zone {
        [] => true,
        [b'.', digits @ ..] => !digits.is_empty() && digits.iter().all(|byte| *byte == b'0'),
        _ => false,
    }
}

/// Refuses the lines in which git looks for a date in ways that a name could imitate.
fn check_traditional(line: &[u8]) -> Result<(), String> {
    if line.contains(&0) {
        return Err("a header line holds a NUL byte".to_owned());
    }
    if line.iter().filter(|byte| **byte == b'\t').count() > 1 {
        return Err("a name and a date cannot be told apart".to_owned());
    }
    let mut parts = line.splitn(2, |byte| *byte == b'\t');
    let name = parts.next().unwrap_or(&[]);
    let date = parts.next().unwrap_or(&[]);
    let near = date.windows(10).any(|ten| ten == b"1970-01-01" || ten == b"1969-12-31");
    if near && !is_epoch(line) && !name::is_dev_null(line) {
        return Err("a date that may mean a missing file stands beside a name".to_owned());
    }
    // A date may follow a name after a blank instead of a tab.
    let dated = name.windows(9).any(|nine| {
        matches!(nine, [b' ', a, b, b'-', c, d, b'-', e, f]
            if [a, b, c, d, e, f].iter().all(|byte| byte.is_ascii_digit()))
    }) || name.windows(11).any(|eleven| {
        matches!(eleven, [b' ', _, _, _, _, b'-', c, d, b'-', e, f]
            if [c, d, e, f].iter().all(|byte| byte.is_ascii_digit()))
    });
    if dated && !name.starts_with(b"/dev/null") {
        return Err("a name and a date cannot be told apart".to_owned());
    }
    Ok(())
}
