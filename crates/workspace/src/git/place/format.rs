//! The format of a repository: what git's own reading of `config` decides before anything else.

use std::fs;
use std::io;
use std::path::Path;

use gix::bstr::ByteSlice as _;

use crate::error::{Error, Result};

/// What the repository's `config` says about its format.
pub(super) struct Format {
    pub hash: gix::hash::Kind,
    pub bare: bool,
    pub worktree: Option<Vec<u8>>,
    pub reftable: bool,
}

impl Format {
    /// Reads `config` and, where that says so, `config.worktree`. Files that these include are not
    /// looked at, as git does not for the format.
    pub fn read(git_dir: &Path, common_dir: &Path) -> Result<Self> {
        let config = parsed(&common_dir.join("config"))?;
        let mut format = Self {
            hash: gix::hash::Kind::Sha1,
            bare: boolean(&config, "core.bare"),
            worktree: config.string("core.worktree").map(Vec::from),
            reftable: false,
        };
        format.read_extensions(&config, common_dir)?;
        if boolean(&config, "extensions.worktreeConfig") {
            let own = parsed(&git_dir.join("config.worktree"))?;
            if own.string_implicit("core.bare").is_some() {
                format.bare = boolean(&own, "core.bare");
            }
            if let Some(worktree) = own.string("core.worktree") {
                format.worktree = Some(worktree.into());
            }
        }
        Ok(format)
    }

    fn read_extensions(&mut self, config: &gix::config::File, common_dir: &Path) -> Result<()> {
        let unknown = |what: String| Error::NoRepository {
            what: format!("the repository {} {what}", common_dir.display()),
            hint: "a newer version may know this format",
        };
        let version = config.string("core.repositoryFormatVersion");
        let version = version.map_or(0, |text| {
            text.to_str().ok().and_then(|text| text.trim().parse().ok()).unwrap_or(u32::MAX)
        });
        if version > 1 {
            return Err(unknown("has a format version that is not known".to_owned()));
        }
        for section in config.sections_by_name("extensions").into_iter().flatten() {
            for name in section.value_names() {
                let name = name.to_ascii_lowercase();
                let value = section.value(&name).map(|value| value.to_string()).unwrap_or_default();
                let value = value.to_ascii_lowercase();
                match (name.as_str(), value.as_str()) {
                    ("noop" | "preciousobjects" | "partialclone" | "worktreeconfig", _) => {}
                    ("objectformat", "sha1") if version == 1 => self.hash = gix::hash::Kind::Sha1,
                    ("objectformat", "sha256") if version == 1 => {
                        self.hash = gix::hash::Kind::Sha256;
                    }
                    ("refstorage", "files") if version == 1 => self.reftable = false,
                    ("refstorage", "reftable") if version == 1 => self.reftable = true,
                    ("noop-v1" | "relativeworktrees", _) if version == 1 => {}
                    ("objectformat" | "refstorage", _) => {
                        return Err(unknown(format!("has the extension `{name}` of `{value}`")));
                    }
                    // Git ignores what it does not know in a repository of version 0.
                    _ if version == 0 => {}
                    _ => return Err(unknown(format!("has the extension `{name}`"))),
                }
            }
        }
        Ok(())
    }
}

fn boolean(config: &gix::config::File, key: &str) -> bool {
    config.boolean(key).ok().flatten().unwrap_or(false)
}

/// A configuration file; one that is not there is empty.
fn parsed(path: &Path) -> Result<gix::config::File> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let meta = gix::config::file::Metadata::api();
    gix::config::File::from_bytes_no_includes(
        &bytes,
        meta,
        gix::config::file::init::Options::default(),
    )
    .map_err(|_| Error::NoRepository {
        what: format!("git's settings in {} cannot be understood", path.display()),
        hint: "look at the file: git itself will say which line is wrong",
    })
}
