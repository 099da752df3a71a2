//! The policy's layers on disk: the user's, the project's, and one named on the command line.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aurora_gate::Policy;
use aurora_gate::policy::{LayerKind, LayerSource};

use super::input;
use super::place::Place;
use crate::exit::Failure;

/// Where a policy lives below a home folder or a project's root.
pub const POLICY_FILE: &str = ".aurora/policies.yaml";
const MAX_POLICY_BYTES: u64 = 1024 * 1024;

/// The policy that holds at a place. A layer that is there but cannot be read or understood is an
/// error, never left out.
pub fn load(place: &Place, explicit: Option<&Path>) -> anyhow::Result<Policy> {
    load_layers(place, explicit, None)
}

/// The policy that would hold if the project's file said this.
pub fn load_as_if(place: &Place, project: &str) -> anyhow::Result<Policy> {
    load_layers(place, None, Some(project))
}

fn load_layers(
    place: &Place,
    explicit: Option<&Path>,
    project: Option<&str>,
) -> anyhow::Result<Policy> {
    let mut layers = Vec::new();
    let user_file = super::place::home().map(|home| home.join(POLICY_FILE));
    if let Some(path) = &user_file {
        layers.extend(optional(LayerKind::User, path, format!("~/{POLICY_FILE}"))?);
    }
    if let Some(path) = project_file(place).filter(|path| Some(path) != user_file.as_ref()) {
        let here = super::place::cwd().is_some_and(|cwd| cwd.join(POLICY_FILE) == path);
        let name = if here { POLICY_FILE.to_owned() } else { path.display().to_string() };
        layers.extend(match project {
            Some(text) => {
                Some(LayerSource { kind: LayerKind::Project, name, text: text.to_owned() })
            }
            None => optional(LayerKind::Project, &path, name)?,
        });
    }
    if let Some(path) = explicit {
        let name = path.display().to_string();
        let bytes = input::file_or_stdin(path)?;
        layers.push(source(LayerKind::Explicit, name, bytes)?);
    }
    if layers.is_empty() {
        return Ok(Policy::builtin());
    }
    Policy::load(&layers).map_err(|errors| {
        Failure::usage(errors.to_string())
            .hint("nothing is judged by a policy that cannot be read; correct the file")
            .into()
    })
}

/// The project's policy file: at the worktree's root, or without a repository at the nearest
/// folder upwards that has one.
pub fn project_file(place: &Place) -> Option<PathBuf> {
    if let Some(repo) = &place.repo {
        return Some(repo.root.join(POLICY_FILE));
    }
    let cwd = place.cwd.as_deref()?;
    let home = super::place::home();
    let mut above = cwd.ancestors().skip(1).take_while(|folder| Some(*folder) != home.as_deref());
    if !has_none(&cwd.join(POLICY_FILE)) {
        return Some(cwd.join(POLICY_FILE));
    }
    above
        .find(|folder| !has_none(&folder.join(POLICY_FILE)) && !is_shared(folder))
        .map(|folder| folder.join(POLICY_FILE))
}

/// Whether everybody on this machine may put a policy there (`/tmp`).
fn is_shared(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    folder.metadata().is_ok_and(|kind| kind.permissions().mode() & 0o002 != 0)
}

/// Whether there is no policy file, beyond doubt: neither a link to nothing nor something in the
/// place of its folder is absence.
fn has_none(path: &Path) -> bool {
    let Err(error) = path.symlink_metadata() else { return false };
    let folder = path.parent().unwrap_or(path);
    if folder.symlink_metadata().is_err_and(|error| is_absence(&error)) {
        return true;
    }
    is_absence(&error) && folder.is_dir()
}

/// A layer that may be absent.
fn optional(kind: LayerKind, path: &Path, name: String) -> anyhow::Result<Option<LayerSource>> {
    let found = std::fs::metadata(path);
    match found {
        Err(_) if has_none(path) => Ok(None),
        Err(error) => Err(unreadable(&name, &error)),
        Ok(kind_on_disk) if !kind_on_disk.is_file() => {
            Err(Failure::usage(format!("cannot read policy {name}: it is not a file")).into())
        }
        Ok(_) => {
            let file = std::fs::File::open(path).map_err(|error| unreadable(&name, &error))?;
            let bytes = input::capped(file, MAX_POLICY_BYTES)
                .map_err(|error| unreadable(&name, &error))?
                .ok_or_else(|| Failure::usage(format!("policy {name} is larger than 1 MiB")))?;
            source(kind, name, bytes).map(Some)
        }
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unreadable(name: &str, error: &std::io::Error) -> anyhow::Error {
    Failure::usage(format!("cannot read policy {name}: {error}"))
        .hint("nothing is judged by a policy that cannot be read")
        .into()
}

fn source(kind: LayerKind, name: String, bytes: Vec<u8>) -> anyhow::Result<LayerSource> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(LayerSource { kind, name, text }),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default())
                .into_owned();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            Err(Failure::usage(format!("{name}:{line}:{column}: this is not UTF-8 text")).into())
        }
    }
}
