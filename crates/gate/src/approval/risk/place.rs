//! What a path is to a project: inside it, a document, a test. In doubt it is none of these.

use aurora_model::PathRef;

/// Files of these kinds are read by people and run by nobody.
const DOCUMENTS: [&str; 4] = ["md", "rst", "adoc", "markdown"];
/// Folders whose plain texts and pictures are documents too.
const DOCUMENT_FOLDERS: [&str; 3] = ["docs", "doc", "documentation"];
/// What is a document only in such a folder: `requirements.txt` is none.
const DOCUMENTS_IN_FOLDER: [&str; 5] = ["txt", "png", "jpg", "jpeg", "gif"];
/// Folders of tests.
const TEST_FOLDERS: [&str; 4] = ["tests", "test", "__tests__", "spec"];
/// Documents that agents obey: whoever writes them writes code.
const INSTRUCTIONS: [&str; 5] = ["claude.md", "agents.md", "gemini.md", "skill.md", "copilot.md"];

/// Whether a path is known to lie in the worktree, and not in git's own data.
pub(super) fn is_inside(path: &PathRef) -> bool {
    path.resolved.as_deref().is_some_and(|name| {
        let up = name.split('/').any(|part| part == "..");
        let git = name.split('/').any(|part| part.eq_ignore_ascii_case(".git"));
        !name.is_empty() && !name.starts_with(['/', '~']) && !up && !git
    })
}

/// Whether it is a document: by its kind, or a plain text or picture in a folder of documents.
pub(super) fn is_document(name: &str) -> bool {
    let (folders, file) = split(name);
    let kind = file.rsplit_once('.').map(|(_, kind)| kind.to_ascii_lowercase());
    let Some(kind) = kind.filter(|_| !is_hidden(name)) else { return false };
    let obeyed = INSTRUCTIONS.contains(&file.to_ascii_lowercase().as_str());
    let in_folder = folders.iter().any(|part| DOCUMENT_FOLDERS.contains(part));
    let known = DOCUMENTS.contains(&kind.as_str());
    !obeyed && (known || (in_folder && DOCUMENTS_IN_FOLDER.contains(&kind.as_str())))
}

/// Whether it is a test: by its folder, or by the name that test runners look for.
pub(super) fn is_test(name: &str) -> bool {
    let (folders, file) = split(name);
    if is_hidden(name) {
        return false;
    }
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let by_name = stem.starts_with("test_")
        || [".test", ".spec", "_test", "_spec"].iter().any(|end| stem.ends_with(end));
    by_name || folders.iter().any(|part| TEST_FOLDERS.contains(part))
}

/// Whether a part of it is hidden: what tools keep there is settings.
fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.'))
}

fn split(name: &str) -> (Vec<&str>, &str) {
    match name.rsplit_once('/') {
        Some((folders, file)) => (folders.split('/').collect(), file),
        None => (Vec::new(), name),
    }
}
