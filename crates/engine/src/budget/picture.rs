//! Whether the pictures of months are what their records make: they can be changed without a trace.

use std::sync::Arc;

use aurora_store::Store;

use super::ledger::Ledger;
use super::{BATCH, event_of, months, picture};
use crate::error::Result;

/// Makes every picture that would be believed anew from its records, and tells those that differ.
///
/// # Errors
/// When the log cannot be read.
pub async fn verify_pictures(store: &Arc<dyn Store>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for month in months(store).await? {
        let kept = picture(store, &month).await?.ledger;
        if kept.version == 0 {
            continue;
        }
        let stream = month.stream();
        let mut made = Ledger::default();
        while made.version < kept.version {
            let left = usize::try_from(kept.version - made.version).unwrap_or(BATCH).min(BATCH);
            let records = store.read(&stream, made.version, left).await?;
            if records.is_empty() {
                break;
            }
            for record in &records {
                made.apply(&event_of(record)?);
            }
        }
        if made != kept {
            found.push(format!(
                "the picture of {stream} at version {} is not what its records make: it says {} \
                 spent and {} reserved, they say {} and {}",
                kept.version,
                kept.total.spent,
                kept.total.reserved,
                made.total.spent,
                made.total.reserved,
            ));
        }
    }
    Ok(found)
}
