//! The folder `.aurora`, in which people's settings and our own state stand side by side.

use std::path::{Path, PathBuf};

use super::atomic;
use crate::exit::Failure;

const GITIGNORE: &str = "# Aurora's own state stays out of git; what people write may go in.
*
!.gitignore
!policies.yaml
!agents.yaml
!approvals.yaml
!config.yaml
";

/// Makes the folder that a file is to stand in.
pub fn make(file: &Path) -> anyhow::Result<()> {
    let folder = file.parent().unwrap_or(file);
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("cannot make folder {}: {error}", folder.display())).into()
    })
}

/// Keeps our state out of git, beside a settings file; where nobody said how, and says where.
pub fn ignore_state(beside: &Path) -> anyhow::Result<Option<PathBuf>> {
    let path = beside.with_file_name(".gitignore");
    if path.symlink_metadata().is_ok() {
        return Ok(None);
    }
    atomic::write(&path, GITIGNORE.as_bytes())?;
    Ok(Some(path))
}
