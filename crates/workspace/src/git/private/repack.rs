//! Putting packs together, so that they stay few and small.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;

use super::PrivateStore;
use super::durable::sync_folder;
use crate::error::{Error, Result};
use crate::git::own::Folder;
use crate::git::place::Place;
use crate::git::process::Git;

/// From so many packs on they are put together: each one is a place where to look for an object.
const MANY: usize = 50;

impl PrivateStore {
    /// Puts small packs together once there are many. Nothing is lost by it, so that it may happen
    /// beside any other work; says whether it did. Call it when the feature's lock is free again.
    pub fn repack_if_due(&self, place: &Place) -> Result<bool> {
        if self.owned.packs()? < MANY {
            return Ok(false);
        }
        let Some(_lock) = self.lock_for_repacking()? else { return Ok(false) };
        let mut packs = self.packs()?;
        packs.sort_by_key(|pack| pack.bytes);
        // A pack that is far larger than all smaller ones together stays as it is, so that the work
        // does not grow with the store.
        let mut taken = 0;
        let mut smaller = 0;
        for (at, pack) in packs.iter().enumerate() {
            if pack.bytes <= smaller * 2 || at == 0 {
                taken = at + 1;
            }
            smaller += pack.bytes;
        }
        packs.truncate(taken);
        if packs.len() < 2 {
            return Ok(false);
        }
        let mut input = String::new();
        for pack in &packs {
            input.push_str(&format!("{}.pack\n", pack.stem));
        }
        let made = self.pack_objects(place, &["--stdin-packs"], input.into_bytes())?;
        self.remove_packs(&packs, &made)?;
        Ok(true)
    }

    /// Replaces all packs by one with exactly these objects, each with the name that it has in some
    /// tree. Only while a `PruneLock` is held: what is not named is gone afterwards.
    pub fn retain_only(&self, place: &Place, objects: &[(ObjectId, Vec<u8>)]) -> Result<()> {
        let old = self.packs()?;
        let loose = self.loose_folders()?;
        let mut made = BTreeSet::new();
        if !objects.is_empty() {
            let mut input = Vec::new();
            for (id, name) in objects {
                input.extend_from_slice(id.to_string().as_bytes());
                // The name tells git which objects may resemble each other; it is not needed.
                if !name.contains(&b'\n') {
                    input.push(b' ');
                    input.extend_from_slice(name);
                }
                input.push(b'\n');
            }
            made = self.pack_objects(place, &[], input)?;
        }
        self.remove_packs(&old, &made)?;
        for folder in loose {
            remove_folder(&folder)?;
        }
        self.owned.forget();
        Ok(())
    }

    /// How many bytes the objects take.
    pub fn bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        let mut next = vec![self.dir.join("objects")];
        while let Some(dir) = next.pop() {
            for entry in fs::read_dir(&dir).map_err(Error::io("list", &dir))? {
                let entry = entry.map_err(Error::io("list", &dir))?;
                match entry.metadata() {
                    Ok(meta) if meta.is_dir() => next.push(entry.path()),
                    Ok(meta) => bytes += meta.len(),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(Error::io("read", entry.path())(error)),
                }
            }
        }
        Ok(bytes)
    }

    /// Lets git write a pack, and says the names of those that it made. What the user's repository
    /// has as well is packed all the same: it may be gone from there tomorrow.
    fn pack_objects(
        &self,
        place: &Place,
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<BTreeSet<String>> {
        // Git would follow a link that came there since.
        Folder::open(&self.pack_dir())?;
        let output = Git::new(&place.program, &self.dir, "put packs together")
            .args(["pack-objects", "--quiet", "--non-empty", "--delta-base-offset"])
            .args(args)
            .arg(self.pack_dir().join("pack"))
            .input(input)
            .run()?;
        sync_folder(&self.pack_dir())?;
        let text = String::from_utf8_lossy(&output);
        let made: BTreeSet<String> = text.lines().map(|hash| format!("pack-{hash}")).collect();
        let written = |stem: &String| self.pack_dir().join(format!("{stem}.idx")).is_file();
        if made.is_empty() || !made.iter().all(written) {
            return Err(Error::Git {
                doing: "put packs together".to_owned(),
                detail: "it made no pack".to_owned(),
            });
        }
        Ok(made)
    }

    fn pack_dir(&self) -> PathBuf {
        self.dir.join("objects").join("pack")
    }

    fn packs(&self) -> Result<Vec<Pack>> {
        let dir = self.pack_dir();
        let mut packs = Vec::new();
        for entry in fs::read_dir(&dir).map_err(Error::io("list", &dir))? {
            let entry = entry.map_err(Error::io("list", &dir))?;
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "idx") {
                continue;
            }
            let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
            let bytes = fs::metadata(path.with_extension("pack")).map_or(0, |meta| meta.len());
            packs.push(Pack { stem: stem.to_owned(), bytes });
        }
        Ok(packs)
    }

    /// Removes packs, unless a new one is the same. The index goes first: without it nobody looks for
    /// the rest.
    fn remove_packs(&self, packs: &[Pack], made: &BTreeSet<String>) -> Result<()> {
        let dir = self.pack_dir();
        for pack in packs.iter().filter(|pack| !made.contains(&pack.stem)) {
            for extension in ["idx", "rev", "bitmap", "mtimes", "pack"] {
                let path = dir.join(format!("{}.{extension}", pack.stem));
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Error::io("remove", path)(error));
                    }
                    _ => {}
                }
            }
        }
        self.owned.forget();
        sync_folder(&dir)
    }

    /// Folders of loose objects. We write none, but somebody may have run git in the store.
    fn loose_folders(&self) -> Result<Vec<PathBuf>> {
        let dir = self.dir.join("objects");
        let mut folders = Vec::new();
        for entry in fs::read_dir(&dir).map_err(Error::io("list", &dir))? {
            let path = entry.map_err(Error::io("list", &dir))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                folders.push(path);
            }
        }
        Ok(folders)
    }
}

/// A pack in the store.
struct Pack {
    stem: String,
    bytes: u64,
}

fn remove_folder(path: &Path) -> Result<()> {
    fs::remove_dir_all(path).map_err(Error::io("remove", path))
}
