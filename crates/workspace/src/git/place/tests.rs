//! Where things are, with real repositories of all kinds.

use super::*;
use crate::fixture::Repo;

fn find_from(repo: &Repo, from: &Path) -> Result<Place> {
    Place::find(&Settings { from: from.to_owned(), ..repo.settings() })
}

#[test]
fn the_main_worktree_is_found_from_any_folder_inside() {
    // WSP-1
    let repo = Repo::new();
    let place = find_from(&repo, &repo.root().join("src")).unwrap();
    assert_eq!(place.root, fs::canonicalize(repo.root()).unwrap());
    assert_eq!(place.git_dir, place.root.join(".git"));
    assert_eq!(place.common_dir, place.git_dir);
    assert_eq!(place.feature, "checkout");
    assert_eq!(place.feature_dir, place.root.join(".git/aurora/features/checkout"));
    assert_eq!(place.projections_dir, place.feature_dir);
    assert_eq!(place.hash, gix::hash::Kind::Sha1);
}

#[test]
fn projections_go_where_people_look_unless_a_link_leads_elsewhere() {
    // WSP-1
    let repo = Repo::new();
    fs::create_dir(repo.path(".aurora")).unwrap();
    let place = find_from(&repo, &repo.root()).unwrap();
    assert_eq!(place.projections_dir, place.root.join(".aurora/features/checkout"));
    std::os::unix::fs::symlink(repo.home(), repo.path(".aurora/features")).unwrap();
    let place = find_from(&repo, &repo.root()).unwrap();
    assert_eq!(place.projections_dir, place.feature_dir);
}

#[test]
fn home_and_root_and_what_holds_home_are_refused() {
    // WSP-1: a checkpoint of a whole home folder is never meant.
    let repo = Repo::new();
    let inside = repo.root().join("src");
    for home in [repo.root(), inside] {
        let settings = Settings { home: Some(home), ..repo.settings() };
        let error = Place::find(&settings).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("project")));
    }
    assert!(matches!(refuse_too_much(Path::new("/"), None), Err(Error::Refused { .. })));
}

#[test]
fn no_repository_a_bare_one_and_gits_own_data_are_told_apart() {
    // WSP-1
    let repo = Repo::new();
    let outside = find_from(&repo, &repo.home()).unwrap_err();
    assert!(outside.to_string().contains("is not in a git repository"), "{outside}");
    repo.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    for bare in ["bare.git", "bare.git/objects"] {
        let error = find_from(&repo, &repo.root().join("..").join(bare)).unwrap_err();
        assert!(error.to_string().contains("bare repository"), "{error}");
    }
    for inside in [".git", ".git/objects"] {
        let error = find_from(&repo, &repo.root().join(inside)).unwrap_err();
        assert!(error.to_string().contains("git's own data"), "{error}");
    }
    repo.git(&["config", "core.bare", "true"]);
    assert!(matches!(find_from(&repo, &repo.root()), Err(Error::NoRepository { .. })));
}

#[test]
fn a_linked_worktree_has_a_feature_of_its_own_and_a_copy_of_it_is_refused() {
    // WSP-2
    let repo = Repo::new();
    repo.git(&["worktree", "add", "--quiet", "-b", "x", "../checkout"]);
    repo.git(&["worktree", "add", "--quiet", "-b", "y", "../login"]);
    let beside = |name: &str| repo.root().parent().unwrap().join(name);
    let place = find_from(&repo, &beside("login")).unwrap();
    let main = find_from(&repo, &repo.root()).unwrap();
    assert_eq!(place.feature, "login");
    assert_eq!(place.common_dir, main.common_dir);
    assert_eq!(place.git_dir, main.git_dir.join("worktrees/login"));
    assert_eq!(find_from(&repo, &beside("checkout")).unwrap().feature, "checkout-worktree");

    fs::create_dir(beside("copy")).unwrap();
    fs::copy(beside("login/.git"), beside("copy/.git")).unwrap();
    let error = find_from(&repo, &beside("copy")).unwrap_err();
    assert!(error.to_string().contains("is a copy of the worktree"), "{error}");
    // One that was moved is no copy: the original is gone.
    fs::rename(beside("login"), beside("moved")).unwrap();
    assert_eq!(find_from(&repo, &beside("moved")).unwrap().feature, "login");
}

#[test]
fn a_worktree_of_a_bare_repository_is_fine() {
    // WSP-2
    let repo = Repo::new();
    repo.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    repo.git(&["--git-dir=../bare.git", "worktree", "add", "--quiet", "../tree"]);
    let place = find_from(&repo, &repo.root().join("../tree")).unwrap();
    assert!(place.common_dir.ends_with("bare.git"));
    assert_eq!(place.feature, "tree");
}

#[test]
fn a_submodule_is_a_main_worktree_of_its_own() {
    // WSP-1
    let repo = Repo::new();
    repo.git(&["clone", "--quiet", "--bare", ".", "../other.git"]);
    repo.git(&["submodule", "--quiet", "add", "../other.git", "lib"]);
    let place = find_from(&repo, &repo.path("lib/src")).unwrap();
    assert_eq!(place.root, fs::canonicalize(repo.path("lib")).unwrap());
    assert_eq!(place.feature, "checkout");
    assert!(place.common_dir.ends_with(".git/modules/lib"));
}

#[test]
fn a_core_worktree_that_points_elsewhere_is_refused() {
    // WSP-6: a hostile setting must not make another folder ours.
    let repo = Repo::new();
    repo.git(&["config", "core.worktree", repo.home().to_str().unwrap()]);
    let error = find_from(&repo, &repo.root()).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    repo.git(&["config", "core.worktree", ".."]);
    assert!(find_from(&repo, &repo.root()).is_ok());
}

#[test]
fn known_formats_are_fine_and_unknown_ones_are_not() {
    // WSP-1
    for (key, value, fine) in [
        ("extensions.preciousObjects", "true", true),
        ("extensions.partialClone", "origin", true),
        ("extensions.worktreeConfig", "true", true),
        ("extensions.relativeWorktrees", "true", true),
        ("extensions.objectFormat", "sha256", true),
        ("extensions.refStorage", "reftable", true),
        ("extensions.objectFormat", "sha512", false),
        ("extensions.refStorage", "cloud", false),
        ("extensions.fromTheFuture", "true", false),
        ("core.repositoryFormatVersion", "2", false),
    ] {
        let repo = Repo::new();
        let config = repo.path(".git/config");
        let (section, name) = key.split_once('.').unwrap();
        let mut text = fs::read_to_string(&config).unwrap();
        text.push_str("[core]\n\trepositoryformatversion = 1\n");
        text.push_str(&format!("[{section}]\n\t{name} = {value}\n"));
        fs::write(&config, text).unwrap();
        let found = find_from(&repo, &repo.root());
        assert_eq!(found.is_ok(), fine, "{key}={value}: {found:?}");
    }
    let repo = Repo::new();
    fs::write(repo.path(".git/config"), "[core\nnonsense").unwrap();
    let error = find_from(&repo, &repo.root()).unwrap_err();
    assert!(error.to_string().contains("cannot be understood"), "{error}");
}

#[test]
fn a_git_file_that_leads_nowhere_says_so() {
    // WSP-1
    let repo = Repo::empty();
    fs::create_dir(repo.path("sub")).unwrap();
    for text in ["gitdir: /nonexistent\n", "gibberish", "gitdir: \n"] {
        repo.write("sub/.git", text);
        let error = find_from(&repo, &repo.path("sub")).unwrap_err();
        assert!(matches!(error, Error::NoRepository { .. }), "{error}");
    }
}
