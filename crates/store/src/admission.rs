//! What may be recorded at all: names and texts that every store can hold and give back unchanged.

use std::collections::HashSet;

use serde::de::IgnoredAny;

use crate::error::{Error, Result};
use crate::record::{Append, StreamId};

/// Longer names are refused, in bytes.
const MAX_NAME: usize = 512;
/// Longer texts are refused, in bytes; what is large belongs beside the log.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// Refuses what cannot be recorded together.
pub(crate) fn check(appends: &[Append]) -> Result<()> {
    let mut names = HashSet::new();
    if let Some(twice) = appends.iter().find(|append| !names.insert(&append.stream)) {
        return refuse(format!("{} is appended to twice at once", twice.stream));
    }
    appends.iter().try_for_each(check_one)
}

fn check_one(append: &Append) -> Result<()> {
    stream(&append.stream)?;
    if let Some(mark) = &append.mark {
        name("the label of a mark", &mark.label)?;
    }
    for record in &append.records {
        name("a kind", &record.kind)?;
        json("the payload", &record.payload)?;
    }
    for message in &append.outgoing {
        name("the id of a message", &message.id)?;
        name("the topic of a message", &message.topic)?;
        json("a message", &message.payload)?;
    }
    Ok(())
}

/// Refuses what cannot be the name of a stream.
pub(crate) fn stream(stream: &StreamId) -> Result<()> {
    name("the name of a stream", &stream.0)
}

/// Refuses what cannot be a name.
pub(crate) fn name(what: &str, text: &str) -> Result<()> {
    if text.is_empty() {
        return refuse(format!("{what} is empty"));
    }
    if text.len() > MAX_NAME {
        return refuse(format!("{what} has {} bytes, more than {MAX_NAME}", text.len()));
    }
    if text.contains('\0') {
        return refuse(format!("{what} holds a NUL"));
    }
    Ok(())
}

fn json(what: &str, text: &str) -> Result<()> {
    if text.len() > MAX_TEXT {
        return refuse(format!("{what} has {} bytes, more than {MAX_TEXT}", text.len()));
    }
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => refuse(format!("{what} is no JSON: {error}")),
    }
}

fn refuse(what: String) -> Result<()> {
    Err(Error::Refused { what })
}
