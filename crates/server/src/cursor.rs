//! Where a list goes on: opaque to whoever gets it, and only good for the list that gave it.

use crate::problem::Problem;

/// A list that has pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Requests.
    Approvals,
    /// Parked calls.
    Parked,
    /// Runs.
    Runs,
    /// Events of one run.
    Events,
    /// Checkpoints.
    Checkpoints,
    /// Records of the whole log.
    Audit,
}

impl List {
    const fn letter(self) -> char {
        match self {
            Self::Approvals => 'a',
            Self::Parked => 'p',
            Self::Runs => 'r',
            Self::Events => 'e',
            Self::Checkpoints => 'c',
            Self::Audit => 'l',
        }
    }

    /// What every cursor of this list looks like, as a regular expression for the document.
    #[must_use]
    pub fn pattern(self) -> String {
        format!("^{}[0-9a-f]{{1,16}}$", self.letter())
    }

    /// The cursor of a place in this list.
    #[must_use]
    pub fn at(self, place: u64) -> String {
        format!("{}{:x}", self.letter(), place.rotate_left(17) ^ MASK)
    }

    /// The place that a cursor names.
    ///
    /// # Errors
    /// When it is none of this list.
    pub fn place(self, cursor: Option<&str>) -> Result<u64, Problem> {
        let Some(cursor) = cursor else { return Ok(0) };
        let digits = cursor.strip_prefix(self.letter());
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let sound = |text: &&str| text.bytes().all(digit);
        let bits = digits.filter(sound).and_then(|text| u64::from_str_radix(text, 16).ok());
        let place = bits.map(|bits| (bits ^ MASK).rotate_right(17));
        let told = "`after` is no cursor of this list; take `next` of an earlier page";
        let place = place.ok_or_else(|| Problem::malformed(told))?;
        // No log is longer than what a database can count to.
        Ok(place.min(END))
    }
}

/// So that nobody takes a cursor for a number to count with.
const MASK: u64 = 0x6b4c_21f0_95d3_7ae8;
/// Behind every list.
const END: u64 = i64::MAX as u64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_place_in_its_own_list_and_in_no_other() {
        for place in [0, 1, 77, 1 << 40] {
            let cursor = List::Audit.at(place);
            assert_eq!(List::Audit.place(Some(&cursor)), Ok(place));
            assert!(List::Runs.place(Some(&cursor)).is_err());
        }
        for bad in ["", "l", "l+1", "lzz", "7", &"lf".repeat(40)] {
            assert!(List::Audit.place(Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(List::Audit.place(None), Ok(0));
        let behind = List::Audit.at(u64::MAX);
        assert_eq!(List::Audit.place(Some(&behind)), Ok(END), "behind the end");
    }
}
