//! Pruning beside a real repository: space comes back, and what is left stays whole.

use std::path::PathBuf;

use aurora_model::ValidationStatus;
use aurora_model::{CheckpointKind, EntryMode, Head, RepoPath, Severity, Timestamp, TreeId};

use super::*;
use crate::fixture::{Repo, now, path};
use crate::git::objects::Entry;
use crate::git::private::Unfinished;
use crate::git::tree;

/// A checkpoint with a number and a tree.
pub(super) fn checkpoint(number: usize, tree: &str) -> Checkpoint {
    Checkpoint {
        checkpoint_id: CheckpointId(format!("ckpt-{number:03}-0000000a")),
        timestamp: Timestamp { unix_ms: 0 },
        previous_checkpoint_id: None,
        feature: "checkout".to_owned(),
        kind: CheckpointKind::Asked,
        message: String::new(),
        tree: TreeId(tree.to_owned()),
        previous_tree: TreeId(tree.to_owned()),
        base_tree: TreeId(tree.to_owned()),
        staged_tree: None,
        head: Head::default(),
        files_changed_since_last: 0,
        skipped: Vec::new(),
        empty_folders: Vec::new(),
        permissions: std::collections::BTreeMap::new(),
        nested: Vec::new(),
        violations: Vec::new(),
        validation_status: ValidationStatus::default(),
        severity: Severity::default(),
    }
}

/// A chain that is recorded as documented, without looking at files.
struct Chain<'a> {
    repo: &'a Repo,
    workspace: GitWorkspace,
    all: Vec<Checkpoint>,
}

impl<'a> Chain<'a> {
    fn new(repo: &'a Repo) -> Self {
        Self { repo, workspace: repo.workspace(), all: Vec::new() }
    }

    fn base(&self) -> ObjectId {
        parse(self.repo.git(&["rev-parse", "HEAD^{tree}"]).trim()).unwrap()
    }

    /// The user's tree with these files on top, and these staged.
    fn record(&mut self, files: &[(&str, &str)], staged: &[(&str, &str)]) {
        let store = &self.workspace.store;
        let base = self.base();
        let mut trees = store.kept(&self.workspace.place).unwrap();
        trees.push(base);
        store.keep(&self.workspace.place, &trees).unwrap();
        let mut pack = PackWriter::new(store).unwrap();
        let objects = store.objects().unwrap();
        let mut with = |base: ObjectId, files: &[(&str, &str)]| {
            let mut edits = std::collections::BTreeMap::new();
            for (name, text) in files {
                let id = pack.add(Kind::Blob, text.as_bytes()).unwrap();
                edits.insert(path(name), Some(Entry { mode: EntryMode::File, id }));
            }
            tree::edit(&objects, &base, &edits, &mut pack).unwrap()
        };
        let tree = with(base, files);
        let empty = objects.empty_tree();
        let staged = (!staged.is_empty()).then(|| TreeId(with(empty, staged).to_string()));
        let number = self.all.len() + 1;
        let mut one = checkpoint(number, &tree.to_string());
        one.timestamp = now();
        one.base_tree = self
            .all
            .first()
            .map_or_else(|| TreeId(base.to_string()), |first| first.base_tree.clone());
        one.head.commit = Some(self.repo.git(&["rev-parse", "HEAD"]).trim().to_owned());
        one.staged_tree = staged;
        let who = "Aurora <aurora@localhost> 0 +0000";
        let told = serde_json::to_string(&one).unwrap();
        let commit = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\ntest\n\n{told}\n");
        let commit = pack.add(Kind::Commit, commit.as_bytes()).unwrap();
        pack.finish().unwrap();
        let name = format!("refs/aurora/checkpoints/checkout/{}", one.checkpoint_id);
        store.set_ref(&name, &commit).unwrap();
        self.all.push(one);
    }

    fn prune(&mut self, retention: &Retention) -> Pruned {
        let lock = self.workspace.store.lock_for_pruning(&self.workspace.place).unwrap();
        let pruned = prune_among(&self.workspace, &self.all, retention, &lock).unwrap();
        self.all.retain(|one| !pruned.forgotten.contains(&one.checkpoint_id));
        pruned
    }

    /// Reads every file of every checkpoint that is left, by us and by git.
    fn check(&self) {
        let git_dir = format!("--git-dir={}", self.workspace.store.dir.display());
        self.repo.git(&[&git_dir, "fsck", "--full", "--strict", "--no-dangling"]);
        self.repo.git(&["fsck", "--strict", "--no-dangling"]);
        let objects = self.repo.workspace().store.objects().unwrap();
        for one in &self.all {
            for tree in [Some(&one.tree), one.staged_tree.as_ref()].into_iter().flatten() {
                for (path, entry) in tree::list(&objects, &parse(&tree.0).unwrap()).unwrap() {
                    let read = objects.blob(&entry.id);
                    assert!(read.is_ok(), "{} {path}: {read:?}", one.checkpoint_id);
                }
            }
            tree::list(&objects, &parse(&one.base_tree.0).unwrap()).unwrap();
        }
    }

    fn has(&self, text: &str) -> bool {
        let id = crate::git::pack::name(self.workspace.store.hash, Kind::Blob, text.as_bytes());
        self.repo.workspace().store.objects().unwrap().contains(&id.unwrap())
    }
}

fn last(number: u64) -> Retention {
    Retention { keep_last: Some(number), ..Retention::default() }
}

fn packs(chain: &Chain<'_>) -> Vec<PathBuf> {
    let dir = chain.workspace.store.dir.join("objects/pack");
    let all = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|extension| extension == "pack")).collect()
}

#[test]
fn what_is_forgotten_gives_its_space_back_and_the_rest_stays_whole() {
    // WSP-2: size is the second loudest complaint about tools of this kind.
    let repo = Repo::new();
    let mut chain = Chain::new(&repo);
    for number in 0..6 {
        let text = format!("version {number}\n{}", "the same lines\n".repeat(2000));
        chain.record(&[("src/big.txt", &text), ("new.txt", &format!("only {number}"))], &[]);
    }
    chain.check();
    assert_eq!(packs(&chain).len(), 6);
    let dry = Retention { dry_run: true, ..last(2) };
    let told = dry_run(&chain.workspace, &chain.all, &dry).unwrap();
    assert_eq!((told.forgotten.len(), told.kept), (4, 2));
    assert_eq!(packs(&chain).len(), 6);
    fs::create_dir(chain.workspace.place.feature_dir.join("checkpoints")).unwrap();
    let about = |number: u32| {
        let name = format!("checkpoints/ckpt-{number:03}-0000000a.diff");
        chain.workspace.place.feature_dir.join(name)
    };
    fs::write(about(1), "secret").unwrap();
    fs::write(about(6), "kept").unwrap();
    let (first, sixth) = (about(1), about(6));

    let pruned = chain.prune(&last(2));
    assert_eq!((pruned.forgotten.len(), pruned.kept), (4, 2));
    assert!(pruned.bytes_after < pruned.bytes_before / 4, "{pruned:?}");
    assert_eq!(packs(&chain).len(), 1);
    assert!(!chain.has("only 3") && chain.has("only 4") && chain.has("only 5"));
    assert!(!first.exists() && sixth.exists());
    chain.check();
    // Nothing more to do is done without harm.
    chain.prune(&last(2));
    chain.check();

    let last_but_one = vec![chain.all[0].checkpoint_id.clone()];
    let pruned = chain.prune(&Retention { forget: last_but_one, ..Retention::default() });
    assert_eq!(pruned.kept, 1);
    assert!(!chain.has("only 4") && chain.has("only 5"));
    chain.check();
}

#[test]
fn what_the_user_has_too_stays_ours_and_what_was_staged_stays() {
    // WSP-2: the user may throw away tomorrow what they have committed today.
    let repo = Repo::new();
    let mut chain = Chain::new(&repo);
    chain.record(&[("a.txt", "ours first")], &[("b.txt", "staged only")]);
    chain.record(&[("a.txt", "second")], &[]);
    repo.write("a.txt", "ours first");
    repo.commit("the same content");
    chain.prune(&last(5));
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert!(chain.has("ours first") && chain.has("staged only"));
    chain.check();
}

#[test]
fn trees_of_the_user_are_released_or_copied_when_nobody_needs_them_kept() {
    // WSP-2
    let repo = Repo::new();
    let mut chain = Chain::new(&repo);
    chain.record(&[("x", "1")], &[]);
    repo.write("src/a.txt", "content of the second commit\n");
    repo.commit("second");
    chain.record(&[("x", "2")], &[]);
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo.write("other", "content of the third commit\n");
    repo.commit("third");
    chain.record(&[("x", "3")], &[]);
    assert_eq!(chain.workspace.store.kept(&chain.workspace.place).unwrap().len(), 3);

    // The second one's tree is reached by few objects: they are copied and the tree is let go.
    let forget = vec![chain.all[0].checkpoint_id.clone()];
    chain.prune(&Retention { forget, ..Retention::default() });
    assert_eq!(chain.workspace.store.kept(&chain.workspace.place).unwrap().len(), 2);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert!(chain.has("content of the second commit\n"));
    chain.check();
}

#[test]
fn another_feature_and_unfinished_work_lose_nothing() {
    // WSP-2
    let repo = Repo::new();
    let mut chain = Chain::new(&repo);
    chain.record(&[("x", "first")], &[]);
    chain.record(&[("x", "of the other feature")], &[("y", "staged there")]);
    let other = chain.all.pop().unwrap();
    let store = &chain.workspace.store;
    let from = format!("refs/aurora/checkpoints/checkout/{}", other.checkpoint_id);
    let (_, commit) = store.refs(&from).unwrap().remove(0);
    store.set_ref("refs/aurora/checkpoints/other/ckpt-001-0000000a", &commit).unwrap();
    store.remove_ref(&from).unwrap();
    chain.record(&[("x", "second")], &[]);

    let journal = chain.workspace.place.aurora_dir.join("features/other/journal");
    fs::create_dir_all(journal.parent().unwrap()).unwrap();
    fs::write(&journal, "unfinished").unwrap();
    let pruned = chain.prune(&last(1));
    assert_eq!(pruned.forgotten.len(), 1);
    assert!(chain.has("first"), "somebody may still need it");
    fs::remove_file(&journal).unwrap();
    chain.prune(&last(1));
    assert!(!chain.has("first"));
    assert!(chain.has("of the other feature") && chain.has("staged there") && chain.has("second"));
    chain.check();
}

#[test]
fn many_small_packs_become_few_and_lose_nothing() {
    // WSP-2
    let repo = Repo::new();
    let mut chain = Chain::new(&repo);
    let mut pack = PackWriter::new(&chain.workspace.store).unwrap();
    pack.add(Kind::Blob, b"that no ref reaches").unwrap();
    pack.finish().unwrap();
    // Somebody reads all the time, and must not notice.
    let reader = chain.workspace.store.objects().unwrap();
    for number in 0..60 {
        let first = chain.all.first().map(|one| parse(&one.tree.0).unwrap());
        let listed = first.map(|tree| tree::list(&reader, &tree).unwrap());
        assert!(listed.is_none_or(|listed| listed.len() == 3), "{number}");
        chain.record(&[("x", &format!("version {number}"))], &[]);
        let repacked = chain.workspace.store.repack_if_due(&chain.workspace.place).unwrap();
        assert_eq!(repacked, number == 48, "{number}");
    }
    assert!(packs(&chain).len() < 20, "{:?}", packs(&chain));
    assert!(chain.has("that no ref reaches"));
    for one in &chain.all {
        let listed = tree::list(&reader, &parse(&one.tree.0).unwrap()).unwrap();
        assert!(listed.iter().all(|(_, entry)| reader.blob(&entry.id).is_ok()));
    }
    chain.check();
}

#[test]
fn leftovers_of_a_crash_go_and_what_is_being_written_stays() {
    // WSP-2
    let repo = Repo::new();
    let mut chain = Chain::new(&repo);
    let dir = chain.workspace.store.dir.join("objects/pack");
    let (old, of_git) = (dir.join("tmp_aurora_1_1"), dir.join("tmp_pack_abc"));
    let half = chain.workspace.place.aurora_dir.join("tmp_aurora_1_3");
    for path in [&old, &of_git] {
        fs::write(path, "half").unwrap();
    }
    fs::create_dir_all(half.join("objects")).unwrap();
    // What a rollback rescued is the user's, whatever its name.
    let rescued = chain.workspace.place.feature_dir.join("rescued/tmp_pack_x");
    fs::create_dir_all(rescued.parent().unwrap()).unwrap();
    fs::write(&rescued, "precious").unwrap();
    let replacing = chain.workspace.place.feature_dir.join("state.json.new");
    fs::write(&replacing, "half").unwrap();
    let alive = Unfinished::create(&dir, 0o444).unwrap();
    let alive_folder = Unfinished::create_folder(&chain.workspace.place.aurora_dir).unwrap();
    chain.workspace.store.objects().unwrap();
    assert!(!old.exists() && of_git.exists() && half.exists());
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    for path in [&of_git, &rescued, &replacing] {
        fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
    }
    chain.prune(&Retention::default());
    assert!(!of_git.exists() && !half.exists() && !replacing.exists());
    assert!(rescued.exists());
    assert!(alive.path.exists() && alive_folder.path.exists());
}

#[test]
fn a_listing_of_names_survives_newlines() {
    // WSP-2: names go to git on lines of their own.
    let repo = Repo::new();
    let mut chain = Chain::new(&repo);
    let store = &chain.workspace.store;
    let mut pack = PackWriter::new(store).unwrap();
    let id = pack.add(Kind::Blob, b"odd").unwrap();
    let name = RepoPath::new(b"a\nb \xff".to_vec()).unwrap();
    let listing = [(name, Entry { mode: EntryMode::File, id })];
    let tree = tree::build(store.hash, &listing, &|_| false, &mut pack).unwrap();
    pack.finish().unwrap();
    store.set_ref("refs/aurora/checkpoints/checkout/odd", &tree).unwrap();
    chain.prune(&last(1));
    assert!(chain.has("odd"));
}

#[test]
fn a_kill_between_the_steps_leaves_every_remaining_checkpoint_whole() {
    // WSP-2: each step is taken alone, as if the next had never come; then all is done again.
    for stop_after in 0..4 {
        let repo = Repo::new();
        let mut chain = Chain::new(&repo);
        chain.record(&[("x", "1")], &[]);
        repo.write("src/a.txt", "thrown away later\n");
        repo.commit("second");
        chain.record(&[("x", "2")], &[("y", "staged")]);
        repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        chain.record(&[("x", "3")], &[]);
        let (store, place) = (&chain.workspace.store, &chain.workspace.place);
        let lock = store.lock_for_pruning(place).unwrap();
        let doomed = [chain.all.remove(0).checkpoint_id];
        let left: Vec<&Checkpoint> = chain.all.iter().collect();
        let keep = secure(store, place, &left).unwrap();
        if stop_after > 0 {
            forget(store, place, &doomed).unwrap();
        }
        if stop_after > 1 {
            let objects = store.objects().unwrap();
            let mut reach = Reach::new(store, &objects);
            store.refs("refs/").unwrap().into_iter().for_each(|(_, id)| reach.add(id).unwrap());
            store.retain_only(place, &reach.owned).unwrap();
        }
        if stop_after > 2 {
            store.keep(place, &keep).unwrap();
        }
        drop(lock);
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        repo.git(&["gc", "--quiet", "--prune=now"]);
        chain.check();
        chain.prune(&Retention::default());
        chain.check();
    }
}

#[test]
fn what_was_forgotten_is_stored_again_when_it_comes_back() {
    // WSP-2: what we remember about unchanged files must not name contents that are gone.
    use crate::{CheckpointRequest, Workspace as _};
    let repo = Repo::new();
    let workspace = repo.workspace();
    let record = || workspace.checkpoint(&CheckpointRequest::default()).unwrap().checkpoint;
    repo.write("kept.txt", "in all of them\n");
    let first = record();
    repo.write("new.txt", "only in the second\n");
    let second = record();
    fs::remove_file(repo.path("new.txt")).unwrap();
    record();
    let forget = vec![first.checkpoint_id, second.checkpoint_id];
    workspace.prune(&Retention { forget, ..Retention::default() }).unwrap();
    repo.write("new.txt", "only in the second\n");
    let next = record();
    for name in ["kept.txt", "new.txt", "README.md"] {
        let read = repo.workspace().read(&next.tree, &path(name)).unwrap();
        assert_eq!(read.map(|content| content.bytes), repo.read(name), "{name}");
    }
}
