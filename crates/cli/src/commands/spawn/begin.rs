//! A new run: the list is read, whoever does each task is found, and all of it is shown first.

use std::path::Path;

use aurora_engine::machine::Command;
use aurora_engine::{graph, task_file};
use aurora_model::run::{Place, Source};
use aurora_model::{Assignment, Brief, Planned, RunId, RunKind, RunSettings, Task};
use aurora_store::{Claim, StreamId};

use super::screen::Screen;
use super::{Args, settle, told};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::run::Site;
use crate::wiring::workspace::now;
use crate::wiring::{gates, input, store};

/// How many tasks at once, unless somebody says otherwise.
const USUAL_PARALLEL: u32 = 5;
/// A longer list is refused.
const MAX_FILE_BYTES: u64 = 10 << 20;
/// How much of a goal goes into the name of its branch.
const SLUG_CHARS: usize = 48;

/// Reads the list and does it.
pub fn run(file: &Path, args: &Args) -> anyhow::Result<Exit> {
    let (mut list, mut source) = read(file)?;
    let policy = args.policy.as_deref();
    if !args.dry_run && !store::is_there()? {
        // What is refused leaves nothing behind, not even an empty log.
        refuse_the_impossible(&Site::look(policy)?, &list.tasks)?;
    }
    let site = if args.dry_run { Site::look(policy)? } else { Site::open(policy)? };
    if !args.dry_run && settle::runs_of(&site, &source.path)? {
        (list, source) = read(file)?;
    }
    if !args.dry_run {
        refuse_the_impossible(&site, &list.tasks)?;
    }
    let (run, _name) = new_run(&site, "spawn")?;
    let brief = brief(&site, run, list, source, args);
    let screen = Screen::new(&site, &brief, args.json, args.verbose);
    if args.dry_run {
        if args.json {
            output::print_json(&serde_json::json!(brief))?;
        } else {
            screen.preview()?;
        }
        return Ok(Exit::Ok);
    }
    if !brief.tasks.iter().any(|one| !one.task.done) {
        let ended = serde_json::json!({
            "type": "ended", "outcome": "completed", "questions": [], "exit_code": 0,
        });
        let text = "every task of the list is done".to_owned();
        output::print(&format!("{}\n", if args.json { ended.to_string() } else { text }))?;
        return Ok(Exit::Ok);
    }
    if !brief.settings.yes {
        screen.look_around(&site);
    }
    let runtime = Site::runtime()?;
    let run = brief.run.clone();
    let feature = brief.place.feature.clone();
    let front = screen.front(args.wait);
    let first = Command::Start(Box::new(brief));
    let driven = runtime.block_on(site.drive(&run, &feature, first, front));
    screen.close();
    told::how_it_ended(&driven?, &screen, args.json)
}

fn read(file: &Path) -> anyhow::Result<(task_file::TaskFile, Source)> {
    let shown = file.display();
    let unreadable = |error| Failure::usage(format!("cannot read {shown}: {error}"));
    let path = std::fs::canonicalize(file).map_err(unreadable)?;
    // Opening a pipe would wait for somebody to write into it.
    if !std::fs::metadata(&path).map_err(unreadable)?.is_file() {
        return Err(Failure::usage(format!("{shown} is no file")).into());
    }
    let opened = std::fs::File::open(&path).map_err(unreadable)?;
    let bytes = input::capped(opened, MAX_FILE_BYTES).map_err(unreadable)?;
    let bytes = bytes.ok_or_else(|| Failure::usage(format!("{shown} is larger than 10 MiB")))?;
    let digest = aurora_store::chain::digest(&bytes);
    let text = String::from_utf8(bytes)
        .map_err(|error| Failure::usage(format!("{shown} is no text in UTF-8: {error}")))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let list = task_file::read(&text, &name.unwrap_or_default()).map_err(|problems| {
        // Each with its own hint, so that nobody has to find out which belongs to which.
        let lines: Vec<String> = problems.iter().map(|one| format!("{shown}:{one}")).collect();
        Failure::usage(lines.join("\n"))
    })?;
    let path = path.to_string_lossy().into_owned();
    Ok((list, Source { path, digest }))
}

fn brief(site: &Site, run: RunId, list: task_file::TaskFile, source: Source, args: &Args) -> Brief {
    let recovery = site.policy.recovery();
    let feature = feature_of(&list.goal);
    let branch = format!("{}{feature}", site.policy.branches().prefix);
    let settings = RunSettings {
        max_parallel: args.max_parallel.or(list.max_parallel).unwrap_or(USUAL_PARALLEL),
        timeout_seconds: recovery.timeout_seconds,
        max_attempts: recovery.max_attempts,
        model: site.registry.model().is_some(),
        fallback: recovery.fallback_to_llm,
        checkpoints: !args.no_checkpoint,
        yes: args.yes || gates::are_off(),
        people_only: Vec::new(),
        ungated: !args.yes && gates::are_off(),
    };
    Brief {
        run,
        kind: RunKind::Spawn,
        goal: list.goal,
        plan: list.plan,
        source: Some(source),
        tasks: planned(site, list.tasks),
        place: Place { feature, path: String::new(), branch: Some(branch) },
        policy: site.layer.clone(),
        settings,
    }
}

/// The short name of a goal, which names its worktree and branch. What the words do not tell apart,
/// because they are too long or in another script, a few digits do.
fn feature_of(goal: &str) -> String {
    let slug = aurora_model::id::slug(goal, SLUG_CHARS);
    let whole = slug.chars().filter(char::is_ascii_alphanumeric).count();
    if !slug.is_empty() && whole == goal.chars().filter(|c| c.is_alphanumeric()).count() {
        return slug;
    }
    let digits: String =
        aurora_store::chain::digest(goal.as_bytes()).as_str().chars().take(6).collect();
    let begin = if slug.is_empty() { "goal" } else { &slug };
    format!("{begin}-{digits}")
}

/// Says what stands in the way of every task, before anybody looks at a preview of them.
fn refuse_the_impossible(site: &Site, tasks: &[Task]) -> anyhow::Result<()> {
    let open: Vec<&Task> = tasks.iter().filter(|task| !task.done).collect();
    if open.is_empty() {
        return Ok(());
    }
    if !site.has_commit() {
        return Err(Failure::usage("this repository has no commit to work from")
            .hint("make one first: git add -A && git commit -m 'First commit'")
            .into());
    }
    let nobody = |task: &&Task| {
        let assignment = site.registry.assign(task.agent.as_ref());
        matches!(assignment, Assignment::Gap { ad_hoc: None, .. })
    };
    if site.registry.model().is_none() && open.iter().all(nobody) {
        return Err(Failure::usage("there is no agent for any of the tasks, and no model")
            .hint("`aur agents init` writes an agents.yaml to start from")
            .into());
    }
    Ok(())
}

/// The tasks with who does each, and which are kept apart because they touch the same files.
pub fn planned(site: &Site, tasks: Vec<Task>) -> Vec<Planned> {
    let apart = graph::apart(&tasks);
    let planned = |(task, apart_from): (Task, Vec<_>)| {
        let assignment = site.registry.assign(task.agent.as_ref());
        Planned { task, assignment, apart_from }
    };
    tasks.into_iter().zip(apart).map(planned).collect()
}

/// A name that no run has, made of the time; nobody else gets it while the claim on it is held.
pub fn new_run(site: &Site, kind: &str) -> anyhow::Result<(RunId, Box<dyn Claim>)> {
    let second = now().unix_ms.div_euclid(1000);
    let runtime = Site::runtime()?;
    for number in 0..1000 {
        let name = match number {
            0 => format!("{kind}-{second}"),
            number => format!("{kind}-{second}-{number}"),
        };
        let run = RunId::parse(&name);
        let run = run.ok_or_else(|| Failure::failed(format!("`{name}` is no name for a run")))?;
        let name = StreamId(format!("name/{run}"));
        let claim = match runtime.block_on(site.store.claim(&name)) {
            Ok(claim) => claim,
            Err(aurora_store::Error::Held { .. }) => continue,
            Err(error) => return Err(store::failure(error).into()),
        };
        let stream = aurora_engine::driver::stream_of(&run);
        if runtime.block_on(site.store.head(&stream)).map_err(store::failure)?.is_none() {
            return Ok((run, claim));
        }
    }
    Err(Failure::failed("too many runs began in this second").into())
}
