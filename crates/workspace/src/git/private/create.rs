//! Making the private repository: whole at once, also when two do it at the same time.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::durable::{make_folders, write_durably};
use super::unfinished::{Unfinished, is_leftover};
use crate::error::{Error, Result};
use crate::git::own::{self, Folder};
use crate::git::place::Place;

/// From `objects/` of the store to `objects/` of the user's repository, so that both can move.
const USERS_OBJECTS: &[u8] = b"../../../objects";

/// Our list of folders of objects is never larger.
const MOST_BYTES: u64 = 1 << 20;

/// Makes the repository unless it is there, and lets it read what the user's can read.
pub(super) fn ensure(place: &Place, dir: &Path) -> Result<()> {
    make_folders(&place.feature_dir)?;
    // Whoever could plant a link on the way could make us, or git, write elsewhere.
    for below in ["objects/pack", "objects/info", "refs/aurora/checkpoints"] {
        Folder::open(&dir.join(below))?;
    }
    let wanted = alternates(&place.common_dir.join("objects"))?;
    if !dir.join("HEAD").is_file() {
        create(place, dir, &wanted)?;
    }
    let path = dir.join("objects/info/alternates");
    if own::read(&path, MOST_BYTES)?.as_ref() != Some(&wanted) {
        write_durably(&path, &wanted)?;
    }
    Ok(())
}

fn create(place: &Place, dir: &Path, alternates: &[u8]) -> Result<()> {
    for entry in fs::read_dir(&place.aurora_dir).into_iter().flatten().flatten() {
        is_leftover(&entry);
    }
    let half = Unfinished::create_folder(&place.aurora_dir)?;
    fill(&half.path, place.hash, alternates)?;
    match half.publish(dir) {
        Ok(around) => around.sync(),
        // Somebody else was quicker, and made the same.
        Err(_) if dir.join("HEAD").is_file() => Ok(()),
        Err(error) => Err(error),
    }
}

fn fill(dir: &Path, hash: gix::hash::Kind, alternates: &[u8]) -> Result<()> {
    make_folders(&dir.join("refs"))?;
    make_folders(&dir.join("objects/pack"))?;
    write_durably(&dir.join("objects/info/alternates"), alternates)?;
    let (version, extensions) = match hash {
        gix::hash::Kind::Sha256 => (1, "[extensions]\n\tobjectformat = sha256\n"),
        _ => (0, ""),
    };
    let config = format!(
        "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = true\n\
         \tlogallrefupdates = false\n{extensions}[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    );
    write_durably(&dir.join("config"), config.as_bytes())?;
    write_durably(&dir.join("HEAD"), b"ref: refs/heads/none\n")
}

/// What the user's repository reads from: its own objects, and those that it borrows. The latter are
/// written out in full, because not every reader follows relative ones from one file to the next.
fn alternates(users_objects: &Path) -> Result<Vec<u8>> {
    let mut out = USERS_OBJECTS.to_vec();
    out.push(b'\n');
    for path in borrowed(users_objects)? {
        out.extend(quoted(path.into_os_string().into_vec()));
        out.push(b'\n');
    }
    Ok(out)
}

/// The folders that an `info/alternates` names, and those that these name. Only the relative ones: a
/// reader follows the others by itself.
fn borrowed(objects: &Path) -> Result<Vec<PathBuf>> {
    const MOST: usize = 32;
    let mut found: Vec<PathBuf> = Vec::new();
    let mut relative = Vec::new();
    let mut next = vec![objects.to_owned()];
    while let Some(dir) = next.pop() {
        let path = dir.join("info/alternates");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                continue;
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let Ok(named) = gix::odb::alternate::parse(&bytes) else { continue };
        for named in named {
            let Ok(folder) = fs::canonicalize(dir.join(&named)) else { continue };
            if found.len() < MOST && !found.contains(&folder) {
                if named.is_relative() {
                    relative.push(folder.clone());
                }
                found.push(folder.clone());
                next.push(folder);
            }
        }
    }
    Ok(relative)
}

/// As git reads it: as it is, or in double quotes with C's escapes.
fn quoted(path: Vec<u8>) -> Vec<u8> {
    if !path.starts_with(b"\"") && !path.contains(&b'\n') {
        return path;
    }
    let mut out = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}
