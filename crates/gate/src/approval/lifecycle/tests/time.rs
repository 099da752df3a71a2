//! What the clock says, when, and how often.

use super::*;

const HOUR: i64 = 3600;

fn timed(rule: TimeoutRule) -> Request {
    let mut request = request();
    request.ruling.timeout = rule;
    request
}

/// Ada has an hour, then bob's role two, then eve three; after six hours it is over.
fn chain() -> TimeoutRule {
    let step = |who: &str, hours: i64| json!({ "who": [who], "timeout_s": hours * HOUR });
    let chain = [step("ada", 1), step("role:lead", 2), step("eve", 3)];
    rule("escalation", json!({ "chain": chain, "on_exhausted": "deny" }))
}

fn passed_on() -> Request {
    let mut request = timed(chain());
    request.ruling.deciders = vec![Who::parse("ada").unwrap()];
    request
}

/// What is low goes ahead after an hour.
pub(super) fn goes_ahead() -> TimeoutRule {
    let row = |end: &str| json!({ "timeout_s": HOUR, "on_timeout": end });
    let low = row("approve");
    let settings = json!({
        "low": low, "medium": row("deny"), "high": row("deny"), "critical": row("wait"),
    });
    rule("tiered", settings)
}

fn low() -> Request {
    let subject = subject("cat old", Tier::Low);
    let digest = digest_of(&subject);
    Request { tier: Tier::Low, digest, subject, ..timed(goes_ahead()) }
}

fn kinds(events: &[ApprovalEvent]) -> Vec<&'static str> {
    events.iter().map(ApprovalEvent::kind).collect()
}

/// Sleeps until the clock has something to say, again and again; what it said, at which second.
fn live(mut story: Story) -> Vec<(i64, &'static str)> {
    let mut said = Vec::new();
    while let Some(wake_at) = next_wake(story.standing()) {
        assert!(wake_at >= story.now, "it wakes in the past");
        let second = (wake_at.unix_ms - ASKED.unix_ms) / 1000;
        story.now = wake_at;
        let events = story.tell(&Command::Wake).unwrap();
        assert!(!events.is_empty(), "woken at {second} for nothing");
        said.extend(kinds(&events).into_iter().map(|kind| (second, kind)));
        assert!(said.len() < 100, "{said:?}");
        if said.len() == 20 {
            break;
        }
    }
    said
}

// APR-6: nobody's silence is a no.
#[test]
fn apr_6_what_nobody_decided_is_timed_out_and_nobody_denied_it() {
    let mut story = Story::of(request()).at(HOUR - 1);
    assert_eq!(story.wake(), []);
    assert_eq!(next_wake(story.standing()), Some(at(HOUR)));
    story.now = at(HOUR);
    assert_eq!(kinds(&story.wake()), ["timed_out"]);
    assert_eq!(story.state(), ApprovalState::TimedOut);
    assert_eq!((story.standing().decision.clone(), next_wake(story.standing())), (None, None));
    // Whoever decides in the very moment in which it ends is late, before and after that is recorded.
    let late = say(&request(), Choice::Allow, person("ada"));
    assert_eq!(Story::of(request()).at(HOUR).tell(&late), Err(Refused::Expired));
    let told = story.tell(&late).unwrap_err();
    assert_eq!(told.to_string(), "it is timed out: nobody decided within 1h");
}

// APR-6: a policy that this version does not know waits, and wakes nobody.
#[test]
fn apr_6_waiting_never_ends_by_itself() {
    for rule in [rule("wait", json!({})), rule("of a later version", json!({ "x": 1 }))] {
        let mut story = Story::of(timed(rule)).at(1_000_000_000);
        assert_eq!((story.wake(), next_wake(story.standing())), (Vec::new(), None));
        assert!(story.yes("ada").is_ok());
    }
}

// APR-6: reminders and the warning before the end, once each.
#[test]
fn apr_6_people_are_reminded_and_warned_once_each() {
    let mut request = request();
    request.ruling.remind_every_s = Some(900);
    request.ruling.warn_before_s = Some(1200);
    let said = live(Story::of(request));
    let expected = [
        (900, "reminded"),
        (1800, "reminded"),
        (2400, "warned"),
        (3300, "reminded"),
        (3600, "timed_out"),
    ];
    assert_eq!(said, expected);
}

// APR-6: however long the machine slept, a reminder is one reminder.
#[test]
fn apr_6_a_machine_that_slept_says_each_thing_once() {
    let mut request = timed(rule("wait", json!({})));
    request.ruling.remind_every_s = Some(60);
    let mut story = Story::of(request).at(HOUR);
    assert_eq!(kinds(&story.wake()), ["reminded"]);
    assert_eq!(story.standing().reminders, 1);
    assert_eq!(next_wake(story.standing()), Some(at(HOUR + 60)));

    // Slept over the warning and the end: it is over, and nobody is warned of the past.
    let mut request = self::request();
    request.ruling.warn_before_s = Some(60);
    let mut story = Story::of(request).at(10 * HOUR);
    assert_eq!(kinds(&story.wake()), ["timed_out"]);
}

// APR-6: each step moves the right to decide, once, and whoever had it keeps it.
#[test]
fn apr_6_passing_on_moves_the_right_to_decide_step_by_step() {
    let mut story = Story::of(passed_on()).at(10);
    let may = |story: &Story, name: &str| story.clone().yes(name).is_ok();
    let who = |story: &Story| ["ada", "bob", "eve"].map(|name| may(story, name));
    assert_eq!(who(&story), [true, false, false]);
    story.now = at(HOUR);
    assert_eq!(kinds(&story.wake()), ["escalated"]);
    assert_eq!(kinds(&story.wake()), [""; 0]);
    assert_eq!(who(&story), [true, true, false]);
    story.now = at(3 * HOUR);
    assert_eq!(kinds(&story.wake()), ["escalated"]);
    assert_eq!(who(&story), [true, true, true]);
    assert_eq!(story.standing().step, 2);
    let said = [(HOUR, "escalated"), (3 * HOUR, "escalated"), (6 * HOUR, "timed_out")];
    assert_eq!(live(Story::of(passed_on())), said);
}

// APR-6: a step that is told twice, by two processes or a log of another version, is one step.
#[test]
fn apr_6_a_step_that_is_recorded_twice_is_taken_once() {
    let mut story = Story::of(passed_on()).at(HOUR);
    let event = story.wake().remove(0);
    let once = story.standing().clone();
    let twice = apply(Some(once.clone()), &event, at(2 * HOUR)).unwrap();
    assert_eq!((twice.step, twice.step_at, &twice.deciders), (1, once.step_at, &once.deciders));
}

// APR-6: a machine asleep over several steps takes one of them, and the next has its whole time.
#[test]
fn apr_6_who_slept_over_several_steps_takes_one_and_the_next_has_its_whole_time() {
    let mut story = Story::of(passed_on()).at(100 * HOUR);
    assert_eq!(kinds(&story.wake()), ["escalated"]);
    assert_eq!(next_wake(story.standing()), Some(at(102 * HOUR)));
    assert!(story.clone().yes("bob").is_ok());
    story.now = at(500 * HOUR);
    assert_eq!(kinds(&story.wake()), ["escalated"]);
    story.now = at(503 * HOUR);
    assert_eq!(kinds(&story.wake()), ["timed_out"]);
}

// APR-6: an edit changes neither who may decide nor until when.
#[test]
fn apr_6_an_edit_does_not_change_how_long_it_waits() {
    let row = |seconds: i64| json!({ "timeout_s": seconds, "on_timeout": "deny" });
    let settings = json!({
        "low": row(10 * HOUR), "medium": row(5 * HOUR), "high": row(HOUR), "critical": row(HOUR),
    });
    let mut request = timed(rule("tiered", settings));
    request.ruling.quorum = 2;
    let mut story = Story::of(request).at(60);
    assert_eq!(moments(story.standing()).expires_at, Some(at(HOUR)));
    let edit = edit(story.request(), "ls", Tier::Low, person("ada"));
    story.tell(&Command::Edit(Box::new(edit))).unwrap();
    assert_eq!(moments(story.standing()).expires_at, Some(at(HOUR)));
}

// APR-6: a yes by time is for low only, with a warning a minute before.
#[test]
fn apr_6_what_is_low_goes_ahead_by_time_after_a_warning() {
    assert_eq!(live(Story::of(low())), [(HOUR - 60, "warned"), (HOUR, "decided")]);
    let mut early = low();
    early.ruling.warn_before_s = Some(600);
    assert_eq!(live(Story::of(early)), [(HOUR - 600, "warned"), (HOUR, "decided")]);

    let mut story = Story::of(low()).at(HOUR - 60);
    story.wake();
    story.now = at(HOUR);
    story.wake();
    let decision = story.standing().decision.clone().unwrap();
    assert_eq!((decision.by.kind, decision.by.surface), (DeciderKind::Rule, Surface::Timeout));
    assert_eq!(
        (decision.outcome, decision.by.name.as_str()),
        (Outcome::Approved, "timeout policy tiered")
    );
}

// APR-6: a machine asleep over the deadline says yes to nothing that nobody could see.
#[test]
fn apr_6_who_slept_over_the_deadline_warns_first_and_then_waits_a_minute() {
    for slept in [HOUR - 10, HOUR, 100 * HOUR] {
        let mut story = Story::of(low()).at(slept);
        assert_eq!(kinds(&story.wake()), ["warned"], "{slept}");
        assert_eq!(moments(story.standing()).wake_at, Some(at(slept + 60)), "{slept}");
        assert_eq!(moments(story.standing()).expires_at, Some(at(slept + 60)), "{slept}");
        story.now = at(slept + 59);
        assert_eq!(story.wake(), [], "{slept}");
        assert!(story.clone().yes("ada").is_ok(), "{slept}");
        story.now = at(slept + 60);
        assert_eq!(kinds(&story.wake()), ["decided"], "{slept}");
    }
}

// APR-6: whatever the settings say, what is more than low or needs named people is never waved through.
#[test]
fn apr_6_nothing_but_the_lowest_goes_ahead_by_time() {
    let dangerous = |tier: Tier| Request { tier, ..low() };
    let mut named = low();
    named.ruling.deciders = vec![Who::Anyone];
    let mut two = low();
    two.ruling.quorum = 2;
    let mut choices = low();
    choices.options = vec![Choice::Retry, Choice::Skip];
    for request in [dangerous(Tier::Medium), dangerous(Tier::High), named, two, choices] {
        let said = live(Story::of(request.clone()));
        assert_eq!(said.last(), Some(&(HOUR, "timed_out")), "{request:?}");
    }
    assert_eq!(live(Story::of(dangerous(Tier::Critical))), []);
}

// APR-6: time never goes back for a request.
#[test]
fn apr_6_a_clock_that_is_set_back_takes_nothing_back_and_says_nothing_twice() {
    let mut request = passed_on();
    request.ruling.remind_every_s = Some(600);
    let mut story = Story::of(request).at(HOUR);
    assert_eq!(kinds(&story.wake()), ["escalated"]);
    for back in [0, -100 * HOUR] {
        story.now = at(back);
        assert_eq!(story.wake(), []);
        assert_eq!(story.standing().last_at, at(HOUR));
    }
    // A vote at a time that was before is counted at the time that is known.
    story.yes("bob").unwrap();
    assert_eq!(story.standing().closed_at, Some(at(HOUR)));

    // What ended stays ended.
    let mut story = Story::of(self::request()).at(HOUR);
    story.wake();
    story.now = at(1);
    assert!(matches!(story.yes("ada"), Err(Refused::Closed { .. })));
}
