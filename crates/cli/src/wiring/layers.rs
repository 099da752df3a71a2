//! Layers of settings on disk: the user's, the project's, and a policy named on the command line.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aurora_gate::Policy;
use aurora_gate::policy::{LayerKind, LayerSource};
use aurora_model::run::PolicyLayer;

use super::input;
use super::place::Place;
use crate::exit::Failure;

/// Where a policy lives below a home folder or a project's root.
pub const POLICY_FILE: &str = ".aurora/policies.yaml";
const MAX_LAYER_BYTES: u64 = 1024 * 1024;

/// The policy that holds at a place. A layer that is there but cannot be read or understood is an
/// error, never left out.
pub fn load(place: &Place, explicit: Option<&Path>) -> anyhow::Result<Policy> {
    load_over(place, explicit.map(explicit_layer).transpose()?.as_ref())
}

/// The policy that holds at a place with this layer over the others.
pub fn load_over(place: &Place, explicit: Option<&PolicyLayer>) -> anyhow::Result<Policy> {
    load_layers(place, explicit, None)
}

/// The layer in a file that was named, or in stdin.
pub fn explicit_layer(path: &Path) -> anyhow::Result<PolicyLayer> {
    let name = path.display().to_string();
    let bytes = input::file_or_stdin(path)?;
    let LayerSource { name, text, .. } = source(LayerKind::Explicit, name, bytes)?;
    Ok(PolicyLayer { name, text })
}

/// The policy that would hold if the project's file said this.
pub fn load_as_if(place: &Place, project: &str) -> anyhow::Result<Policy> {
    load_layers(place, None, Some(project))
}

/// The layers of the policy that holds at a place, with the file that was named over the others.
pub fn sources(place: &Place, explicit: Option<&Path>) -> anyhow::Result<Vec<LayerSource>> {
    let found = found(place, POLICY_FILE, "policy")?;
    let mut layers: Vec<LayerSource> = found.into_iter().map(|(_, layer)| layer).collect();
    if let Some(PolicyLayer { name, text }) = explicit.map(explicit_layer).transpose()? {
        layers.push(LayerSource { kind: LayerKind::Explicit, name, text });
    }
    Ok(layers)
}

fn load_layers(
    place: &Place,
    explicit: Option<&PolicyLayer>,
    project: Option<&str>,
) -> anyhow::Result<Policy> {
    let mut layers = sources(place, None)?;
    if let Some(text) = project {
        layers.retain(|layer| layer.kind != LayerKind::Project);
        let (kind, name) = (LayerKind::Project, POLICY_FILE.to_owned());
        layers.push(LayerSource { kind, name, text: text.to_owned() });
    }
    if let Some(PolicyLayer { name, text }) = explicit.cloned() {
        layers.push(LayerSource { kind: LayerKind::Explicit, name, text });
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

/// The layers of a settings file that are there, with their paths: the user's, then the project's.
/// `noun` is what the file is called in a message.
pub fn found(place: &Place, file: &str, noun: &str) -> anyhow::Result<Vec<(PathBuf, LayerSource)>> {
    let mut layers = Vec::new();
    let user_file = super::place::home().map(|home| home.join(file));
    if let Some(path) = &user_file {
        let layer = optional(LayerKind::User, path, format!("~/{file}"), noun)?;
        layers.extend(layer.map(|layer| (path.clone(), layer)));
    }
    if let Some(path) = project_file(place, file).filter(|path| Some(path) != user_file.as_ref()) {
        let here = super::place::cwd().is_some_and(|cwd| cwd.join(file) == path);
        let name = if here { file.to_owned() } else { path.display().to_string() };
        let layer = optional(LayerKind::Project, &path, name, noun)?;
        layers.extend(layer.map(|layer| (path, layer)));
    }
    Ok(layers)
}

/// The project's settings file: at the worktree's root, or without a repository at the nearest
/// folder upwards that has one.
pub fn project_file(place: &Place, file: &str) -> Option<PathBuf> {
    if let Some(repo) = &place.repo {
        return Some(repo.root.join(file));
    }
    let cwd = place.cwd.as_deref()?;
    let home = super::place::home();
    let mut above = cwd.ancestors().skip(1).take_while(|folder| Some(*folder) != home.as_deref());
    if !has_none(&cwd.join(file)) {
        return Some(cwd.join(file));
    }
    above
        .find(|folder| !has_none(&folder.join(file)) && !is_shared(folder))
        .map(|folder| folder.join(file))
}

/// Whether everybody on this machine may put settings there (`/tmp`).
fn is_shared(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    folder.metadata().is_ok_and(|kind| kind.permissions().mode() & 0o002 != 0)
}

/// Whether there is no such file, beyond doubt: neither a link to nothing nor something in the
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
fn optional(
    kind: LayerKind,
    path: &Path,
    name: String,
    noun: &str,
) -> anyhow::Result<Option<LayerSource>> {
    let unreadable = |error: &std::io::Error| unreadable(&name, noun, error);
    let found = std::fs::metadata(path);
    match found {
        Err(_) if has_none(path) => Ok(None),
        Err(error) => Err(unreadable(&error)),
        Ok(kind_on_disk) if !kind_on_disk.is_file() => {
            Err(Failure::usage(format!("cannot read {noun} {name}: it is not a file")).into())
        }
        Ok(_) => {
            let file = std::fs::File::open(path).map_err(|error| unreadable(&error))?;
            let bytes =
                input::capped(file, MAX_LAYER_BYTES)
                    .map_err(|error| unreadable(&error))?
                    .ok_or_else(|| Failure::usage(format!("{noun} {name} is larger than 1 MiB")))?;
            source(kind, name, bytes).map(Some)
        }
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unreadable(name: &str, noun: &str, error: &std::io::Error) -> anyhow::Error {
    let failure = Failure::usage(format!("cannot read {noun} {name}: {error}"));
    match noun {
        "policy" => failure.hint("nothing is judged by a policy that cannot be read").into(),
        _ => failure.into(),
    }
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
