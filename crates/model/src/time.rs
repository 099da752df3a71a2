//! A moment, as milliseconds since 1970 in UTC, written as RFC 3339.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment in UTC, to the millisecond. Whoever has a clock makes one; this crate has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub unix_ms: i64,
}

const DAY_MS: i64 = 86_400_000;

impl Timestamp {
    /// Reads `2026-03-05T16:28:19.503Z`, with or without the fraction.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
        let mut date = date.splitn(3, '-').map(str::parse::<i64>);
        let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let mut clock = clock.splitn(3, ':').map(str::parse::<i64>);
        let (hour, minute) = (clock.next()?.ok()?, clock.next()?.ok()?);
        let second = clock.next()?.ok()?;
        let millis = format!("{fraction:0<3}").get(..3)?.parse::<i64>().ok()?;
        let sound =
            (1..=12).contains(&month) && (1..=31).contains(&day) && (0..10_000).contains(&year);
        let sound = sound
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..61).contains(&second);
        let of_day = ((hour * 60 + minute) * 60 + second) * 1000 + millis;
        sound.then(|| Self { unix_ms: days_of(year, month, day) * DAY_MS + of_day })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.unix_ms.div_euclid(DAY_MS));
        let ms = self.unix_ms.rem_euclid(DAY_MS);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
            ms % 1000
        )
    }
}

/// Days since 1970 of a date of the proleptic Gregorian calendar, counted in eras of 400 years
/// that begin in March, so that the leap day is the last of its year.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a number of days since 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year + days.div_euclid(146_097) * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * from_march + 2) / 5 + 1)
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is no time in UTC")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(unix_ms: i64, text: &str) {
        assert_eq!(Timestamp { unix_ms }.to_string(), text);
        assert_eq!(Timestamp::parse(text), Some(Timestamp { unix_ms }));
    }

    #[test]
    fn moments_are_written_and_read_back() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_772_728_099_503, "2026-03-05T16:28:19.503Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(-1, "1969-12-31T23:59:59.999Z");
        check(4_107_542_399_999, "2100-02-28T23:59:59.999Z");
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in
            ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01 00:00:00"]
        {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
