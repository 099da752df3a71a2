//! `aur checkpoints diff`: what a checkpoint changed, as a patch.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use aurora_model::{Checkpoint, RepoPath, TreeId};
use aurora_workspace::{Error, Workspace as _};

use super::{Whose, is_wanted, tree_now};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::patch::{self, Sink};
use crate::output::style::Style;
use crate::wiring::workspace::{Session, failure};

/// Which one, and which paths of it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The checkpoint; without one, what changed since the latest. Then paths, if only these matter.
    #[arg(value_name = "CHECKPOINT] [PATH")]
    words: Vec<OsString>,
    /// Everything since the chain began, instead of since the checkpoint before.
    #[arg(long)]
    cumulative: bool,
    #[command(flatten)]
    whose: Whose,
    /// Only count lines.
    #[arg(long)]
    stat: bool,
    /// Only these paths, where they could be taken for a checkpoint.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints diff                  what changed since the latest checkpoint
  aur checkpoints diff 3                what checkpoint 3 changed
  aur checkpoints diff 3 src/           only below src/
  aur checkpoints diff 3 --cumulative   all changes since the chain began
  aur checkpoints diff 3 | git apply --reverse

The patch is as `git diff --binary --no-renames` writes it: a file that was renamed is deleted and
added. With --feature and no checkpoint, it is what that feature's latest changed. Paths start at the current directory.";

/// Prints it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let (mut one, words) = named(&session, args)?;
    if one.is_none() && args.whose.feature.is_some() {
        // Another feature's files are not here to be compared with.
        one = Some(args.whose.find(&session, "latest")?);
    }
    let mut paths: Vec<PathBuf> = words.iter().map(PathBuf::from).collect();
    paths.extend(args.paths.iter().cloned());
    let only = session.paths(&paths)?;
    let (from, to) = match one {
        Some(one) if args.cumulative => (one.base_tree, one.tree),
        Some(one) => (one.previous_tree, one.tree),
        None => {
            let latest = session.ask(|workspace| workspace.find("latest"))?;
            let now = tree_now(&session, &latest)?;
            (if args.cumulative { latest.base_tree } else { latest.tree }, now)
        }
    };
    if args.stat { stat(&session, &from, &to, &only) } else { patch(&session, &from, &to, &only) }?;
    Ok(Exit::Ok)
}

/// The checkpoint that the first word names, and the other words. A first word that names no
/// checkpoint and is a path is one of these.
fn named<'a>(
    session: &Session,
    args: &'a Args,
) -> anyhow::Result<(Option<Checkpoint>, &'a [OsString])> {
    let words = args.words.as_slice();
    let Some((first, rest)) = words.split_first() else { return Ok((None, words)) };
    match args.whose.find(session, &first.to_string_lossy()) {
        Err(_) if Path::new(first).symlink_metadata().is_ok() => Ok((None, words)),
        found => Ok((Some(found?), rest)),
    }
}

/// Writes the patch to stdout.
pub fn patch(
    session: &Session,
    from: &TreeId,
    to: &TreeId,
    only: &[RepoPath],
) -> anyhow::Result<()> {
    let mut sink = Sink::of_stdout(Style::of_stdout());
    let result = session.workspace.diff(from, to, only, &mut sink);
    let written = std::io::Write::flush(&mut sink);
    if let Err(error) = written {
        // A reader that went away is no error, and the library's own one is only its echo.
        return match error.kind() {
            std::io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(Failure::failed(format!("cannot write to stdout: {error}")).into()),
        };
    }
    match result {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result.map_err(failure)?),
    }
}

/// Prints how many lines of which file changed.
pub fn stat(
    session: &Session,
    from: &TreeId,
    to: &TreeId,
    only: &[RepoPath],
) -> anyhow::Result<()> {
    let (mut changes, lines) = session
        .ask(|workspace| Ok((workspace.changes(from, to)?, workspace.stat(from, to, only)?)))?;
    changes.retain(|change| is_wanted(&change.path, only));
    output::print(&patch::stat(&changes, &lines, Style::of_stdout()))
}
