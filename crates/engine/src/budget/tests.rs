//! POL-6: the ledger as tables, and as a property over random months.

mod shared;

use aurora_model::{Cost, Known, RunId, TaskId, Timestamp, Usd};

use super::*;

pub(super) fn dollars(amount: f64) -> Usd {
    Usd::from_dollars(amount)
}

pub(super) fn cost(amount: f64, known: Known) -> Cost {
    Cost { usd: dollars(amount), known, ..Cost::default() }
}

pub(super) fn limits(monthly: f64, on_limit: OnLimit) -> Limits {
    Limits { monthly: dollars(monthly), warn_at_percent: 80, on_limit }
}

pub(super) fn reservation(id: &str, estimate: f64) -> Reservation {
    let mut parts = id.split('/');
    Reservation {
        id: id.to_owned(),
        run: RunId::parse(parts.next().unwrap()).unwrap(),
        task: parts.next().and_then(TaskId::parse),
        agent: "coder".to_owned(),
        estimate: cost(estimate, Known::Estimated),
    }
}

pub(super) fn november() -> Month {
    Month::parse("2026-11").unwrap()
}

fn reserved(id: &str, estimate: f64) -> BudgetEvent {
    BudgetEvent::CostReserved { reservation: reservation(id, estimate) }
}

fn settled(id: &str, amount: f64, known: Known) -> BudgetEvent {
    BudgetEvent::CostSettled { id: id.to_owned(), cost: cost(amount, known) }
}

fn granted(decided: &Decided<Reserve>) -> bool {
    matches!(decided.answer, Reserve::Granted { .. })
}

/// POL-6: what is reserved counts before it is spent, and the limit itself may be reached.
#[test]
fn a_call_is_refused_when_spent_and_reserved_and_its_estimate_exceed_the_limit() {
    let check = |spent: f64, open: f64, estimate: f64, expected: bool| {
        let ledger = Ledger::of(&[
            reserved("r/a/1", 0.0),
            settled("r/a/1", spent, Known::Reported),
            reserved("r/b/1", open),
        ]);
        let limits = limits(10.0, OnLimit::Reject);
        let decided = decide_reserve(&ledger, &november(), &reservation("r/c/1", estimate), limits);
        assert_eq!(granted(&decided), expected, "{spent} + {open} + {estimate}");
        assert_eq!(decided.events.is_empty(), !expected);
    };
    check(0.0, 0.0, 10.0, true);
    check(0.0, 0.0, 10.01, false);
    check(4.0, 5.0, 1.0, true);
    check(4.0, 5.5, 1.0, false);
    check(12.0, 0.0, 0.5, false);
    // What is unknown or nothing may be tried while anything is left.
    check(4.0, 5.0, 0.0, true);
    check(5.0, 5.0, 0.0, false);
    check(10.0, 0.0, 0.0, false);
}

/// POL-6: a person learns what stands in the way.
#[test]
fn a_refusal_names_limit_spent_reserved_and_needed() {
    let ledger = Ledger::of(&[
        reserved("r/a/1", 0.0),
        settled("r/a/1", 8.0, Known::Reported),
        reserved("r/b/1", 1.5),
    ]);
    let limits = limits(10.0, OnLimit::Reject);
    let decided = decide_reserve(&ledger, &november(), &reservation("r/c/1", 1.0), limits);
    let why = "the limit of $10.00 for 2026-11 is reached: $8.00 spent, \
               $1.50 reserved by calls under way, $1.00 needed";
    assert_eq!(decided.answer, Reserve::Refused { why: why.to_owned() });
}

/// POL-6: `hard_limit_action: warn` lets calls through and says so every time.
#[test]
fn a_limit_that_only_warns_lets_calls_through_with_a_warning() {
    let ledger = Ledger::of(&[
        reserved("r/a/1", 0.0),
        settled("r/a/1", 10.0, Known::Reported),
        BudgetEvent::BudgetWarned { percent: 80, limit: dollars(10.0) },
    ]);
    let limits = limits(10.0, OnLimit::Warn);
    for estimate in [0.0, 3.0] {
        let next = reservation("r/b/1", estimate);
        let decided = decide_reserve(&ledger, &november(), &next, limits);
        let Reserve::Granted { warning: Some(text) } = decided.answer else {
            panic!("{decided:?}")
        };
        assert!(text.starts_with("the limit of $10.00 for 2026-11 is reached"), "{text}");
        // That the limit is passed is recorded once, too.
        assert_eq!(decided.events.len(), if estimate > 0.0 { 2 } else { 1 });
    }
}

/// POL-6: whoever was told that the limit is near is told once more when it is passed.
#[test]
fn the_limit_that_is_passed_is_warned_of_again() {
    let limit = limits(10.0, OnLimit::Reject);
    let mut ledger = Ledger::of(&[reserved("r/a/1", 0.0), reserved("r/b/1", 0.0)]);
    ledger.apply(&reserved("r/c/1", 0.0));
    let mut settle = |id: &str, amount: f64| {
        let cost = cost(amount, Known::Reported);
        let decided = decide_settle(&ledger, &november(), id, &cost, limit);
        decided.events.iter().for_each(|event| ledger.apply(event));
        decided.answer
    };
    let near = settle("r/a/1", 9.0).unwrap();
    assert!(near.contains("which is 80% or more"), "{near}");
    let passed = settle("r/b/1", 3.0).unwrap();
    assert!(passed.contains("$2.00 more than the limit of $10.00"), "{passed}");
    assert_eq!(settle("r/c/1", 1.0), None, "it was said before");
}

/// POL-6: an agent whose calls nobody can price beforehand is taken to cost what its most expensive
/// one of this month did, so that calls at once do not overspend together.
#[test]
fn a_call_that_nobody_can_price_is_reserved_as_the_largest_one_before() {
    let limit = limits(10.0, OnLimit::Reject);
    let unknown = |id: &str| Reservation { estimate: Cost::default(), ..reservation(id, 0.0) };
    let reserve = |ledger: &mut Ledger, next: &Reservation| {
        let decided = decide_reserve(ledger, &november(), next, limit);
        decided.events.iter().for_each(|event| ledger.apply(event));
        granted(&decided)
    };
    let mut ledger = Ledger::default();
    assert!(reserve(&mut ledger, &unknown("r/a/1")), "nothing is known of it");
    assert_eq!(ledger.total.reserved, Usd::ZERO);
    ledger.apply(&settled("r/a/1", 4.0, Known::Reported));
    ledger.apply(&reserved("r/b/1", 0.0));
    ledger.apply(&settled("r/b/1", 1.0, Known::Reported));
    assert_eq!(ledger.largest["coder"], dollars(4.0));
    assert!(reserve(&mut ledger, &unknown("r/c/1")));
    assert_eq!(ledger.total.reserved, dollars(4.0));
    assert!(!reserve(&mut ledger, &unknown("r/d/1")), "both at once would be too much");
    let other = Reservation { agent: "other".to_owned(), ..unknown("r/e/1") };
    assert!(reserve(&mut ledger, &other), "nothing is known of the other one");
    // What is known beforehand stays what it is.
    assert!(reserve(&mut ledger, &reservation("r/f/1", 0.5)));
    assert_eq!(ledger.open["r/f/1"].estimate.usd, dollars(0.5));
    // A picture from before this was counted is still read.
    let mut old = serde_json::to_value(&ledger).unwrap();
    old.as_object_mut().unwrap().remove("largest");
    assert!(serde_json::from_value::<Ledger>(old).unwrap().largest.is_empty());
}

/// POL-6: the warning comes once for a limit, at a reservation or at a settlement, and is recorded.
#[test]
fn the_warning_before_the_limit_comes_once() {
    let limit = limits(10.0, OnLimit::Reject);
    let mut ledger = Ledger::of(&[reserved("r/a/1", 1.0)]);
    let mut settle = |id: &str, amount: f64, limits: Limits| {
        let cost = cost(amount, Known::Reported);
        let decided = decide_settle(&ledger, &november(), id, &cost, limits);
        decided.events.iter().for_each(|event| ledger.apply(event));
        ledger.apply(&reserved("r/b/1", 0.0));
        decided.answer.is_some()
    };
    assert!(!settle("r/a/1", 7.9, limit));
    assert!(settle("r/b/1", 0.1, limit), "eighty percent are reached");
    assert!(!settle("r/b/1", 0.5, limit), "it was said before");
    assert!(!settle("r/b/1", 0.5, limits(20.0, OnLimit::Reject)), "there is room again");
    assert!(settle("r/b/1", 8.0, limits(20.0, OnLimit::Reject)), "another limit, another warning");
    let small = decide_reserve(&Ledger::default(), &november(), &reservation("r/c/1", 8.0), limit);
    assert!(matches!(small.answer, Reserve::Granted { warning: Some(_) }));
    assert_eq!(small.events.len(), 2);
}

/// POL-6: a call counts once, however often it is told.
#[test]
fn what_is_told_twice_counts_once() {
    let limits = limits(10.0, OnLimit::Reject);
    let ledger = Ledger::of(&[reserved("r/a/1", 9.0)]);
    let again = decide_reserve(&ledger, &november(), &reservation("r/a/1", 9.0), limits);
    assert!(granted(&again) && again.events.is_empty());
    let ledger = Ledger::of(&[
        reserved("r/a/1", 9.0),
        settled("r/a/1", 2.0, Known::Reported),
        settled("r/a/1", 2.0, Known::Reported),
    ]);
    assert_eq!((ledger.total.spent, ledger.total.reserved), (dollars(2.0), Usd::ZERO));
    let cost = cost(2.0, Known::Reported);
    assert!(decide_settle(&ledger, &november(), "r/a/1", &cost, limits).events.is_empty());
    assert!(decide_release(&ledger, "r/a/1", "late").events.is_empty());
    assert!(!granted(&decide_reserve(&ledger, &november(), &reservation("r/a/1", 1.0), limits)));
}

/// POL-6: a cost that nobody knows is the estimate, and is shown as such.
#[test]
fn an_unknown_cost_is_settled_as_estimated() {
    let limits = limits(10.0, OnLimit::Reject);
    let mut ledger = Ledger::of(&[reserved("r/a/1", 0.7), reserved("q/b/1", 0.2)]);
    for (id, cost) in [("r/a/1", Cost::default()), ("q/b/1", cost(0.1, Known::Reported))] {
        let decided = decide_settle(&ledger, &november(), id, &cost, limits);
        decided.events.iter().for_each(|event| ledger.apply(event));
    }
    assert_eq!(ledger.total.spent, dollars(0.8));
    assert_eq!(ledger.total.estimated, dollars(0.7));
    assert_eq!(ledger.by_run["r"].spent, dollars(0.7));
    assert_eq!(ledger.by_run["q"].estimated, Usd::ZERO);
    assert_eq!(ledger.by_agent["coder"].calls, 2);
}

/// POL-6: the month is that of UTC, whatever the hour is elsewhere.
#[test]
fn months_are_read_and_written() {
    let check = |text: &str, month: &str| {
        assert_eq!(Month::of(Timestamp::parse(text).unwrap()).to_string(), month);
    };
    check("2026-11-30T23:59:59.999Z", "2026-11");
    check("2026-12-01T00:00:00Z", "2026-12");
    assert_eq!(Month::of_stream(&november().stream()), Some(november()));
    for bad in ["2026", "2026-13", "2026-1", "26-01", "2026-11-01", "x", "+026-11"] {
        assert_eq!(Month::parse(bad), None, "{bad}");
    }
}

/// POL-6: events written by this version are read for ever; this is how they look.
#[test]
fn stored_events_of_the_ledger_stay_readable() {
    let golden = [
        r#"{"type":"cost_reserved","id":"r/a/1","run":"r","task":"a","agent":"coder","estimate":{"usd":1000000,"known":"estimated"}}"#,
        r#"{"type":"cost_settled","id":"r/a/1","cost":{"usd":500000,"known":"reported"}}"#,
        r#"{"type":"cost_released","id":"r/a/1","why":"not made"}"#,
        r#"{"type":"budget_warned","percent":80,"limit":10000000}"#,
    ];
    let events = [
        reserved("r/a/1", 1.0),
        settled("r/a/1", 0.5, Known::Reported),
        BudgetEvent::CostReleased { id: "r/a/1".to_owned(), why: "not made".to_owned() },
        BudgetEvent::BudgetWarned { percent: 80, limit: dollars(10.0) },
    ];
    for (text, event) in golden.into_iter().zip(events) {
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
        assert_eq!(serde_json::from_str::<BudgetEvent>(text).unwrap(), event);
        assert!(text.contains(event.kind()));
    }
}

/// A small generator, so that a failure names its seed.
pub(super) struct Dice(pub u64);

impl Dice {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// POL-6: whatever happens in a month, what is spent and reserved exceeds the limit by no more than
/// what calls cost beyond their estimates.
#[test]
fn nothing_exceeds_the_limit_but_what_calls_cost_beyond_their_estimates() {
    for seed in 0..500 {
        let mut dice = Dice(seed);
        let limits = limits(10.0, OnLimit::Reject);
        let mut ledger = Ledger::default();
        let mut excess = Usd::ZERO;
        for step in 0..200 {
            let open: Vec<String> = ledger.open.keys().cloned().collect();
            let pick = open.get(usize::try_from(dice.below(8)).unwrap()).cloned();
            let events = match (dice.below(4), pick) {
                (0, Some(id)) => decide_release(&ledger, &id, "not made").events,
                (1 | 2, Some(id)) => {
                    let actual = Usd { micros: dice.below(1_500_000) };
                    let known = if dice.below(5) == 0 { Known::Unknown } else { Known::Reported };
                    let estimate = ledger.open[&id].estimate.usd;
                    // What was believed counts, also where the rest is not known.
                    excess = excess.plus(actual.minus(estimate));
                    let cost = Cost { usd: actual, known, ..Cost::default() };
                    decide_settle(&ledger, &november(), &id, &cost, limits).events
                }
                _ => {
                    let mut next = reservation(&format!("r{}/t{step}/1", dice.below(3)), 0.0);
                    next.estimate.usd = Usd { micros: dice.below(1_000_000) };
                    decide_reserve(&ledger, &november(), &next, limits).events
                }
            };
            events.iter().for_each(|event| ledger.apply(event));
            let committed = ledger.total.committed();
            assert!(committed <= limits.monthly.plus(excess), "seed {seed}, step {step}");
            let sum = |shares: &std::collections::BTreeMap<String, Share>| {
                shares.values().fold(Usd::ZERO, |sum, share| sum.plus(share.committed()))
            };
            assert_eq!(sum(&ledger.by_run), committed, "seed {seed}, step {step}");
            assert_eq!(sum(&ledger.by_agent), committed, "seed {seed}, step {step}");
        }
    }
}
