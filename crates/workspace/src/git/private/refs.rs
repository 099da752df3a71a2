//! Refs of the private store: one small file each, or a line of `packed-refs`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;

use super::PrivateStore;
use super::durable::{sync_folder, write_durably};
use super::unfinished::is_leftover;
use crate::error::{Error, Result};
use crate::git::own::{self, Folder};

/// A ref is one line.
const MOST_REF_BYTES: u64 = 4096;
/// Room for millions of refs.
const MOST_PACKED_BYTES: u64 = 1 << 30;

impl PrivateStore {
    /// Points a ref of the private store (`refs/aurora/…`) at an object, durably.
    pub fn set_ref(&self, name: &str, id: &ObjectId) -> Result<()> {
        write_durably(&self.ref_path(name)?, format!("{id}\n").as_bytes())
    }

    /// Removes a ref of the private store.
    pub fn remove_ref(&self, name: &str) -> Result<()> {
        self.remove_refs(&[name])
    }

    /// Removes refs of the private store, durably.
    pub fn remove_refs(&self, names: &[&str]) -> Result<()> {
        let paths = names.iter().map(|name| self.ref_path(name)).collect::<Result<Vec<_>>>()?;
        // The packed ones go first, because they would show again under a loose one that is gone.
        let mut packed = self.packed_refs()?;
        let before = packed.len();
        packed.retain(|name, _| !names.contains(&name.as_str()));
        if packed.len() != before {
            let mut text = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
            for (name, id) in packed {
                text.push_str(&format!("{id} {name}\n"));
            }
            write_durably(&self.dir.join("packed-refs"), text.as_bytes())?;
        }
        let mut folders: Vec<&Path> = Vec::new();
        for path in &paths {
            match fs::remove_file(path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("remove", path)(error)),
            }
            folders.extend(path.parent().filter(|folder| folders.last() != Some(folder)));
        }
        folders.into_iter().try_for_each(sync_folder)
    }

    /// All refs of the private store below a prefix, by name.
    pub fn refs(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>> {
        let mut found = self.packed_refs()?;
        found.retain(|name, _| name.starts_with(prefix));
        let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder.split('/').any(|part| part == "..") {
            return Err(self.no_ref(prefix));
        }
        let mut next: Vec<PathBuf> = vec![self.dir.join(folder)];
        while let Some(folder) = next.pop() {
            self.collect(&folder, prefix, &mut next, &mut found)?;
        }
        Ok(found.into_iter().collect())
    }

    fn collect(
        &self,
        folder: &Path,
        prefix: &str,
        next: &mut Vec<PathBuf>,
        found: &mut BTreeMap<String, ObjectId>,
    ) -> Result<()> {
        let Some(opened) = Folder::open(folder)? else { return Ok(()) };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("list", folder)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(Error::io("list", folder))?;
            if is_leftover(&entry) {
                continue;
            }
            let path = entry.path();
            if entry.file_type().map_err(Error::io("read", &path))?.is_dir() {
                next.push(path);
                continue;
            }
            let name = path.strip_prefix(&self.dir).ok().and_then(Path::to_str);
            let Some(name) = name.filter(|name| name.starts_with(prefix)) else { continue };
            let Some(bytes) = opened.read(&entry.file_name(), MOST_REF_BYTES)? else { continue };
            let id = ObjectId::from_hex(bytes.trim_ascii_end()).map_err(|_| Error::Corrupt {
                what: format!("the ref {} does not name an object", path.display()),
            })?;
            found.insert(name.to_owned(), id);
        }
        Ok(())
    }

    fn packed_refs(&self) -> Result<BTreeMap<String, ObjectId>> {
        let path = self.dir.join("packed-refs");
        let Some(bytes) = own::read(&path, MOST_PACKED_BYTES)? else { return Ok(BTreeMap::new()) };
        let text = String::from_utf8_lossy(&bytes);
        let parsed = text.lines().filter(|line| !line.starts_with(['#', '^'])).map(|line| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), ObjectId::from_hex(id.as_bytes()).ok()?))
        });
        parsed
            .collect::<Option<_>>()
            .ok_or_else(|| Error::Corrupt { what: format!("{} cannot be read", path.display()) })
    }

    /// Where a ref is; only names that are refs of ours and lead nowhere else.
    fn ref_path(&self, name: &str) -> Result<PathBuf> {
        let sound = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && !part.contains("..")
                && !part.ends_with(".lock")
                && part.bytes().all(|byte| byte.is_ascii_graphic() && !b"~^:?*[\\".contains(&byte))
        };
        if name.starts_with("refs/aurora/") && name.split('/').all(sound) {
            return Ok(self.dir.join(name));
        }
        Err(self.no_ref(name))
    }

    fn no_ref(&self, name: &str) -> Error {
        Error::Corrupt { what: format!("`{name}` is no name of a ref in {}", self.dir.display()) }
    }
}
