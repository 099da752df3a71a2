//! Repositories that want to be executed, and what they must not change.

use super::*;

#[test]
fn nothing_that_a_repository_names_is_executed() {
    // WSP-3, WSP-6
    let repo = Repo::new();
    let marker = repo.home().join("executed");
    let script = repo.home().join("script.sh");
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", marker.display())).unwrap();
    set_mode(&script, 0o755);
    let script = script.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.hooksPath",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.alternateRefsCommand",
        "filter.bad.clean",
        "filter.bad.smudge",
        "filter.bad.process",
        "diff.external",
        "diff.bad.textconv",
        "merge.bad.driver",
        "gpg.program",
        "credential.helper",
        "uploadpack.packObjectsHook",
    ] {
        repo.git(&["config", key, script]);
    }
    repo.git(&["config", "filter.bad.required", "true"]);
    let hooks = repo.root().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in ["reference-transaction", "post-index-change", "pre-commit", "pre-auto-gc"] {
        std::fs::copy(script, hooks.join(hook)).unwrap();
    }
    repo.git(&["config", "--unset", "core.hooksPath"]);
    repo.write(".gitattributes", "* filter=bad diff=bad merge=bad\n");
    repo.write("src/a.txt", "changed\n");
    let workspace = repo.workspace();
    let created = take(&workspace).checkpoint;
    assert_eq!(files(&workspace, &created)["src/a.txt"].1, b"changed\n");
    repo.write("src/a.txt", "changed again\n");
    take(&workspace);
    assert!(!marker.exists());
}

#[test]
fn links_are_data_and_are_never_followed() {
    // WSP-6
    let repo = Repo::new();
    std::fs::create_dir_all(repo.home().join("outside")).unwrap();
    std::fs::write(repo.home().join("outside/secret"), "secret").unwrap();
    let workspace = repo.workspace();
    repo.write("folder/secret", "inside");
    take(&workspace);
    std::fs::remove_dir_all(repo.path("folder")).unwrap();
    symlink(&repo, repo.home().join("outside").to_str().unwrap(), "folder");
    symlink(&repo, "/etc/passwd", ".gitignore");
    let created = take(&workspace).checkpoint;
    let files = files(&workspace, &created);
    assert!(!files.contains_key("folder/secret"));
    assert_eq!(files["folder"].0, EntryMode::Symlink);
    assert_eq!(files[".gitignore"], (EntryMode::Symlink, b"/etc/passwd".to_vec()));
    assert!(!created.violations.is_empty());
}
