//! The few of git's settings that say which files count and how their content is converted.

use std::path::{Path, PathBuf};

use gix::config::file::{Metadata, includes, init};
use gix::config::{File, Source};

use crate::git::Settings;

/// What git's settings say. Read from git's files only: neither the environment nor a git program is
/// asked, and nothing that a setting names is started.
#[derive(Debug, Clone, Default)]
pub(crate) struct GitConfig {
    /// The user's own rules about ignored files.
    pub excludes_file: Option<PathBuf>,
    /// The user's own attributes.
    pub attributes_file: Option<PathBuf>,
    /// Whether names are compared without regard to case.
    pub ignore_case: bool,
    /// Whether line ends are converted wherever attributes do not say otherwise.
    pub converts_line_ends: bool,
    /// The files that were read or looked for, whose change may change the above.
    pub sources: Vec<PathBuf>,
}

impl GitConfig {
    /// Reads the settings that hold for a repository.
    pub fn read(settings: &Settings, git_dir: &Path, common_dir: &Path) -> Self {
        let xdg = settings.xdg_config_home.clone();
        let xdg = xdg.or_else(|| settings.home.as_ref().map(|home| home.join(".config")));
        let mut files = vec![(Source::System, PathBuf::from("/etc/gitconfig"))];
        files.extend(xdg.as_ref().map(|xdg| (Source::Git, xdg.join("git/config"))));
        files.extend(settings.home.as_ref().map(|home| (Source::User, home.join(".gitconfig"))));
        files.push((Source::Local, common_dir.join("config")));
        let home = settings.home.as_deref();
        let mut sources: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
        let mut config = read_files(files.clone(), home, git_dir);
        if flag(&config, "extensions.worktreeConfig") {
            let path = git_dir.join("config.worktree");
            sources.push(path.clone());
            files.push((Source::Worktree, path));
            config = read_files(files, home, git_dir);
        }
        let path = |key: &str, default: &str| match text(&config, key) {
            Some(value) => expand(&value, home),
            None => xdg.as_ref().map(|xdg| xdg.join("git").join(default)),
        };
        let autocrlf = text(&config, "core.autocrlf");
        let excludes_file = path("core.excludesFile", "ignore");
        let attributes_file = path("core.attributesFile", "attributes");
        sources.extend(excludes_file.clone());
        sources.push(common_dir.join("info/exclude"));
        Self {
            excludes_file,
            attributes_file,
            ignore_case: flag(&config, "core.ignoreCase"),
            converts_line_ends: autocrlf
                .is_some_and(|value| value == "input" || flag(&config, "core.autocrlf")),
            sources,
        }
    }
}

/// Reads what can be read; a file that git itself would choke on counts as empty.
fn read_files(files: Vec<(Source, PathBuf)>, home: Option<&Path>, git_dir: &Path) -> File {
    let mut all = File::default();
    for (source, path) in files {
        let interpolate =
            gix::config::path::interpolate::Context { home_dir: home, ..Default::default() };
        let conditional =
            includes::conditional::Context { git_dir: Some(git_dir), branch_name: None };
        let mut follow = includes::Options::follow(interpolate, conditional);
        follow.err_on_max_depth_exceeded = false;
        follow.err_on_missing_config_path = false;
        let options = init::Options { includes: follow, lossy: true, ignore_io_errors: true };
        let about = Metadata::from(source).at(path);
        let read = File::from_paths_metadata_buf(
            &mut std::iter::once(about),
            &mut Vec::new(),
            false,
            options,
        );
        if let Ok(Some(file)) = read {
            // It fails only for nested sections that no file can have.
            let _ = all.append(file);
        }
    }
    all
}

fn text(config: &File, key: &str) -> Option<String> {
    config.string(key).map(|value| value.to_string())
}

fn flag(config: &File, key: &str) -> bool {
    config.boolean(key).ok().flatten().unwrap_or_default()
}

/// `~/…` is below the home folder; nothing when the value is empty.
fn expand(value: &str, home: Option<&Path>) -> Option<PathBuf> {
    match value.strip_prefix("~/") {
        Some(rest) => home.map(|home| home.join(rest)),
        None => (!value.is_empty()).then(|| PathBuf::from(value)),
    }
}
