//! Stored examples: how they are found, read and written back.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Names every variant of an enum: one that is added and not named here does not compile, and one
/// that is named here and has no example does not pass.
macro_rules! variants {
    ($($name:ident: $of:ty { $($variant:pat => $word:literal,)* })*) => {$(
        mod $name {
            use super::*;
            pub(super) const ALL: &[&str] = &[$($word),*];
            pub(super) fn of(it: &$of) -> &'static str {
                match it { $($variant => $word),* }
            }
        }
    )*};
}

/// The stored examples of one kind: the name of each, and its text.
pub fn examples(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    files.map(read).collect()
}

/// Reads an example; it must be written back as it stands.
pub fn same_again<T: Serialize + DeserializeOwned>(name: &str, text: &str) -> T {
    let it: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let stored: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_value(&it).unwrap(), stored, "{name}");
    it
}

/// What no example shows.
pub fn missing<T: DeserializeOwned>(
    kind: &str,
    all: &[&[&'static str]],
    shown: impl Fn(&T) -> Vec<&'static str>,
) -> Vec<&'static str> {
    let stored = examples(kind).into_iter().map(|(_, text)| serde_json::from_str(&text).unwrap());
    let found: BTreeSet<&str> = stored.flat_map(|one| shown(&one)).collect();
    all.iter().copied().flatten().copied().filter(|it| !found.contains(it)).collect()
}
