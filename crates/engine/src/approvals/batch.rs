//! One decision about a frozen set of requests: each is decided on its own, and only as it was seen.

use aurora_gate::approval::Standing;
use aurora_model::{Digest, QuestionId};

use super::{Queue, Saying};
use crate::error::Result;

impl Queue {
    /// Decides each of these requests as it was seen, and nothing else: what came to the queue
    /// meanwhile is not in the set, and what was changed, decided or ended meanwhile is refused, and
    /// keeps none of the others from being decided. The answers are in the order of the set.
    pub async fn decide_all(
        &self,
        set: &[(QuestionId, Digest)],
        saying: &Saying,
    ) -> Vec<(QuestionId, Result<Standing>)> {
        let mut told = Vec::with_capacity(set.len());
        for (id, seen) in set {
            let saying = Saying { seen: seen.clone(), ..saying.clone() };
            told.push((id.clone(), self.decide(id, &saying).await));
        }
        told
    }
}
