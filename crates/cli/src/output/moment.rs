//! When something was, as a person says it.

use aurora_model::Timestamp;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How long ago, in one unit: `just now`, `5 minutes ago`, `3 weeks ago`.
#[must_use]
pub fn ago(now: Timestamp, then: Timestamp) -> String {
    let ms = now.unix_ms.saturating_sub(then.unix_ms);
    // Clocks of two machines differ a little; more than that is worth saying.
    if ms < -MINUTE_MS {
        return format!("in {}", span(-ms));
    }
    if ms < MINUTE_MS { "just now".to_owned() } else { format!("{} ago", span(ms)) }
}

fn span(ms: i64) -> String {
    let units = [
        (365 * DAY_MS, "year"),
        (30 * DAY_MS, "month"),
        (7 * DAY_MS, "week"),
        (DAY_MS, "day"),
        (HOUR_MS, "hour"),
    ];
    let (unit, name) =
        units.into_iter().find(|(unit, _)| ms >= *unit).unwrap_or((MINUTE_MS, "minute"));
    let count = ms / unit;
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {name}{s}")
}

/// How much time is left, in the two units that matter: `3 h 56 min`, `45 s`, `no time`.
#[must_use]
pub fn left(now: Timestamp, then: Timestamp) -> String {
    let ms = then.unix_ms.saturating_sub(now.unix_ms);
    let units = [(DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (1000, "s")];
    let Some(first) = units.iter().position(|(unit, _)| ms >= *unit) else {
        return "no time".to_owned();
    };
    let mut rest = ms;
    let mut parts = Vec::new();
    for (unit, name) in units.iter().skip(first).take(2) {
        let count = rest / unit;
        rest %= unit;
        // Seconds matter only where there are few of them.
        if count > 0 && !(*name == "s" && ms >= 10 * MINUTE_MS) {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.join(" ")
}

/// The moment to the minute: `2026-03-05 16:28 UTC`.
#[must_use]
pub fn utc(moment: Timestamp) -> String {
    let text = moment.to_string();
    let (date, clock) = text.split_once('T').unwrap_or((&text, ""));
    format!("{date} {} UTC", clock.get(..5).unwrap_or(clock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_said_in_the_unit_that_fits() {
        let now = Timestamp { unix_ms: 1_772_728_099_503 };
        let check = |before_ms: i64, expected: &str| {
            assert_eq!(ago(now, Timestamp { unix_ms: now.unix_ms - before_ms }), expected);
        };
        check(0, "just now");
        check(-30_000, "just now");
        check(-2 * HOUR_MS, "in 2 hours");
        check(MINUTE_MS, "1 minute ago");
        check(59 * MINUTE_MS, "59 minutes ago");
        check(25 * HOUR_MS, "1 day ago");
        check(20 * DAY_MS, "2 weeks ago");
        check(400 * DAY_MS, "1 year ago");
        assert_eq!(utc(now), "2026-03-05 16:28 UTC");
        let check = |ms: i64, expected: &str| {
            assert_eq!(left(now, Timestamp { unix_ms: now.unix_ms + ms }), expected);
        };
        check(-1, "no time");
        check(999, "no time");
        check(45_000, "45 s");
        check(3 * MINUTE_MS + 5_000, "3 min 5 s");
        check(56 * MINUTE_MS + 5_000, "56 min");
        check(4 * HOUR_MS - 4 * MINUTE_MS, "3 h 56 min");
        check(2 * DAY_MS, "2 d");
    }
}
