//! An attempt of a model that works with our tools: turn by turn at its desk, until it is done, or
//! until a call needs a person and everything is put away until there is an answer.

mod calls;
mod keeping;
mod recover;
mod settle;

use std::time::Duration;

use aurora_agents::llm::{Lines, Stop as Ending};
use aurora_agents::talk::{CallResult, Conversation, Turn};
use aurora_agents::transcript::Transcript;
use aurora_agents::{Heard, Listener as _, Talker};
use aurora_model::{AttemptEnd, Cost, Digest, FrozenCall, HowSettled, Usd};
use tokio::time::Instant;

use super::listening::Listening;
use super::{Inner, tools};
use crate::driver::Stop;
use crate::error::Result;
use crate::machine;
use calls::OneTurn;
use keeping::Kept;

pub(in crate::world) use calls::Worker;
pub(in crate::world) use settle::Turns;

/// More turns in one attempt lead nowhere.
const MAX_TURNS: u32 = 50;
/// More of what a tool said does not stand in the transcript.
const MAX_SHOWN_RESULT: usize = 2000;

/// How a part of a conversation ended.
pub(super) struct Talked {
    pub how: Parted,
    /// What this part cost.
    pub cost: Cost,
    pub transcript: Vec<u8>,
}

/// How a conversation was left.
pub(super) enum Parted {
    Over(AttemptEnd),
    /// It waits for people.
    Parked {
        context: Digest,
        calls: Vec<FrozenCall>,
    },
}

/// One part of a conversation, from its beginning or from where it was parked.
pub(super) struct Talk<'a> {
    pub talker: Talker<'a>,
    pub worker: Worker,
    pub prompt: String,
    /// Where it was parked, where it was.
    pub parked: Option<&'a machine::Conversation>,
    pub limit: Duration,
    pub seconds: u64,
    pub max_cost: Option<Usd>,
    pub stop: Stop,
}

/// What goes on within a part.
struct Going<'a> {
    talk: Talk<'a>,
    said: Conversation,
    kept: Kept,
    cost: Option<Cost>,
    transcript: Transcript,
}

impl Inner {
    /// Converses until the model is done, its time is over, somebody stops it, or a call needs a
    /// person.
    pub(super) async fn converse(&self, talk: Talk<'_>, listening: &Listening) -> Result<Talked> {
        let begun = match talk.parked {
            Some(parked) => match self.picked_up(parked).await {
                Ok(begun) => begun,
                Err(error) => {
                    let error = format!("what was said before cannot be taken up again: {error}");
                    let how = Parted::Over(AttemptEnd::Failed { error });
                    return Ok(Talked { how, cost: Cost::default(), transcript: Vec::new() });
                }
            },
            None => {
                let system = system(talk.worker.role.as_deref());
                (Kept::default(), Conversation::begin(system, talk.prompt.clone()))
            }
        };
        let (kept, said) = begun;
        let transcript = Transcript::default();
        let mut going = Going { talk, said, kept, cost: None, transcript };
        let how = self.go_on(&mut going, listening).await?;
        let cost = going.cost.unwrap_or_default();
        Ok(Talked { how, cost, transcript: going.transcript.finish() })
    }

    /// A parked conversation, with the results of its calls.
    async fn picked_up(&self, parked: &machine::Conversation) -> Result<(Kept, Conversation)> {
        let store = self.settings.store.as_ref();
        let (kept, mut said) = Kept::load(store, &parked.context).await?;
        let mut results = Vec::new();
        for call in &parked.calls {
            let lost = |what: &str| crate::Error::Lost { what: format!("{what} {}", call.call) };
            let (how, digest) = call.settled.as_ref().ok_or_else(|| lost("no result of"))?;
            let content = store.get(digest).await?;
            let waiting = said.waiting().iter().find(|one| one.id == call.call);
            let tool = waiting.ok_or_else(|| lost("nobody made the call"))?.name.clone();
            results.push(CallResult {
                call: call.call.clone(),
                tool,
                content: String::from_utf8_lossy(&content).into_owned(),
                is_error: *how != HowSettled::Executed,
            });
        }
        said.answer(results).map_err(|error| crate::Error::Lost { what: error.to_string() })?;
        Ok((kept, said))
    }

    async fn go_on(&self, going: &mut Going<'_>, listening: &Listening) -> Result<Parted> {
        let deadline = Instant::now() + going.talk.limit;
        let tools = tools::schemas(going.talk.talker.tools);
        loop {
            if let Some(error) = going.enough() {
                return Ok(Parted::Over(AttemptEnd::Failed { error }));
            }
            let turn = match going.next(&tools, deadline, listening).await {
                Ok(turn) => turn,
                Err(end) => return Ok(Parted::Over(end)),
            };
            if turn.calls.is_empty() {
                let end = end_of(&turn);
                going.said.take(turn);
                return Ok(Parted::Over(end));
            }
            let (calls, text) = (turn.calls.clone(), turn.text.clone());
            for call in &calls {
                let (name, args) = (call.name.clone(), call.args.clone());
                listening.hear(Heard::Tool { name, args });
            }
            going.said.take(turn);
            let Talk { worker, talker, stop, .. } = &going.talk;
            let turn = OneTurn { worker, given: talker.tools, said: &text, deadline };
            let sorted = self.sort(&turn, &calls, stop).await?;
            going.note(&sorted.results);
            self.denied(&going.talk.worker, sorted.denied).await?;
            if let Some(path) = &sorted.left {
                self.left(&going.talk.worker, path).await?;
            }
            if going.talk.stop.is_asked() {
                return Ok(Parted::Over(AttemptEnd::Interrupted {}));
            }
            if Instant::now() >= deadline {
                return Ok(Parted::Over(going.late()));
            }
            if !sorted.frozen.is_empty() {
                going.said.given = sorted.results;
                going.said.progress.parks = going.said.progress.parks.saturating_add(1);
                let context = going.kept.keep(self.settings.store.as_ref(), &going.said).await?;
                return Ok(Parted::Parked { context, calls: sorted.frozen });
            }
            if let Err(error) = going.said.answer(sorted.results) {
                return Ok(Parted::Over(AttemptEnd::Failed { error: error.to_string() }));
            }
        }
    }
}

impl Going<'_> {
    /// Why it goes no further.
    fn enough(&self) -> Option<String> {
        let progress = &self.said.progress;
        if progress.turns >= MAX_TURNS {
            return Some(format!("it was not done after {MAX_TURNS} turns"));
        }
        let spent = progress.cost.as_ref().map_or(Usd::ZERO, |cost| cost.usd);
        let most = self.talk.max_cost.filter(|most| spent > *most)?;
        Some(format!("it has cost {spent}, and may cost {most} (limits.max_cost_usd)"))
    }

    fn late(&self) -> AttemptEnd {
        AttemptEnd::TimedOut { seconds: self.talk.seconds }
    }

    /// The model's next turn, or why there is none.
    async fn next(
        &mut self,
        tools: &[aurora_agents::talk::ToolSchema],
        deadline: Instant,
        listening: &Listening,
    ) -> std::result::Result<Turn, AttemptEnd> {
        let mut lines = Lines::default();
        let mut told = |line| listening.hear(Heard::Said(line));
        let mut hear = |text: &str| lines.push(text, &mut told);
        let mut stop = self.talk.stop.clone();
        let turn = tokio::select! {
            turn = self.talk.talker.model.next(&self.said, tools, &mut hear) => turn,
            () = tokio::time::sleep_until(deadline) => return Err(self.late()),
            () = stop.asked() => return Err(AttemptEnd::Interrupted {}),
        };
        lines.end(&mut |line| listening.hear(Heard::Said(line)));
        match turn {
            Ok(turn) => {
                self.spend(&turn.cost, listening);
                self.transcript.push(shown(&turn).as_bytes());
                Ok(turn)
            }
            Err(unanswered) => {
                if let Some(cost) = &unanswered.cost {
                    self.said.progress.spend(cost);
                    self.spend(cost, listening);
                }
                Err(AttemptEnd::Failed { error: unanswered.to_string() })
            }
        }
    }

    fn spend(&mut self, cost: &Cost, listening: &Listening) {
        let sum = self.cost.as_ref().map_or_else(|| cost.clone(), |sum| sum.plus(cost));
        listening.hear(Heard::Spent(sum.clone()));
        self.cost = Some(sum);
    }

    fn note(&mut self, results: &[CallResult]) {
        for result in results {
            let content: String = result.content.chars().take(MAX_SHOWN_RESULT).collect();
            let line = format!("[{} of {}] {content}\n", result.tool, result.call);
            self.transcript.push(line.as_bytes());
        }
    }
}

/// A turn as it stands in the transcript.
fn shown(turn: &Turn) -> String {
    let mut text = format!("{}\n", turn.text.trim_end());
    for call in &turn.calls {
        text.push_str(&format!("[{} calls {} {}]\n", call.id, call.name, call.args));
    }
    text
}

/// What a turn without calls comes to.
fn end_of(turn: &Turn) -> AttemptEnd {
    let failed = |error: &str| AttemptEnd::Failed { error: error.to_owned() };
    match &turn.stop {
        Ending::Finished if turn.text.trim().is_empty() => failed("the model said nothing"),
        Ending::Finished => {
            AttemptEnd::Succeeded { summary: turn.text.trim().chars().take(4000).collect() }
        }
        Ending::Length => failed("the answer is longer than max_output_tokens allows"),
        Ending::Filtered => failed("the provider held the answer back"),
        Ending::Other(word) => failed(&format!("the answer ended by `{word}`")),
    }
}

/// What a model is told about where it is and what it may do.
fn system(role: Option<&str>) -> String {
    let role = role.map(|role| format!("You act as {role}. ")).unwrap_or_default();
    format!(
        "{role}You work on one task in a git worktree that was made for it, with the tools that you \
         are given; you can do nothing else. Paths are below the root of the worktree. Some calls \
         wait until a person allows them: you are then told what came of them, or why they were \
         refused. What was refused was not done; try another way, or say why the task cannot be done \
         without it. When the task is done, answer without a call and say in a few lines what you \
         did."
    )
}
