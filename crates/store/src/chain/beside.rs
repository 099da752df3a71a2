//! Looks at what records refer to beside the log: is it there, and is it what was kept?

use std::collections::HashMap;

use aurora_model::Digest;
use serde_json::Value;

use super::verify::{Finding, PAGE, Verification, What};
use crate::error::{Error, Result};
use crate::store::Store;

/// The field of a payload whose text is the name of something that is kept beside the log.
const REFERS: &str = "transcript";

/// What a payload refers to beside the log.
#[must_use]
pub fn referred(payload: &str) -> Vec<Digest> {
    let mut found = Vec::new();
    // Most records refer to nothing, and need not be understood for that.
    if payload.contains(REFERS)
        && let Ok(value) = serde_json::from_str::<Value>(payload)
    {
        collect(&value, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<Digest>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == REFERS => found.extend(Digest::parse(text)),
                    value => collect(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// Looks at everything that the records of a log refer to, tells the position that it has come to now
/// and then, and adds what it finds to what was seen of the log itself.
///
/// # Errors
/// When the store cannot be read.
pub async fn verify_beside<S: Store + ?Sized>(
    store: &S,
    seen: &mut Verification,
    at: &mut (dyn FnMut(u64) + Send),
) -> Result<()> {
    let mut known: HashMap<Digest, Option<String>> = HashMap::new();
    let mut after = 0;
    // What was written since is for the next time; what cannot be read was told already.
    while after < seen.position {
        let page = match store.read_all(after, PAGE).await {
            Err(Error::Corrupt { .. }) => break,
            page => page?,
        };
        let Some(last) = page.last().filter(|last| last.position > after) else { break };
        after = last.position;
        for record in &page {
            for digest in referred(&record.payload) {
                let why = match known.get(&digest) {
                    Some(why) => why.clone(),
                    None => wrong(store, &digest).await?,
                };
                if let Some(why) = why.clone() {
                    seen.add(Finding {
                        position: record.position,
                        stream: record.stream.clone(),
                        version: record.version,
                        what: What::Lost { digest: digest.clone(), why },
                    });
                }
                known.insert(digest, why);
            }
        }
        at(after);
    }
    seen.beside += known.len() as u64;
    seen.findings.sort_by_key(|finding| finding.position);
    Ok(())
}

/// What is wrong with something that is kept; nothing when it is as it was.
async fn wrong<S: Store + ?Sized>(store: &S, digest: &Digest) -> Result<Option<String>> {
    match store.get(digest).await {
        Ok(_) => Ok(None),
        Err(Error::NotFound { .. }) => Ok(Some(format!("{digest} is gone"))),
        Err(error @ (Error::Corrupt { .. } | Error::Io { .. })) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OBS-1
    #[test]
    fn only_a_digest_in_a_field_that_refers_is_one() {
        let digest = "ab".repeat(32);
        let payload = format!(
            r#"{{"transcript":"{digest}","hash":"{digest}","in":[{{"transcript":"{digest}"}},
            {{"transcript":"no digest"}},{{"transcript":null}}]}}"#
        );
        let expected = Digest::parse(&digest).unwrap();
        assert_eq!(referred(&payload), [expected.clone(), expected]);
        assert!(referred("no JSON, but a transcript").is_empty());
    }
}
