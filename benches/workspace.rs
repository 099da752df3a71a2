//! How fast checkpoints, diffs, rollbacks and shadows are, each as a ratio to plain git or `cp -a`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aurora_model::{Timestamp, TreeId};
use aurora_workspace::shadow::run::{self, RunRequest};
use aurora_workspace::shadow::{Base, Helper, Namespace, PromotionRequest, ShadowRequest};
use aurora_workspace::watchdog::{self, Watchdog};
use aurora_workspace::{
    CheckpointRequest, Created, GitWorkspace, OnUnchanged, RollbackRequest, Scan, Scanned,
    Settings, Silent, UndoRequest, Workspace as _,
};
use xtask::bench::{Row, at, program};
use xtask::say;

/// How many files the repositories have, unless the command line says otherwise.
const FILES: [usize; 3] = [1_000, 20_000, 100_000];
/// How many files are changed or new.
const CHANGES: [usize; 3] = [10, 1_000, 5_000];
/// How often each is measured; the middle one counts.
const ROUNDS: usize = 5;
/// Files per folder.
const PER_FOLDER: usize = 10;

type Outcome<T> = Result<T, String>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` starts this too, and wants it to be over.
    if !args.iter().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let asked: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if asked.is_empty() { FILES.to_vec() } else { asked };
    say::line(&Row::head().text());
    for files in sizes {
        let yard = Yard::new(files)?;
        for changes in CHANGES.into_iter().filter(|changes| *changes <= files) {
            for row in measure(&yard, changes)? {
                say::line(&row.text());
            }
        }
        for row in shadows(&yard)? {
            say::line(&row.text());
        }
    }
    Ok(())
}

/// A repository that both sides work in, in turn.
struct Yard {
    dir: PathBuf,
    files: usize,
}

impl Drop for Yard {
    fn drop(&mut self) {
        // What is left in the temporary folder of a bench harms nobody.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Yard {
    fn new(files: usize) -> Outcome<Self> {
        let dir = std::env::temp_dir().join(format!("aurora-bench-{}-{files}", std::process::id()));
        let yard = Self { dir, files };
        fs::create_dir_all(yard.root()).map_err(told("make the repository"))?;
        for file in 0..files {
            write(&yard.root(), &path_of(file), &content(file, 0))?;
        }
        yard.git(&["init", "--quiet", "--initial-branch=main"], None)?;
        yard.git(&["add", "--all"], None)?;
        yard.git(&["commit", "--quiet", "--message", "all of it"], None)?;
        yard.git(&["repack", "-adq"], None)?;
        Ok(yard)
    }

    fn root(&self) -> PathBuf {
        self.dir.join("repo")
    }

    fn edit(&self, changes: usize, round: usize) -> Outcome<()> {
        edit(&self.root(), self.files, changes, round)
    }

    /// Everything as it was committed.
    fn tidy(&self) -> Outcome<()> {
        self.git(&["clean", "-fdq"], None)?;
        self.git(&["checkout", "--quiet", "--force", "."], None)?;
        Ok(())
    }

    fn git(&self, args: &[&str], index: Option<&Path>) -> Outcome<String> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0"]);
        git.args(args).current_dir(self.root()).stdin(Stdio::null());
        if let Some(index) = index {
            git.env("GIT_INDEX_FILE", index);
        }
        let output = git.output().map_err(told("start git"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("git {args:?}: {said}"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn settings(&self) -> Settings {
        Settings {
            from: self.root(),
            home: None,
            xdg_config_home: None,
            path: std::env::var_os("PATH").unwrap_or_default(),
            state_dir: self.dir.join("state"),
            progress: Arc::new(Silent),
            now,
        }
    }

    fn open(&self) -> Outcome<GitWorkspace> {
        GitWorkspace::open(self.settings()).map_err(|error| error.to_string())
    }
}

fn write(root: &Path, path: &str, text: &str) -> Outcome<()> {
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(told("make a folder"))?;
    }
    fs::write(path, text).map_err(told("write a file"))
}

/// Changes half as many of the files and adds as many new ones, in a way that no earlier round did.
fn edit(root: &Path, files: usize, changes: usize, round: usize) -> Outcome<()> {
    for change in 0..changes {
        let file = if change % 2 == 0 {
            path_of(change * (files / changes).max(1) % files)
        } else {
            format!("new/{}/n{change}.txt", change / PER_FOLDER)
        };
        write(root, &file, &content(change, round + 1))?;
    }
    Ok(())
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap_or_default() }
}

fn path_of(file: usize) -> String {
    let folder = file / PER_FOLDER;
    format!("src/d{}/e{}/f{file}.rs", folder / 100, folder % 100)
}

/// About two kilobytes of lines that differ from file to file and from round to round.
fn content(file: usize, round: usize) -> String {
    let mut text = format!("// file {file}, round {round}\n");
    for line in 0..40 {
        let odd = (file * 2_654_435_761 + line * 40_503) % 1_000_003;
        text.push_str(&format!(
            "let value_{line} = compute({odd}, \"some words of text {line}\");\n"
        ));
    }
    text
}

fn told(doing: &'static str) -> impl Fn(io::Error) -> String {
    move |error| format!("could not {doing}: {error}")
}

fn clocked<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(Duration, T)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed(), result))
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    at(&samples, 500)
}

/// A checkpoint that is recorded whatever is the matter.
fn checkpoint(workspace: &GitWorkspace, scan: Scan) -> Outcome<Created> {
    let on_unchanged = OnUnchanged::Reuse;
    let request = CheckpointRequest { scan, on_unchanged, ..CheckpointRequest::default() };
    workspace.checkpoint(&request).map_err(|error| error.to_string())
}

/// What plain git does for the same: a warm private index, `git add -A`, `git write-tree`.
fn plain(yard: &Yard, index: &Path) -> Outcome<String> {
    yard.git(&["add", "--all"], Some(index))?;
    yard.git(&["write-tree"], Some(index))
}

/// One repository and one number of changes: everything that has plain git for a rival.
fn measure(yard: &Yard, changes: usize) -> Outcome<Vec<Row>> {
    let mut samples = Samples::default();
    let index = yard.dir.join("private-index");
    let user = yard.root().join(".git/index");
    yard.tidy()?;
    yard.edit(changes, 1000)?;
    let _ = fs::remove_dir_all(yard.root().join(".git/aurora"));
    fs::copy(&user, &index).map_err(told("copy the index"))?;
    let (git_cold, _) = clocked(|| plain(yard, &index))?;
    let (cold, _) = clocked(|| checkpoint(&yard.open()?, Scan::Full))?;
    for round in 0..ROUNDS {
        unwatched(yard, changes, round, &index, &mut samples)?;
    }
    watched(yard, changes, &mut samples)?;
    let head = format!("{} files, {changes} changed", yard.files);
    let row = |what: &str, ours: &[Duration], rival: &str, theirs: &[Duration]| {
        Row::times(
            &format!("{head}: {what}"),
            median(ours.to_vec()),
            rival,
            median(theirs.to_vec()),
        )
    };
    let add = "git add -A, write-tree";
    Ok(vec![
        Row::times(&format!("{head}: checkpoint, cold"), cold, add, git_cold),
        row("checkpoint, warm scan", &samples.scanned, add, &samples.git),
        row("checkpoint, watched", &samples.watched, add, &samples.git),
        row("unchanged, warm scan", &samples.unchanged_scan, add, &samples.git_unchanged),
        row("unchanged, watched", &samples.unchanged, add, &samples.git_unchanged),
        row("diff", &samples.diff, "git diff --binary", &samples.git_diff),
        row("rollback", &samples.rollback, "git read-tree -u --reset", &samples.git_rollback),
    ])
}

#[derive(Default)]
struct Samples {
    git: Vec<Duration>,
    git_unchanged: Vec<Duration>,
    git_diff: Vec<Duration>,
    git_rollback: Vec<Duration>,
    scanned: Vec<Duration>,
    watched: Vec<Duration>,
    unchanged_scan: Vec<Duration>,
    unchanged: Vec<Duration>,
    diff: Vec<Duration>,
    rollback: Vec<Duration>,
}

/// One round without a watchdog, ours and git's in turn on the same edits.
fn unwatched(
    yard: &Yard,
    changes: usize,
    round: usize,
    index: &Path,
    samples: &mut Samples,
) -> Outcome<()> {
    yard.tidy()?;
    let workspace = yard.open()?;
    let before = checkpoint(&workspace, Scan::Full)?.checkpoint;
    let git_before = plain(yard, index)?;
    yard.edit(changes, round)?;
    let (time, git_after) = clocked(|| plain(yard, index))?;
    samples.git.push(time);
    let (time, created) = clocked(|| checkpoint(&workspace, Scan::Full))?;
    samples.scanned.push(time);
    if created.checkpoint.tree.0 != git_after {
        return Err(format!("ours is {}, git's is {git_after}", created.checkpoint.tree));
    }
    samples.git_unchanged.push(clocked(|| plain(yard, index))?.0);
    samples.unchanged_scan.push(clocked(|| checkpoint(&workspace, Scan::Full))?.0);
    let mut text = Vec::new();
    let (from, to) = (TreeId(git_before.clone()), created.checkpoint.tree);
    let diff = || workspace.diff(&from, &to, &[], &mut text).map_err(|error| error.to_string());
    samples.diff.push(clocked(diff)?.0);
    let args = ["diff", "--binary", "--no-renames", &git_before, &git_after];
    samples.git_diff.push(clocked(|| yard.git(&args, None))?.0);
    let request = RollbackRequest::to(before.checkpoint_id);
    let rollback = || workspace.rollback(&request).map_err(|error| error.to_string());
    samples.rollback.push(clocked(rollback)?.0);
    yard.edit(changes, round)?;
    plain(yard, index)?;
    let args = ["read-tree", "-u", "--reset", &git_before];
    samples.git_rollback.push(clocked(|| yard.git(&args, Some(index)))?.0);
    Ok(())
}

/// Rounds with a watchdog: a checkpoint after edits, and one after none.
fn watched(yard: &Yard, changes: usize, samples: &mut Samples) -> Outcome<()> {
    yard.tidy()?;
    let workspace = yard.open()?;
    let options = watchdog::Options::new(now);
    let watch = Watchdog::start(workspace.place(), options).map_err(|error| error.to_string())?;
    let workspace = workspace.watched_by(Arc::new(watch));
    checkpoint(&workspace, Scan::Auto)?;
    for round in 0..ROUNDS {
        yard.edit(changes, 2000 + round)?;
        let (time, created) = clocked(|| checkpoint(&workspace, Scan::Auto))?;
        if !matches!(created.scanned, Scanned::Watched { .. }) || created.unchanged {
            return Err(format!("the watchdog was of no use: {:?}", created.scanned));
        }
        samples.watched.push(time);
        samples.unchanged.push(clocked(|| checkpoint(&workspace, Scan::Auto))?.0);
        let full = checkpoint(&workspace, Scan::Full)?;
        if full.checkpoint.tree != created.checkpoint.tree {
            return Err("a full scan sees another tree than the watchdog".to_owned());
        }
    }
    Ok(())
}

/// How many files are changed in a shadow.
const IN_SHADOW: usize = 1_000;

/// Shadows against copies and linked worktrees.
fn shadows(yard: &Yard) -> Outcome<Vec<Row>> {
    yard.tidy()?;
    let changes = IN_SHADOW.min(yard.files);
    let prepared = prepare(yard, changes)?;
    let workspace = yard.open()?;
    let options = watchdog::Options::new(now);
    let watch = Watchdog::start(workspace.place(), options).map_err(|error| error.to_string())?;
    let workspace = workspace.watched_by(Arc::new(watch));
    checkpoint(&workspace, Scan::Auto)?;
    let helper = Helper { program: program()?, args: vec!["shadow".into(), "enter".into()] };
    let mut ours = Shadows::default();
    for _ in 0..ROUNDS {
        one_shadow(&workspace, &helper, &prepared, &mut ours)?;
    }
    let theirs = copies(yard, &prepared)?;
    let head = format!("{} files: shadow", yard.files);
    let changed = format!("{head}, {changes} changed");
    let row = |what: String, ours: &[Duration], rival: &str, theirs: Duration| {
        Row::times(&what, median(ours.to_vec()), rival, theirs)
    };
    Ok(vec![
        row(format!("{head}, create"), &ours.create, "cp -a", theirs.copy),
        row(format!("{head}, create"), &ours.create, "git worktree add", theirs.worktree),
        row(format!("{head}, create, watched base"), &ours.create_on_base, "cp -a", theirs.copy),
        row(format!("{changed}, checkpoint"), &ours.checkpoint, "git add -A there", theirs.add),
        row(format!("{changed}, promote"), &ours.promote, "git diff | git apply", theirs.promote),
        row(format!("{changed}, discard"), &ours.discard, "rm -rf of the copy", theirs.remove),
    ])
}

#[derive(Default)]
struct Shadows {
    create: Vec<Duration>,
    create_on_base: Vec<Duration>,
    checkpoint: Vec<Duration>,
    promote: Vec<Duration>,
    discard: Vec<Duration>,
}

/// A folder with the files that are to be changed, so that changing them is one `cp`.
fn prepare(yard: &Yard, changes: usize) -> Outcome<PathBuf> {
    let root = yard.dir.join("prepared");
    edit(&root, yard.files, changes, 3000)?;
    Ok(root)
}

fn one_shadow(
    workspace: &GitWorkspace,
    helper: &Helper,
    prepared: &Path,
    samples: &mut Shadows,
) -> Outcome<()> {
    let said = |error: aurora_workspace::Error| error.to_string();
    let helper = || Some(helper.clone());
    let create = |base| ShadowRequest { base, helper: helper(), ..ShadowRequest::default() };
    let request = create(Base::None);
    let (time, empty) = clocked(|| workspace.create_shadow(&request).map_err(said))?;
    samples.create.push(time);
    workspace.discard_shadow(&empty, &[]).map_err(said)?;
    let request = create(Base::default());
    let (time, shadow) = clocked(|| workspace.create_shadow(&request).map_err(said))?;
    samples.create_on_base.push(time);
    let command = vec!["cp".into(), "-r".into(), prepared.join(".").into(), ".".into()];
    let run = RunRequest {
        helper: helper().ok_or("no helper")?,
        cwd: workspace.root().to_owned(),
        namespace: Namespace::default(),
        keep_env: false,
        command,
    };
    let status = run::start(&shadow, &run).map_err(said)?.wait().map_err(told("wait"))?;
    if !status.success() {
        return Err(format!("the command in the shadow ended with {status}"));
    }
    let (time, _) = clocked(|| workspace.checkpoint_shadow(&shadow, "").map_err(said))?;
    samples.checkpoint.push(time);
    let request = PromotionRequest::default();
    let (time, report) = clocked(|| workspace.promote_shadow(&shadow, &request).map_err(said))?;
    samples.promote.push(time);
    if report.paths.is_empty() {
        return Err("nothing was promoted".to_owned());
    }
    workspace.undo(&UndoRequest::default()).map_err(said)?;
    let (time, _) = clocked(|| workspace.discard_shadow(&shadow, &[]).map_err(said))?;
    samples.discard.push(time);
    Ok(())
}

#[derive(Default)]
struct Copies {
    copy: Duration,
    worktree: Duration,
    add: Duration,
    promote: Duration,
    remove: Duration,
}

/// What people do without shadows; once each, because it takes so long.
fn copies(yard: &Yard, prepared: &Path) -> Outcome<Copies> {
    yard.tidy()?;
    let (copy, tree) = (yard.dir.join("copy"), yard.dir.join("tree"));
    let run = |command: &mut Command| match command.status() {
        Ok(status) if status.success() => Ok(()),
        ended => Err(format!("{command:?}: {ended:?}")),
    };
    let (copied, ()) = clocked(|| run(Command::new("cp").arg("-a").arg(yard.root()).arg(&copy)))?;
    let path = tree.to_string_lossy().into_owned();
    let add = ["worktree", "add", "--quiet", "--detach", &path];
    let (worktree, _) = clocked(|| yard.git(&add, None))?;
    yard.git(&["worktree", "remove", "--force", &path], None)?;
    run(Command::new("cp").arg("-r").arg(prepared.join(".")).arg(&copy))?;
    let git = |args: &[&str]| run(Command::new("git").args(args).current_dir(&copy));
    let (added, ()) = clocked(|| git(&["add", "--all"]))?;
    let patch = yard.dir.join("patch");
    let output = format!("--output={}", patch.display());
    let patch = patch.to_string_lossy().into_owned();
    let (promoted, ()) = clocked(|| {
        git(&["diff", "--cached", "--binary", "HEAD", &output])?;
        yard.git(&["apply", &patch], None).map(|_| ())
    })?;
    yard.tidy()?;
    let (remove, ()) = clocked(|| fs::remove_dir_all(&copy).map_err(told("remove the copy")))?;
    Ok(Copies { copy: copied, worktree, add: added, promote: promoted, remove })
}
