//! `aur policy check --batch`: one JSON object in, one answer out, in order, whatever a line holds.

use std::collections::HashMap;
use std::io::{BufReader, BufWriter, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use aurora_gate::Policy;
use aurora_model::{Context, Verdict};
use serde_json::Value;

use super::batch_flow;
use super::batch_line::{self, Line};
use crate::exit::{Exit, Failure};
use crate::output::verdict;
use crate::wiring::judging;
use crate::wiring::patience::PATIENCE;
use crate::wiring::place::{Given, Place};

const BUFFER_BYTES: usize = 64 * 1024;
const MAX_CACHED_CONTEXTS: usize = 1024;

/// Answers every line of stdin. Without a policy each answer is an error; `here` is the place of
/// lines that name none.
pub fn run(policy: anyhow::Result<Policy>, here: Given) -> anyhow::Result<Exit> {
    let stdin = BufReader::with_capacity(BUFFER_BYTES, std::io::stdin());
    let stdout = BufWriter::with_capacity(BUFFER_BYTES, std::io::stdout());
    let policy = policy.map(Arc::new);
    let known = policy.as_ref().map(Arc::clone).map_err(ToString::to_string);
    let judge = || {
        let mut judge = Judge { policy: known.clone(), here: here.clone(), seen: HashMap::new() };
        move |text: &str, number| judge.answer(text, number)
    };
    match batch_flow::answer_all(stdin, stdout, PATIENCE, judge) {
        Ok(()) => {}
        // Nobody reads the answers any more: there is nobody left to tell.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            return Err(Failure::failed(format!("cannot go on with the batch: {error}")).into());
        }
    }
    policy.map(|_| Exit::Ok)
}

/// The policy, and the contexts of earlier lines: most lines of a batch share one.
struct Judge {
    policy: Result<Arc<Policy>, String>,
    here: Given,
    seen: HashMap<Given, Context>,
}

impl Judge {
    fn answer(&mut self, text: &str, number: u64) -> Value {
        let at_line = |problem: String| format!("line {number}: {problem}");
        let (id, line) = match Line::read(text) {
            Ok(line) => (line.id.clone(), Ok(line)),
            Err(problem) => (batch_line::id_of_broken(text), Err(at_line(problem))),
        };
        // A policy that cannot be read is no fault of the line's.
        let policy = self.policy.clone();
        let verdict = policy.and_then(|policy| self.verdict(line?, &policy).map_err(at_line));
        match verdict {
            Ok(found) => verdict::batch_line(&id, &found),
            Err(error) => verdict::batch_error(&id, &error),
        }
    }

    fn verdict(&mut self, mut line: Line, policy: &Policy) -> Result<Verdict, String> {
        let given = match line.context.take() {
            Some(place) => Given::from(place).with_role_of(&self.here),
            None => self.here.clone(),
        };
        let action = line.action()?;
        if self.seen.len() >= MAX_CACHED_CONTEXTS {
            self.seen.clear();
        }
        let place = |given: &Given| Place::look(given.clone()).context(true);
        let context = self.seen.entry(given).or_insert_with_key(place);
        // One line that trips over a mistake of ours must not take the others with it.
        catch_unwind(AssertUnwindSafe(|| judging::judge(&action, policy, context)))
            .map_err(|_| "internal failure while judging".to_owned())
    }
}
