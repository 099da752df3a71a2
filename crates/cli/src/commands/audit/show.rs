//! `aur audit show`: records, as lines.

use std::collections::VecDeque;
use std::sync::Arc;

use aurora_store::{Record, Store, StreamId};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output;
use crate::output::escape;
use crate::output::style::Style;
use crate::wiring::store::{Log, failure};

const PAGE: usize = 1000;

/// Which records, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Those of this run.
    #[arg(long, value_name = "ID", conflicts_with = "stream")]
    pub run: Option<String>,
    /// Those of this stream, such as `budget/2026-11`.
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
    /// Those of this kind, such as `task_completed`.
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// So many of the latest.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Go on with what is recorded from now on, until interrupted.
    #[arg(long)]
    pub follow: bool,
    /// One JSON object per record and line.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur audit show
  aur audit show --run spawn-1705234567 --limit 1000
  aur audit show --kind question_answered --json
  aur audit show --follow";

/// Prints them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let stream = super::stream(args.run.as_deref(), args.stream.as_deref())?;
    let Some(log) = Log::open_existing()? else { return super::nothing(args.json) };
    let reader = Reader { store: Arc::clone(&log.store), stream, kind: args.kind.clone() };
    log.ask(show(args, &reader))
}

async fn show(args: &Args, reader: &Reader) -> anyhow::Result<Exit> {
    let style = Style::of_stdout();
    let mut news = reader.store.subscribe();
    let mut after = reader.begin(args.limit).await?;
    let mut latest = VecDeque::new();
    let mut position = 0;
    loop {
        let page = reader.page(after).await?;
        let Some(last) = page.last() else { break };
        after = if reader.stream.is_some() { last.version } else { last.position };
        position = last.position;
        latest.extend(page.into_iter().filter(|record| reader.wants(record)));
        latest.drain(..latest.len().saturating_sub(args.limit));
    }
    print(args, style, latest.make_contiguous())?;
    if let (true, false, Some(kind)) = (latest.is_empty(), args.follow, &reader.kind) {
        output::note(&format!("the log has no record of the kind `{}` there", escape::line(kind)));
    }
    while args.follow && news.past(position).await {
        position = news.position();
        loop {
            let page = reader.page(after).await?;
            let Some(last) = page.last() else { break };
            after = if reader.stream.is_some() { last.version } else { last.position };
            let wanted: Vec<Record> =
                page.into_iter().filter(|record| reader.wants(record)).collect();
            print(args, style, &wanted)?;
        }
    }
    Ok(Exit::Ok)
}

/// What is read from where.
struct Reader {
    store: Arc<dyn Store>,
    stream: Option<StreamId>,
    kind: Option<String>,
}

impl Reader {
    /// After which version or position reading begins. A kind can be anywhere.
    async fn begin(&self, limit: usize) -> anyhow::Result<u64> {
        let last = match &self.stream {
            Some(stream) => {
                let head = self.store.head(stream).await.map_err(failure)?;
                head.ok_or_else(|| super::unknown(stream))?.version
            }
            None => self.store.subscribe().position(),
        };
        let back = u64::try_from(limit).unwrap_or(u64::MAX);
        Ok(if self.kind.is_some() { 0 } else { last.saturating_sub(back) })
    }

    async fn page(&self, after: u64) -> anyhow::Result<Vec<Record>> {
        let page = match &self.stream {
            Some(stream) => self.store.read(stream, after, PAGE).await,
            None => self.store.read_all(after, PAGE).await,
        };
        Ok(page.map_err(failure)?)
    }

    fn wants(&self, record: &Record) -> bool {
        self.kind.as_ref().is_none_or(|kind| *kind == record.kind)
    }
}

fn print(args: &Args, style: Style, records: &[Record]) -> anyhow::Result<()> {
    let mut out = String::new();
    for record in records {
        let payload = serde_json::from_str::<Value>(&record.payload);
        if args.json {
            let payload = payload.unwrap_or_else(|_| Value::String(record.payload.clone()));
            let mut told = json!(record);
            if let Some(told) = told.as_object_mut() {
                told.insert("payload".to_owned(), payload);
            }
            out.push_str(&format!("{told}\n"));
        } else {
            out.push_str(&line(style, record, &payload.unwrap_or_default()));
        }
    }
    output::print(&out)
}

fn line(style: Style, record: &Record, payload: &Value) -> String {
    let head = format!(
        "{:>6}  {}  {}  {}",
        record.position,
        record.at,
        escape::line(&record.stream.0),
        escape::line(&record.kind)
    );
    let mut words = Vec::new();
    // Who decided, from where and why comes before everything else.
    if let Some(decision) = payload.get("decision") {
        decided(decision, &mut words);
    }
    // A question says only in its third level what it is about.
    let depth = if record.kind == "question_asked" { 3 } else { 2 };
    gist(payload, "", depth, &mut words);
    let words = escape::line(&words.join(" "));
    // What does not fit is in `--json`.
    let room = style.width.saturating_mul(2).saturating_sub(head.chars().count() + 2).max(40);
    let mut short: String = words.chars().take(room).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    format!("{head}  {}\n", style.faint(&short)).replace("  \n", "\n")
}

/// Who decided, from where, and why.
fn decided(decision: &Value, out: &mut Vec<String>) {
    let text = |value: &Value, pointer: &str| {
        value.pointer(pointer).and_then(Value::as_str).map(ToOwned::to_owned)
    };
    if let Some(name) = text(decision, "/by/name") {
        let surface = text(decision, "/by/surface").unwrap_or_default();
        out.push(format!("by={name:?} from={surface}"));
    }
    if let Some(reason) = text(decision, "/reason") {
        out.push(format!("reason={reason:?}"));
    }
}

/// The plain values of a payload, not deeper than so many levels.
fn gist(value: &Value, path: &str, depth: usize, out: &mut Vec<String>) {
    let Some(fields) = value.as_object() else { return };
    for (name, value) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(_) if depth > 1 => gist(value, &path, depth - 1, out),
            Value::Array(items) if !items.is_empty() => {
                out.push(format!("{path}=[{}]", items.len()))
            }
            Value::String(_) if path == "type" => {}
            Value::String(text) if text.contains(' ') => out.push(format!("{path}={text:?}")),
            Value::String(text) => out.push(format!("{path}={text}")),
            Value::Number(_) | Value::Bool(_) => out.push(format!("{path}={value}")),
            _ => {}
        }
    }
}
