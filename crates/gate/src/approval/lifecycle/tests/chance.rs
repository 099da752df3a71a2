//! Whatever people, clocks and programs do, in whatever order: what may not happen does not.

use std::collections::BTreeSet;

use super::table::is_edge;
use super::*;
use crate::approval::timeout::GRACE_MS;

/// Numbers that follow from a seed (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

const NAMES: [&str; 7] = ["ada", "bob", "eve", "ann", "tim", "ci", "claude"];
const TIMES: [i64; 5] = [0, 1, 30, 120, 3600];

fn request_by(chance: &mut Chance) -> Request {
    let tier = chance.pick(&Tier::ALL);
    let subject = subject("rm -r old", tier);
    let row = |end: &str, s: i64| json!({ "timeout_s": s, "on_timeout": end });
    let time = chance.pick(&TIMES);
    let low = chance.pick(&["approve", "deny", "wait"]);
    let step = |who: &[&str], s: i64| json!({ "who": who, "timeout_s": s });
    let chain = [
        step(&["ada"], time),
        step(&["role:lead", "ann"], chance.pick(&TIMES)),
        step(&["eve"], chance.pick(&TIMES)),
    ];
    let end = chance.pick(&["deny", "wait"]);
    let timeout = chance.pick(&[
        rule("wait", json!({})),
        rule("deny", json!({ "timeout_s": time })),
        rule(
            "tiered",
            json!({
                "low": row(low, time), "medium": row("deny", time),
                "high": row("deny", time), "critical": row("wait", time),
            }),
        ),
        rule("escalation", json!({ "chain": chain, "on_exhausted": end })),
    ]);
    let named = chance.pick(&[vec![], vec![], vec!["ada"], vec!["ada", "role:lead", "ci"]]);
    let gate = chance.pick(&GateKind::ALL);
    let ruling = Ruling {
        timeout,
        deciders: named.into_iter().map(|who| Who::parse(who).unwrap()).collect(),
        quorum: chance.pick(&[0, 1, 1, 2, 3]),
        remind_every_s: chance.pick(&[None, Some(0), Some(50), Some(600)]),
        warn_before_s: chance.pick(&[None, Some(0), Some(20), Some(300)]),
    };
    let options = options::options_for(gate).to_vec();
    let digest = digest_of(&subject);
    Request { gate, options, subject, digest, tier, ruling, ..request() }
}

fn by(chance: &mut Chance) -> Decider {
    let name = chance.pick(&NAMES);
    let kind = match chance.below(10) {
        0 => DeciderKind::Agent,
        1 => DeciderKind::Rule,
        _ => DeciderKind::Person,
    };
    Decider { kind, ..person(name) }
}

/// A digest that somebody may have seen: the present one, mostly.
fn seen(chance: &mut Chance, standing: &Standing) -> Digest {
    let old = digest_of(&subject("rm -r old", standing.asked_tier));
    let now = standing.request.digest.clone();
    chance.pick(&[now.clone(), now.clone(), now.clone(), now, old, digest('9')])
}

fn command(chance: &mut Chance, standing: &Standing) -> Command {
    let executor = chance.pick(&["one", "two"]).to_owned();
    let reason = "chance".to_owned();
    match chance.below(20) {
        0..=6 => Command::Decide {
            choice: match chance.one_in(6) {
                true => chance.pick(&Choice::ALL),
                false => *standing.request.options.first().unwrap(),
            },
            by: by(chance),
            seen: seen(chance, standing),
            policy: digest('b'),
            reason: chance.pick(&[None, Some(reason)]),
        },
        7..=9 => {
            let text = chance.pick(&["rm -r old", "rm old/one", "ls"]);
            let tier = chance.pick(&[Tier::Low, standing.asked_tier, Tier::High]);
            let mut edit = edit(&standing.request, text, tier, by(chance));
            edit.seen = seen(chance, standing);
            edit.verdict = chance.pick(&[Answer::Allow, Answer::Ask, Answer::Ask, Answer::Deny]);
            if chance.one_in(4) {
                edit.actions.push(ActionType::parse("vcs:push").unwrap());
            }
            Command::Edit(Box::new(edit))
        }
        10 if chance.one_in(3) => Command::Cancel { reason },
        11 if chance.one_in(2) => Command::Changed { found: Some(seen(chance, standing)), reason },
        12..=13 => Command::Reserve { executor, digest: seen(chance, standing) },
        14 => Command::Executed { executor, result: None, summary: reason },
        15 => Command::Failed { executor, result: None, error: reason },
        16 => Command::Lost { reason },
        _ => Command::Wake,
    }
}

/// What is known of a request from its events alone.
#[derive(Default)]
struct Watch {
    /// Who said yes since it was asked or edited last, and to what.
    yes: Vec<(String, Choice)>,
    ended: u32,
    reserved: u32,
    warned_at: Option<Timestamp>,
    warnings: u32,
    steps: u32,
    reminders: u32,
}

impl Watch {
    /// What happened must have been allowed as things stood before.
    fn saw(&mut self, before: &Standing, event: &ApprovalEvent, now: Timestamp) {
        let now = now.max(before.last_at);
        match event {
            ApprovalEvent::Requested { .. } => panic!("asked twice"),
            ApprovalEvent::Voted { decision } => self.said(before, decision),
            ApprovalEvent::Decided { decision } => {
                self.ended += 1;
                if decision.by.surface == Surface::Timeout {
                    let warned_at = self.warned_at.unwrap();
                    assert!(now.unix_ms - warned_at.unix_ms >= GRACE_MS, "no grace");
                    assert_eq!((before.request.tier, before.asked_tier), (Tier::Low, Tier::Low));
                    assert!(before.deciders.is_empty() && before.request.ruling.quorum <= 1);
                    return;
                }
                self.said(before, decision);
                if decision.outcome == Outcome::Approved {
                    let agree = self.yes.iter().filter(|(_, choice)| *choice == decision.choice);
                    let people: BTreeSet<&String> = agree.map(|(name, _)| name).collect();
                    let quorum = before.request.ruling.quorum.max(1) as usize;
                    assert_eq!(people.len(), quorum, "{people:?}");
                }
            }
            ApprovalEvent::Edited { tier, by, .. } => {
                assert!(*tier <= before.asked_tier);
                assert_ne!(by.kind, DeciderKind::Agent);
                self.yes.clear();
            }
            ApprovalEvent::Reminded { number } => {
                self.reminders += 1;
                assert_eq!(*number, self.reminders);
            }
            ApprovalEvent::Warned { .. } => {
                self.warned_at = Some(now);
                self.warnings += 1;
                assert!(self.warnings <= self.steps + 1, "warned again");
            }
            ApprovalEvent::Escalated { step, .. } => {
                self.steps += 1;
                assert_eq!(*step, self.steps);
            }
            ApprovalEvent::TimedOut { .. } => self.ended += 1,
            ApprovalEvent::Cancelled { .. } | ApprovalEvent::Stale { .. } => {
                let was_open = before.state == ApprovalState::Pending;
                self.ended += u32::from(was_open);
            }
            ApprovalEvent::Reserved { .. } => {
                self.reserved += 1;
                assert_eq!(before.state, ApprovalState::Approved);
            }
            ApprovalEvent::Executed { .. }
            | ApprovalEvent::Failed { .. }
            | ApprovalEvent::OutcomeUnknown { .. } => assert_eq!(self.reserved, 1),
        }
        assert!(self.ended <= 1 && self.reserved <= 1);
    }

    /// Somebody's voice counts only when they may decide, saw what it is, and did not ask for it.
    fn said(&mut self, before: &Standing, decision: &Decision) {
        let by = &decision.by;
        assert_ne!(by.kind, DeciderKind::Agent);
        assert!(!["ci", "claude"].contains(&by.name.as_str()), "{by:?}");
        let may = before.deciders.is_empty() || before.deciders.iter().any(|who| who.includes(by));
        assert!(may, "{by:?}");
        let ruling = &before.request.ruling;
        if by.kind == DeciderKind::Rule {
            assert!(ruling.deciders.is_empty() && ruling.quorum <= 1);
        }
        assert_eq!(decision.seen, before.request.digest);
        assert!(before.request.options.contains(&decision.choice));
        assert_eq!(decision.outcome, decision.choice.outcome());
        self.yes.retain(|(name, _)| *name != by.name);
        if decision.outcome == Outcome::Approved {
            self.yes.push((by.name.clone(), decision.choice));
        }
    }
}

/// What holds at every moment, whatever happened.
fn holds(story: &Story) {
    let standing = story.standing();
    assert_eq!(standing.records as usize, story.events.len());
    let quiet = decide(Some(standing), &Command::Wake, story.now).unwrap().is_empty();
    let now = story.now.max(standing.last_at);
    match next_wake(standing) {
        // Whoever sleeps until then neither sleeps too long nor wakes for nothing, for ever.
        Some(wake_at) => {
            assert_eq!(quiet, wake_at > now, "{standing:#?}");
            let before = Timestamp { unix_ms: wake_at.unix_ms - 1 };
            if before >= now {
                let said = decide(Some(standing), &Command::Wake, before).unwrap();
                assert_eq!(said, [], "{standing:#?}");
            }
            let then = decide(Some(standing), &Command::Wake, wake_at).unwrap();
            assert!(!then.is_empty(), "{standing:#?}");
        }
        None => assert!(quiet, "{standing:#?}"),
    }
}

fn one(seed: u64) -> ApprovalState {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9));
    let mut story = Story::of(request_by(&mut chance));
    let mut watch = Watch::default();
    for _ in 0..5 + chance.below(30) {
        // Clocks go, jump far, and are set back.
        story.now.unix_ms += match chance.below(12) {
            0 => -1000 * chance.pick(&TIMES),
            1 => 1000 * 100 * chance.pick(&TIMES),
            2 => 0,
            _ => 1000 * chance.pick(&[1, 5, 20, 60, 600]),
        };
        let command = command(&mut chance, story.standing());
        let mut before = story.standing().clone();
        let known = story.events.len();
        let told = story.tell(&command);
        if told.is_err() {
            assert_eq!((&before, known), (story.standing(), story.events.len()));
        }
        for (at, event) in &story.events[known..] {
            watch.saw(&before, event, *at);
            let after = apply(Some(before.clone()), event, *at).unwrap();
            assert!(is_edge(before.state, after.state), "{event:?} when {:?}", before.state);
            assert!(after.last_at >= before.last_at && after.step_at >= before.step_at);
            assert!(before.deciders.iter().all(|who| after.deciders.contains(who)));
            before = after;
        }
        assert_eq!(before, *story.standing());
        if let (Command::Reserve { digest, .. }, Ok(_)) = (&command, &told) {
            let same = *digest == before.request.digest;
            let expected = if same { ApprovalState::Reserved } else { ApprovalState::Stale };
            assert_eq!(before.state, expected);
        }
        holds(&story);
    }
    replays(&story);
    story.state()
}

/// What is read back from the log is what was known, and whoever lost hears of whoever won.
fn replays(story: &Story) {
    let mut standing = None;
    for (at, event) in &story.events {
        let text = serde_json::to_string(event).unwrap();
        standing = apply(standing, &serde_json::from_str(&text).unwrap(), *at);
    }
    assert_eq!(standing.as_ref(), Some(story.standing()));
    let standing = story.standing();
    if standing.state != ApprovalState::Pending {
        let late = say(&standing.request, Choice::Allow, person("tim"));
        let told = decide(Some(standing), &late, story.now);
        assert_eq!(told, Err(Refused::closed(standing)));
    }
}

// APR-2, APR-3, APR-6, APR-8: any commands by anybody in any order under any clock.
#[test]
fn apr_2_whatever_happens_a_request_has_one_outcome_and_a_no_is_never_done() {
    let mut reached = BTreeSet::new();
    for seed in 1..=1_000 {
        let told = std::panic::catch_unwind(|| one(seed));
        match told {
            Ok(state) => drop(reached.insert(state)),
            Err(panic) => {
                eprintln!("FAILED with seed {seed}");
                std::panic::resume_unwind(panic);
            }
        }
    }
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), ApprovalState::ALL);
}

// APR-2: a log whose events stand in any order at all, as if somebody had shuffled it.
#[test]
fn apr_2_no_order_of_recorded_events_leads_from_a_no_to_a_deed() {
    let all = super::table::events();
    let mut chance = Chance(7);
    for _ in 0..20_000 {
        let mut standing = Story::of(request()).standing().clone();
        let mut closed_without_yes = false;
        for _ in 0..12 {
            let event = chance.pick(&all);
            let before = standing.state;
            standing = apply(Some(standing), &event, at(1)).unwrap();
            assert!(is_edge(before, standing.state));
            closed_without_yes |= matches!(
                standing.state,
                ApprovalState::Denied
                    | ApprovalState::ChangesRequested
                    | ApprovalState::TimedOut
                    | ApprovalState::Cancelled
                    | ApprovalState::Stale
            );
            let done = matches!(standing.state, ApprovalState::Reserved | ApprovalState::Executed);
            assert!(!(closed_without_yes && done), "{event:?}");
        }
    }
}
