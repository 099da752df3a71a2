//! How a batch flows: a worker reads, judges and writes line by line, and a watcher answers in its
//! place when a line takes too long.
//!
//! The worker needs no other thread to wake up for a line, so that a line costs no more than a lock.

use std::io::{BufRead, BufReader, BufWriter, Error, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::batch_line;
use crate::output::verdict;
use crate::wiring::patience;

const MAX_LINE_BYTES: usize = 2 * 1024 * 1024;

/// Answers every line of a reader; each worker gets a judge of its own.
pub fn answer_all<R, W, J>(
    reader: BufReader<R>,
    writer: BufWriter<W>,
    patience: Duration,
    judge: impl Fn() -> J,
) -> std::io::Result<()>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
    J: FnMut(&str, u64) -> Value + Send + 'static,
{
    let flow = Flow { reader, writer, bytes: Vec::new(), number: 0, turn: 0, busy: None };
    let flow = Arc::new(Mutex::new(flow));
    let (done, ended) = mpsc::channel();
    let start = |turn| {
        let (flow, done, mut judge) = (Arc::clone(&flow), done.clone(), judge());
        patience::start(move || {
            let work = AssertUnwindSafe(|| work(&flow, turn, &mut judge));
            let ending =
                catch_unwind(work).unwrap_or_else(|_| Some(Err(Error::other("internal failure"))));
            if let Some(ending) = ending {
                // The watcher is there until it gets this.
                let _ = done.send(ending);
            }
        })
    };
    start(0)?;
    let mut wait = patience;
    loop {
        if let Ok(ending) = ended.recv_timeout(wait) {
            return ending;
        }
        // While the worker waits for a line it holds the lock, and there is nothing to watch.
        let mut flow = lock(&flow);
        let spent = flow.busy.as_ref().map_or(Duration::ZERO, |busy| busy.since.elapsed());
        wait = patience.saturating_sub(spent);
        if wait.is_zero() {
            flow.give_up(patience)?;
            start(flow.turn)?;
            wait = patience;
        }
    }
}

/// Answers lines until the end, or until another worker has the turn: then there is nothing to tell.
fn work<R: Read, W: Write>(
    flow: &Mutex<Flow<R, W>>,
    turn: u64,
    judge: &mut impl FnMut(&str, u64) -> Value,
) -> Option<std::io::Result<()>> {
    let mut held = lock(flow);
    while held.turn == turn {
        let (text, number) = match held.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => return Some(held.writer.flush()),
            Err(error) => return Some(Err(error)),
        };
        held.busy = Some(Busy { since: Instant::now(), text: Arc::clone(&text), number });
        drop(held);
        let answer = judge(&text, number);
        held = lock(flow);
        if held.turn != turn {
            return None;
        }
        held.busy = None;
        if let Err(error) = held.write(&answer) {
            return Some(Err(error));
        }
    }
    None
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What workers share: both ends, and who may use them.
struct Flow<R: Read, W: Write> {
    reader: BufReader<R>,
    writer: BufWriter<W>,
    bytes: Vec<u8>,
    number: u64,
    /// The worker that may go on; earlier ones end when their line does.
    turn: u64,
    busy: Option<Busy>,
}

/// The line that is being judged.
struct Busy {
    since: Instant,
    text: Arc<str>,
    number: u64,
}

impl<R: Read, W: Write> Flow<R, W> {
    /// The next line to be judged and its number; one that is too long is answered here.
    fn next_line(&mut self) -> std::io::Result<Option<(Arc<str>, u64)>> {
        loop {
            // Whoever waits for an answer before sending more gets it: nothing stays in the buffer
            // while reading may block.
            if self.reader.buffer().is_empty() {
                self.writer.flush()?;
            }
            let read = read_line(&mut self.reader, &mut self.bytes)?;
            if read == LineRead::End {
                return Ok(None);
            }
            self.number += 1;
            if read == LineRead::TooLong {
                let id = batch_line::id_of_broken(&String::from_utf8_lossy(&self.bytes));
                let (number, limit) = (self.number, MAX_LINE_BYTES / (1024 * 1024));
                let problem = format!("line {number}: longer than {limit} MiB");
                self.write(&verdict::batch_error(&id, &problem))?;
            } else if !self.bytes.iter().all(u8::is_ascii_whitespace) {
                let text = String::from_utf8_lossy(&self.bytes);
                return Ok(Some((text.into(), self.number)));
            }
        }
    }

    fn write(&mut self, answer: &Value) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.writer, answer)?;
        self.writer.write_all(b"\n")
    }

    /// Answers the line that takes too long, and takes the turn from its worker.
    fn give_up(&mut self, patience: Duration) -> std::io::Result<()> {
        self.turn += 1;
        let Some(busy) = self.busy.take() else { return Ok(()) };
        let id = batch_line::id_of_broken(&busy.text);
        let problem = format!("line {}: {}", busy.number, patience::too_late(patience));
        self.write(&verdict::batch_error(&id, &problem))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineRead {
    Whole,
    TooLong,
    End,
}

/// Reads up to a line break, and keeps no more than a line may hold.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<LineRead> {
    line.clear();
    let mut seen_any = false;
    let mut too_long = false;
    loop {
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            break;
        }
        seen_any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        let room = MAX_LINE_BYTES - line.len();
        too_long |= part.len() > room;
        line.extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (seen_any, too_long) {
        (false, _) => LineRead::End,
        (true, true) => LineRead::TooLong,
        (true, false) => LineRead::Whole,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_up_to_the_limit_and_cut_beyond_it() {
        let mut input = b"one\n\n".to_vec();
        input.extend(vec![b'x'; MAX_LINE_BYTES + 1]);
        input.extend(b"\n");
        input.extend(vec![b'y'; MAX_LINE_BYTES]);
        input.extend(b"\nlast");
        let mut reader = BufReader::new(input.as_slice());
        let mut line = Vec::new();
        let mut seen = Vec::new();
        loop {
            let read = read_line(&mut reader, &mut line).unwrap();
            seen.push((read, line.len()));
            if read == LineRead::End {
                break;
            }
        }
        assert_eq!(
            seen,
            [
                (LineRead::Whole, 3),
                (LineRead::Whole, 0),
                (LineRead::TooLong, MAX_LINE_BYTES),
                (LineRead::Whole, MAX_LINE_BYTES),
                (LineRead::Whole, 4),
                (LineRead::End, 0),
            ]
        );
    }

    /// A writer whose text can be looked at afterwards.
    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_does_not_end_is_an_error_and_the_next_one_is_answered() {
        let page = Page::default();
        let (open, never) = mpsc::channel::<()>();
        let never = Arc::new(Mutex::new(never));
        let judge = || {
            let never = Arc::clone(&never);
            move |text: &str, number: u64| {
                if text.contains("stuck") {
                    let _ = never.lock().unwrap().recv();
                }
                serde_json::json!([number, text])
            }
        };
        let input = "a\n{\"id\": \"stuck\"}\n\nb\n".as_bytes();
        let writer = BufWriter::new(page.clone());
        let soon = Duration::from_millis(200);
        answer_all(BufReader::new(input), writer, soon, judge).unwrap();
        drop(open);
        let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[0], serde_json::json!([1, "a"]));
        assert_eq!((&lines[1]["id"], &lines[1]["decision"]), (&"stuck".into(), &"deny".into()));
        assert_eq!(lines[1]["error"], "line 2: no verdict within 0 s");
        assert_eq!(lines[2], serde_json::json!([4, "b"]));
    }
}
