//! `aur audit verify`: is the log as it was written?

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use aurora_engine::approvals::autonomy;
use aurora_engine::budget::verify_pictures;
use aurora_gate::approval::autonomy::{Incident, PROJECT, downgrade_for};
use aurora_model::{AutonomyEvent, Digest};
use aurora_store::chain::{Verifier, What, verify_beside, verify_with};
use aurora_store::{Record, Verification};
use aurora_workspace::Progress as _;
use serde_json::{Value, json};

use super::export::{End, Header};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::changes::count;
use crate::output::escape;
use crate::output::progress::Bar;
use crate::wiring::store::{Log, failure, folder};
use crate::wiring::workspace::now;

/// A record is never longer than this, and a line of an export is little more than one.
const MAX_LINE_BYTES: u64 = 256 * 1024 * 1024;

/// What to verify, and how to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A head that was noted earlier: the log must still have it.
    #[arg(long, value_name = "HASH")]
    pub head: Option<String>,
    /// An export instead of the log.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Leave out what records refer to beside the log, such as transcripts.
    #[arg(long, conflicts_with = "file")]
    pub no_blobs: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur audit verify
  aur audit verify --head 3f9a…          the whole hash that an earlier one printed
  aur audit verify --file log.jsonl

Whoever can write the file can also write a new chain from the first record on, or cut off its end. A
head that is noted elsewhere (a ticket, a chat, another machine) shows that, too.
Exit codes: 0 all is well; 1 something was found.";

/// Verifies it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let head = head(args.head.as_deref())?;
    if let Some(path) = &args.file {
        let (seen, problems) = file(path, head.as_ref())?;
        return tell(args, &seen, &problems);
    }
    let Some(log) = open()? else {
        if head.is_some() {
            return Err(Failure::failed("there is no log, and a head of it was noted").into());
        }
        if args.json {
            output::print_json(&told(&Verification::default(), &[]))?;
            return Ok(Exit::Ok);
        }
        return super::nothing(false);
    };
    let bar = Bar::on_stderr();
    bar.begin();
    let seen = log.ask(look(&log, head.as_ref(), args, &bar));
    bar.clear();
    let (seen, problems) = seen?;
    lock(&log, &seen);
    tell(args, &seen, &problems)
}

/// Locks the project where the chain is broken: nobody can tell what agents did. What a person raised
/// it for already does not lock it again.
fn lock(log: &Log, seen: &Verification) {
    let beside = |finding: &&aurora_store::Finding| !matches!(finding.what, What::Lost { .. });
    let Some(finding) = seen.findings.iter().find(beside) else { return };
    let Some(level) = downgrade_for(Incident::BrokenChain) else { return };
    let why = format!("the log is not as it was written: {finding}");
    let store = log.store.as_ref();
    let locked = log.ask(async {
        let before = autonomy::history(store, PROJECT).await?;
        let same = |event: &AutonomyEvent| matches!(event, AutonomyEvent::Lowered { why: was, .. } if *was == why);
        if before.iter().any(|(_, event)| same(event)) {
            return Ok(false);
        }
        autonomy::lower(store, PROJECT, level, &why, now()).await
    });
    match locked {
        Ok(true) => output::note(
            "the project is locked from now on: every call of an agent is asked about; \
             `aur agents autonomy raise project LEVEL` lets them do more again",
        ),
        Ok(false) => {}
        // A log so broken that nothing can be written was told to be, and no run can go on by it.
        Err(_) => output::note("the project could not be locked: the log cannot be written"),
    }
}

/// Looks at the log, at what its records refer to, and at what was derived from them.
async fn look(
    log: &Log,
    head: Option<&Digest>,
    args: &Args,
    bar: &Bar,
) -> anyhow::Result<(Verification, Vec<String>)> {
    let total = log.store.subscribe().position();
    let mut at = |position| bar.at("verifying", position, Some(total));
    let mut seen = verify_with(&*log.store, head, &mut at).await.map_err(plain)?;
    if !args.no_blobs {
        let mut at = |position| bar.at("looking at transcripts", position, Some(total));
        verify_beside(&*log.store, &mut seen, &mut at).await.map_err(plain)?;
    }
    let problems = match verify_pictures(&log.store).await {
        Ok(problems) => problems,
        // A log that is damaged was told to be.
        Err(_) if !seen.is_whole() => Vec::new(),
        Err(error) => return Err(Failure::failed(error.to_string()).into()),
    };
    Ok((seen, problems))
}

/// An error of the log. The hint to verify it would lead nowhere from here.
fn plain(error: aurora_store::Error) -> Failure {
    match error {
        aurora_store::Error::Corrupt { what } => Failure::failed(what),
        error => failure(error),
    }
}

/// Opens the log. One that was emptied is not taken for a new one.
fn open() -> anyhow::Result<Option<Log>> {
    let path = folder()?.join("aurora.db");
    if path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == 0) {
        let what = format!("{} is empty: it holds no log", path.display());
        return Err(Failure::failed(what).into());
    }
    Log::open_existing_or(plain)
}

fn head(text: Option<&str>) -> anyhow::Result<Option<Digest>> {
    let Some(text) = text else { return Ok(None) };
    let head = Digest::parse(text).ok_or_else(|| {
        Failure::usage(format!("`{text}` is no head of a log"))
            .hint("a head is the 64 digits that `aur audit verify` printed")
    })?;
    Ok(Some(head))
}

fn tell(args: &Args, seen: &Verification, problems: &[String]) -> anyhow::Result<Exit> {
    let sound = seen.is_whole() && problems.is_empty();
    let exit = if sound { Exit::Ok } else { Exit::Failure };
    if args.json {
        output::print_json(&told(seen, problems))?;
        return Ok(exit);
    }
    let records = count(usize::try_from(seen.records).unwrap_or(usize::MAX), "record");
    let streams = count(usize::try_from(seen.streams).unwrap_or(usize::MAX), "stream");
    let findings = seen.findings.len() + problems.len();
    let mut out = match sound {
        true if seen.records == 0 => "the log holds no record\n".to_owned(),
        true => format!("{records} in {streams}: all as they were written\n"),
        false => format!("{records} in {streams}, {} found\n", count(findings, "problem")),
    };
    for finding in seen.findings.iter().map(ToString::to_string).chain(problems.iter().cloned()) {
        out.push_str(&format!("  ! {}\n", escape::line(&finding)));
    }
    if seen.more > 0 {
        out.push_str(&format!("  and {} more\n", seen.more));
    }
    if let (true, Some(chain)) = (sound, &seen.chain) {
        out.push_str(&format!("head: position {}, {chain}\n", seen.position));
        out.push_str(
            "note it elsewhere; `aur audit verify --head …` then finds a log that was cut\n",
        );
    }
    output::print(&out)?;
    Ok(exit)
}

fn told(seen: &Verification, problems: &[String]) -> Value {
    let finding = |finding: &aurora_store::Finding| {
        let mut told = json!(finding);
        if let Some(told) = told.as_object_mut() {
            told.insert("message".to_owned(), finding.to_string().into());
        }
        told
    };
    let findings = seen.findings.iter().map(finding);
    let findings: Vec<Value> =
        findings.chain(problems.iter().map(|message| json!({"message": message}))).collect();
    json!({
        "whole": findings.is_empty() && seen.more == 0,
        "records": seen.records,
        "streams": seen.streams,
        "position": seen.position,
        "transcripts": seen.beside,
        "head": seen.chain,
        "findings": findings,
        "more": seen.more,
    })
}

/// Verifies an export: its records, and that none is missing at its end.
fn file(path: &Path, head: Option<&Digest>) -> anyhow::Result<(Verification, Vec<String>)> {
    let shown = path.display();
    let cannot = |error: std::io::Error| Failure::failed(format!("cannot read {shown}: {error}"));
    let opened = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    let mut lines = BufReader::new(opened);
    let no_export = || {
        Failure::usage(format!("{shown} is no export of a log"))
            .hint("`aur audit export > FILE` makes one")
    };
    let first = next(&mut lines).map_err(cannot)?.ok_or_else(no_export)?;
    let header: Header = serde_json::from_str(&first).map_err(|_| no_export())?;
    if header.aurora_export != 1 {
        return Err(Failure::usage(format!("{shown} was made by a newer version")).into());
    }
    let mut verifier = match header.stream {
        None => Verifier::of_log(head),
        Some(_) if head.is_none() => Verifier::of_streams(),
        Some(_) => return Err(Failure::usage("a head belongs to a whole log, not to a run").into()),
    };
    let (mut number, mut end, mut problems) = (1_u64, None, Vec::new());
    while let Some(line) = next(&mut lines).map_err(cannot)? {
        number += 1;
        if let Ok(record) = serde_json::from_str::<Record>(&line) {
            verifier.record(&record);
        } else if let Ok(found) = serde_json::from_str::<End>(&line) {
            end = Some(found);
            break;
        } else {
            problems.push(format!("line {number} is no record"));
        }
    }
    let seen = verifier.end();
    match end {
        None => problems.push(format!("the file breaks off after line {number}")),
        Some(end) if end.records != seen.records || end.chain != seen.chain => problems.push(
            format!("the last line speaks of {} records, {} are here", end.records, seen.records),
        ),
        Some(_) => {}
    }
    Ok((seen, problems))
}

fn next(lines: &mut impl std::io::BufRead) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let length = lines.by_ref().take(MAX_LINE_BYTES).read_line(&mut line)?;
    Ok((length > 0).then_some(line))
}
