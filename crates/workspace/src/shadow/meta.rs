//! What is known about a shadow, kept beside its files and written so that a reader never sees half.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use aurora_model::{CheckpointId, EntryMode, Head, RepoPath, Timestamp, TreeId};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::place::Place;
use crate::shadow::{PromotionMode, Strategy};

/// How a shadow stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Work goes on in it.
    Open,
    /// All of it was promoted.
    Promoted,
    /// It was given up, and its files are going or gone.
    Discarded,
}

/// One promotion out of a shadow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Promotion {
    /// When.
    pub at: Timestamp,
    /// How.
    pub mode: PromotionMode,
    /// What went.
    pub paths: Vec<RepoPath>,
    /// What was there before.
    pub safety: CheckpointId,
    /// What was there after.
    pub promoted: CheckpointId,
}

/// A folder that an overlay covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// The real folder.
    #[serde(with = "path_text")]
    pub lower: PathBuf,
    /// The name, in the shadow's folder, of what holds the changes.
    pub upper: String,
    /// The name, in the shadow's folder, of what the kernel works in.
    pub work: String,
}

/// What is known about a shadow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    /// Its name, such as `shadow-001-a3f2b9c4`.
    pub id: String,
    /// When it was made.
    pub created: Timestamp,
    /// The same moment by the file system's own clock, in nanoseconds since 1970.
    pub epoch_ns: i64,
    /// The worktree that it is a shadow of.
    #[serde(with = "path_text")]
    pub root: PathBuf,
    /// The feature of that worktree.
    pub feature: String,
    /// How it keeps changes away.
    pub strategy: Strategy,
    /// In words: which strategy, and why not a better one.
    pub why: String,
    /// The checkpoint that it began from.
    pub base_checkpoint: Option<CheckpointId>,
    /// What that checkpoint holds.
    pub base_tree: Option<TreeId>,
    /// Where HEAD was.
    pub head: Head,
    /// More changes than this many bytes are too many.
    pub max_bytes: u64,
    /// How it stands.
    pub status: Status,
    /// What an overlay covers: the worktree first, then git folders that lie elsewhere.
    #[serde(default)]
    pub layers: Vec<Layer>,
    /// What is not as in the real worktree.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What was promoted.
    #[serde(default)]
    pub promotions: Vec<Promotion>,
    /// What promotions out of an open shadow put into the worktree: from there its changes count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) settled: BTreeMap<RepoPath, Option<Settled>>,
}

/// A file that a promotion put into the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settled {
    /// What it is.
    pub mode: EntryMode,
    /// Its blob, in digits.
    pub id: String,
}

/// A shadow and where it is.
#[derive(Debug, Clone)]
pub struct Shadow {
    /// Its folder.
    pub dir: PathBuf,
    /// What is known about it.
    pub meta: Meta,
}

/// The right to work in a shadow or to change it; the kernel gives it back when its holders die.
#[derive(Debug)]
pub(crate) struct ShadowLock(pub File);

const META: &str = "meta.json";
const LOCK: &str = "lock";

impl Shadow {
    /// Reads what a folder says about itself; nothing when it was never finished.
    pub fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(META);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let meta = serde_json::from_slice(&text).map_err(|error| Error::Corrupt {
            what: format!("{} is not what was written: {error}", path.display()),
        })?;
        Ok(Some(Self { dir: dir.to_owned(), meta }))
    }

    /// Writes what is known, whole and durably.
    pub fn save(&self) -> Result<()> {
        let path = self.dir.join(META);
        let temporary = self.dir.join("meta.json.new");
        let text = serde_json::to_vec_pretty(&self.meta).map_err(|error| Error::Corrupt {
            what: format!("{} cannot be written down: {error}", self.meta.id),
        })?;
        let write = || {
            let mut options = OpenOptions::new();
            let mut file =
                options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(&text)?;
            file.write_all(b"\n")?;
            file.sync_data()?;
            std::fs::rename(&temporary, &path)
        };
        write().map_err(Error::io("write", &path))
    }

    /// Where the changes of the worktree itself are: the upper layer, or the copy.
    #[must_use]
    pub fn files(&self) -> PathBuf {
        match self.meta.strategy {
            Strategy::Overlay => self.dir.join("upper"),
            Strategy::Reflink | Strategy::Copy => self.dir.join("tree"),
        }
    }

    /// Where a command in the shadow finds the worktree.
    #[must_use]
    pub fn seen_at(&self) -> PathBuf {
        match self.meta.strategy {
            Strategy::Overlay => self.meta.root.clone(),
            Strategy::Reflink | Strategy::Copy => self.dir.join("tree"),
        }
    }

    /// Takes the right to change the shadow; nothing while something works in it.
    pub(crate) fn try_lock(&self) -> Result<Option<ShadowLock>> {
        try_lock(&self.dir)
    }
}

/// Takes the right to a shadow's folder; nothing while somebody has it.
pub(crate) fn try_lock(dir: &Path) -> Result<Option<ShadowLock>> {
    let path = dir.join(LOCK);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(Error::io("open", &path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(ShadowLock(file))),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(Error::io("lock", &path)(errno.into())),
    }
}

/// Makes a folder that only its owner may enter, with those above it.
pub(crate) fn make_private(dir: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(Error::io("create", dir))
}

/// The folder of all shadows of a repository. Its name is the kernel's and ours only: no character
/// that a mount option or a terminal would read as something else.
pub(crate) fn shadows_dir(state_dir: &Path, place: &Place) -> Result<PathBuf> {
    let named = if place.common_dir.file_name().is_some_and(|name| name == ".git") {
        place.common_dir.parent().and_then(Path::file_name)
    } else {
        place.common_dir.file_name()
    };
    let name: String = named
        .unwrap_or_default()
        .as_bytes()
        .iter()
        .take(40)
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(*byte),
            _ => '_',
        })
        .collect();
    let digits = digest(place.common_dir.as_os_str().as_bytes())?;
    Ok(state_dir.join("shadows").join(format!("{name}-{digits}")))
}

/// The first eight digits of a hash.
pub(crate) fn digest(bytes: &[u8]) -> Result<String> {
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes)
        .map_err(|error| Error::Corrupt { what: format!("a hash cannot be computed: {error}") })?;
    Ok(id.to_hex_with_len(8).to_string())
}

impl GitWorkspace {
    /// Where this repository's shadows are.
    pub(crate) fn shadows_dir(&self) -> Result<PathBuf> {
        shadows_dir(&self.settings.state_dir, &self.place)
    }

    /// All shadows of this worktree, the oldest first.
    pub fn shadows(&self) -> Result<Vec<Shadow>> {
        let mut found = Vec::new();
        for dir in folders(&self.shadows_dir()?)? {
            if let Some(shadow) = Shadow::read(&dir)?
                && shadow.meta.root == self.place.root
            {
                found.push(shadow);
            }
        }
        found.sort_by(|one, other| one.meta.id.cmp(&other.meta.id));
        found.sort_by_key(|shadow| number_of(&shadow.meta.id));
        Ok(found)
    }

    /// The shadow of a name: whole, its beginning where only one begins so, its number, or `latest`.
    pub fn find_shadow(&self, name: &str) -> Result<Shadow> {
        let mut all = self.shadows()?;
        let missing = |what: String| Error::NotFound {
            what,
            hint: "`aur shadow list` shows all shadows of this worktree".to_owned(),
        };
        if name == "latest" {
            all.retain(|shadow| shadow.meta.status == Status::Open);
            return all.pop().ok_or_else(|| missing("no shadow is open".to_owned()));
        }
        if let Some(at) = all.iter().position(|shadow| shadow.meta.id == name) {
            return Ok(all.swap_remove(at));
        }
        let number = name.strip_prefix('#').unwrap_or(name).parse::<u64>().ok();
        all.retain(|shadow| match number {
            Some(number) => number_of(&shadow.meta.id) == number,
            None => !name.is_empty() && shadow.meta.id.starts_with(name),
        });
        if all.len() > 1 {
            let names: Vec<&str> = all.iter().map(|shadow| shadow.meta.id.as_str()).collect();
            return Err(missing(format!("several shadows are `{name}`: {}", names.join(", "))));
        }
        all.pop().ok_or_else(|| missing(format!("there is no shadow `{name}`")))
    }
}

/// The number in a shadow's name.
pub(crate) fn number_of(id: &str) -> u64 {
    let digits = id.strip_prefix("shadow-").and_then(|rest| rest.split('-').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The folders in a folder; none when there is no such folder.
pub(crate) fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", dir)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("list", dir))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Paths in JSON: text where they are text, else their bytes as numbers.
mod path_text {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use std::ffi::OsString;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => path.as_os_str().as_bytes().serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Either::deserialize(deserializer)? {
            Either::Text(text) => PathBuf::from(text),
            Either::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Repo;
    use crate::shadow::{CleanupRequest, ShadowRequest};

    fn by_copy() -> ShadowRequest {
        ShadowRequest { strategy: Some(Strategy::Copy), ..ShadowRequest::default() }
    }

    // WSP-5
    #[test]
    fn a_shadow_is_found_by_name_beginning_number_and_as_the_latest() {
        let repo = Repo::new();
        let workspace = repo.workspace();
        assert!(workspace.find_shadow("latest").is_err());
        let one = workspace.create_shadow(&by_copy()).unwrap().meta.id;
        let two = workspace.create_shadow(&by_copy()).unwrap().meta.id;
        let found = |name: &str| workspace.find_shadow(name).map(|shadow| shadow.meta.id).ok();
        assert_eq!(found("latest"), Some(two.clone()));
        assert_eq!(found("1"), Some(one.clone()));
        assert_eq!(found("#2"), Some(two.clone()));
        assert_eq!(found("shadow-001"), Some(one.clone()));
        assert_eq!(found(&two), Some(two));
        for name in ["", "shadow", "9", "nothing"] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    // WSP-5
    #[test]
    fn metadata_is_private_and_survives_what_is_no_text() {
        use std::os::unix::fs::PermissionsExt as _;
        let repo = Repo::new();
        let mut shadow = repo.workspace().create_shadow(&by_copy()).unwrap();
        let mode = shadow.dir.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700);
        shadow.meta.root = PathBuf::from(std::ffi::OsStr::from_bytes(b"/bad\xff"));
        shadow.save().unwrap();
        let read = Shadow::read(&shadow.dir).unwrap().unwrap();
        assert_eq!(read.meta.root, shadow.meta.root);
    }

    // WSP-5
    #[test]
    fn without_a_helper_there_is_a_copy_and_it_is_said_why() {
        let repo = Repo::new();
        let workspace = repo.workspace();
        let shadow = workspace.create_shadow(&ShadowRequest::default()).unwrap();
        assert_ne!(shadow.meta.strategy, Strategy::Overlay);
        assert!(
            shadow.meta.why.contains("no overlay: nobody can enter one"),
            "{}",
            shadow.meta.why
        );
        let gone =
            workspace.cleanup_shadows(&CleanupRequest { also_open: true, ..Default::default() });
        assert!(gone.unwrap().iter().all(|one| one.removed));
        assert!(workspace.store.refs("refs/aurora/shadows/").unwrap().is_empty());
        assert!(workspace.shadows().unwrap().is_empty());
    }

    // WSP-5
    #[test]
    fn a_state_folder_inside_the_repository_is_refused() {
        let repo = Repo::new();
        for below in ["state", ".git/state"] {
            let settings = crate::Settings { state_dir: repo.path(below), ..repo.settings() };
            let workspace = GitWorkspace::open(settings).unwrap();
            let error = workspace.create_shadow(&by_copy()).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            assert!(!repo.path(below).exists());
        }
    }
}
