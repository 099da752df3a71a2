//! Lengths of time as people write them: `90s`, `30m`, `4h`, `2d`; a plain number means minutes.

use crate::settings::{Node, Problems, Shape};

/// Longer is a mistake: ten years.
pub const MAX_SECONDS: u64 = 3650 * 86_400;

/// What a length of time must look like.
pub const EXPECTED: &str = "a time such as 90s, 30m, 4h or 2d (a plain number means minutes)";

/// A length of time in a settings file, in seconds.
pub fn read(node: &Node, key: &str, problems: &mut Problems) -> Option<u64> {
    let found = match &node.shape {
        Shape::Scalar { text, .. } => parse(text),
        _ => None,
    };
    if found.is_none() {
        problems.mistyped(node, key, EXPECTED);
    }
    found
}

/// A length of time in a settings file, or `never`.
pub fn read_or_never(node: &Node, key: &str, problems: &mut Problems) -> Option<Option<u64>> {
    match &node.shape {
        Shape::Scalar { text, .. } if text == "never" => Some(None),
        _ => read(node, key, problems).map(Some),
    }
}

/// The seconds that a text means; nothing when it is no time, no time at all, or too long.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
    let unit = units.iter().find_map(|(unit, by)| Some((text.strip_suffix(unit)?, *by)));
    let (digits, by) = unit.unwrap_or((text, 60));
    let sound = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    let seconds = if sound && !padded { digits.parse::<u64>().ok()?.checked_mul(by)? } else { 0 };
    (1..=MAX_SECONDS).contains(&seconds).then_some(seconds)
}

/// A length of time as it would be written, in the largest unit that fits.
#[must_use]
pub fn text(seconds: u64) -> String {
    for (by, unit) in [(86_400, "d"), (3600, "h"), (60, "m")] {
        if seconds >= by && seconds.is_multiple_of(by) {
            return format!("{}{unit}", seconds / by);
        }
    }
    format!("{seconds}s")
}

#[cfg(test)]
mod tests {
    use super::{MAX_SECONDS, parse, text};

    #[test]
    fn times_are_read_as_people_write_them() {
        // APR-6
        for (given, seconds) in [
            ("90s", 90),
            ("30m", 1800),
            ("4h", 14_400),
            ("2d", 172_800),
            ("240", 14_400),
            ("240m", 14_400),
            ("1", 60),
            ("3650d", MAX_SECONDS),
        ] {
            assert_eq!(parse(given), Some(seconds), "{given}");
            assert_eq!(parse(&text(seconds)), Some(seconds), "{given}");
        }
        for wrong in [
            "",
            "0",
            "0s",
            "m",
            "-5m",
            "1.5h",
            "5 m",
            "4H",
            "1w",
            "007",
            "3651d",
            "1h30m",
            "never",
            "99999999999999999999",
            "9999999999999999999d",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!([text(90), text(1800), text(86_400), text(3601)], ["90s", "30m", "1d", "3601s"]);
    }
}
