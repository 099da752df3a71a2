//! Puts questions to whoever sits at the terminal, one at a time; a question that was answered
//! elsewhere goes away by itself.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use aurora_engine::approvals::{Queue, Silence};
use aurora_engine::driver::Stop;
use aurora_engine::machine::{State, answer_unasked};
use aurora_engine::world::{Asker, MaybeAnswer};
use aurora_model::{About, Answerer, Choice, Question, RunKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};

use super::super::view;
use super::{Inner, Mode, Screen};
use crate::output;
use crate::output::options::{self, Asked};
use crate::output::panel::Canvas;
use crate::output::request::Item;
use crate::wiring::person;
use crate::wiring::workspace::now;

/// How long a look at the keyboard waits before it looks whether the question still stands.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// A longer answer is none.
const MAX_ANSWER_BYTES: usize = 4096;

impl Asker for Screen {
    fn ask(&self, question: &Question, state: &Arc<State>, stop: Stop) -> MaybeAnswer {
        let this = Arc::clone(&self.0);
        if !this.can_ask {
            return Box::pin(std::future::ready(None));
        }
        let (question, state) = (question.clone(), Arc::clone(state));
        Box::pin(async move {
            let _turn = this.turn.acquire().await.ok()?;
            if stop.is_asked() {
                return None;
            }
            let queue = Queue::new(Arc::clone(&this.store), Arc::new(Silence), now);
            // Who may decide and until when is told where it is known; asking does not depend on it.
            let item = queue.load(&question.id).await.ok().flatten().map(Item::from);
            let asker = Arc::clone(&this);
            let asked = tokio::task::spawn_blocking(move || {
                asker.prompt(&question, &state, item.as_ref(), &stop)
            });
            asked.await.ok().flatten()
        })
    }

    fn told_elsewhere(&self, question: &Question, text: &str) {
        let mut shared = self.0.shared();
        shared.told_of.insert(question.id.clone());
        if shared.asking.as_ref() == Some(&question.id) {
            // The prompt says it when it closes.
            shared.elsewhere = Some(text.to_owned());
            return;
        }
        drop(shared);
        if self.0.mode != Mode::Json {
            let canvas = Canvas::of_stdout();
            self.0.show(format!("{}: {}", question.id, canvas.safe(text)));
        }
    }
}

/// Answers in the person's place, as a run that was begun with `--yes` does itself.
pub struct Yes {
    /// Whether that is so because gates are switched off in the environment.
    pub ungated: bool,
}

impl Asker for Yes {
    fn ask(&self, question: &Question, _: &Arc<State>, _: Stop) -> MaybeAnswer {
        Box::pin(std::future::ready(Some(answer_unasked(question, self.ungated))))
    }
}

impl Inner {
    /// Says what is asked and how to answer from elsewhere, where nobody here can.
    pub(super) fn announce(&self, question: &Question, state: &State) {
        if self.can_ask || self.mode == Mode::Json || self.brief.settings.yes {
            return;
        }
        let canvas = Canvas::of_stdout();
        if question.about == About::Preview && self.brief.kind == RunKind::Spawn {
            self.show(self.preview_text(canvas));
        }
        // A run that does not stay says it in its summary.
        if self.stays.load(Ordering::SeqCst) {
            let asks = canvas.safe(&view::sentence(state, question));
            let answer = view::how_to_answer(question);
            let show = format!("aur approvals show {}", question.id);
            self.show(format!(
                "{} asks: {asks}\n  look:   {show}\n  answer: {answer}",
                question.id
            ));
        }
    }

    /// Shows the question and reads the answer; nothing when it no longer stands, or nobody answers.
    fn prompt(
        &self,
        question: &Question,
        state: &State,
        item: Option<&Item>,
        stop: &Stop,
    ) -> Option<(Choice, Answerer)> {
        let (text, asked) = self.question_text(question, state, item)?;
        let mut shared = self.shared();
        shared.asking = Some(question.id.clone());
        shared.elsewhere = None;
        let _ = shared.painter.clear();
        drop(shared);
        forget_typed_ahead();
        let _ = output::print(&text);
        let answer = self.answer(question, asked, stop);
        let mut shared = self.shared();
        shared.asking = None;
        let held = std::mem::take(&mut shared.held);
        let elsewhere = shared.elsewhere.take();
        drop(shared);
        if answer.is_none() {
            let _ = output::print(&gone(stop.is_asked(), elsewhere.as_deref()));
        }
        held.into_iter().for_each(|line| self.show(line));
        if self.mode == Mode::Panel {
            self.draw();
        }
        let (choice, reason) = answer?;
        Some((choice, answerer(reason)))
    }

    fn question_text(
        &self,
        question: &Question,
        state: &State,
        item: Option<&Item>,
    ) -> Option<(String, Asked)> {
        let shared = self.shared();
        // The terminal may have another size by now.
        let canvas = Canvas::of_stdout();
        let (panel, asked) = match &question.about {
            About::Preview if self.brief.kind == RunKind::Goals => {
                (self.preview_text(canvas), Asked::Decomposition)
            }
            About::Preview => (self.preview_text(canvas), Asked::Preview),
            About::Failure { .. } => {
                let shown = view::failed(state, question, &shared.moving)?;
                (output::failure::failed(canvas, &shown), Asked::Failure)
            }
            About::Policy { .. } => {
                let shown = view::gated(state, question)?;
                (output::failure::gated(canvas, &shown), Asked::Policy)
            }
            About::Changes { .. } => {
                let shown = view::gated(state, question)?;
                (output::failure::gated(canvas, &shown), Asked::Changes)
            }
            About::Operation { .. } | About::Unknown { .. } => {
                let shown = view::operation(state, question, item)?;
                let unknown = shown.unknown.is_some();
                let asked = if unknown { Asked::Unknown } else { Asked::Operation };
                (output::operation::operation(canvas, &shown), asked)
            }
        };
        Some((format!("{panel}{}", options::ask(canvas, asked, &question.options)), asked))
    }

    fn answer(
        &self,
        question: &Question,
        asked: Asked,
        stop: &Stop,
    ) -> Option<(Choice, Option<String>)> {
        loop {
            let line = read_line(stop)?;
            match options::chosen(asked, &line, &question.options) {
                Ok(choice) => match options::wants_words(asked, choice) {
                    None => return Some((choice, None)),
                    Some(words) => {
                        let _ = output::print(words.prompt);
                        let said = read_line(stop)?.trim().to_owned();
                        if !said.is_empty() || !words.needed {
                            return Some((choice, Some(said).filter(|said| !said.is_empty())));
                        }
                        let _ = output::print(&options::prompt(asked, &question.options));
                    }
                },
                Err(why) => {
                    let canvas = Canvas::of_stdout();
                    let again = options::again(canvas, asked, (&line, why), &question.options);
                    forget_typed_ahead();
                    let _ = output::print(&again);
                }
            }
        }
    }
}

/// Throws away what was typed before the question could be seen: it was meant for something else.
fn forget_typed_ahead() {
    // Where stdin is no terminal, nobody typed.
    let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
}

/// A line from the keyboard; nothing at the end of the input, or when `stop` says so.
fn read_line(stop: &Stop) -> Option<String> {
    let stdin = std::io::stdin();
    let _ = std::io::stdout().flush();
    loop {
        if stop.is_asked() {
            return None;
        }
        let mut look = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut look, Some(&LOOK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => break,
            Err(_) => return None,
        }
    }
    let mut bytes = Vec::new();
    let read = std::io::Read::take(stdin.lock(), u64::try_from(MAX_ANSWER_BYTES).unwrap_or(4096))
        .read_until(b'\n', &mut bytes)
        .ok()?;
    (read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// What is said below a prompt that nobody answered here.
fn gone(closed: bool, elsewhere: Option<&str>) -> String {
    match (closed, elsewhere) {
        (_, Some(text)) => {
            format!("\n(no longer asked: {})\n", Canvas::of_stdout().safe(text))
        }
        (true, None) => "\n(no longer asked)\n".to_owned(),
        (false, None) => "\n".to_owned(),
    }
}

/// Whoever sits at the terminal.
fn answerer(reason: Option<String>) -> Answerer {
    Answerer { by: person::login(), surface: "terminal".to_owned(), reason }
}
