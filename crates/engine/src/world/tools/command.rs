//! Runs a line at a desk, under a keeper, so that nothing of it stays.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use aurora_agents::{Ended, Launch};
use aurora_workspace::process::Keeper;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::told::Made;
use crate::driver::Stop;
use crate::error::Result;
use crate::world::processes::Process;

/// How much of the beginning and of the end of an output is told.
const TOLD_BYTES: usize = 16 << 10;
/// How long what is still in a pipe is waited for after its process has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Where and how commands are run.
pub(in crate::world) struct Shell<'a> {
    pub keeper: &'a Keeper,
    pub ours: &'a BTreeMap<String, String>,
    pub desk: &'a Path,
    /// Variables that say whose command it is.
    pub marks: BTreeMap<String, String>,
}

/// How a command ended.
enum End {
    Itself(Ended),
    TimedOut,
    Stopped,
}

impl Shell<'_> {
    /// Runs a line and says what came of it. When this returns, everything that it started is gone.
    pub async fn run(&self, line: &str, seconds: u64, mut stop: Stop) -> Result<Made> {
        let argv = ["bash", "-c", line].map(str::to_owned).to_vec();
        let launch = Launch { argv, env: self.marks.clone(), pass_env: Vec::new() };
        let (process, pipes) = Process::start(self.keeper, &launch, self.ours, self.desk).await?;
        // It has no input.
        drop(pipes.stdin);
        let (mut out, mut err) = (Ends::default(), Ends::default());
        let end = {
            let mut reading =
                Box::pin(async { tokio::join!(out.read(pipes.stdout), err.read(pipes.stderr)) });
            let mut ended = pipes.ended;
            let mut limit = Box::pin(tokio::time::sleep(Duration::from_secs(seconds)));
            let mut read = false;
            let end = loop {
                tokio::select! {
                    ended = &mut ended => break End::Itself(ended),
                    _ = &mut reading, if !read => read = true,
                    () = &mut limit => break End::TimedOut,
                    () = stop.asked() => break End::Stopped,
                }
            };
            match &end {
                End::Itself(_) => process.kill().await,
                End::TimedOut | End::Stopped => process.end().await,
            }
            if !read {
                let _ = tokio::time::timeout(LAST_WORDS, reading).await;
            }
            end
        };
        Ok(told(end, seconds, &out.told(), &err.told()))
    }
}

fn told(end: End, seconds: u64, stdout: &str, stderr: &str) -> Made {
    let mut content = json!({"stdout": stdout, "stderr": stderr});
    let mut put = |name: &str, value: serde_json::Value| {
        if let Some(content) = content.as_object_mut() {
            content.insert(name.to_owned(), value);
        }
    };
    let (summary, good) = match end {
        End::Itself(Ended::Code(code)) => {
            put("exit_code", json!(code));
            (format!("ended with code {code}"), code == 0)
        }
        End::Itself(Ended::Signal(signal)) => {
            put("signal", json!(signal));
            (format!("was ended by signal {signal}"), false)
        }
        End::Itself(Ended::NotStarted { why }) => {
            put("error", json!(format!("it could not be started: {why}")));
            (format!("could not be started: {why}"), false)
        }
        End::Itself(Ended::Lost) => {
            put("error", json!("nobody knows how it ended"));
            ("ended, and nobody knows how".to_owned(), false)
        }
        End::TimedOut => {
            put("error", json!(format!("it took longer than {seconds} seconds and was ended")));
            (format!("took longer than {seconds} seconds"), false)
        }
        End::Stopped => {
            put("error", json!("the run was stopped while it was running"));
            ("was stopped with its run".to_owned(), false)
        }
    };
    let made = Made::told(&content, summary);
    if good { made } else { made.into_failure() }
}

/// The beginning and the end of an output.
#[derive(Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Ends {
    async fn read(&mut self, mut from: Box<dyn AsyncRead + Send + Unpin>) {
        let mut buffer = vec![0; 8 << 10];
        while let Ok(count) = from.read(&mut buffer).await {
            if count == 0 {
                return;
            }
            self.push(buffer.get(..count).unwrap_or_default());
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = TOLD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TOLD_BYTES);
        self.tail.drain(..over);
        self.left_out = self.left_out.saturating_add(u64::try_from(over).unwrap_or(u64::MAX));
    }

    fn told(self) -> String {
        let mut bytes = self.head;
        if self.left_out > 0 {
            bytes.extend_from_slice(
                format!("\n[{} bytes are left out]\n", self.left_out).as_bytes(),
            );
        }
        bytes.extend(self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_the_beginning_and_the_end_are_told() {
        let mut ends = Ends::default();
        ends.push(b"first\n");
        for _ in 0..1000 {
            ends.push(&[b'x'; 1000]);
        }
        ends.push(b"\nlast");
        let told = ends.told();
        assert!(told.starts_with("first\n") && told.ends_with("\nlast"));
        assert!(told.contains("bytes are left out") && told.len() < 2 * TOLD_BYTES + 100);
        let mut little = Ends::default();
        little.push(b"all");
        assert_eq!(little.told(), "all");
    }
}
