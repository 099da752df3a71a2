//! A call that was being made when we died: told from the world where that is possible, and put to a
//! person where it is not.

use std::path::Path;

use aurora_gate::approval::{Command as Tell, Standing};
use aurora_model::{Answer, HowSettled, Target};
use aurora_workspace::desk::Files;
use serde_json::json;

use super::super::Inner;
use super::super::tools::args::Args;
use super::super::tools::told::Made;
use super::super::tools::{Tool, files};
use super::settle::{Asked, Settled};
use crate::driver::Stop;
use crate::error::Result;

/// What the world says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum World {
    /// It was made, whole.
    Done,
    /// It was not, or making it again is the same as making it once.
    Untouched,
    /// Nobody can tell.
    Unclear,
}

impl Inner {
    /// Finds out what became of a call that somebody reserved who is gone.
    pub(super) async fn recover(
        &self,
        asked: &Asked<'_>,
        standing: &Standing,
        stop: &Stop,
    ) -> Result<Settled> {
        let executor = standing.executor.clone().unwrap_or_default();
        let tool = Tool::from_name(&asked.call.tool);
        let judge = self.judge_for(&asked.worker).await?;
        let args = tool.and_then(|tool| {
            let args = Args::read(tool, &asked.args, &asked.worker.desk).ok()?;
            let judged = judge.judge(tool, &args);
            (judged.decision != Answer::Deny).then_some(args)
        });
        let targets = &standing.request.subject.targets;
        let world = args.as_ref().map_or(World::Unclear, |args| {
            // What was asked about again has no targets that mean anything.
            if asked.again { World::Unclear } else { look(args, targets, &asked.worker.desk) }
        });
        match (world, args) {
            (World::Done, _) => {
                let told = "it was done; what it said was lost when the run was cut off";
                let made = Made::told(&json!({"done": true, "message": told}), told);
                self.record(asked, &executor, made).await
            }
            (World::Untouched, Some(args)) => {
                let made = self.make(&asked.worker, &args, stop.clone()).await?;
                self.record(asked, &executor, made).await
            }
            (World::Untouched | World::Unclear, _) => {
                let reason = format!(
                    "{} was being done by {executor} when it was cut off",
                    asked.call.title
                );
                let lost = self.queue()?.tell(asked.question, &Tell::Lost { reason }).await?;
                self.refusal(HowSettled::Unknown, "outcome_unknown", &lost).await
            }
        }
    }
}

fn look(args: &Args, recorded: &[Target], desk: &Path) -> World {
    let Ok(at_desk) = Files::beneath(desk) else { return World::Unclear };
    match args {
        Args::Read { .. } | Args::List { .. } | Args::Search { .. } => World::Untouched,
        Args::Write { path, content, executable } => {
            // Half a file under another name is what is left of a write that was cut off.
            if at_desk.forget_unfinished(path).is_err() {
                return World::Unclear;
            }
            let Ok(file) = files::look(&at_desk, path) else { return World::Unclear };
            let written = file.is_some_and(|file| {
                file.bytes == content.as_bytes()
                    && executable.is_none_or(|is| is == file.executable)
            });
            if written { World::Done } else { untouched(recorded, &at_desk) }
        }
        Args::Patch { .. } => untouched(recorded, &at_desk),
        Args::Run { .. } => World::Unclear,
    }
}

/// Whether everything is as it was when it was asked about.
fn untouched(recorded: &[Target], at_desk: &Files) -> World {
    let same = |target: &Target| {
        let Target::Path { path, .. } = target else { return false };
        let Some(path) = aurora_model::RepoPath::new(path.as_bytes()) else { return false };
        at_desk.forget_unfinished(&path).is_ok()
            && files::target(at_desk, &path).is_ok_and(|now| now == *target)
    };
    match !recorded.is_empty() && recorded.iter().all(same) {
        true => World::Untouched,
        false => World::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use aurora_model::RepoPath;

    use super::*;

    // APR-7: what can be told from the world is, and nothing else.
    #[test]
    fn a_write_that_was_cut_off_is_told_by_what_the_file_holds() {
        let dir = tempfile::tempdir().unwrap();
        let at_desk = Files::beneath(dir.path()).unwrap();
        let path = RepoPath::new("a.txt").unwrap();
        at_desk.write(&path, b"before", None).unwrap();
        let recorded = vec![files::target(&at_desk, &path).unwrap()];
        let (content, executable) = ("after".to_owned(), None);
        let write = Args::Write { path: path.clone(), content, executable };
        let found = || look(&write, &recorded, dir.path());
        std::fs::write(dir.path().join(".aurora-unfinished"), "aft").unwrap();
        assert_eq!(found(), World::Untouched);
        assert!(!dir.path().join(".aurora-unfinished").exists(), "nothing half is left");
        at_desk.write(&path, b"after", None).unwrap();
        assert_eq!(found(), World::Done);
        at_desk.write(&path, b"somebody else's", None).unwrap();
        assert_eq!(found(), World::Unclear);
        let run = Args::Run { command: "ls".to_owned(), seconds: 1 };
        assert_eq!(look(&run, &[], dir.path()), World::Unclear);
        assert_eq!(look(&Args::List { path: None }, &[], dir.path()), World::Untouched);
    }
}
