//! Gives up old runs, and removes what was kept to resume them.

use std::sync::Arc;

use aurora_engine::budget::Budget;
use aurora_engine::driver;
use aurora_engine::machine::{Command, Phase};
use aurora_gate::Policy;
use aurora_model::RunId;
use serde_json::json;

use super::list;
use crate::exit::Exit;
use crate::output;
use crate::output::changes::count;
use crate::wiring::run::{failure, limits};
use crate::wiring::store::{self, Log};
use crate::wiring::workspace::{Session, now};

/// Gives up every run that nobody drives and in which nothing happened for so long; the files of
/// runs that are over go too.
pub fn run(older_than_ms: i64, json: bool) -> anyhow::Result<Exit> {
    let Some(log) = Log::open_existing()? else {
        return tell(&Cleaned::default(), json);
    };
    let before = now().unix_ms.saturating_sub(older_than_ms);
    // Nothing is reserved here, so that no limit matters.
    let budget = Budget::new(Arc::clone(&log.store), limits(&Policy::builtin()), now);
    let mut given_up = Vec::new();
    let mut kept = Vec::new();
    for one in log.ask(list::resumable(&log.store))? {
        if one.driven || one.last_at.unix_ms > before {
            kept.push(one.run.to_string());
            continue;
        }
        let told = driver::answer(&log.store, &one.run, &Command::Abandon, now());
        log.ask(told).map_err(failure)?;
        // What it began and did not live to settle was spent as it was guessed.
        log.ask(budget.settle_unknown(&one.run)).map_err(failure)?;
        given_up.push(one.run.to_string());
    }
    let files = remove_files(&store::folder()?.join("checkpoints"), &kept, before);
    let desks = remove_desks(&log, before)?;
    tell(&Cleaned { given_up, files, desks }, json)
}

/// What was cleaned up.
#[derive(Default)]
struct Cleaned {
    given_up: Vec<String>,
    files: usize,
    desks: usize,
}

/// Removes the desks of runs that are over. A desk with something on it that could not be taken over
/// stays until its run is old enough; worktrees, and all work in them, stay in any case.
fn remove_desks(log: &Log, before_ms: i64) -> anyhow::Result<usize> {
    let session = Session::open()?;
    let worktrees = session.ask(|workspace| workspace.list_worktrees())?;
    let mut removed = 0;
    for one in worktrees.iter().filter(|one| one.whole) {
        let worktree = Session::open_at(one.path.clone())?;
        let before = worktree.ask(|worktree| worktree.desk_numbers())?.len();
        for owner in worktree.ask(|worktree| worktree.desk_owners())? {
            if may_go(log, &owner, before_ms)? {
                worktree.ask(|worktree| worktree.remove_desks_of_owner(&owner))?;
            }
        }
        let after = worktree.ask(|worktree| worktree.desk_numbers())?.len();
        removed += before.saturating_sub(after);
    }
    Ok(removed)
}

/// Whether nobody will ask for a run's desks any more.
fn may_go(log: &Log, owner: &str, before_ms: i64) -> anyhow::Result<bool> {
    let Some(run) = RunId::parse(owner) else { return Ok(false) };
    let stream = driver::stream_of(&run);
    if log.ask(log.store.is_claimed(&stream)).map_err(store::failure)? {
        return Ok(false);
    }
    let (told, state) = match log.ask(driver::load(&log.store, &run)) {
        Ok(loaded) => loaded,
        // A log that knows nothing of it will never resume it.
        Err(aurora_engine::Error::NoRun { .. }) => return Ok(true),
        Err(error) => return Err(failure(error).into()),
    };
    let old = told.last().is_none_or(|last| last.at.unix_ms <= before_ms);
    Ok(matches!(state.phase, Phase::Finished(_)) && (old || state.kept_desks.is_empty()))
}

/// Removes the files of runs that are not kept and that are old enough.
fn remove_files(folder: &std::path::Path, kept: &[String], before_ms: i64) -> usize {
    let Ok(listing) = std::fs::read_dir(folder) else { return 0 };
    let mut removed = 0;
    for entry in listing.flatten() {
        let path = entry.path();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let is_ours = path.extension().is_some_and(|extension| extension == "json");
        let modified = entry.metadata().and_then(|kind| kind.modified()).ok();
        let age = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let old =
            age.is_some_and(|age| i64::try_from(age.as_millis()).is_ok_and(|ms| ms <= before_ms));
        let is_kept = name.is_some_and(|name| kept.contains(&name));
        if is_ours && old && !is_kept && std::fs::remove_file(&path).is_ok() {
            removed += 1;
        }
    }
    removed
}

fn tell(cleaned: &Cleaned, json: bool) -> anyhow::Result<Exit> {
    let Cleaned { given_up, files, desks } = cleaned;
    if json {
        output::print_json(&json!({
            "given_up": given_up, "files_removed": files, "desks_removed": desks,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    for run in given_up {
        out.push_str(&format!("gave up {run}\n"));
    }
    if *desks > 0 {
        out.push_str(&format!("removed {} of agents\n", count(*desks, "desk")));
    }
    out.push_str(&format!("removed {}; the log keeps what happened\n", count(*files, "file")));
    output::print(&out)?;
    Ok(Exit::Ok)
}
