//! Which checkpoints go.

use aurora_model::{Checkpoint, CheckpointId, CheckpointKind, Timestamp};

use crate::error::{Error, Result};
use crate::request::Retention;

/// The checkpoints that go, of all (the oldest first). The latest stays, because the next one is
/// told from it, and naming it is refused. What undoing the latest rollback or promotion needs stays
/// unless it is named.
pub(crate) fn doomed(
    all: &[Checkpoint],
    retention: &Retention,
    now: Timestamp,
) -> Result<Vec<CheckpointId>> {
    for id in &retention.forget {
        if !all.iter().any(|one| one.checkpoint_id == *id) {
            return Err(Error::NotFound {
                what: format!("there is no checkpoint `{id}`"),
                hint: "see them with `aur checkpoints list`".to_owned(),
            });
        }
    }
    if let Some(latest) = all.last().filter(|one| retention.forget.contains(&one.checkpoint_id)) {
        return Err(Error::Refused {
            what: format!("{} is the latest checkpoint and stays", latest.checkpoint_id),
            hint: "the next one is told from it; make another first with `aur checkpoint`"
                .to_owned(),
        });
    }
    let needed_for_undo = needed_for_undo(all);
    let ruled = retention.keep_last.is_some() || retention.keep_younger_than_ms.is_some();
    let mut doomed = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let from_end = (all.len() - at) as u64;
        let among_last = retention.keep_last.is_some_and(|last| from_end <= last);
        let age_ms = now.unix_ms.saturating_sub(one.timestamp.unix_ms);
        let young = retention.keep_younger_than_ms.is_some_and(|limit| age_ms < limit);
        let stays = !ruled || among_last || young || from_end == 1 || needed_for_undo(at);
        if !stays || retention.forget.contains(&one.checkpoint_id) {
            doomed.push(one.checkpoint_id.clone());
        }
    }
    Ok(doomed)
}

/// Whether a checkpoint is the result of the latest rollback or promotion, the safety checkpoint
/// before it, or a safety checkpoint after it.
fn needed_for_undo(all: &[Checkpoint]) -> impl Fn(usize) -> bool {
    use CheckpointKind::{Adopted, Promoted, Restored, Safety};
    let is_safety = |one: &Checkpoint| one.kind == Safety;
    let result = all.iter().rposition(|one| matches!(one.kind, Restored | Promoted | Adopted));
    let before = all.get(..result.unwrap_or(all.len())).unwrap_or_default();
    let safety = before.iter().rposition(is_safety);
    let from = safety.or(result).unwrap_or(all.len());
    // Before an adoption there need not be a safety checkpoint: any that is the worktree's state does.
    let adopted = result.filter(|at| all.get(*at).is_some_and(|one| one.kind == Adopted));
    let before_adopted = adopted.and_then(|at| at.checked_sub(1));
    let needed: Vec<bool> = all
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let counts = at >= from && (is_safety(one) || Some(at) == result);
            counts || Some(at) == before_adopted
        })
        .collect();
    move |at| needed.get(at).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::super::tests::checkpoint;
    use super::*;

    /// Kinds by letter: asked, safety, restored, promoted. Each is a second older than the next.
    fn chain(kinds: &str) -> Vec<Checkpoint> {
        let kind = |letter: char| match letter {
            's' => CheckpointKind::Safety,
            'r' => CheckpointKind::Restored,
            'p' => CheckpointKind::Promoted,
            _ => CheckpointKind::Asked,
        };
        let numbered = kinds.chars().enumerate();
        numbered
            .map(|(at, letter)| {
                let mut one = checkpoint(at, "");
                one.kind = kind(letter);
                one.timestamp.unix_ms = i64::try_from(at).unwrap() * 1000;
                one
            })
            .collect()
    }

    /// The positions that go.
    fn check(kinds: &str, retention: &Retention, expected: &[usize]) {
        let all = chain(kinds);
        let now = Timestamp { unix_ms: all.len() as i64 * 1000 };
        let expected: Vec<_> = expected.iter().map(|at| all[*at].checkpoint_id.clone()).collect();
        assert_eq!(doomed(&all, retention, now).unwrap(), expected, "{kinds} {retention:?}");
    }

    #[test]
    fn rules_name_what_goes_and_undo_keeps_working() {
        // WSP-2: retention.
        let last = |number| Retention { keep_last: Some(number), ..Retention::default() };
        let young = |ms| Retention { keep_younger_than_ms: Some(ms), ..Retention::default() };
        check("aaaa", &Retention::default(), &[]);
        check("aaaa", &last(2), &[0, 1]);
        check("aaaa", &last(0), &[0, 1, 2]);
        check("aaaa", &young(2500), &[0, 1]);
        check("aaaa", &young(0), &[0, 1, 2]);
        let both = Retention { keep_last: Some(1), ..young(2500) };
        check("aaaa", &both, &[0, 1]);
        check("", &last(1), &[]);
        // The rollback that ended at 5 is undone by going back to 4.
        check("asrasraa", &last(1), &[0, 1, 2, 3, 6]);
        check("aaspaa", &last(1), &[0, 1, 4]);
        check("asraasa", &last(1), &[0, 3, 4]);
        // A rollback that never came to its end.
        check("aasaa", &last(1), &[0, 1, 3]);
    }

    #[test]
    fn what_is_named_goes_but_the_latest_and_what_is_not_there_is_said() {
        // WSP-2
        let all = chain("asr");
        let id = |at: usize| all[at].checkpoint_id.clone();
        let forget = |ids: Vec<CheckpointId>| Retention { forget: ids, ..Retention::default() };
        check("asra", &forget(vec![id(2)]), &[2]);
        check("asra", &forget(vec![id(1)]), &[1]);
        let refused = doomed(&all, &forget(vec![id(2)]), Timestamp { unix_ms: 0 }).unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{refused}");
        let gone = CheckpointId("ckpt-999-00000000".to_owned());
        let error = doomed(&all, &forget(vec![gone]), Timestamp { unix_ms: 0 }).unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
    }
}
