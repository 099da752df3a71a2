//! A path below a worktree's root, as the bytes that the file system has.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path below a worktree's root: bytes, parts separated by `/`, without empty, `.` or `..` parts
/// and without NUL. It need not be UTF-8 and may hold newlines. Order is by bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// The path of these bytes; nothing when it is empty, absolute or has parts that lead elsewhere.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes = bytes.into();
        let sound = |part: &[u8]| !part.is_empty() && part != b"." && part != b"..";
        (!bytes.contains(&0) && bytes.split(|byte| *byte == b'/').all(sound)).then_some(Self(bytes))
    }

    /// The path's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The parts between the slashes.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// The last part.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.parts().next_back().unwrap_or_default()
    }

    /// The folder that holds it; nothing at the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let at = self.0.iter().rposition(|byte| *byte == b'/')?;
        self.0.get(..at).map(|bytes| Self(bytes.to_vec()))
    }

    /// All folders above it, the nearest first, without the root.
    pub fn parents(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// A path below this one; nothing when the rest is no path.
    #[must_use]
    pub fn join(&self, rest: &[u8]) -> Option<Self> {
        Self::below(Some(self), rest)
    }

    /// A path below a folder, or below the root; nothing when the rest is no path.
    #[must_use]
    pub fn below(folder: Option<&Self>, rest: &[u8]) -> Option<Self> {
        let rest = Self::new(rest)?;
        let Some(folder) = folder else { return Some(rest) };
        let mut bytes = folder.0.clone();
        bytes.push(b'/');
        bytes.extend_from_slice(&rest.0);
        Some(Self(bytes))
    }

    /// Whether it is that path or lies below it.
    #[must_use]
    pub fn is_within(&self, folder: &Self) -> bool {
        let rest = self.0.strip_prefix(folder.0.as_slice());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// Reads what `Display` wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(quoted) => Self::new(unquote(quoted)?),
            None => Self::new(text),
        }
    }
}

/// As git writes it: plain where that is unmistakable, else in double quotes with C's escapes.
impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.contains(|c: char| c.is_control() || c == '"' || c == '\\') => {
                f.write_str(text)
            }
            _ => quote(&self.0, f),
        }
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RepoPath({self})")
    }
}

fn quote(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for byte in bytes {
        match byte {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\t' => f.write_str("\\t")?,
            0x20..0x7f => write!(f, "{}", char::from(*byte))?,
            _ => write!(f, "\\{byte:03o}")?,
        }
    }
    f.write_str("\"")
}

fn unquote(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next()? {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            first @ b'0'..=b'3' => {
                let digits = [first, bytes.next()?, bytes.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                out.push(u8::from_str_radix(digits, 8).ok()?);
            }
            plain @ (b'"' | b'\\') => out.push(plain),
            _ => return None,
        }
    }
    Some(out)
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is no path below a root")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], shown: &str) {
        let path = RepoPath::new(bytes).expect("a path");
        assert_eq!(path.to_string(), shown);
        assert_eq!(RepoPath::parse(shown), Some(path));
    }

    #[test]
    fn every_name_can_be_shown_and_read_back() {
        check(b"src/main.rs", "src/main.rs");
        check("grün/ä b".as_bytes(), "grün/ä b");
        check(b"a\nb", r#""a\nb""#);
        check(b"caf\xe9", r#""caf\351""#);
        check(br#"say "hi"\"#, r#""say \"hi\"\\""#);
        check(b"\"", r#""\"""#);
        check("\u{85}".as_bytes(), r#""\302\205""#);
    }

    #[test]
    fn paths_that_lead_elsewhere_are_none() {
        for bytes in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\0b"] {
            assert_eq!(RepoPath::new(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn parents_and_what_lies_within() {
        let path = RepoPath::new("a/b/c").expect("a path");
        let parents: Vec<String> = path.parents().map(|path| path.to_string()).collect();
        assert_eq!(parents, ["a/b", "a"]);
        assert!(path.is_within(&RepoPath::new("a/b").expect("a path")));
        assert!(!path.is_within(&RepoPath::new("a/b/c/d").expect("a path")));
        assert!(
            !RepoPath::new("ab").expect("a path").is_within(&RepoPath::new("a").expect("a path"))
        );
        assert_eq!(path.name(), b"c");
    }
}
