//! The name of a feature: safe as a part of a ref and as a file's name, and never one of two.

use std::fmt::Write as _;

/// The feature of the main worktree.
pub(super) const MAIN: &str = "checkout";

/// Names that would be too long for a file are cut here.
const LONGEST: usize = 120;

/// The feature of a linked worktree, from the name of its git folder.
pub(super) fn of_linked(name: &[u8]) -> String {
    let mut feature = escaped(name);
    // The main worktree's name is taken; whatever would collide with the way out moves on too.
    if feature == MAIN || feature.starts_with("checkout-worktree") {
        feature.push_str("-worktree");
    }
    feature
}

/// Bytes that mean something to git or to a shell become `%` and two digits.
fn escaped(name: &[u8]) -> String {
    let mut out = String::new();
    let last = name.len().saturating_sub(1);
    let locked = name.ends_with(b".lock").then(|| name.len() - b".lock".len());
    let mut before = b'.';
    for (at, byte) in name.iter().enumerate() {
        let plain = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => true,
            b'-' => at > 0,
            b'.' => before != b'.' && at != last && Some(at) != locked,
            _ => false,
        };
        if plain {
            out.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02x}");
        }
        before = *byte;
    }
    if out.is_empty() {
        return "%".to_owned();
    }
    shortened(out, name)
}

fn shortened(out: String, name: &[u8]) -> String {
    if out.len() <= LONGEST {
        return out;
    }
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name {
        digest = (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let kept: String = out.chars().take(LONGEST - 20).collect();
    format!("{kept}%-{digest:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_worktrees_are_safe_and_differ() {
        // WSP-2: a feature's name is part of a ref and of a path.
        for (name, feature) in [
            ("login", "login"),
            ("fix-1.2_b", "fix-1.2_b"),
            ("checkout", "checkout-worktree"),
            ("checkout-worktree", "checkout-worktree-worktree"),
            ("..", "%2e%2e"),
            (".hidden", "%2ehidden"),
            ("a.lock", "a%2elock"),
            ("a..b", "a.%2eb"),
            ("a.", "a%2e"),
            ("-d", "%2dd"),
            ("a b/c@{%", "a%20b%2fc%40%7b%25"),
            ("grün", "gr%c3%bcn"),
            ("", "%"),
        ] {
            assert_eq!(of_linked(name.as_bytes()), feature, "{name}");
        }
        let long = of_linked("x".repeat(300).as_bytes());
        assert!(long.len() <= LONGEST, "{long}");
        assert_ne!(long, of_linked("x".repeat(301).as_bytes()));
    }
}
