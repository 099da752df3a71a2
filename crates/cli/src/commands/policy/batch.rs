//! `aur policy check --batch`: one JSON object in, one answer out, in order, whatever a line holds.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use aurora_gate::Policy;
use aurora_model::{Context, Verdict};
use serde_json::Value;

use super::batch_line::{self, Line};
use crate::exit::{Exit, Failure};
use crate::output::verdict;
use crate::wiring::judging;
use crate::wiring::place::{Given, Place};

const MAX_LINE_BYTES: usize = 2 * 1024 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;
const MAX_CACHED_CONTEXTS: usize = 1024;

/// Answers every line of stdin. Without a policy each answer is an error; `here` is the place of
/// lines that name none.
pub fn run(policy: anyhow::Result<Policy>, here: Given) -> anyhow::Result<Exit> {
    let stdin = BufReader::with_capacity(BUFFER_BYTES, std::io::stdin().lock());
    let stdout = BufWriter::with_capacity(BUFFER_BYTES, std::io::stdout().lock());
    let judge =
        Judge { policy: policy.as_ref().map_err(ToString::to_string), here, seen: HashMap::new() };
    match answer_all(stdin, stdout, judge) {
        Ok(()) => {}
        // Nobody reads the answers any more: there is nobody left to tell.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            return Err(Failure::failed(format!("cannot go on with the batch: {error}")).into());
        }
    }
    policy.map(|_| Exit::Ok)
}

fn answer_all<R: Read, W: Write>(
    mut reader: BufReader<R>,
    mut writer: BufWriter<W>,
    mut judge: Judge<'_>,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut number: u64 = 0;
    loop {
        // Whoever waits for an answer before sending more gets it: nothing stays in the buffer
        // while reading may block.
        if reader.buffer().is_empty() {
            writer.flush()?;
        }
        let read = read_line(&mut reader, &mut bytes)?;
        if read == LineRead::End {
            return writer.flush();
        }
        number += 1;
        let answer = match read {
            LineRead::TooLong => {
                let id = batch_line::id_of_broken(&String::from_utf8_lossy(&bytes));
                let limit = MAX_LINE_BYTES / (1024 * 1024);
                verdict::batch_error(&id, &format!("line {number}: longer than {limit} MiB"))
            }
            LineRead::Whole | LineRead::End => {
                if bytes.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                judge.answer(&String::from_utf8_lossy(&bytes), number)
            }
        };
        serde_json::to_writer(&mut writer, &answer)?;
        writer.write_all(b"\n")?;
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

/// The policy, and the contexts of earlier lines: most lines of a batch share one.
struct Judge<'p> {
    policy: Result<&'p Policy, String>,
    here: Given,
    seen: HashMap<Given, Context>,
}

impl Judge<'_> {
    fn answer(&mut self, text: &str, number: u64) -> Value {
        let at_line = |problem: String| format!("line {number}: {problem}");
        let (id, line) = match Line::read(text) {
            Ok(line) => (line.id.clone(), Ok(line)),
            Err(problem) => (batch_line::id_of_broken(text), Err(at_line(problem))),
        };
        // A policy that cannot be read is no fault of the line's.
        let policy = self.policy.clone();
        let verdict = policy.and_then(|policy| self.verdict(line?, policy).map_err(at_line));
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
}
