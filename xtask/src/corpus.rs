//! Reads the gate's corpus: the lines that fuzzing starts from and that the bench measures.

use std::path::Path;

use aurora_model::Context;
use serde::Deserialize;

/// One line with the place where it would run; what it expects is the gate's own business.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    /// The shell line.
    pub run: String,
    /// The checked-out branch.
    pub branch: Option<String>,
    /// The current folder.
    pub cwd: Option<String>,
    /// The worktree, where it is not the usual one.
    pub root: Option<String>,
    /// The home folder, where it is not the usual one.
    pub home: Option<String>,
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

impl Case {
    /// The place of a case, as the gate's own corpus test has it.
    #[must_use]
    pub fn context(&self) -> Context {
        let root = self.root.clone().unwrap_or_else(|| "/home/u/proj".to_owned());
        Context {
            cwd: Some(self.cwd.clone().unwrap_or_else(|| root.clone())),
            root: Some(root),
            home: Some(self.home.clone().unwrap_or_else(|| "/home/u".to_owned())),
            branch: Some(self.branch.clone().unwrap_or_else(|| "feature/x".to_owned())),
            ..Context::default()
        }
    }
}

/// Every case of every file in the corpus, in the order of the files' names.
///
/// # Errors
/// When a file of the corpus cannot be read.
pub fn cases(root: &Path) -> Result<Vec<Case>, String> {
    let folder = root.join("crates/gate/corpus");
    let listed = std::fs::read_dir(&folder)
        .map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    let mut files: Vec<_> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let file: File = toml::from_str(&text)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        all.extend(file.cases);
    }
    Ok(all)
}
