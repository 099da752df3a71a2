//! Whether gates are switched off in the environment.

use aurora_model::{Answerer, Choice, Outcome, Surface};

/// The variable that switches them off.
pub const VARIABLE: &str = "APPROVAL_GATES";

/// Whether whoever started us switched the gates off. Only a clear no does: what nobody understands
/// leaves them on.
#[must_use]
pub fn are_off() -> bool {
    std::env::var(VARIABLE).is_ok_and(|value| says_no(&value))
}

fn says_no(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off")
}

/// What is said each time that nobody was asked for that reason; nothing for another answer.
#[must_use]
pub fn warning(choice: Choice, answerer: &Answerer) -> Option<String> {
    if answerer.surface != Surface::Environment.name() {
        return None;
    }
    let what = match choice.outcome() {
        Outcome::Approved => "approved".to_owned(),
        _ => format!("answered {}", choice.name()),
    };
    Some(format!("{}: {what} without asking", answerer.by))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PLN-4: only a clear no switches gates off.
    #[test]
    fn what_nobody_understands_leaves_gates_on() {
        for off in ["false", "FALSE", " 0 ", "no", "off"] {
            assert!(says_no(off), "{off}");
        }
        for on in ["", "true", "1", "nope", "fals"] {
            assert!(!says_no(on), "{on}");
        }
    }
}
