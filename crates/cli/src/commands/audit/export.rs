//! `aur audit export`: the log as lines of JSON that can be verified without it.

use aurora_model::{Digest, Timestamp};
use aurora_store::StreamId;
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::output;
use crate::wiring::store::{Log, failure};
use crate::wiring::workspace::now;

const PAGE: usize = 1000;
const ABOUT: &str = "One record per line. hash = SHA-256 over: text aurora.record.1, hash of the \
record before it in its stream (32 zero bytes for the first), stream, version, at in milliseconds \
since 1970, kind, schema, payload. chain = SHA-256 over: text aurora.chain.1, chain of the record \
before it in the log (32 zero bytes for the first), position, hash. A text is its length in bytes as \
8 bytes, most significant first, then its bytes; a number is 8 bytes, most significant first; a hash \
is its 32 bytes. The last line counts the records.";

/// What to export.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only the records of this run.
    #[arg(long, value_name = "ID", conflicts_with = "stream")]
    pub run: Option<String>,
    /// Only the records of this stream.
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
}

const EXAMPLES: &str = "Examples:
  aur audit export > log.jsonl
  aur audit export --run spawn-1705234567 > run.jsonl
  aur audit verify --file log.jsonl

The first line says what the file is and how its hashes are made, the last one how many records it has.
A whole log can be verified whole; a single run as far as its own records go.";

/// The first line of an export.
#[derive(Serialize, Deserialize)]
pub struct Header {
    /// Which form it has.
    pub aurora_export: u32,
    /// The stream that it holds; all of them when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamId>,
    /// When it was made.
    pub at: Timestamp,
    /// How to read it.
    pub about: String,
}

/// The last line of an export.
#[derive(Serialize, Deserialize)]
pub struct End {
    /// How many records there are.
    pub records: u64,
    /// The chain of the last one.
    pub chain: Option<Digest>,
}

/// Prints it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let stream = super::stream(args.run.as_deref(), args.stream.as_deref())?;
    let Some(log) = Log::open_existing()? else {
        output::note("nothing recorded yet");
        return Ok(Exit::Ok);
    };
    log.ask(export(&log, stream))
}

async fn export(log: &Log, stream: Option<StreamId>) -> anyhow::Result<Exit> {
    if let Some(stream) = &stream
        && log.store.head(stream).await.map_err(failure)?.is_none()
    {
        return Err(super::unknown(stream));
    }
    let header =
        Header { aurora_export: 1, stream: stream.clone(), at: now(), about: ABOUT.to_owned() };
    output::print(&format!("{}\n", serde_json::to_string(&header)?))?;
    let (mut after, mut end) = (0, End { records: 0, chain: None });
    loop {
        let page = match &stream {
            Some(stream) => log.store.read(stream, after, PAGE).await,
            None => log.store.read_all(after, PAGE).await,
        };
        let page = page.map_err(failure)?;
        let Some(last) = page.last() else { break };
        after = if stream.is_some() { last.version } else { last.position };
        end.chain = Some(last.chain.clone());
        let mut out = String::new();
        for record in &page {
            end.records += 1;
            out.push_str(&serde_json::to_string(record)?);
            out.push('\n');
        }
        output::print(&out)?;
    }
    output::print(&format!("{}\n", serde_json::to_string(&end)?))?;
    Ok(Exit::Ok)
}
