//! Sizes and spans of time as people write them: `100M`, `30d`.

/// A number of bytes: `4096`, `64K`, `100M`, `4G`, `1T`; a step is 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let shift = match unit.trim_end_matches(['b', 'B']).trim_end_matches('i') {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return Err("write a size like 64K, 100M or 4G".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "write a size like 64K, 100M or 4G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "that is more than any disk holds".to_owned())
}

/// A span of time in milliseconds: `90s`, `30m`, `12h`, `30d`, `8w`.
pub fn span_ms(text: &str) -> Result<i64, String> {
    const USAGE: &str = "write a span of time like 30m, 12h, 30d or 8w";
    let (number, unit) = split(text);
    let unit_ms = match unit {
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return Err(USAGE.to_owned()),
    };
    let number: i64 = number.parse().map_err(|_| USAGE.to_owned())?;
    number.checked_mul(unit_ms).ok_or_else(|| "that is longer than anything lasts".to_owned())
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(at).unwrap_or((text, ""));
    (number, unit.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_steps_of_1024() {
        for (text, expected) in
            [("0", 0), ("4096", 4096), ("64K", 65_536), ("1 MiB", 1 << 20), ("4G", 4 << 30)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "M", "-1", "1.5G", "10 apples", "99999999999T"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn spans_of_time_need_a_unit() {
        for (text, expected) in [("90s", 90_000), ("30d", 2_592_000_000), ("2w", 1_209_600_000)] {
            assert_eq!(span_ms(text), Ok(expected), "{text}");
        }
        for text in ["", "30", "d", "-1d", "1y", "99999999999999999d"] {
            assert!(span_ms(text).is_err(), "{text}");
        }
    }
}
