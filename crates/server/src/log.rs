//! The log over HTTP: its records, and whether it is as it was written.

use aurora_engine::face::{self, Record, StreamId};
use serde_json::{Value, json};

use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::cursor::List;
use crate::problem::Problem;

/// So many records are read at once.
const BATCH: usize = 500;
/// So many are looked at for one page.
const MAX_LOOKED_AT: usize = 20_000;

/// A record as JSON, with its payload as JSON and not as text.
pub fn shape(record: &Record) -> Value {
    let payload = serde_json::from_str::<Value>(&record.payload);
    let payload = payload.unwrap_or_else(|_| Value::String(record.payload.clone()));
    json!({
        "position": record.position,
        "stream": record.stream,
        "version": record.version,
        "at": record.at,
        "kind": record.kind,
        "schema": record.schema,
        "payload": payload,
        "hash": record.hash,
        "chain": record.chain,
    })
}

/// `GET /audit`.
pub async fn list(call: Call) -> Outcome {
    let kind = call.text("kind").map(str::to_owned);
    let stream = call.text("stream").map(|name| StreamId(name.to_owned()));
    let (records, next) = page(&call, List::Audit, stream.as_ref(), kind.as_deref()).await?;
    Ok(Reply::ok(json!({"records": records, "next": next})))
}

/// Records after a place: of one stream, or of the whole log.
pub async fn page(
    call: &Call,
    list: List,
    stream: Option<&StreamId>,
    kind: Option<&str>,
) -> Result<(Vec<Value>, Option<String>), Problem> {
    let limit = call.limit();
    let mut after = list.place(call.text("after"))?;
    let (mut found, mut looked_at) = (Vec::new(), 0);
    loop {
        let store = call.server.store();
        let records = match stream {
            Some(stream) => store.read(stream, after, BATCH).await?,
            None => store.read_all(after, BATCH).await?,
        };
        let full = records.len() == BATCH;
        let mut left = records.len();
        for record in &records {
            after = if stream.is_some() { record.version } else { record.position };
            left -= 1;
            if kind.is_none_or(|kind| record.kind == kind) {
                found.push(shape(record));
            }
            if found.len() == limit {
                break;
            }
        }
        if !full && left == 0 {
            return Ok((found, None));
        }
        looked_at += records.len();
        if found.len() == limit || looked_at >= MAX_LOOKED_AT {
            return Ok((found, Some(list.at(after))));
        }
    }
}

/// `GET /audit/verify`.
pub async fn verify(call: Call) -> Outcome {
    let busy = || Problem::too_many("the log is being verified for somebody else", 5);
    let _turn = call.server.verifying.try_acquire().map_err(|_| busy())?;
    let seen = face::verify(&**call.server.store(), None).await?;
    let finding = |finding: &face::Finding| json!({"message": finding.to_string()});
    let findings: Vec<Value> = seen.findings.iter().map(finding).collect();
    Ok(Reply::ok(json!({
        "whole": seen.is_whole(),
        "records": seen.records,
        "streams": seen.streams,
        "position": seen.position,
        "head": seen.chain,
        "findings": findings,
        "more": seen.more,
    })))
}
