//! What lowers and raises how much an agent may do, in a log.

use super::*;
use aurora_engine::approvals::autonomy::{history, lower, lowered, lowering, raise};
use aurora_model::AutonomyEvent;

// APR-5: it is lowered by what happens, and raised by a person only; both are kept.
#[test]
fn apr_5_what_lowers_a_level_is_kept_and_only_a_person_raises_it() {
    on_both(|store| async move {
        let store = store.as_ref();
        let level = || async {
            let lowering = lowering(store).await.unwrap();
            lowering.effective(Autonomy::Full, Some("claude"), Some("backend"))
        };
        assert_eq!(level().await, Autonomy::Full);
        let (agent, role) = ("agent:claude", "role:backend");
        assert!(lower(store, agent, Autonomy::Supervised, "3 violations", at(1)).await.unwrap());
        assert!(lower(store, role, Autonomy::Semi, "over budget", at(2)).await.unwrap());
        assert!(lower(store, agent, Autonomy::Locked, "it tried to escape", at(3)).await.unwrap());
        // What is lower already is not lowered, and nothing is written.
        assert!(!lower(store, agent, Autonomy::Semi, "again", at(4)).await.unwrap());
        assert_eq!(level().await, Autonomy::Locked);

        for kind in [DeciderKind::Agent, DeciderKind::Rule] {
            let by = Decider { kind, ..person("ada") };
            let told = raise(store, agent, Autonomy::Full, (&by, None), at(5)).await;
            assert!(matches!(refused(told), Refused::NotAllowed { .. }));
        }
        assert!(
            raise(store, agent, Autonomy::Full, (&person("ada"), Some("it was me")), at(6))
                .await
                .unwrap()
        );
        assert!(!raise(store, agent, Autonomy::Full, (&person("ada"), None), at(7)).await.unwrap());
        assert_eq!(level().await, Autonomy::Semi);

        let history = history(store, agent).await.unwrap();
        let kinds: Vec<&str> = history.iter().map(|(_, event)| event.kind()).collect();
        assert_eq!(kinds, ["lowered", "lowered", "raised"]);
        let AutonomyEvent::Raised { by, why, .. } = &history[2].1 else { panic!("{history:?}") };
        assert_eq!(why.as_deref(), Some("it was me"));
        let left = lowered(store).await.unwrap();
        let left: Vec<_> =
            left.iter().map(|one| (one.scope.as_str(), one.why.as_deref())).collect();
        assert_eq!(left, [(role, Some("over budget"))]);
        assert_eq!((by.name.as_str(), history[2].0), ("ada", at(6)));
    });
}

// APR-5: the same thing noticed by many at once is written once.
#[test]
fn apr_5_what_many_notice_at_once_is_written_once() {
    on_both(|store| async move {
        let all: Vec<_> = (0..20)
            .map(|_| {
                let store = Arc::clone(&store);
                let why = "3 violations";
                tokio::spawn(async move {
                    lower(store.as_ref(), "agent:claude", Autonomy::Locked, why, at(1))
                        .await
                        .unwrap()
                })
            })
            .collect();
        let mut wrote = 0;
        for one in all {
            wrote += usize::from(one.await.unwrap());
        }
        assert_eq!(wrote, 1);
        assert_eq!(history(store.as_ref(), "agent:claude").await.unwrap().len(), 1);
    });
}
